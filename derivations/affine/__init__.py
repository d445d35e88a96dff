"""Derived: the activation affine."""

"""Derived: the activation step."""

"""Derived: the activation erf."""

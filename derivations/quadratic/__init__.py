"""Derived: the activation quadratic."""

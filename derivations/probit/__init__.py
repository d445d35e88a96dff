"""Derived: the activation probit."""

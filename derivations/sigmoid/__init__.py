"""Derived: the activation sigmoid."""

"""Derived: the activation linear."""

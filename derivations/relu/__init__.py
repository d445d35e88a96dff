"""Derived: the activation relu."""

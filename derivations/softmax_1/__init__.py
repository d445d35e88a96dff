"""Derived: the activation softmax-1."""

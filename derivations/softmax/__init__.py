"""Derived: the activation softmax."""

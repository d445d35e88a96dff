"""Derived: the activation softmax-1-norm."""

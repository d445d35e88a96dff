"""Derived: the activation softmax-n."""

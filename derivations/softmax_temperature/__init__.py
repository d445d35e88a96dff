"""Derived: the activation softmax-temperature."""

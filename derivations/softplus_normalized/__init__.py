"""Derived: the activation softplus-normalized."""

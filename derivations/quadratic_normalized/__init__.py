"""Derived: the activation quadratic-normalized."""

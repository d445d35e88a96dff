"""Derived: the activation relu-normalized."""

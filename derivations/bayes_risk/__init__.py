"""Derived: the Bayes risk."""

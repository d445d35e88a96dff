"""Derived: the activation bayes-softmax."""

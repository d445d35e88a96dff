"""Heads removed from a trained model: the risk of what remains."""

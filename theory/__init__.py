"""SymPy only: model and activation in, equations and NumPy source out."""

"""NumPy and SciPy only: evaluates what theory/ derived."""

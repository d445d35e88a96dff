"""What numerics/ says when an input or a result cannot be used."""


class InputError(ValueError):
    """One line that says what is wrong with an input, where, and what would be right."""


class AccuracyWarning(UserWarning):
    """A value missed its requested tolerance; the stated error still holds."""

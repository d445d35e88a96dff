"""What theory/ says when a definition cannot be used."""


class DefinitionError(ValueError):
    """One line that says what is wrong with a definition, where, and what would be right."""

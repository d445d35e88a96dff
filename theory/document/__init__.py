"""Documents: one representation, and writers for LaTeX, Markdown and HTML."""

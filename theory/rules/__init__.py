"""Named rewriting rules, one a file: each turns one exact expression into another."""

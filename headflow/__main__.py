"""`python -m headflow` is the command `headflow`."""

from headflow.cli import main

main()

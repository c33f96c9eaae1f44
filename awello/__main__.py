"""`python -m awello` is the `awello` command."""

from awello.cli.app import main

main()

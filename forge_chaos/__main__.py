"""`python -m forge_chaos` is the command line."""

from forge_chaos.cli import main

main()

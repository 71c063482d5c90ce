"""`python -m cragraph`."""

from cragraph.cli import main

main()

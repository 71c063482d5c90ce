"""`cragraph eval`: measure retrieval and grounding on labelled data."""

import typer

app = typer.Typer(help="Measure retrieval and grounding on labelled data.", no_args_is_help=True)

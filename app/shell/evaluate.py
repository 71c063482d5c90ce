"""`cragraph eval`: measure retrieval and grounding on labelled data."""

from pathlib import Path
from typing import Annotated

import typer

from cragraph.shell.options import JsonOption

app = typer.Typer(help="Measure retrieval and grounding on labelled data.", no_args_is_help=True)

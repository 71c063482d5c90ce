"""The `cragraph` command: parsing and printing only; each command has its own file here."""

import sys
from typing import Any

import typer
from typer.core import TyperGroup

from cragraph.cli import (
    ask,
    calibrate,
    chat,
    config,
    docs,
    doctor,
    evaluate,
    graph,
    ingest,
    mcp,
    search,
    serve,
    stats,
    verify,
)
from cragraph.cli.console import FAILURE, INTERRUPTED, USAGE, complain, status
from cragraph.errors import CragError, InputError, SettingsError


class Commands(TyperGroup):
    """Says what an interrupted ingest kept: the parser makes an exit code of the interrupt, and its notes are gone."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command as usual."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            for note in getattr(stop, "__notes__", ()):
                status(note)
            raise


app = typer.Typer(
    name="cragraph",
    cls=Commands,
    help="Cited answers from your own documents, every claim checked, on your own machine.\n\n"
    "Exit codes: 0 answered or done, 1 failure (of one file or row, too), 2 bad usage, 3 abstained, "
    "4 below --fail-under, 130 interrupted.",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

app.command()(ingest.ingest)
app.command()(ask.ask)
app.command()(chat.chat)
app.command()(verify.verify)
app.command()(calibrate.calibrate)
app.command()(search.search)
app.command()(serve.serve)
app.command()(mcp.mcp)
app.command()(docs.docs)
app.command()(docs.forget)
app.command()(graph.graph)
app.command()(config.config)
app.command()(doctor.doctor)
app.command()(stats.stats)
app.add_typer(evaluate.app, name="eval")


@app.callback(invoke_without_command=True)
def root(
    version: bool = typer.Option(False, "--version", help="Print the version and leave.", is_eager=True),
) -> None:
    """Cited answers from your own documents, every claim checked, on your own machine."""
    if version:
        from cragraph import __version__

        typer.echo(f"cragraph {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line; every error becomes one message on stderr and an exit code."""
    try:
        code = app(standalone_mode=False)
    except (SettingsError, InputError) as error:
        code = _failed(str(error), USAGE)
    except CragError as error:
        code = _failed(str(error), FAILURE)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone (`| head`); there is nobody left to tell.
        sys.stderr.close()
        code = FAILURE
    except Exception as error:
        # The parser's own errors, whose classes are private to it.
        if not hasattr(error, "format_message"):
            raise
        if said := error.format_message():
            complain(f"{said.rstrip('.')}: see `cragraph --help`.")
        code = USAGE
    if code == INTERRUPTED:
        complain("interrupted; what was complete is kept")
    sys.exit(code if isinstance(code, int) else 0)


def _failed(message: str, code: int) -> int:
    complain(message)
    return code

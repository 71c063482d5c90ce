"""The `cragraph` command: parsing and printing only; each command has its own file here."""

import gc
import sys
from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from cragraph import __version__
from cragraph.cli.console import FAILURE, INTERRUPTED, USAGE, complain, status
from cragraph.errors import CragError, InputError, SettingsError
from cragraph.models.weights import open_ahead

COMMANDS: Final = {
    "ingest": (
        "store",
        "Read documents into the store: text, pages, PDF, office files, mail, tables, calendars (docs/documents.md).",
    ),
    "ask": ("ask", "Answer a question from the store, with citations, a verdict on each claim and a confidence."),
    "chat": ("chat", "Ask questions in a conversation. A follow-up question is read with the messages before it."),
    "verify": ("verify", "Judge each claim of an answer against sources, and quote the evidence."),
    "calibrate": ("calibrate", "Fit confidence and threshold to your own labelled answers; a hundred are enough."),
    "search": ("store", "Search the store for passages. Write no answer."),
    "serve": ("serve", "Serve a page to ask your documents in the browser, and an HTTP interface."),
    "mcp": ("mcp", "Offer search, ask, verify and ingest to agents by the Model Context Protocol, over stdio or HTTP."),
    "docs": ("store", "List the documents in the store."),
    "forget": ("store", "Remove a document, or all documents below a folder, from the store. The files stay."),
    "graph": ("graph", "Draw a graph as Mermaid text, or as nodes and edges in JSON."),
    "config": ("about", "List every setting with its value and where the value comes from."),
    "trust": ("about", "Trust the settings files of a folder: they may name code to run, servers, tokens and files."),
    "collections": ("collections", "List the collections of a store; or move, rename or forget them."),
    "doctor": (
        "doctor",
        "Check Python, the embedded models, the store and the Ollama server. Print how to mend each fault.",
    ),
    "exam": ("exam", "Measure how reliable a chat model is when it judges, answers or declines."),
    "log": ("log", "List the questions that were asked, newest first, with answer and decision."),
    "stats": ("about", "Summarise a metrics log: corrections, abstentions, latency, and the targets."),
}
"""The file of each command, and its line in the list of commands."""

AHEAD: Final = {"ask": ("encoder", "reading")}
"""The networks of each command, which are opened while its modules are imported."""

SHARED: Final[dict[str, Any]] = {
    "context_settings": {"help_option_names": ["-h", "--help"]},
    "pretty_exceptions_enable": False,
    "rich_markup_mode": "markdown",
}


def loaded(name: str) -> Any:
    """A command, imported only when it is called, so that no command waits for another's imports."""
    open_ahead(AHEAD.get(name, ()))
    gc.disable()  # imported objects stay: searching them for garbage takes a tenth of a cold answer's time
    module, alone = import_module(f"cragraph.cli.{COMMANDS[name][0]}"), typer.Typer(**SHARED)
    gc.freeze()
    gc.enable()
    if hasattr(module, name):
        alone.command(name)(getattr(module, name))
    else:
        alone.add_typer(module.app, name=name)
    return typer.main.get_group(alone).commands[name]


class Commands(TyperGroup):
    """Lists the commands from `COMMANDS`, and imports the one that is called."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands: Any = {name: TyperCommand(name, help=about) for name, (_, about) in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments name, imported."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, loaded(name) if name and command else command, rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; after an interrupted ingest says what was kept, since the parser drops the notes of an
        interrupt."""
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
    "Exit codes: 0 answered or done, 1 a failure (also of a single file or row), 2 wrong usage, 3 no answer, "
    "4 below --fail-under, 5 a doubtful answer, 6 the answer to a kept question changed, 130 interrupted.",
    no_args_is_help=True,
    **SHARED,
)


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Print the version.", is_eager=True)) -> None:
    """Cited answers from your own documents, every claim checked, on your own machine."""
    if version:
        typer.echo(f"cragraph {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line; every error becomes one message on stderr and an exit code."""
    try:
        code = app(standalone_mode=False)
    except CragError as error:
        complain(str(error))
        code = USAGE if isinstance(error, SettingsError | InputError) else FAILURE
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader of our output is gone (`| head`).
        sys.stderr.close()
        code = FAILURE
    except Exception as error:
        # The parser's own errors, whose classes are private to it.
        if not hasattr(error, "format_message"):
            raise
        if message := error.format_message():
            many = "--source takes one path, give it again for each; " * ("extra" in message and "--source" in sys.argv)
            complain(f"{message.rstrip('.')}: {many}see `cragraph --help`.")
        code = USAGE
    if code == INTERRUPTED:
        complain("interrupted; what was complete is kept")
    sys.exit(code if isinstance(code, int) else 0)

"""`cragraph collections`: the subjects of a store, listed, filled by moving, renamed and forgotten."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from cragraph.build import Parts
from cragraph.cli.console import show, with_notes_printed
from cragraph.cli.options import JsonOption, option, with_settings
from cragraph.errors import InputError
from cragraph.store.bulk import forgotten
from cragraph.types import number_of

NameArgument = Annotated[
    str, typer.Argument(help="Name of the collection, as `cragraph collections` prints it.", show_default=False)
]

app = typer.Typer(help="List the collections of a store; or move, rename or forget them.", no_args_is_help=False)


@app.callback(invoke_without_command=True)
@with_settings("store")
def listed(settings_of: Any, context: typer.Context, json: JsonOption = False) -> None:
    """List the collections of the store, with how much is in each.

    A file is in one collection. `cragraph ingest PATH --collection NAME` fills one, `cragraph ask QUESTION --collection
    NAME` asks it alone; without that, all are asked.

    Example: `cragraph collections`
    """
    if context.invoked_subcommand is not None:
        return
    rows = [asdict(held) for held in _store(settings_of).held()]

    def lines(rows: Any) -> str:
        return "\n".join(
            f"{row['name']}  {number_of(row['documents'], 'document')}, {number_of(row['chunks'], 'chunk')}"
            for row in rows
        )

    show(json, rows, lines)


@app.command()
@with_settings("store")
def move(
    settings_of: Any,
    to: Annotated[str, option("Collection to move the documents to. A new one is created.", "--to")],
    paths: Annotated[
        list[str] | None, typer.Argument(help="Files or folders as `cragraph docs` prints them, or a file's name.")
    ] = None,
    of: Annotated[
        str | None, option("Move only documents of this collection. Without PATHS, move all of them.", "--from")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Move documents to another collection. No file is read or embedded again.

    Example: `cragraph collections move minutes/ --to board`
    """
    held = _store(settings_of)
    if not paths and of is None:
        raise InputError("move came without a path and without --from: name the documents to move.")
    documents = held.documents(None if of is None else {"collection": held.known(of)})
    chosen = [document.source for document in documents]
    if paths:
        chosen = [source for path in paths for source in forgotten(_absolute(path, documents), documents)]
    moved = held.move(dict.fromkeys(chosen), to)
    show(json, {"moved": moved, "to": to}, lambda row: "\n".join(f"moved {source}" for source in row["moved"]))


@app.command()
@with_settings("store")
def rename(
    settings_of: Any,
    old: NameArgument,
    new: Annotated[str, typer.Argument(help="New name of the collection.", show_default=False)],
    json: JsonOption = False,
) -> None:
    """Rename a collection.

    Example: `cragraph collections rename work board`
    """
    name = _store(settings_of).rename(old, new)
    show(json, {"renamed": old, "name": name}, lambda row: f"{row['renamed']} is {row['name']} now")


@app.command()
@with_settings("store")
def forget(settings_of: Any, name: NameArgument, json: JsonOption = False) -> None:
    """Remove a collection and all its documents from the store. The files stay.

    Example: `cragraph collections forget board`
    """
    removed = _store(settings_of).drop(name)
    show(json, {"removed": removed}, lambda row: "\n".join(f"removed {source}" for source in row["removed"]))


def _store(settings_of: Any) -> Any:
    return with_notes_printed(Parts(settings_of()).store)


def _absolute(path: str, documents: Any) -> str:
    """A path in the store's form, if it is below this folder."""
    whole = Path(path).absolute().as_posix()
    return whole if any(d.source == whole or d.source.startswith(whole + "/") for d in documents) else path

"""`cragraph docs` and `cragraph forget`: what is in the store, and taking it out."""

from typing import Annotated, Any

import typer

from cragraph.cli.console import emit, err, out
from cragraph.cli.options import JsonOption, with_settings


@with_settings("store")
def docs(settings_of: Any, json: JsonOption = False) -> None:
    """List the documents in the store.

    Example: `cragraph docs --json`
    """
    from dataclasses import asdict

    from cragraph.build import Parts

    documents = Parts(settings_of()).store.documents()
    if json:
        emit([asdict(document) for document in documents])
        return
    console = out()
    for document in documents:
        console.print(f"{document.source}  {document.chunks} chunks")
    if not documents:
        err().print("the store is empty")


@with_settings("store")
def forget(
    settings_of: Any,
    path: Annotated[
        str, typer.Argument(help="A file or folder as `cragraph docs` shows it, or a file's name.", show_default=False)
    ],
    json: JsonOption = False,
) -> None:
    """Remove a document, or all below a folder, from the store; the files stay.

    A file's name will do where one document alone has it.

    Example: `cragraph forget old-report.pdf`
    """
    from cragraph.run import Assistant

    removed = Assistant(settings_of()).forget(path)
    if json:
        emit({"removed": removed})
    else:
        for source in removed:
            out().print(f"removed {source}")

"""Take files out of a store."""

import os
from collections.abc import Collection

from cragraph.errors import InputError
from cragraph.retrieval.ingest.survey import source_of
from cragraph.retrieval.store import Store, StoredDocument


def forget(store: Store, path: str | os.PathLike[str]) -> list[str]:
    """Remove a file, or everything under a folder, from the store; the files themselves are not touched.

    A path need not exist any more. The name of a file will do where no path fits and one document alone has it.
    Returns the sources removed.

    Raises:
        InputError: nothing in the store came from there, several documents have that name, or it is empty.
        StoreLockedError: another process is writing to the store.
    """
    given = os.fspath(path)
    if not given.strip():
        raise InputError("the path to forget came empty; wanted one of those that `cragraph docs` lists.")
    with store.writing():
        documents = store.documents()
        found = _below(given, {document.source for document in documents}) or _named(given, documents)
        if not found:
            raise InputError(f"nothing in the store came from {given}; `cragraph docs` lists what is in it.")
        for source in found:
            store.release(source)
            store.delete(store.ledger.unheld(source))
        return found


def _below(given: str, known: Collection[str]) -> list[str]:
    """The sources that are this path or lie below it."""
    names = {given, source_of(given)}
    return sorted(s for s in known if any(s == name or s.startswith(name.rstrip("/") + "/") for name in names))


def _named(name: str, documents: Collection[StoredDocument]) -> list[str]:
    """The one source with this file name; raises InputError where there are several."""
    found = sorted(d.source for d in documents if name in (d.filename, d.source.rsplit("/", 1)[-1]))
    if len(found) > 1:
        raise InputError(
            f"{len(found)} documents in the store are called {name}; wanted one of {', '.join(found)}: give its path."
        )
    return found

"""Take files out of a store."""

import os

from cragraph.errors import InputError
from cragraph.retrieval.ingest.survey import source_of
from cragraph.retrieval.store import Store


def forget(store: Store, path: str | os.PathLike[str]) -> list[str]:
    """Remove a file, or everything under a folder, from the store; the files themselves are not touched.

    A path need not exist any more. Returns the sources removed.

    Raises:
        InputError: nothing in the store came from there.
        StoreLockedError: another process is writing to the store.
    """
    given = os.fspath(path)
    with store.writing():
        known = {document.source for document in store.documents()}
        names = {given, source_of(given)}
        found = sorted(s for s in known if any(s == name or s.startswith(name.rstrip("/") + "/") for name in names))
        if not found:
            raise InputError(f"nothing in the store came from {given}; `cragraph docs` lists what is in it.")
        for source in found:
            store.release(source)
            store.delete(store.ledger.unheld(source))
        return found

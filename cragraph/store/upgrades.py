"""Upgrades: one function per older version that reads its stores in this version's form.

A version that changes the tables adds the function that reads the version before it, and a test with such a store.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final
from zlib import crc32

from cragraph.store.database import BROKEN
from cragraph.store.index import passage_of
from cragraph.store.records import DEFAULT, Item, Origin, Readable


def old_files(folder: Path) -> dict[Path, str]:
    """The files of older versions in a folder, each with its collection."""
    found = {}
    for path in sorted(folder.glob("*.db")):
        if not path.is_file():
            continue
        with suppress(*BROKEN, ValueError), closing(_opened(path)) as db:
            if db.execute("PRAGMA user_version").fetchone()[0] == 3:
                found[path] = _named_3(path.stem)
    return found


def mark(path: Path) -> list[Any]:
    """A mark that differs for a later file of the same name."""
    status = path.stat()
    return [path.name, status.st_size, status.st_mtime_ns]


def _opened(path: Path) -> sqlite3.Connection:
    for mode in ("rw", "ro&immutable=1"):  # the second for a folder that cannot be written
        with suppress(sqlite3.OperationalError):
            db = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, check_same_thread=False)
            db.text_factory = lambda text: str(text, "utf-8", "replace")
            db.execute("PRAGMA user_version")
            return db
    raise sqlite3.OperationalError(f"{path} cannot be opened")


# -- version 3: a file for each collection, its name in hexadecimal where it had unusual letters ----------------------

_COLUMNS_3: Final = "chunk_id, doc_id, chunk_index, start_index, source, filename, page, metadata, context, text, extra"
_ORIGIN_3: Final = "source, sha256, size, mtime_ns, options, chunks"


def _named_3(stem: str) -> str:
    return DEFAULT if stem == "cragraph" else bytes.fromhex(stem[2:]).decode() if stem[:2] == "x-" else stem


def version_3(path: Path, collection: str) -> Readable:
    """The readable content of a collection's file."""
    db = _opened(path)

    def read(sql: str) -> Iterator[tuple[Any, ...]]:
        with suppress(*BROKEN):
            yield from db.execute(sql)

    def origins(sql: str) -> list[Origin]:
        return [Origin(*row)._replace(collection=collection) for row in read(f"SELECT {_ORIGIN_3} FROM {sql}")]

    def items() -> Iterator[Item | None]:
        ids = {row[0] for table in ("chunks", "vectors") for row in read(f"SELECT id FROM {table}")}
        for chunk in sorted(ids):
            *row, crc = next(read(f"SELECT {_COLUMNS_3}, crc FROM chunks WHERE id = {chunk}"), (0,))
            if not row or crc32("\x1f".join(map(str, row)).encode("utf-8", "surrogatepass")) != crc:
                yield None
                continue
            held = origins(f"holdings JOIN origins ON id = origin WHERE chunk = {chunk}")
            vector, crc = next(read(f"SELECT vector, crc FROM vectors WHERE id = {chunk}"), (None, 0))
            whole = isinstance(vector, bytes) and crc32(vector) == crc
            yield Item(passage_of((chunk, None, *row)), held, vector if whole else None, collection)
        db.close()

    return Readable(dict(read("SELECT key, value FROM meta")), origins("origins"), items())

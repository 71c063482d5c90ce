"""Opening a store: its file is made, upgraded from older versions, or mended where it is damaged.

What is written anew goes into a new file, which takes the place of the old one in one step: a kill leaves one of them
whole. A version that changes the tables adds the function that reads the version before it, and a test with such a
store.
"""

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final
from zlib import crc32

from cragraph.errors import StoreError, StoreLockedError, StoreMissingError
from cragraph.protocols import Embeddings
from cragraph.store.database import BROKEN, PATIENCE, WriteLock, remove, replace
from cragraph.store.index import Index, passage_of
from cragraph.store.records import DEFAULT, LEFT_OUT, Identity, Item, Origin, Readable, at_home, batched
from cragraph.store.store import AGAIN, BATCH, MENDED, Store

NAME: Final = "cragraph.db"  # the file in a store's folder
NEW: Final = "cragraph.new.db"  # the new file that will replace it
_UPGRADED: Final = "upgraded"  # key: the files of the older version from which the store was made

SALVAGED: Final = (
    f"The store was damaged: {{kept}} of {{all}} passages could be read and are kept, the rest is gone. {AGAIN}"
)
NOTHING: Final = (
    "{files}: damaged, and nothing in it can be read; wanted the passages that were ingested: put back a copy, or move "
    "it away and run cragraph ingest PATH again."
)
LOST: Final = f"The last {{n}} writes to the store are gone (its -wal file was removed or damaged). {AGAIN}"
CHANGED: Final = (
    "The file of the store was changed or damaged, and cannot be mended because it cannot be written ({reason}): what "
    "can be read and is what was written is searched."
)


def open_store(
    target: str | os.PathLike[str] | None,
    embeddings: Embeddings,
    *,
    create: bool = True,
    patience: float = PATIENCE,
) -> Store:
    """Open the store in a folder; None makes a store in memory.

    A write waits up to `patience` seconds for another process. A store of an older version is upgraded.

    Raises:
        StoreError: the store cannot be opened, or is missing and `create` is False.
        StoreMismatchError: its vectors were made by another model.
    """
    folder = None if target is None else at_home(target)
    lock, wanted, note = WriteLock(folder, patience), Identity.of(embeddings), ""
    index = _index(folder, create, embeddings, lock)
    try:
        with suppress(StoreLockedError):
            note = _mended(index, embeddings, lock)
        store = Store(index, embeddings, lock, f"the store {folder or 'in memory'}", note)
        if index.meta("model") is None:
            with store.writing():
                index.keep(model=wanted.model, dimension=wanted.dimension)
        wanted.check(index.identity, store.location)
    except BaseException:
        index.close()
        raise
    return store


def _index(folder: Path | None, create: bool, embeddings: Embeddings, lock: WriteLock) -> Index:
    """The tables of a store, upgraded from older versions; in memory if a folder with those cannot be written."""
    if folder is None:
        return Index(None)
    path, files = folder / NAME, old_files(folder)
    if files and (path in files or not path.exists()):
        marks = json.dumps([mark(file) for file in files])
        try:
            with lock():
                if old_files(folder) == files:  # another process may have been quicker
                    _rewritten(path, embeddings, _old(files), **{_UPGRADED: marks})
                    replace(path, path.with_name(NEW))
        except StoreLockedError:
            raise
        except StoreError:
            if os.access(folder, os.W_OK):
                raise
            index = Index(None)
            _filled(index, embeddings, _old(files))
            return index
    index = Index(_file(folder, create), create=create)
    taken = json.loads(index.meta(_UPGRADED, "[]")) if files else ()
    for file in files:
        with suppress(OSError):
            if mark(file) in taken:  # other files are the user's own
                remove(file)
    return index


def _mended(index: Index, embeddings: Embeddings, lock: WriteLock) -> str:
    """Repair a file that is not in the state in which its last user left it; returns a note on what is lost."""
    left, lost = index.seal_state()
    note = LOST.format(n=lost) if lost else ""
    if left == "changed" and index.read_only:
        return CHANGED.format(reason=index.read_only)
    if left != "sealed" and not index.read_only and index.path:
        with lock(patience=0):
            left, _ = index.seal_state()  # another process may have been quicker
            if left == "changed" or (left == "unsealed" and index.damage()):
                note = _rewritten(index.path, embeddings, {index.path: index.readable()})
                index.replace_by(index.path.with_name(NEW))
            if note:
                index.keep(**{MENDED: note})
            index.checkpoint()
    return note


def _rewritten(path: Path, embeddings: Embeddings, old: Mapping[Path, Readable], **meta: Any) -> str:
    """Write the new file that is to take the place of another."""
    new = path.with_name(NEW)
    remove(new)
    with closing(Index(new)) as index:
        note = _filled(index, embeddings, old)
        index.keep(**meta)
    return note


def _filled(index: Index, embeddings: Embeddings, old: Mapping[Path, Readable]) -> str:
    """Fill an index with the intact parts of other files; lost vectors are made again. Returns a note on the loss.

    Raises StoreError if there were passages and none is intact.
    """
    wanted, spare = Identity.of(embeddings), Store(index, embeddings, WriteLock(None), str(index.path))
    kept = count = 0
    seen, left_out = set[str](), dict[str, Any]()
    for meta, origins, items, tables in old.values():
        stored = Identity(str(meta.get("model") or wanted.model))
        index.keep(model=stored.model, generation=meta.get("generation", 0))
        # A move that was cut off left a file in two collections: one of them is enough.
        known = dict.fromkeys(origin for origin in origins if origin.source not in seen)
        new = (i for i in items if not (i and i.origins and seen.issuperset(o.source for o in i.origins)))
        for batch in batched(new, BATCH):
            own = [i._replace(origins=[origin for origin in i.origins if origin in known]) for i in batch if i]
            if not stored.dimension:
                stored = stored._replace(dimension=next((len(i.vector) // 4 for i in own if i.vector), 0))
                wanted.check(stored, str(index.path))
                index.keep(dimension=stored.dimension)
            sound = spare.embedded(own)
            with index.write() as db:
                index.put(db, sound, index.generation)
            kept, count = kept + len(sound), count + len(batch)
        index.take(known, tables)
        seen |= {origin.source for origin in known}
        with suppress(ValueError, TypeError):
            left_out |= json.loads(str(meta.get(LEFT_OUT)))
    if count and not kept:
        raise StoreError(NOTHING.format(files=", ".join(map(str, old))))
    note = SALVAGED.format(kept=kept, all=count)
    index.keep(**{LEFT_OUT: json.dumps(left_out), MENDED: note if kept < count else ""})
    return note


def _file(folder: Path, create: bool) -> Path:
    """The path of a store's file in a folder; makes the folder with `create`."""
    path = folder / NAME
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"{folder} is a file; wanted a folder that holds a store: choose another with --store.")
    seal = path.with_suffix(".seal")
    if seal.exists() and not (path.exists() and path.stat().st_size):
        raise StoreError(
            f"{path} is gone or empty, and with it what was ingested; wanted it as it was left: put it back, or remove "
            f"{seal} and run cragraph ingest PATH again."
        )
    if not create and not path.exists():
        raise StoreMissingError(f"No documents found in {folder}. Run: cragraph ingest FOLDER")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the folder {folder} cannot be made ({error.strerror or error}); wanted one with write permission: choose "
            "another with --store."
        ) from error
    return path


# -- older versions ----------------------------------------------------------------------------------------------------


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


def _old(files: Mapping[Path, str]) -> dict[Path, Readable]:
    return {path: version_3(path, collection) for path, collection in files.items()}


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

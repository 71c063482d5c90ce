"""Open a store: a folder, a Chroma server by URL, or memory."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar
from uuid import uuid4

from filelock import FileLock

from cragraph.errors import StoreError, StoreMissingError
from cragraph.retrieval.store import clients
from cragraph.retrieval.store.database import DamagedError
from cragraph.retrieval.store.exact import mend
from cragraph.retrieval.store.index import Index
from cragraph.retrieval.store.keeping import Guard, Keeper
from cragraph.retrieval.store.ledger import Ledger
from cragraph.retrieval.store.locks import FolderLock, FreeLock, Writing
from cragraph.retrieval.store.probe import damaged
from cragraph.retrieval.store.store import Store
from cragraph.retrieval.store.sweep import sweep
from cragraph.retrieval.store.vectors import Vectors
from cragraph.retrieval.store.writer import Writer

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings


T = TypeVar("T")

_NAME: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,400}[a-zA-Z0-9]")
_LOAD: Final = "load.lock"
_CHROMA: Final = "chroma.sqlite3"
_PATIENCE: Final = 600.0
UNCACHED: Final = (
    "The cache folder cannot be written, so the lexical index of the Chroma server is built in memory at every start."
)


def open_store(
    target: str | os.PathLike[str] | None,
    embeddings: "Embeddings",
    *,
    collection: str = "cragraph",
    create: bool = True,
    cache: str | os.PathLike[str] | None = None,
) -> Store:
    """Open the store at a folder or the `http(s)://host:port` of a Chroma server; None keeps it in memory.

    `embeddings` must be the model that the store was built with. With `create` False, a store that does not exist is an
    error. `cache` is where the lexical index of a server is kept, by default the user's cache folder.

    Raises:
        StoreError: where it cannot be opened.
        StoreMismatchError: where its vectors were made by another model.
    """
    if not _NAME.fullmatch(collection):
        raise StoreError(
            f"{collection!r} is no name of a collection; wanted 3 to 400 letters, digits, dots, dashes or underscores."
        )
    if target is None:
        name = f"{collection}-{uuid4().hex}"
        vectors = Vectors(clients.in_memory, name, embeddings, "the store in memory")
        return _joined(vectors, Index(), embeddings, FreeLock(), nullcontext)
    if clients.is_url(str(target)):
        return _on_server(str(target), embeddings, collection, create, cache)
    return _in_folder(Path(target).expanduser(), embeddings, collection, create)


def _in_folder(folder: Path, embeddings: "Embeddings", collection: str, create: bool) -> Store:
    if not create and not (folder / _CHROMA).exists():
        raise StoreMissingError(
            f"there is no store in {folder}; wanted ingested documents: run cragraph ingest PATH first."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the folder {folder} cannot be made ({error.strerror or error}); wanted one with write permission: choose "
            "another with --store."
        ) from error
    path = folder / f"{collection}.index.sqlite3"
    lock = FolderLock(folder)

    def opened() -> Store:
        where = f"the store {folder}"
        vectors = Vectors(partial(clients.in_folder, folder), collection, embeddings, where, create=create)
        index = _closing(vectors, lambda: Index(path))

        def mended() -> None:
            mend(vectors, index, Ledger(index.database), embeddings.embed_documents)
            sweep(folder)

        return _joined(
            vectors,
            index,
            embeddings,
            lock,
            partial(_guard, folder / _LOAD),
            damaged=partial(damaged, folder, collection),
            mend=mended,
        )

    return _once_more(opened, path, lock)


def _on_server(
    url: str, embeddings: "Embeddings", collection: str, create: bool, cache: str | os.PathLike[str] | None
) -> Store:
    url = url.rstrip("/")
    folder = Path(cache) if cache is not None else _cache_folder()
    path = folder / f"{sha256(url.encode()).hexdigest()[:16]}.{collection}.sqlite3"
    lock = FreeLock()

    def opened() -> Store:
        vectors = Vectors(partial(clients.on_server, url), collection, embeddings, f"the store at {url}", create=create)
        index, note = _closing(vectors, lambda: _cached(path))
        return _joined(vectors, index, embeddings, lock, nullcontext, remote=True, note=note)

    return _once_more(opened, path, lock)


def _cached(path: Path) -> tuple[Index, str]:
    """The index in the cache folder, or in memory with a sentence to say so."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        index = Index(path)
    except DamagedError:
        raise
    except (OSError, StoreError):
        return Index(), UNCACHED
    if not index.database.read_only:
        return index, ""
    index.close()
    return Index(), UNCACHED


def _once_more(opened: Callable[[], Store], path: Path, lock: Writing) -> Store:
    """Open; where the index turns out damaged, throw it away, to be made again from Chroma, and open again."""
    try:
        return opened()
    except DamagedError:
        with lock():
            for suffix in ("", "-wal", "-shm"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
    return opened()


def _closing(vectors: Vectors, made: Callable[[], T]) -> T:
    """What was made, or its error with Chroma closed."""
    try:
        return made()
    except BaseException:
        vectors.close()
        raise


def _joined(
    vectors: Vectors,
    index: Index,
    embeddings: "Embeddings",
    lock: Writing,
    guard: Guard,
    *,
    damaged: Callable[[], bool] | None = None,
    mend: Callable[[], None] | None = None,
    remote: bool = False,
    note: str = "",
) -> Store:
    ledger = Ledger(index.database)
    keeper = Keeper(vectors, index, ledger, lock, guard, damaged=damaged, mend=mend, remote=remote)
    if note:
        keeper.note(note)
    writer = Writer(vectors, index, ledger, embeddings, lock, keeper, keep=damaged is not None)
    store = Store(vectors, index, ledger, embeddings, writer, keeper)
    try:
        keeper.opened()
    except BaseException:
        store.close()
        raise
    return store


@contextmanager
def _guard(path: Path) -> Iterator[None]:
    """Keep Chroma's files still for a moment; in a folder that cannot be written, nothing moves them anyway."""
    held: AbstractContextManager[object] = nullcontext()
    try:
        held = FileLock(path, timeout=_PATIENCE).acquire()
    except OSError:
        held = nullcontext()
    with held:
        yield


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".cache") / "cragraph"

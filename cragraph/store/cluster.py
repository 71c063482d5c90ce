"""Bulk ingest over a Dask cluster: every worker reads, embeds and writes some of the files.

The files must lie where every worker sees them under the same path, and several processes must be able to write to the
store, as to a Chroma server. Needs the `cluster` extra.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from cragraph.documents import Found, discover
from cragraph.documents.files import Paths
from cragraph.store.bulk import IngestReport, ingest, joined, roots_of
from cragraph.store.records import batched
from cragraph.store.vectorstore import LangChainStore

if TYPE_CHECKING:
    from distributed import Client

MakeStore = Callable[[], LangChainStore]
FILES: Final = 50  # files per task: each task asks the store once for its sources


def ingest_on(
    client: "Client", paths: Paths, make_store: MakeStore, *, prune: bool = False, **options: Any
) -> IngestReport:
    """`ingest`, with the files read, embedded and written by the workers of a Dask client.

    `make_store` opens the store, here and once in each worker process; it travels by pickle, so it is a function of an
    importable module. `options` are those of `ingest`. Files of a worker that died are read by this process at the end.
    """
    import distributed

    dask: Any = distributed  # its type declarations are incomplete
    known = {name: options[name] for name in ("max_bytes", "follow_links") if name in options}
    files = [str(item.path) for item in discover(roots_of(paths), **known) if isinstance(item, Found)]
    tasks = [client.submit(ingest_files, some, make_store, options, pure=False) for some in batched(files, FILES)]
    done = [task.result() for task in dask.as_completed(tasks) if task.status == "finished"]
    with make_store() as store:
        rest = ingest(paths, store, prune=prune, **options)
    first = joined(done) if done else IngestReport()
    new = {*first.added, *first.changed}
    unchanged = [source for source in rest.unchanged if source not in new]
    return joined([replace(first, unchanged=[], skipped=[], failed=[]), replace(rest, unchanged=unchanged, partial=[])])


def ingest_files(files: Sequence[str], make_store: MakeStore, options: dict[str, Any]) -> IngestReport:
    """Ingest some files in a worker."""
    return ingest(list(files), _opened(make_store), **options)


@cache
def _opened(make_store: MakeStore) -> LangChainStore:
    return make_store()

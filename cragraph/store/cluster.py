"""Bulk ingest over a Dask cluster: many workers read, split and embed; one process writes to the Chroma server.

The files must lie where every worker sees them under the same path. Needs the `cluster` extra.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from cragraph.documents import MAX_BYTES
from cragraph.documents.files import Paths
from cragraph.passages import contextual_text
from cragraph.protocols import Embeddings
from cragraph.store import Store
from cragraph.store.bulk import Ingest, IngestReport, OnProgress
from cragraph.store.reading import Failed, Message, SplitOptions, read

if TYPE_CHECKING:
    from distributed import Client

_AHEAD: Final = 2  # files a worker thread may be ahead of the writer, which bounds what waits in memory


def ingest_on(
    client: "Client",
    paths: Paths,
    store: Store,
    make_embeddings: "Callable[[], Embeddings]",
    *,
    split_options: SplitOptions | None = None,
    prune: bool = False,
    progress: OnProgress | None = None,
    max_bytes: int | None = MAX_BYTES,
    follow_links: bool = False,
) -> IngestReport:
    """Like `ingest`, with the reading, splitting and embedding done by the workers of a Dask client.

    `make_embeddings` is called once in each worker process and must give the model of the store; it travels by pickle,
    so it is a function or class of an importable module, such as `cragraph.models.embeddings.EmbeddedEncoder`. A worker
    that dies is replaced by another; a file that takes down several is reported as failed.
    """
    options = split_options or SplitOptions()
    with store.taking_turns():
        run = Ingest(paths, store, options, max_bytes, prune, progress, follow_links=follow_links)
        return run.done(_messages(client, list(run.jobs), options, make_embeddings))


def read_and_embed(source: str, options: SplitOptions, make_embeddings: "Callable[[], Embeddings]") -> list[Message]:
    """What a worker does with one file."""
    import numpy as np

    messages: list[Message] = []
    for message in read([source], options):
        if not isinstance(message, Failed) and message.passages:
            texts = [contextual_text(passage) for passage in message.passages]
            vectors = _model(make_embeddings).embed_documents(texts)
            message = replace(message, vectors=np.asarray(vectors, dtype=np.float32))
        messages.append(message)
    return messages


@cache
def _model(make_embeddings: "Callable[[], Embeddings]") -> "Embeddings":
    return make_embeddings()


def _messages(
    client: "Client", sources: Sequence[str], options: SplitOptions, make_embeddings: "Callable[[], Embeddings]"
) -> Generator[Message, None, None]:
    import distributed

    dask: Any = distributed  # what it declares of its types is not enough to check against
    rest = iter(sources)
    threads = max(1, sum(dict(dask.Client.nthreads(client)).values()))
    running: dict[Any, str] = {}

    def submitted(most: int) -> Iterator[Any]:
        for source in islice(rest, most):
            future = client.submit(read_and_embed, source, options, make_embeddings, pure=False)
            running[future] = source
            yield future

    done = dask.as_completed([*submitted(threads * _AHEAD)])
    for future in done:
        source = running.pop(future)
        if future.status == "finished":
            yield from future.result()
        else:
            yield Failed(source, f"the workers could not read it ({future.exception()})")
        future.release()
        done.update([*submitted(1)])

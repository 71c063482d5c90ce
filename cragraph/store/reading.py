"""Reading files: in a process of its own with limits of time and memory, as a stream of small messages.

If a file ends the process, or exceeds a limit, it is reported as failed, and a new process goes on with the next file.
"""

import pickle
import signal
import subprocess
import sys
from collections.abc import Container, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Final

from cragraph.documents import CHUNK_OVERLAP, CHUNK_SIZE, Limits, load, split
from cragraph.documents.document import Document
from cragraph.documents.split import check_sizes
from cragraph.errors import CragError
from cragraph.process import COMMAND, alarm, bound_memory, own_output, send
from cragraph.store.records import sha256_of
from cragraph.store.tables import StoredTable, stored
from cragraph.types import Passage

_SPLITTER: Final = 6  # raised when loading or splitting changes so much that files should be read again
COUNTING: Final = 5.0  # seconds at most for counting the rows of a file beyond its limit
PIECE: Final = 128  # passages of a message at most, which bounds the memory for large files
_AHEAD: Final = 1 << 20  # bytes of messages that may wait to be embedded, if the system's pipes hold as much
_READY: Final = "ready"
_SERVE: Final = "import sys; from cragraph.store.reading import serve; serve()"


@dataclass(frozen=True, slots=True)
class SplitOptions:
    """Characters of a chunk at most, and characters that it repeats of the chunk before at most."""

    chunk_size: int = CHUNK_SIZE
    chunk_overlap: int = CHUNK_OVERLAP

    def __post_init__(self) -> None:
        check_sizes(self.chunk_size, self.chunk_overlap)

    @property
    def name(self) -> str:
        """The name of these options: a file that was split with another name is split again."""
        return f"{_SPLITTER}/{self.chunk_size}/{self.chunk_overlap}"


@dataclass(frozen=True, slots=True)
class Portion:
    """Some passages of a file, with `vectors` if its reader embeds; the `last` portion has the total.

    `left_out` is the place from which a file with too many chunks is left out, such as "row 50,001", and `of` the
    length of the file, such as "100,000 rows"; both come with the last portion, and so do the large `tables`.
    """

    source: str
    sha256: str
    passages: list[Passage]
    last: bool
    total: int = -1
    vectors: Any = None
    left_out: str = ""
    of: str = ""
    tables: Sequence[StoredTable] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """A file that could not be read, or not to its end."""

    source: str
    reason: str


Message = Portion | Failed


def read(
    sources: Iterable[str], options: SplitOptions, limits: Limits | None = None, given_up: Container[str] = ()
) -> Generator[Message, None, None]:
    """Read every file as one or more portions, the last one marked; a failure ends a file's portions.

    A file in `given_up` is read no further.
    """
    for source in sources:
        try:
            for piece in _pieces(source, options, limits or Limits()):
                yield piece
                if source in given_up:
                    break
        except MemoryError:
            yield Failed(source, "it needs more memory than a file may; split it, or raise the limit")
        except (CragError, OSError) as error:
            yield Failed(source, getattr(error, "strerror", None) or str(error))


def _pieces(source: str, options: SplitOptions, limits: Limits) -> Iterator[Portion]:
    digest = sha256_of(Path(source))
    passages: list[Passage] = []
    seen: set[str] = set()
    left_out = of = ""
    tables: list[StoredTable] = []
    documents = _noting(load(source, source=source, limits=limits), tables)
    for passage in _passages(documents, options):
        if passage["chunk_id"] in seen:
            continue
        if len(seen) == limits.chunks:
            left_out, of = _place(passage), _length(documents, passage)
            break
        seen.add(passage["chunk_id"])
        passages.append(passage)
        if len(passages) > PIECE:
            yield Portion(source, digest, passages[:PIECE], last=False)
            passages = passages[PIECE:]
    yield Portion(source, digest, passages, last=True, total=len(seen), left_out=left_out, of=of, tables=tables)


def _noting(documents: Iterable[Document], tables: list[StoredTable]) -> Iterator[Document]:
    """The documents, with the large tables that come by put into a list."""
    for document in documents:
        if document.table is not None:
            above = ("format", "title", "heading")  # as the rows of its sample have them
            metadata = {name: value for name, value in split(document)[0]["metadata"].items() if name in above}
            tables.append(stored(document.doc_id, metadata, document.table))
        yield document


def _passages(documents: Iterable[Document], options: SplitOptions) -> Iterator[Passage]:
    for document in documents:
        yield from split(document, chunk_size=options.chunk_size, chunk_overlap=options.chunk_overlap)


def _place(passage: Passage) -> str:
    """The place of a passage in its file, for people: row or page."""
    if isinstance(row := passage["metadata"].get("row"), int):
        return f"row {row:,}"
    if rows := passage["metadata"].get("rows"):
        return f"row {int(str(rows).partition('-')[0]):,}"
    return f"page {passage['page']:,}" if passage["page"] else f"character {passage['start_index']:,}"


def _length(rest: Iterable[Document], last: Passage) -> str:
    """The number of a file's rows, counted for a few seconds at most; empty for a file without rows."""
    if not (rows := last["metadata"].get("rows")):
        return ""
    until, cut = monotonic() + COUNTING, False
    for document in rest:
        rows = document.metadata.get("rows", rows)
        if cut := monotonic() > until:
            break
    return f"{'more than ' * cut}{int(str(rows).rpartition('-')[2]):,} rows"


def messages(
    sources: Sequence[str], options: SplitOptions, limits: Limits | None = None, given_up: Container[str] = ()
) -> Generator[Message, None, None]:
    """The files' messages in order, from a separate process; without `limits` from this process."""
    rest = list(sources)
    while rest and limits:
        code = yield from _ahead(rest, options, limits, given_up)
        if code is None:
            break
        if rest and rest[0] in given_up:
            rest.pop(0)
        elif rest:
            ended = f"signal {-code}" if code < 0 else f"exit status {code}"
            reason = f"reading it ended the reader ({ended}); leave it out or convert it"
            if hasattr(signal, "SIGALRM") and code == -signal.SIGALRM:
                reason = f"reading it took more than {limits.seconds:g} seconds; split it, or raise max_file_mb"
            yield Failed(rest.pop(0), reason)
    yield from read(rest, options, limits, given_up)


def _ahead(
    rest: list[str], options: SplitOptions, limits: Limits, given_up: Container[str]
) -> Generator[Message, None, int | None]:
    """The messages of a process that reads ahead; returns its exit code and removes finished files from `rest`.

    Ends with a file that is given up, which stays the first of `rest`.
    """
    started = False
    with subprocess.Popen(
        [*COMMAND, _SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with suppress(OSError), process.stdin:
                pickle.dump((rest, options, limits), process.stdin)
            with suppress(EOFError, pickle.UnpicklingError, OSError, ValueError):  # the end, expected or not
                while True:
                    message = pickle.load(process.stdout)
                    if message == _READY:
                        started = True
                        continue
                    if isinstance(message, Failed) or message.last:
                        rest.pop(0)
                    yield message
                    if rest and rest[0] == message.source in given_up:
                        return 0
            return process.wait() if started else None
        finally:
            process.kill()


def serve() -> None:
    """Run the reading process: read the files named on stdin and write their messages to stdout."""
    out = own_output()
    sources, options, limits = pickle.load(sys.stdin.buffer)
    bound_memory(limits.memory_mb)
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(out, fcntl.F_SETPIPE_SZ, _AHEAD)
    send(out, _READY)
    for source in sources:
        left, file = limits.seconds, read([source], options, limits)
        while True:
            alarm(left)
            message = next(file, None)
            left = alarm(0.0)
            if message is None:
                break
            send(out, message)

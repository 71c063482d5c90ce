"""Ingest: bring a store into step with files and folders, doing only the work that is left; and take files out."""

import os
from collections.abc import Callable, Collection, Generator, Iterable
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from time import monotonic, time_ns
from typing import Any, Final

from cragraph.errors import InputError
from cragraph.retrieval.documents import MAX_BYTES, Skipped, discover
from cragraph.retrieval.store.ledger import Ledger
from cragraph.retrieval.store.reading import Failed, Message, Piece, SplitOptions, messages, sha256_of
from cragraph.retrieval.store.records import Item, Origin, StoredDocument
from cragraph.retrieval.store.store import Store


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The sources (absolute paths) by what happened to them; with `dry_run`, by what would have happened.

    `skipped` are files that ingest does not take, `failed` those it would take but cannot read; each with the reason.
    What a failed file gave before stays in the store. `chunks` counts the chunks written.
    """

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    chunks: int = 0
    seconds: float = 0.0
    dry_run: bool = False

    @property
    def did_anything(self) -> bool:
        """Whether the store differs from before."""
        return bool(self.added or self.changed or self.removed) and not self.dry_run

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON: lists of paths, and objects of path and reason."""
        return {
            "added": self.added,
            "changed": self.changed,
            "unchanged": self.unchanged,
            "removed": self.removed,
            "skipped": [{"path": path, "reason": reason} for path, reason in self.skipped],
            "failed": [{"path": path, "reason": reason} for path, reason in self.failed],
            "chunks": self.chunks,
            "seconds": round(self.seconds, 3),
            "dry_run": self.dry_run,
        }


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an ingest is: `done` of `total` files, `chunks` written, at `rate` chunks a second.

    `eta` are the seconds left, judged by the bytes of the files still to read; None before anything was measured.
    `source` is the file last finished.
    """

    done: int
    total: int
    chunks: int
    rate: float
    eta: float | None
    source: str


class Meter:
    """Counts what is done and tells how long the rest will take."""

    def __init__(self, total: int, to_read: int) -> None:
        """`total` files, `to_read` bytes in those of them that have to be read."""
        self._start = monotonic()
        self._total, self._to_read = total, to_read
        self._done = self._read = self.chunks = 0

    def finished(self, source: str, size: int, chunks: int) -> Progress:
        """One more file is done: `size` bytes of it were read (0 for one without work) and gave `chunks`."""
        self._done += 1
        self._read += size
        self.chunks += chunks
        seconds = self.seconds
        left = max(0, self._to_read - self._read)
        eta = seconds * left / self._read if self._read else (0.0 if not left else None)
        return Progress(self._done, self._total, self.chunks, self.chunks / seconds if seconds else 0.0, eta, source)

    @property
    def seconds(self) -> float:
        """Since the start."""
        return monotonic() - self._start


Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True, slots=True)
class Job:
    """A file to read: `known` is its state in the store, None where it is new."""

    source: str
    size: int
    mtime_ns: int
    known: Origin | None = None


@dataclass(slots=True)
class Survey:
    """Files sorted by what is to be done; `touched` differ in their time alone and only need a new record."""

    jobs: list[Job] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    touched: list[Origin] = field(default_factory=list)
    vanished: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)

    @property
    def files(self) -> int:
        """How many files are taken."""
        return len(self.jobs) + len(self.unchanged)

    @property
    def bytes_to_read(self) -> int:
        """In all the files that have to be read."""
        return sum(job.size for job in self.jobs)


def source_of(path: str | os.PathLike[str]) -> str:
    """What a file is called in the store: its absolute path, so that it does not matter where ingest was started."""
    return Path(os.path.normpath(Path(path).expanduser().absolute())).as_posix()


def roots_of(paths: Paths) -> list[Path]:
    """The paths as a list."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    return [Path(path).expanduser() for path in given]


def survey(paths: Paths, ledger: Ledger, options: str, *, max_bytes: int | None, prune: bool) -> Survey:
    """Walk the paths and decide for each file by its size and time, and by its hash where these are not enough.

    Raises:
        InputError: where a path does not exist.
    """
    found, known = Survey(), ledger.sources()
    roots = roots_of(paths)
    for item in discover(roots, max_bytes=max_bytes):
        source = source_of(item.path)
        if isinstance(item, Skipped):
            found.skipped.append((source, item.reason))
            if source in known and prune and _is_empty(item.path):
                found.vanished.append(source)
        else:
            _decide(found, source, known.get(source), options)
    if prune:
        found.vanished += [source for source in _below(roots, ledger.names()) if not Path(source).exists()]
    return found


def _decide(found: Survey, source: str, known: Origin | None, options: str) -> None:
    try:
        status = Path(source).stat()
        if known is None or known.options != options or known.size != status.st_size:
            found.jobs.append(Job(source, status.st_size, status.st_mtime_ns, known))
        elif known.mtime_ns == status.st_mtime_ns:
            found.unchanged.append(source)
        elif sha256_of(Path(source)) != known.sha256:
            found.jobs.append(Job(source, status.st_size, status.st_mtime_ns, known))
        else:
            found.unchanged.append(source)
            found.touched.append(
                Origin(source, known.sha256, status.st_size, status.st_mtime_ns, options, known.chunks)
            )
    except OSError as error:
        found.failed.append((source, error.strerror or str(error)))


def _below(roots: Iterable[str | os.PathLike[str]], known: Iterable[str]) -> list[str]:
    """The sources that are one of these paths or lie below one."""
    names = [name.rstrip("/") for root in roots for name in (os.fspath(root), source_of(root))]
    return sorted(source for source in known if any(source == n or source.startswith(n + "/") for n in names))


def _is_empty(path: Path) -> bool:
    try:
        return path.stat().st_size == 0
    except OSError:
        return False


OnProgress = Callable[[Progress], None]

BATCH: Final = 256
"""Passages gathered from several files before they are embedded and written together."""

_RACY_NS: Final = 2_000_000_000


def ingest(
    paths: Paths,
    store: Store,
    *,
    split_options: SplitOptions | None = None,
    prune: bool = False,
    dry_run: bool = False,
    progress: OnProgress | None = None,
    max_bytes: int | None = MAX_BYTES,
) -> IngestReport:
    """Read what is new or changed under the paths into the store, and with `prune` remove what has vanished there.

    A file is unchanged when its size and time of change, or else its hash, are as recorded; it costs no work. A file is
    taken in this order: its new chunks are added, the file is recorded, its old chunks are removed; so a run that is
    killed anywhere leaves nothing out that was in, and the next one completes it. `dry_run` changes nothing.

    Raises:
        InputError: a path does not exist.
        StoreLockedError: another process is writing to the store.
        StoreError: the store cannot be written (permissions, a full disk); what was in is still in.
    """
    options = split_options or SplitOptions()
    with nullcontext() if dry_run else store.writing():
        found = survey(paths, store.ledger, options.name, max_bytes=max_bytes, prune=prune)
        if dry_run:
            return pretended(found)
        jobs = [job.source for job in found.jobs]
        return Run(store, options, found, progress).done(messages(jobs, found.bytes_to_read, options))


def pretended(found: Survey) -> IngestReport:
    """The report of a run that would do what was found to be done."""
    return IngestReport(
        added=[job.source for job in found.jobs if job.known is None],
        changed=[job.source for job in found.jobs if job.known is not None],
        unchanged=found.unchanged,
        removed=found.vanished,
        skipped=found.skipped,
        failed=found.failed,
        dry_run=True,
    )


class Run:
    """One ingest under way: what was read, by whomever, goes into the store."""

    def __init__(self, store: Store, options: SplitOptions, found: Survey, tell: OnProgress | None = None) -> None:
        self._store, self._options, self._found = store, options, found
        self._tell: OnProgress = tell or (lambda _: None)
        self._jobs = {job.source: job for job in found.jobs}
        self._meter = Meter(found.files, found.bytes_to_read)
        self._report = IngestReport(unchanged=found.unchanged, skipped=found.skipped, failed=found.failed)
        self._items: list[Item] = []
        self._ended: list[tuple[Job, Origin]] = []

    def done(self, read: Generator[Message, None, None]) -> IngestReport:
        """Write what comes of the files to be read, then remove what vanished; says what was done.

        `read` is closed also where writing fails, so that no reader goes on.
        """
        for source in self._found.unchanged:
            self._tell(self._meter.finished(source, 0, 0))
        for origin in self._found.touched:
            self._store.ledger.set_whole(origin)
        with closing(read):
            for message in read:
                if isinstance(message, Failed):
                    self._give_up(message)
                else:
                    self._take(message)
        self._flush()
        for source, origin in self._store.ledger.overtaken().items():
            # Left by a run that was killed between recording a file and removing what it replaces.
            self._store.release(source, but=origin)
        for source in self._found.vanished:
            self._store.release(source)
            self._report.removed.append(source)
        return self._finished()

    def _take(self, piece: Piece) -> None:
        job = self._jobs[piece.source]
        origin = Origin(job.source, piece.sha256, job.size, _settled(job.mtime_ns), self._options.name, piece.total)
        vectors = piece.vectors if piece.vectors is not None else repeat(None, len(piece.passages))
        self._items += [Item(p, origin, vector) for p, vector in zip(piece.passages, vectors, strict=True)]
        if piece.last:
            self._ended.append((job, origin))
        if len(self._items) >= BATCH:
            self._flush()

    def _flush(self) -> None:
        """Write what was gathered, then record the files that ended in it, then remove what they replace."""
        self._store.add_items(self._items)
        self._items = []
        for job, origin in self._ended:
            self._store.ledger.set_whole(origin)
            self._store.release(job.source, but=origin)
            (self._report.added if job.known is None else self._report.changed).append(job.source)
            self._tell(self._meter.finished(job.source, job.size, origin.chunks))
        self._ended = []

    def _give_up(self, failed: Failed) -> None:
        """Take back what a file gave before it failed; what it gave in an earlier state stays."""
        job = self._jobs[failed.source]
        self._items = [item for item in self._items if item.passage["source"] != failed.source]
        self._store.release(failed.source, but=job.known)
        self._report.failed.append((failed.source, failed.reason))
        self._tell(self._meter.finished(failed.source, job.size, 0))

    def _finished(self) -> IngestReport:
        report = self._report
        return IngestReport(
            added=report.added,
            changed=report.changed,
            unchanged=report.unchanged,
            removed=report.removed,
            skipped=report.skipped,
            failed=report.failed,
            chunks=self._meter.chunks,
            seconds=self._meter.seconds,
        )


def _settled(mtime_ns: int) -> int:
    """The time to record; 0, which no file has, where the file is so fresh that it may change again within one tick
    of the file system's clock. Such a file is hashed at the next run."""
    return mtime_ns if time_ns() - mtime_ns > _RACY_NS else 0


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
        found = _below([given], [document.source for document in documents]) or _named(given, documents)
        if not found:
            raise InputError(f"nothing in the store came from {given}; `cragraph docs` lists what is in it.")
        for source in found:
            store.release(source)
            store.delete(store.ledger.unheld(source))
        return found


def _named(name: str, documents: Collection[StoredDocument]) -> list[str]:
    """The one source with this file name; raises InputError where there are several."""
    found = sorted(d.source for d in documents if name in (d.filename, d.source.rsplit("/", 1)[-1]))
    if len(found) > 1:
        raise InputError(
            f"{len(found)} documents in the store are called {name}; wanted one of {', '.join(found)}: give its path."
        )
    return found

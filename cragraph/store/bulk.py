"""Ingest: update a store from files and folders, reading only changed files; and remove files from it."""

import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from threading import Event
from time import monotonic, time_ns
from typing import Any, Final

from cragraph.documents import MAX_BYTES, Found, Limits, Skipped, discover
from cragraph.documents.files import Paths
from cragraph.errors import InputError
from cragraph.store.collections import checked_name
from cragraph.store.reading import Failed, Message, Portion, SplitOptions, messages, read
from cragraph.store.records import (
    DEFAULT,
    FIELD,
    Item,
    Origin,
    StoredDocument,
    at_home,
    composed,
    filename_of,
    iso_time,
    left_out,
    sha256_of,
)
from cragraph.store.store import BATCH, Store
from cragraph.store.tables import StoredTable


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The sources (absolute paths) of an ingest by outcome; with `dry_run`, by expected outcome.

    `skipped` are files that ingest does not take, `failed` files that it cannot read (their earlier passages stay in),
    `partial` files that are in without some pages or without their end, each with the reason. `doubtful` are files
    whose reading may be wrong, with a row per reason. `moved` are files that came from another collection; they are
    listed under their other outcome too. `notes` are the degradations of the store when the ingest began.
    """

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    partial: list[tuple[str, str]] = field(default_factory=list)
    doubtful: list[tuple[str, str]] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    chunks: int = 0
    seconds: float = 0.0
    dry_run: bool = False

    @property
    def did_anything(self) -> bool:
        """Whether the store differs from before."""
        return bool(self.added or self.changed or self.removed or self.moved) and not self.dry_run

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON: lists of paths, and objects of path and reason."""
        given = asdict(self) | {"seconds": round(self.seconds, 3)}
        for name in ("skipped", "failed", "partial", "doubtful"):
            given[name] = [{"path": path, "reason": reason} for path, reason in given[name]]
        return given


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of an ingest: files `done`, `chunks` written, chunks per second (`rate`).

    `source` is the file last finished, empty before the first.
    """

    done: int
    total: int
    chunks: int
    rate: float
    source: str


OnProgress = Callable[[Progress], None]

_LIMITS: Final = Limits()
_FIRST: Final = 16  # passages in the first batch, so that the speed shows soon; each next batch has twice as many
_RACY_NS: Final = 2_000_000_000

STOPPED: Final = "{files} files are in, whole.{rest} Run the same command again to go on."
PAGES_LEFT_OUT: Final = (
    "read without page {pages}: no text there, only pictures (pip install 'cragraph[ocr]'), or broken"
)
TOO_MANY: Final = "{left_out}: a file may give {most:,} chunks; raise max_file_mb, or split it"
TOO_LONG: Final = (
    "reading and embedding it took more than {seconds:g} seconds: {kept:,} chunks of it are kept, unseen by any "
    "search; run the same command again to go on, or raise max_file_mb"
)
HALF: Final = " Of {name} {chunks} chunks are kept, unseen by any search until the rest is in."


def source_of(path: str | os.PathLike[str]) -> str:
    """The name of a file in the store: its absolute path, whatever folder ingest was started in."""
    return Path(os.path.normpath(at_home(path).absolute())).as_posix()


def changed_at(status: os.stat_result) -> int:
    """The time of a file's last change, in nanoseconds: a copy may keep the modification time of another text."""
    return max(status.st_mtime_ns, status.st_ctime_ns)


def roots_of(paths: Paths) -> list[Path]:
    """The paths as a list."""
    return [at_home(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]


def below(roots: Iterable[str | os.PathLike[str]], known: Iterable[str]) -> list[str]:
    """The known sources that are among the paths, or below them, in order of name."""
    names = [composed(name.rstrip("/")) for root in roots for name in (os.fspath(root), source_of(root))]
    told = ((source, composed(source)) for source in known)
    return sorted(source for source, name in told if any(name == n or name.startswith(n + "/") for n in names))


def ingest(
    paths: Paths,
    store: Any,
    *,
    split_options: SplitOptions | None = None,
    prune: bool = False,
    dry_run: bool = False,
    progress: OnProgress | None = None,
    max_bytes: int | None = MAX_BYTES,
    follow_links: bool = False,
    limits: Limits | None = _LIMITS,
    clock: Callable[[], float] = monotonic,
    collection: str | None = None,
) -> IngestReport:
    """Read new and changed files under the paths into the store; with `prune` remove the vanished ones.

    With a `collection`, all files below the paths go into it, and move there from others. Without it, files stay in
    their collection, and new files go into the default one.

    A file is unchanged when its size and time of change, or else its hash, are as recorded. A file's new chunks, its
    record and the removal of its old chunks are one transaction: after a kill each file is in its old or its new state,
    and the next run goes on. The smallest files come first, and other writers get their turn between files. A
    separate process reads files within `limits`; None reads them in this process, without limits of time and memory.
    Links that lead out of the paths are followed only with `follow_links`. `clock` tells the seconds.

    Raises:
        InputError: a path does not exist.
        StoreLockedError: another process is writing to the store.
        StoreError: the store cannot be written (permissions, a full disk); its former content stays.
        KeyboardInterrupt: with a note that says what was kept.
    """
    options, within = split_options or SplitOptions(), limits or _LIMITS
    if not isinstance(store, Store):  # a store of vectors alone keeps no columns
        within = replace(within, rows=sys.maxsize)
    with nullcontext() if dry_run else store.taking_turns():
        moved = [] if collection is None else _moved(roots_of(paths), store, collection, dry_run)
        run = Ingest(paths, store, options, max_bytes, prune, progress, within, clock, follow_links, collection)
        reading = read if limits is None else messages
        report = run.dry() if dry_run else run.done(reading([*run.jobs], options, within, run.given_up))
        return replace(report, moved=moved)


def _moved(roots: list[Path], store: Any, collection: str, dry_run: bool) -> list[str]:
    homes, name = store.index.homes(), checked_name(collection)
    here = [source for source in below(roots, homes) if Path(source).exists()]
    if dry_run:
        return [source for source in here if homes[source].casefold() != name.casefold()]
    return store.move(here, name) if here else []


class Ingest:
    """The files below some paths by the work to be done, and the passages on their way into the store."""

    def __init__(
        self,
        paths: Paths,
        store: Any,
        options: SplitOptions,
        max_bytes: int | None,
        prune: bool,
        tell: OnProgress | None = None,
        limits: Limits = _LIMITS,
        clock: Callable[[], float] = monotonic,
        follow_links: bool = False,
        collection: str | None = None,
    ) -> None:
        self.jobs: dict[str, Origin] = {}
        self.given_up: set[str] = set()  # files that took too long and are read no further
        self._store, self._homes, self._tell = store, store.index.homes(), tell
        own = store.home(collection or DEFAULT)
        self._limits, self._clock = limits, clock
        self._start = self._turn = clock()
        self._done = self._chunks = self._part = 0
        self._batch = _FIRST
        self._items: list[Item] = []
        self._ended: list[Origin] = []
        self._tables: dict[str, Sequence[StoredTable]] = {}
        self._touched: list[Origin] = []
        self._report = IngestReport(notes=store.notes)
        self._doubts: dict[tuple[str, str], None] = {}
        known = store.index.sources()
        for item in discover(roots_of(paths), max_bytes=max_bytes, follow_links=follow_links):
            source = source_of(item.path)
            if isinstance(item, Skipped):
                self._report.skipped.append((source, item.reason))
                if prune and source in self._homes and item.path.exists() and not item.path.stat().st_size:
                    self._report.removed.append(source)
                continue
            try:
                status = item.path.stat()
                old = known.get(source)
                home = self._homes.get(source, own)
                now = Origin(source, "", status.st_size, changed_at(status), options.name, -1, home)
                if (
                    old
                    and (old.options, old.size) == (now.options, now.size)
                    and not (old.cut and old.cut[0] < limits.chunks)  # the limit has grown
                    and (old.mtime_ns == now.mtime_ns or sha256_of(item.path) == old.sha256)
                ):
                    self._report.unchanged.append(source)
                    self._partly(old)
                    if old.mtime_ns != now.mtime_ns:
                        self._touched.append(old._replace(mtime_ns=now.mtime_ns))
                else:
                    self.jobs[source] = now
            except OSError as error:
                self._report.failed.append((source, error.strerror or str(error)))
        self.jobs = dict(sorted(self.jobs.items(), key=lambda job: job[1].size))
        if prune:
            here = below(roots_of(paths), self._homes)
            self._report.removed.extend(source for source in here if not Path(source).exists())

    def dry(self) -> IngestReport:
        """The report of what would be done."""
        added = [source for source in self.jobs if source not in self._homes]
        changed = [source for source in self.jobs if source in self._homes]
        return replace(self._report, added=added, changed=changed, dry_run=True)

    def done(self, reading: Generator[Message, None, None]) -> IngestReport:
        """Write the passages of the files read, then remove vanished files; returns the report."""
        self._progress("")  # the number of files is known long before the first one is in
        for source in self._report.unchanged:
            self._finished(source)
        for origin in self._touched:
            with self._store.writing():
                self._store.index.touch(origin)
        self._turn = self._clock()
        try:
            with closing(reading):  # also if writing fails, so that no reader goes on
                for message in reading:
                    if message.source not in self.given_up:
                        self._give_up(message) if isinstance(message, Failed) else self._take(message)
            self._flush()
            if self._report.removed:
                self._store.release(*self._report.removed)
            self._store.mended()
        except KeyboardInterrupt as stop:
            files = len(self._report.added) + len(self._report.changed)
            rest = "".join(HALF.format(name=name, chunks=n) for name, n in self._store.unfinished().items())
            stop.add_note(STOPPED.format(files=files, rest=rest))
            raise
        seconds = self._clock() - self._start
        return replace(self._report, doubtful=[*self._doubts], chunks=self._chunks, seconds=seconds)

    def _take(self, piece: Portion) -> None:
        job = self.jobs[piece.source]
        # A file may change again within one tick of the file system's clock. A fresh one gets the time 0, which no file
        # has, so that it is hashed at the next run.
        settled = job.mtime_ns if time_ns() - job.mtime_ns > _RACY_NS else 0
        cut = (self._limits.chunks, piece.left_out, piece.of) if piece.left_out else ()
        origin = job._replace(sha256=piece.sha256, mtime_ns=settled, chunks=piece.total, cut=cut)
        written = job.mtime_ns
        with suppress(OSError):
            written = Path(job.source).stat().st_mtime_ns
        vectors = iter(() if piece.vectors is None else piece.vectors)
        for passage in piece.passages:
            passage["metadata"].setdefault("timestamp", iso_time(written))
            self._items.append(Item(passage, (origin,), next(vectors, None), origin.collection))
            self._doubts.update(((piece.source, doubt), None) for doubt in passage["metadata"].get("doubts", ()))
        if piece.last:
            self._ended.append(origin)
            if piece.tables:
                self._tables[job.source] = piece.tables
            self._partly(origin)
            if piece.passages and (pages := piece.passages[-1]["metadata"].get("unread_pages")):
                self._report.partial.append((job.source, PAGES_LEFT_OUT.format(pages=pages)))
        if len(self._items) >= (self._batch if piece.last else BATCH):
            self._batch = min(2 * self._batch, BATCH)
            self._flush(None if piece.last else origin)
        if piece.last:
            self._turn = self._clock()
        elif self._clock() - self._turn > self._limits.total_seconds:
            self._put_off(origin)

    def _partly(self, origin: Origin) -> None:
        if origin.cut:
            most, *place = origin.cut
            self._report.partial.append((origin.source, TOO_MANY.format(left_out=left_out(*place), most=most)))

    def _put_off(self, origin: Origin) -> None:
        """Go on with the next file; the passages of this one so far are kept for the next run."""
        self._flush(origin)
        self.given_up.add(origin.source)
        kept = self._store.unfinished().get(origin.source, 0)
        self._report.failed.append((origin.source, TOO_LONG.format(seconds=self._limits.total_seconds, kept=kept)))
        self._finished(origin.source)

    def _flush(self, reading: Origin | None = None) -> None:
        """Write the finished files; stage the passages of the file that is still being read, unseen by searches."""
        part = [item for item in self._items if reading and item.passage["source"] == reading.source]
        whole = self._items[: len(self._items) - len(part)]
        if self._ended:
            more = {"tables": self._tables} if self._tables else {}  # which a store of vectors alone does not keep
            self._store.commit([(origin.source, origin) for origin in self._ended], whole, **more)
            self._tables = {}
        for origin in self._ended:
            (self._report.changed if origin.source in self._homes else self._report.added).append(origin.source)
            self._finished(origin.source, origin.chunks)
        if part and reading:
            self._store.stage(part, reading)
            self._part += len(part)
            self._progress(reading.source)
        self._items, self._ended = [], []

    def _give_up(self, failed: Failed) -> None:
        """Drop the passages of a file that failed; those of its earlier state stay."""
        self._items = [item for item in self._items if item.passage["source"] != failed.source]
        with self._store.writing():
            self._store.index.unstage(failed.source)
        # The reason stands beside the path, so the path is cut out of it.
        self._report.failed.append((failed.source, failed.reason.removeprefix(failed.source).lstrip(": ")))
        self._finished(failed.source)

    def _finished(self, source: str, chunks: int = 0) -> None:
        self._turn = self._clock()
        self._done += 1
        self._chunks += chunks
        self._part = 0
        self._progress(source)

    def _progress(self, source: str) -> None:
        chunks, seconds = self._chunks + self._part, self._clock() - self._start
        files = len(self.jobs) + len(self._report.unchanged)
        if self._tell:
            self._tell(Progress(self._done, files, chunks, chunks / seconds if seconds else 0.0, source))


def joined(reports: Sequence[IngestReport]) -> IngestReport:
    """Several reports as one."""
    given: dict[str, Any] = {
        name: [row for report in reports for row in getattr(report, name)]
        for name in ("added", "changed", "unchanged", "removed", "skipped", "failed", "partial", "doubtful", "moved")
    }
    given |= {name: sum(getattr(report, name) for report in reports) for name in ("chunks", "seconds")}
    return IngestReport(**given, dry_run=reports[0].dry_run)


def forget(store: Any, path: str | os.PathLike[str], collection: str | None = None) -> list[str]:
    """Remove a file, or everything under a folder, from the store or from one collection; returns the removed sources.

    A path need not exist any more. If no path fits, a file name is enough if only one document has it. Raises
    InputError if no document fits, or several have that name.
    """
    with store.writing():
        sources = forgotten(path, store.documents(None if collection is None else {FIELD: store.known(collection)}))
        store.release(*sources)
        return sources


def forgotten(path: str | os.PathLike[str], documents: Iterable[StoredDocument]) -> list[str]:
    """The sources that a path means to `forget`. Raises InputError if there are none, or if a name is ambiguous."""
    given, documents = composed(os.fspath(path)), list(documents)
    if not given.strip():
        raise InputError("the path to forget came empty; wanted one of those that `cragraph docs` lists.")
    if sources := below([given], dict.fromkeys(document.source for document in documents)):
        return sources
    sources = sorted({d.source for d in documents if given in (d.filename, filename_of(d.source))})
    if not sources:
        raise InputError(f"The store has no document {given}: `cragraph docs` lists its documents.")
    if len(sources) > 1:
        raise InputError(
            f"{len(sources)} documents in the store are called {given}; wanted one of {', '.join(sources)}: give its "
            "path."
        )
    return sources


INTERVAL: Final = 1.0  # seconds between checks of sizes and times, which every file system has


def watch(
    paths: Paths,
    store: Any,
    *,
    prune: bool = True,
    max_bytes: int | None = MAX_BYTES,
    follow_links: bool = False,
    interval: float = INTERVAL,
    stop: Event | None = None,
    **options: Any,
) -> Iterator[IngestReport]:
    """A report for the first ingest, then one for every change, until `stop` is set or the caller ends the loop.

    `options` are those of `ingest`. A file that is being written is read once it has not changed for one interval. A
    root that disappears for a while is waited for.
    """
    roots = roots_of(paths)
    stop = stop or Event()
    seen: dict[str, tuple[int, int]] | None = None
    last: dict[str, tuple[int, int]] = {}
    while not stop.is_set():
        sight: dict[str, tuple[int, int]] = {}
        there = [root for root in roots if root.exists()]
        for item in discover(there, max_bytes=max_bytes, follow_links=follow_links):
            with suppress(OSError):
                status = item.path.stat()
                if isinstance(item, Found):
                    sight[str(item.path)] = (status.st_size, changed_at(status))
        if seen is None or (sight != seen and sight == last):
            there = [root for root in roots if root.exists()] if seen is not None else roots
            report = ingest(there, store, prune=prune, max_bytes=max_bytes, follow_links=follow_links, **options)
            if seen is None or report.did_anything or report.failed:
                yield report
            seen = sight
        last = sight
        stop.wait(interval)

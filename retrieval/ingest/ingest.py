"""Bring a store into step with files and folders."""

from collections.abc import Callable, Generator
from contextlib import closing, nullcontext
from itertools import repeat
from time import time_ns
from typing import Final

from cragraph.retrieval.documents import MAX_BYTES
from cragraph.retrieval.ingest.options import SplitOptions
from cragraph.retrieval.ingest.parallel import messages
from cragraph.retrieval.ingest.reading import Failed, Message, Piece
from cragraph.retrieval.ingest.report import IngestReport, Meter, Progress
from cragraph.retrieval.ingest.survey import Job, Paths, Survey, survey
from cragraph.retrieval.store import Item, Origin, Store

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

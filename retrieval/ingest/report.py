"""What an ingest did, and how far it is."""

from dataclasses import dataclass, field
from time import monotonic
from typing import Any


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

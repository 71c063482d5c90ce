"""What an ingest has to do: every file held against the record of what is in the store."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from cragraph.retrieval.documents import Skipped, discover
from cragraph.retrieval.ingest.hashing import sha256_of
from cragraph.retrieval.store import Origin
from cragraph.retrieval.store.ledger import Ledger

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


def _below(roots: Iterable[Path], known: Iterable[str]) -> list[str]:
    folders = [source_of(root).rstrip("/") for root in roots]
    return [source for source in known if any(source == f or source.startswith(f + "/") for f in folders)]


def _is_empty(path: Path) -> bool:
    try:
        return path.stat().st_size == 0
    except OSError:
        return False

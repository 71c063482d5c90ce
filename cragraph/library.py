"""The store of some settings, with operations that need no graph: ingest, list, search, verify."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, cast

from cragraph.build import FETCHED, Parts
from cragraph.documents import CHUNK_OVERLAP, CHUNK_SIZE, LEADS_OUT, Found, discover
from cragraph.errors import DocumentError, InputError, StoreMissingError
from cragraph.graph.context import options_of
from cragraph.language.cells import CELLS
from cragraph.log import History, place_for
from cragraph.passages import as_passages, as_question
from cragraph.protocols import Notes
from cragraph.settings import Settings
from cragraph.store import (
    Failed,
    Held,
    IngestReport,
    SplitOptions,
    StoredDocument,
    forget,
    ingest,
    messages,
    watch,
)
from cragraph.types import Passage
from cragraph.verification.result import Verification

MB: Final = 1024 * 1024  # bytes of a megabyte, as `max_file_mb` counts them
LONGEST_ANSWER: Final = 200_000  # characters of an answer that a server or a tool verifies


@dataclass
class Library:
    """The store of some settings, opened at first use, and the judge of answers."""

    settings: Settings

    @cached_property
    def parts(self) -> Parts:
        """The parts that search, store and judge."""
        return Parts(self.settings)

    @property
    def history(self) -> History | None:
        """The log of questions; None without a store."""
        place = place_for(self.settings.store)
        return None if place is None else History(place)

    def verify(self, answer: str, passages: Iterable[Any], question: str | None = None) -> Verification:
        """Judge an answer against passages. Raises InputError for an answer that is too long."""
        if len(answer) > LONGEST_ANSWER:
            raise InputError(
                f"The answer has {len(answer):,} characters; wanted at most {LONGEST_ANSWER:,}: verify it in parts."
            )
        return self.parts.verifier(question or "", answer, as_passages(passages), Notes(), **self.settings.judging)

    def read(self, paths: Iterable[Path], skipped: list[tuple[str, str]] | None = None) -> list[Passage]:
        """The passages of files and folders without a store; a separate process reads them, as in ingest.

        `skipped` gets the links that lead out of a folder, which are not followed, with the reason. Raises InputError
        for a path that does not exist, DocumentError for a file that cannot be read.
        """
        paths = list(paths)
        if not paths:
            raise InputError("No path came to verify against: give files or folders.")
        files, folders = [], []
        for path in paths:
            with suppress(OSError, ValueError):  # a name that is invalid on every system
                if path.is_dir():
                    folders.append(path)
                    continue
                if path.is_file():
                    files.append(path)
                    continue
            raise InputError(f"{path} is not a file: give files or folders to verify against.")
        for item in discover(folders, max_bytes=self._reading()["max_bytes"]):
            if isinstance(item, Found):
                files.append(item.path)
            elif item.reason == LEADS_OUT and skipped is not None:
                skipped.append((str(item.path), item.reason))
        if not files:
            raise InputError(f"{paths[0]} holds no file that can be read: give files or folders to verify against.")
        options = self._reading()
        passages: list[Passage] = []
        for piece in messages(list(map(str, files)), options["split_options"], options["limits"]):
            if isinstance(piece, Failed):
                raise DocumentError(f"{piece.source}: {piece.reason.removeprefix(piece.source).lstrip(': ')}")
            passages += piece.passages
        return passages

    def search(
        self,
        query: str,
        k: int,
        where: Mapping[str, Any] | None = None,
        collection: str | Sequence[str] | None = None,
    ) -> list[dict[str, Any]]:
        """The best passages for a query, after reranking, each with its scores by stage."""
        query, notes = as_question(query), Notes()
        fetched = max(k, FETCHED.get(self.settings.reranker, 30))
        options = options_of({} if where is None else {"where": dict(where)}).over(self.settings.context())
        if collection is not None:
            options = options.model_copy(update={"collection": options_of({"collection": collection}).collection})
        passages = self.parts.retriever([query], fetched, notes, where=options.filter)
        found: list[dict[str, Any]] = [dict(passage) for passage in self.parts.reranker(query, passages, notes)[:k]]
        for passage in found:
            passage["scores"] = scores_of(cast(Passage, passage)) | {"rerank": passage["rerank_score"]}
            passage["metadata"] = {name: value for name, value in passage["metadata"].items() if name != CELLS}
        return found

    def documents(self, collection: str | None = None) -> list[StoredDocument]:
        """The documents in the store, or of one collection; none if there is no store yet."""
        with suppress(StoreMissingError):
            held = self.parts.store
            return held.documents(None if collection is None else {"collection": held.known(collection)})
        return []

    def collections(self) -> list[Held]:
        """The collections of the store, with their sizes; none if there is no store yet."""
        with suppress(StoreMissingError):
            return self.parts.store.held()
        return []

    def ingest(self, paths: Sequence[Path], collection: str | None = None, **options: Any) -> IngestReport:
        """Read files and folders into the store; `options` are `prune`, `dry_run`, `progress`, `follow_links`.

        With a collection, by argument or setting, all files go into it; else files stay in theirs, and new ones go into
        the default one.
        """
        target = self.parts.store_to_fill(dry_run=bool(options.get("dry_run")))
        return ingest(paths, target, collection=collection or self._into(), **self._reading() | options)

    def watch(self, paths: Sequence[Path], **options: Any) -> Iterator[IngestReport]:
        """Follow files and folders, including removals: a report for the first ingest, then one for every change."""
        given = self._reading() | options | {"collection": self._into()}
        return watch(paths, self.parts.store_to_fill(), prune=True, **given)

    def forget(self, path: str, collection: str | None = None) -> list[str]:
        """Remove a document, or all below a folder, from the store or one collection; returns the removed sources."""
        return forget(self.parts.store, path, collection or self._into())

    def _into(self) -> str | None:
        """The collection of the settings, if they name exactly one."""
        named = self.settings.collection or ()
        if len(named) > 1:
            raise InputError(
                f"The collection came as {', '.join(named)}; wanted one, as a file is in one collection: give one."
            )
        return named[0] if named else None

    def _reading(self) -> dict[str, Any]:
        chosen = self.settings
        return {
            "split_options": SplitOptions(chosen.chunk_size, chosen.chunk_size * CHUNK_OVERLAP // CHUNK_SIZE),
            "limits": chosen.limits,
            "max_bytes": int(chosen.max_file_mb * MB),
        }


def scores_of(passage: Passage) -> dict[str, Any]:
    """The scores of a passage by stage."""
    held = passage["metadata"].get("scores")
    return held if isinstance(held, dict) else {}

"""Writing to both sides of a store in the same breath."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from time import time_ns
from typing import TYPE_CHECKING, Any, Final

from cragraph.errors import InputError
from cragraph.retrieval.store.exact import packed
from cragraph.retrieval.store.floats import Floats, as_floats
from cragraph.retrieval.store.index import Index
from cragraph.retrieval.store.keeping import Keeper
from cragraph.retrieval.store.ledger import Ledger, filename_of
from cragraph.retrieval.store.locks import Writing
from cragraph.retrieval.store.records import Item, Origin, Record, with_context
from cragraph.retrieval.store.vectors import Vectors
from cragraph.types import Passage

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings


BATCH: Final = 256
"""Passages embedded and written at a time."""


class Writer:
    """Adds and removes passages on both sides, a batch at a time, under the lock.

    Every write is numbered. Chroma gets the number before its records, the index together with its rows, so that the
    two numbers agree exactly when neither side misses anything. `keep` holds each vector in the index too.
    """

    def __init__(
        self,
        vectors: Vectors,
        index: Index,
        ledger: Ledger,
        embeddings: "Embeddings",
        lock: Writing,
        keeper: Keeper,
        *,
        keep: bool,
    ) -> None:
        self._vectors, self._index, self._ledger, self._embeddings = vectors, index, ledger, embeddings
        self._lock, self._keeper, self._keep = lock, keeper, keep
        self._depth = 0

    @contextmanager
    def session(self) -> Iterator[None]:
        """Hold the lock over several writes; what a killed writer left is settled first.

        Raises:
            StoreLockedError: where another process is writing.
        """
        with self._lock():
            self._depth += 1
            try:
                if self._depth == 1:
                    self._keeper.settle()
                yield
            finally:
                self._depth -= 1

    def add(self, items: Iterable[Item]) -> int:
        """Add passages, or rewrite those that are in; returns how many were new.

        What is in with the same text is not embedded again, nor is an item that brings its vector.
        """
        added = 0
        items = iter(items)
        with self.session():
            while batch := list(islice(items, BATCH)):
                added += self._add(batch)
        return added

    def remove(self, chunk_ids: Sequence[str]) -> None:
        """Remove passages by id; unknown ids do no harm."""
        with self.session():
            for start in range(0, len(chunk_ids), BATCH * 4):
                ids = list(chunk_ids[start : start + BATCH * 4])
                generation = self._next()
                with self._keeper.writing(generation):
                    self._vectors.delete(ids)
                    self._index.drop(ids, generation=generation, writing=0)

    def release(self, source: str, but: Origin | None = None) -> int:
        """Remove the passages that only this source holds; the others lose this holder. `but` one state stays.

        Returns how many were removed.
        """
        with self.session():
            stays = but.state if but else None
            mine = self._ledger.held_by(source)
            holders = self._ledger.holders(mine)
            rest = {i: [o for o in holders[i] if o.source != source or o.state == stays] for i in mine}
            gone = [chunk_id for chunk_id, left in rest.items() if not left]
            self._hand_over({i: left for i, left in rest.items() if left and left != holders[i]})
            self.remove(gone)
            self._ledger.forget(source, but)
            return len(gone)

    def _hand_over(self, holders: Mapping[str, list[Origin]]) -> None:
        """Give passages these holders and no others; one whose own source is not among them moves to the first."""
        ids = list(holders)
        for start in range(0, len(ids), BATCH):
            records = []
            for passage in self._index.get(ids[start : start + BATCH]):
                origins = holders[passage["chunk_id"]]
                if passage["source"] not in {origin.source for origin in origins}:
                    moved = origins[0].source
                    passage = Passage(**{**passage, "source": moved, "filename": filename_of(moved)})
                records.append(with_context(Record(passage, origins=tuple(origins))))
            self._write([], as_floats([]), records)

    def _add(self, batch: Sequence[Item]) -> int:
        distinct = {item.passage["chunk_id"]: item for item in batch}
        origins: dict[str, list[Origin]] = {}
        for item in batch:
            origins.setdefault(item.passage["chunk_id"], []).extend([item.origin] if item.origin else [])
        known, held = self._index.contexts(distinct), self._ledger.holders(distinct)
        fresh: list[tuple[Record, Any]] = []
        same: list[Record] = []
        for chunk_id, item in distinct.items():
            holders = _joined(held.get(chunk_id, []), origins[chunk_id])
            record = with_context(Record(checked(item.passage), origins=holders))
            if item.vector is None and known.get(chunk_id) == (record.context, item.passage["text"]):
                same.append(record)
            else:
                fresh.append((record, item.vector))
        self._write([record for record, _ in fresh], self._floats(fresh), same)
        return sum(chunk_id not in known for chunk_id in distinct)

    def _floats(self, fresh: Sequence[tuple[Record, Any]]) -> Floats:
        texts = [record.context + record.passage["text"] for record, vector in fresh if vector is None]
        made = iter(self._embeddings.embed_documents(texts) if texts else [])
        return as_floats(next(made) if vector is None else vector for _, vector in fresh)

    def _write(self, fresh: Sequence[Record], vectors: Floats, same: Sequence[Record]) -> None:
        """One numbered write: `fresh` with their vectors, `same` for their metadata only."""
        if not fresh and not same:
            return
        if fresh:
            self._vectors.check_dimension(vectors.shape[1])
        generation = self._next()
        blobs: Sequence[bytes | None] = packed(vectors) if self._keep and fresh else [None] * len(fresh)
        numbered = [replace(r, generation=generation, vector=b) for r, b in zip(fresh, blobs, strict=True)]
        renewed = [replace(record, generation=generation) for record in same]
        with self._keeper.writing(generation, vectors.shape[1] if fresh else 0):
            if numbered:
                self._vectors.upsert(numbered, vectors)
            if renewed:
                self._vectors.rewrite(renewed)
            self._index.put([*numbered, *renewed], generation=generation, writing=0)

    def _next(self) -> int:
        """A number above the last: the time in milliseconds, so that writers to one server do not collide."""
        return max(self._vectors.generation() + 1, time_ns() // 1_000_000)


def checked(passage: Passage) -> Passage:
    """The passage, if its text can be stored.

    Raises:
        InputError: for half of a surrogate pair, which is no character and fits no file.
    """
    try:
        passage["text"].encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"passage {passage['chunk_id']} of {passage['source'] or 'no source'} holds half a character at "
            f"{error.start}; wanted text that can be written as UTF-8: clean it with "
            "text.encode('utf-8', 'replace').decode()."
        ) from error
    return passage


def _joined(held: Sequence[Origin], more: Sequence[Origin]) -> tuple[Origin, ...]:
    """The holders of a passage with some more; an older state of the same file stays until it is released."""
    return tuple({origin.state: origin for origin in (*held, *more)}.values())

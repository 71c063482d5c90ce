"""Collections: one store, several subjects, each in a database of its own, searched one, some or all.

A question that is asked in one never opens the others, so that nothing of them can show in its answer: not a passage, a
neighbour, a name of a file or of a field, not the weight of a word. A file is in one collection.
"""

import json
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from threading import RLock
from typing import Any, Final, NamedTuple, Self, cast

import numpy as np

from cragraph.documents.document import TAKEN
from cragraph.errors import InputError, StoreError, StoreMissingError
from cragraph.protocols import Embeddings
from cragraph.store.database import WriteLock, remove
from cragraph.store.filters import Where, checked_where, fits
from cragraph.store.lexical import together
from cragraph.store.records import (
    LEFT_OUT,
    Floats,
    Item,
    StoredDocument,
    as_floats,
    at_home,
    batched,
    filename_of,
    unit,
)
from cragraph.store.store import BATCH, Store, open_store
from cragraph.types import Passage

DEFAULT: Final = "default"  # where files are that nobody put into a collection, and all of an older store
EVERY: Final = "all"  # what a person says for every collection
FIELD: Final = "collection"  # what a filter calls it, and the metadata of a passage that is in a named one
_FIRST: Final = "cragraph"  # the database of the default one
_PLAIN: Final = re.compile(r"(?!x-)[a-zA-Z0-9][a-zA-Z0-9._-]{1,98}[a-zA-Z0-9]")
_LONGEST: Final = 100  # bytes of a name


class Part(NamedTuple):
    """A collection that a filter lets through, and what is left of the filter in it."""

    name: str
    store: Store
    where: dict[str, Any] | None


@dataclass(frozen=True)
class Held:
    """A collection and what is in it."""

    name: str
    documents: int
    chunks: int


class Collections:
    """The collections of a store as one; made by `open_collections`, may be shared by threads.

    It is searched and read as a `Store` is. `where` may name collections, ``{"collection": "work"}`` or
    ``{"collection": {"$in": ["work", "home"]}}``; without that, all are searched, as if all were in one database. A
    passage of a named collection says so in its metadata.
    """

    def __init__(self, target: str | os.PathLike[str] | None, embeddings: Embeddings) -> None:
        self.target = target
        self.embeddings = embeddings
        self._held: dict[str, Store] = {}
        self._lock = RLock()

    # -- which there are -----------------------------------------------------------------------------------------------

    @property
    def location(self) -> str:
        """The store, for messages."""
        return f"the store {self.target or 'in memory'}"

    @property
    def _folder(self) -> Path | None:
        return None if self.target is None else at_home(self.target)

    def names(self) -> list[str]:
        """The collections, the default one first."""
        with self._lock:
            if (folder := self._folder) is not None:
                # What is sealed and gone is listed too, so that whoever opens it is told.
                files = chain(folder.glob("*.db"), folder.glob("*.seal"))
                stems = dict.fromkeys(path.stem for path in files if not path.is_dir())
                known = [name for name in map(_named, stems) if name]
            else:
                known = [*self._held]
        return sorted(known, key=lambda name: (name != DEFAULT, name.casefold()))

    def known(self, name: str) -> str:
        """The name of a collection as it is written there, whatever its capitals; InputError where there is none."""
        wanted, names = checked_name(name), self.names()
        if (found := {one.casefold(): one for one in names}.get(wanted.casefold())) is None:
            close = get_close_matches(wanted, names, n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names) or 'none yet'}."
            raise InputError(f"there is no collection {wanted!r} in {self.location}: {hint}")
        return found

    def one(self, name: str, *, create: bool = False) -> Store:
        """The store of one collection, which is made where it may be; InputError where there is none."""
        with self._lock:
            if create:
                name = checked_name(name)
                name = {one.casefold(): one for one in self.names()}.get(name.casefold(), name)
            else:
                name = self.known(name)
            if (store := self._held.get(name)) is not None and store.index.is_gone():
                store.close()  # another process renamed or removed it
                del self._held[name]
            if name not in self._held:
                self._held[name] = open_store(self.target, self.embeddings, collection=_stored(name), create=create)
            return self._held[name]

    def every(self) -> Iterator[tuple[str, Store]]:
        """Every collection, opened."""
        for name in self.names():
            yield name, self.one(name)

    def parts(self, where: Where = None) -> list[Part]:
        """The collections that a filter lets through, each opened, with the rest of the filter.

        Raises InputError for a filter by a collection that there is none of, StoreMissingError where there is none.
        """
        for name in named_in(where):
            self.known(name)
        chosen = []
        for name in self.names():
            left = narrowed(where, name)
            if left is not False:
                chosen.append(Part(name, self.one(name), None if left is True else left))
        if not chosen and not self.names():
            raise StoreMissingError(f"there is nothing in {self.location} yet: run cragraph ingest PATH first.")
        return chosen

    def held(self) -> list[Held]:
        """The collections, with how much is in each."""
        return [Held(name, len(store.documents()), store.count()) for name, store in self.every()]

    # -- finding -------------------------------------------------------------------------------------------------------

    def dense(self, query: str, k: int, where: Where = None) -> list[Passage]:
        """The `k` passages nearest in meaning, as `Store.dense` gives them."""
        parts = self.parts(where)
        if len(parts) == 1:
            [part] = parts
            return marked(part.store.dense(query, k, part.where), part.name)
        if k < 1 or not query.strip() or not any(part.store.fields() for part in parts):
            return []
        fields, vectors = _fields(parts), as_floats([self.embeddings.embed_query(query)])
        found: list[list[Passage]] = []
        for part in parts:
            if part.store.fields():
                filters = checked_where(part.where, fields)
                found.append(marked(part.store.nearest(vectors, k, filters), part.name))
        return best(found, k)

    def lexical(self, query: str, k: int, where: Where = None) -> list[Passage]:
        """The `k` passages that share the rarest words, as `Store.lexical` gives them, counted over all searched."""
        parts = self.parts(where)
        if len(parts) == 1:
            [part] = parts
            return marked(part.store.lexical(query, k, part.where), part.name)
        fields = _fields(parts)
        searched = [part.store.searcher(checked_where(part.where, fields) if fields else None) for part in parts]
        return best([marked(own, part.name) for own, part in zip(together(searched, query, k), parts, strict=True)], k)

    # -- reading -------------------------------------------------------------------------------------------------------

    def get(self, chunk_ids: Sequence[str]) -> list[Passage]:
        """The passages with these ids, in the order asked, from whichever collection has them."""
        found: dict[str, Passage] = {}
        for name, store in self._opened_first():
            missing = [chunk_id for chunk_id in chunk_ids if chunk_id not in found]
            found |= {passage["chunk_id"]: passage for passage in marked(store.get(missing), name)}
            if all(chunk_id in found for chunk_id in chunk_ids):
                break
        return [found[chunk_id] for chunk_id in chunk_ids if chunk_id in found]

    def of_source(self, source: str, where: Where = None, most: int | None = None) -> list[Passage]:
        """The passages that a source holds, in their order, of the first collection that has it and is let through."""
        for part in self.parts(where):
            if passages := part.store.of_source(source, part.where, *([] if most is None else [most])):
                return marked(passages, part.name)
        return []

    def adjacent(self, passage: Passage, before: int = 1, after: int = 1) -> list[Passage]:
        """The passages next to one in its document, in order, of its own collection."""
        name = str(passage["metadata"].get(FIELD) or DEFAULT)
        if name not in (names := self.names()):
            name = DEFAULT  # what a document says of itself
        return marked(self.one(name).adjacent(passage, before, after), name) if name in names else []

    def vectors(self, chunk_ids: Sequence[str]) -> Floats:
        """Unit vectors of these passages, as `Store.vectors` gives them."""
        found: dict[str, Floats] = {}
        width = 0
        for _, store in self._opened_first():
            width = store.index.identity.dimension
            found |= store.known_vectors([chunk_id for chunk_id in chunk_ids if chunk_id not in found])
            if all(chunk_id in found for chunk_id in chunk_ids):
                break
        if lost := [chunk_id for chunk_id in chunk_ids if chunk_id not in found]:
            raise StoreError(f"{self.location} holds no vector of {lost[0]}; wanted ids of passages that are in it.")
        none = np.empty((0, width), dtype=np.float32)
        return unit(np.stack([found[chunk_id] for chunk_id in chunk_ids]) if chunk_ids else none)

    def count(self) -> int:
        """How many passages there are."""
        return sum(part.store.count() for part in self.parts())

    def documents(self, where: Where = None) -> list[StoredDocument]:
        """What is in the store, one source of a collection per row, in order of name."""
        rows = chain.from_iterable(
            (replace(document, collection=part.name) for document in part.store.documents())
            for part in self.parts(where)
        )
        return sorted(rows, key=lambda document: (document.source, document.collection))

    def fields(self, where: Where = None) -> dict[str, str]:
        """The fields that can be filtered by where a filter searches, with their types, the collection among them."""
        known = _fields(self.parts(where))
        return known | {FIELD: "text"} if known else {}

    @property
    def generation(self) -> tuple[Any, ...]:
        """What differs after every change of what was opened, and where more is opened."""
        with self._lock:
            opened = sorted(self._held.items())
        return tuple((name, store.generation) for name, store in opened)

    @property
    def files(self) -> "Files":
        """The files that were ingested and are still as they were read."""
        return Files(self)

    @property
    def notes(self) -> list[str]:
        """What is degraded in the collections that were opened."""
        with self._lock:
            opened = [*self._held.items()]
        return [_of(name, note) for name, store in opened for note in store.notes]

    def noted(self, where: Where = None) -> list[str]:
        """What is degraded in the collections that a filter lets through, and in no other."""
        return [_of(part.name, note) for part in self.parts(where) for note in part.store.notes]

    def unfinished(self) -> dict[str, int]:
        """Files that were not read to their end, as `Store.unfinished`."""
        return {source: n for _, store in self.every() for source, n in store.unfinished().items()}

    def problems(self) -> list[str]:
        """What is wrong with the collections, each with what to do about it; reads all of them."""
        return [_of(name, problem) for name, store in self.every() for problem in store.problems()]

    # -- writing -------------------------------------------------------------------------------------------------------

    def move(self, sources: Iterable[str], to: str) -> list[str]:
        """Put sources into a collection, out of those that they are in, with their vectors; returns those that moved.

        Each is in the new one before it is taken out of the old one, so that none is lost where a move is cut off.
        """
        target = self.one(to, create=True)
        to, moved = next(name for name, store in self._held.items() if store is target), []
        wanted = set(sources)
        for name, store in self.every():
            if name == to:
                continue
            for document in store.documents():
                if document.source in wanted:
                    carry(store, target, document.source)
                    moved.append(document.source)
        return sorted(moved)

    def rename(self, old: str, new: str) -> str:
        """Call a collection otherwise; returns the new name. InputError where there is one of that name already."""
        old, new = self.known(old), checked_name(new)
        taken = {name.casefold(): name for name in self.names() if name != old}
        if new.casefold() in taken:
            raise InputError(
                f"there is a collection {taken[new.casefold()]!r} already; wanted another name: move the documents of "
                f"{old!r} there with `cragraph collections move --from {old} --to {new}`."
            )
        with self._lock:
            store = self.one(old)
            if (folder := self._folder) is not None:
                with store.writing():
                    pass  # nobody else is writing, and what was cut off is mended
                self._let_go(old)
                with WriteLock(folder)():
                    _renamed(folder, _stored(old), _stored(new))
            else:
                self._held[new] = self._held.pop(old)
        return new

    def drop(self, name: str) -> list[str]:
        """Remove a collection with all that is in it; returns the sources that were. The files themselves stay."""
        name = self.known(name)
        with self._lock:
            store = self.one(name)
            sources = [document.source for document in store.documents()]
            if (folder := self._folder) is not None:
                self._let_go(name)
                with WriteLock(folder)():
                    remove(folder / f"{_stored(name)}.db")
            else:
                self._let_go(name)
        return sources

    def close(self) -> None:
        """Let go of files and connections; closing twice does no harm."""
        with self._lock:
            for store in self._held.values():
                store.close()
            if self.target is not None:
                self._held.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _let_go(self, name: str) -> None:
        self._held.pop(name).close()

    def _opened_first(self) -> Iterator[tuple[str, Store]]:
        """Every collection, those first that are open: what was searched is among them."""
        names = sorted(self.names(), key=lambda name: name not in self._held)
        for name in names:
            yield name, self.one(name)


def open_collections(
    target: str | os.PathLike[str] | None, embeddings: Embeddings, *, create: bool = True
) -> Collections:
    """The collections of the store in a folder; None keeps them in memory.

    Each is opened when it is first needed. Raises StoreMissingError where there is none and `create` is False.
    """
    held = Collections(target, embeddings)
    if not create and target is not None and not held.names():
        folder = held._folder
        if folder is not None and not folder.is_dir() and folder.exists():
            raise StoreError(f"{folder} is a file; wanted a folder that holds a store: choose another with --store.")
        open_store(target, embeddings, create=False).close()
    return held


# -- names -------------------------------------------------------------------------------------------------------------


def checked_name(name: str) -> str:
    """The name of a collection; raises InputError for what none should be called."""
    given = unicodedata.normalize("NFC", str(name)).strip()
    if given.casefold() == _FIRST:
        return DEFAULT
    bad = not given or not given.isprintable() or given[0] in ".-" or any(sign in given for sign in '/\\:*?"<>|,')
    if bad or len(given.encode("utf-8", "replace")) > _LONGEST or given.casefold() == EVERY:
        raise InputError(
            f"the collection came as {name!r:.120}; wanted a name of at most {_LONGEST} bytes that begins with a "
            f'letter or a digit and has no comma and none of / \\ : * ? " < > |, other than {EVERY!r}, which means '
            "every one: choose another."
        )
    return given


def _stored(name: str) -> str:
    """What a collection's database is called, in letters that every system takes."""
    if name == DEFAULT:
        return _FIRST
    return name if _PLAIN.fullmatch(name) and name != _FIRST else f"x-{name.encode().hex()}"


def _named(stored: str) -> str:
    """The collection of a database; empty where the file is none of ours."""
    if stored == _FIRST:
        return DEFAULT
    if stored.startswith("x-"):
        try:
            return bytes.fromhex(stored[2:]).decode()
        except ValueError:
            return ""
    return "" if stored == DEFAULT else stored


def _of(name: str, sentence: str) -> str:
    return sentence if name == DEFAULT else f"In the collection {name}: {sentence}"


# -- filters -----------------------------------------------------------------------------------------------------------


def named_in(where: Where) -> list[str]:
    """The collections that a filter names."""
    names: list[str] = []
    for key, value in (where or {}).items():
        if key in ("$and", "$or") and isinstance(value, list | tuple):
            names += chain.from_iterable(named_in(part) for part in value if isinstance(part, Mapping))
        elif key == FIELD:
            tests = [*value.values()] if isinstance(value, Mapping) else [value]
            each = chain.from_iterable(test if isinstance(test, list | tuple) else [test] for test in tests)
            names += [str(name) for name in each]
    return names


def narrowed(where: Where, name: str) -> dict[str, Any] | bool:
    """What is left of a filter in one collection: True where all passes, False where nothing does."""
    left: list[dict[str, Any]] = []
    for key, value in (where or {}).items():
        if key in ("$and", "$or") and isinstance(value, list | tuple) and value:
            parts = [narrowed(part, name) if isinstance(part, Mapping) else part for part in value]
            ends = key == "$or"  # what settles it: one that passes, or one that does not
            if any(part is ends for part in parts):
                if ends:
                    continue
                return False
            rest = [part for part in parts if part is not (not ends)]
            if not rest:
                if ends:
                    return False
                continue
            left.append({key: rest} if len(rest) > 1 else cast("dict[str, Any]", rest[0]))
        elif key == FIELD:
            own = cast("Passage", {"metadata": {FIELD: name.casefold()}})
            if not fits(own, {FIELD: _folded(value)}):
                return False
        else:
            left.append({key: value})
    if not left:
        return True
    return left[0] if len(left) == 1 else {"$and": left}


def _folded(value: Any) -> Any:
    """The names of a test in small letters, and the default one by its own name."""
    if isinstance(value, str):
        return DEFAULT if value.casefold() == _FIRST else value.strip().casefold()
    if isinstance(value, Mapping):
        return {key: _folded(item) for key, item in value.items()}
    return [_folded(item) for item in value] if isinstance(value, list | tuple) else value


def _fields(parts: Sequence[Part]) -> dict[str, str]:
    """The fields of some collections with their types."""
    known: dict[str, str] = {}
    for part in parts:
        for name, kind in part.store.fields().items():
            kinds = dict.fromkeys([*known.get(name, kind).split(" or "), *kind.split(" or ")])
            known[name] = " or ".join(kinds)
    return known


def marked(passages: Sequence[Passage], name: str) -> list[Passage]:
    """The passages with the name of their collection, where it is a named one."""
    if name == DEFAULT:
        return list(passages)
    return [Passage(**{**passage, "metadata": passage["metadata"] | {FIELD: name}}) for passage in passages]


def best(found: Iterable[Sequence[Passage]], k: int) -> list[Passage]:
    """The `k` best passages of several collections, each once."""
    ranked = sorted(chain.from_iterable(found), key=lambda p: (-(p["retrieval_score"] or 0.0), p["chunk_id"]))
    return list({passage["chunk_id"]: passage for passage in reversed(ranked)}.values())[::-1][:k]


@dataclass(frozen=True)
class Files:
    """The files that the opened collections were read from, as `Store.files`."""

    held: Collections

    def __contains__(self, source: object) -> bool:
        return any(source in store.files for store in [*self.held._held.values()])


def _renamed(folder: Path, old: str, new: str) -> None:
    for end in (".db", ".db-wal", ".db-shm", ".seal"):
        path = folder / f"{old}{end}"
        if path.exists():
            path.replace(folder / f"{new}{end}")


def carry(store: Store, target: Store, source: str) -> None:
    """Put what a source holds into another store, and take it out of its own."""
    origins = [origin for origin in store.index.states(source) if origin.chunks >= 0][-1:]
    ids = store.index.held_by(source, unheld=True)
    was_there = source in target.index.names()
    with target.writing():
        shared = {i for i, held in store.index.holders(ids).items() if any(one.source != source for one in held)}
        if shared:  # what is known of these may be the other file's, so the next ingest reads this one again
            origins = [origin._replace(size=0) for origin in origins]
        for batch in batched(ids, BATCH):
            vectors = store.known_vectors(batch)
            items = []
            for passage in store.get(batch):
                one = Passage(**{**passage, "source": source, "filename": filename_of(source)})
                if one["chunk_id"] in shared:
                    items.append(Item(Passage(**{**one, "metadata": _of_text(one)}), origins))
                else:
                    items.append(Item(one, origins, vectors[one["chunk_id"]]))
            target.commit([], items)
        if origins and (was_there or not ids):  # it holds these now, and nothing else
            target.commit([(source, origins[0])], [Item(one, origins) for one in target.get(ids)])
        limits: dict[str, Any] = json.loads(store.index.meta(LEFT_OUT, "{}"))
        if source in limits:
            kept = json.loads(target.index.meta(LEFT_OUT, "{}")) | {source: limits[source]}
            target.index.keep(**{LEFT_OUT: json.dumps(kept)})
    store.release(source)


def _of_text(passage: Passage) -> dict[str, Any]:
    """What the text of a passage itself says of it, and not the file that it was read from."""
    kept = {name: value for name, value in passage["metadata"].items() if name in TAKEN}
    return kept | {"title": Path(passage["filename"]).stem}

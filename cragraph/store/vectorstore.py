"""Any LangChain vector store as the store: Chroma in a folder or on a server, or a program's own.

A chunk is a document whose metadata has its place and its collection. The first chunk of a file is written last and has
the record of the file, so that a file counts as read only once all of it is in. Documents that somebody else put in
are searched as they are.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from time import monotonic
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, Final, Self, cast
from uuid import UUID, uuid5

import numpy as np

from cragraph.documents.tables import Table
from cragraph.errors import (
    CragError,
    SettingsError,
    StoreError,
    StoreMismatchError,
)
from cragraph.language.words import terms
from cragraph.models.servers import Target, translate
from cragraph.passages import as_passage, contextual_text
from cragraph.store.collections import Collections, Held, with_names
from cragraph.store.database import WriteLock
from cragraph.store.filters import Where, checked_where, fits
from cragraph.store.lexical import bm25, discriminating, lexical_share
from cragraph.store.records import (
    DEFAULT,
    FIELD,
    FIELDS,
    LEFT_OUT,
    Floats,
    Item,
    Origin,
    StoredDocument,
    UnchangedFiles,
    as_floats,
    batched,
    checked,
    filename_of,
    filterable,
    in_order,
    left_out,
    unit,
)
from cragraph.types import Passage

if TYPE_CHECKING:
    from langchain_core.documents import Document

POOL: Final = 300  # nearest documents that are searched by words: lab/benchmarks/chroma_paths.py
PAGE: Final = 2_000  # documents per request
MOST: Final = 100_000  # documents listed at most, if the store can be listed only by a search
SAMPLE: Final = 300  # documents sampled for the fields that filters may use
LOOK_SECONDS: Final = 5.0
OURS, FILE = "cragraph", "file_chunks"  # own keys: the rest of a passage, and a file's number of chunks
FILE_KEYS: Final = (FILE, "file_sha256", "file_size", "file_time", "file_options")
_NAMES: Final = UUID("6f9619ff-8b86-d011-b42d-00c04fc964ff")
_PLACE: Final = (*FIELDS, "chunk_id")
_ANY: Final = "text or number or true/false"


class LangChainStore(Collections):
    """A LangChain vector store with the interface of `Store`.

    `where` filters by metadata as in `Store`. `lock` keeps other writers away from a folder; a server takes several.
    """

    def __init__(self, source: Any, location: str = "", lock: WriteLock | None = None) -> None:
        if source.embeddings is None:
            raise SettingsError(
                f"The store came as a {type(source).__name__} without embeddings; wanted one that embeds its "
                "questions: give it an embedding function."
            )
        self.source = source
        self.location = location or f"the {type(source).__name__} store"
        self._lock = lock or WriteLock(None)
        self._vectors: dict[str, Floats] = {}
        self._staged: list[Item] = []
        self._fields: tuple[float, int, dict[str, str]] = (-LOOK_SECONDS, 0, {})
        self._writes = 0

    @property
    def name(self) -> str:
        """The class of the vector store."""
        return type(self.source).__name__

    def _ask(self, ask: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """The result of a call of the vector store.

        An error of its embedding model becomes a ModelError, any other of its client a StoreError.
        """
        begun = monotonic()
        try:
            return ask(*given, **named)
        except (CragError, NotImplementedError, MemoryError):
            raise
        except Exception as error:
            model = self.source.embeddings
            if any(frame.f_locals.get("self") is model for frame, _ in walk_tb(error.__traceback__)):
                name, url = type(model).__name__, str(getattr(model, "base_url", None) or "")
                raise translate(error, Target(name, url, name.startswith("Ollama")), monotonic() - begun) from error
            text = f"{type(error).__name__}: {error}".rstrip(": ")
            if "dimension" in text:
                raise StoreMismatchError(
                    f"{self.location} holds vectors of another model ({text}): use the model it was built with, or "
                    "ingest again into a new store."
                ) from error
            raise StoreError(
                f"{self.location} does not answer ({text}): check that its server runs. What was stored is safe."
            ) from error

    # -- finding -------------------------------------------------------------------------------------------------------

    def dense(self, query: str, k: int, where: Where = None) -> list[Passage]:
        """The `k` passages nearest in meaning, best first; `retrieval_score` is their cosine or relevance, 0..1."""
        if k < 1 or not query.strip():
            return []
        filters = self._filters(where)
        named = {"filter": native} if (native := self._native(filters)) is not None else {}
        if hasattr(self.source, "similarity_search_with_vectors"):
            pairs = self._ask(self.source.similarity_search_with_vectors, query, k, **named)
            if not pairs:
                return []
            vectors = unit(as_floats(vector for _, vector in pairs))
            cosines = vectors @ unit(as_floats([self._ask(self.source.embeddings.embed_query, query)]))[0]
            found = sorted(zip(cosines.tolist(), (one for one, _ in pairs), strict=True), key=lambda pair: -pair[0])
            by_id = {document.id: vector for (document, _), vector in zip(pairs, vectors, strict=True)}
        else:
            by_id = {}
            scored = None
            if not self.name.startswith("Qdrant"):  # whose relevance is not the cosine, as its score is
                with suppress(NotImplementedError):  # the public method would warn of every score below 0
                    scored = self._ask(self.source._similarity_search_with_relevance_scores, query, k, **named)
            if scored is None:
                scored = self._ask(self.source.similarity_search_with_score, query, k, **named)
            found = [(float(score), document) for document, score in scored]
        passages: dict[str, Passage] = {}
        known = all(-1.001 <= score <= 1.001 for score, _ in found)
        for place, (score, document) in enumerate(found):
            if _fits(document, filters):
                one = read(document, place, min(max(score, 0.0), 1.0) if known else None)
                passages.setdefault(one["chunk_id"], one)
                if document.id in by_id:
                    self._vectors[one["chunk_id"]] = by_id[document.id]
        while len(self._vectors) > 4 * POOL:
            self._vectors.pop(next(iter(self._vectors)), None)
        return list(passages.values())

    def lexical(self, query: str, k: int, where: Where = None) -> list[Passage]:
        """The `k` that share the rarest words of those nearest in meaning; `retrieval_score` is BM25 in 0..1."""
        pool, words = self.dense(query, max(k, POOL), where), list(dict.fromkeys(terms(query)))
        bodies = [terms(contextual_text(passage)) for passage in pool]
        sets, many = [*map(set, bodies)], 2 * len(pool)  # a word in half of the nearest documents still counts
        frequency = {word: sum(word in one for one in sets) for word in words}
        known = {word: frequency[word] for word in discriminating(frequency, many)}
        if not known:
            return []
        mean = sum(map(len, bodies)) / len(bodies)
        scores = [bm25(body, known, many, mean) for body in bodies]
        found = [
            Passage(**{**passage, "retrieval_score": lexical_share(score, known, frequency, many)})
            for score, passage in sorted(zip(scores, pool, strict=True), key=lambda pair: -pair[0])
            if score > 0.0
        ]
        return found[:k]

    def vectors(self, chunk_ids: Sequence[str]) -> Floats | None:
        """Unit vectors of the passages found last; None if the store gives no vectors."""
        if any(chunk_id not in self._vectors for chunk_id in chunk_ids):
            return None
        return np.stack([self._vectors[chunk_id] for chunk_id in chunk_ids])

    # -- reading -------------------------------------------------------------------------------------------------------

    def get(self, chunk_ids: Sequence[str]) -> list[Passage]:
        """The passages with these ids, in the order asked; unknown ids are left out."""
        wanted = list(dict.fromkeys(chunk_ids))
        found = {p["chunk_id"]: p for p in map(read, self._all({"chunk_id": {"$in": wanted}}))} if wanted else {}
        if missing := [chunk_id for chunk_id in wanted if chunk_id not in found]:
            with suppress(NotImplementedError, StoreError):  # some stores take only ids of their own form
                found |= {p["chunk_id"]: p for p in map(read, self._ask(self.source.get_by_ids, missing))}
        return [found[chunk_id] for chunk_id in chunk_ids if chunk_id in found]

    def adjacent(self, passage: Passage, before: int = 1, after: int = 1) -> list[Passage]:
        """The passages next to one in its document, in order; without the passage itself."""
        place = passage["chunk_index"]
        near = {"chunk_index": {"$gte": place - before, "$lte": place + after}}
        found = map(read, self._all({"$and": [{"doc_id": passage["doc_id"]}, near]}))
        return sorted((one for one in found if one["chunk_index"] != place), key=lambda one: one["chunk_index"])

    def of_source(self, source: str, where: Where = None, most: int = 50_000) -> list[Passage]:
        """The passages of a source in the order of its text or its rows, at most so many."""
        documents = self._all(_both({"source": source}, where), most)
        files = (_origin(one) for one in documents if FILE in one.metadata)
        out = next((left_out(*origin.cut[1:]) for origin in files if origin.cut), "")
        passages = [*map(read, documents)]
        for passage in passages if out else ():
            passage["metadata"][LEFT_OUT] = out
        return in_order(passages)

    def tables(self, source: str, where: Where = None) -> list[Table]:
        """None: every row is a passage."""
        return []

    def count(self) -> int:
        """The number of documents."""
        own = getattr(self.source, "_collection", None)
        if own is not None:
            return int(self._ask(own.count))
        return len(self._all())

    def documents(self, where: Where = None) -> list[StoredDocument]:
        """The stored documents, one source per row, in order of name."""
        rows: dict[tuple[str, str], StoredDocument] = {}
        listed = self._all(_both({FILE: {"$gte": 0}}, where))
        if sum(int(one.metadata[FILE]) for one in listed) != (len(self._all(where)) if where else self.count()):
            listed = self._all(where)  # some belong to no ingested file
        for document in listed:
            source = str(document.metadata.get("source") or document.metadata.get("filename") or document.id)
            key = source, str(document.metadata.get(FIELD) or DEFAULT)
            row = rows.setdefault(key, StoredDocument(source, filename_of(source), 1, 0, collection=key[1]))
            if FILE in document.metadata:
                origin = _origin(document)
                said = left_out(*origin.cut[1:]) if origin.cut else ""
                row = replace(row, size=origin.size, sha256=origin.sha256, chunks=origin.chunks, left_out=said)
            elif row.sha256 is None:
                row = replace(row, chunks=row.chunks + 1)
            rows[key] = row
        return [rows[key] for key in sorted(rows)]

    def fields(self, where: Where = None) -> dict[str, str]:
        """The fields that filters may use, with their types, from a sample of the documents."""
        looked, size, types = self._fields
        if monotonic() - looked >= LOOK_SECONDS:
            sample = [document.metadata for document in self._all(None, SAMPLE)]
            size, types = len(sample), dict(FIELDS) | {FIELD: "text"} if sample else {}
            for key, value in (pair for metadata in sample for pair in filterable(metadata).items()):
                if key not in (OURS, *FILE_KEYS, "chunk_id"):
                    kind = {bool: "true/false", str: "text"}.get(type(value), "number")
                    kinds = dict.fromkeys([*types.get(key, kind).split(" or "), kind])
                    types[key] = " or ".join(kinds)
            self._fields = monotonic(), size, types
        return types if size < SAMPLE else _Sampled(types)

    @property
    def generation(self) -> tuple[int, int]:
        """A value that changes with every change made here, and every few seconds for changes by others."""
        return self._writes, int(monotonic() / LOOK_SECONDS)

    @property
    def files(self) -> UnchangedFiles:
        """The ingested files that have not changed since."""
        return UnchangedFiles(lambda source: filter(None, [self.sources().get(source)]))

    @property
    def notes(self) -> list[str]:
        """The degradations: always none."""
        return []

    def problems(self) -> list[str]:
        """The faults of the store: raises StoreError if it does not answer."""
        self.count()
        return []

    # -- collections ---------------------------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """The collections, the default one first."""
        names = {document.collection for document in self.documents()}
        return sorted(names, key=lambda name: (name != DEFAULT, name.casefold()))

    def held(self) -> list[Held]:
        """The collections, with their numbers of documents and passages."""
        rows = self.documents()
        each = {name: [row.chunks for row in rows if row.collection == name] for name in self.names()}
        return [Held(name, len(chunks), sum(chunks)) for name, chunks in each.items()]

    def move(self, sources: Iterable[str], to: str) -> list[str]:
        """Move sources into a collection; returns the moved ones."""
        moved, to = [], self.home(to)
        for source in dict.fromkeys(sources):
            documents = [one for one in self._all({"source": source}) if one.metadata.get(FIELD, DEFAULT) != to]
            self._put([one.model_copy(update={"metadata": one.metadata | {FIELD: to}}) for one in documents])
            moved += [source] if documents else []
        return sorted(moved)

    def rename(self, old: str, new: str) -> str:
        """Rename a collection; returns the new name. Raises InputError if that name is taken."""
        old, new = self.renaming(old, new)
        self.move([row.source for row in self.documents() if row.collection == old], new)
        return new

    def drop(self, name: str) -> list[str]:
        """Remove a collection from the store; returns its sources. The files themselves stay."""
        name = self.known(name)
        sources = [row.source for row in self.documents() if row.collection == name]
        self.release(*sources)
        return sources

    # -- writing: what ingest asks for ---------------------------------------------------------------------------------

    @property
    def index(self) -> Self:
        """The record of the files; each is on the first chunk of its file."""
        return self

    def _listed(self) -> "list[Document]":
        return self._all({FILE: {"$gte": 0}})

    def sources(self) -> dict[str, Origin]:
        """Every complete file, by name."""
        return {origin.source: origin for origin in map(_origin, self._listed())}

    def homes(self) -> dict[str, str]:
        """The collection of every source with passages in the store."""
        return {row.source: row.collection for row in self.documents()}

    def touch(self, origin: Origin) -> None:
        """Record a new time of an unchanged file."""
        own = self._all({"$and": [{"source": origin.source}, {FILE: {"$gte": 0}}]})
        self._put([one.model_copy(update={"metadata": one.metadata | _record(origin)}) for one in own])

    def unstage(self, source: str) -> None:
        """Drop the staged passages of a file."""
        self._staged = []

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the lock of a folder over several writes."""
        with self._lock():
            yield

    taking_turns = writing

    def stage(self, items: Sequence[Item], origin: Origin) -> None:
        """Stage passages of a file that is still being read, until `commit`."""
        self._staged = [one for one in self._staged if one.origins == (origin,)] + [*items]

    def mended(self) -> None:
        """Nothing to do: there are no repairs here."""

    def unfinished(self) -> dict[str, int]:
        """Files that were not read to their end: always none, as nothing of them is kept."""
        return {}

    def commit(self, files: Sequence[tuple[str, Origin | None]], items: Sequence[Item]) -> int:
        """Make files hold exactly these passages and their staged ones; returns the number of new documents."""
        given, self._staged, new = [*self._staged, *items], [], 0
        for source, origin in files:
            own = [item for item in given if item.passage["source"] == source] if origin else []
            documents = [self._document(item, None if place else origin) for place, item in enumerate(own)]
            before = [str(one.id) for one in self._all({"source": source})]
            self._put(documents[1:])
            ids = {one.id for one in documents}
            self._remove([one for one in before if one not in ids])
            self._put(documents[:1])  # the record of the file, last
            new += len(ids - set(before))
        return new

    def add(self, passages: Iterable[Passage]) -> int:
        """Add passages of no file; returns their number."""
        documents = [self._document(Item(passage)) for passage in passages]
        self._put(documents)
        return len(documents)

    def release(self, *sources: str) -> int:
        """Remove the passages of sources; returns their number."""
        ids = [str(one.id) for source in sources for one in self._all({"source": source})]
        self._remove(ids)
        return len(ids)

    def close(self) -> None:
        """Close the connection if it was opened here."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _document(self, item: Item, origin: Origin | None = None) -> "Document":
        from langchain_core.documents import Document

        passage = checked(item.passage)
        text, plain = contextual_text(passage), filterable(passage["metadata"])
        rest = {key: value for key, value in passage["metadata"].items() if key not in plain}
        own = [len(text) - len(passage["text"]), rest, *([origin.cut] if origin and origin.cut else [])]
        place = {key: value for key in _PLACE if (value := cast(Any, passage)[key]) is not None}
        metadata = plain | place | {FIELD: item.collection, OURS: json.dumps(own, ensure_ascii=False)}
        name = str(uuid5(_NAMES, f"{passage['source']}\0{passage['chunk_id']}"))
        return Document(page_content=text, metadata=metadata | (_record(origin) if origin else {}), id=name)

    def _put(self, documents: Sequence["Document"]) -> None:
        distinct = {str(document.id): document for document in documents}
        with self.writing():
            for batch in batched(distinct.values(), PAGE):
                self._ask(self.source.add_documents, batch, ids=[str(one.id) for one in batch])
        self._changed()

    def _remove(self, ids: Sequence[str]) -> None:
        with self.writing():
            for batch in batched(ids, PAGE):
                self._ask(self.source.delete, batch)
        self._changed()

    def _changed(self) -> None:
        self._writes += 1
        self._fields = (-LOOK_SECONDS, 0, {})

    # -- asking the vector store ---------------------------------------------------------------------------------------

    def _filters(self, where: Where) -> dict[str, Any] | None:
        return checked_where(with_names(where, self.known), self.fields()) if where else None

    def _all(self, where: Where = None, most: int | None = None) -> "list[Document]":
        """The documents that a filter lets through."""
        from langchain_core.documents import Document

        where = checked_where(where, _Sampled()) if where else None
        native, found = self._native(where), list[Document]()
        if not hasattr(self.source, "get"):
            named = {} if native is None else {"filter": native}
            found = self._ask(self.source.similarity_search, "", most or MOST, **named)
            return [_plain(document) for document in found if _fits(document, where)]
        while True:
            size = min(PAGE, (most or MOST) - len(found))
            page = self._ask(self.source.get, where=native, limit=size, offset=len(found))
            rows = zip(page["ids"], page["documents"], page["metadatas"], strict=True)
            found += [Document(page_content=text or "", metadata=about or {}, id=i) for i, text, about in rows]
            if len(page["ids"]) < size or len(found) >= (most or MOST):
                return [document for document in found if _fits(document, where)]

    def _native(self, where: Where) -> Any:
        """A checked filter in the form of this kind of vector store."""
        if where is None:
            return None
        if hasattr(self.source, "similarity_search_with_vectors"):
            return chroma_where(where)
        if self.name.startswith("Qdrant"):
            return qdrant_filter(where, getattr(self.source, "metadata_payload_key", "metadata"))
        return (lambda document: _fits(document, where)) if self.name == "InMemoryVectorStore" else dict(where)


class _Sampled(dict[str, str]):
    """Fields from a sample; the store may have others."""

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: str) -> str:
        return _ANY


# -- documents --------------------------------------------------------------------------------------------------------


def read(document: Any, index: int = 0, score: float | None = None) -> Passage:
    """A LangChain document as a passage: an ingested one, or a foreign one with `id`, `source`, `page` and
    `start_index` under their usual names."""
    document = _plain(document)
    metadata = dict(document.metadata)
    if isinstance(own := metadata.pop(OURS, None), str):
        before, rest, *_ = json.loads(own)
        if (name := metadata.pop(FIELD, DEFAULT)) != DEFAULT:
            rest = rest | {FIELD: name}
        known = {key: value for key, value in metadata.items() if key not in FILE_KEYS}
        return as_passage({**known, **rest, "text": document.page_content[before:], "retrieval_score": score}, index)
    if "page_label" in metadata and str(metadata["page_label"]).isdigit():
        metadata["page"] = int(metadata["page_label"])  # LangChain's PDF loaders count `page` from 0 beside it
    elif isinstance(metadata.get("page"), int) and "total_pages" in metadata:
        metadata["page"] += 1
    if isinstance(metadata.get("page"), str):
        metadata["page"] = int(metadata["page"]) if metadata["page"].isdigit() else None
    name = getattr(document, "id", None) or metadata.get("chunk_id") or metadata.get("id")
    if score is None:
        scores = (metadata.get(key) for key in ("relevance_score", "score"))
        score = next((s for s in scores if isinstance(s, float) and 0.0 <= s <= 1.0), None)
    given = {"chunk_id": str(name)} if name else {}
    return as_passage({**metadata, **given, "text": document.page_content, "retrieval_score": score}, index)


def _plain(document: Any) -> Any:
    """A document with its id, which Qdrant keeps among the metadata."""
    if "_id" not in document.metadata:
        return document
    about = {key: value for key, value in document.metadata.items() if key not in ("_id", "_collection_name")}
    return document.model_copy(update={"id": document.metadata["_id"], "metadata": about})


def _record(origin: Origin) -> dict[str, Any]:
    """The record of a file as metadata, with times and sizes as text, since some stores keep numbers as floats."""
    values = (origin.chunks, origin.sha256, str(origin.size), str(origin.mtime_ns), origin.options)
    return dict(zip(FILE_KEYS, values, strict=True))


def _origin(document: Any) -> Origin:
    about = document.metadata
    chunks, sha256, size, mtime_ns, options = (about[key] for key in FILE_KEYS)
    home = str(about.get(FIELD) or DEFAULT)
    _, _, *cut = json.loads(about.get(OURS, "[0, {}]"))
    cut = tuple(*cut)
    return Origin(str(about["source"]), sha256, int(size), int(mtime_ns), options, int(chunks), home, cut)


# -- filters ----------------------------------------------------------------------------------------------------------


def _both(one: Mapping[str, Any], other: Where) -> dict[str, Any]:
    return {"$and": [one, other]} if other else dict(one)


def _fits(document: Any, where: Where) -> bool:
    """Whether a filter lets a stored document through."""
    about = document.metadata or {}
    return fits(cast("Passage", dict.fromkeys(_PLACE) | about | {"metadata": about}), where)


def chroma_where(where: Mapping[str, Any]) -> Any:
    """A checked filter in Chroma's form: two or more conditions in an `$and`, and one type in a list.

    Chroma truncates a fraction before it compares it with a whole number. So the filter is widened where it would miss
    documents, and the surplus is removed afterwards.
    """
    ((key, value),) = where.items()
    if key in ("$and", "$or"):
        return {key: [chroma_where(part) for part in value]} if len(value) > 1 else chroma_where(value[0])
    ((operator, operand),) = value.items()
    if operator in ("$lt", "$ne") and isinstance(operand, float) and not operand.is_integer():
        whole = {key: {"$lte" if operator == "$lt" else "$eq": math.floor(operand)}}
        return {"$or": [{key: {operator: operand}}, whole]}
    if operator not in ("$in", "$nin"):
        return {key: {operator: operand}}
    kinds = dict.fromkeys(map(type, operand))
    parts = [{key: {operator: [option for option in operand if type(option) is one]}} for one in kinds]
    return parts[0] if len(parts) == 1 else {"$or" if operator == "$in" else "$and": parts}


def qdrant_filter(where: Mapping[str, Any], payload: str) -> Any:
    """A checked filter in Qdrant's form."""
    from qdrant_client import models

    ((key, value),) = where.items()
    if key in ("$and", "$or"):
        parts = [qdrant_filter(part, payload) for part in value]
        return models.Filter(must=parts) if key == "$and" else models.Filter(should=parts)
    ((operator, operand),) = value.items()
    field, options = f"{payload}.{key}", operand if operator in ("$in", "$nin") else [operand]
    if operator.strip("$") in ("gt", "gte", "lt", "lte"):
        return models.Filter(must=[models.FieldCondition(key=field, range=models.Range(**{operator[1:]: operand}))])
    tests: list[Any] = [
        models.FieldCondition(key=field, range=models.Range(gte=option, lte=option))
        if isinstance(option, float)
        else models.FieldCondition(key=field, match=models.MatchValue(value=option))
        for option in options
    ]
    either = models.Filter(should=tests)
    return models.Filter(must_not=[either]) if operator in ("$ne", "$nin") else either

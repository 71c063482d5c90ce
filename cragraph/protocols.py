"""What each replaceable part of the graph has to do: one protocol each, one call each.

Every part gets a `Notes` to say what it did: what was degraded and why, how many model calls it made, which model ran.
"""

import logging
from asyncio import AbstractEventLoop
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from os import PathLike
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Protocol, TypedDict, TypeVar

from cragraph.errors import mask, printable
from cragraph.types import AnswerSpan, Claim, Conflict, Passage, Verdict

if TYPE_CHECKING:
    from langchain_core.documents import BaseDocumentCompressor
    from langchain_core.language_models import BaseChatModel
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.vectorstores import VectorStore

    from cragraph.language.tables import Table

logger = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass
class Notes:
    """A thread-safe record of what ran in one step, returned to the caller in the response."""

    calls: int = 0
    tokens: Counter[str] = field(default_factory=Counter)
    models: dict[str, str] = field(default_factory=dict)
    written: dict[str, float | None] = field(default_factory=dict)
    """What a chat model wrote, and how sure it was of its words: the mean log-probability of a token, where known."""
    search: list[str] = field(default_factory=list)
    """What a chat model that declined wants searched for."""
    _degraded: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def degraded(self, sentence: str) -> None:
        """Record in one plain sentence what was degraded and why; repeated sentences are counted."""
        with self._lock:
            self._degraded[mask(printable(sentence))] += 1

    def called(self, calls: int = 1) -> None:
        """Count calls made to a chat model."""
        with self._lock:
            self.calls += calls

    def counted(self, **tokens: int) -> None:
        """Count tokens that a chat model read and wrote."""
        with self._lock:
            self.tokens.update(tokens)

    def said(self, text: str, sureness: float | None) -> None:
        """Record that a chat model wrote a text, with the mean log-probability of its tokens where that is known."""
        with self._lock:
            self.written[text] = sureness

    def ran(self, role: str, name: str) -> None:
        """Record which model played a role, e.g. ``ran("judge", "embedding")``."""
        with self._lock:
            self.models[role] = name

    def add(self, other: "Notes") -> None:
        """Add what another record has."""
        for sentence in other.sentences:
            self.degraded(sentence)
        self.called(other.calls)
        self.counted(**other.tokens)
        for role, name in other.models.items():
            self.ran(role, name)
        for text, sureness in other.written.items():
            self.said(text, sureness)

    @property
    def sentences(self) -> list[str]:
        """The degradations, in order of first appearance, with a count where one happened more than once."""
        return [s if n == 1 else f"{s} ({n} times)" for s, n in self._degraded.items()]


def reason_of(error: Exception) -> str:
    """An error in a few words, to stand in a sentence."""
    text = str(error).strip().rstrip(".")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def stand_in(part: str, call: Callable[[], T], instead: str, notes: Notes) -> T | None:
    """What the call returns; None where it raises, noted and logged with what is done `instead`."""
    try:
        return call()
    # A part may be the caller's own or a model's server: whatever it raises, the answer keeps its verification.
    except Exception as error:
        sentence = f"{part} failed ({reason_of(error)}); {instead}."
        notes.degraded(sentence)
        logger.warning(sentence)
        return None


_DEADLINE: Final[ContextVar[float | None]] = ContextVar("cragraph_deadline", default=None)


CALLERS_LOOP: Final[ContextVar[AbstractEventLoop | None]] = ContextVar("cragraph_loop", default=None)
"""The event loop that a graph was called in; its nodes run in threads beside it."""


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Give up on model calls inside the block after `seconds`; an earlier deadline around it stays in force."""
    outer = _DEADLINE.get()
    given = [at for at in (outer, None if seconds is None else monotonic() + seconds) if at is not None]
    token = _DEADLINE.set(min(given, default=None))
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def remaining() -> float | None:
    """Seconds until the deadline, at least 0; None where there is no deadline."""
    at = _DEADLINE.get()
    return None if at is None else max(0.0, at - monotonic())


class Stop:
    """Called when an asker leaves: it cancels what their run waits for, and whatever the run would wait for later."""

    def __init__(self) -> None:
        self.stopped = False
        self._waits: set[Callable[[], Any]] = set()
        self._lock = Lock()

    def __call__(self) -> None:
        with self._lock:
            self.stopped, waits = True, [*self._waits]
        for cancel in waits:
            cancel()

    @contextmanager
    def over(self, cancel: Callable[[], Any]) -> Iterator[None]:
        """Have `cancel` called if the run is stopped inside the block, or was before."""
        with self._lock:
            self._waits.add(cancel)
        try:
            if self.stopped:
                cancel()
            yield
        finally:
            with self._lock:
                self._waits.discard(cancel)


_STOP: Final[ContextVar[Stop | None]] = ContextVar("cragraph_stop", default=None)


@contextmanager
def stoppable(stop: Stop) -> Iterator[None]:
    """Let `stop` end the model calls inside the block."""
    token = _STOP.set(stop)
    try:
        yield
    finally:
        _STOP.reset(token)


def current_stop() -> Stop:
    """What ends the run that this is called in; one that nobody calls where there is none."""
    return _STOP.get() or Stop()


@dataclass(frozen=True)
class Brief:
    """What a generator is asked to write.

    On a later pass `previous` is the answer so far, and `failed` the verdicts on the claims that did not hold, with
    the judge's reasons and corrections.
    """

    question: str
    passages: Sequence[Passage]
    previous: str = ""
    failed: Sequence[Verdict] = ()
    temperature: float = 0.0
    quiet: bool = False  # whether no word of it may be shown before it was judged


class Named(Protocol):
    """A part that says in every response that it ran."""

    @property
    def name(self) -> str: ...


class Embeddings(Protocol):
    """Turns texts into vectors of one length; LangChain's `Embeddings` do."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]: ...

    def embed_query(self, text: str) -> list[float]: ...


class Store(Protocol):
    """What was ingested, searched and read: the embedded file, or a vector store of LangChain's.

    `where` filters by metadata, the collection among it. `retrieval_score` of what is found is 0..1.
    """

    def dense(self, query: str, k: int, where: Mapping[str, Any] | None = None) -> list[Passage]: ...

    def lexical(self, query: str, k: int, where: Mapping[str, Any] | None = None) -> list[Passage]: ...

    def vectors(self, chunk_ids: Sequence[str]) -> Any: ...

    def get(self, chunk_ids: Sequence[str]) -> list[Passage]: ...

    def adjacent(self, passage: Passage, before: int = 1, after: int = 1) -> list[Passage]: ...

    def of_source(self, source: str, where: Mapping[str, Any] | None = None, most: int = 50_000) -> list[Passage]: ...

    def tables(self, source: str, where: Mapping[str, Any] | None = None) -> list["Table"]: ...

    def count(self) -> int: ...

    def documents(self, where: Mapping[str, Any] | None = None) -> Sequence[Any]: ...

    def fields(self, where: Mapping[str, Any] | None = None) -> dict[str, str]: ...

    @property
    def notes(self) -> list[str]: ...

    @property
    def generation(self) -> Any: ...


class Generator(Named, Protocol):
    """Writes an answer with `[n]` markers (n counts the brief's passages from 1), or `IDK` when they do not answer."""

    def __call__(self, brief: Brief, notes: Notes) -> str: ...


class Judge(Named, Protocol):
    """Gives one verdict per claim, in the order of the claims; raises rather than guesses when it cannot judge."""

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]: ...


@dataclass(frozen=True)
class Answered:
    """How likely an answer is to answer its question, 0..1 (None: not known), and the places in passages that do.

    `quoted` says whether it was told of a quotation; of an answer in other words it is shown, and decides nothing.
    `seen` is what question, answer and passages have in common, 0..1 each, for whoever knows who wrote the answer.
    """

    probability: float | None
    spans: tuple[AnswerSpan, ...] = ()
    quoted: bool = True
    seen: Mapping[str, float] = field(default_factory=dict)
    conflicts: tuple[Conflict, ...] = ()
    """What the passages answer differently, a pair for a part of the question at most."""


@dataclass(frozen=True)
class Told:
    """What the passages say to a question that asks for a yes or a no: the characters [start, end) of one of them.

    `denied` says whether the sentence denies what the question asks about.
    """

    passage: int
    start: int
    end: int
    denied: bool


class AnswerScorer(Named, Protocol):
    """Reads question, answer and passages together; raises rather than guesses when it cannot."""

    def __call__(self, question: str, answer: str, passages: Sequence[Passage], notes: Notes) -> Answered: ...


class Scorer(Named, Protocol):
    """Scores 0..1; raises rather than guesses when it cannot.

    Alignment: how well an answer addresses the question, is supported by the passages (all of them, best first) and
    free of contradiction, given ``(question, answer, passages, notes)``. Consistency: how far it contradicts neither
    itself nor known facts, given ``(answer, known_facts, notes)``.
    """

    def __call__(self, *given: Any) -> float: ...


class ClaimExtractor(Named, Protocol):
    """Splits an answer into claims with offsets into it."""

    def __call__(self, answer: str, notes: Notes) -> list[Claim]: ...


class Retriever(Named, Protocol):
    """Finds passages for one or more queries, best first, each with a `retrieval_score` in 0..1."""

    def __call__(
        self, queries: Sequence[str], k: int, notes: Notes, *, where: Mapping[str, Any] | None = None
    ) -> list[Passage]: ...


class Reranker(Named, Protocol):
    """Sets `rerank_score` (0..1) on copies of the passages and returns them best first; may drop passages."""

    def __call__(self, query: str, passages: Sequence[Passage], notes: Notes) -> list[Passage]: ...


class QueryWriter(Named, Protocol):
    """Turns failed claims and unanswered parts of the question into targeted queries; `passages` were read already."""

    def __call__(
        self,
        question: str,
        failed: Sequence[Verdict],
        unanswered: Sequence[str],
        notes: Notes,
        passages: Sequence[Passage] = (),
        /,
    ) -> list[str]: ...


class Own(TypedDict, total=False):
    """The parts that a caller brings: objects, or their names as in the settings.

    `store` is a folder, a name such as ``chroma:FOLDER``, any LangChain vector store, or a store that is open;
    `retriever` any LangChain retriever, ``module:name`` of one, or a part of the protocol.
    """

    chat_model: "BaseChatModel | str | None"
    embeddings: Embeddings | str | None
    store: "Store | VectorStore | str | PathLike[str] | None"
    retriever: "Retriever | BaseRetriever | VectorStore | str | None"
    reranker: "Reranker | BaseDocumentCompressor | str | None"
    judge: Judge | str | None
    generator: Generator | None
    query_writer: QueryWriter | None

"""The protocols of the graph's replaceable parts, each with one call.

Every part gets a `Notes` for its degradations with their reasons, its model calls, and the model that ran.
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

from cragraph.errors import CragError, mask, printable
from cragraph.types import AnswerSpan, Claim, Conflict, Passage, Verdict

if TYPE_CHECKING:
    from langchain_core.documents import BaseDocumentCompressor
    from langchain_core.language_models import BaseChatModel
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.vectorstores import VectorStore


logger = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass
class Notes:
    """A thread-safe record of one step, which becomes a part of the response."""

    calls: int = 0
    tokens: Counter[str] = field(default_factory=Counter)
    models: dict[str, str] = field(default_factory=dict)
    written: dict[str, float | None] = field(default_factory=dict)
    """Texts of a chat model, each with the mean log-probability per token if known."""
    search: list[str] = field(default_factory=list)
    """Search words of a chat model that declined."""
    _degraded: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def degraded(self, sentence: str) -> None:
        """Record a degradation and its reason in one plain sentence; repeated sentences are counted."""
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

    def wrote(self, text: str, logprob: float | None) -> None:
        """Record an answer that a chat model wrote, with the mean log-probability of its tokens if known."""
        with self._lock:
            self.written[text] = logprob

    def ran(self, role: str, name: str) -> None:
        """Record which model played a role, e.g. ``ran("judge", "embedding")``."""
        with self._lock:
            self.models[role] = name

    def add(self, other: "Notes") -> None:
        """Add the content of another record."""
        for sentence in other.sentences:
            self.degraded(sentence)
        self.called(other.calls)
        self.counted(**other.tokens)
        for role, name in other.models.items():
            self.ran(role, name)
        for text, logprob in other.written.items():
            self.wrote(text, logprob)

    @property
    def sentences(self) -> list[str]:
        """The degradations in order of first appearance, with a count for repeated ones."""
        return [s if n == 1 else f"{s} ({n} times)" for s, n in self._degraded.items()]


def reason_of(error: Exception) -> str:
    """An error in a few words, to stand in a sentence."""
    text = str(error).strip().rstrip(".")
    if isinstance(error, CragError):
        return text  # a plain sentence
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def stand_in(part: str, call: Callable[[], T], instead: str, notes: Notes) -> T | None:
    """The result of a call; if it raises None, with a note and a log entry that say what is done `instead`."""
    try:
        return call()
    # A part may be the caller's own or a model's server: the answer keeps its verification after any error.
    except Exception as error:
        sentence = f"{part} failed ({reason_of(error)}); {instead}."
        notes.degraded(sentence)
        logger.warning(sentence)
        return None


_DEADLINE: Final[ContextVar[float | None]] = ContextVar("cragraph_deadline", default=None)


CALLERS_LOOP: Final[ContextVar[AbstractEventLoop | None]] = ContextVar("cragraph_loop", default=None)
"""The event loop in which a graph was called; its nodes run in threads."""


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Cancel model calls inside the block after `seconds`; an earlier deadline around it stays in force."""
    outer = _DEADLINE.get()
    given = [at for at in (outer, None if seconds is None else monotonic() + seconds) if at is not None]
    token = _DEADLINE.set(min(given, default=None))
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def remaining() -> float | None:
    """Seconds until the deadline, at least 0; None without a deadline."""
    at = _DEADLINE.get()
    return None if at is None else max(0.0, at - monotonic())


class Stop:
    """Stops a run whose asker has left: cancels its present and later waits."""

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
        """Call `cancel` if the run is stopped inside the block, or was before."""
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
    """Let `stop` cancel the model calls inside the block."""
    token = _STOP.set(stop)
    try:
        yield
    finally:
        _STOP.reset(token)


def current_stop() -> Stop:
    """The stop of the present run; outside of a run an unused one."""
    return _STOP.get() or Stop()


@dataclass(frozen=True)
class Brief:
    """The task of a generator.

    On a later pass `previous` is the answer so far, and `failed` the verdicts on its failed claims, with the judge's
    reasons and corrections.
    """

    question: str
    passages: Sequence[Passage]
    previous: str = ""
    failed: Sequence[Verdict] = ()
    temperature: float = 0.0
    quiet: bool = False  # whether no word may be shown before the answer is judged


class Named(Protocol):
    """A part whose name is in the responses of runs that used it."""

    @property
    def name(self) -> str: ...


class Embeddings(Protocol):
    """Turns texts into vectors of one length; LangChain's `Embeddings` do."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]: ...

    def embed_query(self, text: str) -> list[float]: ...


class PassageStore(Protocol):
    """A store of passages for search and reading: the embedded file, or a LangChain vector store.

    `where` filters by metadata and collection. The `retrieval_score` of found passages is 0..1.
    """

    def dense(self, query: str, k: int, where: Mapping[str, Any] | None = None) -> list[Passage]: ...

    def lexical(self, query: str, k: int, where: Mapping[str, Any] | None = None) -> list[Passage]: ...

    def vectors(self, chunk_ids: Sequence[str]) -> Any: ...

    def get(self, chunk_ids: Sequence[str]) -> list[Passage]: ...

    def adjacent(self, passage: Passage, before: int = 1, after: int = 1) -> list[Passage]: ...

    def of_source(self, source: str, where: Mapping[str, Any] | None = None, most: int = 50_000) -> list[Passage]: ...

    def tables(self, source: str, where: Mapping[str, Any] | None = None) -> list[Any]: ...

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
    """Gives one verdict per claim, in the order of the claims; raises an error if it cannot judge."""

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]: ...


@dataclass(frozen=True)
class Answered:
    """The probability, 0..1, that an answer answers its question (None: not known), and the answering places.

    `quoted` says whether the answer is a quotation; for an answer in other words the probability is shown and decides
    nothing. `seen` are features of question, answer and passages, 0..1 each, for the probability of a model's answer.
    """

    probability: float | None
    spans: tuple[AnswerSpan, ...] = ()
    quoted: bool = True
    seen: Mapping[str, float] = field(default_factory=dict)
    conflicts: tuple[Conflict, ...] = ()
    """Pairs of passages that answer differently, at most one for each part of the question."""


@dataclass(frozen=True)
class YesNoSentence:
    """The sentence of the passages that answers a yes-or-no question: the characters [start, end) of a passage.

    `denied` says whether the sentence denies the question.
    """

    passage: int
    start: int
    end: int
    denied: bool


class AnswerScorer(Named, Protocol):
    """Reads question, answer and passages together; raises an error if it cannot."""

    def __call__(self, question: str, answer: str, passages: Sequence[Passage], notes: Notes) -> Answered: ...


class Scorer(Named, Protocol):
    """Scores 0..1; raises an error if it cannot.

    Alignment scores how well an answer addresses the question, is supported by the passages (best first) and free of
    contradiction, given ``(question, answer, passages, notes)``. Consistency scores whether an answer contradicts
    itself or known facts, given ``(answer, known_facts, notes)``.
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


class CallerParts(TypedDict, total=False):
    """A caller's own parts: objects, or names as in the settings.

    `store` is a folder, a name such as ``chroma:FOLDER``, any LangChain vector store, or an opened store; `retriever`
    any LangChain retriever, its ``module:name``, or a part with the protocol.
    """

    chat_model: "BaseChatModel | str | None"
    embeddings: Embeddings | str | None
    store: "PassageStore | VectorStore | str | PathLike[str] | None"
    retriever: "Retriever | BaseRetriever | VectorStore | str | None"
    reranker: "Reranker | BaseDocumentCompressor | str | None"
    judge: Judge | str | None
    generator: Generator | None
    query_writer: QueryWriter | None

"""What a program calls beside the graphs: verify an answer, correct it, fill and search the store."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from cragraph.build import Parts, create_graph, make_verifier
from cragraph.errors import InputError, StoreError
from cragraph.graph.context import Context
from cragraph.passages import as_passages, as_question
from cragraph.protocols import Embeddings, Notes
from cragraph.settings import Settings, load_settings
from cragraph.types import OnLowConfidence, Passage
from cragraph.verification.result import Verification

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from cragraph.protocols import Judge
    from cragraph.retrieval.store import IngestReport, Store
    from cragraph.verification.verifier import Verifier

MB = 1024 * 1024
"""Bytes of a megabyte, as `max_file_mb` counts them."""

Verify = Callable[[str, Iterable[Any], str | None], Verification]


@dataclass(frozen=True)
class CorrectionResult:
    """What became of an answer.

    `attempts` counts the corrections that were made, so 0 where the answer was accepted as it came; `history` has
    the verification of every attempt, the given answer's first; `additional_context_used` says whether a correction
    found passages beyond the given ones. `response` is the whole response of the graph.
    """

    final_response: str
    confidence: float
    attempts: int
    history: list[dict[str, Any]]
    additional_context_used: bool
    is_grounded: bool
    abstained: bool
    response: dict[str, Any] = field(repr=False)

    @property
    def verification_history(self) -> list[dict[str, Any]]:
        """The same as `history`."""
        return self.history

    def _repr_html_(self) -> str:
        """The report, in a notebook."""
        from cragraph.report import Report

        return Report(self)._repr_html_()


def verify(
    answer: str,
    passages: Iterable[Any],
    question: str | None = None,
    *,
    settings: Settings | None = None,
    chat_model: "BaseChatModel | None" = None,
    embeddings: "Embeddings | None" = None,
    judge: "str | Judge | None" = None,
    policy: str | None = None,
    policy_scores: bool = False,
    known_facts: Sequence[str] = (),
) -> Verification:
    """Judge every claim of an answer against passages.

    `passages` are strings, LangChain documents, or objects with text and metadata. `judge` is a name or any callable
    of the judge protocol. Raises InputError for an answer or passages of the wrong shape.
    """
    if not isinstance(answer, str):
        raise InputError(f"The answer came as a {type(answer).__name__}; wanted text: pass a string.")
    options = settings or load_settings()
    named = judge if isinstance(judge, str) else None
    own = None if isinstance(judge, str) else judge
    verifier = _verifier(options, chat_model, embeddings, own)
    return verifier(
        as_question(question or ""),
        answer,
        as_passages(passages),
        Notes(),
        judge=named or ("custom" if own else options.judge),
        policy=policy or options.policy,
        policy_scores=policy_scores,
        known_facts=tuple(known_facts),
    )


async def averify(answer: str, passages: Iterable[Any], question: str | None = None, **options: Any) -> Verification:
    """`verify` in a thread, so that an event loop stays free."""
    from asyncio import to_thread

    return await to_thread(verify, answer, passages, question, **options)


def verify_and_correct(
    question: str,
    answer: str,
    passages: Iterable[Any] | None = None,
    *,
    settings: Settings | None = None,
    chat_model: "BaseChatModel | None" = None,
    embeddings: "Embeddings | None" = None,
    store: Any = None,
    judge: "str | Judge | None" = None,
    max_crag_attempts: int | None = None,
    confidence_threshold: float | None = None,
    on_low_confidence: OnLowConfidence = "flag",
) -> CorrectionResult:
    """Verify an answer and correct it until it reaches the threshold, the attempts are used up or nothing improves.

    Corrections search `store` where one is given; else they work with the given passages. By default an answer that
    stays below the threshold is returned with its issues, because it was the caller's.
    """
    named = judge if isinstance(judge, str) else None
    own = None if isinstance(judge, str) else judge
    options = settings or (load_settings() if store is not None else load_settings(store=None))
    given = {
        "show_claims": True,
        "on_low_confidence": on_low_confidence,
        "verify": True,
        "judge": named or ("custom" if own else None),
        "max_crag_attempts": max_crag_attempts,
        "confidence_threshold": confidence_threshold,
    }
    graph = create_graph(options, chat_model=chat_model, embeddings=embeddings, store=store, judge=own).compile()
    inputs: dict[str, Any] = {"question": question, "answer": answer}
    if passages is not None:
        inputs["passages"] = as_passages(passages)
    response = graph.invoke(inputs, context=Context(**{k: v for k, v in given.items() if v is not None}))
    attempts = response["attempts"]
    return CorrectionResult(
        final_response=response["answer"],
        confidence=response["confidence"],
        attempts=len(attempts) - 1,
        history=[a.get("verification", {}) for a in attempts],
        additional_context_used=any(a["new_passages"] for a in attempts[1:]),
        is_grounded=bool(response["is_grounded"]),
        abstained=response["abstained"],
        response=response,
    )


async def averify_and_correct(
    question: str, answer: str, passages: Iterable[Any] | None = None, **options: Any
) -> CorrectionResult:
    """`verify_and_correct` in a thread, so that an event loop stays free."""
    from asyncio import to_thread

    return await to_thread(verify_and_correct, question, answer, passages, **options)


def verifier_for(settings: Settings) -> Verify:
    """A verifier with the judge and policy of some settings, to be called many times."""
    verifier = make_verifier(settings)

    def run(answer: str, passages: Iterable[Any], question: str | None = None) -> Verification:
        return verifier(
            as_question(question or ""),
            answer,
            as_passages(passages),
            Notes(),
            judge=settings.judge,
            policy=settings.policy,
            known_facts=settings.known_facts,
        )

    return run


def read_passages(paths: Iterable[Path], settings: Settings) -> list[Passage]:
    """The passages of some files, without a store.

    Raises InputError for a path that is no file, DocumentError for a file that cannot be read.
    """
    from cragraph.retrieval.documents import Limits, load, split

    paths = list(paths)
    limits = Limits(seconds=settings.file_seconds)
    for path in paths:
        if not path.is_file():
            raise InputError(f"{path} is not a file: give files to verify against.")
    return [
        passage
        for path in paths
        for document in load(path, source=str(path), limits=limits)
        for passage in split(document, chunk_size=settings.chunk_size, chunk_overlap=settings.chunk_overlap)
    ]


_shared: "dict[str, Verifier]" = {}
"""The verifier of the last settings, so that calls in a row load nothing twice and share one gate."""

_SHARED_LOCK = Lock()


def _verifier(settings: Settings, chat_model: Any, embeddings: Any, judge: Any) -> "Verifier":
    if any(own is not None for own in (chat_model, embeddings, judge)):
        return make_verifier(settings, chat_model=chat_model, embeddings=embeddings, judge=judge)
    key = settings.model_dump_json()
    with _SHARED_LOCK:
        if key not in _shared:
            made = make_verifier(settings)
            _shared.clear()
            _shared[key] = made
        return _shared[key]


def ingest_paths(settings: Settings, paths: Sequence[Path], **options: Any) -> "IngestReport":
    """Read files and folders into the store; `options` are `prune`, `dry_run` and `progress`."""
    from cragraph.retrieval.store import ingest

    return ingest(paths, Parts(settings).store_to_fill(), **reading_options(settings), **options)


def watch_paths(settings: Settings, paths: Sequence[Path], *, prune: bool = True) -> "Iterator[IngestReport]":
    """Follow files and folders: a report for the first ingest, then one for every change."""
    from cragraph.retrieval.store import watch

    return watch(paths, Parts(settings).store_to_fill(), prune=prune, **reading_options(settings))


def forget_path(settings: Settings, path: str) -> list[str]:
    """Take a document, or all below a folder, out of the store; returns what was removed."""
    from cragraph.retrieval.store import forget

    return forget(opened(settings), path)


def reading_options(settings: Settings) -> dict[str, Any]:
    """How documents are read and split."""
    from cragraph.retrieval.documents import Limits
    from cragraph.retrieval.store import SplitOptions

    return {
        "split_options": SplitOptions(settings.chunk_size, settings.chunk_overlap),
        "limits": Limits(seconds=settings.file_seconds),
        "max_bytes": int(settings.max_file_mb * MB),
    }


def opened(settings: Settings) -> "Store":
    """The settings' store; raises StoreError where there is none yet."""
    return Parts(settings).store


def store_health(settings: Settings) -> str:
    """What the store holds, in a few words; raises StoreError with what to do where it cannot be used."""
    store = opened(settings)
    try:
        if problems := store.problems():
            raise StoreError(" ".join(problems))
        return f"{settings.store}: {len(store.documents())} documents, {store.count()} chunks"
    finally:
        store.close()

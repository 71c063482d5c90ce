"""What a program calls: the graphs, and functions that verify an answer and correct it without one on screen."""

import re
from asyncio import to_thread
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from langgraph.graph import StateGraph

from cragraph.build import Parts
from cragraph.errors import InputError, encodable
from cragraph.graph.build import build_chat, build_verifier, step
from cragraph.graph.context import JudgingContext, options_of
from cragraph.language.words import content_words, terms
from cragraph.loop import graph_of
from cragraph.nodes.verify import VerifyGiven
from cragraph.passages import as_passages
from cragraph.protocols import Embeddings, Judge, Notes
from cragraph.report import Report
from cragraph.settings import Settings, context_schema, load_settings
from cragraph.types import Claim, Evidence, OnLowConfidence
from cragraph.verification.judges.verdicts import evidence_at
from cragraph.verification.result import Verification

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


def create_graph(
    settings: Settings | None = None,
    *,
    chat_model: "BaseChatModel | None" = None,
    embeddings: Embeddings | None = None,
    store: Any = None,
    retriever: Any = None,
    reranker: Any = None,
    judge: Judge | None = None,
) -> StateGraph[Any, Any, Any, Any]:
    """The corrective loop, uncompiled: compile it with the checkpointer of your choice, or none.

    Without settings, they are loaded from the environment and `cragraph.yaml`. `chat_model` is any LangChain chat
    model; `embeddings` any LangChain embeddings; `store` a folder, a server URL or an opened `Store`; `retriever` a
    LangChain `BaseRetriever` or `VectorStore` to search instead of a store; `reranker` a part of the reranker protocol
    or a LangChain `BaseDocumentCompressor`; `judge` a part of the judge protocol.
    """
    searched = {"store": store, "retriever": retriever, "reranker": reranker}
    chosen = settings or load_settings()
    return graph_of(Parts(chosen, chat_model=chat_model, embeddings=embeddings, judge=judge, **searched))


def create_chat(settings: Settings | None = None, **own: Any) -> StateGraph[Any, Any, Any, Any]:
    """The same as a conversation, messages in and out, uncompiled: a checkpointer remembers each thread.

    Takes what `create_graph` takes. Each answer is a message with its sources below, and with the whole response as
    its `additional_kwargs`; a follow-up question is understood from the messages before it.
    """
    chosen = settings or load_settings()
    return build_chat(create_graph(chosen, **own), context_schema(chosen))


def create_verifier(
    settings: Settings | None = None,
    *,
    chat_model: "BaseChatModel | None" = None,
    embeddings: Embeddings | None = None,
    judge: Judge | None = None,
) -> StateGraph[Any, Any, Any, Any]:
    """A graph that verifies a given answer against given passages, uncompiled."""
    settings = settings or load_settings()
    check = VerifyGiven(Parts(settings, chat_model=chat_model, embeddings=embeddings, judge=judge).verifier)
    form = context_schema(settings, JudgingContext)
    return build_verifier(check=step("verify", check, settings.context()), context_schema=form)


def drawn(name: str) -> Any:
    """A graph's drawing: `crag` or `verify`."""
    return {"crag": create_graph, "verify": create_verifier}[name](Settings.model_construct()).compile().get_graph()


@dataclass(frozen=True)
class CorrectionResult:
    """What became of an answer.

    `attempts` counts the corrections that were made, so 0 where the answer was accepted as it came; `history` has
    the verification of every attempt, the given answer's first; `additional_context_used` says whether a correction
    found passages beyond the given ones; `decision` is what was decided
    on the final response. `response` is the whole response of the graph.
    """

    final_response: str
    confidence: float
    attempts: int
    history: list[dict[str, Any]]
    additional_context_used: bool
    is_grounded: bool
    accepted: bool
    decision: dict[str, Any]
    abstained: bool
    response: dict[str, Any] = field(repr=False)

    @property
    def verification_history(self) -> list[dict[str, Any]]:
        """The same as `history`."""
        return self.history

    def _repr_html_(self) -> str:
        return Report(self)._repr_html_()


@dataclass(frozen=True)
class Reading:
    """What is made of a text and passages read together, and the place in them that it was made of.

    Of a claim: how far it is `supported` and `contradicted`, 0..1 and independent of each other. Of a question: the
    chance, 0..1, that the `quote` `answers` it; None where its language is not read. What does not apply is None.
    `quote` is an exact quote with its passage and offsets, None where nothing was found. `rests_on` are the words of
    the text that stand there, or around it for a question; `misses` those of a question that do not, and those of a
    claim that the judge calls unsupported. `degraded` says what could not be done.
    """

    text: str
    supported: float | None
    contradicted: float | None
    answers: float | None
    quote: Evidence | None
    rests_on: tuple[str, ...]
    misses: tuple[str, ...]
    degraded: tuple[str, ...] = ()


def read(
    text: str,
    passages: Iterable[Any],
    *,
    asks: bool | None = None,
    settings: Settings | None = None,
    embeddings: Embeddings | None = None,
    judge: str | Judge | None = None,
) -> Reading:
    """Read a claim or a question with passages: judged as a claim of an answer is, ranked as what a question finds.

    A text that ends in a question mark asks; `asks` says so of any other. A claim is judged whole, by `judge` or the
    judge of the settings, and a judge that fails is stood in for, as in `verify`. Raises InputError for a text or
    passages of the wrong shape.
    """
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"The text to read came as {text!r}; wanted a claim or a question: give a string with words.")
    text, given = encodable(text), as_passages(passages)
    asking = text.rstrip().endswith(("?", "？")) if asks is None else asks
    options = settings or load_settings()
    own = None if isinstance(judge, str) else judge
    parts = _parts(options, embeddings=embeddings, judge=own)
    if asking:
        return _question(text, given, parts)
    named = judge if isinstance(judge, str) else "custom" if own else options.judge
    claim, notes = Claim(text=text, start=0, end=len(text), type="factual"), Notes()
    [verdict] = parts.verifier.judged([claim], given, notes, judge=named)
    place, lacking = verdict["evidence"], verdict.get("unsupported_spans", [])
    held = set(terms(place["quote"])) if place else set()
    misses = [text[start:end].rstrip(".,;:!?") for start, end in lacking]
    missed = {term for words in misses for term in terms(words)}
    rests = [word for word in _words(text) if held.issuperset(terms(word)) and missed.isdisjoint(terms(word))]
    judged = None if verdict["verdict"] == "unjudged" else verdict
    support, against = (judged["support"], judged["contradiction"]) if judged else (None, None)
    return Reading(text, support, against, None, place, tuple(rests), tuple(misses), tuple(notes.sentences))


def _question(text: str, passages: Sequence[Any], parts: Parts) -> Reading:
    ranking = parts.ranker(text, passages)
    best = next(iter(ranking.scored), None)
    place = evidence_at(best.candidate.passage, best.candidate.start, best.candidate.end, passages) if best else None
    held = set(terms(f"{best.candidate.context} {best.candidate.opener} {best.candidate.text}")) if best else set()
    words = _words(text)
    rests = tuple(word for word in words if held.issuperset(terms(word)))
    misses = tuple(word for word in words if word not in rests)
    degraded = (ranking.degraded,) if ranking.degraded else ()
    return Reading(text, None, None, ranking.answered, place, rests, misses, degraded)


def _words(text: str) -> list[str]:
    """The distinct words of a text that carry its meaning, as they stand there."""
    heavy = set(content_words(text))
    words = dict.fromkeys(re.findall(r"\w[\w.,'’-]*\w|\w", text))
    return [word for word in words if heavy.intersection(terms(word))]


def verify(
    answer: str,
    passages: Iterable[Any],
    question: str | None = None,
    *,
    settings: Settings | None = None,
    chat_model: "BaseChatModel | None" = None,
    embeddings: Embeddings | None = None,
    judge: str | Judge | None = None,
    policy: str | None = None,
    policy_scores: bool = False,
    known_facts: Sequence[str] = (),
) -> Verification:
    """Judge every claim of an answer against passages.

    `passages` are strings, LangChain documents, or objects with text and metadata. `judge` is a name or any callable
    of the judge protocol. Raises InputError for an answer or passages of the wrong shape.
    """
    options = settings or load_settings()
    own = None if isinstance(judge, str) else judge
    given = {"judge": "custom" if own else judge, "policy": policy, "known_facts": tuple(known_facts)}
    verifier = _parts(options, chat_model=chat_model, embeddings=embeddings, judge=own).verifier
    chosen = options.model_copy(update={name: value for name, value in given.items() if value})
    read = as_passages(passages)
    return verifier(question or "", answer, read, Notes(), **chosen.judging, policy_scores=policy_scores)


async def averify(answer: str, passages: Iterable[Any], question: str | None = None, **options: Any) -> Verification:
    """`verify` in a thread, so that an event loop stays free."""
    return await to_thread(verify, answer, passages, question, **options)


def verify_and_correct(
    question: str,
    answer: str,
    passages: Iterable[Any] | None = None,
    *,
    settings: Settings | None = None,
    chat_model: "BaseChatModel | None" = None,
    embeddings: Embeddings | None = None,
    store: Any = None,
    judge: str | Judge | None = None,
    max_crag_attempts: int | None = None,
    confidence_threshold: float | None = None,
    on_low_confidence: OnLowConfidence = "flag",
) -> CorrectionResult:
    """Verify an answer and correct it until it reaches the threshold, the attempts are used up or nothing improves.

    Corrections search `store` where one is given; else they work with the given passages. By default an answer that
    stays below the threshold is returned with its issues, because it was the caller's. Raises InputError for an option
    that is out of its range.
    """
    own = None if isinstance(judge, str) else judge
    options = settings or (load_settings() if store is not None else load_settings(store=None))
    given = {
        "show_claims": True,
        "on_low_confidence": on_low_confidence,
        "verify": True,
        "judge": "custom" if own else judge,
        "max_crag_attempts": max_crag_attempts,
        "confidence_threshold": confidence_threshold,
    }
    graph = create_graph(options, chat_model=chat_model, embeddings=embeddings, store=store, judge=own).compile()
    inputs: dict[str, Any] = {"question": question, "answer": answer}
    if passages is not None:
        inputs["passages"] = as_passages(passages)
    response = graph.invoke(inputs, context=options_of({k: v for k, v in given.items() if v is not None}))
    attempts = response["attempts"]
    return CorrectionResult(
        final_response=response["answer"],
        confidence=response["confidence"],
        attempts=len(attempts) - 1,
        history=[a.get("verification", {}) for a in attempts],
        additional_context_used=any(a["new_passages"] for a in attempts[1:]),
        is_grounded=bool(response["is_grounded"]),
        accepted=bool(response["accepted"]),
        decision=response["decision"],
        abstained=response["abstained"],
        response=response,
    )


async def averify_and_correct(
    question: str, answer: str, passages: Iterable[Any] | None = None, **options: Any
) -> CorrectionResult:
    """`verify_and_correct` in a thread, so that an event loop stays free."""
    return await to_thread(verify_and_correct, question, answer, passages, **options)


_shared: dict[str, Parts] = {}
"""The parts of the last settings, so that calls in a row load nothing twice and share one gate."""

_SHARED_LOCK = Lock()


def _parts(settings: Settings, **own: Any) -> Parts:
    if any(part is not None for part in own.values()):
        return Parts(settings, **own)
    key = settings.model_dump_json()
    with _SHARED_LOCK:
        if key not in _shared:
            _shared.clear()
            _shared[key] = Parts(settings)
        return _shared[key]

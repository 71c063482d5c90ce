"""The entry points for programs: the graphs, and functions that verify and correct an answer."""

import re
from asyncio import to_thread
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Unpack, cast

from langgraph.graph import StateGraph

from cragraph.build import Parts
from cragraph.errors import InputError, encodable
from cragraph.graph.build import TAKES, LoopGraph, build_chat, build_verifier, step
from cragraph.graph.context import JudgingContext, options_of
from cragraph.graph.state import Response
from cragraph.language.words import content_words, terms
from cragraph.loop import graph_of
from cragraph.nodes.verify import VerifyGiven
from cragraph.passages import as_passages
from cragraph.protocols import CallerParts, Notes
from cragraph.report import Report
from cragraph.settings import Chosen, Settings, as_settings, context_schema, load_settings
from cragraph.types import Checked, Claim, Decided, Evidence, OnLowConfidence
from cragraph.verification.reading import evidence_at
from cragraph.verification.result import Verification


def create_graph(
    settings: Chosen = None,
    *,
    inputs: Mapping[str, str] | Collection[str] = TAKES,
    doubt_in_text: bool = False,
    **own: Unpack[CallerParts],
) -> LoopGraph:
    """The corrective loop, uncompiled: compile it with the checkpointer of your choice, or none.

    Args:
        settings: `Settings`, a dictionary of them, or a settings file; without, environment and `cragraph.yaml`.
        inputs: as a node of your graph, the inputs that are read from its state: names, or a mapping of each input to
            your key for it (`{"question": "query"}`). An `answer` is read, and verified, only if it is named.
        doubt_in_text: as a node of a graph of messages, whether the text of the answer begins with its doubt; the doubt
            is `additional_kwargs["doubt"]` in any case.
        own: parts of your own, each an object or its name: `chat_model`, `embeddings`, `store`, `retriever`,
            `reranker`, `judge`, `generator`, `query_writer` (`cragraph.protocols.CallerParts`).

    Raises SettingsError for a part or a setting that cannot be used.
    """
    return graph_of(Parts(as_settings(settings), **own), inputs=inputs, doubt_in_text=doubt_in_text)


def create_chat(
    settings: Chosen = None, *, doubt_in_text: bool = True, **own: Unpack[CallerParts]
) -> StateGraph[Any, Any, Any, Any]:
    """The loop as a conversation, messages in and out, uncompiled: a checkpointer remembers each thread.

    Takes what `create_graph` takes. Each answer is a message with its doubt before it and its sources below, and with
    the response as its `additional_kwargs`; a follow-up question is understood from the messages before it.
    """
    chosen = as_settings(settings)
    return build_chat(create_graph(chosen, doubt_in_text=doubt_in_text, **own), context_schema(chosen))


def create_verifier(settings: Chosen = None, **own: Unpack[CallerParts]) -> StateGraph[Any, Any, Any, Any]:
    """A graph that verifies a given answer against given passages, uncompiled."""
    parts = Parts(as_settings(settings), **own)
    form = context_schema(parts.settings, JudgingContext)
    check = step("verify", VerifyGiven(parts.verifier), parts.settings.context())
    return build_verifier(check=check, context_schema=form)


def drawn(name: str) -> Any:
    """A graph's drawing: `crag` or `verify`."""
    return {"crag": create_graph, "verify": create_verifier}[name](Settings.model_construct()).compile().get_graph()


@dataclass(frozen=True)
class CorrectionResult:
    """The result of `verify_and_correct`.

    `attempts` counts the corrections, so 0 if the given answer was accepted; `history` has the verification of every
    attempt, the given answer's first; `additional_context_used` says whether a correction found passages beyond the
    given ones; `decision` is the decision on the final response. `response` is the whole response of the graph.
    """

    final_response: str
    confidence: float
    attempts: int
    history: list[Checked]
    additional_context_used: bool
    is_grounded: bool
    accepted: bool
    decision: Decided
    abstained: bool
    response: Response = field(repr=False)

    @property
    def verification_history(self) -> list[Checked]:
        """The same as `history`."""
        return self.history

    def _repr_html_(self) -> str:
        return Report(self)._repr_html_()


@dataclass(frozen=True)
class Reading:
    """The reading of a text together with passages, and the place in them that it rests on.

    For a claim, `supported` and `contradicted` are 0..1 and independent of each other. For a question, `answers` is the
    probability, 0..1, that the `quote` answers it; None if its language is not read. Fields that do not apply are None.
    `quote` is an exact quote with its passage and offsets, None if nothing was found. `rests_on` are the words of the
    text that stand in the quote, or around it for a question; `misses` the question's words that do not, or the claim's
    words that the judge finds unsupported. `degraded` has the degradations.
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
    settings: Chosen = None,
    **own: Unpack[CallerParts],
) -> Reading:
    """Read a claim with passages as the judge does, or a question as the answerer does.

    A text with a question mark at its end is a question; `asks` overrides this. A claim is judged whole, by `judge` or
    the judge of the settings, with fallbacks as in `verify`. Raises InputError for a text or passages of the wrong
    shape.
    """
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"The text to read came as {text!r}; wanted a claim or a question: give a string with words.")
    text, given = encodable(text), as_passages(passages)
    asking = text.rstrip().endswith(("?", "？")) if asks is None else asks
    parts = _parts(as_settings(settings), **own)
    if asking:
        return _question(text, given, parts)
    named = "custom" if "judge" in parts.own else parts.settings.judge
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
    """The distinct content words of a text, as written."""
    heavy = set(content_words(text))
    words = dict.fromkeys(re.findall(r"\w[\w.,'’-]*\w|\w", text))
    return [word for word in words if heavy.intersection(terms(word))]


def verify(
    answer: str,
    passages: Iterable[Any],
    question: str | None = None,
    *,
    settings: Chosen = None,
    policy: str | None = None,
    policy_scores: bool = False,
    known_facts: Sequence[str] = (),
    **own: Unpack[CallerParts],
) -> Verification:
    """Judge every claim of an answer against passages.

    `passages` are strings, LangChain documents, or objects with text and metadata; `own` are parts of your own, as of
    `create_graph`. Raises InputError for an answer or passages of the wrong shape.
    """
    parts = _parts(as_settings(settings), **own)
    judge = "custom" if "judge" in parts.own else None
    given = {"judge": judge, "policy": policy, "known_facts": tuple(known_facts)}
    verifier = parts.verifier
    chosen = parts.settings.model_copy(update={name: value for name, value in given.items() if value})
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
    settings: Chosen = None,
    max_crag_attempts: int | None = None,
    confidence_threshold: float | None = None,
    on_low_confidence: OnLowConfidence = "flag",
    **own: Unpack[CallerParts],
) -> CorrectionResult:
    """Verify an answer and correct it until it reaches the threshold, the attempts are used up or nothing improves.

    Corrections search a given `store` or `retriever`, else only the given passages. By default an answer that stays
    below the threshold is returned with its issues, because it is the caller's. Raises InputError for an option out of
    range.
    """
    searches = settings is not None or own.get("store") is not None or own.get("retriever") is not None
    options = as_settings(settings) if searches else load_settings(store=None)
    judge = own.get("judge")
    given = {
        "show_claims": True,
        "on_low_confidence": on_low_confidence,
        "verify": True,
        "judge": judge if judge is None or isinstance(judge, str) else "custom",
        "max_crag_attempts": max_crag_attempts,
        "confidence_threshold": confidence_threshold,
    }
    graph = create_graph(options, **own).compile()
    inputs: dict[str, Any] = {"question": question, "answer": answer}
    if passages is not None:
        inputs["passages"] = as_passages(passages)
    context = options_of({k: v for k, v in given.items() if v is not None})
    response = graph.invoke(inputs, context=context)
    attempts = response["attempts"]
    return CorrectionResult(
        final_response=response["answer"],
        confidence=cast(float, response["confidence"]),
        attempts=len(attempts) - 1,
        history=[a.get("verification", cast(Checked, {})) for a in attempts],
        additional_context_used=any(a["new_passages"] for a in attempts[1:]),
        is_grounded=bool(response["is_grounded"]),
        accepted=bool(response["accepted"]),
        decision=cast(Decided, response["decision"]),
        abstained=response["abstained"],
        response=response,
    )


async def averify_and_correct(
    question: str, answer: str, passages: Iterable[Any] | None = None, **options: Any
) -> CorrectionResult:
    """`verify_and_correct` in a thread, so that an event loop stays free."""
    return await to_thread(verify_and_correct, question, answer, passages, **options)


_shared: dict[str, Parts] = {}
"""The parts of the last settings, so that repeated calls load nothing twice and share one gate."""

_SHARED_LOCK = Lock()


def _parts(settings: Settings, **own: Unpack[CallerParts]) -> Parts:
    if any(part is not None for part in own.values()):
        return Parts(settings, **own)
    key = f"{settings.model_dump_json()} {sorted(settings.model_fields_set)}"  # set options go before defaults
    with _SHARED_LOCK:
        if key not in _shared:
            _shared.clear()
            _shared[key] = Parts(settings)
        return _shared[key]

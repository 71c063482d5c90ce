"""Rerankers: by words, by the nearest stretch, by a chat model, and those of other libraries; the gain of reranking."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from statistics import fmean
from threading import Event
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import numpy as np
from pydantic import BaseModel

from cragraph.choices import COMPRESSORS, COMPRESSORS_NAMED, made
from cragraph.errors import DeadlineError, ModelError, ModelNotFoundError, ModelUnavailableError, SettingsError
from cragraph.language.languages import seems_english
from cragraph.language.sentences import stretch_spans
from cragraph.language.words import content_words, is_light, is_stopword, numbers, terms, words
from cragraph.models.chat import ChatPart
from cragraph.models.replies import Score
from cragraph.models.weights import side_by_side
from cragraph.passages import contextual_text
from cragraph.private import disable_telemetry
from cragraph.protocols import Embeddings, Notes, Reranker, reason_of
from cragraph.types import Passage

if TYPE_CHECKING:
    from langchain_core.documents import BaseDocumentCompressor, Document


def ranked(passages: Sequence[Passage], scores: Iterable[float]) -> list[Passage]:
    """Copies with their `rerank_score` (also in ``metadata["scores"]``), best first; ties keep their order."""
    scored = [with_score(passage, score) for passage, score in zip(passages, scores, strict=True)]
    return sorted(scored, key=lambda passage: -(passage["rerank_score"] or 0.0))


def with_score(passage: Passage, score: float) -> Passage:
    """A copy with its `rerank_score`, clamped to 0..1, NaN as 0."""
    value = 0.0 if math.isnan(score) else min(1.0, max(0.0, score))
    copy, scores = passage.copy(), passage["metadata"].get("scores")
    scores = {**scores, "rerank": value} if isinstance(scores, dict) else {"rerank": value}
    copy["metadata"] = {**passage["metadata"], "scores": scores}
    copy["rerank_score"] = value
    return copy


def logistic(z: float) -> float:
    """1 / (1 + exp(-z)) without overflow."""
    return 1.0 / (1.0 + math.exp(-z)) if z > -700.0 else 0.0


def logit(p: float) -> float:
    """The inverse of `logistic`, for p kept off 0 and 1 by a thousandth."""
    p = min(0.999, max(0.001, p))
    return math.log(p / (1.0 - p))


def rerank_gain(before: Sequence[Passage], after: Sequence[Passage], k: int = 3) -> float:
    """The mean rerank score of the first `k` after, less that of the first `k` before (mean score gain).

    0 where the reranker gave no scores; a passage that it dropped counts as 0.
    """
    if not before or not after:
        return 0.0
    scores = {p["chunk_id"]: p["rerank_score"] for p in after if p["rerank_score"] is not None}
    if not scores:
        return 0.0
    kept = fmean([scores.get(p["chunk_id"], 0.0) for p in after[:k]])
    return kept - fmean([scores.get(p["chunk_id"], 0.0) for p in before[:k]])


@dataclass(frozen=True)
class NoReranker:
    """Leaves order and passages as they are; `rerank_score` stays None."""

    name: str = "none"

    def __call__(self, query: str, passages: Sequence[Passage], notes: Notes) -> list[Passage]:
        """The passages, as they came."""
        return list(passages)


# -- by the question's words ---------------------------------------------------------------------------------------

K1, B = 1.2, 0.75  # BM25's usual saturation and length normalisation
NEAR: Final = 24  # words of the stretch for `near`


class Match(NamedTuple):
    """The match of a passage with a question, each field a share 0..1.

    `near` counts question words that stand together, `phrase` those in the question's order, `exact` its numbers and
    names to the letter, `heading` its words in the headings above.
    """

    bm25: float
    near: float
    phrase: float
    exact: float
    heading: float


class ScoreWeights(NamedTuple):
    """Terms of a passage's log-odds: a base, the weight of retrieval's log-odds, and weights of the match."""

    base: float
    retrieval: float
    match: Match


RETRIEVED: Final = ScoreWeights(-1.0, 0.7, Match(bm25=0.0, near=0.7, phrase=1.4, exact=0.7, heading=0.7))
"""Weights for a passage with a retrieval score, which has counted the words already: BM25 adds nothing."""

GIVEN: Final = ScoreWeights(-2.7, 0.0, Match(bm25=1.5, near=0.75, phrase=1.5, exact=0.75, heading=0.75))
"""Weights for passages without a retrieval score, such as those from a caller."""


@dataclass(frozen=True)
class LexicalReranker:
    """Scores passages by their retrieval score and by the positions of the question's words, on one scale."""

    name: str = "lexical"

    def __call__(self, query: str, passages: Sequence[Passage], notes: Notes) -> list[Passage]:
        """Copies with their `rerank_score`, best first."""
        return by_words(passages, matches(query, passages))


def by_words(passages: Sequence[Passage], matched: Sequence[Match]) -> list[Passage]:
    """Copies with their `rerank_score`, best first, by their match."""
    both = zip(passages, matched, strict=True)
    return ranked(passages, [odds(p, match, GIVEN if p["retrieval_score"] is None else RETRIEVED) for p, match in both])


def odds(passage: Passage, match: Match, weights: ScoreWeights, more: float = 0.0) -> float:
    """The score, 0..1, of a passage with this match; `more` is added to its log-odds."""
    retrieval = passage["retrieval_score"]
    known = 0.0 if retrieval is None else weights.retrieval * logit(retrieval)
    matched = sum(weight * value for weight, value in zip(weights.match, match, strict=True))
    return logistic(weights.base + known + matched + more)


def matches(query: str, passages: Sequence[Passage]) -> list[Match]:
    """The match of each passage; words that few of these passages have weigh more."""
    texts = [contextual_text(passage) for passage in passages]
    headings = [f"{p['metadata'].get('title') or ''} {p['metadata'].get('heading') or ''}" for p in passages]
    query_terms, bodies = content_words(query), [terms(text) for text in texts]
    sets = [set(body) for body in bodies]
    holding = {term: sum(term in body for body in sets) for term in query_terms}
    weight = {term: math.log1p((len(sets) - n + 0.5) / (n + 0.5)) for term, n in holding.items()}
    total = sum(weight.values()) or 1.0
    mean = sum(map(len, bodies)) / max(1, len(bodies)) or 1.0
    pairs = set(pairwise(query_terms))
    matched: list[Match] = []
    for text, body, heading in zip(texts, bodies, headings, strict=True):
        places: dict[str, list[int]] = {}
        for position, term in enumerate(body):
            if term in weight:
                places.setdefault(term, []).append(position)
        above = set(terms(heading))
        saturation = K1 * (1 - B + B * len(body) / mean)
        matched.append(
            Match(
                bm25=sum(weight[t] * len(at) / (len(at) + saturation) for t, at in places.items()) / total,
                near=_near(places, weight) / total,
                phrase=len(pairs & set(pairwise(t for t in body if not is_light(t)))) / max(1, len(pairs)),
                exact=_exact(query, text),
                heading=sum(value for term, value in weight.items() if term in above) / total,
            )
        )
    return matched


def _near(places: Mapping[str, Sequence[int]], weight: Mapping[str, float]) -> float:
    events = sorted((position, term) for term, at in places.items() for position in at)
    inside: dict[str, int] = {}
    best = inside_weight = 0.0
    start = 0
    for position, term in events:
        inside[term] = inside.get(term, 0) + 1
        inside_weight += weight[term] if inside[term] == 1 else 0.0
        while position - events[start][0] >= NEAR:
            gone = events[start][1]
            inside[gone] -= 1
            inside_weight -= weight[gone] if not inside[gone] else 0.0
            start += 1
        best = max(best, inside_weight)
    return best


def _exact(query: str, text: str) -> float:
    """The share of the question's numbers, and of its words with a capital that do not begin it, in the passage."""
    names = {word.casefold() for word in words(query)[1:] if word[0].isupper() and not is_stopword(word)}
    figures = set(numbers(query))
    if not figures and not names:
        return 0.0
    present = {word.casefold() for word in words(text)} if names else set()
    return (len(figures & set(numbers(text))) + len(names & present)) / (len(figures) + len(names))


# -- by words and the nearest stretch ------------------------------------------------------------------------------

FIRST: Final = 30  # passages compared, the best by words: all that a search returns

NEAREST: Final = 4.2  # weight of the cosine of the nearest stretch
WEIGHTS: Final = ScoreWeights(-3.0, 0.7, Match(bm25=0.0, near=1.7, phrase=1.8, exact=0.85, heading=1.1))
"""The weights of the other terms, as `RETRIEVED`; fitted by `lab.benchmarks.nearest`."""


@dataclass(frozen=True)
class NearestReranker:
    """Scores the first passages by words and by the cosine between the question and their nearest stretch.

    The vector of a passage is its subject; the sentence that answers may be on another. Questions in other languages
    than English, and passages from a caller (which are all read anyway), keep the order of the lexical reranker.
    """

    embeddings: Embeddings
    first: int = FIRST
    name: str = "nearest"

    def __call__(self, query: str, passages: Sequence[Passage], notes: Notes) -> list[Passage]:
        """Copies with their `rerank_score`, best first; passages that were not compared come last."""
        matched = matches(query, passages)
        words = by_words(passages, matched)
        first = [p for p in words if p["retrieval_score"] is not None][: self.first]
        if len(first) < 2 or not seems_english(query):
            return words
        try:
            nearest = self.nearest(query, first)
        except Exception as error:  # the embedding model may be the caller's own
            notes.degraded(f"The embedding model failed ({reason_of(error)}); passages were ordered by words alone.")
            return words
        match = {p["chunk_id"]: one for p, one in zip(passages, matched, strict=True)}
        scores = [
            odds(passage, match[passage["chunk_id"]], WEIGHTS, NEAREST * cosine)
            for passage, cosine in zip(first, nearest, strict=True)
        ]
        compared = ranked(first, scores)
        known = {p["chunk_id"] for p in first}
        last = compared[-1]["rerank_score"] or 0.0
        rest = [p for p in words if p["chunk_id"] not in known]
        return [*compared, *ranked(rest, [min(last, p["rerank_score"] or 0.0) for p in rest])]

    def nearest(self, query: str, passages: Sequence[Passage]) -> list[float]:
        """The cosine, -1..1, between the question and the nearest stretch of each passage."""
        spans = [stretch_spans(passage["text"]) or [(0, 0)] for passage in passages]
        texts = [[p["text"][slice(*span)] for span in own] for p, own in zip(passages, spans, strict=True)]
        vectors = np.asarray(self.embeddings.embed_documents([text for own in texts for text in own]), np.float32)
        asked = np.asarray(self.embeddings.embed_query(query), np.float32)
        lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(asked)
        cosines = vectors @ asked / np.maximum(lengths, 1e-12)
        ends = np.cumsum([len(own) for own in texts])
        return [float(own.max()) for own in np.split(cosines, ends[:-1])]


# -- by a chat model -----------------------------------------------------------------------------------------------


class Relevance(BaseModel):
    """The relevance of one passage."""

    score: Score


@dataclass(frozen=True)
class LLMReranker(ChatPart):
    """Scores every passage in a separate call; if a call fails the passage keeps its score, with a note.

    Once the server is gone or the deadline has passed, no further passage is tried.
    """

    max_concurrency: int = 4

    def __call__(self, query: str, passages: Sequence[Passage], notes: Notes) -> list[Passage]:
        """Copies with `rerank_score`, best first; equal scores keep their order. One call per passage."""
        if not passages:
            return []
        gone = Event()
        scores = side_by_side(lambda passage: self._score(query, passage, notes, gone), passages, self.max_concurrency)
        failed = sum(score is None for score in scores)
        if failed:
            notes.degraded(f"{failed} of {len(passages)} passages kept the score they had, as {self.name} gave none.")
        ranked: list[Passage] = []
        for passage, score in zip(passages, scores, strict=True):
            before = passage["retrieval_score"] if passage["rerank_score"] is None else passage["rerank_score"]
            ranked.append({**passage, "rerank_score": before if score is None else score})
        return sorted(ranked, key=lambda passage: -(passage["rerank_score"] or 0.0))

    def _score(self, query: str, passage: Passage, notes: Notes, gone: Event) -> float | None:
        if gone.is_set():
            return None
        try:
            return self.ask(Relevance, "rerank", notes, [passage], question=query).score
        except (DeadlineError, ModelNotFoundError, ModelUnavailableError) as error:
            if not gone.is_set():
                notes.degraded(f"Reranking by {self.name} stopped: {error}")
            gone.set()
        except ModelError as error:
            notes.degraded(f"{self.name} could not score a passage: {error}")
        return None


# -- of other libraries --------------------------------------------------------------------------------------------

ALL: Final = 10_000  # documents that a compressor returns at most: by default each keeps only the best three
_KEY: Final = "_cragraph_position"
_SCORES: Final = ("relevance_score", "score")


@dataclass(frozen=True)
class CompressorReranker:
    """Lets a `BaseDocumentCompressor` order and drop passages, whose texts stay as they are.

    Its `relevance_score` (or `score`) in a document's metadata becomes the `rerank_score` where it is in 0..1;
    otherwise the score falls evenly with the rank, and `notes` says so.
    """

    compressor: "BaseDocumentCompressor"
    title: str = ""

    @property
    def name(self) -> str:
        """The title, else the compressor's class."""
        return self.title or type(self.compressor).__name__

    def __call__(self, query: str, passages: Sequence[Passage], notes: Notes) -> list[Passage]:
        """Copies of the passages that it kept, in its order. Raises ModelError if it returned a foreign document."""
        from langchain_core.documents import Document

        if not passages:
            return []
        # A document's own field "score" must not be taken for the compressor's score.
        documents = [
            Document(
                page_content=p["text"],
                metadata={k: v for k, v in p["metadata"].items() if k not in _SCORES}
                | {"source": p["source"], _KEY: position},
            )
            for position, p in enumerate(passages)
        ]
        given: dict[int, float | None] = {}
        for document in self.compressor.compress_documents(documents, query):
            given.setdefault(self._position(document, passages), _score(document))
        scores = list(given.values())
        if any(score is None or not 0.0 <= score <= 1.0 for score in scores):
            notes.degraded(f"{self.name} gave no scores in 0..1; rerank scores are by rank.")
            scores = [1.0 - rank / len(given) for rank in range(len(given))]
        return [with_score(passages[position], score or 0.0) for position, score in zip(given, scores, strict=True)]

    def _position(self, document: "Document", passages: Sequence[Passage]) -> int:
        position = document.metadata.get(_KEY)
        if position is None:
            position = next((i for i, p in enumerate(passages) if p["text"] == document.page_content), None)
        if position is None:
            raise ModelError(
                f"{self.name} returned a document that it was not given ({document.page_content[:60]!r}); wanted some "
                "of the passages: use a compressor that keeps metadata or texts."
            )
        return int(position)


def _score(document: "Document") -> float | None:
    values = (document.metadata.get(key) for key in _SCORES)
    return next((float(v) for v in values if isinstance(v, Real) and not isinstance(v, bool)), None)


@dataclass(frozen=True)
class CrossEncoderReranker:
    """Scores (question, passage) pairs with a LangChain cross-encoder, as LangChain's compressor drops the scores.

    Scores outside 0..1 are taken as log-odds.
    """

    encoder: Any
    name: str

    def __call__(self, query: str, passages: Sequence[Passage], notes: Notes) -> list[Passage]:
        """Copies with their `rerank_score`, best first; ModelError if the model gave not one score per pair."""
        scores = [float(s) for s in self.encoder.score([(query, contextual_text(p)) for p in passages] or [])]
        if len(scores) != len(passages):
            raise ModelError(
                f"the reranker {self.name!r} gave {len(scores)} scores for {len(passages)} passages; wanted one each: "
                "check its model."
            )
        within = all(0.0 <= score <= 1.0 for score in scores)
        return ranked(passages, scores if within else map(logistic, scores))


def named_reranker(spec: str) -> Reranker:
    """The reranker of a name, its model loaded.

    Raises SettingsError for an unknown name or model, ModelError if a package is missing.
    """
    name, _, model = spec.partition(":")
    if name not in COMPRESSORS:
        return brought_reranker(spec)
    disable_telemetry()
    try:
        if name == "cross-encoder":
            from langchain_community.cross_encoders import HuggingFaceCrossEncoder

            return CrossEncoderReranker(HuggingFaceCrossEncoder(**({"model_name": model} if model else {})), spec)
        if name == "cohere":
            from langchain_cohere import CohereRerank as Compressor
        else:
            from langchain_community.document_compressors import FlashrankRerank as Compressor
        return CompressorReranker(Compressor(top_n=ALL, **({"model": model} if model else {})), spec)
    except ImportError as error:
        raise ModelError(
            f"the reranker {spec!r} needs a package that is not installed ({_first_line(error)}): run "
            f"`pip install {COMPRESSORS[name]}`."
        ) from error
    except Exception as error:  # unknown model, no key: each library raises its own error
        raise SettingsError(
            f"the reranker {spec!r} cannot be built ({_first_line(error)}): correct the name of its model, or set what "
            "it asks for, such as its key."
        ) from error


def brought_reranker(spec: str) -> Reranker:
    """The reranker that an installed package brings; raises SettingsError if there is none, or it is no reranker."""
    own = made("rerankers", spec)
    if hasattr(own, "compress_documents"):
        return CompressorReranker(own, spec)
    if not callable(own):
        raise SettingsError(
            f"the reranker {spec!r} came as a {type(own).__name__}; wanted a LangChain BaseDocumentCompressor or "
            f"one of {', '.join(COMPRESSORS_NAMED)}: install the package that brings it, or correct the name."
        )
    return cast(Reranker, own)


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).partition("\n")[0].rstrip(".")

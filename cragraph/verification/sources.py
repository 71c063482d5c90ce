"""Sources: how similar they are to the claims, which of them support a claim, and their weights."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np

from cragraph.language.markers import without_markers
from cragraph.language.words import overlap
from cragraph.models.cache import embedded
from cragraph.protocols import Embeddings, Notes, stand_in
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.conflicts import stated_in
from cragraph.verification.judges.verdicts import claim_of
from cragraph.verification.reading import Space, Window, space
from cragraph.verification.result import CREDIT, IN_FAVOUR, bare, counted, reliance

BY_SIMILARITY: Final = frozenset({"relevance", "faithfulness", "attribution_coverage", "source_agreement"})

Rows = tuple[tuple[float, ...], ...]

LIKELIEST: Final = 3
"""Windows that a claim is compared with: as many as the embedding judge takes, so that they are embedded once."""

NEAR: Final = 0.25
"""Least coverage of another window that a copied claim is compared with: of 165 windows below 0.3 none was more than
0.7 similar, of 104 others 84."""


@dataclass(frozen=True)
class Closeness:
    """Similarities in 0..1.

    `rows[claim][passage]` is the similarity of the claim to its likeliest windows, as far as they are in the passage,
    0.0 without any; `whole[claim][passage]` is the similarity to the whole passage, empty if it was not wanted.
    """

    rows: Rows = ()
    question_to_answer: float = 0.0
    whole: Rows = ()

    @property
    def best(self) -> list[float]:
        """Similarity of each claim to its closest window; 0.0 without passages."""
        return [max(row, default=0.0) for row in self.rows]

    @property
    def by_passage(self) -> Rows:
        """Similarity of each claim to each passage: the higher of window and whole passage."""
        if not self.whole:
            return self.rows
        return tuple(tuple(map(max, near, far)) for near, far in zip(self.rows, self.whole, strict=True))


def measure_closeness(
    embeddings: Embeddings | None,
    question: str,
    answer: str,
    claims: Sequence[str],
    passages: Sequence[Passage],
    notes: Notes,
    wanted: Collection[str] = BY_SIMILARITY,
) -> Closeness:
    """The similarities for the wanted signals, by the embedding model, else by shared words with a note."""
    if BY_SIMILARITY.isdisjoint(wanted):
        return Closeness()
    question, whole = question if "relevance" in wanted else "", "source_agreement" in wanted
    bare = [without_markers(claim) for claim in claims]
    instead, closeness = "similarities were measured by shared words", None
    if embeddings is None:
        notes.degraded(f"There is no embedding model; {instead}.")
    else:
        call = partial(by_vectors, embeddings, question, answer, bare, passages, whole=whole)
        closeness = stand_in("The embedding model", call, instead, notes)
    return closeness or by_words(question, answer, bare, [passage["text"] for passage in passages])


def by_words(question: str, answer: str, claims: Sequence[str], texts: Sequence[str]) -> Closeness:
    """Closeness as the share of a claim's content words in a passage, and of the question's in the answer."""
    rows = tuple(tuple(overlap(claim, text) for text in texts) for claim in claims)
    return Closeness(rows, overlap(question, answer), rows)


def by_vectors(
    embeddings: Embeddings,
    question: str,
    answer: str,
    claims: Sequence[str],
    passages: Sequence[Passage],
    *,
    whole: bool = True,
) -> Closeness:
    """Closeness as cosine similarity, negative ones as 0.0; everything is embedded in one call."""
    # The question and the answer are embedded as documents too: they are compared as two statements.
    pair = [question, answer] if question.strip() and answer.strip() else []
    windows = space(claims, passages)
    texts = [passage["text"] for passage in passages] if whole and claims else []
    chosen = [_telling(windows, column, claim, whole=whole) for column, claim in enumerate(claims)]
    pairs = [(claim, window.text) for claim, likely in zip(claims, chosen, strict=True) for window in likely]
    near = [text for one, other in pairs if bare(one) != bare(other) for text in (one, other)]
    vectors = embedded(embeddings, [*pair, *near, *(claims if texts else ()), *texts])

    def cosine(one: str, other: str) -> float:
        if bare(one) == bare(other):
            return 1.0
        with np.errstate(invalid="ignore"):  # BLAS may raise the flag for lanes that it does not use
            return min(max(float(vectors[one] @ vectors[other]), 0.0), 1.0)

    rows = [[0.0] * len(passages) for _ in claims]
    for claim, likely, places in zip(claims, chosen, rows, strict=True):
        for window in likely:
            places[window.passage] = max(places[window.passage], cosine(claim, window.text))
    return Closeness(
        tuple(map(tuple, rows)),
        cosine(question, answer) if pair else 0.0,
        tuple(tuple(cosine(claim, text) for text in texts) for claim in claims) if texts else (),
    )


def coherence(embeddings: Embeddings, sentences: Sequence[str]) -> float:
    """Mean similarity of each sentence to the one before it, 0..1; 1.0 for fewer than two sentences."""
    texts = [sentence for sentence in sentences if sentence.strip()]
    if len(texts) < 2:
        return 1.0
    vectors = embedded(embeddings, texts)
    near = [min(max(float(vectors[one] @ vectors[other]), 0.0), 1.0) for one, other in pairwise(texts)]
    return sum(near) / len(near)


def _telling(measured: Space, column: int, claim: str, *, whole: bool) -> list[Window]:
    """The likeliest windows of a claim; for a copied claim, its source and the windows that share enough words."""
    likeliest = measured.best(column, LIKELIEST)
    copied = any(bare(measured.windows[place].text) == bare(claim) for place in likeliest)
    if copied and not whole:
        likeliest = [place for place in likeliest if measured.likely[place, column] >= NEAR]
    return [measured.windows[place] for place in likeliest]


SourceWeight = Callable[[Passage], float]  # the weight of a passage's source, 0..1

JudgeAgain = Callable[[Sequence[Claim], Sequence[Passage]], list[Verdict]]

_MOST_NAMED: Final = 3
_SIDING: Final = {*IN_FAVOUR, "contradicted"}  # labels of verdicts that rest on a source


def attributed(
    verdicts: Sequence[Verdict], passages: Sequence[Passage], closeness: Sequence[Sequence[float]], threshold: float
) -> list[Verdict]:
    """The verdicts with `sources`: the chunks that support their claim beside the evidence.

    A passage supports a claim with a favourable verdict if it is more than `threshold` similar to the claim
    (`closeness`, a row per verdict), has all its figures, and has no sentence against it.
    """
    sourced = list(verdicts)
    for number, (verdict, row) in enumerate(zip(verdicts, closeness or [()] * len(verdicts), strict=True)):
        if verdict["verdict"] in IN_FAVOUR:
            quoted = verdict["evidence"]["passage"] if verdict["evidence"] else None
            near = [passages[p] for p, score in enumerate(row) if score > threshold and p != quoted]
            ids = [p["chunk_id"] for p in near if stated_in(verdict["text"], p["text"])]
            sourced[number] = {**verdict, "sources": ids}
    return sourced


def weights_of(passages: Sequence[Passage], weight: SourceWeight | None) -> list[float]:
    """The weight of each passage's source; empty if every source is fully relied on."""
    weights = [weight(passage) for passage in passages] if weight else []
    return weights if any(w < 1.0 for w in weights) else []


def weigh_sources(
    verdicts: Sequence[Verdict], passages: Sequence[Passage], weights: Sequence[float], judge: JudgeAgain
) -> list[Verdict]:
    """The verdicts with `source_weight`, the weight of the source that each rests on, if it is below 1.

    A claim may stand in several sources, and a judge names one of them. So claims that rest on a weaker source are
    judged again with the stronger sources alone, the strongest first. The new verdict stands if it is worth more, or if
    it contradicts what the weaker source supports. Without weights the verdicts stay as they are.
    """
    if not weights:
        return list(verdicts)
    weighed = list(verdicts)
    open_ = [i for i, v in enumerate(weighed) if v["verdict"] in _SIDING]
    for tier in sorted(set(weights), reverse=True):
        weak = [i for i in open_ if _weight(weighed[i], weights) < tier]
        # All other claims rest on sources of this weight or more: no stronger source is left.
        if not weak:
            break
        strong = [position for position, weight in enumerate(weights) if weight >= tier]
        claims = [claim_of(weighed[i]) for i in weak]
        for i, again in zip(weak, judge(claims, [passages[p] for p in strong]), strict=True):
            second = _moved(again, strong, passages)
            if _decides(second, weighed[i], weights):
                weighed[i] = second
                open_.remove(i)
    return [
        {**verdict, "source_weight": weight}
        if (weight := _weight(verdict, weights)) < 1.0 and verdict["verdict"] in _SIDING
        else verdict
        for verdict in weighed
    ]


def weak_source_issues(verdicts: Sequence[Verdict], passages: Sequence[Passage], weights: Sequence[float]) -> list[str]:
    """The issue that names the weaker sources of supported claims; empty if there are none."""
    good = [v for v in counted(verdicts) if v["verdict"] in IN_FAVOUR]
    weak = [v for v in good if v.get("source_weight", 1.0) < 1.0]
    if not weak:
        return []
    places = sorted({v["evidence"]["passage"] for v in weak if v["evidence"]})
    named = dict.fromkeys(f"{passages[p]['source'] or passages[p]['filename']} ({weights[p]:g})" for p in places)
    listed = ", ".join(list(named)[:_MOST_NAMED]) + " and others" * (len(named) > _MOST_NAMED)
    rest = f"{len(weak)} of {len(good)} supported claims rest only on sources of lower weight{listed and f': {listed}'}"
    return [f"{rest}; the confidence counts {reliance(verdicts):.2f} times"]


def _weight(verdict: Verdict, weights: Sequence[float]) -> float:
    """The weight of the source that holds the evidence; without evidence, the highest weight."""
    evidence = verdict["evidence"]
    return weights[evidence["passage"]] if evidence else max(weights)


def _decides(second: Verdict, first: Verdict, weights: Sequence[float]) -> bool:
    if second["verdict"] == "contradicted":
        return first["verdict"] in IN_FAVOUR
    worth = [CREDIT[v["verdict"]] * _weight(v, weights) for v in (second, first)]
    return worth[0] > worth[1]


def _moved(verdict: Verdict, positions: Sequence[int], passages: Sequence[Passage]) -> Verdict:
    """A verdict on some of the passages, its evidence renumbered among all of them."""
    if not verdict["evidence"]:
        return verdict
    position = positions[verdict["evidence"]["passage"]]
    own = {"passage": position, "chunk_id": passages[position]["chunk_id"]}
    return {**verdict, "evidence": {**verdict["evidence"], **own}}  # type: ignore[typeddict-item]

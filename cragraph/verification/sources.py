"""Sources: which sources support a claim, and their weights."""

from collections.abc import Callable, Sequence
from typing import Final

from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.conflicts import stated_in
from cragraph.verification.judges.verdicts import claim_of
from cragraph.verification.result import CREDIT, IN_FAVOUR, counted, reliance

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
            own = verdict["evidence"]["passage"] if verdict["evidence"] else None
            near = [passages[p] for p, score in enumerate(row) if score > threshold and p != own]
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

"""Rerank gain: what a reranker adds."""

from collections.abc import Sequence
from statistics import fmean

from cragraph.types import Passage


def rerank_gain(before: Sequence[Passage], after: Sequence[Passage], k: int = 3) -> float:
    """The mean rerank score of the `k` passages kept, less that of the `k` that retrieval had first.

    The reranking metric "mean score gain": both means are of `rerank_score`, so that the two stages' scales play no
    part; 0 where the reranker kept retrieval's choice, or gave no scores. A passage that the reranker dropped counts
    as 0. It measures how much a reranker changes by its own lights; nDCG with and without it says whether that helps.
    """
    if not before or not after:
        return 0.0
    scores = {p["chunk_id"]: p["rerank_score"] for p in after if p["rerank_score"] is not None}
    if not scores:
        return 0.0
    kept = fmean([scores.get(p["chunk_id"], 0.0) for p in after[:k]])
    return kept - fmean([scores.get(p["chunk_id"], 0.0) for p in before[:k]])

"""The judge by meaning: the claim's closeness to its likeliest windows, held to the same facts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from cragraph.errors import ModelError
from cragraph.models.cache import CachedEmbeddings
from cragraph.protocols import Notes
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.claims import without_markers
from cragraph.verification.judges.deciding import Thresholds, clearest, decide
from cragraph.verification.judges.features import Held, Reading, read
from cragraph.verification.judges.weighing import EMBEDDING, checked_weights, support_of
from cragraph.verification.windows import Space, space

THRESHOLDS: Final = Thresholds(supported=0.5, partial=0.35, contradicted=0.75)
"""`supported` has the best balanced accuracy on the dev part of the grounding data, macro-averaged."""
WINDOWS: Final = 3
"""Windows of each claim that are embedded and measured; see `clearest` for which one counts."""


@dataclass(frozen=True)
class EmbeddingJudge:
    """Judges by cosine similarity to the likeliest windows together with words, figures, names and negation.

    The windows are preselected by words, and all claims and windows of an answer are embedded in one call, each
    distinct text once; vectors are kept in a bounded cache, so that a second pass over the same passages is cheap.
    Hand in a `CachedEmbeddings` to share its cache. Raises ModelError when the model returns no usable vectors.
    """

    embeddings: Embeddings
    thresholds: Thresholds = THRESHOLDS
    weights: Mapping[str, float] = field(default_factory=lambda: EMBEDDING)
    windows: int = WINDOWS
    name: str = "embedding"
    _cached: CachedEmbeddings = field(init=False, repr=False)

    def __post_init__(self) -> None:
        checked_weights(self.weights)
        own = self.embeddings
        object.__setattr__(self, "_cached", own if isinstance(own, CachedEmbeddings) else CachedEmbeddings(own))

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict a claim, in order."""
        texts = [without_markers(claim["text"]) for claim in claims]
        found = space(texts, passages)
        chosen = [found.best(column, self.windows) for column in range(len(texts))]
        cosines = self._cosines(texts, chosen, found)
        held = Held.of(passages)
        verdicts = []
        for column, claim in enumerate(claims):
            readings = [
                read(texts[column], column, place, found, held, passages, cosines[column, place])
                for place in chosen[column]
            ]
            best = clearest(readings, self._support)
            support = self._support(best) if best else 0.0
            verdicts.append(decide(claim, best, support, 0.0, self.thresholds, passages, self.name))
        notes.ran("judge embeddings", self._cached.name)
        return verdicts

    def _support(self, reading: Reading) -> float:
        return support_of(reading, self.weights)

    def _cosines(
        self, texts: Sequence[str], chosen: Sequence[Sequence[int]], found: Space
    ) -> Mapping[tuple[int, int], float]:
        """Cosine of each claim to each of its windows, -1..1."""
        places = sorted({place for own in chosen for place in own})
        if not places:
            return {}
        wanted = list(dict.fromkeys([*texts, *(found.windows[place].text for place in places)]))
        vectors = _unit(self._cached.embed_documents(wanted), len(wanted), self._cached.name)
        row = {text: number for number, text in enumerate(wanted)}
        return {
            (column, place): float(vectors[row[texts[column]]] @ vectors[row[found.windows[place].text]])
            for column, own in enumerate(chosen)
            for place in own
        }


def _unit(found: Sequence[Sequence[float]], wanted: int, name: str) -> NDArray[np.float32]:
    vectors = np.asarray(found, dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != wanted or not np.isfinite(vectors).all():
        raise ModelError(
            f"embedding model {name!r} returned vectors of shape {vectors.shape} (or not finite) for {wanted} texts; "
            "wanted one finite vector a text."
        )
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)

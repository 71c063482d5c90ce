"""The judge by meaning: the claim's closeness to its likeliest windows, held to the same facts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from cragraph.models.cache import CachedEmbeddings, embedded
from cragraph.protocols import Embeddings, Notes
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.judges.reading import Readings, clearest, support_of
from cragraph.verification.judges.verdicts import BY_WORDS, decide

WINDOWS: Final = 3


@dataclass(frozen=True)
class EmbeddingJudge:
    """Judges by cosine similarity to the likeliest windows together with words, figures, names and negation.

    The windows are preselected by words and embedded with the claims in one call; hand in a `CachedEmbeddings` to share
    its cache. Raises ModelError when the model returns no usable vectors.
    """

    embeddings: Embeddings
    name: str = "embedding"
    _cached: CachedEmbeddings = field(init=False, repr=False)

    def __post_init__(self) -> None:
        own = self.embeddings
        object.__setattr__(self, "_cached", own if isinstance(own, CachedEmbeddings) else CachedEmbeddings(own))

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict per claim, in order."""
        measures = Readings(claims, passages)
        windows, chosen = measures.space.windows, [measures.space.best(n, WINDOWS) for n in range(len(claims))]
        texts = [*measures.texts, *(windows[place].text for places in chosen for place in places)]
        vectors = embedded(self._cached, texts) if any(chosen) else {}
        notes.ran("judge embeddings", self._cached.name)
        verdicts = []
        for number, (claim, text, places) in enumerate(zip(claims, measures.texts, chosen, strict=True)):
            cosines = [float(vectors[text] @ vectors[windows[place].text]) for place in places]
            readings = [measures.read(number, place, cosine) for place, cosine in zip(places, cosines, strict=True)]
            best = clearest(readings, "embedding")
            verdicts.append(decide(claim, best, (support_of(best, "embedding"), 0.0), BY_WORDS, passages, self.name))
        return verdicts

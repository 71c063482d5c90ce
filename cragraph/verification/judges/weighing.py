"""Judges that weigh what was measured: the judge by words, and the judge by similarity of meaning."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from cragraph.models.cache import CachedEmbeddings, embedded
from cragraph.protocols import Embeddings, Notes
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.judges.verdicts import BY_WORDS, decide
from cragraph.verification.reading import WINDOWS, Readings, best_by_words, clearest, support_of


@dataclass(frozen=True)
class LexicalJudge:
    """Judges by stems, neighbouring words, figures, names and negation; needs no model, takes milliseconds.

    It knows no synonyms: a faithful paraphrase in other words looks unsupported to it.
    """

    name: str = "lexical"

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict per claim, in order."""
        measures = Readings(claims, passages)
        readings = [best_by_words(measures, number) for number in range(len(claims))]
        return [
            decide(claim, reading, (support_of(reading, "lexical"), 0.0), BY_WORDS, passages, self.name)
            for claim, reading in zip(claims, readings, strict=True)
        ]


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

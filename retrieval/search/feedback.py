"""Pseudo-relevance feedback: when the first pass is weak, ask again in the words of what it found."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from cragraph.retrieval.documents import contextual_text
from cragraph.retrieval.search.words import STOPWORDS, stems, words
from cragraph.types import Passage


@dataclass(frozen=True)
class Feedback:
    """Adds the telling words of the best passages to a query for the lexical side.

    Used only when the first pass is weak: when the relevance of its best passage is below `weak_below`. A strong first
    pass has nothing to gain from words that the question did not use. `passages` are read, `terms` words added, and
    what they find has `weight` times the say of the lexical side: enough to bring passages in that the first pass
    missed, too little to turn its order over.
    """

    weak_below: float = 0.1
    passages: int = 10
    terms: int = 10
    weight: float = 0.2

    def __call__(self, query: str, found: Sequence[Passage]) -> str:
        """The query with the words that are in most of the best passages, best first; the same query where none is."""
        texts = [contextual_text(passage) for passage in found[: self.passages]]
        held = Counter(word for text in texts for word in {w.casefold() for w in words(text)})
        often = Counter(word for text in texts for word in (w.casefold() for w in words(text)))
        telling = [
            word
            for word, passages in held.items()
            if passages > 1 and word not in STOPWORDS and len(word) > 2 and not word.isdigit()
        ]
        telling.sort(key=lambda word: (-held[word] * math.log1p(often[word]), word))
        known, *of = stems()([query, *telling])
        added = [word for word, stem in zip(telling, of, strict=True) if not set(stem) <= set(known)]
        return " ".join([query, *added[: self.terms]])

"""Alignment: does the answer match its sources?"""

from collections.abc import Sequence
from typing import Final, Protocol

from cragraph.protocols import Notes
from cragraph.text.words import content_words, overlap
from cragraph.types import Passage
from cragraph.verification.claims import without_markers
from cragraph.verification.signals.material import Material

TOP: Final = 5
"""How many passages alignment looks at."""


class AlignmentScorer(Protocol):
    """Scores 0..1 how well an answer addresses the question, is supported by the passages and free of contradiction.

    It raises rather than guesses when it cannot score.
    """

    @property
    def name(self) -> str:
        """What notes call it."""
        ...

    def __call__(self, question: str, answer: str, passages: Sequence[Passage], notes: Notes) -> float:
        """The score; `passages` are all of the answer's, best first."""
        ...


def alignment(material: Material) -> float:
    """The injected scorer's score over the top five passages, else keyword overlap (weighted verification formula)."""
    if material.alignment is not None:
        return material.alignment
    return keyword_overlap(material.answer, [passage["text"] for passage in material.passages])


def keyword_overlap(answer: str, texts: Sequence[str]) -> float:
    """Share of the answer's content words in a passage, averaged over the top five passages, 0..1.

    It favours answers that all the top passages repeat, and is low for a right answer that one passage holds.
    """
    top, said = texts[:TOP], without_markers(answer)
    if not top or not content_words(said):
        return 0.0
    return sum(overlap(said, text) for text in top) / len(top)

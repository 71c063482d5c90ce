"""How likely an answer is to answer its question, and the places in the passages that do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cragraph.generation.phrases import plain
from cragraph.generation.questions import split_question
from cragraph.generation.ranking import MOST_ROWS, REWORDED, AnswerRanker, Ranking, Scored, certainty
from cragraph.protocols import Answered, Notes
from cragraph.text.markers import without_markers
from cragraph.text.words import content_words
from cragraph.types import AnswerSpan, Passage

MOST_SPANS: Final = 12
PARTLY: Final = 0.3
"""The chance that is stated where one part of a question is answered and another is not: just worth showing."""


@dataclass(frozen=True)
class ReaderScorer:
    """Reads the question with the passages, and finds in the answer what the passages say to it.

    A quotation is worth what the quoted candidate is worth. An answer in other words is held against the candidate that
    shares most of what it says; its chance was calibrated on answers that people wrote in their own words.
    """

    ranker: AnswerRanker

    @property
    def name(self) -> str:
        """The network's name."""
        return self.ranker.name

    def __call__(self, question: str, answer: str, passages: Sequence[Passage], notes: Notes) -> Answered:
        """The chance that every part of the question is answered; None for another language.

        An answer to one part alone is worth no more than `PARTLY`.
        """
        written = plain(without_markers(answer))
        spans: list[AnswerSpan] = []
        chances: list[float | None] = []
        verbatim = False
        for part in split_question(question):
            ranking = self.ranker(part, passages)
            if ranking.degraded:
                notes.degraded(ranking.degraded)
            quoted, given = given_in(written, ranking)
            quoted = quoted or any(plain(row.text) in written for row in ranking.rows)
            spans += [_span(s, passages) for s in given[:MOST_SPANS] if s.answer.strip()]
            verbatim = verbatim or (quoted and ranking.answered is not None)
            if ranking.answered is None:
                chances.append(None)
            elif not quoted:
                chances.append(self.ranker.sure_of_words(reworded_features(self.ranker, part, written, ranking)))
            elif ranking.rows and all(plain(row.text) in written for row in ranking.rows[:MOST_ROWS]):
                chances.append(ranking.answered)
            else:
                chances.append(max(self.ranker.sure(certainty(ranking, s), s) for s in given[:3]))
        known = [chance for chance in chances if chance is not None]
        if len(known) < len(chances):
            return Answered(None, tuple(spans), verbatim)
        return Answered(max(min(known), min(PARTLY, max(known))), tuple(spans), verbatim)


def reworded_features(ranker: AnswerRanker, question: str, written: str, ranking: Ranking) -> dict[str, float]:
    """What tells whether an answer in other words answers: the candidate nearest to it, and how near that is."""
    new = set(content_words(written)) - set(content_words(question))

    def shared(s: Scored) -> float:
        return len(new & set(content_words(f"{s.candidate.opener} {s.candidate.text}"))) / len(new) if new else 0.0

    if not ranking.scored:
        return dict.fromkeys(REWORDED, 0.0) | {"bias": 1.0}
    near = max(ranking.scored, key=lambda s: (shared(s), s.score))
    best = set(content_words(ranking.scored[0].answer))
    chance = ranker.sure(certainty(ranking, near), near)
    return {
        "bias": 1.0,
        "chance": chance,
        "shared": shared(near),
        "span": len(best & set(content_words(written))) / len(best) if best else 0.0,
        "both": chance * shared(near),
    }


def given_in(written: str, ranking: Ranking) -> tuple[bool, list[Scored]]:
    """Whether an answer quotes candidates, and which; where it quotes none, the best whose answer it gives."""
    quoted = [s for s in ranking.scored if plain(s.candidate.text) and plain(s.candidate.text) in written]
    if quoted:
        return True, quoted
    reworded = [s for s in ranking.scored if plain(s.answer) and f" {plain(s.answer)} " in f" {written} "]
    return False, reworded[:1]


def _span(scored: Scored, passages: Sequence[Passage]) -> AnswerSpan:
    number, start, end = scored.candidate.passage, scored.answer_start, scored.answer_end
    passage = passages[number]
    text = passage["text"][start:end]
    return AnswerSpan(passage=number, chunk_id=passage["chunk_id"], start=start, end=end, text=text)

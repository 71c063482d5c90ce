"""How likely an answer is to answer its question, and the places in the passages that do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cragraph.generation.questions import read_question, split_question
from cragraph.generation.ranking import MOST_ROWS, AnswerRanker, Ranking, Scored, certainty, plain
from cragraph.protocols import Answered, Notes
from cragraph.text.markers import without_markers
from cragraph.types import AnswerSpan, Passage

MOST_SPANS: Final = 12


@dataclass(frozen=True)
class ReaderScorer:
    """Reads the question with the passages, and finds in the answer what the passages say to it.

    A quotation is worth what the quoted candidate is worth. The chance was calibrated on quotations: for an answer in
    other words it is not known, but where its words stand in a passage is shown all the same.
    """

    ranker: AnswerRanker

    @property
    def name(self) -> str:
        """The network's name."""
        return self.ranker.name

    def __call__(self, question: str, answer: str, passages: Sequence[Passage], notes: Notes) -> Answered:
        """The chance that every part of the question is answered; None for other words or another language."""
        said = plain(without_markers(answer))
        spans: list[AnswerSpan] = []
        chances: list[float | None] = []
        for part in split_question(question):
            ranking = self.ranker(part, passages)
            quoted, given = given_in(said, ranking)
            quoted = quoted or any(plain(row.text) in said for row in ranking.rows)
            spans += [_span(s, passages) for s in given[:MOST_SPANS] if s.answer.strip()]
            if not quoted or ranking.answered is None:
                chances.append(None)
                continue
            if ranking.rows and all(plain(row.text) in said for row in ranking.rows[:MOST_ROWS]):
                chances.append(ranking.answered)
                continue
            asked = read_question(part)
            chances.append(max(self.ranker.sure(certainty(asked, ranking, s, passages), s) for s in given[:3]))
        known = [chance for chance in chances if chance is not None]
        return Answered(min(known) if len(known) == len(chances) else None, tuple(spans))


def given_in(said: str, ranking: Ranking) -> tuple[bool, list[Scored]]:
    """Whether an answer quotes candidates, and which; where it quotes none, the best whose answer it gives."""
    quoted = [s for s in ranking.scored if plain(s.candidate.text) and plain(s.candidate.text) in said]
    if quoted:
        return True, quoted
    reworded = [s for s in ranking.scored if plain(s.answer) and f" {plain(s.answer)} " in f" {said} "]
    return False, reworded[:1]


def _span(scored: Scored, passages: Sequence[Passage]) -> AnswerSpan:
    passage = passages[scored.candidate.passage]
    start, end = scored.answer_start, scored.answer_end
    return AnswerSpan(
        passage=scored.candidate.passage,
        chunk_id=passage["chunk_id"],
        start=start,
        end=end,
        text=passage["text"][start:end],
    )

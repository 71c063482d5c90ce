"""The probability that an answer answers its question, and the places in the passages that answer it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cragraph.answers.candidates import Candidate, candidates
from cragraph.answers.differing import differing
from cragraph.answers.ranking import MOST_ROWS, REWORDED, AnswerRanker, Ranking, Scored, certainty
from cragraph.language.facts.polarity import (
    denials,
    denied_stretches,
)
from cragraph.language.markers import without_markers
from cragraph.language.questions import asks_whether, read_question, split_question
from cragraph.language.words import content_words, normalised, terms
from cragraph.protocols import Answered, Notes, YesNoSentence
from cragraph.types import AnswerSpan, Conflict, Passage

_LET: Final = frozenset(terms("allowed permitted"))
""""Not allowed" or "not permitted": it denies what stands before it."""
MOST_SPANS: Final = 12
PARTLY: Final = 0.3
"""Probability at most if one part of a question is answered and another is not: just worth showing."""


@dataclass(frozen=True)
class ReaderScorer:
    """Reads the question with the passages, and compares the answer with the candidates of the passages.

    A quotation has the probability of the quoted candidate, even if that was not the best. An answer in other words is
    compared with the candidate that shares most of its words; its probability was calibrated on answers that people
    wrote in their own words.
    """

    ranker: AnswerRanker

    @property
    def name(self) -> str:
        """The network's name."""
        return self.ranker.name

    def __call__(self, question: str, answer: str, passages: Sequence[Passage], notes: Notes) -> Answered:
        """The probability, 0..1, that every part of the question is answered; None for another language.

        An answer to one part alone has at most `PARTLY`.
        """
        written = normalised(without_markers(answer))
        spans: list[AnswerSpan] = []
        probabilities: list[float | None] = []
        verbatim = False
        seen: list[dict[str, float]] = []
        conflicts: list[Conflict] = []
        parts = split_question(question)
        for part in parts:
            ranking = self.ranker(part, passages)
            if ranking.degraded:
                notes.degraded(ranking.degraded)
            quoted, given = given_in(written, ranking)
            among = ranking
            if not quoted and (copied := copies(written, passages)):
                # A quoted sentence that was not chosen for this question is read beside the chosen one.
                among = self.ranker(part, passages, [*copied, *(s.candidate for s in ranking.scored[:1])], whole=True)
                quoted, given = given_in(written, among)
            quoted = quoted or any(given_as(row, written) for row in ranking.rows)
            spans += [_span(s, passages) for s in given[:MOST_SPANS] if s.answer.strip()]
            verbatim = verbatim or (quoted and ranking.answered is not None)
            if pair := differing(read_question(part), ranking, passages):
                conflicts.append(pair.record(passages))
            if ranking.answered is None:
                probabilities.append(None)
                continue
            near = nearest(self.ranker, part, written, ranking, several=len(parts) > 1)
            seen.append({"found": ranking.answered, "probability": near["probability"], "span": near["span"]})
            if not quoted:
                probabilities.append(self.ranker.sure_of_words(near))
            elif ranking.rows and all(given_as(row, written) for row in ranking.rows[:MOST_ROWS]):
                probabilities.append(ranking.answered)
            else:
                probabilities.append(max(self.ranker.sure(certainty(among, s)) for s in given[:3]))
        common = {name: sum(one[name] for one in seen) / len(seen) for name in seen[0]} if seen else {}
        known = [probability for probability in probabilities if probability is not None]
        if len(known) < len(probabilities):
            return Answered(None, tuple(spans), verbatim, conflicts=tuple(conflicts))
        probability = max(min(known), min(PARTLY, max(known)))
        return Answered(probability, tuple(spans), verbatim, common, tuple(conflicts))


@dataclass(frozen=True)
class WhetherReader:
    """Finds the sentence of the passages that answers a yes-or-no question.

    A sentence denies the question if the reader chooses it, it negates words of the question, and the question negates
    nothing. Of 260 yes-or-no questions on encyclopedia paragraphs (BoolQ, dev) 17 have such a sentence, and 15 of these
    are answered by no; of all 260 it is 42 %.
    """

    ranker: AnswerRanker

    def __call__(self, question: str, passages: Sequence[Passage]) -> YesNoSentence | None:
        """The sentence, and whether it denies the question; None for another kind of question, or if nothing
        answers."""
        asked = next(filter(asks_whether, split_question(question)), None)
        ranking = None if asked is None else self.ranker(asked, passages)
        if asked is None or ranking is None or not ranking.scored or ranking.answered is None:
            return None
        best = ranking.scored[0].candidate
        return YesNoSentence(best.passage, best.start, best.end, denies(asked, best.text))


def denies(question: str, sentence: str) -> bool:
    """Whether a sentence negates words of a question without a negation, or says that something is not allowed."""
    spoken = frozenset(terms(question))
    return not denials(question) and any(words & spoken or words & _LET for _, _, words in denied_stretches(sentence))


def nearest(
    ranker: AnswerRanker, question: str, written: str, ranking: Ranking, *, several: bool = False
) -> dict[str, float]:
    """The features of an answer in other words: those of the nearest candidate, and the nearness of that candidate.

    If the question is one of `several` that the answer answers, most words of the answer are about the others. The
    nearest candidate then must answer this question and share words with the answer.
    """
    new = set(content_words(written)) - set(content_words(question))

    def share(text: str) -> float:
        return len(new & set(content_words(text))) / len(new) if new else 0.0

    def shared(s: Scored) -> float:
        return share(f"{s.candidate.opener} {s.candidate.text}")

    def sure(s: Scored) -> float:
        return ranker.sure(certainty(ranking, s))

    def key(s: Scored) -> tuple[float, float, float]:
        # Words of the sentence before a candidate count, and less than its own.
        return shared(s) * (sure(s) if several else 1.0), 0.0 if several else share(s.candidate.text), s.score

    if not ranking.scored:
        return dict.fromkeys(REWORDED, 0.0) | {"bias": 1.0}
    near = max(ranking.scored, key=key)
    best = set(content_words(ranking.scored[0].answer))
    return {
        "bias": 1.0,
        "probability": sure(near),
        "shared": shared(near),
        "span": len(best & set(content_words(written))) / len(best) if best else 0.0,
        "both": sure(near) * shared(near),
    }


def given_as(candidate: Candidate, written: str) -> bool:
    """Whether an answer quotes a candidate, or states its cell in a sentence."""
    return any(text and text in written for text in map(normalised, (candidate.text, candidate.sentence)))


def copies(written: str, passages: Sequence[Passage]) -> list[Candidate]:
    """The sentences and rows of the passages that an answer consists of, two at most; none if the answer has other
    words."""
    found = [c for c in candidates(passages) if given_as(c, written)]
    rest = written
    for text in sorted((normalised(c.text) for c in found), key=len, reverse=True):
        rest = rest.replace(text, " ")
    return [] if rest.strip() else found[:2]


def given_in(written: str, ranking: Ranking) -> tuple[bool, list[Scored]]:
    """Whether an answer quotes candidates, and the quoted ones; without a quotation, the best candidate with the same
    answer."""
    quoted = [s for s in ranking.scored if given_as(s.candidate, written)]
    if quoted:
        return True, quoted
    reworded = [s for s in ranking.scored if normalised(s.answer) and f" {normalised(s.answer)} " in f" {written} "]
    return False, reworded[:1]


def _span(scored: Scored, passages: Sequence[Passage]) -> AnswerSpan:
    number, start, end = scored.candidate.passage, scored.answer_start, scored.answer_end
    passage = passages[number]
    text = passage["text"][start:end]
    return AnswerSpan(passage=number, chunk_id=passage["chunk_id"], start=start, end=end, text=text)

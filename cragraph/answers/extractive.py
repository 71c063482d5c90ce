"""The embedded generator: quotes the sentences or rows that answer the question, or says that it does not know."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from cragraph.answers.candidates import Candidate, candidates, is_list
from cragraph.answers.differing import differing
from cragraph.answers.quotations import YEAR, dated
from cragraph.answers.ranking import MOST_ROWS, AnswerRanker, Ranking, Scored
from cragraph.answers.rows import names_its_columns
from cragraph.language.languages import unread
from cragraph.language.markers import without_markers, without_references
from cragraph.language.questions import QUOTED_KINDS, Kind, Question, read_question, split_question
from cragraph.language.sentences import sentence_spans
from cragraph.language.words import content_words, normalised
from cragraph.protocols import Brief, Notes, stand_in
from cragraph.types import IDK, Passage

FLOOR: Final = 0.3  # least probability of an answer that is written at all
BY_WORDS: Final = 0.36  # the same for the score by words alone, for languages that the reader does not know
MARGIN: Final = 0.6  # least share of the best candidate's score for another sentence of the answer
RIVAL: Final = 0.8  # the same for a sentence of another passage with a different answer: both are shown
NEAR: Final = 0.85  # the same for a second sentence chosen by words alone
NEAR_TO: Final = 0.3  # how much less evidence a sentence may have that points back and has the kind of answer asked for
SURELY: Final = 2.0  # least log odds of a second reading by which a sentence makes others needless
TIE: Final = 0.5  # how much less they may be for a sentence of a later document to be the best one
WORSE: Final = 1.0  # how much less they are for a sentence to be left out beside the best one
_GROUNDED: Final = 0.6  # least share of a kept sentence's words in the passage that is cited for it


@dataclass(frozen=True)
class Kept:
    """A sentence of the previous answer that held, and the passage (from 0) to cite for it."""

    text: str
    passage: int


@dataclass(frozen=True)
class ExtractiveGenerator:
    """Answers with sentences and rows of the passages, word for word, each with its marker.

    Where nothing is at least `floor` (0..1) likely to answer, it returns `IDK`.
    """

    ranker: AnswerRanker
    max_sentences: int = 3
    floor: float = FLOOR
    name: str = "extractive"
    varies: bool = False
    """Whether a higher temperature gives another answer."""

    def __call__(self, brief: Brief, notes: Notes) -> str:
        """The answer with ``[n]`` markers that count the brief's passages from 1, or `IDK`."""
        kept = kept_sentences(brief)
        chosen: list[Candidate] = []
        for part in split_question(brief.question):
            ranking = self.rank(replace(brief, question=part))
            if ranking.degraded:
                notes.degraded(ranking.degraded)
            if ranking.answered is None and ranking.scored:
                notes.degraded(unread(part, [p["text"] for p in brief.passages]))
            else:
                notes.ran("reader", self.ranker.name)
            question = read_question(part)
            sentences = choose(question, ranking, kept, self.max_sentences, self.floor)
            sentences = [newest(question, candidate, brief.passages) for candidate in sentences]
            if sentences and not kept and (pair := differing(question, ranking, brief.passages)):
                # The newer answer comes first, for readers who stop there.
                sentences = [pair.first.candidate, pair.second.candidate]
            elif not ranking.rows and not question.wants_all:
                sentences = self.agreeing(question, sentences, brief.passages, notes)
            chosen += [candidate for candidate in sentences if candidate not in chosen]
        if not chosen and not kept:
            return IDK
        return _written(kept, chosen)

    def agreeing(
        self, question: Question, chosen: list[Candidate], passages: Sequence[Passage], notes: Notes
    ) -> list[Candidate]:
        """The chosen sentences without those of other passages that the best one makes needless: of an older document,
        or of no later one and read a second time as a worse answer. What is later may change the answer, and stays."""
        if len({candidate.passage for candidate in chosen}) < 2:
            return chosen
        read = stand_in(
            "The second reading of the quotations",
            lambda: self.ranker.read_again(question.text, passages, chosen),
            "none is left out by it",
            notes,
        )
        if not read:
            return chosen

        dates = {candidate.passage: dated(passages[candidate.passage]) for candidate in chosen}
        both = [*zip(chosen, read, strict=True)]
        near = [one for one in both if one[1] >= max(read) - TIE]
        best, most = max(near, key=lambda one: (dates[one[0].passage], one[1]))
        if most < SURELY:
            return chosen

        def stays(candidate: Candidate, value: float) -> bool:
            own, first = dates[candidate.passage], dates[best.passage]
            if own and first and own != first:
                return own > first
            return value >= most - WORSE

        return [one for one, value in both if one.passage == best.passage or stays(one, value)]

    def rank(self, brief: Brief) -> Ranking:
        """Candidates of the brief's passages, best first, without those that failed before."""
        failing = _failing(brief)
        among = [c for c in candidates(brief.passages) if not failing(c.text)]
        ranking = self.ranker(brief.question, brief.passages, among)
        if not any(row.sentence and failing(row.sentence) for row in ranking.rows):
            return ranking
        failed = {row for row in ranking.rows if failing(row.sentence)}
        return self.ranker(brief.question, brief.passages, [c for c in among if c not in failed])


def choose(question: Question, ranking: Ranking, kept: Sequence[Kept], most: int, floor: float) -> list[Candidate]:
    """The candidates of the answer: the best one, with matching rows, further sentences, or a conflicting answer."""
    if not ranking.scored:
        return []
    best = ranking.scored[0]
    if best.score < BY_WORDS if ranking.answered is None else ranking.answered < floor:
        return []
    if ranking.answered is None:
        # Words alone do not tell two near candidates apart.
        near = [s for s in ranking.scored[1:2] if s.score >= NEAR * best.score and question.kind not in QUOTED_KINDS]
        return [best.candidate, *(s.candidate for s in near)]
    if ranking.rows:
        return list(ranking.rows[:MOST_ROWS])
    if question.wants_all and best.candidate.is_row:
        rows = (s for s in ranking.scored if s.candidate.is_row)
        read = [s.candidate for s in rows if s.features["evidence"] > 0 and s.features["span"] > 0]
        return read[:MOST_ROWS] or [best.candidate]
    if not kept and is_list(best.candidate.text):
        return [best.candidate]
    room = min(question.sentences, most - len(kept))
    chosen: list[Scored] = []
    worded = [set(content_words(sentence.text)) for sentence in kept]
    for item in ranking.scored:
        own = set(content_words(item.candidate.text))
        repeats = any(_overlap(own, other) > 0.7 for other in worded)
        if not chosen:
            fits = room > 0 and not repeats
        elif item.features["evidence"] <= 0 or any(_same(item, other) for other in chosen):
            fits = False
        elif question.kind in QUOTED_KINDS and item.candidate.passage != best.candidate.passage:
            fits = len(chosen) < 2 and item.score >= RIVAL * best.score
        else:
            fits = len(chosen) < room and item.score >= MARGIN * best.score and not repeats
        if fits:
            chosen.append(item)
            worded.append(own)
    if whole := next((s for s in ranking.scored if chosen == [best] and _lists(s, best)), None):
        chosen = [whole]
    if chosen == [best]:
        if question.kind not in QUOTED_KINDS:
            chosen += [s for s in ranking.scored[1:] if _goes_on(best, s)][:1]
        if chosen == [best]:
            chosen += [s for s in ranking.scored[1:] if _follows(best, s, question)][:1]
    return [item.candidate for item in chosen]


def newest(question: Question, candidate: Candidate, passages: Sequence[Passage]) -> Candidate:
    """The row of the same name in the latest of several lists, such as "prices-2024.csv" and "prices-2025.csv", for a
    row of an older one; the candidate itself for any other, and if the question names a year."""
    if not candidate.is_row or YEAR.search(question.text):
        return candidate

    def named(one: Candidate) -> tuple[str, str]:
        return re.sub(r"\d+", "", passages[one.passage]["filename"]), one.text.partition(" | ")[0].strip()

    rows = [one for one in candidates(passages) if one.is_row and named(one) == named(candidate)]
    own = dated(passages[candidate.passage])
    later = [one for one in rows if own and dated(passages[one.passage]) > own]
    return max(later, key=lambda one: dated(passages[one.passage]), default=candidate)


def _lists(one: Scored, other: Scored) -> bool:
    """Whether one candidate is a list, and the other its lead line or one of its items."""
    a, b = one.candidate, other.candidate
    return a.passage == b.passage and a.start <= b.start and b.end <= a.end and a != b


def _goes_on(one: Scored, other: Scored) -> bool:
    """Whether another sentence stands beside the chosen one and is part of the answer."""
    a, b = one.candidate, other.candidate
    beside = a.passage == b.passage and (0 <= b.start - a.end < 3 or 0 <= a.start - b.end < 3)
    evidence = other.features["evidence"]
    as_much = evidence > 0 and evidence >= RIVAL * one.features["evidence"]
    return beside and as_much and not b.is_row


def _follows(one: Scored, other: Scored, question: Question) -> bool:
    """Whether another sentence stands behind the chosen one, points back to it, and continues the answer."""
    a, b = one.candidate, other.candidate
    behind = a.passage == b.passage and 0 <= b.start - a.end < 3 and b.opener == a.text
    # If both sentences together say how something is done, the reader takes neither for the whole answer.
    least = one.features["evidence"] - NEAR_TO if question.kind is Kind.MANNER else 0.0
    return behind and other.features["evidence"] > min(least, 0.0)


def _same(one: Scored, other: Scored) -> bool:
    """Whether one answer contains the other."""
    a, b = (" ".join(item.answer.casefold().split()) for item in (one, other))
    return bool(a and b) and (a in b or b in a)


def _overlap(a: set[str], b: set[str]) -> float:
    return len(a & b) / max(1, min(len(a), len(b)))


_NUMBERED: Final = re.compile(r"^\[\^?\d{1,3}\]:?[ \t]+", re.M)
"""The number of an entry in a document's own list of sources."""


def _written(kept: Sequence[Kept], chosen: Sequence[Candidate]) -> str:
    """The answer's text: kept sentences first, then quotations by passage, best passage first, each in text order."""
    lines: list[tuple[str, bool]] = [(f"{sentence.text} [{sentence.passage + 1}]", False) for sentence in kept]
    rank = {number: place for place, number in reversed(list(enumerate(c.passage for c in chosen)))}
    quotes: set[str] = set()
    for candidate in sorted(chosen, key=lambda c: (rank[c.passage], c.start)):
        marker = f"[{candidate.passage + 1}]"
        header = "" if candidate.sentence or names_its_columns(candidate) else candidate.header
        for part in (header, candidate.opener, candidate.sentence or candidate.text):
            # Line breaks of a page's layout are dropped; those of a list are kept.
            part = _NUMBERED.sub("", without_references(part))
            lined = part.splitlines() if is_list(part) else [part]
            quote = "\n".join(" ".join(line.split()) for line in lined if line.strip())
            if quote and quote not in quotes:
                quotes.add(quote)
                lines.append((f"{quote} {marker}", candidate.is_row))
    text, ends = "", True
    for line, is_row in lines:
        # What ends in no full stop has a line of its own, so that it is one claim.
        text += ("" if not text else "\n" if is_row or not ends else " ") + line
        ends = is_row or line.rpartition(" [")[0].rstrip("*_\"'”) ")[-1:] in {*".!?:…"}
    return text


# -- what a second pass keeps of the answer before, and must not say again --------------------------------------------


def kept_sentences(brief: Brief) -> list[Kept]:
    """Sentences of the previous answer without a failed claim that a passage still holds."""
    if not brief.previous or not brief.failed:
        return []
    broken = [(verdict["start"], verdict["end"]) for verdict in brief.failed]
    failing = _failing(brief)
    kept = []
    for start, end in sentence_spans(brief.previous):
        text = without_markers(brief.previous[start:end])
        touched = any(start < right and left < end for left, right in broken)
        passage = None if touched or not text or failing(text) else _carrier(text, brief)
        if passage is not None:
            kept.append(Kept(text, passage))
    return kept


def _failing(brief: Brief) -> Callable[[str], bool]:
    """A test of texts: whether a text is, or contains, a failed claim."""
    failed = [claim for verdict in brief.failed if (claim := normalised(without_markers(verdict["text"])))]
    return lambda text: any(claim in normalised(text) for claim in failed)


def _carrier(text: str, brief: Brief) -> int | None:
    wanted = set(content_words(text))
    best, share = None, _GROUNDED
    for number, passage in enumerate(brief.passages):
        if text in passage["text"]:
            return number
        covered = len(wanted & set(content_words(passage["text"]))) / max(1, len(wanted))
        if covered > share:
            best, share = number, covered
    return best

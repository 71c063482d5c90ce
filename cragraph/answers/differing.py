"""Documents that answer one question differently, and which of them is newer.

The reader decides that both sentences answer; here is checked that they speak of the same thing, that both answers
cannot hold, and which sign tells the newer one. Favours precision: if two sentences may speak of different things or
times, or one may only add to the other, there is no conflict.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from cragraph.answers.ranking import Ranking, Scored
from cragraph.language.facts import Fact, compare, extract
from cragraph.language.facts.compare import matches
from cragraph.language.facts.fact import dates
from cragraph.language.facts.polarity import (
    denied_stretches,
    negations,
    opposite_words,
    opposites,
    possible,
    stems,
)
from cragraph.language.lexicon import LEXICON, pattern
from cragraph.language.questions import QUOTED_KINDS, Kind, Question
from cragraph.language.sentences import sentence_spans
from cragraph.language.words import asked_words, content_words, shortened, terms, topic
from cragraph.types import Conflict, ConflictSide, Passage

ANSWERS: Final = 0.45  # least score, as a share of the best one's, of another sentence that answers as well
LEAST: Final = -0.2  # least value of the reader, -1..1, for its sentence
DENIES: Final = 0.35  # the same for yes-or-no questions: a denial has no words that answer, and scores lower
WORDS: Final = 5  # content words at most of an answer that may conflict with another
_KINDS: Final = tuple(frozenset(content_words(line)) for line in LEXICON["rivals"].strip().splitlines())
_ADDS: Final = pattern("adds")
_PLANS: Final = pattern("plans")
_INSTEAD: Final = pattern("instead_of")
_SINCE: Final = pattern("holds_since")
_SEVERAL: Final = re.compile(r"^(?:list|name|give|show)\b|\b(?:all|each|every)\b", re.I)
"""Questions that may have several right answers."""
_VERSION: Final = re.compile(r"\b(?:version|edition|rev(?:ision)?|v)[\s._-]?(\d{1,3})\b", re.I)
_PERSON: Final = re.compile(r"([A-ZÄÖÜ][^\W\d_]+)(?: [A-ZÄÖÜ][^\W\d_]+)?")
_FROM_TO: Final = re.compile(
    r"\b(?:rise|rose|go(?:es)?|went|gone|increase|raise|put|change|move|fall|fell|cut|lower|reduce|drop)\w*\b[^.;]{0,40}?"
    r"\bfrom (?P<old>[^.;]{1,24}?) to\b",
    re.I,
)
"""A figure that became another: "rises from £18 to"."""
_ITEM: Final = re.compile(r"^\W*\d{1,3}[.)](?=\s)")
"""The number of a rule or item: no figure of what it says."""
_WHEN: Final = frozenset({"date", "quarter"})
_PAST: Final = re.compile(r"\b(?:was|were|did|had|used to)\b", re.I)
TWIN: Final = 0.6
"""Share of the words of the shorter of two sentences that must be in the other for both to say the same."""
_SO_FAR: Final = frozenset(terms("already yet still now not never"))
TWIN_WORDS: Final = 2  # words that they must have in common at least
_LONG: Final = 3  # digits of a figure that is hardly by chance in two sentences
_DATED_IN: Final = 2  # lines at the head of a document that may date it
_LONGEST_HEAD: Final = 120  # characters of such a line at most


@dataclass(frozen=True)
class Differing:
    """Two candidates that answer differently: the newer one first if `why` gives a sign of it, else the likelier
    one."""

    first: Scored
    second: Scored
    why: str = ""

    def record(self, passages: Sequence[Passage]) -> Conflict:
        """As plain JSON."""
        sides = [_side(one, passages[one.candidate.passage]) for one in (self.first, self.second)]
        return Conflict(sides=sides, newer_first=bool(self.why), why=self.why)


def _side(scored: Scored, passage: Passage) -> ConflictSide:
    c = scored.candidate
    # The day from which something holds is no separate answer.
    since = any(m.start() <= scored.answer_start - c.start < m.end() for m in _SINCE.finditer(c.text))
    return ConflictSide(
        answer=" ".join((c.text if since else scored.answer).split()),
        quote=c.text,
        passage=c.passage,
        chunk_id=passage["chunk_id"],
        start=c.start,
        end=c.end,
        source=passage["source"],
        filename=passage["filename"],
        page=passage["page"],
    )


def differing(question: Question, ranking: Ranking, passages: Sequence[Passage]) -> Differing | None:
    """The best candidate and the first of another document with a different answer; None if all agree."""
    if ranking.answered is None or not ranking.scored or len(ranking.rows) > 1 or _SEVERAL.search(question.text):
        return None
    best = ranking.scored[0]
    for other in ranking.scored[1:]:
        if _document(best, passages) != _document(other, passages) and _rivals(question, best, other, passages):
            if why := newer(best, other, passages):
                return Differing(best, other, why)
            if why := newer(other, best, passages):
                return Differing(other, best, why)
            return Differing(best, other)
    return None


def _document(scored: Scored, passages: Sequence[Passage]) -> str:
    passage = passages[scored.candidate.passage]
    return passage["source"] or passage["doc_id"]


def _rivals(question: Question, best: Scored, other: Scored, passages: Sequence[Passage]) -> bool:
    """Whether another candidate gives a different answer for the same thing and time."""
    line = DENIES if question.kind is Kind.YES_NO else ANSWERS
    read = other.features.get("evidence", LEAST) > LEAST and other.score >= line
    who = question.kind is Kind.PERSON
    if any(_retracts(a, b, who=who) or _raises(a, b) for a, b in ((best, other), (other, best))):
        return True
    read = read or _twins(best, other)
    # Rows of the same label in two tables speak of different things.
    if not read or (best.candidate.is_row and other.candidate.is_row):
        return False
    # A candidate that says that the other's answer no longer holds gives a different answer on the same thing.
    if _replaces(best, other, passages) or _replaces(other, best, passages):
        return not _within(best, other)
    return _differ(question, best, other) and _same_matter(question, best, other, passages)


def _twins(one: Scored, other: Scored, least: float = TWIN) -> bool:
    """Whether two sentences say the same in the same words, but for figures and negations: then the reader's doubts on
    one of them are no reason to leave it out. `least` is the share of the shorter one's words in the other."""
    first, second = (topic(s.candidate.text) - _SO_FAR for s in (one, other))
    shared = len(first & second)
    return shared >= TWIN_WORDS and shared >= least * min(len(first), len(second))


def _exchange(one: Scored, other: Scored) -> bool:
    """Whether two sentences have the same words but for one each."""
    first, second = (topic(_without_answer(s)) for s in (one, other))
    return len(first - second) == 1 == len(second - first)


def _retracts(one: Scored, other: Scored, *, who: bool) -> bool:
    """Whether a sentence names the other's figure or, asked `who`, name and something more of it, and denies what is
    said of it."""
    text, named = one.candidate.text, _PERSON.fullmatch(other.answer.strip(" .,;*")) if who else None
    figures = {
        f.text.strip() for f in _figures_of(other) if f.kind == "money" or len(re.findall(r"\d", f.text)) >= _LONG
    }
    ends = [f.end for f in extract(text) if f.text.strip() in figures]
    ends += [match.end() for match in re.finditer(rf"\b{re.escape(named[1])}\b", text)] if named else []
    about = (topic(text) & topic(other.candidate.text)) - (topic(other.answer) if named else frozenset())
    return bool(ends and about) and any(start >= min(ends) for start, _, _ in denied_stretches(text))


def _raises(one: Scored, other: Scored) -> bool:
    """Whether a sentence says that the other's figure became another one, on a matter that both speak of."""
    for match in _FROM_TO.finditer(one.candidate.text):
        old = {fact.figure for fact in extract(match["old"]) if fact.kind != "name"}
        if old & {fact.figure for fact in _figures_of(other)} and topic(one.candidate.text) & topic(
            other.candidate.text
        ):
            return True
    return False


def _same_matter(question: Question, one: Scored, other: Scored, passages: Sequence[Passage]) -> bool:
    """Whether two candidates state facts on the same thing, and neither only adds to the other."""
    asked = frozenset(asked_words(question.text))
    a, b = (frozenset(terms(f"{s.candidate.context} {s.candidate.opener} {s.candidate.text}")) for s in (one, other))
    read = min(one.score, other.score) >= ANSWERS  # the reader takes both for answers
    # "Guests pay" and "members pay": one word in the place of another says of whom each is.
    both = read and _twins(one, other) and not _exchange(one, other)
    near = _twins(one, other, 1.0) if question.kind is Kind.YES_NO else both
    if asked & (a ^ b) and not near:
        return False
    texts = [_without_answer(s) for s in (one, other)]
    if any(_ADDS.search(s.candidate.text) for s in (one, other)):
        return False
    if not _PAST.search(question.text) and len({bool(_PAST.search(text)) for text in texts}) > 1:
        # "Who is treasurer" does not ask who was.
        return False
    if possible(texts[0]) != possible(texts[1]) or bool(_PLANS.search(texts[0])) != bool(_PLANS.search(texts[1])):
        return False
    # "Spring 2022" above one sentence and "autumn 2024" above the other are times, not subjects.
    dated = _dated_later(one, other, passages) or _dated_later(other, one, passages)
    mine, theirs = (
        stems(text if dated else f"{s.candidate.context} {text}") for s, text in zip((one, other), texts, strict=True)
    )
    if question.kind is not Kind.YES_NO and _of_different_kinds(mine - theirs, theirs - mine):
        return False
    times = [[fact for fact in dates(text) if fact.kind in _WHEN] for text in texts]
    if any(times) and not compare(times[0], times[1]).matched:
        # "In 2023 there were 410" beside "in 2024 there were 455": both are true of their times.
        return False
    named = [{f.text for f in extract(text) if f.kind == "name"} for text in texts]
    return not (named[0] - named[1] and named[1] - named[0])


def _of_different_kinds(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether two sets of words have different words of one kind: opposites, or names such as spring and autumn."""
    against = opposites()
    if any(against.get(word, frozenset()) & theirs for word in mine):
        return True
    return any(kind & mine and kind & theirs for kind in _KINDS)


def _without_answer(scored: Scored) -> str:
    """A candidate's text without its answer, without words for a former state, and without the date from which it is
    valid."""
    c = scored.candidate
    start, end = scored.answer_start - c.start, scored.answer_end - c.start
    text = f"{c.text[:start]} … {c.text[end:]}"
    return _SINCE.sub(" ", _INSTEAD.sub(" ", text))


def _differ(question: Question, one: Scored, other: Scored) -> bool:
    """Whether two answers exclude each other."""
    mine, theirs = one.candidate.text, other.candidate.text
    if question.kind is Kind.YES_NO:
        opposed = opposite_words(mine, theirs) is not None
        return opposed != (negations(mine) % 2 != negations(theirs) % 2)
    if _within(one, other):
        return False
    a, b = (_answer(s) for s in (one, other))
    own, rival = (_figures_of(s) for s in (one, other))
    frames = [topic(_without_answer(s)) for s in (one, other)]
    if bool(own) != bool(rival) and frames[0] == frames[1] and len(frames[0]) > TWIN_WORDS:
        return True  # "gets two months free" and "gets one month free"
    if own or rival:
        comparable = any((f.kind, f.unit) == (g.kind, g.unit) or (f.bare and g.bare) for f in own for g in rival)
        # A figure that the other answer has too, as a bound or in another unit, is not a different figure.
        held = _held(own, other) or _held(rival, one)
        return comparable and not held
    first, second = set(content_words(a)), set(content_words(b))
    if not first or not second or first & second or max(len(first), len(second)) > WORDS:
        return False
    if question.kind in QUOTED_KINDS:
        return True
    # Other kinds may have several answers, unless the sentences are the same but for the answer.
    return question.kind in _SINGLE and len(frames[0] ^ frames[1]) <= 1


def _answer(scored: Scored) -> str:
    """The words that answer, without those that no longer hold."""
    return " ".join(_INSTEAD.sub(" ", scored.answer).casefold().split()).strip(" .,;")


def _within(one: Scored, other: Scored) -> bool:
    """Whether one answer contains the other, or an answer is empty."""
    a, b = _answer(one), _answer(other)
    return not a or not b or a in b or b in a


_SINGLE: Final = frozenset({Kind.OTHER, Kind.LIST})
"""Kinds of questions whose answer may be a word or two."""


def _figures_of(scored: Scored) -> list[Fact]:
    """The figures and dates in the words that answer, read with the sentence around them."""
    c = scored.candidate
    start, end = scored.answer_start - c.start, scored.answer_end - c.start
    return [f for f in extract(c.text) if f.kind != "name" and f.start < end and f.end > start]


def _held(figures: Sequence[Fact], scored: Scored) -> bool:
    """Whether a sentence has one of some figures outside the words that no longer hold."""
    text = _INSTEAD.sub(lambda m: " " * len(m[0]), _ITEM.sub(lambda m: " " * len(m[0]), scored.candidate.text))
    stated = [f for f in extract(text) if f.kind != "name"]
    # "At most 12" agrees with 11, and not with "at most 15".
    return any(
        matches(f, [g for g in stated if f.bound not in ("<", ">") or f.bound != g.bound or f.value == g.value])
        for f in figures
    )


# -- which is the newer ------------------------------------------------------------------------------------------------


def newer(one: Scored, other: Scored, passages: Sequence[Passage]) -> str:
    """The sign, in words, that one of two candidates is newer than the other; empty if there is none."""
    if said := _replaces(one, other, passages):
        return f"it says “{said}”"
    mine, theirs = (_SINCE.search(s.candidate.text) for s in (one, other))
    if mine and not theirs and not _replaces(other, one, passages):
        return f"it says “{shortened(mine[0].strip(), 60)}”"
    if theirs:
        return ""
    return _dated_later(one, other, passages)


def _replaces(one: Scored, other: Scored, passages: Sequence[Passage]) -> str:
    """The words by which a candidate, or its neighbouring sentence, says that the other's answer no longer holds."""
    text = passages[one.candidate.passage]["text"]
    spans = [s for s in sentence_spans(text) if s[0] <= one.candidate.end + 2 and s[1] >= one.candidate.start - 2]
    gone = set(content_words(other.answer)) - set(content_words(_answer(one)))
    for start, end in spans:
        for match in _INSTEAD.finditer(text, start, end):
            before = text[start : match.start()].split()[-8:]
            near = f"{' '.join(before)} {match[0]}"
            if gone & set(content_words(near)):
                return shortened(match[0].strip(" ,."), 60)
    return ""


def _dated_later(one: Scored, other: Scored, passages: Sequence[Passage]) -> str:
    """A sentence that one document has a later date or version than the other; empty if a document has neither."""
    mine, theirs = (passages[s.candidate.passage] for s in (one, other))
    for first in dates_of(mine):
        for second in dates_of(theirs):
            pair = [(a, b) for a, b in zip(first.date, second.date, strict=True) if a and b]
            if [a for a, _ in pair] > [b for _, b in pair]:
                return f"its document is of {first.text.strip()}, the other of {second.text.strip()}"
        break
    numbers = [_VERSION.search(_titles(passage)) for passage in (mine, theirs)]
    if numbers[0] and numbers[1] and int(numbers[0][1]) > int(numbers[1][1]):
        return f"its document is {numbers[0][0]}, the other {numbers[1][0]}"
    return ""


def _titles(passage: Passage) -> str:
    about = passage["metadata"]
    names = [passage["filename"].rpartition(".")[0].replace("_", " ").replace("-", " ")]
    return " — ".join([*(str(about.get(name) or "") for name in ("title", "heading")), *names])


def dates_of(passage: Passage) -> Iterator[Fact]:
    """The dates of a document itself, with a year: from its metadata, head, title and name."""
    text = passage["text"] if passage["start_index"] < _LONGEST_HEAD else ""
    lines = [line for line in text.splitlines() if line.strip()][:_DATED_IN]
    head = " — ".join(line for line in lines if len(line) <= _LONGEST_HEAD)
    stated = (str(passage["metadata"].get(name) or "") for name in ("date", "dated"))
    for where in (*stated, head, _titles(passage)):
        yield from (fact for fact in dates(where) if fact.date[0])

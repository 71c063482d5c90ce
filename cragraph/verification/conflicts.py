"""Contradictions: of a claim and its passage, of two passages on one subject, of two claims."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

import numpy as np

from cragraph.language.facts import Fact, compare, extract
from cragraph.language.facts.compare import matches
from cragraph.language.facts.polarity import (
    denied_stretches,
    negation_differs,
    negations,
    negative,
    opposite_words,
    opposites,
    plain_opposites,
    possible,
    stems,
)
from cragraph.language.markers import without_markers
from cragraph.language.sentences import sentence_spans, sentences
from cragraph.language.words import content_words, share, shortened, terms, topic, weight, words
from cragraph.types import Evidence, Passage
from cragraph.verification.reading import Floats, evidence_of, sentence_windows

SAME_MATTER: Final = 0.5
"""Weighed share of a claim's other words that a sentence must have to be on the same matter."""
SAME_STATEMENT: Final = 0.65  # the same where only a negation differs
NEAR: Final = 30  # characters beside a figure that say what it is the figure of
WHEN: Final = frozenset({"date", "quarter", "time"})


@dataclass(frozen=True)
class FactConflict:
    """The words of the claim and those of the passage that contradict each other, each as written."""

    claimed: str
    stated: str

    @property
    def reason(self) -> str:
        """Both quotes in a sentence."""
        return f"{self.stated} in the passage, {self.claimed} in the claim"


def find_conflict(claim: str, evidence: str, nowhere: Sequence[Fact], *, names: bool = False) -> FactConflict | None:
    """The words of a claim and of its evidence that cannot both be true; None if no conflict can be shown.

    A conflict is another value in place of a figure that no passage has (`nowhere`), a negation, an opposite word, or
    (with `names`) another name. Favours precision: a sentence that may speak of another thing or time shows no
    conflict.
    """
    for sentence in sorted(sentences(evidence), key=lambda text: -_covered(claim, text)):
        conflict = (
            _figures(claim, sentence, nowhere)
            or (_at_one_time(claim, sentence) and (_negation(claim, sentence) or _opposite(claim, sentence)))
            or (names and _names(claim, sentence, nowhere))
        )
        if conflict:
            return conflict
    return None


def _covered(claim: str, sentence: str) -> float:
    """Share of the claim's words, without figures, that a sentence has; 1.0 for a claim of figures alone."""
    return share(topic(claim), terms(sentence)) if topic(claim) else 1.0


def _at_one_time(claim: str, sentence: str) -> bool:
    """Whether both may speak of one time: one of them is undated, or a date is in both."""
    one, other = ([f for f in extract(text) if f.kind in WHEN] for text in (claim, sentence))
    return not one or not other or bool(compare(one, other).matched)


def _figures(claim: str, sentence: str, nowhere: Sequence[Fact]) -> FactConflict | None:
    """Another value of the same kind and unit, where the words around it are the claim's."""
    wrong = [fact for fact in nowhere if fact.kind != "name"]
    if not wrong or _covered(claim, sentence) < SAME_MATTER:
        return None
    own, stated = extract(claim), extract(sentence)
    for fact in wrong:
        rivals = [f for f in stated if (f.kind, f.unit) == (fact.kind, fact.unit) and not matches(f, own)]
        if len(rivals) > 1:
            beside = around(claim, fact)
            rivals = [f for f in rivals if beside & around(sentence, f)]
        if len(rivals) == 1:
            return FactConflict(fact.text.strip(), rivals[0].text.strip())
    return None


def around(text: str, fact: Fact) -> frozenset[str]:
    """The terms beside a figure, which say what it is the figure of."""
    return topic(text[max(0, fact.start - NEAR) : fact.start]) | topic(text[fact.end : fact.end + NEAR])


def _names(claim: str, sentence: str, nowhere: Sequence[Fact]) -> FactConflict | None:
    """A name that only the claim has against one that only the sentence has."""
    strange = [fact for fact in nowhere if fact.kind == "name"]
    own = extract(claim)
    others = [f for f in extract(sentence) if f.kind == "name" and not matches(f, own, frozenset(_words(claim)))]
    return FactConflict(strange[0].text, others[0].text) if strange and others else None


def _negation(claim: str, sentence: str) -> FactConflict | None:
    """The conflict of words that one text denies and the other states."""
    mine, theirs = denied_stretches(claim), denied_stretches(sentence)
    if bool(mine) == bool(theirs) or _covered(claim, sentence) < SAME_STATEMENT:
        return None
    denying, saying = (claim, sentence) if mine else (sentence, claim)
    # "Trout live only in Lake Orin" and "is forbidden" deny, too. With a negation on one side, opposites agree.
    if negative(saying) or _names_another(claim, sentence) or _swapped(denying, saying):
        return None
    for start, end, denied in mine or theirs:
        if phrase := _stretch(saying, denied):
            words = f"“{denying[start:end]}”", f"“{phrase}”"
            return FactConflict(*words) if mine else FactConflict(*words[::-1])
    return None


def _opposite(claim: str, sentence: str) -> FactConflict | None:
    for term, word, other in plain_opposites(claim, sentence):
        if _names_another(claim, sentence):
            return None
        rest = topic(claim) - {term}
        if rest and share(rest, terms(sentence)) >= SAME_MATTER:
            return FactConflict(repr(word), repr(other))
    return None


def _names_another(claim: str, sentence: str) -> bool:
    """Whether the claim has a name that the sentence lacks: then both may be right."""
    return bool(compare([f for f in extract(claim) if f.kind == "name"], extract(sentence), sentence).missing)


def _stretch(text: str, wanted: frozenset[str]) -> str:
    """The shortest words of a text that hold these terms; empty where it lacks one."""
    places: dict[str, tuple[int, int]] = {}
    best = ""
    for match in re.finditer(r"\w+(?:[’'.-]\w+)*", text):
        for term in wanted.intersection(terms(match.group())):
            places[term] = match.span()
        if wanted and wanted <= places.keys():
            stretch = text[min(s for s, _ in places.values()) : max(e for _, e in places.values())]
            best = min(best or stretch, stretch, key=len)
    return best


def _swapped(one: str, other: str) -> bool:
    mine, theirs = stems(one), stems(other)
    return any(opposites(wide=True).get(term, frozenset()) & theirs - mine for term in mine - theirs)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*", text)


ALIKE: Final = 0.7
"""Weighed share of words that two sentences must have in common, each way, to be on the same subject."""
NEARLY: Final = 0.5  # the same for two that have all words in common but a pair of opposites
FEWEST: Final = 3  # words that carry meaning which a sentence must have besides its figures
MOST_CONFLICTS: Final = 5
ROW: Final = " | "
"""The separator of cells in a row. Rows of the same label in two tables speak of different things."""
SENTENCES: Final = 600  # sentences that are compared at most: each with each


@dataclass(frozen=True)
class PassageConflict:
    """Two passages that contradict each other: both quotes, and what differs."""

    one: Evidence
    other: Evidence
    difference: str

    @property
    def issue(self) -> str:
        """The contradiction as an issue, with both quotes."""
        return (
            f"Passages {self.one['passage'] + 1} and {self.other['passage'] + 1} contradict each other "
            f"({self.difference}), which the confidence does not count: “{shortened(self.one['quote'])}” — "
            f"“{shortened(self.other['quote'])}”"
        )

    def concerns(self, evidence: Sequence[Evidence]) -> bool:
        """Whether the evidence of an answer overlaps one of the two quotes."""
        return any(
            place["passage"] == side["passage"] and (place["quote"] in side["quote"] or side["quote"] in place["quote"])
            for place in evidence
            for side in (self.one, self.other)
        )


def find_conflicts(passages: Sequence[Passage], most: int = MOST_CONFLICTS) -> list[PassageConflict]:
    """Pairs of sentences of different passages that differ in a figure, a negation or an opposite word alone.

    Favours precision: rows of tables are left out; sentences on other years, with other names, or that share too few
    words are taken to speak of other things. At most `most` are returned, the most alike first.
    """
    sentences = [
        (window, context)
        for number, passage in enumerate(passages)
        for window in sentence_windows(number, passage["text"])
        if ROW not in window.text and len(context := topic(window.text) - _counts(window.text)) >= FEWEST
    ][:SENTENCES]
    if len(sentences) < 2:
        return []
    alike = _alike([context for _, context in sentences])
    first, second = np.nonzero(np.triu(alike >= NEARLY, k=1))
    conflicts: list[PassageConflict] = []
    for place in np.argsort(-alike[first, second], kind="stable"):
        (one, words), (other, others) = sentences[first[place]], sentences[second[place]]
        if one.passage == other.passage:
            continue
        near = bool(alike[first[place], second[place]] >= ALIKE)
        if difference := _difference(one.text, other.text, words ^ others, near=near):
            conflicts.append(PassageConflict(evidence_of(one, passages), evidence_of(other, passages), difference))
            if len(conflicts) == most:
                break
    return conflicts


def _counts(text: str) -> frozenset[str]:
    """The terms of figures in words: "four" of "four wheels", "two hours"."""
    kinds = ("number", "ordinal", "measure")
    figures = (fact.text for fact in extract(text) if fact.kind in kinds and not fact.text[0].isdigit())
    return frozenset(term for words in figures for term in terms(words))


def _alike(contexts: Sequence[frozenset[str]]) -> Floats:
    """For each two sentences the share of words that the longer one has in common with the shorter one."""
    vocabulary = {term: column for column, term in enumerate(sorted(frozenset().union(*contexts)))}
    weights = np.array([weight(term) for term in vocabulary], dtype=np.float32)
    uses = np.zeros((len(contexts), len(vocabulary)), dtype=np.float32)
    for row, context in enumerate(contexts):
        uses[row, [vocabulary[term] for term in context]] = 1.0
    shared = (uses * weights) @ uses.T
    own = np.diag(shared)
    return np.asarray(shared / np.maximum(own[:, None], own[None, :]), dtype=np.float32)


def _difference(one: str, other: str, differing: frozenset[str], *, near: bool) -> str:
    """The difference of two sentences on one subject, empty without one; unless `near` only a negation or an
    opposite."""
    first, second = extract(one), extract(other)
    names, theirs = _of(first, ("name",)), _of(second, ("name",))
    if compare(names, theirs, other).missing or compare(theirs, names, one).missing:
        return ""
    dates, theirs = _of(first, ("date", "quarter")), _of(second, ("date", "quarter"))
    # If only one sentence has a date, or the dates differ, both may be right.
    if compare(dates, theirs).share < 1 or compare(theirs, dates).share < 1:
        return ""
    alike = possible(one) == possible(other)
    if near and (difference := _in_facts(one, other, first, second, alike=alike)):
        return difference
    word = find_conflict(one, other, ()) if alike and len(differing) <= 2 else None
    return f"{word.claimed} and {word.stated}" if word else ""


def _in_facts(one: str, other: str, first: Sequence[Fact], second: Sequence[Fact], *, alike: bool) -> str:
    """Another figure, an opposite word or a negation; not both of the last two."""
    figures, others = (_of(facts, ("name", "date", "quarter"), others=True) for facts in (first, second))
    compared, back = compare(figures, others, other), compare(others, figures, one)
    if compared.conflicting and back.conflicting and len(figures) == len(others):
        return " and ".join(fact.text.strip() for fact in compared.conflicting[0])
    if compared.lacking or not alike:
        return ""
    opposite, negated = opposite_words(one, other), negation_differs(one, other)
    if opposite and not negated:
        return f"{opposite[0]!r} and {opposite[1]!r}"
    return "only one is negated" if negated and not opposite else ""


def _of(facts: Sequence[Fact], kinds: Collection[str], *, others: bool = False) -> list[Fact]:
    return [fact for fact in facts if (fact.kind in kinds) != others]


FEW: Final = 3  # words that two sentences which say the same of one thing may differ by
MATTER: Final = 0.4
"""Least length of the shorter sentence, as a share of the words of the longer one, to be on the same matter."""

_FIGURE: Final = re.compile(r"\d")


def contradict(one: str, other: str) -> bool:
    """Whether two sentences say the same with another figure or date, an opposite word, or one of them negated.

    If it is unclear whether they are on the same matter and time, they do not contradict. Sentences with different
    dates must be the same in every other word, and have the date behind their subject: "in 1894, sales rose" sets a
    scene.
    """
    first, second = extract(one), extract(other)
    when, then = _of(first, WHEN), _of(second, WHEN)
    times = compare(when, then)
    if bool(when) != bool(then) or _numbered(first) ^ _numbered(second):
        return False
    if times.lacking:
        one_each = len(when) == len(then) == 1 and bool(times.conflicting)
        return one_each and frame(one) == frame(other) and bool(topic(one[: when[0].start]))
    opposite = opposite_words(one, other)
    instead = frozenset().union(*(stems(word) for word in opposite or ()))
    smaller, larger = sorted((_matter(one) - instead, _matter(other) - instead), key=len)
    # Every word of the shorter one: "Apple's revenue" and "Google's revenue" may differ as they please.
    if not smaller or not smaller <= larger or len(smaller) < MATTER * len(larger):
        return False
    mine, theirs = (_of(facts, WHEN | {"name"}, others=True) for facts in (first, second))
    differs = opposite is not None or bool((figures := compare(mine, theirs)).conflicting and not figures.matched)
    return differs != (negations(one) % 2 != negations(other) % 2)


def frame(text: str) -> tuple[str, ...]:
    """The words of a sentence in order, without its dates."""
    for fact in sorted(_of(extract(text), WHEN), key=lambda fact: -fact.start):
        text = text[: fact.start] + text[fact.end :]
    return tuple(words(text.lower()))


def same_but_one(one: str, other: str) -> bool:
    """Whether two sentences are the same but for a few words in one place behind their subject.

    Whether these words contradict ("blue", "green") or add ("bread", "milk") depends on their meaning.
    """
    first, second = words(one.lower()), words(other.lower())
    compared = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    changed = [(start, end, begin, stop) for tag, start, end, begin, stop in compared if tag != "equal"]
    if len(changed) != 1:
        return False
    [(start, end, begin, stop)] = changed
    return 0 < end - start <= FEW and 0 < stop - begin <= FEW and bool(topic(" ".join(first[:start])))


_INTRODUCED: Final = re.compile(r"[:“\"«「]")
# Words around a statement, beyond those of a plain sentence, from which on a sentence only reports it.
WRAPPED: Final = 2


def plainer(claim: str, evidence: Evidence, passages: Sequence[Passage]) -> str:
    """A sentence that contradicts a claim and says it more plainly than the sentence of its evidence; else empty.

    The evidence then reports, quotes or dictates a statement that the other sentence denies: "answer that it is 900
    metres long".
    """
    text, start, end = passages[evidence["passage"]]["text"], evidence["start"], evidence["end"]
    quoted = [text[one:last] for one, last in sentence_spans(text) if one < end and start < last]
    within = _INTRODUCED.split(claim)[-1].rstrip(' .”"»」') + "."
    for stated in dict.fromkeys((claim, within)):
        said = frozenset(words(stated.lower()))
        least = min((len(frozenset(words(sentence.lower())) - said) for sentence in quoted), default=0) - WRAPPED
        for other in (other for passage in passages for other in sentences(passage["text"]) if least >= 0):
            theirs = frozenset(words(other.lower()))
            if other in quoted:
                continue
            near = len(said & theirs) >= NEARLY * len(said) and len(theirs - said) - len(said - theirs) <= least
            if near and (contradict(stated, other) or same_but_one(stated, other)):
                return other
    return ""


def _numbered(facts: Sequence[Fact]) -> frozenset[tuple[str, ...]]:
    """The things that go by a number, such as ``Unit 4``."""
    return frozenset(fact.words for fact in facts if fact.kind == "name" and fact.words[-1][0].isdigit())


@lru_cache(maxsize=2048)
def _matter(text: str) -> frozenset[str]:
    """Stems of what a sentence is about: no figures, no stop words, no negations."""
    return frozenset(stem for stem in topic(text) if not negations(stem)) - _counts(text)


def stated_in(statement: str, passage: str, share: float = 0.0) -> bool:
    """Whether a passage holds this share of a statement's words, all its figures, and no sentence against it."""
    wanted, present = set(content_words(without_markers(statement))), set(terms(passage))
    if share and (not wanted or len(wanted & present) < share * len(wanted)):
        return False
    if any(word not in present for word in wanted if _FIGURE.search(word)):
        return False
    return not any(contradict(statement, sentence) for sentence in sentences(passage))

"""Conflicts: the words of a claim and the words of a passage that cannot both be true."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cragraph.language.facts import Fact, compare, extract
from cragraph.language.facts.compare import matches
from cragraph.language.facts.polarity import denied_stretches, negative, opposites, plain_opposites, stems
from cragraph.language.sentences import sentences
from cragraph.language.words import share, terms, topic

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
    """The words that one text denies and the other states."""
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

"""The reader of questions: the kind of answer, the parts of a question, and words that point back.

It goes by the wording alone, in English; kinds and parts of a question are read in German too.
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from cragraph.language.lexicon import LEXICON, pattern
from cragraph.language.markers import CITED, without_markers
from cragraph.language.sentences import sentences
from cragraph.language.words import slipped

ASKING: Final = r"(?:what|which|who|whom|whose|when|where|why|how)"
"""Words that open a question for a thing."""
AUXILIARY: Final = (
    r"(?:is|are|am|was|were|do|does|did|can|could|may|might|must|shall|should|will|would|has|have|had|be)"
)
"""Words that open a question for yes or no."""
PERSON: Final = re.compile(r"\b(?:he|she|him|his|her|hers)\b", re.I)
"""Pronouns of a person."""
THING: Final = re.compile(
    r"\b(?:it|its|they|them|their|theirs|this one|that one)\b"
    r"|\b(?:this|that|these|those)\b(?=\s*(?:\?|$|is|are|was|were|did|does|do|happen|end|start|work|cost|mean))"
    r"|(?<!is )(?<!are )(?<!was )(?<!were )\bthere\b(?=\s*(?:\?|$|in\b|on\b|at\b))",
    re.I,
)
"""Pronouns of a thing, of several persons, and of a place."""
GAP: Final = re.compile(r"^(?:(?:and|but|or)\s+)?(?:(?:what|how) about|and|or)\b[, ]*", re.I)
"""Openings of a question that leaves out words of the question before."""


class Kind(StrEnum):
    """Kinds of answers."""

    PERCENT = "percent"
    MONEY = "money"
    NUMBER = "number"
    TIME = "time"
    REASON = "reason"
    PERSON = "person"
    PLACE = "place"
    LIST = "list"
    MANNER = "manner"
    YES_NO = "yes or no"
    OTHER = "other"


_KINDS: Final = (
    *((Kind(name), re.compile(text.replace("\n", ""), re.I)) for name, text in LEXICON["question_kinds"].items()),
    (Kind.YES_NO, re.compile(rf"^(?!was ist\b)(?:{AUXILIARY}|ist|sind|hat|kann)\b", re.I)),
)
"""Kinds with their patterns: the first that matches decides."""
_ALL: Final = re.compile(
    r"^(?:list|name|give|show)\b|\b(?:all|every)\b"
    r"|\b(?:which|what) (?!is\b|was\b|has\b|does\b|this\b)(?:\w+ )?\w{3,}s\b",
    re.I,
)
_WHETHER: Final = re.compile(rf"\W*{AUXILIARY}\s(?!.*\bor\b)", re.I)

FIGURES: Final = frozenset({Kind.TIME, Kind.NUMBER, Kind.MONEY, Kind.PERCENT})
"""Kinds whose answer holds a figure or a date."""
QUOTED_KINDS: Final = FIGURES | {Kind.PERSON, Kind.PLACE}
"""Kinds whose answer is a name or figure, which must be one that the question does not hold already."""


@dataclass(frozen=True)
class Question:
    """A question and the kind of answer it expects."""

    text: str
    kind: Kind

    @property
    def sentences(self) -> int:
        """Sentences of an answer at most: one for a name or figure, several for an explanation or a list."""
        if self.kind in QUOTED_KINDS or self.kind is Kind.YES_NO:
            return 1
        return 2 if self.kind is Kind.OTHER else 3

    @property
    def wants_all(self) -> bool:
        """Whether the question asks for all: "which orders are open", "list the exits"."""
        return self.kind is Kind.LIST or _ALL.search(self.text) is not None

    @property
    def wants_rows(self) -> bool:
        """Whether several rows of a table may answer the question together."""
        return self.wants_all or self.kind in (Kind.PERSON, Kind.OTHER)


def read_question(text: str) -> Question:
    """The question with the kind of its answer."""
    plain = " ".join(text.split())
    return Question(plain, next((kind for kind, pattern in _KINDS if pattern.search(plain)), Kind.OTHER))


def asks_whether(question: str) -> bool:
    """Whether a question is answered by yes or no; a question with a choice ("or") is not."""
    return _WHETHER.match(question) is not None


_ASKS_WHEN: Final = pattern("asks_when")
_A_TIME: Final = pattern("a_time")


def lacks_time(question: str, answer: str) -> bool:
    """Whether a question asks when something happened, and the answer has no word of a time and no figure."""
    asked = any(_ASKS_WHEN.search(part) for part in split_question(question))
    return asked and not _A_TIME.search(without_markers(answer))


MOST_PARTS: Final = 8  # parts of a question at most; a question with more is read as one
SHORTEST_PART: Final = 3  # words of such a question at least
_NEXT_QUESTION: Final = re.compile(
    rf"[,;]?\s+(?:and|und)\s+(?:also\s+)?(?!whose)(?=(?:{ASKING}|was|wann|wo|wer|wie|warum)\b"
    rf"|{AUXILIARY}\s+(?:the|it|its|he|she|they|there|this|that)\b)|\?\s+(?=\S)",
    re.I,
)


def split_question(text: str) -> list[str]:
    """The parts of a question: "What were sales, and when was it founded?" has two."""
    parts = [part.strip(" ,;?") for part in _NEXT_QUESTION.split(" ".join(text.split()))]
    whole = list(dict.fromkeys(f"{part}?" for part in parts if len(part.split()) >= SHORTEST_PART))
    return whole if 1 < len(whole) <= MOST_PARTS else [text]


def points_back(question: str) -> bool:
    """Whether a question cannot be understood without the turns before it."""
    return any(pattern.search(question) for pattern in (GAP, PERSON, THING))


def corrected(question: str, texts: str, known: Callable[[str], bool]) -> str:
    """The question with misspelt words corrected: an unknown word becomes the nearest word of the texts."""
    written = Counter(re.findall(r"[^\W\d_]{4,}", texts.casefold()))

    def put(match: re.Match[str]) -> str:
        word = match.group().casefold()
        if word in written or known(word):
            return match.group()
        near = [other for other in written if slipped(word, other)]
        return max(near, key=lambda other: (other[0] == word[0], written[other]), default=match.group())

    return re.sub(r"(?<![\w-])[^\W\d_]{4,}(?![\w-])", put, question)


# -- answers that say that nothing is known --------------------------------------------------------------------------

_MATERIAL: Final = (
    r"(?:any of )?(?:(?:the|these|those|any|your|provided|given|supplied|available|retrieved) )*"
    r"(?:passages?|documents?|context|sources?|texts?|information|excerpts?|material)(?: (?:provided|given|above))?"
)
_NOT: Final = r"(?:do(?:es)?\s?n't|do(?:es)? not|did not|didn't|cannot|can't)"
_SAY: Final = (
    r"(?:contain|mention|provide|include|say|state|specify|give|answer|address|offer|discuss|cover|reveal|disclose)"
)
_FOUND: Final = r"(?:mentioned|provided|stated|specified|given|found|contained|included|covered|answered|available)"
_DECLINES: Final = re.compile(
    r"\bI (?:do not|don't|cannot|can't|am unable to|am not able to|was unable to|could not|couldn't) "
    r"(?:know|find|answer|determine|say|tell|provide an answer|locate)\b"
    rf"|\b{_MATERIAL} {_NOT} {_SAY}\b"
    rf"|\b(?:is|are|was|were) (?:not|never) (?:\w+ly )?{_FOUND} (?:in|by) {_MATERIAL}"
    rf"|\bno (?:\w+ )?(?:information|mention|details?|answer)\b[^.]{{0,80}}\b(?:in|by) {_MATERIAL}"
    rf"|\bthere (?:is|are) (?:no|not enough|insufficient) (?:\w+ )?information\b"
    rf"|\bcan(?:not| not|'t) be (?:answered|determined|found)\b[^.]{{0,40}}\b(?:from|in|with|by) {_MATERIAL}"
    r"|\A\W*(?:unknown|n/?a|unanswerable|no answer|not (?:mentioned|stated|specified|found))\W*\Z"
    r"|\bich wei(?:ß|ss) (?:es |das )?nicht\b|\bje ne sais pas\b|\bno lo s[eé]\b",
    re.I,
)


def declining(sentence: str) -> bool:
    """Whether a sentence cites nothing and says that the answer is not known."""
    return not CITED.search(sentence) and _DECLINES.search(sentence.replace("\u2019", "'")) is not None


def declines(text: str) -> bool:
    """Whether a text says that the answer is not known: all of it, or its first sentence if it cites nothing."""
    said = [declining(sentence) for sentence in sentences(text)]
    return bool(said) and (all(said) or (said[0] and not CITED.search(text)))

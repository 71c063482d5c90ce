"""What a question is about apart from the names in it, and how far a candidate stays with it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cragraph.generation.candidates import Candidate
from cragraph.generation.phrases import meaning_words
from cragraph.generation.questions import QUOTED_KINDS, Kind, Question
from cragraph.text.lexicon import LEXICON
from cragraph.text.words import content_words

_YEAR: Final = re.compile(r"(?<![\w$€£,.])(?:fy\s?)?((?:19|20)\d\d)(?!\w|,\d)", re.I)
_CORPORATE: Final = r"(?:Inc|Corp\w*|Company|Companies|Co|Ltd|plc|PLC|LLC|AG|GmbH|Group|Limited)\b"
_ASKED: Final = re.compile(r"\b(?:which|what)\s+(?!is\b|are\b|was\b|were\b|do\b|does\b|did\b)(\w+)", re.I)
_OF_THE_QUESTION: Final = frozenset(
    content_words(
        "end beginning start year years fiscal quarter month first second third fourth current main key major total "
        "primary factors factor reasons reason cause causes drove drive driver led amount number name person people"
    )
)
"""Words that say when, how much of or what kind of thing is asked for; an answer seldom repeats them."""
_RELATIVE: Final = re.compile(
    r"(?:\b(?:variation|change|increase|decrease|growth|decline|percent(?:age)?|share|portion)|%) (?:in|of) "
    r"(?:the |our |its )?(?:\w+ ){0,1}(?:net sales|\w+)",
    re.I,
)
"""What a figure is compared with or is a part of is not what the figure is of."""
_PER: Final = re.compile(r"\bper (\w+)", re.I)
_A_UNIT: Final = re.compile(r"\b(?:for (?:a|one)|an?) (hour|day|night|week|month|quarter|year|person|piece)\b", re.I)
_IS_NOW: Final = re.compile(r"\W*(?:who|what|which \w+|where) (?:is|are)\b", re.I)
_BEFORE: Final = re.compile(r"\b(?:previous(?:ly)?|formerly|prior to)\b", re.I)

_RIVALS: Final = tuple(frozenset(content_words(line)) for line in LEXICON["rivals"].strip().splitlines())
"""Words of one kind, of which a thing is called by one: who asks for the summer course does not mean the spring one."""

ENOUGH: Final = 0.5
"""Share of the focus, by weight, that a candidate must cover to lose nothing."""
OFF_FOCUS: Final = 0.7
"""What is left of the score of a candidate that covers nothing of the focus."""
NO_ANSWER: Final = 0.75
"""What is left where a name or figure is asked for and none is offered."""
OTHER_YEAR: Final = 0.65
"""What is left where the question names a year and the candidate only names others."""
BEFORE: Final = 0.75
"""What is left where the question asks what is and the candidate tells what was before."""
OTHER_NAME: Final = 0.65
"""What is left where the name asked about stands only inside a longer name, or nowhere in the document."""


@dataclass(frozen=True)
class Focus:
    """What a question is about: its `words` by weight, and apart from them its `years`."""

    question: Question
    words: Mapping[str, float]
    years: frozenset[str]

    def covered(self, candidate: Candidate) -> float:
        """Share of the words that the candidate itself says, or the sentence its pronoun points to; 1 for none.

        Heading and file name do not count: all that stands below them would be covered.
        """
        total = sum(self.words.values())
        text = _RELATIVE.sub(" ", " ".join(candidate.text.split())) if self.question.wants_level else candidate.text
        said = set(meaning_words(f"{candidate.subject} {candidate.header} {text}"))
        return sum(weight for word, weight in self.words.items() if word in said) / total if total else 1.0

    def mistakes(self, candidate: Candidate) -> bool:
        """Whether a candidate speaks of somebody or something else.

        It holds the name that is asked about in longer ones only: "Acme Paints" and the "Acme Foundation" are not Acme.
        Or it has another word of a kind of which the question names one: the spring course is not the summer course.
        """
        text = f"{candidate.opener} {candidate.text}"
        if self.question.kind is Kind.PERSON and any(
            re.search(_whole(name), text) is not None and not _alone(name, text) for name in self.question.names
        ):
            return True
        if self.question.kind is Kind.YES_NO:
            return False
        asked, own = set(content_words(self.question.text)), set(content_words(f"{candidate.context} {text}"))
        return any(asked & kind and not asked & kind & own and own & kind - asked for kind in _RIVALS)

    def fit(self, candidate: Candidate, kind: float, document: str, likeness: float = 0.0) -> float:
        """What is left of the candidate's score, 0..1.

        `document` is what is known of its document. A `likeness` (cosine) well above a half stands in for words, as
        others may say the same, but not for all of them: a sentence may be alike for its names alone.
        """
        covered = self.covered(candidate) / ENOUGH
        if kind > 0 and (covered > 0 or not self.question.names):
            covered = max(covered, 4 * (likeness - 0.5))
        left = OFF_FOCUS + (1 - OFF_FOCUS) * min(1.0, covered)
        if self.question.kind in QUOTED_KINDS and kind == 0:
            left *= NO_ANSWER
        years = set(_YEAR.findall(f"{candidate.header} {candidate.text}"))
        if self.years and years and not self.years & years:
            left *= OTHER_YEAR
        asked = self.question.text.casefold()
        units = _PER.findall(asked) + (_A_UNIT.findall(asked) if self.question.wants_figure else [])
        said = _plain(candidate)
        if any(not re.search(rf"\b(?:per|an?|each|every) {unit}\b|\b{unit}ly\b", said) for unit in units):
            left *= OTHER_YEAR
        if _IS_NOW.match(self.question.text) and _BEFORE.search(candidate.text):
            left *= BEFORE
        strict = self.question.kind is Kind.PERSON
        if any(not _names(name, candidate, document, strict) for name in self.question.names):
            left *= OTHER_NAME
        return left


def focus_of(question: Question, rare: Mapping[str, float]) -> Focus:
    """The focus of a question; `rare` weighs its words."""
    years = frozenset(_YEAR.findall(question.text))
    left_out = {word for name in question.names for word in meaning_words(name)} | years | _OF_THE_QUESTION
    left_out |= {word for match in _ASKED.finditer(question.text) for word in content_words(match.group(1))}
    words = {word: rare[word] for word in meaning_words(question.text) if word not in left_out}
    return Focus(question, words, years)


def _plain(candidate: Candidate) -> str:
    return " ".join(f"{candidate.context} {candidate.text}".casefold().split())


def _names(name: str, candidate: Candidate, document: str, strict: bool) -> bool:
    """Whether a candidate may be about a name: it says so, or its document does and it speaks of no longer name."""
    text = f"{candidate.opener} {candidate.text}"
    if re.search(_whole(name), text):
        return not strict or _alone(name, text)
    squeezed = _squeezed(document)
    return _squeezed(name) in squeezed or all(_squeezed(part) in squeezed for part in name.split())


def _whole(name: str) -> str:
    return rf"(?<!\w){re.escape(name)}(?!\w)"


def _alone(name: str, text: str) -> bool:
    return re.search(rf"{_whole(name)}(?!['’]?\w*\s+(?!{_CORPORATE})[A-Z][a-z]+)", text) is not None


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()

"""What a question asks for: the kind of answer, and whether it wants one thing or all there are."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """What a question asks for."""

    PERSON = "person"
    TIME = "time"
    PLACE = "place"
    NUMBER = "number"
    PERCENT = "percent"
    MONEY = "money"
    REASON = "reason"
    MANNER = "manner"
    DEFINITION = "definition"
    LIST = "list"
    YES_NO = "yes or no"
    OTHER = "other"


# The first pattern that matches decides. "In which year", "what percentage" come before plain "what".
_QUESTIONS: Final[tuple[tuple[str, Kind], ...]] = (
    (
        r"\b(?:what|which|how (?:much|large|big|high))\b.{0,60}\b(?:percent|percentage|per cent|%|share of"
        r"|proportion)|\bwie viel prozent",
        Kind.PERCENT,
    ),
    (
        r"\bhow (?:many|often|far|long|old|tall|deep|wide|large|big|heavy|fast|high)\b|\bwie (?:viele|lange?|oft|weit"
        r"|alt|hoch|groß|schnell)\b",
        Kind.NUMBER,
    ),
    (
        r"\bhow much\b|\bwie viel\b|\bwhat (?:do|does|did|will|would) .{1,60}\b(?:cost|charge|earn)\b|\bwhat (?:was"
        r"|is|were|are) (?:the|(?:[\w.&-]+ ){0,3}[\w.&-]+['’]s?) (?:\w+ ){0,3}(?:price|costs?|revenues?|sales|income"
        r"|expenses?|profit|earnings|assets|liabilities|debt|cash|dividends?|ebitda|capex|margin|spending"
        r"|expenditures?)\b",
        Kind.MONEY,
    ),
    (
        r"\bwhat (?:(?:was|is|were|are) the )?(?:\w+ ){0,2}(?:number|amount|total|average|sum|rate|ratio|size"
        r"|population|height|length|distance|temperature|age|weight|change|difference|increase|decrease|balance|value"
        r"|quantity)\b",
        Kind.NUMBER,
    ),
    (
        r"\bwhen\b|\b(?:what|which|in what|in which) (?:\w+ )?(?:year|date|day|month|decade|century|time)s?\b|\bwann\b"
        r"|\bwelchem jahr\b",
        Kind.TIME,
    ),
    (
        r"\bwhy\b|\bwhat (?:was|is|were|are) the (?:\w+ )?(?:reasons?|causes?|purpose|factors?)\b|\bwhat (?:caused"
        r"|led|drove|made)\b|\bwarum\b|\bwieso\b",
        Kind.REASON,
    ),
    (
        r"\bwho(?:m|se)?\b|\b(?:what|which) (?:person|author|actor|actress|president|player|singer|man|woman|king"
        r"|queen|scientist)\b|\bwer\b|\bwen\b|\bwem\b",
        Kind.PERSON,
    ),
    (
        r"\bwhere\b|\b(?:what|which|in what|in which) (?:\w+ )?(?:country|city|state|town|place|region|location"
        r"|island|continent)\b|\bwo\b|\bwoher\b",
        Kind.PLACE,
    ),
    (
        r"\b(?:list|name) (?:the|all|some|\w+ )|\bwhat (?:are|were) (?:the |some )?(?:\w+ ){0,3}\w+s\b"
        r"|\bwhich (?:\w+ )?\w+s (?:are|were|does|do)\b",
        Kind.LIST,
    ),
    (r"\bhow\b|\bwie\b", Kind.MANNER),
    (
        r"^(?:what (?:is|are|was|were)\b|what does .{1,60} mean\b|define\b|was ist\b|explain\b|describe\b)"
        r"|\bmeaning of\b|\bstand for\b",
        Kind.DEFINITION,
    ),
    (
        r"^(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|shall|should|must|may|might|ist|sind|hat|kann)\b",
        Kind.YES_NO,
    ),
)
_COMPILED: Final = tuple((re.compile(pattern, re.I), kind) for pattern, kind in _QUESTIONS)

FIGURES: Final = frozenset({Kind.TIME, Kind.NUMBER, Kind.MONEY, Kind.PERCENT})
"""Kinds whose answer holds a figure or a date."""
QUOTED_KINDS: Final = frozenset({Kind.PERSON, Kind.PLACE, Kind.TIME, Kind.NUMBER, Kind.MONEY, Kind.PERCENT})
"""Kinds whose answer is a name or figure, which must be one that the question does not hold already."""

_ALL: Final = re.compile(
    r"^(?:list|name|give|show)\b|\b(?:all|every)\b|\b(?:which|what) (?!is\b|was\b|has\b|does\b"
    r"|this\b)(?:\w+ )?\w{3,}s\b",
    re.I,
)


@dataclass(frozen=True)
class Question:
    """A question and the kind of answer it expects."""

    text: str
    kind: Kind

    @property
    def sentences(self) -> int:
        """How many sentences an answer may take: a name or figure takes one, a reason or a list several."""
        if self.kind in QUOTED_KINDS or self.kind is Kind.YES_NO:
            return 1
        return 2 if self.kind in (Kind.OTHER, Kind.DEFINITION) else 3

    @property
    def wants_all(self) -> bool:
        """Whether it asks for every one there is: "which orders are open", "list the exits"."""
        return self.kind is Kind.LIST or _ALL.search(self.text) is not None

    @property
    def wants_rows(self) -> bool:
        """Whether several rows of a table may answer it together."""
        return self.wants_all or self.kind in (Kind.PERSON, Kind.LIST, Kind.OTHER)


def read_question(text: str) -> Question:
    """Tell what a question asks for by its wording, in English and German."""
    plain = " ".join(text.split())
    return Question(plain, next((kind for pattern, kind in _COMPILED if pattern.search(plain)), Kind.OTHER))


_AND_ALSO: Final = re.compile(
    r"[,;]?\s+(?:and|und)\s+(?=(?:what|when|where|who|whom|which|how|why|was|wann|wo|wer|wie|warum)\b)|\?\s+(?=\S)",
    re.I,
)

MOST_PARTS: Final = 8  # questions that a question may hold; one that seems to hold more is read as one


def split_question(text: str) -> list[str]:
    """The questions in a question: "What were sales, and when was it founded?" asks two things."""
    parts = [part.strip(" ,;?") for part in _AND_ALSO.split(" ".join(text.split()))]
    whole = list(dict.fromkeys(f"{part}?" for part in parts if len(part.split()) >= 3))
    return whole if 1 < len(whole) <= MOST_PARTS else [text]

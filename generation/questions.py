"""What a question asks for: the kind of answer, the names in it, and whether it wants one thing or all there are."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final

from cragraph.text.facts.fact import names

_MONTH: Final = (
    r"(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|(?-i:May)|mai|june?|juni|july?|juli|aug(?:ust)?"
    r"|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)"
)
_YEAR: Final = r"(?:1[0-9]\d\d|20\d\d)"
_TIME: Final = re.compile(
    rf"\b{_YEAR}s?\b|\b{_MONTH}\.?\s+\d|\b\d{{1,2}}\.?\s+{_MONTH}\b|\b\d{{1,2}}(?:st|nd|rd|th)[ -]century"
    rf"|\b\d+ ?(?:bc|ad|bce|ce)\b|\b\d{{1,2}}[:.]\d\d ?(?:[ap]\.?m|uhr)?|\b\d{{1,2}} ?[ap]\.?m\b|\b(?:mon|tues|wednes"
    rf"|thurs|fri|satur|sun)days?\b|\b(?:noon|midnight|weekends?|weekdays)\b|\b\d{{1,2}} (?:o['’]clock"
    rf"|in the (?:morning|afternoon|evening)|at night)\b|\bcentury\b|\b\d{{4}}-\d\d-\d\d\b|\b(?:spring|summer|autumn"
    rf"|winter|easter|christmas)\b|\b\d{{1,2}}(?:st|nd|rd|th) (?:of|day)\b"
    rf"|\b(?:in|from|until|since|during|by|every|of|between|to) {_MONTH}\b(?!['’]s)"
    r"|\b(?:at|from|until|till|by|before|after|past|to) (?:about )?(?:half past |(?:a )?quarter (?:past|to) )?(?:one"
    r"|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b(?! of\b| \w+s\b)",
    re.I,
)
_DATED_NAME: Final = re.compile(
    rf"\b(?:Act|Law|Treaty|Code|Plan|Agreement|Order|Regulation|Directive|Amendments?|Convention) of {_YEAR}\b"
)
"""A name that holds a year, which says nothing of when."""
_CHANGE: Final = re.compile(
    r"\b(?:increas|decreas|declin|rose|fell|grew|growth|variation|change|impact|higher|lower|exceed"
    r"|surpass)\w*[^.;]{0,40}?\b(?:by|of|was an? \w+ of) (?:approximately |about "
    r"|over )?[$€£¥]?\s?\d[\d,.]*(?: (?:million|billion))?",
    re.I,
)
_ASKS_CHANGE: Final = re.compile(
    r"\b(?:chang|increas|decreas|declin|grow|grew|fall|fell|rise|rose|drop|impact|shrink|shrank|expand|gain|los[et])\w*",
    re.I,
)
_SHARE: Final = re.compile(rf"\d[\d.,]*\s?(?:%|percent\b|per cent\b)|(?<![\w$€£,.]){_YEAR}(?!\w|,\d)", re.I)
_DATE: Final = re.compile(
    rf"\b{_MONTH}\.?\s+\d{{1,2}}\b(?:,?\s+{_YEAR})?|\b\d{{1,2}}(?:st|nd|rd"
    rf"|th)?\.? (?:of )?{_MONTH}\b(?:,?\s+{_YEAR})?|\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}:\d\d\b"
    rf"|(?<![\w$€£,.]){_YEAR}(?!\w|,\d)",
    re.I,
)
_ROLES: Final = re.compile(
    rf"\b(?:(?:executive|senior|vice|chief|lead|independent|managing|general|deputy|former|interim)\s+)*(?:president"
    rf"|chair\w*|officer|director|executive|operating|financial|manager|secretary|treasurer|board|committee|members?"
    rf"|partner|head|CEO|CFO|COO)s?\b|\b{_MONTH}\b",
    re.I,
)
"""Capitalised words that name an office or a month, and nobody."""
_COUNT_WORDS: Final = (
    r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|seventy|eighty"
    r"|ninety|hundred|thousand|dozen|half|twice|third|quarter|zero|none|million|billion|zwei|drei|vier|fünf|sechs"
    r"|sieben|acht|neun|zehn|elf|zwölf|hundert|tausend|million(?:en)?|milliarden?)"
)
_NUMBER: Final = re.compile(rf"(?<![\w.,])[$€£¥(]?\s?\d[\d,]*(?:\.\d+)?|\b{_COUNT_WORDS}\b|[½¼¾]", re.I)
_AMOUNT: Final = re.compile(
    r"(?<![\w.,])\d[\d,]*(?:\.\d+)?+(?![\d,.]*\s(?:\w+ )?(?:years?|months?|weeks?|days?|hours?)\b)"
)
_PERCENT: Final = re.compile(r"\d[\d.,]* ?(?:%|percent|per cent|prozent|basis points|bps)|\bpercent(?:age)?\b", re.I)
_MONEY: Final = re.compile(
    r"[$€£¥]\s?\d|\d[\d.,]* ?(?:dollars?|euros?|pounds?|cents?|usd|eur)\b|\d[\d.,]* (?:million|billion)", re.I
)
_REASON: Final = re.compile(
    r"\b(?:because|due to|owing to|since|in order to|so that|so as to|as a result|resulted? (?:in|from)|caused?"
    r"|causes|thanks to|driven|attribut\w+|reflect\w*|led to|leads? to|therefore|thus|hence|reasons?|purpose|offset"
    r"|primarily|intended|prevents?|allow\w*|enabl\w+|weil|wegen|aufgrund|deshalb|daher|damit|da)\b|\bto (?!the\b|a\b"
    r"|an\b)[a-z]+\b",
    re.I,
)
_DEFINES: Final = re.compile(
    r"\b(?:is|are|was|were) (?:an?|the|any|one|defined|known|considered|used|called)\b|\b(?:refers?|defined|means?"
    r"|consists?|describes?|denotes?|represents?|involves?|comprises?)\b|\bist (?:eine?|der|die|das)\b|^[^.]{2,60}:\s",
    re.I,
)
_LISTS: Final = re.compile(
    r",[^,]+(?:,| and | or | und )|\b(?:include|includes|including|such as|namely|consists? of)\b|;|^\s*(?:[-*•]"
    r"|\d+[.)])\s",
    re.M,
)


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

_OFFERS: Final[dict[Kind, Callable[[str], list[str]]]] = {
    Kind.PERSON: lambda text: [fact.text for fact in names(_ROLES.sub(" | ", text))],
    Kind.PLACE: lambda text: [fact.text for fact in names(text)],
    Kind.TIME: lambda text: [m.group() for m in _TIME.finditer(_DATED_NAME.sub(" ", text))],
    Kind.NUMBER: lambda text: [m.group() for m in _NUMBER.finditer(text)],
    Kind.MONEY: lambda text: [m.group() for m in _MONEY.finditer(text)] or [m.group() for m in _AMOUNT.finditer(text)],
    Kind.PERCENT: lambda text: [m.group() for m in _PERCENT.finditer(text)],
    Kind.REASON: lambda text: [m.group() for m in _REASON.finditer(text)],
    Kind.DEFINITION: lambda text: [m.group() for m in _DEFINES.finditer(text)],
    Kind.LIST: lambda text: [m.group() for m in _LISTS.finditer(text)],
}
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

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names it mentions."""
        return tuple(fact.text for fact in names(self.text))

    def answered_in_kind(self, sentence: str) -> float | None:
        """1 where the sentence offers what is asked for and the question lacks, 0 where not; None for open kinds."""
        offers = _OFFERS.get(self.kind)
        if offers is None:
            return None
        if self.kind in (Kind.MONEY, Kind.NUMBER):
            if not _ASKS_CHANGE.search(self.text):
                # "Sales rose by $5" does not say how high they were.
                sentence = _CHANGE.sub(" ", sentence)
                sentence = _SHARE.sub(" ", sentence) if self.kind is Kind.MONEY else sentence
            sentence = _DATE.sub(" ", sentence)
        offered = offers(sentence)
        if self.kind in QUOTED_KINDS:
            asked = self.text.casefold()
            if self.kind is Kind.PERSON:
                # "Acme Services" names nobody where Acme is asked about.
                known = set(re.findall(r"\w+", asked))
                offered = [item for item in offered if not known & set(re.findall(r"\w+", item.casefold()))]
            offered = [item for item in offered if item.casefold().strip(" $(").removesuffix("s") not in asked]
        return float(bool(offered))


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

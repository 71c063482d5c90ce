"""A question that a table may compute, parsed as far as possible without a table."""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Final, NamedTuple

from cragraph.language.lexicon import LEXICON, YEAR, words_of
from cragraph.language.words import is_stopword, phrases, stem

_TOKEN: Final = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_][^\W_]*(?:['’][^\W\d_]+)?")
IS_YEAR: Final = re.compile(YEAR)
SUFFIXES: Final = (
    "csv docx eml epub htm html ical ics ipynb json jsonl log markdown mbox md mht mhtml ndjson odp ods "
    "odt org otp ots ott pdf pptx rst rtf srt text tsv txt vcf vcs vtt xhtml xls xlsb xlsm xlsx"
)
"""Endings of the names of files in a question: those of `documents.files`, which would load every format."""
_FILE: Final = re.compile(rf"\b[\w-]+\.(?:{'|'.join(SUFFIXES.split())})\b", re.I)

_MEAN: Final = re.compile(r"\b(?:average|mean|on average|typically|typical)\b")
_SHARE: Final = re.compile(
    r"\b(?:share|proportion|fraction|percentage|per ?cent|percent)\b of|\bwhat (?:%|per ?cent|percentage|share) "
    r"|\bhow (?:large|big|high) (?:is|was) the (?:share|proportion|percentage)"
)
GROWS: Final = (
    r"(?:grow|grew|grown|growth|rise|rises|rose|risen|increas\w*|go up|goes up|went up|gone up|climb\w*|fall|falls|fell"
    r"|fallen|drop\w*|decreas\w*|declin\w*|shrink|shrank|shrunk|go down|went down|gone down|chang\w*|gain\w*)"
)
_GROWTH: Final = re.compile(
    rf"\bby (?:how much|how many|what|which)\b.*?\b{GROWS}\b|\bgrowth\b|\b(?:percentage|per ?cent) (?:change|increase"
    rf"|decrease|growth|rise|fall|drop)|\bhow (?:much|many|far|strongly) (?:did|have|has|had) .*\b{GROWS}\b"
    rf"|\b(?:increase|decrease|rise|drop|fall|change) (?:in|of)\b"
)
_PER_CENT: Final = re.compile(r"%|\bper ?cent(?:age)?s?\b")
_DIFFERENCE: Final = re.compile(
    r"\bdifference\b|\bhow (?:much|many) (?:more|less|fewer|further)\b|\bhow much (?:\w+er)\b"
    r"|\bby how (?:much|many) (?:\w+ )*?(?:more|less|exceed|differ|\w+er)\b"
)
_THAN: Final = re.compile(
    r"\b(?:more|less|fewer|(?!other|rather|over|under|number|after|ever|never)\w+er|worse)\b.*?\bthan\b"
)
_COMPARES: Final = re.compile(r"^(?:is|are|was|were|do|does|did|has|have|had|will|would|can)\b")
_SUM: Final = re.compile(
    r"\b(?:total(?:s|ed|ling)?|sum|altogether|all together|in all|in total|all told|together|combined|overall"
    r"|add(?:s|ed)? up"
    r"|all year|whole year|over the year|in sum|as a whole|up to now)\b"
)
_COUNT: Final = re.compile(
    r"\bhow many\b|\bnumber of\b|\bhow often\b|^(?:what (?:is|was) )?the count of\b|\bhow many times\b"
)
_OF_US: Final = re.compile(r"\bhow many of (?:us|you)\b")
"""People are counted, and what follows is what they do: "how many of us play" means no column "played"."""
_HOW_MUCH: Final = re.compile(
    r"\bhow much\b|\bwhat (?:do|does|did|have|has|is|are|was|were|would|will)\b"
    r"|\bhow (?:long|heavy|far|high|tall|big)\b"
)
_COMPARED: Final = re.compile(
    r"\b(?P<how>more than|over|above|at least|no less than|less than|under|below|fewer than|at most|up to|no more than"
    r"|(?P<adjective>\w+er) than|exceed\w*|beyond)\s+[$€£]?\s?(?P<figure>\d[\d,]*(?:\.\d+)?)\s?(?P<unit>[€£%]|[a-z]+)?"
)
UPWARDS: Final = re.compile(
    r"more|over|above|at least|no less|exceed|beyond|bigger|larger|higher|longer|heavier|older|dearer"
)
_DENIES: Final = re.compile(
    r"\b(?:not|no|never|none|nobody|without|un(?:paid|returned|approved|available|sold|settled))\b|n['’]t\b"
)
TOP: Final = re.compile(
    r"\b(?:top (?P<n>\d+|\w+)|(?P<m>two|three|four|five|six|seven|eight|nine|ten|\d+)"
    r" (?:\w+ )*?(?:most|least|\w+est))\b"
)
_SUPERLATIVE: Final = re.compile(
    r"\b(?P<word>most|least|fewest|best|worst|(?!interest|request|test|guest|west|rest|forest|chest|harvest|quest"
    r"|latest\b)\w{3,}est|latest|maximum|minimum|max|min|record)\b"
)
TWO_FOLD: Final = re.compile(
    r"\b(?:and|or) (?:(?:in|on|at|by|for|from|to|with|under) )?(?:who|whom|whose|which|what|when|where|why|how)\b"
    r"|\bby how (?:much|many)\b.*\b(?:will|shall|going to)\b|\bwill\b.*\b(?:rise|grow|increase|fall|drop)\b",
    re.I,
)
"""Patterns of two questions in one, and of questions about the future, which rows cannot answer."""
_RATE: Final = re.compile(r"\b(?:a|per|each|every) (?:hour|day|night|week|month|quarter|year|head)\b")
_RELATIVE: Final = re.compile(
    r"\b(?:last|this|next|previous|coming) (?:year|month|week|quarter|season|summer|winter|spring|autumn)\b"
    r"|\btoday\b|\byesterday\b|\btomorrow\b"
)

POLES: Final[Mapping[str, tuple[str, int]]] = {
    word: (kind.removesuffix("_least").removesuffix("_most").removeprefix("any"), -1 if kind.endswith("_least") else 1)
    for kind, words in LEXICON["poles"].items()
    for word in words.split()
}
"""The dimension of a comparative or superlative, and the end that it means; "older" dates are earlier."""
DIMENSIONS: Final = {kind: frozenset(map(stem, words.split())) for kind, words in LEXICON["dimensions"].items()}
"""Words of headings by the dimension of the column."""
UNITS: Final = {kind: frozenset(words.split()) for kind, words in LEXICON["dimension_units"].items()}
ASKS: Final = {kind: frozenset(map(stem, words.split())) for kind, words in LEXICON["asks_dimension"].items()}
"""Words of a question that mean a column of a dimension without naming it."""
UNSPECIFIC: Final = frozenset(map(stem, [*words_of("said_of_anything"), *words_of("said_when_computing")]))
GENERIC: Final = frozenset(map(stem, words_of("counted_of_anything")))
ALLOWED: Final = re.compile(
    r"\bhow many\b[^?]{0,40}\b"
    r"(?:(?P<certain>(?<!in )(?<!of )may(?! \d)|must|should|can (?:i|we|you|one|they))|can|could)\b"
)
"""A number that is allowed, which no rows are; or possible: "how many things could not be mended" has rows."""
A_LIMIT: Final = re.compile(
    r"\b(?:most|least|maximum|minimum|max|min)\b[^?]*\b(?:i|we|you|one|they|he|she|members?) "
    r"(?:can|may|could|must|should)\b"
)
"""What is allowed or possible at most, which no row is."""
PRICED: Final = re.compile(r"^(?!which).*\b(?:cost|price|charge|fee|pay|(?:go(?:es)?|went|sells?|sold) for)\b")
"""A question for a price."""
ALL_THERE_ARE: Final = re.compile(
    r"\b(?:are|were) there\b|\b(?:do|did) we have\b|\bhave we (?:got|had)\b|\b(?:are|were) listed\b"
)
"""Words that ask for the number of all rows."""
QUANTITY: Final = frozenset(map(stem, words_of("quantity_columns")))
LIMITS: Final = frozenset(map(stem, words_of("limit_columns")))
PERIOD: Final = frozenset(map(stem, words_of("period_columns")))
PLAIN: Final = frozenset(map(stem, words_of("plain_prices")))
PRICES: Final = frozenset(map(stem, words_of("price_columns")))
LISTS_PRICES: Final = PLAIN | frozenset(map(stem, words_of("price_lists")))


QUALIFIES: Final = frozenset(words_of("qualifies"))
RATES: Final = frozenset({"per", "each", "every"})


class Token(NamedTuple):
    """A word of the question: as written, its stem, its offset, and whether it is a stop word or part of a file
    name."""

    text: str
    stem: str
    start: int
    light: bool


class ParsedQuestion:
    """A question, parsed as far as possible without a table."""

    def __init__(self, question: str) -> None:
        self.text = " ".join(question.split())
        self.lower = self.text.casefold().replace("’", "'")
        files = list(_FILE.finditer(self.text))
        self.files = frozenset(match[0].casefold() for match in files)
        """Names of files in the question: they choose the table, not its columns."""
        self.tokens = [
            Token(
                m[0], stem(re.sub(r"['’]s$", "", m[0])), m.start(),
                is_stopword(m[0]) or any(file.start() <= m.start() < file.end() for file in files),
            )
            for m in _TOKEN.finditer(self.text)
        ]  # fmt: skip
        self.compared = next(
            (m for m in _COMPARED.finditer(self.lower) if not IS_YEAR.fullmatch(m["figure"]) or m["unit"]), None
        )
        self.superlative = next((m for m in _SUPERLATIVE.finditer(self.lower) if pole(m["word"])), None)
        self.mean = _MEAN.search(self.lower)
        self.share = _SHARE.search(self.lower)
        self.growth = _GROWTH.search(self.lower)
        self.per_cent = _PER_CENT.search(self.lower)
        self.than = _THAN.search(self.lower)
        self.difference = _DIFFERENCE.search(self.lower)
        self.total = _SUM.search(self.lower)
        self.count = _COUNT.search(self.lower)
        self.of_us = _OF_US.search(self.lower)
        self.how_much = _HOW_MUCH.search(self.lower)
        self.yes_no = _COMPARES.search(self.lower)
        self.denied = _DENIES.search(self.lower)
        self.lists = self.lower.startswith(("which", "what", "list", "show", "who", "name", "give"))
        self.rate = _RATE.search(self.lower)
        self.relative = _RELATIVE.search(self.lower) is not None
        self.years = [t for t in self.tokens if IS_YEAR.fullmatch(t.text)]
        stems = {t.stem for t in self.tokens}
        self.dimensions = {name for name, words in ASKS.items() if words & stems}

        self.money = bool(self.how_much) and "money" in self.dimensions

    @property
    def computes(self) -> bool:
        """Whether the question may have an operation."""
        return any(
            (self.compared, self.superlative, self.mean, self.share, self.growth, self.difference, self.total,
             self.count, self.lists,
             self.how_much, self.than and self.yes_no)
        )  # fmt: skip

    @property
    def operates(self) -> bool:
        """Whether the question certainly asks for an operation, and not for one cell."""
        return any(
            (self.compared, self.superlative, self.mean, self.share, self.growth, self.difference, self.total,
             self.count, self.than and self.yes_no)
        )  # fmt: skip

    def between(self, start: int, end: int) -> list[Token]:
        """The words of the question between two offsets."""
        return [t for t in self.tokens if start <= t.start < end]

    @cached_property
    def phrases(self) -> frozenset[str]:
        """The phrases of the question, to be compared with whole cells."""
        return phrases(self.text)

    @cached_property
    def counted(self) -> list[Token]:
        """The words after "how many" up to the verb: the counted thing."""
        if not self.count:
            return []
        after = self.count.end()
        words: list[Token] = []
        for token in self.tokens:
            if token.start < after or (not words and token.light):
                continue
            if token.light and token.text.casefold() not in ("of", "the", "our", "my", "their"):
                break
            if not token.light:
                words.append(token)
            if len(words) == 3:
                break
        return words


def pole(word: str) -> tuple[str, int] | None:
    """The dimension of a comparative or superlative, and the end that it means."""
    endings = ((r"(?:est|er)$", ""), (r"(?:est|er)$", "e"), (r"i(?:est|er)$", "y"), (r"(.)\1(?:est|er)$", r"\1"))
    bases = [word, *(re.sub(ending, base, word) for ending, base in endings)]
    return next((POLES[base] for base in bases if base in POLES), None)

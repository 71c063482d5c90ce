"""A fact, and those that are names or dates: dates, years, fiscal years, quarters, decades, times of day."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from cragraph.language.lexicon import LEXICON, OPENERS, pattern, words_of

Kind = Literal["number", "percent", "points", "money", "measure", "date", "quarter", "time", "ordinal", "name"]

DatePart = tuple[int | None, int | None, int | None]  # year, month, day; None where the text leaves it out


@dataclass(frozen=True)
class Fact:
    """A number, date or name as written: `text` is the source text from `start` to `end`.

    `value` is in base units (`unit` names the dimension or the currency), `figure` as written. `step` is the unit of
    the last written digit, so that ``1.5`` (step 0.1) may stand for 1.49. `bound` is ``>`` or ``<`` for "more than" and
    "less than", ``~`` for "about". `bare` marks a number without a unit, as in a table's cell. `written` is the bare
    number if its unit comes from the name of its field (``kilograms: 612``), as a table may give the unit only there.
    """

    kind: Kind
    text: str
    start: int
    end: int
    value: float = 0.0
    figure: float = 0.0
    step: float = 0.0
    unit: str = ""
    bound: str = ""
    date: DatePart = (None, None, None)
    words: tuple[str, ...] = ()
    written: "Fact | None" = None

    @property
    def bare(self) -> bool:
        """Whether the fact is a number without a unit."""
        return self.kind == "number"


_WORD: Final = r"[A-ZÀ-ÖØ-Þ][\w’'&-]*(?:\.(?=[A-Z])[A-Z])*"
_NAME: Final = re.compile(rf"{_WORD}(?:\s+(?:(?:of|de|van|von|der|la|le|del|di|bin|al|and|&|the)\s+){{0,2}}{_WORD})*")
_PART: Final = re.compile(r"\S+")
_STARTS: Final = re.compile(r"(?:^|[.!?:]\s+|\n\s*(?:[-*•]\s+)?|[\"“]\s*)$")
_ACRONYM: Final = re.compile(r"^[A-Z][A-Z0-9&-]{1,7}$")  # IBM, NASA, R&D
_POSSESSIVE: Final = re.compile(r"(?:[’']s?)$")
_PERIOD: Final = re.compile(r"(?:fy|cy|q|h)\d{1,4}$")
_SMALL: Final = words_of("within_names")
_NOT_NAMES: Final = words_of("no_names") | {word.lower() for word in OPENERS}
_NUMBERED: Final = words_of("numbered_things")
_THING: Final = re.compile(r"(?:^|(?<=[\s(\"“]))(?P<thing>[^\W\d_][\w&-]+)\s$")
_COUNTED: Final = re.compile(r"\s+(?:people|men|women|children|(?!is\b|was\b|has\b|does\b)[a-z]{3,}s\b)|\s?[|%\d]")
"""Words that follow a number that counts something."""
_CAPITAL: Final = re.compile(r"[A-Z]\S*\s$")


def names(text: str) -> Iterator[Fact]:
    """The names of a text, without possessive endings; months, quarters and fiscal years are left out.

    The first word of a sentence counts only if more of the name follows.
    """
    for match in _NAME.finditer(text):
        parts = list(_PART.finditer(text, *match.span()))
        opening = _opens(text, match.start())
        while parts and not _names_something(parts[0].group()):
            dropped = _plain(parts.pop(0).group())
            opening = opening and bool(_PERIOD.match(dropped))
        while parts and _PERIOD.match(_plain(parts[-1].group())):
            parts.pop()
        if not parts or (opening and len(parts) == 1 and not _marked(parts[0].group())):
            continue
        words = tuple(_plain(part.group()) for part in parts if part.group().lower() not in _SMALL)
        words = tuple(word for word in words if word and word not in _NOT_NAMES)
        if words and not all(word.isdigit() for word in words):
            start = parts[0].start()
            written = _POSSESSIVE.sub("", text[start : parts[-1].end()])
            unit = "acronym" if _ACRONYM.match(written) else ""
            yield Fact("name", written, start, start + len(written), words=words, unit=unit)


def numbered(text: str, figure: Fact) -> Fact | None:
    """The name with a bare figure as its number: ``Unit 4``, ``the Boeing 737``; None for a figure that counts.

    A capitalised word makes it a name only within a sentence: "Sales 394" is a row of a table.
    """
    before = _THING.search(text, max(0, figure.start - 24), figure.start)
    if not before or not figure.text[-1].isalnum() or "," in figure.text or not figure.text[0].isdigit():
        return None
    thing, start = before["thing"], before.start("thing")
    counts = _COUNTED.match(text, figure.end) or _opens(text, start) or thing.lower() in _NOT_NAMES
    if thing.lower() not in _NUMBERED and (counts or not thing[0].isupper() or _CAPITAL.search(text[:start][-24:])):
        return None
    return Fact("name", text[start : figure.end], start, figure.end, words=(_plain(thing), figure.text.lower()))


def initials(words: Iterable[str]) -> str:
    """The first letters of the words of a name, in lower case."""
    return "".join(word[0] for word in words)


def _opens(text: str, start: int) -> bool:
    """Whether a word opens a sentence, so that its capital means nothing."""
    return start == 0 or bool(_STARTS.search(text, max(0, start - 6), start))


def _names_something(token: str) -> bool:
    plain = _plain(token)
    return not (plain in _NOT_NAMES or token.lower() in _SMALL or _PERIOD.match(plain))


def _marked(token: str) -> bool:
    """Whether a word is a name even among capitalised words: an acronym, or with capitals or digits inside."""
    return any(letter.isupper() or letter.isdigit() for letter in token[1:])


def _plain(token: str) -> str:
    return _POSSESSIVE.sub("", token).strip("’'&-.").lower()


MONTHS: Final = {
    name: month for month, names in enumerate(LEXICON["months"].strip().splitlines(), start=1) for name in names.split()
}
_M: Final = rf"(?P<{{}}>{'|'.join(sorted(MONTHS, key=len, reverse=True))})\.?"
_ALSO_WORDS: Final = frozenset({"may", "mar", "mars", "march", "jun", "dec", "sep", "nov"})
_YEAR: Final = r"(?:1[0-9]|20|21)\d\d"

_BEFORE_A_MONTH: Final = ("in", "of", "by", "since", "until", "from", "during", "late", "early", "last", "this", "next")
_DATES: Final = re.compile(
    rf"\b(?P<iy>{_YEAR})-(?P<im>0[1-9]|1[0-2])(?:-(?P<id>0[1-9]|[12]\d|3[01]))?\b"
    rf"|\b{_M.format('m1')}\s+(?P<d1>[0-3]?\d)(?:st|nd|rd|th)?\b(?!\s*%)(?:\s*,?\s*(?P<y1>{_YEAR})\b)?"
    rf"|\b(?P<d2>[0-3]?\d)(?:st|nd|rd|th|\.|er)?\s+(?:of\s+)?{_M.format('m2')}\b(?:\s*,?\s*(?P<y2>{_YEAR})\b)?"
    rf"|\b{_M.format('m3')}\s*,?\s+(?:of\s+)?(?P<y3>{_YEAR})\b"
    rf"|(?:{'|'.join(f'(?<={word} )' for word in _BEFORE_A_MONTH)})(?P<m4>{'|'.join(MONTHS)})(?!\w|\.?\s\d)"
    rf"|\b(?P<a>[0-3]?\d)[/.](?P<b>[0-3]?\d)[/.](?P<y4>{_YEAR})\b",
    re.IGNORECASE,
)
_QUARTERS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_QUARTER: Final = re.compile(
    r"\b(?:Q(?P<q1>[1-4])|(?P<q2>[1-4])Q|(?P<q3>first|second|third|fourth|1st|2nd|3rd|4th)[\s-]+(?:fiscal\s+)?quarter)\b"
    rf"(?:[\s,’'-]*(?:of\s+)?(?:the\s+)?(?:fiscal\s+(?:year\s+)?|FY\s?)?(?P<year>{_YEAR}|(?<=FY)\d\d|(?<=[’'])\d\d)\b)?",
    re.IGNORECASE,
)
_FISCAL: Final = re.compile(rf"\bFY\s?[’']?(?P<year>{_YEAR}|\d\d)\b", re.IGNORECASE)
_DECADE: Final = re.compile(r"\b(?P<year>(?:1[5-9]|20)\d0)[’']?s\b")
_LONE: Final = re.compile(r"(?<![\w.,$€£¥/-])(?P<year>(?:1[5-9]|20)\d\d)(?![\w%°]|[.,]\d|-\d)")
_TIME: Final = re.compile(
    r"\b(?P<h>[01]?\d|2[0-3]):(?P<min>[0-5]\d)(?:\s?(?P<p>[ap])\.?m\b\.?)?"
    r"|(?<![\w.,:])(?P<h2>[01]?\d|2[0-3])(?:\.(?P<min2>[0-5]\d))?\s?(?P<p2>[ap])\.?m\b\.?"
    r"|\b(?P<named>noon|midday|midnight)\b",
    re.IGNORECASE,
)
_COUNT_FOLLOWS: Final = pattern("counted")  # words behind a number of four digits that is a count and no year


def dates(text: str) -> Iterator[Fact]:
    """The dates of a text; a part of a date (its year) is not reported again."""
    taken: list[tuple[int, int]] = []
    for written, read in _READERS:
        for match in written.finditer(text):
            if any(start < match.end() and match.start() < end for start, end in taken):
                continue
            if fact := read(text, match):
                taken.append(match.span())
                yield fact


def _date(text: str, match: re.Match[str]) -> Fact | None:
    group = match.groupdict()
    year = group["iy"] or group["y1"] or group["y2"] or group["y3"] or group["y4"]
    month: int | None
    if group["a"]:
        first, second = int(group["a"]), int(group["b"])
        # 25/12/2023 can only be read one way; 5/12/2023 is read as the month first unless dots separate it.
        day_first = first > 12 or ("." in match.group() and second <= 12)
        month, day = (second, first) if day_first else (first, second)
    else:
        name = group["m1"] or group["m2"] or group["m3"] or group["m4"]
        # "may" is a verb, "mar" and "mars" are words, unless a capital makes them months.
        alone = group["m4"] is not None
        if name and name[0].islower() and (alone or name.lower() in _ALSO_WORDS):
            return None
        month = MONTHS[name.lower()] if name else int(group["im"])
        day = int(group["id"] or group["d1"] or group["d2"] or 0)
    if not 1 <= month <= 12 or not 0 <= day <= 31:
        return None
    date = (int(year) if year else None, month, day or None)
    return Fact("date", match.group(), *match.span(), date=date)


def _quarter(text: str, match: re.Match[str]) -> Fact:
    figure = match.group("q1") or match.group("q2")
    number = int(figure) if figure else _QUARTERS[match.group("q3").lower()]
    year = match.group("year")
    return Fact("quarter", match.group(), *match.span(), value=float(number), date=(_full(year), None, None))


def _year(text: str, match: re.Match[str]) -> Fact | None:
    decade = match.re is _DECADE
    if not decade and _COUNT_FOLLOWS.match(text, match.end()):
        return None
    unit = "decade" if decade else ""
    return Fact("date", match.group(), *match.span(), date=(_full(match["year"]), None, None), unit=unit)


def _time(text: str, match: re.Match[str]) -> Fact:
    if named := match["named"]:
        return Fact("time", named, *match.span(), value=0.0 if named.lower() == "midnight" else 720.0)
    hour, minute = int(match["h"] or match["h2"]), int(match["min"] or match["min2"] or 0)
    half = (match.group("p") or match.group("p2") or "").lower()
    hour = hour % 12 + (12 if half == "p" else 0) if half else hour
    return Fact("time", match.group(), *match.span(), value=float(hour * 60 + minute))


def _full(year: str | None) -> int | None:
    """A year of two digits is of this century: fiscal years are written so."""
    return None if year is None else int(year) if len(year) == 4 else 2000 + int(year)


_READERS: Final = (
    (_DATES, _date),
    (_QUARTER, _quarter),
    (_FISCAL, _year),
    (_DECADE, _year),
    (_TIME, _time),
    (_LONE, _year),
)

"""Dates, years, fiscal years, quarters, decades and times of day."""

import re
from collections.abc import Iterator
from typing import Final

from cragraph.language.facts.fact import Fact
from cragraph.language.lexicon import LEXICON, pattern

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
_COUNTED: Final = pattern("counted")  # words behind a number of four digits that is a count and no year


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
    if not decade and _COUNTED.match(text, match.end()):
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

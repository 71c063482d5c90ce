"""Numbers with their scale, unit, currency, precision and bound, whichever way they are written."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from cragraph.text.facts.fact import Fact, Kind
from cragraph.text.facts.labels import NEXT_FIELD, label_unit
from cragraph.text.facts.number_words import NUMBER_WORDS, ORDINALS, value_of
from cragraph.text.facts.units import CURRENCIES, SCALES, SHORT_SCALES, TEMPERATURES, UNITS, kelvin

_SYMBOL: Final = r"(?:US\$|HK\$|C\$|A\$|[$€£¥₹₩]|(?:USD|EUR|GBP|JPY|CNY|RMB|INR|CHF|CAD|AUD)\b)"
_DIGITS: Final = r"\d{1,3}(?:[,\u00a0\u202f’]\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?|\d+(?:[.,]\d+)?"
_NUMBER: Final = re.compile(
    rf"(?P<before>{_SYMBOL})?\s?(?P<sign>[-−–+](?=\d))?(?<![\w.])(?P<digits>{_DIGITS})(?P<ordinal>st|nd|rd|th)?(?![\w]*@)"
)
_LONG: Final = sorted([*SCALES], key=len, reverse=True)
_SCALE: Final = re.compile(
    rf"(?:[\s-]?(?P<long>{'|'.join(_LONG)})\b(?:(?<=mio)\.|(?<=mrd)\.)?|\s?(?P<short>mm|bn|tn|[kKMmBbTt])(?![\w/²³°]))",
    re.IGNORECASE,
)
_UNIT_NAMES: Final = sorted([*UNITS, *TEMPERATURES], key=len, reverse=True)
_UNIT: Final = re.compile(rf"[\s-]?(?:{'|'.join(map(re.escape, _UNIT_NAMES))})(?![\w²³/])", re.IGNORECASE)
_PERCENT: Final = re.compile(r"\s?(?:%|percent\b|per cent\b|pct\b|prozent\b|pour cent\b)", re.IGNORECASE)
_POINTS: Final = re.compile(
    r"(?:\s?%|\s?percent(?:age)?|\s?per cent)?[\s-]?(?:percentage[\s-]points?|points?\b(?<=points)|pp\b|ppt\b)"
    r"|[\s-]?(?P<basis>basis points?|bps\b|bp\b)",
    re.IGNORECASE,
)
_MONEY_WORDS: Final = sorted(
    (name for name in CURRENCIES if name[0].isalpha() and "$" not in name), key=len, reverse=True
)
_CURRENCY: Final = re.compile(
    rf"\s?(?:US\s|U\.S\.\s)?(?P<money>[$€£¥₹₩]|(?:{'|'.join(_MONEY_WORDS)})\b)", re.IGNORECASE
)
_ABOUT: Final = re.compile(
    r"(?:(?P<about>about|around|approximately|approx\.?|roughly|some|circa|ca\.?|~|≈|nearly|almost|close to|"
    r"an estimated|estimated at|etwa|rund|environ|just (?:over|under))"
    r"|(?P<more>more than|over|above|at least|exceed(?:s|ed|ing)?|greater than|upwards? of|"
    r"no less than|>=?|≥|mehr als|über|plus de)"
    r"|(?P<less>less than|under|below|at most|fewer than|up to|no more than|<=?|≤|weniger als|unter|moins de))"
    r"\s*(?:a |the )?$",
    re.IGNORECASE,
)


def numbers(text: str) -> Iterator[Fact]:
    """The numbers of a text in digits and in words, with their units; dates are sought elsewhere."""
    for match in _NUMBER.finditer(text):
        yield _fact(text, match)
    for match in NUMBER_WORDS.finditer(text):
        value = value_of(match.group())
        if value is not None and not re.match(r"\s*\d", text[match.end() : match.end() + 2]):
            yield _measured(text, match.start(), match.end(), value, 0.0, "")
    for match in _ORDINAL_WORD.finditer(text):
        yield Fact("ordinal", match.group(), *match.span(), value=float(ORDINALS[match.group().lower()]))


_ORDINAL_WORD: Final = re.compile(rf"\b(?:{'|'.join(ORDINALS)})\b(?!\s+quarter|s\b)", re.IGNORECASE)


def _fact(text: str, match: re.Match[str]) -> Fact:
    value, step = _read(match.group("digits"))
    if match.group("ordinal"):
        return Fact("ordinal", match.group().strip(), match.start("digits"), match.end(), value=value)
    currency = match.group("before") or ""
    start = match.start("before") if currency else match.start("digits")
    return _measured(text, start, match.end(), value, step, currency)


def _read(digits: str) -> tuple[float, float]:
    """Value and step of written digits; a comma is a decimal one where it cannot group thousands."""
    plain = re.sub(r"[\u00a0\u202f’]", "", digits)
    if re.fullmatch(r"\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?", plain):
        plain = plain.replace(".", "").replace(",", ".")
    elif re.fullmatch(r"\d+,\d+", plain) and not re.fullmatch(r"\d{1,3},\d{3}", plain):
        plain = plain.replace(",", ".")
    else:
        plain = plain.replace(",", "")
    decimals = len(plain.partition(".")[2])
    return float(plain), 10.0**-decimals


def _measured(text: str, start: int, end: int, value: float, step: float, currency: str) -> Fact:
    """The number with the scale, unit or currency that follows it."""
    bound = _bound(text, start)
    scale = _SCALE.match(text, end)
    if scale and scale.group("short"):
        letter = scale.group("short").lower()
        if not (currency or letter in ("k", "bn", "tn") or scale.group("short") in ("M", "B")):
            scale = None
    if scale:
        factor = SCALES[scale.group("long").lower()] if scale.group("long") else SHORT_SCALES[letter]
        value, step, end = value * factor, step * factor, scale.end()
    kind, unit, value, step, end = _unit(text, end, value, step, currency)
    fact = Fact(kind, text[start:end], start, end, value=value, step=step, unit=unit, bound=bound)
    return _labelled(text, fact) if fact.bare else fact


def _labelled(text: str, fact: Fact) -> Fact:
    """A bare number with the unit that the name of its field gives it."""
    found = label_unit(text, fact.start, fact.end)
    if found is None or (found.unit == "duration" and fact.said.isdigit() and 1500 <= fact.value <= 2100):
        return fact
    size = 1.0 if found.scale else found.size
    return replace(
        fact, kind=found.kind, unit=found.unit, value=found.value(fact.value), step=fact.step * size, written=fact
    )


def _unit(text: str, end: int, value: float, step: float, currency: str) -> tuple[Kind, str, float, float, int]:
    if currency:
        return "money", CURRENCIES[currency.lower()], value, step, end
    if NEXT_FIELD.match(text, end):
        return "number", "", value, step, end
    if points := _POINTS.match(text, end):
        size = 0.01 if points.group("basis") else 1.0
        return "points", "", value * size, step * size, points.end()
    if percent := _PERCENT.match(text, end):
        return "percent", "", value, step, percent.end()
    if money := _CURRENCY.match(text, end):
        code, _, part = CURRENCIES[money.group("money").lower()].partition("/")
        size = 1 / float(part or 1)
        return "money", code, value * size, step * size, money.end()
    if found := _UNIT.match(text, end):
        name = found.group().strip().strip("-").strip().lower()
        if name in TEMPERATURES:
            return "measure", "temperature", kelvin(value, TEMPERATURES[name]), step, found.end()
        dimension, size = UNITS[name]
        return "measure", dimension, value * size, step * size, found.end()
    return "number", "", value, step, end


def _bound(text: str, start: int) -> str:
    said = _ABOUT.search(text[max(0, start - 24) : start])
    if not said:
        return ""
    return "~" if said.group("about") else ">" if said.group("more") else "<"

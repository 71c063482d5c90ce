"""Facts that a claim and its evidence must share exactly; here are numbers with their units, and all facts in order.

A unit may come from the name of a field: ``kilograms: 612``.
"""

import re
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from cragraph.language.facts.compare import Comparison, compare
from cragraph.language.facts.fact import Fact, Kind, dates, names, numbered
from cragraph.language.lexicon import LEXICON, meanings, pattern, words_of
from cragraph.language.markers import RAISED

__all__ = ["Comparison", "Fact", "Kind", "compare", "dates", "extract", "names", "numbers"]

SCALES: Final = {word: float(size) for word, size in meanings(LEXICON["scales"]).items()}
"""Scale words; they may follow any number."""

SHORT_SCALES: Final = {"k": 1e3, "m": 1e6, "mm": 1e6, "b": 1e9, "t": 1e12, "bn": 1e9, "tn": 1e12}
"""Letters that scale an amount of money, and ``k`` any number; elsewhere ``m`` is a metre."""


@dataclass(frozen=True)
class Unit:
    """A unit: its kind, dimension or currency, and its size in base units."""

    kind: Kind
    name: str = ""
    size: float = 1.0
    scale: str = ""
    """The temperature scale, C, F or K; empty for anything else."""

    def value(self, figure: float) -> float:
        """A written figure in base units; a temperature in kelvin."""
        if self.scale == "F":
            return (figure - 32) / 1.8 + 273.15
        return figure + 273.15 if self.scale == "C" else figure * self.size


def _money(code: str) -> Unit:
    """A currency by its code in the lexicon; ``USD/100`` is a hundredth of it."""
    currency, _, part = code.partition("/")
    return Unit("money", currency, 1 / float(part or 1))


# Names as written, in lower case.
_CURRENCIES: Final = {name: _money(code) for name, code in meanings(LEXICON["currencies"]).items()}
_MEASURES: Final = {
    name: Unit("measure", dimension, float(size))
    for dimension, sizes in LEXICON["units"].items()
    for name, size in meanings(sizes).items()
} | {name: Unit("measure", "temperature", scale=scale) for name, scale in meanings(LEXICON["temperatures"]).items()}
_PERCENTS: Final = dict.fromkeys(("%", "percent", "percentage", "pct", "per cent"), Unit("percent"))
_NAMED: Final = _MEASURES | _CURRENCIES | _PERCENTS

_LABEL: Final = re.compile(
    r"(?:^|[\n;|,.{}\[\]•]|[-*] )[ \t]*(?P<label>[\"'*_]*[^\W\d][^\n;|:=,.{}\[\]]{0,48})[ \t]*[:=][ \t\"'*_]*[-−–+]?$"
)
NEXT_FIELD: Final = re.compile(r"[ \t]*\n[ \t]*[\"'*_]*[^\W\d][^\n:=]{0,48}[:=][ \t\"'*_]*[-−–+$€£]?\d")
"""A field on the next line: its name is no unit of the figure above, ``kilograms: 612`` over ``litres: 4``."""
_FIELD_ENDS: Final = re.compile(r"[\"'*_]*\s*(?:$|[\n;|,}\])]|\.(?:\s|$))")
_IN_BRACKETS: Final = re.compile(r"[(\[](?P<inner>[^()\[\]]{1,24})[)\]][\"'*_\s]*$")
_MOST_WORDS: Final = 5  # words of a field's name at most; more words are a sentence
_BESIDE_MONEY: Final = SCALES | SHORT_SCALES  # scales beside a currency, where an ``m`` is no metre
_NOT_ALONE: Final = words_of("no_units_alone")
_AFTER_A_BAR: Final = words_of("units_after_a_bar")


def _field_unit(text: str, start: int, end: int) -> Unit | None:
    """The unit of the bare figure ``text[start:end]`` from its field's name; None without a field or unit.

    A field is a short name, a colon or an equals sign, a figure, and nothing more before the next field: "Within ten
    days: 3 people came" is no field. Its unit stands in brackets, as in ``weight (kg)``, or is the last word or two, as
    in ``net weight kg``, ``price_usd``, ``height_m``.
    """
    if not _FIELD_ENDS.match(text, end):
        return None
    field = _LABEL.search(text, max(0, start - 64), start)
    if not field or len(re.split(r"[\s_]+", label := field["label"].strip("\"'*_ \t").lower())) > _MOST_WORDS:
        return None
    if bracketed := _IN_BRACKETS.search(label):
        name = re.sub(r"^in\s+", "", bracketed["inner"].strip())
        return _NAMED.get(name) or _scaled_money(name) or _degrees(name, label)
    parts = re.split(r"([\s_-]+)", label)
    last, bar = parts[-1], len(parts) > 2 and "_" in parts[-2]
    if len(parts) > 2 and (unit := _NAMED.get(f"{parts[-3]} {last}")):
        return unit
    if last in _NOT_ALONE and not (bar and last in _AFTER_A_BAR):
        return _degrees(last, label, bar=bar)
    return _NAMED.get(last) or _degrees(last, label, bar=bar)


def _scaled_money(name: str) -> Unit | None:
    """``USD millions``, ``$m``, ``million euros``: an amount with its scale."""
    words = [word for word in re.split(r"[\s,]+|(?<=[$€£¥])", name) if word and word not in ("of", "in")]
    if len(words) != 2:
        return None
    for money, scale in (words, words[::-1]):
        if (unit := _CURRENCIES.get(money)) and scale in _BESIDE_MONEY:
            return replace(unit, size=unit.size * _BESIDE_MONEY[scale])
    return None


def _degrees(name: str, label: str, *, bar: bool = False) -> Unit | None:
    """``morning_c``, ``temperature (F)``."""
    known = name in ("c", "f") and (bar or "temp" in label)
    return Unit("measure", "temperature", scale=name.upper()) if known else None


_ONES: Final = {word: value for value, word in enumerate(LEXICON["to_nineteen"].split())}
_TENS: Final = {word: value * 10 for value, word in enumerate(LEXICON["tens"].split(), start=2)}
_BIG: Final = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}

ORDINALS: Final = {word: int(value) for word, value in meanings(LEXICON["ordinals"]).items()}
"""Ordinals as words; "first" and "second" are left out, because they mostly order an argument or measure time."""

_WORDS_SMALL: Final = "|".join([*_TENS, *sorted(_ONES, key=len, reverse=True)])
NUMBER_WORDS: Final = re.compile(
    rf"\b(?:(?:half\s+)?(?:a|an)\s+(?=hundred|thousand|million|billion|trillion|dozen)|)"
    rf"(?:{_WORDS_SMALL}|hundred|thousand|million|billion|trillion|dozen)"
    rf"(?:(?:[\s-]+and[\s-]+a[\s-]+half)?(?:[\s-]+|\s+and\s+)(?:{_WORDS_SMALL}|hundred|thousand|million|billion|trillion))*\b",
    re.IGNORECASE,
)
"""A number written in words."""


def value_of(words: str) -> float | None:
    """The value of a number in words; None for "one" alone, mostly a pronoun, and for a scale without a number."""
    parts = [part for part in re.split(r"[\s-]+", words.lower()) if part != "and"]
    if parts[0] == "half":
        whole = value_of(" ".join(parts[1:]))
        return whole and whole / 2
    article = parts[0] in ("a", "an")
    parts = parts[article:]
    if parts == ["one"] or (len(parts) == 1 and parts[0] in _BIG and not article):
        return None
    if parts[0] == "dozen":
        return 12.0 if article else None
    total, current = 0.0, 0.0
    for part in parts:
        if part in _ONES:
            current += _ONES[part]
        elif part in _TENS:
            current += _TENS[part]
        elif part == "hundred":
            current = max(current, 1) * 100
        elif part in _BIG:
            total += max(current, 1) * _BIG[part]
            current = 0
        elif part == "dozen":
            current = max(current, 1) * 12
        elif part == "half":
            current += 0.5
    return float(total + current)


_SYMBOL: Final = r"(?:US\$|HK\$|C\$|A\$|[$€£¥₹₩]|(?:USD|EUR|GBP|JPY|CNY|RMB|INR|CHF|CAD|AUD)\b)"
_POINTED: Final = r"\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}"  # 1.250,50
_DIGITS: Final = rf"{_POINTED}|\d{{1,3}}(?:[,\u00a0\u202f’]\d{{3}})+(?:\.\d+)?|\d+(?:[.,]\d+)?"
_GROUPED: Final = re.compile(
    r"(?<![\d.,])[1-9]\d{0,2}\.\d{3}(?![\d.,])(?!\s?(?:[kmbt]\b|[mbt]n|million|billion|mi[ol]|mrd))", re.IGNORECASE
)
_NUMBER: Final = re.compile(
    rf"(?P<before>{_SYMBOL})?\s?(?P<sign>[-−–+](?=\d))?(?<![\w.])(?P<digits>{_DIGITS})(?P<ordinal>st|nd|rd|th)?(?![\w]*@)"
)
_RAISED: Final = re.compile(rf"(?P<exponent>[⁺⁻]?[⁰¹²³⁴-⁹]+)(?![ⁿⁱ])|{RAISED}")
"""A raised figure behind another: an exponent behind a ten, else a mark that is no part of the figure, as ``^(a)``."""
_TIMES: Final = re.compile(r"(?P<factor>\d+(?:\.\d+)?)\s?[×·x*]\s?$")
_POWER_AHEAD: Final = re.compile(r"\s?[×·x*]\s?10[⁻⁺]?[⁰¹²³⁴-⁹]")
_MOST_EXPONENT: Final = 30
_PLAIN_DIGITS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_LONG: Final = sorted([*SCALES], key=len, reverse=True)
_SCALE: Final = re.compile(
    rf"(?:[\s-]?(?P<long>{'|'.join(_LONG)})\b(?:(?<=mio)\.|(?<=mrd)\.)?|\s?(?P<short>mm|bn|tn|[kKMmBbTt])(?![\w/²³°]))",
    re.IGNORECASE,
)
_UNIT_NAMES: Final = sorted(_MEASURES, key=len, reverse=True)
_UNIT: Final = re.compile(rf"[\s-]?(?:{'|'.join(map(re.escape, _UNIT_NAMES))})(?![\w²³/])", re.IGNORECASE)
_PERCENT: Final = re.compile(r"\s?(?:%|percent\b|per cent\b|pct\b|prozent\b|pour cent\b)", re.IGNORECASE)
_POINTS: Final = re.compile(
    r"(?:\s?%|\s?percent(?:age)?|\s?per cent)?[\s-]?(?:percentage[\s-]points?|points?\b(?<=points)|pp\b|ppt\b)"
    r"|[\s-]?(?P<basis>basis points?|bps\b|bp\b)",
    re.IGNORECASE,
)
_MONEY_WORDS: Final = sorted(
    (name for name in _CURRENCIES if name[0].isalpha() and "$" not in name), key=len, reverse=True
)
_CURRENCY: Final = re.compile(
    rf"\s?(?:US\s|U\.S\.\s)?(?P<money>[$€£¥₹₩]|(?:{'|'.join(_MONEY_WORDS)})\b)", re.IGNORECASE
)
_ABOUT: Final = pattern("about")

_COUNTS: Final = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4}
_PARTS: Final = {"half": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fifth": 5, "fifths": 5, "tenth": 10}
_FRACTION: Final = re.compile(
    rf"\b(?:(?P<count>{'|'.join(_COUNTS)})[\s-]+)(?P<part>{'|'.join(_PARTS)})(?=\s+(?:off?|less|cheaper|discount|reduction)\b)"
    r"|\bhalf(?=\s(?:off?|the|its|all|price)\b)",
    re.IGNORECASE,
)
"""A share in words: "two thirds of", "a tenth off", "half the"."""
_TIME: Final = re.compile(
    rf"\b(?:(?:(?P<count>{'|'.join(_COUNTS)})[\s-]+)?(?P<part>{'|'.join(_PARTS)})\s+(?:of\s+)?an?\s+(?P<unit>hour|year|day|mile)"
    rf"|an?\s+(?P<whole>hour|year|day|mile)\s+and\s+a\s+(?P<more>half|quarter))\b",
    re.IGNORECASE,
)
"""Parts of a unit in words: "three quarters of an hour", "a year and a half"."""
_PER: Final = re.compile(rf"(?:\d|\b(?:once|twice|times|{'|'.join(_ONES)}))\s$", re.IGNORECASE)
"""What makes "a year" a rate: "two a year and a half day more"."""
_NUMBERS: Final = rf"\d{{1,3}}|{'|'.join(sorted(_ONES, key=len, reverse=True))}|hundred|thousand"
_ONE_IN: Final = re.compile(
    rf"(?<![\w.,])(?P<some>{_NUMBERS})\s(?:in|out\sof)\s(?:(?:every|each|an?)\s)?(?P<all>{_NUMBERS})(?![\w%]|[.,:]\d)"
    rf"(?!\s(?:{'|'.join(' '.join(LEXICON['units']['duration'].values()).split())})\b)",
    re.IGNORECASE,
)
"""A share: "1 in 5", "three out of four", but not "two in 10 minutes"."""
_HOURS: Final = re.compile(
    r"(?<![\w.:])(?P<hours>\d{1,4}):(?P<minutes>[0-5]\d)(?::(?P<seconds>[0-5]\d))?\s?(?:hours|hrs|h)\b", re.IGNORECASE
)
_AT: Final = re.compile(r"\b(?:at|from|by|to|until|till|before|after|since|and|between)\s$|[-–]\s?$", re.IGNORECASE)
_ORDINAL_WORD: Final = re.compile(rf"\b(?:{'|'.join(ORDINALS)})\b(?!\s+quarter|s\b)", re.IGNORECASE)


def numbers(text: str) -> Iterator[Fact]:
    """The numbers of a text in digits and in words, with their units; without dates."""
    parts = [m for m in _TIME.finditer(text) if not (m["whole"] and _PER.search(text, 0, m.start()))]
    for match in parts:
        unit, bound = _MEASURES[(match["unit"] or match["whole"]).lower()], _bound(text, match.start())
        parts_of = _PARTS[(match["more"] or match["part"]).lower()]
        count = 1 + 1 / parts_of if match["more"] else _COUNTS[(match["count"] or "a").lower()] / parts_of
        yield Fact("measure", match.group(), *match.span(), unit.value(count), count, 0.0, unit.name, bound)
    for match in _FRACTION.finditer(text):
        if not any(part.start() <= match.start() < part.end() for part in parts):
            share = 100 * _COUNTS[(match["count"] or "a").lower()] / _PARTS[(match["part"] or "half").lower()]
            yield _share(text, match, share)
    for match in _ONE_IN.finditer(text):
        some, all_of = (float(part) if part.isdigit() else value_of(part) or 1.0 for part in match.group("some", "all"))
        if 0 < some < all_of:
            yield _share(text, match, 100 * some / all_of)
    for match in _HOURS.finditer(text):
        hours = int(match["hours"]) + int(match["minutes"]) / 60 + int(match["seconds"] or 0) / 3600
        if hours >= 24 or not _AT.search(text, max(0, match.start() - 9), match.start()):  # else a time of day
            yield Fact("measure", match.group(), *match.span(), hours * 3600, hours, 60.0, "duration")
    for match in _NUMBER.finditer(text):
        if not _POWER_AHEAD.match(text, match.end()):
            yield _fact(text, match)
    for match in NUMBER_WORDS.finditer(text):
        value = value_of(match.group())
        if value is not None and not re.match(r"\s*\d", text[match.end() : match.end() + 2]):
            yield _measured(text, match.start(), match.end(), value, 0.0, "")
    for match in _ORDINAL_WORD.finditer(text):
        yield Fact("ordinal", match.group(), *match.span(), value=float(ORDINALS[match.group().lower()]))


def _share(text: str, match: re.Match[str], share: float) -> Fact:
    bound = _bound(text, match.start())
    return Fact("percent", match.group(), *match.span(), share, share, step=1.0, bound=bound)


def _fact(text: str, match: re.Match[str]) -> Fact:
    value, step = _read(match.group("digits"))
    if match.group("ordinal"):
        return Fact("ordinal", match.group().strip(), match.start("digits"), match.end(), value=value)
    currency = match.group("before") or ""
    start, end = match.start("before") if currency else match.start("digits"), match.end()
    if behind := _RAISED.match(text, end):
        end = behind.end()
        exponent = (behind["exponent"] or "").translate(_PLAIN_DIGITS)
        if value == 10 and exponent and abs(int(exponent)) <= _MOST_EXPONENT:
            value, step = 10.0 ** int(exponent), 0.0
            if factor := _TIMES.search(text, max(0, start - 16), start):
                value, step = value * float(factor["factor"]), value * _read(factor["factor"])[1]
                start = factor.start()
    return _measured(text, start, end, value, step, currency)


def _read(digits: str) -> tuple[float, float]:
    """Value and step of written digits; a comma is a decimal comma if it cannot group thousands."""
    plain = re.sub(r"[\u00a0\u202f’]", "", digits)
    if re.fullmatch(_POINTED, plain):
        plain = plain.replace(".", "").replace(",", ".")
    elif re.fullmatch(r"\d+,\d+", plain) and not re.fullmatch(r"\d{1,3},\d{3}", plain):
        plain = plain.replace(",", ".")
    else:
        plain = plain.replace(",", "")
    decimals = len(plain.partition(".")[2])
    return float(plain), 10.0**-decimals


def _measured(text: str, start: int, end: int, value: float, step: float, currency: str) -> Fact:
    """The number with the scale, unit or currency that follows it."""
    scale = _SCALE.match(text, end)
    letters = (scale and scale["short"]) or ""
    if scale and (not letters or currency or letters.lower() in ("k", "bn", "tn") or letters in ("M", "B")):
        factor = SHORT_SCALES[letters.lower()] if letters else SCALES[scale["long"].lower()]
        value, step, end = value * factor, step * factor, scale.end()
    unit, end = (_CURRENCIES[currency.lower()], end) if currency else _unit(text, end)
    if unit.kind == "money" and _GROUPED.search(text, start, end):  # no currency has thousandths: 1.250 euros
        value, step = value * 1000, 1.0
    bound, step = _bound(text, start), step * unit.size
    fact = Fact(unit.kind, text[start:end], start, end, unit.value(value), value, step, unit.name, bound)
    field = _field_unit(text, start, end) if fact.bare else None
    if field is None or (field.name == "duration" and fact.text.isdigit() and 1500 <= value <= 2100):
        return fact
    return replace(
        fact, kind=field.kind, unit=field.name, value=field.value(value), step=step * field.size, written=fact
    )


def _unit(text: str, end: int) -> tuple[Unit, int]:
    """The unit that follows a figure, and its end."""
    if NEXT_FIELD.match(text, end):
        return Unit("number"), end
    if points := _POINTS.match(text, end):
        return Unit("points", size=0.01 if points["basis"] else 1.0), points.end()
    if percent := _PERCENT.match(text, end):
        return Unit("percent"), percent.end()
    if money := _CURRENCY.match(text, end):
        return _CURRENCIES[money["money"].lower()], money.end()
    if measure := _UNIT.match(text, end):
        return _MEASURES[measure.group().strip().strip("-").strip().lower()], measure.end()
    return Unit("number"), end


def _bound(text: str, start: int) -> str:
    words = _ABOUT.search(text[max(0, start - 24) : start])
    if not words:
        return ""
    return "~" if words.group("about") else ">" if words.group("more") else "<"


@lru_cache(maxsize=8192)
def extract(text: str) -> tuple[Fact, ...]:
    """The numbers, dates and names of a text in order of appearance; no two overlap.

    A figure in a field with a unit is no year: ``kilograms: 2012``. A figure that numbers a thing is part of its name.
    """
    figures = list(numbers(text))
    measured = {fact.start for fact in figures if fact.written or (fact.unit == "duration" and ":" in fact.text)}
    facts: list[Fact] = []
    for fact in (*(date for date in dates(text) if date.start not in measured), *figures):
        if not _overlaps(fact, facts):
            insort(facts, (numbered(text, fact) if fact.bare else None) or fact, key=_start)
    named = [fact for fact in names(text) if not _overlaps(fact, facts)]
    return tuple(sorted(facts + named, key=lambda fact: (fact.start, fact.end)))


def _start(fact: Fact) -> int:
    return fact.start


def _overlaps(fact: Fact, others: Sequence[Fact]) -> bool:
    """Whether a fact overlaps one of the others, which are in order and disjoint."""
    after = bisect_left(others, fact.end, key=_start)
    return after > 0 and others[after - 1].end > fact.start

"""Units, currencies and scales, and the ones that the name of a field gives: ``kilograms: 612``, ``price_usd: 12``."""

import re
from dataclasses import dataclass
from typing import Final

from cragraph.text.facts.fact import Kind
from cragraph.text.lexicon import LEXICON, meanings, words_of

SCALES: Final = {word: float(size) for word, size in meanings(LEXICON["scales"]).items()}
"""Scale words; they may follow any number."""

SHORT_SCALES: Final = {"k": 1e3, "m": 1e6, "mm": 1e6, "b": 1e9, "t": 1e12, "bn": 1e9, "tn": 1e12}
"""Letters that scale an amount of money, and ``k`` any number; elsewhere ``m`` is a metre."""

CURRENCIES: Final = meanings(LEXICON["currencies"])
"""Currencies as they are written, in lower case; ``USD/100`` is a hundredth of one."""

UNITS: Final[dict[str, tuple[str, float]]] = {
    name: (dimension, float(size))
    for dimension, sizes in LEXICON["units"].items()
    for name, size in meanings(sizes).items()
}
"""Unit as written, in lower case, to its dimension and its size in base units."""

TEMPERATURES: Final = meanings(LEXICON["temperatures"])


def kelvin(value: float, scale: str) -> float:
    """A temperature in kelvin."""
    if scale == "C":
        return value + 273.15
    return (value - 32) / 1.8 + 273.15 if scale == "F" else value


_LABEL: Final = re.compile(
    r"(?:^|[\n;|,.{}\[\]•]|[-*] )[ \t]*(?P<label>[\"'*_]*[^\W\d][^\n;|:=,.{}\[\]]{0,48})[ \t]*[:=][ \t\"'*_]*[-−–+]?$"
)
NEXT_FIELD: Final = re.compile(r"[ \t]*\n[ \t]*[\"'*_]*[^\W\d][^\n:=]{0,48}[:=][ \t\"'*_]*[-−–+$€£]?\d")
"""A field on the next line: its name is no unit of the figure above, ``kilograms: 612`` over ``litres: 4``."""
_FIELD_ENDS: Final = re.compile(r"[\"'*_]*\s*(?:$|[\n;|,}\])]|\.(?:\s|$))")
_IN_BRACKETS: Final = re.compile(r"[(\[](?P<inner>[^()\[\]]{1,24})[)\]][\"'*_\s]*$")
_WORDS: Final = 5
"""Words of a field's name at most; more is a sentence."""

_PERCENT: Final = frozenset(("%", "percent", "percentage", "pct", "per cent"))
_BESIDE_MONEY: Final = SCALES | SHORT_SCALES
"""Scales beside a currency, where an ``m`` is no metre."""
_NOT_ALONE: Final = words_of("no_units_alone")
_AFTER_A_BAR: Final = words_of("units_after_a_bar")
_DEGREES: Final = {"c": "C", "f": "F"}


@dataclass(frozen=True)
class LabelUnit:
    """The unit that a field's name gives its figure: kind, unit, and size in base units."""

    kind: Kind
    unit: str
    size: float = 1.0
    scale: str = ""
    """The temperature scale, C, F or K; empty for anything else."""

    def value(self, written: float) -> float:
        """A figure as written, in base units."""
        return kelvin(written, self.scale) if self.scale else written * self.size


def label_unit(text: str, start: int, end: int) -> LabelUnit | None:
    """The unit that the field's name gives the bare figure ``text[start:end]``; None without a field or unit.

    A field is a short name, a colon or an equals sign, a figure, and nothing more before the next field: in "Within ten
    days: 3 people came" nothing is read as days.
    """
    if not _FIELD_ENDS.match(text, end):
        return None
    found = _LABEL.search(text, max(0, start - 64), start)
    if not found or len(re.split(r"[\s_]+", label := found["label"].strip("\"'*_ \t"))) > _WORDS:
        return None
    if bracketed := _IN_BRACKETS.search(label):
        return _of_bracket(bracketed["inner"], label)
    return _of_name(label)


def _of_bracket(inner: str, label: str) -> LabelUnit | None:
    """The unit in brackets: ``kg``, ``in US$ millions``, ``%``."""
    said = re.sub(r"^in\s+", "", inner.strip().lower())
    if not (unit := _unit(said)):
        return _money_in(said) or _degrees(said, label)
    return unit


def _of_name(label: str) -> LabelUnit | None:
    """The last word of a name, or its last two, as in ``net weight kg``, ``price_usd``, ``height_m``."""
    parts = re.split(r"([\s_-]+)", label.lower())
    last, bar = parts[-1], len(parts) > 2 and "_" in parts[-2]
    if len(parts) > 2 and (unit := _unit(f"{parts[-3]} {last}")):
        return unit
    if last in _NOT_ALONE and not (bar and last in _AFTER_A_BAR):
        return _degrees(last, label)
    return _unit(last) or _degrees(last, label)


def _unit(name: str) -> LabelUnit | None:
    if name in _PERCENT:
        return LabelUnit("percent", "")
    if name in TEMPERATURES:
        return LabelUnit("measure", "temperature", scale=TEMPERATURES[name])
    if name in CURRENCIES:
        code, _, part = CURRENCIES[name].partition("/")
        return LabelUnit("money", code, 1 / float(part or 1))
    if name in UNITS:
        return LabelUnit("measure", *UNITS[name])
    return None


def _money_in(said: str) -> LabelUnit | None:
    """``USD millions``, ``$m``, ``million euros``: an amount with its scale."""
    words = [word for word in re.split(r"[\s,]+|(?<=[$€£¥])", said) if word and word not in ("of", "in")]
    if len(words) != 2:
        return None
    for money, scale in (words, words[::-1]):
        if (unit := _unit(money)) and unit.kind == "money" and scale in _BESIDE_MONEY:
            return LabelUnit("money", unit.unit, unit.size * _BESIDE_MONEY[scale])
    return None


def _degrees(name: str, label: str) -> LabelUnit | None:
    """``temp_c``, ``temperature (F)``."""
    if name in _DEGREES and re.search(r"temp", label, re.IGNORECASE):
        return LabelUnit("measure", "temperature", scale=_DEGREES[name])
    return None

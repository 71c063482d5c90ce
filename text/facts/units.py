"""Units, currencies and scales, and the ones that the name of a field gives: ``kilograms: 612``, ``price_usd: 12``."""

import re
from dataclasses import dataclass
from typing import Final

from cragraph.text.facts.fact import Kind
from cragraph.text.lexicon import listed

SCALES: Final = {
    "thousand": 1e3, "thousands": 1e3, "million": 1e6, "millions": 1e6, "billion": 1e9, "billions": 1e9,
    "trillion": 1e12, "trillions": 1e12, "mn": 1e6, "mln": 1e6, "bn": 1e9, "bln": 1e9, "tn": 1e12, "trn": 1e12,
    "mio": 1e6, "mrd": 1e9, "tausend": 1e3, "millionen": 1e6, "milliarde": 1e9, "milliarden": 1e9, "milliard": 1e9,
    "milliards": 1e9, "lakh": 1e5, "crore": 1e7, "hundred": 1e2, "dozen": 12.0,
}  # fmt: skip
"""Scale words; they may follow any number."""

SHORT_SCALES: Final = {"k": 1e3, "m": 1e6, "mm": 1e6, "b": 1e9, "t": 1e12, "bn": 1e9, "tn": 1e12}
"""Letters that scale an amount of money, and ``k`` any number; elsewhere ``m`` is a metre."""

CURRENCIES: Final = {
    "$": "USD", "us$": "USD", "usd": "USD", "dollar": "USD", "dollars": "USD", "€": "EUR", "eur": "EUR",
    "euro": "EUR", "euros": "EUR", "£": "GBP", "gbp": "GBP", "pound sterling": "GBP", "pounds sterling": "GBP",
    "¥": "JPY", "jpy": "JPY", "yen": "JPY", "rmb": "CNY", "cny": "CNY", "yuan": "CNY", "₹": "INR", "inr": "INR",
    "rupee": "INR", "rupees": "INR", "chf": "CHF", "francs": "CHF", "₩": "KRW", "won": "KRW", "cad": "CAD", "c$": "CAD",
    "aud": "AUD", "a$": "AUD", "hk$": "HKD", "cent": "USD/100", "cents": "USD/100",
}  # fmt: skip

_MEASURES: Final = {
    "length": "m metre metres meter meters=1, km kilometre kilometres kilometer kilometers=1e3, cm centimetre"
    " centimetres centimeter centimeters=1e-2, mm millimetre millimetres millimeter millimeters=1e-3, nm nanometre"
    " nanometres nanometer nanometers=1e-9, mi mile miles=1609.344, ft foot feet=0.3048, inch inches=0.0254,"
    " yd yard yards=0.9144",
    "mass": "g gram grams=1, kg kilogram kilograms kilo kilos=1e3, mg milligram milligrams=1e-3, µg μg mcg microgram"
    " micrograms=1e-6, t tonne tonnes metric_tons metric_ton=1e6, ton tons=907184.74, lb lbs pound pounds=453.59237,"
    " oz ounce ounces=28.349523125",
    "duration": "ms millisecond milliseconds=1e-3, s sec secs second seconds=1, min mins minute minutes=60, h hr hrs"
    " hour hours stunde stunden=3600, day days tag tage tagen jour jours=86400, week weeks woche wochen=604800,"
    " month months monat monate monaten mois=2629746, year years yr yrs jahr jahre jahren ans=31556952,"
    " decade decades=315569520, century centuries=3155695200",
    "data": "byte bytes=1, kb kilobyte kilobytes=1e3, mb megabyte megabytes=1e6, gb gigabyte gigabytes=1e9,"
    " tb terabyte terabytes=1e12",
    "area": "square_metres square_meters m² sqm=1, square_kilometres square_kilometers km² km2=1e6, square_miles"
    " sq_mi=2589988.11, square_feet sq_ft=0.09290304, acre acres=4046.8564224, hectare hectares ha=1e4",
    "volume": "l litre litres liter liters=1, ml millilitre millilitres milliliter milliliters=1e-3,"
    " gallon gallons=3.785411784, barrel barrels=158.987",
    "speed": "km/h kph kmh=0.2777777777777778, mph miles_per_hour=0.44704, m/s=1",
    "power": "watt watts=1, kw kilowatt kilowatts=1e3, mw megawatt megawatts=1e6, gw gigawatt gigawatts=1e9",
    "energy": "kwh=1, mwh=1e3, gwh=1e6, twh=1e9",
    "frequency": "hz=1, khz=1e3, mhz=1e6, ghz=1e9",
}

UNITS: Final[dict[str, tuple[str, float]]] = {
    name.replace("_", " "): (dimension, float(size))
    for dimension, units in _MEASURES.items()
    for names, size in (unit.split("=") for unit in units.split(", "))
    for name in names.split()
}
"""Unit as written, in lower case, to its dimension and its size in base units."""

TEMPERATURES: Final = {"°c": "C", "° c": "C", "degrees celsius": "C", "celsius": "C", "°f": "F", "° f": "F",
                       "degrees fahrenheit": "F", "fahrenheit": "F", "kelvin": "K"}  # fmt: skip


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
_BESIDE_MONEY: Final = {**SCALES, "k": 1e3, "m": 1e6, "mm": 1e6, "mn": 1e6, "b": 1e9}
"""Scales beside a currency, where an ``m`` is no metre."""
_NOT_ALONE: Final = frozenset(
    listed(
        """
    m g s h t l min second minute hour day week month year yr tag tage jour ans mois woche monat jahr decade century
    won cad foot mi ha k b hundred dozen cent tn
        """
    )
)
"""Names that as the last word of a field's name mean something else: `min`, `games won`, the number of a `month`."""
_AFTER_A_BAR: Final = frozenset(listed("m g s h l yr cad mi ha"))
"""Those of them that are units after an underscore: `height_m`, `price_cad`."""
_DEGREES: Final = {"c": "C", "f": "F"}


@dataclass(frozen=True)
class LabelUnit:
    """What the name of a field says of its figure: its kind, unit, and size in base units."""

    kind: Kind
    unit: str
    size: float = 1.0
    scale: str = ""
    """The temperature scale, C, F or K; empty for anything else."""

    def value(self, written: float) -> float:
        """A figure as written, in base units."""
        return kelvin(written, self.scale) if self.scale else written * self.size


def label_unit(text: str, start: int, end: int) -> LabelUnit | None:
    """The unit that the field's name gives the bare figure ``text[start:end]``; None where it is no field or has none.

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
    """``kg``, ``in US$ millions``, ``%``: what brackets hold is a unit, whatever it may mean elsewhere."""
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

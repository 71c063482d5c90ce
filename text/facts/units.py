"""Units: their dimension and their size in the dimension's base unit; currencies; scales of numbers."""

from typing import Final

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

_LENGTH: Final[dict[tuple[str, ...], float]] = {
    ("m", "metre", "metres", "meter", "meters"): 1.0,
    ("km", "kilometre", "kilometres", "kilometer", "kilometers"): 1e3,
    ("cm", "centimetre", "centimetres", "centimeter", "centimeters"): 1e-2,
    ("mm", "millimetre", "millimetres", "millimeter", "millimeters"): 1e-3,
    ("nm", "nanometre", "nanometres", "nanometer", "nanometers"): 1e-9,
    ("mi", "mile", "miles"): 1609.344,
    ("ft", "foot", "feet"): 0.3048,
    ("inch", "inches"): 0.0254,
    ("yd", "yard", "yards"): 0.9144,
}
_MASS: Final[dict[tuple[str, ...], float]] = {
    ("g", "gram", "grams"): 1.0,
    ("kg", "kilogram", "kilograms", "kilo", "kilos"): 1e3,
    ("mg", "milligram", "milligrams"): 1e-3,
    ("µg", "μg", "mcg", "microgram", "micrograms"): 1e-6,
    ("t", "tonne", "tonnes", "metric tons", "metric ton"): 1e6,
    ("ton", "tons"): 907184.74,
    ("lb", "lbs", "pound", "pounds"): 453.59237,
    ("oz", "ounce", "ounces"): 28.349523125,
}
_TIME: Final[dict[tuple[str, ...], float]] = {
    ("ms", "millisecond", "milliseconds"): 1e-3,
    ("s", "sec", "secs", "second", "seconds"): 1.0,
    ("min", "mins", "minute", "minutes"): 60.0,
    ("h", "hr", "hrs", "hour", "hours"): 3600.0,
    ("day", "days", "tag", "tage", "jour", "jours"): 86400.0,
    ("week", "weeks", "woche", "wochen"): 604800.0,
    ("month", "months", "monat", "monate", "mois"): 2629746.0,
    ("year", "years", "yr", "yrs", "jahr", "jahre", "ans"): 31556952.0,
    ("decade", "decades"): 315569520.0,
    ("century", "centuries"): 3155695200.0,
}
_DATA: Final[dict[tuple[str, ...], float]] = {
    ("byte", "bytes"): 1.0,
    ("kb", "kilobyte", "kilobytes"): 1e3,
    ("mb", "megabyte", "megabytes"): 1e6,
    ("gb", "gigabyte", "gigabytes"): 1e9,
    ("tb", "terabyte", "terabytes"): 1e12,
}
_AREA: Final[dict[tuple[str, ...], float]] = {
    ("square metres", "square meters", "m²", "sqm"): 1.0,
    ("square kilometres", "square kilometers", "km²", "km2"): 1e6,
    ("square miles", "sq mi"): 2589988.11,
    ("square feet", "sq ft"): 0.09290304,
    ("acre", "acres"): 4046.8564224,
    ("hectare", "hectares", "ha"): 1e4,
}
_VOLUME: Final[dict[tuple[str, ...], float]] = {
    ("l", "litre", "litres", "liter", "liters"): 1.0,
    ("ml", "millilitre", "millilitres", "milliliter", "milliliters"): 1e-3,
    ("gallon", "gallons"): 3.785411784,
    ("barrel", "barrels"): 158.987,
}
_SPEED: Final[dict[tuple[str, ...], float]] = {
    ("km/h", "kph", "kmh"): 1 / 3.6,
    ("mph", "miles per hour"): 0.44704,
    ("m/s",): 1.0,
}
_POWER: Final[dict[tuple[str, ...], float]] = {
    ("watt", "watts"): 1.0, ("kw", "kilowatt", "kilowatts"): 1e3, ("mw", "megawatt", "megawatts"): 1e6,
    ("gw", "gigawatt", "gigawatts"): 1e9,
}  # fmt: skip
_ENERGY: Final[dict[tuple[str, ...], float]] = {("kwh",): 1.0, ("mwh",): 1e3, ("gwh",): 1e6, ("twh",): 1e9}
_FREQUENCY: Final[dict[tuple[str, ...], float]] = {("hz",): 1.0, ("khz",): 1e3, ("mhz",): 1e6, ("ghz",): 1e9}

_DIMENSIONS: Final[dict[str, dict[tuple[str, ...], float]]] = {
    "length": _LENGTH, "mass": _MASS, "duration": _TIME, "data": _DATA, "area": _AREA, "volume": _VOLUME,
    "speed": _SPEED, "power": _POWER, "energy": _ENERGY, "frequency": _FREQUENCY,
}  # fmt: skip

UNITS: Final[dict[str, tuple[str, float]]] = {
    name: (dimension, size)
    for dimension, table in _DIMENSIONS.items()
    for names, size in table.items()
    for name in names
}
"""Unit as written, in lower case, to its dimension and its size in base units."""

TEMPERATURES: Final = {"°c": "C", "° c": "C", "degrees celsius": "C", "celsius": "C", "°f": "F", "° f": "F",
                       "degrees fahrenheit": "F", "fahrenheit": "F", "kelvin": "K"}  # fmt: skip


def kelvin(value: float, scale: str) -> float:
    """A temperature in kelvin."""
    if scale == "C":
        return value + 273.15
    return (value - 32) / 1.8 + 273.15 if scale == "F" else value

"""Headings of columns: the name in plain words, and the unit."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from cragraph.language.lexicon import LEXICON, listed, meanings
from cragraph.language.markers import RAISED
from cragraph.language.words import content_words, stem

CURRENCIES: Final = {
    sign.upper(): code for sign, code in meanings(LEXICON["currencies"]).items() if not re.search(r"[a-z]{3}", sign)
}
"""Signs of currencies, as in `facts`."""
UNITS: Final = {
    **{code.lower(): code for code in LEXICON["dimension_units"]["money"].split()},
    **{unit.lower(): unit for unit in LEXICON["heading_units"]["as_written"].split()},
    **{name: unit for unit, names in LEXICON["heading_units"]["names"].items() for name in names.split()},
    **CURRENCIES,
}
"""Units in headings and behind figures, in lower case, with the usual form of each."""
MEANINGS: Final = tuple(tuple(map(stem, line.split())) for line in LEXICON["columns"].strip().splitlines())
"""Words of a question that mean the same column, whichever of them its heading has."""
_LONE: Final = frozenset({"c", "f"})  # degrees, behind a measured thing
_LETTERS: Final = frozenset({"m", "g", "l", "h"})  # units in brackets, behind a bar, or behind the measured thing
_MEASURED: Final = listed(LEXICON["heading_units"]["measured"])
_IN_BRACKETS: Final = re.compile(r"\s*[(\[](?:in )?([^()\[\]]{1,12})[)\]]\s*$", re.I)


_MARK: Final = re.compile(rf"(?<=[^\W\d_]{{3}}){RAISED}(?=\s|$)")  # of a footnote


class Header(NamedTuple):
    """A heading's words without its unit, in lower case but for names; and the unit in its usual form, or empty."""

    words: str
    unit: str = ""

    @property
    def title(self) -> str:
        """The words with a capital."""
        return self.words[:1].upper() + self.words[1:]


@lru_cache(maxsize=4096)
def read_header(name: str) -> Header:
    """Read a heading: ``deposit_gbp`` is the deposit in GBP; ``Units sold`` and ``price_per_kg`` have no unit; a
    heading that is only a unit (``kWh``) is both name and unit."""
    name = _MARK.sub("", name)
    bracketed = _IN_BRACKETS.search(name)
    if bracketed and (unit := UNITS.get(bracketed[1].strip().lower())):
        return Header(_plain(name[: bracketed.start()]), unit)
    parts = re.split(r"([\s_]+)", _spaced(name.strip()).strip("_ "))
    words, bars = parts[::2], parts[1::2]
    last = words[-1].lower()
    unit = UNITS.get(last, "")
    if last in _LONE and len(words) > 1 and "_" in bars[-1]:
        unit = "°" + last.upper()
    elif last in _LETTERS and not (len(words) > 1 and ("_" in bars[-1] or words[-2].lower() in _MEASURED)):
        unit = ""
    if not unit or (len(words) > 1 and words[-2].lower() in ("per", "a", "each")):
        return Header(_plain(name), "")
    if len(words) == 1:
        return Header(_plain(name), unit)
    rest = words[:-1] if words[-2].lower() != "in" else words[:-2]
    return Header(_plain(" ".join(rest)) or _plain(name), unit)


def _spaced(name: str) -> str:
    """``unitPrice`` as ``unit price``; kWh is one word."""
    return re.sub(r"(?<=[a-z]{2})([A-Z])(?=[a-z])", lambda letter: f" {letter[1].lower()}", name)


def _plain(name: str) -> str:
    spaced = re.sub(r"[_\s]+", " ", _spaced(name.replace(".", " "))).strip()
    first, _, rest = spaced.partition(" ")
    # "Unit price" is no name, "Q1" and "kWh" are written so.
    return f"{first.lower() if first[1:].islower() or len(first) == 1 else first} {rest}".strip()


@lru_cache(maxsize=1024)
def meant_by(heading: str) -> tuple[tuple[str, ...], ...]:
    """For each word of a column's heading its synonyms, the word itself first."""
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", heading)
    own = content_words(plain)
    return tuple((word, *(other for group in MEANINGS if word in group for other in group)) for word in own)

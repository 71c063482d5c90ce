"""A fact, and those that are names."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from cragraph.language.lexicon import OPENERS, words_of

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

"""Figures, dates and names of a claim that no passage has in any form; figures that follow by arithmetic."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from typing import Final

from cragraph.language.facts import Fact, extract
from cragraph.types import Evidence, Passage

MOST_FIGURES: Final = 8  # quoted figures that are combined at most: from more figures, any result follows
_DIGITS: Final = re.compile(r"\d+(?:[.,:\u00a0\u202f’']\d+)*")
_ONE_IN: Final = re.compile(r"\b(?:one|1) (?:in|of|out of) (?:every )?(\w+)\b", re.I)
_CLOCK: Final = re.compile(r"\b(\d{1,2})(?:[.:](\d\d))?\s*([ap])\.?m\b", re.I)


def unstated(claim: str, passages: Sequence[Passage], question: str, evidence: Sequence[Evidence]) -> list[Fact]:
    """The figures, dates and names of a claim that neither a passage nor the question has in any form.

    A figure is compared as a number, whatever its unit, currency or way of writing; a name by its letters, without
    accents and case. File names and column names count as text of the passages. A figure that follows from the figures
    of quotes and question by one or two steps of arithmetic counts as stated.
    """
    rates = list(_rates(claim))
    lacking = [fact for fact in extract(claim) if fact.kind not in ("ordinal", "quarter")]
    if not lacking:
        return []
    about = [passage["filename"] or "" for passage in passages]
    said = "\n".join([question, *about, *(_whole(passage) for passage in passages)])
    values, letters = set(_values(said)), _letters(said)
    given = _figures([*(one["quote"] for one in evidence), question])
    for start, end, share in rates:
        if share in values:
            lacking = [fact for fact in lacking if not start <= fact.start < end]
    return [fact for fact in lacking if not _stated(fact, values, letters) and not working(fact, given)]


Figure = tuple[float, str, bool]
"""A number, how it is shown, and whether it is a percentage."""


def _figures(texts: Sequence[str]) -> list[Figure]:
    """The figures of some texts that can be calculated with, `MOST_FIGURES` at most."""
    found: dict[float, Figure] = {}
    for fact in (fact for text in texts for fact in extract(text)):
        if fact.kind in ("number", "percent", "points", "money", "measure") and fact.figure:
            found.setdefault(fact.figure, (fact.figure, fact.text.strip(), fact.kind == "percent"))
        elif fact.kind == "date" and fact.date[0] and not any(fact.date[1:]):
            found.setdefault(float(fact.date[0]), (float(fact.date[0]), fact.text.strip(), False))
    return list(found.values())[:MOST_FIGURES]


def working(fact: Fact, given: Sequence[Figure]) -> str:
    """The formula by which a figure follows from given figures, such as ``612 - 548``, in one or two steps; else
    empty."""
    if fact.kind not in ("number", "percent", "points", "money", "measure"):
        return ""
    wanted, step = fact.figure or fact.value, fact.step
    near = max(0.5 * step if step < 1 or fact.kind == "percent" else 0.0, 1e-6 * abs(wanted), 1e-9)
    near = max(near, 0.05 * abs(wanted)) if fact.bound == "~" else near
    share = fact.kind == "percent"
    once = list(_combined(permutations(given, 2), share))
    twice = ((one, other) for one in once for other in given)
    for value, how, _ in (*once, *_combined((((v, f"({h})", p), o) for (v, h, p), o in twice), share)):
        if abs(value - wanted) <= near:
            return how
    whole = [figure for figure in given if not figure[2]]
    added = len(whole) > 2 and abs(sum(value for value, _, _ in whole) - wanted) <= near
    return " + ".join(how for _, how, _ in whole) if added else ""


def _combined(pairs: Iterable[tuple[Figure, Figure]], share: bool) -> Iterator[Figure]:
    """Each pair added, subtracted, multiplied and divided; a percentage taken of, on and off the other figure.

    With `share` also one figure as a percentage of the other, and the change from one to the other.
    """
    for (a, one, first), (b, other, second) in pairs:
        if second and not first:
            yield a * b / 100, f"{other} of {one}", False
            yield a * (1 + b / 100), f"{one} plus {other}", False
            yield a * (1 - b / 100), f"{one} less {other}", False
        if first == second:
            yield a + b, f"{one} + {other}", first
            yield abs(a - b), f"{one} - {other}" if a >= b else f"{other} - {one}", first
        if not (first or second):
            yield a * b, f"{one} × {other}", False
            if b:
                yield a / b, f"{one} / {other}", False
        if b and share:
            yield 100 * a / b, f"{one} as a percentage of {other}", True
            yield 100 * abs(a - b) / b, f"the change from {other} to {one}", True


def _rates(text: str) -> Iterator[tuple[int, int, float]]:
    """Each "one in five" of a text, with its percentage."""
    for match in _ONE_IN.finditer(text):
        yield from ((*match.span(), 100 / fact.figure) for fact in extract(match[1]) if fact.figure)


def _stated(fact: Fact, values: set[float], letters: str) -> bool:
    if fact.kind == "name":
        return all(_letters(word) in letters for word in fact.words if len(word) > 1)
    if fact.kind == "date":
        return all(part is None or float(part) in values for part in (fact.date[0], fact.date[2]))
    numbers = {fact.value, fact.figure, *_values(fact.text)}
    return not numbers or not values.isdisjoint(numbers)


def _values(text: str) -> Iterator[float]:
    """Every number of a text, in each way in which its digits can be read, and numbers in words."""
    for match in _DIGITS.finditer(text):
        digits = match[0]
        plain = re.sub(r"[^\d]", "", digits)
        yield float(plain)
        whole, _, last = digits.rpartition(digits[-3]) if len(digits) > 3 and not digits[-3].isdigit() else ("", "", "")
        for form in (re.sub(r"[^\d.]", "", digits), re.sub(r"[^\d,]", "", digits).replace(",", ".")):
            if form.count(".") == 1 and not form.endswith("."):
                yield float(form)
        if whole:
            yield float(f"{re.sub('[^0-9]', '', whole)}.{last}")
        yield from (float(part) for part in re.findall(r"\d+", digits))
    for match in _CLOCK.finditer(text):
        yield float(int(match[1]) % 12 + (12 if match[3].lower() == "p" else 0))
    for fact in extract(text):
        if fact.kind == "name":
            continue
        yield from (fact.value, fact.figure)
        if fact.kind == "time":
            yield fact.value / 60
    yield from (share for _, _, share in _rates(text))


def _letters(text: str) -> str:
    """The letters and digits of a text, without accents, case and spaces."""
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss")).casefold()
    return "".join(letter for letter in plain if letter.isalnum())


def _whole(passage: Passage) -> str:
    """The text of a passage with the headings above it."""
    about = passage["metadata"]
    inside = [str(entry[-1]) for entry in about.get("headings") or () if isinstance(entry, list | tuple) and entry]
    return "\n".join([str(about.get("heading") or ""), *inside, passage["text"]])

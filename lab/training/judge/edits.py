"""Small edits that turn a true sentence into a false one: one function a kind of error.

Every edit returns the replacements `(start, end, new text)` to make and the class of the edited claim, or None where
the sentence holds nothing of that kind. An edit is a plain replacement, so that it can be made in the claim, in the
passage, or in both: a model that looks at the claim alone then learns nothing from it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from lab.training.judge.lexicon import OPPOSITE
from lab.training.judge.rows import CONTRADICTED, NOT_SUPPORTED, UNSUPPORTED
from lab.training.judge.words import AUXILIARY, MONTHS, NUMBER_WORDS, OPPOSITES, UNITS, WEEKDAYS

Edit = tuple[list[tuple[int, int, str]], int]


@dataclass(frozen=True)
class Material:
    """What edits draw from: names and details of other texts, and the words near each word."""

    names: Sequence[str]
    details: Sequence[str]
    near: Mapping[str, Sequence[str]]


_NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?![\w-])")
_NAME = re.compile(r"(?<!^)(?<![.!?:\"“] )\b[A-Z][a-z]+(?:['’-][A-Z]?[a-z]+)?(?: (?:of |the |de |van )?[A-Z][a-z]+)*")
_SKIP = frozenset({*MONTHS, *WEEKDAYS, "The", "He", "She", "It", "They", "In", "On", "At", "This", "We", "I", "A"})


def names(text: str) -> list[str]:
    """Capitalised phrases that are not at the start of a sentence."""
    return [m.group() for m in _NAME.finditer(text) if m.group() not in _SKIP]


def edit_number(text: str, rng: Random, material: Material) -> Edit | None:
    """Another figure of the same look; a year stays a plausible year."""
    found = list(_NUMBER.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    return [(match.start(), match.end(), other_number(match.group(), rng))], CONTRADICTED


def other_number(number: str, rng: Random) -> str:
    """A different number written the same way."""
    plain = number.replace(",", "")
    if re.fullmatch(r"1[5-9]\d\d|20\d\d", number):
        return str(int(number) + rng.choice([-1, 1]) * rng.choice([1, 2, 3, 4, 5, 7, 9, 10, 11, 20]))
    if rng.random() < 0.35 and len(plain) > 1:
        digits = list(number)
        places = [i for i, c in enumerate(digits) if c.isdigit()]
        place = rng.choice(places)
        digits[place] = rng.choice([d for d in "123456789" if d != digits[place]])
        return "".join(digits)
    value = float(plain) * rng.choice([0.1, 0.25, 0.5, 0.8, 0.9, 1.1, 1.25, 1.5, 2, 3, 10])
    decimals = len(plain.split(".")[1]) if "." in plain else 0
    text = f"{value:,.{decimals}f}" if "," in number else f"{value:.{decimals}f}"
    return text if text != number else str(int(float(plain)) + rng.randint(1, 9))


def _table_edit(table: dict[str, Sequence[str]], label: int) -> Callable[[str, Random, Material], Edit | None]:
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, sorted(table, key=len, reverse=True))) + r")\b", re.I)

    def edit(text: str, rng: Random, material: Material) -> Edit | None:
        found = list(pattern.finditer(text))
        if not found:
            return None
        match = rng.choice(found)
        old = match.group()
        new = rng.choice(table[old.lower()])
        return [(match.start(), match.end(), new.capitalize() if old[0].isupper() else new)], label

    return edit


edit_opposite = _table_edit(OPPOSITES, CONTRADICTED)
edit_wide_opposite = _table_edit(
    {w: (*OPPOSITES.get(w, ()), *OPPOSITE.get(w, ())) for w in {**OPPOSITES, **OPPOSITE}}, CONTRADICTED
)
edit_unit = _table_edit(UNITS, CONTRADICTED)
edit_number_word = _table_edit({n: [m for m in NUMBER_WORDS if m != n] for n in NUMBER_WORDS}, CONTRADICTED)
edit_date = _table_edit(
    {d.lower(): [o.capitalize() for o in group if o != d] for group in (MONTHS, WEEKDAYS) for d in group if d != "May"},
    CONTRADICTED,
)


def edit_negation(text: str, rng: Random, material: Material) -> Edit | None:
    """Put in a *not*, or take one out."""
    present = list(re.finditer(r"(?:(?<=\w)n't|\s(?:not|never))\b", text))
    if present:
        match = rng.choice(present)
        if match.group() == "n't" and text[: match.end()].endswith(("can't", "won't")):
            return None
        return [(match.start(), match.end(), "")], CONTRADICTED
    found = list(AUXILIARY.finditer(text))
    if not found:
        return None
    match = found[0]
    return [(match.end(), match.end(), rng.choice([" not", " not", " never"]))], CONTRADICTED


def edit_name(text: str, rng: Random, material: Material) -> Edit | None:
    """Another name, from the same document where it has one."""
    found = [m for m in _NAME.finditer(text) if m.group() not in _SKIP]
    if not found:
        return None
    match = rng.choice(found)
    size = match.group().count(" ")
    others = [n for n in material.names if n != match.group() and n not in text]
    alike = [n for n in others if n.count(" ") == size] or others
    if not alike:
        return None
    return [(match.start(), match.end(), rng.choice(alike))], NOT_SUPPORTED


def edit_roles(text: str, rng: Random, material: Material) -> Edit | None:
    """Swap two names that a verb joins."""
    found = [m for m in re.finditer(r"\b[A-Z][a-z]+(?: [A-Z][a-z]+)*", text) if m.group() not in _SKIP]
    for first, second in pairwise(found):
        between = text[first.end() : second.start()]
        if re.search(r"\b\w+(?:ed|es|s)\b", between) and first.group() != second.group() and len(between) < 60:
            return [
                (first.start(), first.end(), second.group()),
                (second.start(), second.end(), first.group()),
            ], NOT_SUPPORTED
    return None


_WORD = re.compile(r"\b[a-z]{5,}\b")
_DETAIL = re.compile(
    r"\s(?:in|at|on|during|after|before|with|for|by|from|near|under|through)\s(?:the |a |an |his |her |its |their )?"
    r"(?:[\w’'-]+ ){0,3}[\w’'-]{3,}(?=[,.;]|$)"
)


def edit_word(text: str, rng: Random, material: Material) -> Edit | None:
    """A related word that does not mean the same (`near_words`)."""
    found = [m for m in _WORD.finditer(text) if m.group() in material.near]
    if not found:
        return None
    match = rng.choice(found)
    return [(match.start(), match.end(), rng.choice(material.near[match.group()]))], NOT_SUPPORTED


def details(text: str) -> list[str]:
    """Where, when and how: the phrases that close a clause."""
    return [m.group() for m in _DETAIL.finditer(text) if len(m.group()) < 50]


def edit_detail(text: str, rng: Random, material: Material) -> Edit | None:
    """A detail that nobody gave, put at the end of the sentence."""
    end = len(text.rstrip(' .!?"”'))
    if not material.details or end < 12 or text[end:].strip() not in (".", ""):
        return None
    detail = rng.choice(material.details)
    if detail.split()[-1] in text:
        return None
    return [(end, end, detail)], UNSUPPORTED


Kinds = Mapping[str, tuple[Callable[[str, Random, Material], Edit | None], float]]

EDITS: Kinds = {
    "number": (edit_number, 3.0),
    "number word": (edit_number_word, 1.0),
    "unit": (edit_unit, 1.0),
    "date": (edit_date, 1.0),
    "name": (edit_name, 3.0),
    "negation": (edit_negation, 1.5),
    "opposite": (edit_opposite, 3.0),
    "roles": (edit_roles, 1.0),
    "word": (edit_word, 3.0),
    "detail": (edit_detail, 1.0),
}
"""Each kind of edit and how often it is tried first."""
WIDE_EDITS: Kinds = {**EDITS, "opposite": (edit_wide_opposite, 5.0), "word": (edit_word, 4.0)}
"""The same with the whole lexicon of opposites."""


def make_edit(text: str, rng: Random, material: Material, among: Kinds = EDITS) -> Edit | None:
    """One edit of a kind drawn by weight; other kinds are tried where the first finds nothing."""
    kinds = sorted(among, key=lambda kind: rng.random() ** (1 / among[kind][1]), reverse=True)
    for kind in kinds:
        edit = among[kind][0](text, rng, material)
        if edit and apply(text, edit)[0] != text:
            return edit
    return None


def apply(text: str, edit: Edit) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The edited text and the character ranges of what was put in (the word after it, where words were taken out)."""
    spans: list[tuple[int, int]] = []
    shift = 0
    for start, end, new in sorted(edit[0]):
        text = text[: start + shift] + new + text[end + shift :]
        begin = start + shift
        stop = begin + len(new)
        if not new:
            following = re.compile(r"\W*\w+").match(text, begin)
            stop = following.end() if following else begin
        spans.append((begin, stop))
        shift += len(new) - (end - start)
    return text, tuple(spans)

"""Citation coverage: how many sources does the answer name?"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import PurePath
from typing import Any, Final

from cragraph.types import Passage

IDENTIFIER_FIELDS: Final = ("ticker", "year", "filing_type")
"""Metadata fields whose values, named in an answer, cite their passage; without any, its source and file name do."""

BONUS: Final = 0.1
MOST_BONUS: Final = 0.3

PATTERNS: Final = (
    re.compile(r"\[source:?\s[^\]]+\]", re.IGNORECASE),
    re.compile(r"\(source:?\s[^)]+\)", re.IGNORECASE),
    re.compile(r"\baccording to\b", re.IGNORECASE),
    re.compile(r"\bper the (?:[\w-]+ ){0,3}(?:filing|report|document|source)s?\b", re.IGNORECASE),
    re.compile(r"\bin the (?:[\w-]+ ){0,4}filings?\b", re.IGNORECASE),
)
"""Ways of citing in words, each occurrence worth a bonus of 0.1 (weighted verification formula)."""

_NUMBERED: Final = re.compile(r"[\[(【](?:source:?\s*)?(\d{1,3}(?:\s*[,–-]\s*\d{1,3})*)[\])】]", re.IGNORECASE)
_WHOLE_NAME_FROM: Final = 4
"""Shortest file stem that counts as naming its file: ``a.md`` is not cited by an article."""


@dataclass(frozen=True)
class Coverage:
    """Citation coverage with what it rests on: the identifiers found, combinations included, and the sources cited."""

    value: float
    found: tuple[str, ...]
    cited: tuple[int, ...]
    patterns: int


def coverage(answer: str, passages: Sequence[Passage], fields: Sequence[str] = IDENTIFIER_FIELDS) -> Coverage:
    """Which passages the answer cites by an identifier in their metadata or by their number.

    A source is cited when one of its identifiers, or ``[n]`` with its position, stands in the answer. It favours
    answers that name what they draw on; that the name is beside the right claim is for the citations to verify.
    """
    found: dict[str, None] = {}
    numbered = _numbers(answer)
    cited = []
    for position, passage in enumerate(passages):
        named = [value for value in identifiers(passage, fields) if names(answer, value)]
        found.update(dict.fromkeys(_with_combinations(named)))
        if named or position + 1 in numbered:
            cited.append(position)
    patterns = sum(1 for pattern in PATTERNS for _ in pattern.finditer(answer))
    explicit = len(cited) / len(passages) if passages else 0.0
    value = min(explicit + min(patterns * BONUS, MOST_BONUS), 1.0) if passages else 0.0
    return Coverage(value, tuple(found), tuple(cited), patterns)


def identifiers(passage: Passage, fields: Sequence[str] = IDENTIFIER_FIELDS) -> list[str]:
    """The values of a passage's identifier fields, distinct, in their order; its source and file name without any."""
    values = [str(value).strip() for name in fields if (value := _value(passage, name)) is not None]
    found = dict.fromkeys(value for value in values if value)
    return list(found or _file_names(passage))


def _file_names(passage: Passage) -> dict[str, None]:
    """Source and file name in every form that an answer may use."""
    values: dict[str, None] = {}
    for name in (passage["source"], passage["filename"]):
        if name.strip():
            path = PurePath(name.strip())
            values.update(dict.fromkeys((str(path), path.name)))
            if len(path.stem) >= _WHOLE_NAME_FROM:
                values[path.stem] = None
    return values


def names(answer: str, identifier: str) -> bool:
    """Whether the identifier stands in the answer as a whole word; in its own case if it is all capitals, else in any.

    Short tickers such as ``A`` or ``IT`` would otherwise be found in every text.
    """
    flags = 0 if identifier.isupper() and identifier.isalpha() else re.IGNORECASE
    return re.search(rf"(?<![\w]){re.escape(identifier)}(?![\w])", answer, flags) is not None


def _value(passage: Passage, name: str) -> Any:
    own: Mapping[str, Any] = passage
    return own[name] if name in own and name != "metadata" else passage["metadata"].get(name)


def _with_combinations(named: Sequence[str]) -> Iterable[str]:
    for size in range(1, len(named) + 1):
        for group in combinations(named, size):
            yield " ".join(group)


def _numbers(answer: str) -> set[int]:
    found: set[int] = set()
    for match in _NUMBERED.finditer(answer):
        for part in match.group(1).split(","):
            ends = [int(number) for number in re.findall(r"\d+", part)]
            found.update(range(ends[0], min(ends[-1], 999) + 1))
    return found

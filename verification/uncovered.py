"""The parts of an answer that no claim covers."""

import re
from collections.abc import Sequence
from typing import Final

from cragraph.types import Claim
from cragraph.verification.keywords import STOPWORDS, words
from cragraph.verification.result import Uncovered

_MARKER: Final = re.compile(r"\[[\d,\s–-]+\]|【[^】]*】")
_EDGE: Final = " \t\r\n.,;:!?-–—*_#>|`\"'“”‘’()"
_FORMAT: Final = re.compile(r"^\s*(?:#{1,6}\s.*|\d+[.)]|[-*+•]|\|?[\s:|-]+\|?)$", re.MULTILINE)


def uncovered_parts(answer: str, claims: Sequence[Claim]) -> list[Uncovered]:
    """The stretches of the answer outside every claim, trimmed, in order.

    Headings, list marks, citation markers, punctuation and mere connectives ("and", "but") are no loss and left out.
    """
    parts = []
    for start, end in _gaps(len(answer), claims):
        text = answer[start:end]
        # Blanked, not cut, so that offsets still hold.
        kept = _FORMAT.sub(lambda m: " " * len(m.group()), _MARKER.sub(lambda m: " " * len(m.group()), text))
        if not set(words(kept)) - STOPWORDS:
            continue
        left = len(kept) - len(kept.lstrip(_EDGE))
        right = len(kept.rstrip(_EDGE))
        parts.append(Uncovered(text=text[left:right], start=start + left, end=start + right))
    return parts


def _gaps(length: int, claims: Sequence[Claim]) -> list[tuple[int, int]]:
    gaps, position = [], 0
    for start, end in sorted((claim["start"], claim["end"]) for claim in claims):
        if start > position:
            gaps.append((position, start))
        position = max(position, end)
    return [*gaps, (position, length)] if position < length else gaps

"""The parts of an answer that no claim covers."""

from collections.abc import Sequence
from typing import Final

from cragraph.types import Claim
from cragraph.verification.claims import split_claims, without_markers
from cragraph.verification.keywords import STOPWORDS, words
from cragraph.verification.result import Uncovered

FEW: Final = 2
"""A stretch beside a claim with so few content words is a turn of phrase that the claim left out."""

_EDGE: Final = " \t\r\n.,;:!?-–—*_#>|`\"'“”‘’()"


def uncovered_parts(answer: str, claims: Sequence[Claim]) -> list[Uncovered]:
    """The stretches of the answer's statements outside every claim, trimmed, in order.

    What states nothing (headings, greetings, lead-ins, questions, code, markers) is no loss and left out.
    """
    parts = []
    for statement in split_claims(answer):
        gaps = _gaps(statement["start"], statement["end"], claims)
        whole = gaps == [(statement["start"], statement["end"])]
        for start, end in gaps:
            said = set(words(without_markers(answer[start:end]))) - STOPWORDS
            if said and (whole or len(said) > FEW):
                text = answer[start:end]
                left = start + len(text) - len(text.lstrip(_EDGE))
                right = start + len(text.rstrip(_EDGE))
                parts.append(Uncovered(text=answer[left:right], start=left, end=right))
    return parts


def _gaps(start: int, end: int, claims: Sequence[Claim]) -> list[tuple[int, int]]:
    """What of ``start:end`` lies outside the claims."""
    gaps, position = [], start
    for left, right in sorted((claim["start"], claim["end"]) for claim in claims):
        if left >= end:
            break
        if left > position:
            gaps.append((position, left))
        position = max(position, right)
    return [*gaps, (position, end)] if position < end else gaps

"""Fact score: how many of the key claims could be verified?"""

import re
from collections.abc import Sequence
from typing import Final

from cragraph.text.words import content_words
from cragraph.types import Verdict
from cragraph.verification.result import counted
from cragraph.verification.signals.material import Material

MOST_CLAIMS: Final = 5
TOP: Final = 10
"""How many passages may verify a claim."""
UNKNOWN: Final = 0.5
"""The score when the judge failed; the verification says so."""

_FIGURE: Final = re.compile(r"\d")
_NAME: Final = re.compile(r"(?<=[\w,] )[A-Z][\w-]+")


def key_claims(verdicts: Sequence[Verdict], most: int = MOST_CLAIMS) -> list[Verdict]:
    """The claims most worth checking, at most five, in the answer's order: figures first, then names, then length."""
    claims = counted(verdicts)
    ranked = sorted(range(len(claims)), key=lambda i: (-_weight(claims[i]["text"]), i))[:most]
    return [claims[i] for i in sorted(ranked)]


def fact_score(material: Material) -> float:
    """Verified ÷ key claims (weighted verification formula); 0.5 when no judge could run, 0.0 without claims.

    Verified means wholly supported, by one of the top ten passages. It favours answers with few, plain claims.
    """
    claims = key_claims(material.verdicts)
    if not claims:
        return 0.0
    if judge_failed(claims):
        return UNKNOWN
    return sum(_is_verified(claim) for claim in claims) / len(claims)


def judge_failed(claims: Sequence[Verdict]) -> bool:
    """Whether there were claims and no judge could judge any of them."""
    return bool(claims) and all(claim["verdict"] == "unjudged" for claim in claims)


def _is_verified(claim: Verdict) -> bool:
    evidence = claim["evidence"]
    return claim["verdict"] == "supported" and (evidence is None or evidence["passage"] < TOP)


def _weight(text: str) -> float:
    return 10 * bool(_FIGURE.search(text)) + 5 * bool(_NAME.search(text)) + min(len(set(content_words(text))), 12) / 4

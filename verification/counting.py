"""Which verdicts count, and what each label is worth."""

from collections.abc import Iterable, Sequence
from typing import Final

from cragraph.types import Label, Verdict

CREDIT: Final[dict[Label, float]] = {
    "supported": 1.0,
    "partially_supported": 0.5,
    "unsupported": 0.0,
    "contradicted": 0.0,
    "unjudged": 0.0,
}
"""How much of a supported claim each label is worth; partly supported is half."""

AGAINST: Final[frozenset[Label]] = frozenset({"unsupported", "contradicted"})
"""Labels that speak against the answer; a contradicted claim is an unsupported one."""

IN_FAVOUR: Final[frozenset[Label]] = frozenset({"supported", "partially_supported"})


def is_counted(verdict: Verdict) -> bool:
    """Whether a claim can speak for or against its answer: an opinion or a question cannot."""
    return verdict["type"] != "opinion" and not verdict["text"].rstrip(" \t\n\"'”’»)]*_").endswith(("?", "？"))


def counted(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts on claims that count; in an answer of opinions alone, those that the passages support.

    "The view is beautiful", quoted from a document, is an answer: with nothing else to go by it speaks for itself.
    """
    every = list(verdicts)
    return [v for v in every if is_counted(v)] or [v for v in every if v["verdict"] == "supported"]


def mean_support(verdicts: Sequence[Verdict]) -> float:
    """Mean support of the verdicts, 0..1; an unjudged claim has none, and neither has an empty list."""
    if not verdicts:
        return 0.0
    return sum(0.0 if v["verdict"] == "unjudged" else v["support"] for v in verdicts) / len(verdicts)

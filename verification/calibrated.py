"""The calibrated policy: how often answers whose claims were judged like these turned out to be supported."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, log
from pathlib import Path
from types import MappingProxyType
from typing import Final

from cragraph.errors import InputError, WeightsError
from cragraph.types import Verdict
from cragraph.verification.claims import without_markers
from cragraph.verification.counting import counted

FITTED: Final = Path(__file__).with_name("confidence.json")
"""The fitted numbers; `python -m training.confidence` writes them."""
SUREST: Final = 0.995
"""Support is taken for at most this and at least the rest, so that its logit stays finite."""
_EDGES: Final = re.compile(r"^\W+|\W+$")


@dataclass(frozen=True)
class Curve:
    """A logistic curve over the mean logit of the supports of an answer's claims, fitted for one judge."""

    slope: float
    bias: float

    def __call__(self, supports: Sequence[float]) -> float:
        """The chance, 0..1, that an answer whose claims have these supports is supported as a whole."""
        return _chance(self.slope * _mean_logit(supports) + self.bias)


@cache
def curves(path: Path = FITTED) -> Mapping[str, Curve]:
    """The curve of each judge that one was fitted for; raises WeightsError where the file is not readable."""
    try:
        judges = json.loads(path.read_text(encoding="utf-8"))["judges"]
        return MappingProxyType({name: Curve(**found["curve"]) for name, found in judges.items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise WeightsError(
            f"{path.name} cannot be read ({type(error).__name__}: {error}); it ships with the package: reinstall "
            "cragraph (pip install --force-reinstall cragraph)."
        ) from error


def has_curve(verdicts: Sequence[Verdict]) -> bool:
    """Whether every claim that counts was judged by a judge whose scores are calibrated, and there is one."""
    judges = _judges(counted(verdicts))
    return bool(judges) and judges <= curves().keys()


def calibrated_confidence(verdicts: Sequence[Verdict]) -> float:
    """The chance, 0..1, that all counted claims of an answer are supported, as fitted on labelled answers.

    A claim that stands word for word in its evidence is certain and leaves the rest to be judged; an unjudged claim
    has no support. Where several judges took part, the most doubtful curve counts. 0.0 without any claim. Raises
    InputError for verdicts of a judge that no curve was fitted for.
    """
    own = counted(verdicts)
    if not own:
        return 0.0
    judges = _judges(own)
    if unknown := sorted(judges - curves().keys()):
        raise InputError(
            f"the policy 'calibrated' was fitted for the judges {', '.join(curves())}; the verdicts came from "
            f"{', '.join(unknown)}: choose the policy 'claims'."
        )
    supports = [0.0 if v["verdict"] == "unjudged" else v["support"] for v in own if not word_for_word(v)]
    if not supports:
        return 1.0
    return min((curves()[judge](supports) for judge in judges), default=0.0)


def mean_support(supports: Sequence[float]) -> float:
    """One support, 0..1, for claims that have these: the mean of their logits, which tells answers apart better than
    the weakest claim does. That of a single claim is its own."""
    return supports[0] if len(supports) == 1 else _chance(_mean_logit(supports))


def word_for_word(verdict: Verdict) -> bool:
    """Whether a supported claim is a stretch of its evidence, spacing, case and marks at its ends aside."""
    evidence = verdict["evidence"]
    if verdict["verdict"] != "supported" or evidence is None:
        return False
    text = _plain(without_markers(verdict["text"]))
    return bool(text) and text in _plain(evidence["quote"])


def _judges(verdicts: Sequence[Verdict]) -> set[str]:
    return {verdict["judge"] for verdict in verdicts if verdict["verdict"] != "unjudged"}


def _plain(text: str) -> str:
    return _EDGES.sub("", " ".join(text.split())).casefold()


def _chance(logit: float) -> float:
    return 1.0 / (1.0 + exp(-logit))


def _mean_logit(supports: Sequence[float]) -> float:
    return sum(_logit(support) for support in supports) / len(supports)


def _logit(support: float) -> float:
    kept = min(SUREST, max(1 - SUREST, support))
    return log(kept / (1 - kept))

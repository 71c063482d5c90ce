"""The chance that an answer which a chat model wrote is right, fitted on answers of real models to real questions.

The reader was trained to find what can be quoted; it alone says little of a sentence in other words. So its reading is
one of several things that count: how likely the passages are to answer at all, and the sentence of them that is nearest
to the answer; whether the answer has the words that the reader chose; what the judge makes of the claims; and how sure
the model was of its words where its server says so. `python -m benchmarks.written` fits the weights and says how well
they do on the questions that they were not fitted on. Chances count as their logits: to a true sentence that answers
something else the reader gives a chance of .03, and to the right one in other words of .2.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import exp, log
from pathlib import Path
from typing import Final

from cragraph.errors import WeightsError

CARD: Final = Path(__file__).with_name("written.json")
SURENESS: Final = -0.15
"""The mean log-probability of a token that is taken where the server does not tell it."""


@dataclass(frozen=True)
class Written:
    """What is known of an answer that a chat model wrote; `sureness` is the mean log-probability of its tokens."""

    sureness: float | None = None


@dataclass(frozen=True)
class Card:
    """The fitted weights, by feature, `bias` among them."""

    weights: Mapping[str, float]

    def chance(self, features: Mapping[str, float]) -> float:
        """The chance, 0..1, that an answer with these features is right."""
        total = sum(weight * features.get(name, 0.0) for name, weight in self.weights.items())
        return 1 / (1 + exp(-max(-30.0, min(30.0, total))))


def features(seen: Mapping[str, float], supported: float, written: Written) -> dict[str, float]:
    """What the chance is made of: what the reader has `seen` (`found`, `chance`, `span`: 0..1 each), the judge's
    support, and the model's sureness."""
    sureness = SURENESS if written.sureness is None else max(-1.0, written.sureness)
    return {
        "bias": 1.0,
        "found": _logit(seen["found"], 0.01) / 2,
        "chance": _logit(seen["chance"], 0.01) / 2,
        "span": seen.get("span", 0.0),
        "support": _logit(supported, 0.02) / 4,
        "sureness": sureness,
    }


def _logit(chance: float, least: float) -> float:
    """The logit of a chance that is kept between `least` and one less it."""
    kept = min(1 - least, max(least, chance))
    return log(kept / (1 - kept))


@cache
def card(path: Path = CARD) -> Card:
    """The weights that ship; raises WeightsError where they cannot be read."""
    try:
        return Card(json.loads(path.read_text(encoding="utf-8"))["weights"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(
            f"{path.name} cannot be read ({type(error).__name__}: {error}); it ships with the package: reinstall "
            "cragraph (pip install --force-reinstall cragraph)."
        ) from error

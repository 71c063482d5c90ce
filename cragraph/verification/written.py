"""The chance that an answer is right of which a chat model knows: its own, or a quotation beside its own.

Both are fitted on answers of real models to real questions.

The reader was trained to find what can be quoted; it alone says little of a sentence in other words. So its reading is
one of several things that count: how likely the passages are to answer at all, and the sentence of them that is nearest
to the answer; whether the answer has the words that the reader chose; what the judge makes of the claims; and how sure
the model was of its words where its server says so. `python -m lab.benchmarks.written` fits the weights and says how
well they do on the questions that they were not fitted on. Chances count as their logits: to a true sentence that
answers something else the reader gives a chance of .03, and to the right one in other words of .2.

Of a doubtful quotation a model that was asked the same is a second reader: how sure the quotation is by itself, how
much of what the model says it has, and how likely the model's answer is to be right make its chance.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import exp, log
from pathlib import Path
from typing import Final

from cragraph.errors import WeightsError
from cragraph.language.markers import without_markers
from cragraph.language.words import content_words
from cragraph.types import IDK

CARD: Final = Path(__file__).with_name("written.json")
SURENESS: Final = -0.15
"""The mean log-probability of a token that is taken where the server does not tell it."""
DECLINED: Final = -1.0
"""The log-odds of a model's answer where it says that it does not know: a small one says so seldom, often wrongly."""


@dataclass(frozen=True)
class Written:
    """What is known of an answer that a chat model wrote; `sureness` is the mean log-probability of its tokens."""

    sureness: float | None = None


@dataclass(frozen=True)
class Beside:
    """A small model's answer to the question that a quotation answers: its `chance` to be right, 0..1, and how much of
    the words that it adds to the question's the quotation has, 0..1. A chance of None: it declined."""

    chance: float | None
    shared: float

    @classmethod
    def of(cls, question: str, quotation: str, answer: str, chance: float | None) -> "Beside":
        """What a model's answer says of a quotation."""
        if answer == IDK:
            return cls(None, 0.0)
        asked = set(content_words(question))
        added = set(content_words(without_markers(answer))) - asked
        held = added & set(content_words(without_markers(quotation)))
        return cls(chance or 0.0, len(held) / len(added) if added else 0.0)


@dataclass(frozen=True)
class Card:
    """The fitted weights, by feature, `bias` among them: of written answers, and of quotations `beside` one."""

    weights: Mapping[str, float]
    beside: Mapping[str, float]

    def chance(self, features: Mapping[str, float]) -> float:
        """The chance, 0..1, that an answer with these features is right."""
        return _logistic(self.weights, features)

    def chance_beside(self, sure: float, beside: Beside) -> float:
        """The chance, 0..1, that a quotation is right which is `sure` so far by itself, 0..1."""
        return _logistic(self.beside, features_beside(sure, beside))


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


def features_beside(sure: float, beside: Beside) -> dict[str, float]:
    """What the chance of a quotation beside a model's answer is made of."""
    said = DECLINED if beside.chance is None else _logit(beside.chance, 0.02)
    return {"bias": 1.0, "sure": _logit(sure, 0.02), "shared": beside.shared, "said": said}


def _logistic(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    total = sum(weight * features.get(name, 0.0) for name, weight in weights.items())
    return 1 / (1 + exp(-max(-30.0, min(30.0, total))))


def _logit(chance: float, least: float) -> float:
    """The logit of a chance that is kept between `least` and one less it."""
    kept = min(1 - least, max(least, chance))
    return log(kept / (1 - kept))


@cache
def card(path: Path = CARD) -> Card:
    """The weights that ship; raises WeightsError where they cannot be read."""
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        return Card(read["weights"], read["beside"]["weights"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(
            f"{path.name} cannot be read ({type(error).__name__}: {error}); it ships with the package: reinstall "
            "cragraph (pip install --force-reinstall cragraph)."
        ) from error

"""The small calibrated head: from the network's logits and the cheap features to probabilities that mean something.

All numbers come from the card of the weights: a logistic layer with non-negative weights over standardised features,
a monotone calibration of its output, a temperature for *contradicted*, and a logistic layer for the words.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cragraph.models.grounding_text import Floats


@dataclass(frozen=True)
class Head:
    """The fitted numbers; `weights`, `means` and `scales` are (features,), `knots` is (2, k) with both rows rising."""

    features: tuple[str, ...]
    weights: Floats
    means: Floats
    scales: Floats
    bias: float
    knots: Floats
    contradiction: tuple[float, float]
    word: tuple[float, float, float]

    @classmethod
    def from_card(cls, card: Mapping[str, Any]) -> "Head":
        """Read the head that the card of the weights carries."""
        rows = {name: np.array(card[name], np.float32) for name in ("weights", "means", "scales", "knots")}
        return cls(
            tuple(card["features"]),
            bias=float(card["bias"]),
            contradiction=(float(card["contradiction"][0]), float(card["contradiction"][1])),
            word=(float(card["word"][0]), float(card["word"][1]), float(card["word"][2])),
            **rows,
        )

    def raw(self, features: Floats) -> Floats:
        """The logit before calibration; features are (..., features)."""
        standard = (features - self.means) / self.scales
        return np.asarray(standard @ self.weights + self.bias, np.float32)

    def support(self, features: Floats) -> float:
        """The calibrated probability that a claim is supported, from its (features,) in the order of the head."""
        return float(np.interp(float(self.raw(features)), self.knots[0], self.knots[1]))

    def contradicted(self, logits: Floats) -> float:
        """The probability that a claim which is not supported is contradicted, from the network's (3,) logits."""
        scale, bias = self.contradiction
        return _sigmoid(scale * float(logits[2] - logits[1]) + bias)

    def words(self, word_logits: Floats, missing: Floats) -> Floats:
        """The probability that each piece of the claim lacks support.

        `word_logits` is (pieces,); `missing` is the piece's idf where the passages do not hold it, else 0.
        """
        scale, absent, bias = self.word
        return np.asarray(1.0 / (1.0 + np.exp(-(scale * word_logits + absent * missing + bias))), np.float32)


@dataclass(frozen=True)
class Blend:
    """Joins the network's logit with what words say of the claim, and takes `cost` off where facts object to it.

    `knots` as in `Head`.
    """

    share: float
    cost: float
    knots: Floats

    @classmethod
    def from_card(cls, card: Mapping[str, Any]) -> "Blend":
        """Read the blend that the card of the weights carries."""
        return cls(float(card["share"]), float(card["cost"]), np.array(card["knots"], np.float32))

    def support(self, opinion: float, logit: float, objected: bool) -> float:
        """The calibrated probability of support, from the support 0..1 by words and the network's logit."""
        raw = blended(np.array([opinion], np.float32), np.array([logit], np.float32), self.share)
        return float(np.interp(float(raw[0]) - self.cost * objected, self.knots[0], self.knots[1]))


def blended(opinions: Floats, logits: Floats, share: float) -> Floats:
    """The support by words as a logit, plus `share` times the network's; both are (n,)."""
    clipped = np.clip(opinions, 1e-3, 1 - 1e-3)
    return np.asarray(np.log(clipped / (1 - clipped)) + share * logits, np.float32)


def _sigmoid(x: float) -> float:
    return float(1.0 / (1.0 + np.exp(-np.clip(x, -30.0, 30.0))))

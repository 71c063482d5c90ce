"""The worth of a chat model as evidence: how often it is right when it writes, judges, and declines."""

from dataclasses import dataclass
from typing import Final

CAPABLE: Final = 2.0
"""Least odds of a written answer at which a model is asked before the passages are quoted, and asked as a judge."""


@dataclass(frozen=True)
class Worth:
    """Ratios of probabilities: 1 says nothing.

    `writes` are the odds that an answer which the model wrote from the passages is right. `supports` is the ratio of
    "supported" for true and for false claims, `rejects` the ratio of rejections for false and for true claims.
    `declines`, below 1, is the ratio of "I don't know" for questions that the passages answer and that they do not
    answer. `source` is the origin of the ratios.
    """

    writes: float
    supports: float
    rejects: float
    declines: float
    source: str = "the size of the model"

    @property
    def capable(self) -> bool:
        """Whether the model is asked before the passages are quoted."""
        return self.writes >= CAPABLE

    @property
    def judges(self) -> bool:
        """Whether a verdict of the model is worth a call."""
        return min(self.supports, self.rejects) >= CAPABLE

    @property
    def probability(self) -> float:
        """The probability, 0..1, that an answer of the model is right."""
        return self.writes / (1 + self.writes)


NEUTRAL: Final = Worth(0.93, 1.0, 1.0, 1.0, "nothing that it has shown")
"""A neutral model: its answers are as good as those on which the embedded reading was fitted (`verification.evidence`),
and its verdicts say nothing."""

BY_SIZE: Final[tuple[tuple[float, Worth], ...]] = (
    (1.0, Worth(0.7, 1.0, 1.0, 0.8)),
    (2.0, Worth(0.93, 1.3, 1.3, 0.7)),
    (6.0, Worth(4.0, 3.0, 3.0, 0.35)),
)
"""Models of fewer billions of parameters than the first number. The first two rows are of Qwen2.5 with 0.5 and 1.5
billion parameters (`lab.benchmarks.prompts`, `.model_judges`)."""

LARGE: Final = Worth(10.0, 8.0, 8.0, 0.15)
"""Any larger model, and one of a provider that tells no size, from the replies of `lab.benchmarks.large_model`."""


def by_size(billions: float | None) -> Worth:
    """The worth of a model by its size in billions of parameters; None for an unknown size."""
    return next((worth for limit, worth in BY_SIZE if billions is not None and billions < limit), LARGE)

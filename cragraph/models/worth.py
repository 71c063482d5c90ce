"""What a chat model's words are worth as evidence: how often they are right when it writes, judges, and declines."""

from dataclasses import dataclass
from typing import Final

CAPABLE: Final = 2.0
"""Odds of a written answer from which a model is asked first, and believed as a judge: below, the passages are quoted
first, and no call is spent on a verdict that says next to nothing."""


@dataclass(frozen=True)
class Worth:
    """Ratios of probabilities: 1 says nothing.

    `writes` are the odds that an answer is right which the model wrote from the passages. `supports` is how much
    likelier the model calls a true claim supported than a false one, `rejects` how much likelier it rejects a false
    claim than a true one. `declines`, below 1, is how much likelier it says that it does not know where the passages
    answer than where they do not. `source` says where the ratios come from.
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
        """Whether a verdict of the model says enough to be worth a call."""
        return min(self.supports, self.rejects) >= CAPABLE

    @property
    def probability(self) -> float:
        """The probability, 0..1, that an answer is right which the model wrote."""
        return self.writes / (1 + self.writes)


NEUTRAL: Final = Worth(0.93, 1.0, 1.0, 1.0, "nothing that it has shown")
"""A model that is worth what the answers are worth on which the embedded reading was fitted (`verification.evidence`),
and whose verdicts say nothing."""

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
    """The worth of a model of which only the size is known, in billions of parameters; None is not known."""
    return next((worth for limit, worth in BY_SIZE if billions is not None and billions < limit), LARGE)

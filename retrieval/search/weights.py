"""Source weights: how far each source is to be relied on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from cragraph.errors import SettingsError
from cragraph.types import Passage


@dataclass(frozen=True)
class SourceWeights:
    """A reliability weight 0..1 by glob pattern of the source, e.g. ``{"drafts/*": 0.5, "*.txt": 0.8}``.

    The first pattern that matches the source or its file name decides, so put the narrow ones first; 1 where none
    does. `*` also matches `/`. A weight of 0 leaves the source out.

    Raises:
        SettingsError: a weight is outside 0..1.
    """

    by_pattern: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for pattern, weight in self.by_pattern.items():
            if not 0.0 <= weight <= 1.0:
                raise SettingsError(
                    f"the source weight of {pattern!r} is {weight}; wanted a number from 0 (left out) to 1 (fully "
                    "relied on): lower the weights of the others instead of raising one above 1."
                )

    def __call__(self, passage: Passage) -> float:
        """The weight of the passage's source."""
        names = (passage["source"], passage["filename"])
        for pattern, weight in self.by_pattern.items():
            if any(fnmatchcase(name, pattern) for name in names):
                return weight
        return 1.0

    def __bool__(self) -> bool:
        return bool(self.by_pattern)

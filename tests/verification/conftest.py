from collections.abc import Callable, Sequence
from typing import Any

import pytest

from cragraph.passages import as_passages
from cragraph.types import Verdict
from cragraph.verification.signals import Material
from cragraph.verification.similarity import Closeness


@pytest.fixture
def material() -> Callable[..., Material]:
    """Builds what signals are measured on; what a test does not name is empty."""

    def build(
        answer: str = "", passages: Sequence[Any] = (), verdicts: Sequence[Verdict] = (), **more: Any
    ) -> Material:
        return Material(
            **{
                "answer": answer,
                "passages": as_passages(passages),
                "verdicts": verdicts,
                "closeness": Closeness(),
                **more,
            }
        )

    return build

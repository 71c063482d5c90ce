import pytest

from cragraph.verification.result import level_of
from tests.support.cases import cases


@pytest.mark.parametrize(("confidence", "level"), cases("verification/levels", "each level begins at"))
def test_each_level_begins_at_its_bound_as_the_number_is_shown(confidence: float, level: str) -> None:
    assert level_of(confidence) == level


def test_a_sum_that_floats_just_below_a_bound_is_at_it() -> None:
    assert 0.1 + 0.7 + 0.1 < 0.9
    assert level_of(0.1 + 0.7 + 0.1) == "high"

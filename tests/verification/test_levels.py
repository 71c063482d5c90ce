import pytest

from cragraph.verification.result import level_of
from tests.support.cases import cases


@pytest.mark.parametrize(("confidence", "level"), cases("verification/levels", "each level begins at"))
def test_each_level_begins_at_its_bound_as_the_number_is_shown(confidence: float, level: str) -> None:
    assert level_of(confidence) == level

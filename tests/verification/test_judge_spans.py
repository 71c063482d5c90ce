import pytest

from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.types import Claim
from cragraph.verification.judges.lexical import LexicalJudge
from cragraph.verification.judges.verdicts import joined

PASSAGES = as_passages(["Sales rose by 5% in May. The company hired 45 people, said Anna Berg."])


@pytest.mark.parametrize(
    ("text", "pointed"),
    [
        ("Sales fell by 5% in May.", ["fell"]),
        ("The company hired 450 people. [1]", ["450"]),
        ("The company hired 45 people, said Peter Stone.", ["Peter Stone"]),
        ("Sales rose by 5% in May.", []),
        ("Bananas grow in the sun.", []),
    ],
)
def test_a_judge_points_at_the_figures_names_and_opposites_that_it_objects_to(text: str, pointed: list[str]) -> None:
    answer = f"So: {text}"
    claim = Claim(text=text, start=4, end=4 + len(text), type="factual")
    [verdict] = LexicalJudge()([claim], PASSAGES, Notes())
    assert [answer[a:b] for a, b in verdict.get("unsupported_spans", [])] == pointed


def test_a_rephrased_claim_has_no_places_in_the_answer() -> None:
    claim = Claim(text="The company hired 450 people.", start=0, end=5, type="factual")
    [verdict] = LexicalJudge()([claim], PASSAGES, Notes())
    assert verdict["verdict"] == "contradicted"
    assert "unsupported_spans" not in verdict


def test_ranges_that_touch_or_overlap_become_one() -> None:
    assert joined([(10, 12), (0, 4), (3, 6), (7, 9), (20, 21)]) == [(0, 12), (20, 21)]

from typing import Any

from cragraph.protocols import Notes
from cragraph.search import TargetedQueries
from cragraph.types import Verdict

QUESTION = "What was the net revenue of Apple in 2022?"


def failed(text: str, verdict: Any = "unsupported", **more: Any) -> Verdict:
    return Verdict(
        text=text, start=0, end=len(text), type="factual", verdict=verdict, support=0.1, contradiction=0.5,
        evidence=None, reasoning="", judge="fake", **more,
    )  # fmt: skip


def test_the_wrong_figure_is_left_out_and_the_year_of_the_question_is_kept() -> None:
    [query] = TargetedQueries()(QUESTION, [failed("Apple's revenue was 383 billion dollars in 2022.")], [], Notes())
    assert "383" not in query
    for word in ("Apple", "revenue", "billion", "2022", "net"):
        assert word in query


def test_what_the_judge_corrected_is_looked_for() -> None:
    claim = failed("Revenue was 383 billion.", "contradicted", correction="Revenue was 394 billion.")
    [query] = TargetedQueries()(QUESTION, [claim], [], Notes())
    assert "394" in query
    assert "383" not in query

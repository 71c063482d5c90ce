"""Evidence in proportion: likelihood ratios joined into one probability."""

import json
from pathlib import Path

import pytest

from cragraph.errors import WeightsError
from cragraph.models.examined import BY_SIZE, LARGE, Worth
from cragraph.passages import as_passages
from cragraph.testing import verdict
from cragraph.types import Label
from cragraph.verification.evidence import (
    Judged,
    Written,
    card,
    ratio_of_answer,
    unstated,
    updated,
    written_probability,
)
from cragraph.verification.verifier import joined
from tests.support.cases import cases

QUESTION = "When does the shop open?"
SAYS = "The shop opens at 9:30 on weekdays. [1]"
SEEN = {"found": 0.5, "probability": 0.5, "span": 0.5}


def probability(supported: float = 0.5, logprob: float | None = -0.2, **seen: float) -> float:
    return written_probability(SEEN | seen, supported, Written(logprob))


@pytest.mark.parametrize(("labels", "answers", "more"), cases("verification/evidence", "a capable judge counts"))
def test_a_capable_judge_counts_by_its_worst_verdict_and_by_whether_the_answer_answers(
    labels: list[Label], answers: str, more: bool
) -> None:
    verdicts = [verdict(label, "It opens.") | {"embedded": ("encoder", 0.5)} for label in labels]
    ratio = Judged(LARGE, answers).ratio(verdicts)  # type: ignore[arg-type]
    assert (ratio > 1) is more
    assert (updated(0.6, ratio) > 0.6) is more


@pytest.mark.parametrize(("answer", "more"), cases("verification/evidence", "a quotation is surer"))
@pytest.mark.parametrize("worth", [LARGE, *(worth for _, worth in BY_SIZE)])
def test_a_quotation_is_surer_where_a_model_says_the_same_and_less_sure_where_it_says_something_else(
    answer: str, more: bool, worth: Worth
) -> None:
    ratio = ratio_of_answer(QUESTION, SAYS, answer, worth)
    assert ratio > 1 if more else ratio < 1
    told = {"probability": 0.8, "quoted": True, "seen": SEEN, "ratio": ratio}
    before = joined(0.9, [], {**told, "ratio": 1.0})[0]
    assert (joined(0.9, [], told)[0] >= before) is more


def test_the_name_of_a_file_is_part_of_what_its_passages_say() -> None:
    passages = as_passages([{"text": "flats: 12", "source": "dyehouse_flats.csv"}])
    assert unstated("The Dyehouse has 12 flats.", passages, "", []) == []


def test_a_card_that_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "evidence.json"
    path.write_text(json.dumps({"bias": 0.0}))
    with pytest.raises(WeightsError, match="reinstall"):
        card(path)

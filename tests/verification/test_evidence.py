"""Evidence in proportion: likelihood ratios joined into one probability."""

import json
from pathlib import Path

import pytest

from cragraph.errors import WeightsError
from cragraph.models.worth import BY_SIZE, LARGE, NEUTRAL, Worth, by_size
from cragraph.passages import as_passages
from cragraph.testing import quoted, verdict
from cragraph.types import IDK, Label
from cragraph.verification.evidence import (
    Judged,
    Written,
    card,
    merged,
    ratio_of_answer,
    updated,
    written_probability,
)
from cragraph.verification.judges.verdicts import quoted as found_in
from cragraph.verification.stated import unstated
from cragraph.verification.verifier import joined

QUESTION = "When does the shop open?"
SAYS = "The shop opens at 9:30 on weekdays. [1]"
SEEN = {"found": 0.5, "chance": 0.5, "span": 0.5}
PASSAGES = as_passages(["The shop opens at 9:30 on weekdays."])


def probability(supported: float = 0.5, sureness: float | None = -0.2, **seen: float) -> float:
    return written_probability(SEEN | seen, supported, Written(sureness))


@pytest.mark.parametrize("name", ["found", "chance", "span"])
def test_what_the_reader_sees_speaks_for_a_written_answer(name: str) -> None:
    low, high = (probability(**{name: value}) for value in (0.1, 0.9))
    assert 0 < low < high < 1


def test_so_do_the_judges_support_and_the_models_sureness() -> None:
    assert probability(0.1) < probability(0.9)
    assert probability(sureness=-1.0) < probability(sureness=-0.05)
    assert probability(sureness=None) == probability(sureness=-0.15)


def test_an_answer_is_worth_more_of_a_model_that_is_right_more_often() -> None:
    small, large = (written_probability(SEEN, 0.5, Written(None, worth)) for worth in (NEUTRAL, LARGE))
    assert small < 0.7 < large


def test_a_judge_that_says_nothing_changes_nothing() -> None:
    judged = Judged(NEUTRAL)
    for label in ("supported", "unsupported", "contradicted"):
        one = verdict(label, "It opens at 9:30.") | {"embedded": ("encoder", 0.4)}
        assert judged.ratio([one]) == 1.0  # type: ignore[list-item]
    assert updated(0.37, 1.0) == 0.37


@pytest.mark.parametrize(
    ("labels", "answers", "more"),
    [
        (["supported"], "all", True),
        (["supported", "unsupported"], "all", False),
        (["supported", "contradicted"], "all", False),
        (["supported"], "no", False),
        (["partially_supported"], "part", False),
    ],
)
def test_a_capable_judge_counts_by_its_worst_verdict_and_by_whether_the_answer_answers(
    labels: list[Label], answers: str, more: bool
) -> None:
    verdicts = [verdict(label, "It opens.") | {"embedded": ("encoder", 0.5)} for label in labels]
    ratio = Judged(LARGE, answers).ratio(verdicts)  # type: ignore[arg-type]
    assert (ratio > 1) is more
    assert (updated(0.6, ratio) > 0.6) is more


def test_what_a_model_judged_stands_beside_what_the_embedded_judge_said() -> None:
    own = verdict("unsupported", "It opens at half past nine.", support=0.2, judge="encoder")
    said = verdict("supported", own["text"], support=1.0, judge="llm", evidence=quoted(PASSAGES, 0))
    both = merged(own, said, LARGE)
    assert (both["verdict"], both["judge"], both["embedded"]) == ("supported", "llm", ("encoder", 0.2))
    assert 0.2 < both["support"] < 0.7
    assert merged(own, said | {"verdict": "unjudged"}, LARGE) == own  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "more"),
    [
        ("On weekdays it opens at 9:30. [1]", True),
        ("It opens at six on Mondays.", False),
        ("When does the shop open?", False),
        (IDK, False),
    ],
)
@pytest.mark.parametrize("worth", [LARGE, *(worth for _, worth in BY_SIZE)])
def test_a_quotation_is_surer_where_a_model_says_the_same_and_less_sure_where_it_says_something_else(
    answer: str, more: bool, worth: Worth
) -> None:
    ratio = ratio_of_answer(QUESTION, SAYS, answer, worth)
    assert ratio > 1 if more else ratio < 1
    told = {"chance": 0.8, "quoted": True, "seen": SEEN, "ratio": ratio}
    before = joined(0.9, [], {**told, "ratio": 1.0})[0]
    assert (joined(0.9, [], told)[0] >= before) is more


def test_to_say_the_same_as_an_answer_that_was_refuted_speaks_against_a_quotation() -> None:
    same, other = "On weekdays it opens at 9:30. [1]", "It opens at six on Mondays."
    assert ratio_of_answer(QUESTION, SAYS, same, LARGE, 0.05) < 0.2
    assert ratio_of_answer(QUESTION, SAYS, other, LARGE, 0.05) > 1


def test_the_smaller_the_model_the_less_it_says() -> None:
    assert by_size(0.5).supports == by_size(0.5).rejects == 1.0
    sizes = [by_size(size) for size in (0.5, 1.5, 3.0, 8.0)]
    assert [w.writes for w in sizes] == sorted(w.writes for w in sizes)
    assert [w.declines for w in sizes] == sorted((w.declines for w in sizes), reverse=True)
    assert [w.capable for w in sizes] == [w.judges for w in sizes] == [False, False, True, True]
    assert by_size(None) == by_size(70.0) == LARGE


@pytest.mark.parametrize(
    ("claim", "passage", "question", "lacking"),
    [
        ("Membership grew by 64, from 548 to 612.", "612 members at the end of 2024, 548 a year before", "", []),
        ("Borrowing it costs £3.", "loan_fee_gbp: 3 | item: drill", "", []),
        ("It is an 18V drill.", "Cordless drill 18V", "", []),
        ("£7 plus the 40 % surcharge is £9.80.", "Base fee £7. Weekend surcharge 40 %.", "", []),
        ("Three nights at £18 cost £54.", "£18 per night", "What do three nights cost?", []),
        ("Henrike Bolte founded the choir in 2019.", "Der Chor wurde 2019 von Henrike Bolte gegründet.", "", []),
        ("It begins at 7 pm.", "Beginn 19:00 Uhr", "", []),
        ("1 in 5 members pays less.", "20 % of the members pay less.", "", []),
        ("A fifth, 20 %, pay less.", "One in five members pays less.", "", []),
        ("It opened on 3 May 2021.", "opened 3.5.2021", "", []),
        ("Membership grew by 11.7 %.", "612 members at the end of 2024, 548 a year before", "", []),
        ("Membership grew by 77.", "612 members at the end of 2024, 548 a year before", "", ["77"]),
        ("It costs £900.", "The mast is 412 metres high. Entry is £12 for 3 people.", "", ["£900"]),
        ("Ana Lopes leads it.", "Rui Costa leads the workshop.", "", ["Ana Lopes"]),
    ],
)
def test_a_figure_or_name_is_unstated_only_where_no_passage_has_it_in_any_form(
    claim: str, passage: str, question: str, lacking: list[str]
) -> None:
    passages = as_passages([passage])
    evidence = found_in(passage, passages)
    assert evidence is not None
    assert [fact.text for fact in unstated(claim, passages, question, [evidence])] == lacking


def test_the_name_of_a_file_is_part_of_what_its_passages_say() -> None:
    passages = as_passages([{"text": "flats: 12", "source": "dyehouse_flats.csv"}])
    assert unstated("The Dyehouse has 12 flats.", passages, "", []) == []


def test_a_card_that_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "evidence.json"
    path.write_text(json.dumps({"bias": 0.0}))
    with pytest.raises(WeightsError, match="reinstall"):
        card(path)

"""The signs of a quotation that answers something else, or no longer holds."""

from functools import partial
from math import exp
from pathlib import Path

import pytest

from cragraph import load_settings
from cragraph.answers.later import Otherwise, corrects, ratio_of_later, sent, stretches
from cragraph.answers.quotations import MOST, UNREAD, Quotation, ratio_of_quotation, readings, signs, undecided
from cragraph.errors import WeightsError
from cragraph.models.reader import QuotationReader
from cragraph.nodes.verify import SEVERAL
from cragraph.passages import as_passages
from cragraph.run import Assistant
from cragraph.verification.evidence import updated
from tests.support.cases import cases

SHOP = as_passages(
    [
        {"text": "Ask Jess Tow or Jessie Hale.", "source": "desk.md"},
        {"text": "The desk is run by Pat Quigg and Pat Oller on Saturdays.", "source": "rota.md"},
    ]
)
TILL = as_passages(
    [
        {"text": "# Handbook, March 2023\n\nThe till starts with a float of £40.", "source": "handbook.md"},
        {"text": "# Minutes, 24 June 2025\n\nThe float is raised to £60.", "source": "minutes.md"},
    ]
)
PASSAGES = {"shop": SHOP, "till": TILL}


@pytest.mark.parametrize(("given", "question", "quotation", "shown"), cases("answers/quotations", "signs"))
def test_a_quotation_shows_signs_of_what_its_reader_does_not_see(
    given: str, question: str, quotation: str, shown: list[str]
) -> None:
    found = [sign.__name__ for sign in signs(question, quotation, PASSAGES[given])]
    assert sorted(found) == sorted(shown)
    assert (ratio_of_quotation(question, quotation, PASSAGES[given]) < exp(UNREAD) - 1e-9) is bool(shown)


@pytest.mark.parametrize(
    ("question", "answer", "open_"),
    [
        ("What is in the till?", "The till starts with a float of £40. [1] The float is raised to £60. [2]", True),
        ("What is in the till?", "The float is raised to £60. [2]", False),
        ("How much is in the till?", "A float of £60. [1] The float is raised to £60. [2]", False),
        ("Which floats are there, all of them?", "A float of £40. [1] The float is raised to £60. [2]", False),
    ],
)
def test_an_answer_from_two_documents_is_undecided_unless_they_state_the_same_figure(
    question: str, answer: str, open_: bool
) -> None:
    first = {"text": "The till starts with a float of £40. A float of £60. A float of £40.", "source": "handbook.md"}
    passages = as_passages([first, {"text": "The float is raised to £60.", "source": "minutes.md"}])
    assert undecided(question, answer, passages) is open_


RULES = "# Rules of the boathouse\n\n3 May 2021\n\nEach skipper is tested once a year.\n\nA boat is kept for two hours."
WISH = "# Minutes\n\n4 June 2024\n\nPer would have skippers tested only every other year.\n\nThe jetty was mended."


def test_what_a_later_document_may_change_is_shown_beside_the_answer_and_neither_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    for name, text in (("rules.md", RULES), ("minutes.md", WISH)):
        (tmp_path / "files" / name).write_text(text, encoding="utf-8")
    made = Assistant(load_settings(store=str(tmp_path / "store")))
    made.ingest([tmp_path / "files"])
    response = [event for event in made.ask("How often is a skipper tested?") if event.kind == "done"][-1].response
    assert "once a year. [1]" in response["answer"]
    assert "every other year. [2]" in response["answer"]
    assert (response["accepted"], response["decision"]["outcome"]) == (False, "doubtful")
    assert SEVERAL in response["issues"]


def test_a_second_reading_counts_and_takes_back_what_the_first_is_too_sure_of() -> None:
    given = ("What is in the till?", "The till starts with a float of £40. [1]", TILL)
    ratio = partial(ratio_of_quotation, *given)
    assert ratio(0.8, 3.0) > ratio(0.8, 0.0) > ratio(0.8, -3.0)
    assert ratio(0.98, 0.0) < ratio(0.5, 0.0)
    odds = {said: said / (1 - said) * ratio(said, 0.0) for said in (0.5, 0.98)}
    assert odds[0.5] < odds[0.98]


def test_the_second_reading_has_the_sentences_around_the_quotation_under_the_name_of_its_document() -> None:
    text = "Keys hang by the door. " + "The till starts with a float of £40. It is counted at night. " + "Filler. " * 90
    [read] = readings("what is in the till", "The till starts with a float of £40. [1]", as_passages(
        [{"text": text, "source": "shop-rules_2023.md", "metadata": {"heading": "Shop > Till"}}]
    ))  # fmt: skip
    assert read[:2] == ("what is in the till? The till starts with a float of £40.", "shop rules 2023: Shop > Till")
    assert read[2].startswith("Keys hang by the door. The till")
    assert len(read[2]) < 400


def test_a_text_of_no_document_is_not_read_a_second_time() -> None:
    assert readings("what is in the till", "A float of £40. [1]", as_passages(["A float of £40."])) == []


def test_a_later_document_that_says_otherwise_is_looked_for_and_told(tmp_path: Path) -> None:
    rule = (
        "**Keys.** The gate is locked at dusk by whoever leaves last.\n\n"
        "**Fruit.** A household may take 5 kg in a season for eating at home. Windfalls are yours."
    )
    new = "We agreed that a household may take 8 kg in a season, starting with the harvest of 2025."
    before = (
        "Present: Ada Bell, Tom Ray.\n\n1. The press was mended.\n\n2. **Picking.** Ada suggested 10 kg a household."
    )
    shown = []
    for ruled, agreed in ("9 May 2022", "18 November 2024"), ("", "9 May 2022"), ("18 November 2024", "9 May 2022"):
        home = tmp_path / (ruled or "undated")
        home.mkdir()
        (home / "handbook.md").write_text(f"# Handbook\n\n{ruled}\n\n{rule}\n", encoding="utf-8")
        (home / "minutes.md").write_text(f"# Committee, {agreed}\n\n{before} {new}\n", encoding="utf-8")
        made = Assistant(load_settings(store=str(home / "store")))
        made.ingest([home / "handbook.md", home / "minutes.md"])
        *_, done = made.ask("How much fruit can my family pick for the kitchen?", context={"max_crag_attempts": 0})
        response = done.response
        shown.append((response["confidence"], [one for one in response["issues"] if "document may say" in one]))
    [(first, told), (undated, told_of_undated), (newest, untold)] = shown
    assert max(first, undated) < newest
    assert untold == []
    assert [one.partition("“")[2].partition("”")[0] for one in (*told, *told_of_undated)] == [new, new]
    assert told_of_undated[0].startswith("A dated document")


def test_a_message_of_a_chat_has_its_own_date_and_an_item_of_its_own() -> None:
    chat = (
        "[3 Aug 2025, 18:02] Ada: press is mended, thanks Tom\n[5 Aug 2025, 09:15] Tom: gate key is with me now\n"
        "21/08/2025, 19:30 - Ada: pickers can come from 7.30"
    )
    found = [(whole, sent(whole)) for whole, _ in stretches(chat)]
    assert [date for _, date in found] == [(2025, 8, 3), (2025, 8, 5), (2025, 8, 21)]
    assert found[1][0].endswith("gate key is with me now")
    assert [*map(sent, ("12 to 14 may come at 10.30", "Room 4, 10:30: choir"))] == [(), ()]


@pytest.mark.parametrize(
    ("sentence", "is_correction"),
    [
        ("Correction to January: the quote was £460 and not £640.", True),
        ("The bad swab was from the tank, not from the drain.", True),
        ("it is 460 this time not 640, plumber says", True),
        ("Not everybody likes the drain.", False),
        ("Ring the plumber, not 14 days later.", False),
        ("The stove was £90 and not £70.", False),
    ],
)
def test_a_sentence_that_says_and_not_what_is_quoted_corrects_it(sentence: str, is_correction: bool) -> None:
    quotation = Quotation("What did the plumber ask?", "The plumber asks £640 for the drain. [1]", TILL)
    assert corrects(sentence, quotation) is is_correction


def test_a_later_message_or_correction_takes_an_answer_back(tmp_path: Path) -> None:
    rule = "# Picking days, 2 August 2025\n\nThe gate is opened to pickers at 9 in the morning. Bring a basket.\n"
    chat = "Orchard chat\n\n[1 Aug 2025, 18:02] Ada: press is mended\n[{day} Aug 2025, 19:30] Tom: {said}\n"
    later = "it is 7 and not 9 from tomorrow, too hot later"
    shown = []
    for day, said in (5, later), (1, later), (5, "three ladders are in the shed"):
        home = tmp_path / f"{day}-{len(said)}"
        home.mkdir()
        (home / "days.md").write_text(rule, encoding="utf-8")
        (home / "chat.txt").write_text(chat.format(day=day, said=said), encoding="utf-8")
        made = Assistant(load_settings(store=str(home / "store")))
        made.ingest([home / "days.md", home / "chat.txt"])
        *_, done = made.ask("At what time in the morning are pickers let in?", context={"max_crag_attempts": 0})
        told = [one for one in done.response["issues"] if "document may say" in one]
        shown.append((done.response["accepted"], [one.partition("“")[2].partition("”")[0] for one in told]))
    assert shown == [(False, [f"[5 Aug 2025, 19:30] Tom: {later}"]), (True, []), (True, [])]


def test_without_the_weights_of_the_second_reading_the_first_one_counts_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shed.md").write_text(
        "# Shed\n\nThe shed is locked at dusk. Ladders hang on the left.\n", encoding="utf-8"
    )

    def missing(*_: object) -> list[float]:
        raise WeightsError("quotations.onnx is missing; install cragraph again.")

    monkeypatch.setattr(QuotationReader, "answers", missing)
    made = Assistant(load_settings(store=str(tmp_path / "store")))
    made.ingest([tmp_path / "shed.md"])
    *_, done = made.ask("Where do the ladders hang?", context={"max_crag_attempts": 0})
    assert "Ladders hang on the left." in done.response["answer"]
    assert [one for one in done.response["degraded"] if "second reading" in one and "quotations.onnx is missing" in one]


@pytest.mark.parametrize("chance", [0.5, 0.75, 0.9, 1.0])
def test_what_a_later_document_says_multiplies_the_chance_of_a_quotation(chance: float) -> None:
    def after(odds: float) -> float:
        return updated(min(chance, MOST), ratio_of_later(Otherwise("Ten.", "minutes.md", odds), chance))

    told = [after(odds) for odds in (-6.0, -2.0, 0.0, 2.0, 6.0)]
    assert told == sorted(told, reverse=True)
    assert told[0] > min(chance, 0.97)
    assert told[2] < 0.5
    assert told[-1] < 0.05
    assert 0 < ratio_of_later(Otherwise("Ten.", "minutes.md", 2.0), 0.0) < 1  # a threshold of 0 accepts anything


def test_what_makes_a_quotation_doubtful_is_told_though_it_need_not_change_it() -> None:
    likely, unlikely = (Otherwise("Ten.", "minutes.md", odds) for odds in (1.0, -1.0))
    assert unlikely.issues(accepted=True) == ()
    [unsure] = unlikely.issues(accepted=False)
    assert "is not sure" in unsure
    assert "“Ten.” (minutes.md)" in unsure
    assert likely.issues(accepted=True) == likely.issues(accepted=False) != (unsure,)


def test_a_correction_of_the_next_year_counts_where_the_question_names_the_year(tmp_path: Path) -> None:
    report = "# Harvest day, 20 August 2023\n\nAt the harvest day of 2023 we had 640 visitors by the gate book.\n"
    shown = []
    for said in "Correction: it was 460 and not 640 who came to the harvest day.", "The ladders are back in the shed.":
        home = tmp_path / str(len(said))
        home.mkdir()
        (home / "report.md").write_text(report, encoding="utf-8")
        (home / "letter.md").write_text(f"# Letter, 3 May 2024\n\nDear all,\n\n{said}\n", encoding="utf-8")
        made = Assistant(load_settings(store=str(home / "store")))
        made.ingest([home / "report.md", home / "letter.md"])
        *_, done = made.ask("How many visitors came to the harvest day in 2023?", context={"max_crag_attempts": 0})
        shown.append((done.response["accepted"], said in " ".join(done.response["issues"])))
    assert shown == [(False, True), (True, False)]

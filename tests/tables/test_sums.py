"""Sums that a question does not mean: money for a number of things, the prices of a list, what a plan hoped for."""

from pathlib import Path

import pytest

from cragraph import load_settings
from cragraph.run import Assistant
from tests.support.cases import cases


@pytest.mark.parametrize(("name", "table", "question", "issue"), cases("tables/sums", "not meant"))
def test_a_sum_that_the_question_does_not_mean_is_not_accepted(
    tmp_path: Path, name: str, table: str, question: str, issue: str
) -> None:
    (tmp_path / name).write_text(table, encoding="utf-8")
    assistant = Assistant(load_settings(store=str(tmp_path / "store")))
    assistant.ingest([tmp_path / name])
    response = [event for event in assistant.ask(question) if event.kind == "done"][-1].response
    assert not (response["computed"] and response["accepted"])
    assert bool(response["computed"]) is bool(issue)
    assert any(issue in one for one in response["issues"])


def test_a_row_that_words_alone_look_up_is_not_accepted_where_the_reader_sees_no_answer(tmp_path: Path) -> None:
    rows = "No,Boat,Where,By whom\n5,Big Ben,rack 9,Imran\n6,Heron,rack 2,Priya\n"
    (tmp_path / "boats.csv").write_text(rows, encoding="utf-8")
    assistant = Assistant(load_settings(store=str(tmp_path / "store")))
    assistant.ingest([tmp_path / "boats.csv"])
    ends = {
        question: [event for event in assistant.ask(question) if event.kind == "done"][-1].response
        for question in ("Where is the Heron?", "Where does Imran live?")
    }
    assert "rack 2" in ends["Where is the Heron?"]["answer"]
    assert not ends["Where does Imran live?"]["accepted"]


def test_a_figure_is_not_accepted_where_a_text_is_nearer_to_the_question_than_its_table(tmp_path: Path) -> None:
    rows = "Thing,Lender,Worth (£)\nTent,Ida,120\nTable,Tom,45\nUrn,Una,60\n"
    report = (
        "# Open day, 3 May 2025\n\nWhat was the worth of all the open day loans in total? Nobody has added them up, "
        "but the loans were worth it.\n"
    )
    shown = []
    for beside in False, True:
        home = tmp_path / str(beside)
        home.mkdir()
        (home / "open-day-loans.csv").write_text(rows, encoding="utf-8")
        if beside:
            (home / "report.md").write_text(report, encoding="utf-8")
        assistant = Assistant(load_settings(store=str(home / "store")))
        assistant.ingest([*home.glob("*.*")])
        question = "What was the worth of the open day loans in total?"
        response = [event for event in assistant.ask(question) if event.kind == "done"][-1].response
        told = [issue for issue in response["issues"] if "is nearest to the question" in issue]
        shown.append((response["computed"]["value"], response["accepted"], len(told)))
    assert shown == [("225", True, 0), ("225", False, 1)]


def test_whoever_did_something_is_no_place(tmp_path: Path) -> None:
    rows = "thing,kept,checked_by\nShort oar,under the stair,Sid Kell\nLong oar,on the rack,Una Webb\n"
    (tmp_path / "gear.csv").write_text(rows, encoding="utf-8")
    assistant = Assistant(load_settings(store=str(tmp_path / "store")))
    assistant.ingest([tmp_path / "gear.csv"])
    *_, done = assistant.ask("Where are the short oars?")
    assert "under the stair" in done.response["answer"]

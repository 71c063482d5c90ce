"""The log of what was asked: where it is written, what is in it, how it is asked again, kept and forgotten."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cragraph import load_settings
from cragraph.errors import InputError, StoreError
from cragraph.log import MOST, Entry, History, compared, says
from cragraph.run import Assistant
from cragraph.serve import create_app
from tests.doors.conftest import Shell
from tests.support.asgi import JSON, call
from tests.support.cases import cases

DEPTH = "How deep is the Mariana Trench?"
TEA = "When did tea come to Europe?"
CHESS = "Who won the 1998 chess olympiad?"


@pytest.fixture
def asked(shell: Shell, notes: Path) -> Shell:
    """A folder in which three questions were asked."""
    shell("ingest", str(notes), "-q")
    for question in (DEPTH, TEA, CHESS):
        shell("ask", question, "-q")
    return shell


def rows(shell: Shell, *arguments: str) -> list[dict[str, Any]]:
    return list(shell("log", *arguments, "--json").json)


# -- what is written ---------------------------------------------------------------------------------------------------


def test_what_was_asked_is_listed_newest_first_with_answer_sources_and_decision(asked: Shell) -> None:
    entries = rows(asked)
    assert [(e["number"], e["question"], e["outcome"]) for e in entries] == [
        (3, CHESS, "refused"), (2, TEA, "accepted"), (1, DEPTH, "accepted"),
    ]  # fmt: skip
    [source] = entries[2]["sources"]
    assert "10,935 metres deep" in entries[2]["answer"]
    assert (source["number"], source["place"]) == (1, "The sea (sea.md) › Depth")
    assert source["quotes"] == ["The Mariana Trench is 10,935 metres deep."]
    assert (entries[2]["door"], entries[2]["model"], entries[2]["narrowed"]) == ("shell", "extractive", {})
    assert 0.7 < entries[2]["confidence"] <= 1.0
    assert entries[2]["time"].endswith("+00:00")
    shown = asked("log").out.splitlines()
    assert shown[0] == f"   3 {CHESS}"
    assert f"accepted {entries[2]['confidence']:.2f} · The Mariana Trench is 10,935 metres deep. [1]" in shown[5]
    assert shown[5].endswith("(The sea (sea.md) › Depth)")


def test_one_entry_is_shown_whole(asked: Shell) -> None:
    assert asked("log", "--show", "1", "--json").json["sources"][0]["quotes"]
    said = asked("log", "--show", "1").out
    assert said.splitlines()[0] == DEPTH
    assert "[1] The sea (sea.md) › Depth: “The Mariana Trench is 10,935 metres deep.”" in said
    ran = asked("log", "--show", "9")
    assert (ran.code, "There is no entry 9 in the log; `cragraph log` lists the entries." in ran.err) == (2, True)


# -- damage, several writers, and growth -------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", ["garbage", "folder", "version", "readonly"])
def test_a_log_that_cannot_be_used_breaks_no_answer_and_is_said(asked: Shell, tmp_path: Path, damage: str) -> None:
    file = tmp_path / ".cragraph" / "history.sqlite"
    if damage == "garbage":
        file.write_bytes(b"not a database " * 500)
    elif damage == "version":
        with sqlite3.connect(file) as db:
            db.execute("PRAGMA user_version = 99")
        db.close()
    elif damage == "folder":
        file.unlink()
        file.mkdir()
    elif os.geteuid() == 0:
        pytest.skip("root writes everywhere")
    else:
        file.chmod(0o400)
    ran = asked("ask", DEPTH, "--json", "-q")
    assert (ran.code, "10,935" in ran.json["answer"]) == (0, True)
    [told] = ran.json["degraded"]
    assert told.startswith("This question is not in the log of what was asked: the log ")
    assert "CRAG_HISTORY=false" in told
    if damage != "readonly":
        listed = asked("log")
        assert (listed.code, "move it away" in listed.err) == (1, True), listed.err


def test_many_processes_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from cragraph.log import Entry, History\n"
        "for n in range(25): History(Path(sys.argv[1])).add(Entry(f'{sys.argv[2]} {n}', 'a'))"
    )
    file = tmp_path / "history.sqlite"
    writers = [subprocess.Popen([sys.executable, "-c", code, str(file), str(n)]) for n in range(4)]
    assert [writer.wait() for writer in writers] == [0] * 4
    entries = History(file).entries()
    assert {e.question for e in entries} == {f"{writer} {n}" for writer in range(4) for n in range(25)}
    assert [e.number for e in entries] == list(range(100, 0, -1))


def test_the_oldest_entries_go_that_nobody_kept(tmp_path: Path) -> None:
    log = History(tmp_path / "history.sqlite")
    log.add(Entry("kept", "a"))
    log.add(Entry("old", "b"))
    log.keep(1)
    with sqlite3.connect(log.path) as db:
        db.execute("UPDATE sqlite_sequence SET seq = ?", (MOST + 1,))
    db.close()
    assert log.add(Entry("new", "c")) == MOST + 2
    assert [e.question for e in log.entries()] == ["new", "kept"]


# -- forgetting --------------------------------------------------------------------------------------------------------


def test_entries_are_forgotten_one_by_one_or_all_and_numbers_do_not_come_again(asked: Shell, tmp_path: Path) -> None:
    assert asked("log", "--forget", "1", "--forget", "3").out == "forgot 2 entries\n"
    assert [e["number"] for e in rows(asked)] == [2]
    assert b"Mariana" not in (tmp_path / ".cragraph" / "history.sqlite").read_bytes(), "it is overwritten"
    ran = asked("log", "--forget", "2", "--forget", "77")
    assert (ran.code, "no entry 77" in ran.err, len(rows(asked))) == (2, True, 1)
    assert asked("log", "--forget", "all", "--json").json == {"forgotten": 1}
    asked("ask", TEA, "-q")
    assert [e["number"] for e in rows(asked)] == [4]


@pytest.mark.parametrize(("given", "said"), cases("doors/history", "options of the log"))
def test_options_of_the_log_that_do_not_fit_are_explained(asked: Shell, given: tuple[str, ...], said: str) -> None:
    ran = asked("log", *given)
    assert (ran.code, said in ran.err) == (2, True), ran.err
    assert len(rows(asked)) == 3


# -- asked again -------------------------------------------------------------------------------------------------------


def test_a_question_is_asked_again_by_its_number(asked: Shell, notes: Path) -> None:
    again = asked("ask", "--again", "1")
    assert "10,935 metres deep" in again.out
    assert "the same answer" in again.err
    (notes / "sea.md").write_text("The Mariana Trench is 10,994 metres deep, as the survey of 2010 found.\n")
    asked("ingest", str(notes), "-q")
    again = asked("ask", "--again", "1")
    assert "10,994" in again.out
    assert "entry 1 of the log, of " in again.err
    assert "“The Mariana Trench is 10,935 metres deep. [1]”" in again.err
    for given in ((), ("What?", "--again", "1"), ("--again", "99")):
        assert asked("ask", *given).code == 2


# -- kept questions ----------------------------------------------------------------------------------------------------


def test_kept_questions_are_asked_after_an_ingest_and_what_changed_is_said(asked: Shell, notes: Path) -> None:
    assert "no test any more" not in asked("log", "--keep", "1", "--expect", "10,935 metres").out
    for number in ("2", "3"):
        asked("log", "--keep", number)
    assert [(e["number"], e["expect"]) for e in rows(asked, "--kept")] == [(3, None), (2, None), (1, "10,935 metres")]
    same = asked("log", "--check", "-q")
    assert (same.code, same.out) == (0, "3 kept: 3 same\n"), same.err
    (notes / "sea.md").write_text("The Mariana Trench is 10,994 metres deep, as the survey of 2010 found.\n")
    (notes / "tea.md").unlink()
    (notes / "chess.md").write_text("Russia won the chess olympiad of 1998, which was held in Elista.\n")
    asked("ingest", str(notes), "--prune", "-q")
    ran = asked("log", "--check", "--json", "-q")
    found = {row["number"]: row for row in ran.json["rows"]}
    assert ran.code == 6
    assert {number: row["status"] for number, row in found.items()} == {1: "wrong", 2: "refused", 3: "changed"}
    assert (ran.json["kept"], ran.json["wrong"], ran.json["refused"], ran.json["changed"]) == (3, 1, 1, 1)
    assert "10,994" in found[1]["now"]
    assert "10,935" in found[1]["before"]
    said = asked("log", "--check", "-q").out
    assert "wrong    1. How deep is the Mariana Trench?" in said
    assert "expected: 10,935 metres" in said
    assert len(rows(asked)) == 3, "what a test asks is not in the log"


def test_what_changed_is_taken_over_where_a_person_says_so_and_what_is_wrong_is_not(asked: Shell, notes: Path) -> None:
    asked("log", "--keep", "1", "--expect", "10,935 metres")
    asked("log", "--keep", "2")
    (notes / "sea.md").write_text("The Mariana Trench is 10,994 metres deep, as the survey of 2010 found.\n")
    (notes / "tea.md").write_text("Tea came to Europe in 1606, says another book.\n")
    asked("ingest", str(notes), "-q")
    first = asked("log", "--check", "--accept", "--json", "-q")
    assert {row["number"]: row["status"] for row in first.json["rows"]} == {1: "wrong", 2: "changed"}
    second = asked("log", "--check", "--json", "-q")
    assert {row["number"]: row["status"] for row in second.json["rows"]} == {1: "wrong", 2: "same"}
    asked("log", "--keep", "1", "--expect", "10,994 metres")
    asked("log", "--check", "--accept", "-q")
    assert asked("log", "--check", "-q").code == 0
    asked("log", "--let-go", "1")
    assert [e["number"] for e in rows(asked, "--kept")] == [2]
    assert len(rows(asked)) == 3


@pytest.mark.parametrize(("answer", "expected", "right"), cases("doors/history", "an answer says what"))
def test_an_answer_says_what_is_expected_word_for_word(answer: str, expected: str, right: bool) -> None:
    assert says(answer, expected) is right


@pytest.mark.parametrize(("before", "now", "expect", "status"), cases("doors/history", "what became"))
def test_what_became_of_a_kept_question(
    before: tuple[str, str], now: tuple[str, str], expect: str | None, status: str
) -> None:
    row = compared(Entry("q", before[0], outcome=before[1], expect=expect), Entry("q", now[0], outcome=now[1]))
    assert row["status"] == status
    assert bool(row["why"]) is (status != "same")


def test_a_kept_question_that_cannot_be_asked_is_a_failure(asked: Shell, tmp_path: Path) -> None:
    asked("log", "--keep", "1")
    with sqlite3.connect(tmp_path / ".cragraph" / "history.sqlite") as db:
        told = json.loads(db.execute("SELECT more FROM entries WHERE number = 1").fetchone()[0])
        told["narrowed"] = {"where": {"colour": "red"}}
        db.execute("UPDATE entries SET more = ? WHERE number = 1", (json.dumps(told),))
    db.close()
    ran = asked("log", "--check", "-q")
    assert (ran.code, "failed   1." in ran.out, "there is no field 'colour'" in ran.out) == (1, True, True), ran.out


# -- over HTTP ---------------------------------------------------------------------------------------------------------


def test_the_page_lists_keeps_and_forgets_what_was_asked(notes: Path, tmp_path: Path) -> None:
    settings = load_settings(store=str(tmp_path / "store"))
    Assistant(settings).ingest([notes])
    app = create_app(settings, files_in=tmp_path / "files")
    for question in (DEPTH, TEA):
        assert call(app, "POST", "/ask", body=json.dumps({"question": question}).encode(), headers=JSON).status == 200
    told = call(app, "GET", "/history").json
    assert (told["kept"], [(e["question"], e["door"]) for e in told["entries"]]) == (
        True,
        [(TEA, "page"), (DEPTH, "page")],
    )
    assert [e["question"] for e in call(app, "GET", "/history", query=b"words=trench&limit=5").json["entries"]] == [
        DEPTH
    ]
    body = json.dumps({"expect": "1610"}).encode()
    assert call(app, "PUT", "/history/2/kept", body=body, headers=JSON).json["expect"] == "1610"
    assert call(app, "DELETE", "/history/2/kept").status == 200
    assert call(app, "DELETE", "/history/2").json == {"forgotten": 1}
    assert call(app, "DELETE", "/history/2").status == 400
    assert call(app, "DELETE", "/history").json == {"forgotten": 1}
    off = create_app(settings.model_copy(update={"history": False}), files_in=tmp_path / "files")
    assert call(off, "GET", "/history").json == {"kept": False, "entries": []}
    guarded = create_app(settings, token="s3cret-of-the-sea", files_in=tmp_path / "files")
    assert call(guarded, "GET", "/history").status == call(guarded, "DELETE", "/history").status == 401


def test_errors_of_the_log_are_input_and_store_errors(tmp_path: Path) -> None:
    log = History(tmp_path / "history.sqlite")
    assert log.entries() == []
    assert log.forget() == 0
    with pytest.raises(InputError, match="There is no entry 1000000000000"):
        log.get(10**30)
    log.add(Entry("q", "a"))
    for number in (10**30, -1, 0):
        with pytest.raises(InputError, match=f"There is no entry {number}"):
            log.keep(number)
        with pytest.raises(InputError, match=f"There is no entry {number}"):
            log.forget([number])
    log.forget()
    for wrong in (lambda: log.get(1), lambda: log.forget([1]), lambda: log.keep(1), lambda: log.let_go(1)):
        with pytest.raises(InputError, match="There is no entry 1"):
            wrong()
    log.path.write_text("x" * 5000)
    with pytest.raises(StoreError, match="cannot be used"):
        log.entries()

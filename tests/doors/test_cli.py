"""The commands as a person or a program meets them."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from cragraph.cli import console
from cragraph.models.encoder import Encoder
from cragraph.store import Progress
from cragraph.types import IDK

Shell = Callable[..., Any]

RESPONSE = {
    "question", "asked", "answer", "abstained", "accepted", "decision", "confidence",
    "confidence_level", "is_grounded", "citations", "computed", "conflicts", "verification",
    "attempts", "issues", "nearest", "degraded", "models", "llm_calls", "tokens", "stopped", "timings_ms",
}  # fmt: skip
ROW = {"confidence", "level", "is_grounded", "accepted", "decision", "claims", "signals", "issues", "ms"}
CLAIM = {"text", "start", "end", "verdict", "support", "contradiction", "judge", "evidence"}


def test_ask_ingests_a_source_and_answers_from_it(shell: Shell, notes: Path) -> None:
    ran = shell("ask", "Why is the sea salt?", "--source", str(notes), "--json")
    assert ran.code == 0, ran.err
    assert ran.json.keys() == RESPONSE
    assert "rivers carry minerals" in ran.json["answer"]
    assert "[1]" in ran.json["answer"]
    citation = ran.json["citations"][0]
    assert (citation["number"], citation["verified"], citation["metadata"]["filename"]) == (1, True, "sea.md")
    assert ran.json["degraded"] == []
    steps = [line.split()[0] for line in ran.err.splitlines() if not line.startswith("reading for")]
    assert steps == ["retrieve", "rerank", "generate", "verify", "finalize"]


@pytest.mark.slow
def test_ask_loads_nothing_that_only_other_commands_need(shell: Shell, notes: Path) -> None:
    shell("ingest", str(notes))
    ask = (
        "import sys; from cragraph.cli import main; sys.argv[1:] = ['ask', 'Why is the sea salt?', '-q']\n"
        "try: main()\nexcept SystemExit: print(*sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", ask], check=True, capture_output=True, text=True)
    assert "rivers carry minerals" in ran.stdout
    loaded = set(ran.stdout.splitlines()[-1].split())
    unwanted = {
        "langchain_chroma", "langchain_ollama", "chromadb", "json_repair", "openpyxl", "pypdfium2", "markdown_it",
        "matplotlib", "fastapi", "mcp",
    }  # fmt: skip
    assert loaded & unwanted == set()


def test_ask_prints_the_answer_the_citations_the_claims_and_what_ran(shell: Shell, notes: Path) -> None:
    ran = shell("ask", "How deep is the Mariana Trench?", "--source", str(notes), "-q")
    assert ran.code == 0
    assert ran.err == ""
    lines = ran.out.splitlines()
    assert "10,935 metres deep" in lines[0]
    assert lines[2] == "Citations"
    assert lines[3].startswith("  [1] The sea (sea.md) › Depth: ")
    assert "  ” quoted  The Mariana Trench is 10,935 metres deep." in ran.out
    assert re.search(r"Confidence 0\.9\d · accepted · the threshold is 0\.70 · 1 attempt", ran.out)
    assert "Ran: retriever hybrid" in ran.out
    assert "\x1b[" not in ran.out


def test_ask_abstains_with_exit_code_3_where_the_documents_do_not_say(shell: Shell, notes: Path) -> None:
    ran = shell("ask", "Who won the 1998 chess olympiad?", "--source", str(notes), "--json", "-q")
    assert ran.code == 3
    assert (ran.json["answer"], ran.json["abstained"], ran.json["citations"]) == (IDK, True, [])
    assert ran.json["issues"]
    assert {passage["filename"] for passage in ran.json["nearest"]} <= {file.name for file in notes.iterdir()}
    said = shell("ask", "Who won the 1998 chess olympiad?", "--source", str(notes), "-q").out
    assert "Nearest passages\n  " in said
    assert "or try other words" in said


def test_a_source_is_the_only_one_that_is_answered_from(shell: Shell, notes: Path) -> None:
    (notes / "moon.md").write_text("The moon is 384,400 kilometres away from the earth.\n", encoding="utf-8")
    question = "How far away is the moon?"
    assert "384,400" in shell("ask", question, "--source", str(notes), "-q").out
    elsewhere = shell("ask", question, "--source", str(notes / "sea.md"), "--json", "-q")
    assert elsewhere.json["abstained"]
    assert {passage["filename"] for passage in elsewhere.json["nearest"]} == {"sea.md"}
    assert elsewhere.json["issues"][-1].startswith(f"Only {notes / 'sea.md'} was searched.")


def test_ask_without_a_store_says_how_to_make_one(shell: Shell) -> None:
    ran = shell("ask", "What?")
    assert ran.code == 1
    assert "cragraph ingest" in ran.err


def test_claims_are_in_the_json_only_where_asked_for(shell: Shell, notes: Path) -> None:
    shell("ingest", str(notes))
    plain = shell("ask", "Why is the sea salt?", "--json", "-q").json
    assert plain["verification"].keys() == {
        "confidence", "is_grounded", "accepted", "claims_checked", "claims_supported", "crag_attempts", "answered",
        "supported",
    }  # fmt: skip
    shown = shell("ask", "Why is the sea salt?", "--json", "-q", "--show-claims").json
    assert shown["verification"]["claims"][0].keys() >= CLAIM


def test_ingest_is_incremental_and_reports_what_it_did(shell: Shell, notes: Path) -> None:
    first = shell("ingest", str(notes), "--json").json
    assert (len(first["added"]), len(first["failed"])) == (2, 0)
    again = shell("ingest", str(notes), "--json").json
    assert (len(again["added"]), len(again["unchanged"])) == (0, 2)
    (notes / "tea.md").write_text("Tea is a drink.")
    (notes / "broken.pdf").write_bytes(b"%PDF-1.4 not a pdf")
    third = shell("ingest", str(notes), "--json")
    assert len(third.json["changed"]) == 1
    assert len(third.json["failed"]) == 1
    (notes / "tea.md").unlink()
    assert len(shell("ingest", str(notes), "--json", "--prune").json["removed"]) == 1


def test_docs_lists_and_forget_removes(shell: Shell, notes: Path) -> None:
    shell("ingest", str(notes))
    listed = shell("docs", "--json").json
    assert sorted(Path(d["source"]).name for d in listed) == ["sea.md", "tea.md"]
    assert shell("forget", listed[0]["source"]).code == 0
    assert len(shell("docs", "--json").json) == 1
    assert shell("forget", "nowhere.md").code == 2


def test_search_prints_passages_with_their_scores_by_stage(shell: Shell, notes: Path) -> None:
    shell("ingest", str(notes))
    found = shell("search", "oolong tea", "--json", "-k", "1").json
    assert len(found) == 1
    assert "oolong" in found[0]["text"]
    assert {"dense", "lexical", "rerank"} <= found[0]["scores"].keys()
    assert "1. " in shell("search", "oolong tea").out


def test_verify_judges_an_answer_against_files(shell: Shell, notes: Path) -> None:
    wrong = "The Mariana Trench is 8,000 metres deep."
    ran = shell("verify", "--answer", wrong, "--source", str(notes / "sea.md"), "--json")
    assert ran.code == 0, ran.err
    assert ran.json.keys() >= ROW
    (claim,) = ran.json["claims"]
    assert claim["verdict"] in ("unsupported", "contradicted")
    assert wrong[claim["start"] : claim["end"]] == claim["text"]
    right = shell(
        "verify", "--answer", "-", "--source", str(notes / "sea.md"), "--json", stdin=wrong.replace("8,000", "10,935")
    )
    assert right.json["claims"][0]["verdict"] == "supported"
    assert right.json["is_grounded"] is True


def test_every_row_of_a_list_is_cited(shell: Shell, tmp_path: Path) -> None:
    rows = "".join(f"{name},rabbit,{n}\n" for n, name in enumerate(("Moss", "Fern", "Ash", "Elm", "Oak", "Yew", "Ivy")))
    (tmp_path / "ward.csv").write_text(f"animal,kind,cage\n{rows}Rex,dog,9\n", encoding="utf-8")
    ran = shell("ask", "Which animals are rabbits?", "--source", str(tmp_path / "ward.csv"), "--json")
    said = "Seven of the eight rows of ward.csv have the kind rabbit: Moss; Fern; Ash; Elm; Oak; Yew; Ivy"
    assert ran.json["answer"] == f"{said} [1][2][3][4][5][6][7]"
    assert len(ran.json["citations"]) == 7


def test_verify_reads_rows_in_order_and_skips_a_bad_line_by_its_number(shell: Shell, tmp_path: Path) -> None:
    sea = "The sea is salt because rivers carry minerals into it."
    rows = [
        json.dumps({"id": "a", "answer": sea, "passages": [sea, "Tea is a drink."]}),
        "not json",
        json.dumps({"id": "c", "answer": "Tea is a metal.", "passages": [{"text": sea}]}),
        json.dumps({"id": "d", "answer": sea}),
        "",
        json.dumps({"id": "f", "question": "Salt?", "answer": sea, "passages": [sea]}),
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(rows) + "\n")
    ran = shell("verify", "--jsonl", "in.jsonl", "--out", "out.jsonl", "--judge", "lexical")
    assert ran.code == 1, ran.err
    out = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["id"] for row in out] == ["a", "c", "f"]
    for row in out:
        assert row.keys() >= ROW | {"id"}
        assert row["claims"][0].keys() >= CLAIM
    assert out[0]["claims"][0]["evidence"] == {"quote": sea, "passage": 0, "start": 0, "end": len(sea)}
    assert out[1]["claims"][0]["verdict"] == "unsupported"
    assert "line 2: not JSON" in ran.err
    assert "line 4: has no list in `passages`" in ran.err
    assert "3 rows verified, 2 skipped" in ran.err


def test_verify_tells_a_pipeline_whether_enough_is_grounded(shell: Shell, tmp_path: Path) -> None:
    sea = "The sea is salt because rivers carry minerals into it."
    rows = [{"id": f"r{n}", "answer": text, "passages": [sea]} for n, text in enumerate([sea, sea, "Tea is a metal."])]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)))
    given = (
        "verify",
        "--jsonl",
        "in.jsonl",
        "--out",
        "o",
        "--judge",
        "lexical",
        "--summary",
        "json",
        "--junit",
        "j.xml",
    )
    passed, failed = shell(*given, "--fail-under", ".6"), shell(*given, "--fail-under", ".8")
    assert (passed.code, failed.code) == (0, 4)
    figures = json.loads(failed.out)
    assert (figures["rows"], figures["grounded"], figures["share_grounded"]) == (3, 2, 0.6667)
    suite = ElementTree.parse(tmp_path / "j.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "0")
    assert [case.get("name") for case in suite if case.find("failure") is not None] == ["r2"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("verify",), "--answer"),
        (("verify", "--jsonl", "nowhere.jsonl"), "nowhere.jsonl"),
        (("verify", "--answer", "x", "--source", "nowhere.md"), "nowhere.md"),
        (("ask", "q", "--threshold", "7"), "error: --threshold came as 7.0: wanted 0 to 1."),
        (("ask", "q", "--judge", "foo"), "error: --judge came as 'foo': wanted one of auto, lexical,"),
        (("ask", "q", "--top-k", "99"), "error: --top-k came as 99: wanted 1 to 50."),
        (("ask", "q", "--mode", "x"), "error: --mode came as 'x': wanted low, balanced or high."),
        (("ask", "q", "--judge", "oracle"), "oracle"),
        (("ask", "q", "--report", "."), "error: . cannot be written (it is a folder)"),
        (("ask", "q", "--report", "no/page.html"), "no/page.html cannot be written (there is no folder no)"),
        (("verify", "--jsonl", "-", "--out", "no/rows.jsonl"), "no/rows.jsonl cannot be written"),
        (("verify", "--jsonl", "-", "--junit", "."), ". cannot be written (it is a folder)"),
        (("ingest", "~nosuch/x"), "~nosuch/x does not exist"),
        (("ask", "q", "--config", "nowhere.yaml"), "nowhere.yaml"),
        (("graph", "nothing"), "there is no graph 'nothing'"),
        (("ask",), "error: ask needs a question, or --again N"),
        (("frobnicate",), "error: No such command"),
        (("ask", "q", "--model", "llama"), "error: the chat model came as 'llama'"),
        (("ask", "q", "--model", "nobody:x"), "error: the chat model 'nobody:x' cannot be built"),
        (("ask", "q", "--embeddings"), "error: No such option"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bad_usage_is_exit_code_2_and_says_what_was_wrong(shell: Shell, arguments: tuple[str, ...], said: str) -> None:
    ran = shell(*arguments)
    assert ran.code == 2, ran.err
    assert said in " ".join(ran.err.split())
    assert ran.out == ""


def test_one_file_that_cannot_be_read_is_a_failure_and_the_others_go_in(shell: Shell, notes: Path) -> None:
    (notes / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    ran = shell("ingest", str(notes))
    assert (ran.code, len(shell("docs", "--json").json)) == (1, 2)
    assert "broken.pdf" in ran.err


def test_an_interrupted_ingest_is_exit_code_130_and_says_what_was_kept(
    shell: Shell, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Encoder, "embed_documents", stop)
    ran = shell("ingest", str(notes))
    assert (ran.code, ran.out) == (130, "")
    assert "0 files are in, whole." in ran.err
    assert "Run the same command again" in ran.err


def test_names_of_files_are_no_markup(shell: Shell, notes: Path) -> None:
    (notes / "p[").mkdir()
    odd = notes / "p[" / "b].md"
    odd.write_text("Lakes are fresh water.")
    assert shell("ingest", str(notes)).code == 0
    assert str(odd) in "".join(shell("docs").out.splitlines())
    assert (unknown := shell("forget", r"x\[/red]")).code == 2
    assert r"The store has no document x\[/red]" in unknown.err
    assert shell("forget", str(odd)).code == 0


@pytest.mark.enable_socket
@pytest.mark.parametrize("command", ["doctor", "docs", "config"])
def test_no_command_says_the_password_of_a_server(shell: Shell, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_STORE", "http://bob:secret@127.0.0.1:1")
    monkeypatch.setenv("CRAG_OLLAMA_HOST", "http://bob:secret@127.0.0.1:1")
    ran = shell(command)
    assert "bob:***@127.0.0.1:1" in ran.out + ran.err
    assert "secret" not in ran.out + ran.err


def test_graph_draws_the_loop(shell: Shell) -> None:
    drawn = shell("graph").out
    for edge in (
        "__start__ --> retrieve",
        "retrieve --> rerank",
        "below the threshold&nbsp .-> requery",
        "new queries&nbsp .-> retrieve",
    ):
        assert edge in drawn.replace(";", "")
    assert {"nodes", "edges"} <= shell("graph", "verify", "--json").json.keys()


def test_doctor_says_what_is_wrong_and_how_to_mend_it(shell: Shell, notes: Path) -> None:
    ill = shell("doctor", "--json")
    assert ill.code == 1
    store = next(check for check in ill.json["checks"] if check["name"] == "store")
    assert "cragraph ingest" in store["fix"] + store["detail"]
    shell("ingest", str(notes))
    well = shell("doctor", "--json")
    assert well.code == 0, well.out
    assert well.json["ok"] is True


def test_every_command_has_help_with_an_example(shell: Shell) -> None:
    for command in ("ingest", "ask", "verify", "search", "docs", "forget", "graph", "doctor", "stats"):
        ran = shell(command, "--help")
        assert ran.code == 0
        assert "Example" in ran.out, command


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_traceback(notes: Path, tmp_path: Path) -> None:
    command = f"{sys.executable} -m cragraph graph | head -1"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, env=os.environ)
    assert "Traceback" not in done.stderr


def test_config_says_where_each_value_comes_from(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cragraph.yaml").write_text("top_k: 7\nnum_ctx: 4096\n")
    (tmp_path / ".env").write_text("CRAG_MODE=high\n")
    monkeypatch.setenv("CRAG_BASE_URL", "http://me:secret@host/v1")
    monkeypatch.setenv("OLLAMA_HOST", "localhost:1")
    rows = {row["setting"]: row for row in shell("config", "--json").json}
    sources = ("top_k", "num_ctx", "mode", "base_url", "ollama_host", "reranker")
    assert [rows[name]["from"] for name in sources] == [
        "cragraph.yaml", "cragraph.yaml", ".env", "environment variable CRAG_BASE_URL",
        "environment variable OLLAMA_HOST", "default",
    ]  # fmt: skip
    assert rows["num_ctx"]["value"] == 4096
    shown = shell("config").out
    assert "secret" not in shown
    assert "--show-completion" in shell("--help").out


def test_a_long_ingest_says_every_few_seconds_that_it_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "EVERY", 0.01)
    said, tell = threading.Event(), console.status
    monkeypatch.setattr(console, "status", lambda text: (tell(text), "7 chunks" in text and said.set()))
    with console.ingesting(shown=True) as advance:
        assert advance
        advance(Progress(done=1, total=3, chunks=7, rate=2.0, source="a.md"))
        assert said.wait(300)
    assert "reading for 0 s: 1 of 3 files, 7 chunks stored" in capsys.readouterr().err


def test_links_out_of_a_folder_are_named_by_every_command_and_followed_only_when_asked(
    shell: Shell, notes: Path, tmp_path: Path
) -> None:
    (tmp_path / "code.md").write_text("# The vault\n\nThe code of the vault is 4711.\n")
    (notes / "link.md").symlink_to(tmp_path / "code.md")
    ran = shell("ingest", str(notes))
    assert (ran.code, "link.md: a link that leads out of the folder" in ran.err) == (0, True), ran.err
    assert len(shell("docs", "--json").json) == 2
    ran = shell("ask", "What is the code of the vault?", "--source", str(notes), "--store", "other")
    assert "link.md: a link that leads out of the folder" in ran.err
    assert "4711" not in ran.out
    ran = shell("verify", "--answer", "The code of the vault is 4711.", "--source", str(notes))
    assert "link.md: a link that leads out of the folder" in ran.err
    assert shell("ingest", str(notes), "--follow-links").code == 0
    assert len(shell("docs", "--json").json) == 3


@pytest.mark.slow
def test_trust_lets_a_folder_name_a_model(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "cragraph.yaml").write_text(f"# {tmp_path}\nbase_url: http://127.0.0.1:9\n")
    told = subprocess.run(
        [sys.executable, "-m", "cragraph", "docs"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert told.stderr.count("cragraph.yaml sets base_url, which a folder may not do: left out.") == 1
    assert "left out" not in told.stdout
    shell("trust", ".")
    rows = {row["setting"]: row for row in shell("config", "--json").json}
    assert (rows["base_url"]["value"], rows["base_url"]["from"]) == ("http://127.0.0.1:9", "cragraph.yaml")


@pytest.mark.parametrize("arguments", [("-h",), ("ask", "-h"), ("verify", "-h"), ("search", "--help")])
def test_help_is_short_to_ask_for_and_names_no_python_type(shell: Shell, arguments: tuple[str, ...]) -> None:
    ran = shell(*arguments)
    assert ran.code == 0
    assert "Usage" in ran.out
    assert "list[" not in ran.out

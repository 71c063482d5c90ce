"""The examples, run as they are, with real filings and real answers of other systems where those are at hand."""

import json
import os
import shutil
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.store import ingest, open_store

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("CRAG_DATA", ROOT / "../shared/data"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own to run in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def example(name: str) -> Any:
    """An example as a module."""
    spec = spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def given(name: str) -> Path:
    """A file of real data, or the test is skipped."""
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"no {path}; set CRAG_DATA to the folder with the data")
    return path


@pytest.mark.slow
def test_filings_are_answered_with_the_page_and_a_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "filings").mkdir()
    shutil.copy(given("finance/ULTABEAUTY_2023Q4_EARNINGS.pdf"), folder / "filings")
    example("filings").main("filings", "How many stores did Ulta Beauty operate at the end of fiscal 2022?")
    printed = capsys.readouterr().out
    assert "1 files read" in printed
    assert "1,355" in printed
    assert "[1] ULTABEAUTY_2023Q4_EARNINGS.pdf, page " in printed
    assert "data:image/png" in (folder / "reports" / "1.html").read_text()


@pytest.mark.slow
def test_the_gate_names_the_claims_that_do_not_hold_and_fails_under_its_share(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = given("grounding/dev/mtrag_human_eval_set.jsonl").read_text().splitlines()[:3]
    wrong = {"id": "wrong", "answer": "The sea holds 900 million ships.", "passages": ["The sea is salt."]}
    (folder / "answers.jsonl").write_text("\n".join([*rows, json.dumps(wrong)]))
    assert example("gate").main("answers.jsonl", "0.9") == 1
    assert "wrong: unsupported: The sea holds 900 million ships." in capsys.readouterr().out
    assert example("gate").main("answers.jsonl", "0.1") == 0
    assert (folder / "answers.html").read_text().count("data-grounded=") == 4


@pytest.mark.slow
def test_the_app_streams_its_steps_and_each_thread_remembers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    testclient = pytest.importorskip("fastapi.testclient")
    (folder / "moons.md").write_text("# Moons\n\nPhobos is 22 km wide. Deimos is 12 km wide.\n\nMars has two moons.\n")
    with open_store(folder / "store", EmbeddedEncoder()) as store:
        ingest(folder / "moons.md", store)
    monkeypatch.setenv("CRAG_STORE", str(folder / "store"))
    client = testclient.TestClient(example("app").app)

    def asked(thread: str, question: str) -> tuple[list[str], dict[str, Any]]:
        answer = client.post(f"/threads/{thread}/ask", json={"question": question})
        events = [event.split("\ndata: ") for event in answer.text.removesuffix("\n\n").split("\n\n")]
        return [json.loads(data) for kind, data in events if kind == "event: node"], json.loads(events[-1][1])

    nodes, answer = asked("a", "How wide is Phobos?")
    assert nodes == ["retrieve", "rerank", "generate", "verify", "finalize"]
    assert "22 km" in answer["answer"]
    assert "12 km" in asked("a", "And Deimos?")[1]["answer"]
    assert "12 km" not in asked("b", "And that one?")[1]["answer"]

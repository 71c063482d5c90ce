"""A conversation in the terminal, and the same through the graph."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.ollama import OllamaServer

Shell = Callable[..., Any]


def test_a_conversation_answers_explains_itself_and_takes_commands(shell: Shell, notes: Path, tmp_path: Path) -> None:
    shell("ingest", str(notes), "-q")
    lines = (
        "/why", "How deep is the Mariana Trench?", "/source 1", "/source 9", "/why", "/report out.html", "/history",
        "/model", "/model nonsense:", "/new", "/source", "/what", "When did tea come to Europe?", "", "/quit", "never",
    )  # fmt: skip
    ran = shell("chat", "-q", stdin="\n".join(lines) + "\n")
    assert ran.code == 0, ran.err
    answer = "The Mariana Trench is 10,935 metres deep. [1]"
    assert ran.out.splitlines()[0] == answer
    assert "Most lakes are fresh water" in ran.out or "HMS Challenger" in ran.out  # /source shows the whole passage
    assert "” quoted" in ran.out
    assert f"  {answer}" in ran.out
    assert "1610" in ran.out
    assert "never" not in ran.out
    for said in (
        "Nothing was asked yet.",
        "There is no source 9.",
        "wrote out.html",
        "There is no source.",
        "/history",
    ):
        assert said in ran.err
    assert "error: " in ran.err
    assert (tmp_path / "out.html").exists()


@pytest.mark.enable_socket
def test_a_follow_up_is_asked_with_what_was_said_before(
    shell: Shell, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell("ingest", str(notes), "-q")
    with OllamaServer("The Mariana Trench is 10,935 metres deep [1].") as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        shell(
            "chat", "--model", "ollama:llama3.2", "--judge", "encoder", "-q",
            stdin="How deep is the Mariana Trench?\nWhen was it first sounded?\n",
        )  # fmt: skip
        both = ("How deep is the Mariana Trench?", "first sounded")
        assert any(all(text in str(call) for text in both) for call in server.chats)


@pytest.mark.enable_socket
def test_below_the_threshold_a_person_decides(shell: Shell, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell("ingest", str(notes), "-q")
    question = "How deep is the Mariana Trench?"
    lines = (
        question, "what", "s", "HMS Challenger", "a",  # not understood, searched, accepted
        question, "e", "The Mariana Trench is 10,935 metres deep.",  # edited, and right
        question,  # and the input ends: nobody is there any more
    )  # fmt: skip
    with OllamaServer("The Mariana Trench is 900 metres deep [1].") as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        monkeypatch.setenv("CRAG_MAX_CRAG_ATTEMPTS", "0")
        monkeypatch.setenv("CRAG_EXTRACTIVE_FALLBACK", "false")
        ran = shell("chat", "--ask", "--model", "ollama:llama3.2", "--judge", "encoder", "-q", stdin="\n".join(lines))
    assert ran.code == 0, ran.err
    answers = [line for line in ran.out.splitlines() if "metres" in line or "I don't know" in line]
    assert [answer.split()[4] for answer in answers] == ["900", "10,935", "on"]
    for said in ("came as 'w'", "wanted one of accept", "A person accepted", "! contradicted", "A person chose not"):
        assert said in ran.err, said


@pytest.mark.enable_socket
def test_nobody_is_asked_where_nobody_can_answer(shell: Shell, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_ON_LOW_CONFIDENCE", "ask")
    monkeypatch.setenv("CRAG_EXTRACTIVE_FALLBACK", "false")
    with OllamaServer("The Mariana Trench is 900 metres deep [1].") as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        ask = ("ask", "How deep is the Mariana Trench?", "--model", "ollama:llama3.2", "--judge", "encoder", "-q")
        assert shell(*ask, "--source", str(notes)).code == 3

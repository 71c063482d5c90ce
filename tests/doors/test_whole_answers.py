"""What a person is told beside an answer: that documents differ, that a language was not read, a Yes or a No."""

from collections.abc import Callable
from typing import Any

import pytest

from cragraph import create_graph, load_settings
from cragraph.report import Report
from cragraph.run import Assistant

FILES = {
    "faq.md": "# Questions\n\nThe choir rehearses on Wednesday at half past seven in the parish hall.\n",
    "minutes.txt": "Minutes, 8 April 2025\n\nFrom 1 May the choir rehearses on Thursday instead of Wednesday.\n",
    "garden.md": "# Garden\n\nThe garden is closed in December and January. Roses are cut in March.\n",
    "boote.md": "# Bootshaus\n\nEin Kajak kostet zwölf Euro am Tag. Der Schlüssel hängt im Büro neben der Tür.\n",
}
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("told")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    path = str(tmp_path_factory.mktemp("store"))
    Assistant(load_settings(store=path)).ingest([folder])
    return path


@pytest.fixture(scope="module")
def ask(store: str) -> Callable[..., dict[str, Any]]:
    graph = create_graph(load_settings(store=store)).compile()
    return lambda question, **context: graph.invoke({"question": question}, context=context)


def test_documents_that_differ_are_both_quoted_the_newer_first_and_the_confidence_falls(
    ask: Callable[..., dict[str, Any]],
) -> None:
    response = ask("On which day does the choir rehearse?")
    [conflict] = response["conflicts"]
    assert conflict["newer_first"]
    assert conflict["why"] == "it says “instead of Wednesday”"
    assert [side["filename"] for side in conflict["sides"]] == ["minutes.txt", "faq.md"]
    newer, older = (side["quote"] for side in conflict["sides"])
    assert response["answer"] == f"{newer} [1] {older} [2]"
    assert response["confidence"] <= 0.8
    assert any(issue.startswith("The documents answer this differently: ") for issue in response["issues"])
    assert not any("contradict" in issue for issue in response["issues"])  # it is said once


def test_where_claims_are_withheld_the_conflict_is_too(ask: Callable[..., dict[str, Any]]) -> None:
    response = ask("On which day does the choir rehearse?", confidence_threshold=1.0, on_low_confidence="abstain")
    assert response["conflicts"] == []
    assert "The documents answer this differently." in response["issues"]


def test_the_report_and_the_command_show_both_sides(
    ask: Callable[..., dict[str, Any]], store: str, shell: Callable[..., Any]
) -> None:
    page = str(Report(ask("On which day does the choir rehearse?")))
    assert "<h2>The documents differ</h2>" in page
    assert "<b>The newer</b> minutes.txt" in page
    assert "<b>The older</b> faq.md" in page
    said = shell("ask", "On which day does the choir rehearse?", "--store", store).out
    assert "The documents differ\n  the newer: minutes.txt: “From 1 May" in said
    assert "\n  the older: faq.md: “The choir" in said


def test_an_answer_from_a_page_in_another_language_says_so_first_and_is_never_sure(
    ask: Callable[..., dict[str, Any]],
) -> None:
    response = ask("Was kostet ein Kajak am Tag?")
    first, answer = response["answer"].split("\n")
    assert first.startswith("The question is in German, which the built-in networks do not read")
    assert answer == "Ein Kajak kostet zwölf Euro am Tag. [1]"
    assert response["confidence"] <= 0.5
    assert response["issues"][1] == first


def test_an_english_question_that_only_another_language_answers_is_refused_and_told_why(
    ask: Callable[..., dict[str, Any]],
) -> None:
    response = ask("What does a kayak cost per day?")
    assert response["abstained"]
    assert "in German, which the built-in networks do not read" in response["decision"]["why"]
    assert response["decision"]["why"].startswith("The passages that were found do not answer the question.")
    assert response["decision"]["why"] in response["issues"]

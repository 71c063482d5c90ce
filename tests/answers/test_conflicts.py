"""Answers that differ: what is told as a conflict, what only looks like one, and which of two is the newer."""

from collections.abc import Callable

import pytest

from cragraph.answers.differing import Differing, differing
from cragraph.answers.ranking import AnswerRanker
from cragraph.language.questions import read_question
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.models.reader import Reader
from cragraph.passages import as_passages
from tests.support.cases import cases

Find = Callable[..., Differing | None]


@pytest.fixture(scope="module")
def find() -> Find:
    ranker = AnswerRanker(Reader(threads=1), EmbeddedEncoder(threads=1))

    def found(question: str, *files: tuple[str, str]) -> Differing | None:
        passages = as_passages([{"text": text, "source": name} for name, text in files])
        return differing(read_question(question), ranker(question, passages), passages)

    return found


HALL = "What does it cost to hire the hall per hour?"


@pytest.mark.parametrize(("question", "one", "other"), cases("answers/conflicts", "two documents that answer"))
def test_two_documents_that_answer_differently_are_a_conflict(find: Find, question: str, one: str, other: str) -> None:
    pair = find(question, ("a.md", one), ("b.md", other))
    assert pair is not None
    assert {pair.first.candidate.text, pair.second.candidate.text} == {one, other}
    assert pair.why == ""


@pytest.mark.parametrize(("question", "one", "other"), cases("answers/conflicts", "other things times units"))
def test_other_things_times_units_ranges_and_additions_are_none(
    find: Find, question: str, one: str, other: str
) -> None:
    assert find(question, ("a.md", one), ("b.md", other)) is None


@pytest.mark.parametrize(("newer", "older", "why"), cases("answers/conflicts", "the newer is told"))
def test_the_newer_is_told_by_words_dates_and_versions_whichever_comes_first(
    find: Find, newer: tuple[str, str], older: tuple[str, str], why: str
) -> None:
    for files in ((newer, older), (older, newer)):
        pair = find(HALL, *files)
        assert pair is not None
        assert (pair.why, "£28" in pair.first.candidate.text) == (why, True)


def test_a_sentence_and_the_cell_of_a_table_can_differ(find: Find) -> None:
    sentence = ("mail.md", "The deposit of the floor sander is £100 from now on.")
    table = ("prices.csv", "tool: tile cutter | deposit_gbp: 60\ntool: floor sander | deposit_gbp: 80")
    asked = "What is the deposit of the floor sander?"
    for files in ((sentence, table), (table, sentence)):
        pair = find(asked, *files)
        assert pair is not None
        assert (pair.first.answer, pair.second.answer) == ("£100", "80")
    assert find(asked, ("mail.md", "The deposit of the floor sander is £80."), table) is None

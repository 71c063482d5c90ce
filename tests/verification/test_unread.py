"""What is said, and how sure anything is, of what is in a language that no judge or reader at hand reads."""

from typing import Any

import pytest

from cragraph.build import Parts
from cragraph.language.languages import LET_IT_JUDGE, SET_MODEL
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.settings import Settings
from cragraph.verification.evidence import Written
from cragraph.verification.result import Verification
from cragraph.verification.verifier import MOST_UNREAD

QUESTION, ANSWER = "Wann öffnet die Bäckerei?", "Die Bäckerei öffnet um sechs Uhr."


@pytest.fixture(scope="module")
def parts() -> Parts:
    return Parts(Settings(store=None))


def verified(parts: Parts, question: str = QUESTION, answer: str = ANSWER, **more: Any) -> Verification:
    return parts.verifier(question, answer, as_passages([ANSWER]), Notes(), **more)


def test_a_quotation_in_another_language_is_at_most_half_sure_and_says_why(parts: Parts) -> None:
    found = verified(parts, judge="encoder")
    assert found.confidence == MOST_UNREAD == 0.5
    assert found.unread.startswith("The question is in German, ")
    assert found.unread.endswith(f"{SET_MODEL}.")
    assert found.to_dict()["unread"] == found.unread
    assert Verification.from_dict(found.to_dict(), found.claims).unread == found.unread


def test_a_chat_model_that_wrote_it_is_asked_to_judge_it_too(parts: Parts) -> None:
    found = verified(parts, judge="encoder", written=Written(-0.1))
    assert found.confidence <= MOST_UNREAD
    assert found.unread.endswith(f"{LET_IT_JUDGE}.")

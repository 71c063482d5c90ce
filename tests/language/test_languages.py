import pytest

from cragraph.language.languages import UNREAD, unread
from tests.support.cases import cases

GERMAN = "Die Bäckerei ist am Sonntag nicht geöffnet."
ENGLISH = "The bakery is closed on Sundays."


def test_what_was_not_read_is_said_with_what_reads_it() -> None:
    said = unread("Wann öffnet die Bäckerei?", [GERMAN])
    assert said == (
        f"The question is in German, {UNREAD}: only shared words were compared. A chat model that knows German reads "
        "it: set one as `model`."
    )


@pytest.mark.parametrize(("texts", "said"), cases("language/languages", "to an english question"))
def test_to_an_english_question_the_passages_that_are_not_are_counted(texts: list[str], said: str) -> None:
    assert unread("When does the bakery open?", texts)[: len(said) or None] == said

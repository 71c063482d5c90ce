"""A follow-up question is made to stand alone by what was said before it, or left as it is."""

import pytest

from cragraph.answers.followups import FollowUps, stand_alone
from cragraph.protocols import Notes

LAMP = ["Who designed the Anglepoise lamp?", "George Carwardine designed the lamp. [1]"]


@pytest.mark.parametrize(
    ("question", "said", "alone"),
    [
        ("And when did he die?", LAMP, "When did George Carwardine die?"),
        ("What was his trade?", LAMP, "What was George Carwardine's trade?"),
        ("How much does it weigh?", ["Where is the Anglepoise 75 made?", "In Portsmouth."],
         "How much does Anglepoise 75 weigh?"),
        ("And for a city bike?", ["What deposit is taken for a cargo bike?", "250 pounds."],
         "What deposit is taken for a city bike?"),
        ("What about 2022?", ["What was revenue in 2023?", "3 million."], "What was revenue in 2022?"),
        ("And on Friday?", ["When are you open on Saturday?", "From ten."], "When are you open on Friday?"),
        ("When is the next meeting?", LAMP, "When is the next meeting?"),
        ("Where was she born?", [], "Where was she born?"),
    ],
)  # fmt: skip
def test_what_it_points_to_is_put_in(question: str, said: list[str], alone: str) -> None:
    assert stand_alone(question, said) == alone


def test_it_says_so_where_the_conversation_does_not_tell() -> None:
    notes = Notes()
    messages = [{"role": "user", "content": "is that so"}, {"role": "assistant", "content": "yes"}]
    assert FollowUps()("Where was she born?", messages, notes).question == "Where was she born?"
    assert "was not used" in notes.sentences[0]
    clear = Notes()
    FollowUps()("When is the next meeting?", messages, clear)
    assert clear.sentences == []

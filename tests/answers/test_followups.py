"""A follow-up question is made to stand alone by what was said before it, or left as it is."""

from cragraph.answers.followups import FollowUps
from cragraph.protocols import Notes


def test_it_says_so_where_the_conversation_does_not_tell() -> None:
    notes = Notes()
    messages = [{"role": "user", "content": "is that so"}, {"role": "assistant", "content": "yes"}]
    assert FollowUps()("Where was she born?", messages, notes).question == "Where was she born?"
    assert "was not used" in notes.sentences[0]
    clear = Notes()
    FollowUps()("When is the next meeting?", messages, clear)
    assert clear.sentences == []

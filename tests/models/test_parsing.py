"""What small models write where JSON was asked for."""

from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from cragraph.models.chat import ChatCaller, ask
from cragraph.models.replies import Score, Text, UnreadableError, Whole, parse, read_score, schema_of
from cragraph.models.servers import chat_model
from cragraph.protocols import Notes
from tests.support.cases import cases
from tests.support.ollama import OllamaServer


class Rating(BaseModel):
    score: Score
    reasoning: Text = ""


class Row(BaseModel):
    claim: Text
    status: Text
    passage: Whole = 0


class Rows(BaseModel):
    claims: list[Row]


@pytest.mark.parametrize("text", cases("models/parsing", "a score is read"))
def test_a_score_is_read_in_all_the_ways_in_which_models_write_it(text: str) -> None:
    assert parse(text, Rating).score == pytest.approx(0.8)


@pytest.mark.parametrize("text", cases("models/parsing", "rows are read"))
def test_rows_are_read_in_every_wrapping_and_without_the_last_one_cut_off(text: str) -> None:
    first = parse(text, Rows).claims[0]
    assert (first.claim, first.status, first.passage) == ("a", "SUPPORTED", 2)


@given(st.one_of(st.floats(allow_nan=True), st.integers(), st.text(max_size=30), st.none(), st.booleans()))
def test_a_score_is_always_within_bounds_or_refused(value: object) -> None:
    with suppress(ValueError):
        assert 0.0 <= read_score(value) <= 1.0


@pytest.mark.server
@pytest.mark.enable_socket
class TestRepair:
    @pytest.fixture
    def server(self) -> Iterator[OllamaServer]:
        with OllamaServer() as running:
            yield running

    def caller(self, server: OllamaServer) -> ChatCaller:
        return ChatCaller(chat_model("ollama:llama3.2", base_url=server.url), backoff_s=0.01)

    def test_an_unreadable_reply_is_repaired_by_one_more_call_that_sees_it(self, server: OllamaServer) -> None:
        server.play(["the score is high", '{"score": 1}'])
        notes = Notes()
        assert ask(self.caller(server), [("human", "rate")], Rating, notes).score == 1.0
        assert notes.calls == 2
        assert [m["role"] for m in server.chats[1].messages] == ["user", "assistant", "user"]
        assert "the score is high" in server.chats[1].prompt
        assert all(request.format == schema_of(Rating) for request in server.chats)

    def test_a_second_unreadable_reply_is_an_error_and_not_a_third_call(self, server: OllamaServer) -> None:
        server.play("no idea")
        notes = Notes()
        with pytest.raises(UnreadableError):
            ask(self.caller(server), [("human", "rate")], Rating, notes)
        assert notes.calls == 2

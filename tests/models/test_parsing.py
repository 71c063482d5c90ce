"""What small models write where JSON was asked for."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from cragraph.models.chat import ChatCaller, ask
from cragraph.models.replies import Flag, Lines, Score, Text, UnreadableError, Whole, parse, read_score, schema_of
from cragraph.models.servers import chat_model
from cragraph.protocols import Notes
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


class Verdict(BaseModel):
    supported: Flag


class Queries(BaseModel):
    queries: Lines


@pytest.mark.parametrize(
    "text",
    [
        '{"score": 0.8}',
        '```json\n{"score": 0.8}\n```',
        '```\n{"score": 0.8}',
        'Sure! Here it is:\n{"score": 0.8}\nI hope this helps {smile}.',
        '<think>{"score": 0.1}</think>{"score": 0.8}',
        'so {"score": 0.1}? no</think>{"score": 0.8}',
        "{'score': 0.8}",
        "{'score': 0.8, 'reasoning': None}",
        '{"score": 0.8,}',
        "{score: 0.8}",
        '{"score": 0.8 // nearly all\n}',
        '{"score": "0.8"}',
        '{"score": "8/10"}',
        '{"score": "8 out of 10"}',
        '{"score": "80%"}',
        '{"score": 80}',
        '{"score": 8}',
        '{"Score": 0.8}',
        '{"rating": {"score": 0.8}}',
        '[{"score": 0.8}]',
        '{"score": 0.8, "reasoning": "cut off in the mid',
        '{"score": 0.8, "reasoning": "two\nlines"}',
        '{"score": 0.8, "reasoning": "it\'s \\"so\\""}',
        "“score”: no. {“score”: 0.8}",
        "Score: 0.8",
        "0,8",
    ],
)
def test_a_score_is_read_in_all_the_ways_in_which_models_write_it(text: str) -> None:
    assert parse(text, Rating).score == pytest.approx(0.8)


@pytest.mark.parametrize(
    "text",
    ["", "   ", "I cannot say.", '{"score": NaN}', '{"score": null}', '{"score": 5000}', '{"points": 3, "of": 4}',
     "{}", "[]", "<think>The score is 0.9", '{"score": "good"}'],
)  # fmt: skip
def test_what_holds_no_score_is_refused_rather_than_guessed(text: str) -> None:
    with pytest.raises(UnreadableError, match="could not be read as Rating"):
        parse(text, Rating)


@pytest.mark.parametrize(
    "text",
    [
        '{"claims": [{"claim": "a", "status": "SUPPORTED", "passage": 2}]}',
        '[{"claim": "a", "status": "SUPPORTED", "passage": "[2]"}]',
        '{"claim": "a", "status": "SUPPORTED", "passage": "passage 2"}',
        '{"Claims": {"Claim": "a", "Status": "SUPPORTED", "Passage": [2, 3]}}',
        '{"result": [{"claim": "a", "status": "SUPPORTED", "passage": 2.0}]}',
        '{"claims": [{"claim": "a", "status": "SUPPORTED", "passage": 2}, {"claim": "b", "sta',
    ],
)
def test_rows_are_read_in_every_wrapping_and_without_the_last_one_cut_off(text: str) -> None:
    first = parse(text, Rows).claims[0]
    assert (first.claim, first.status, first.passage) == ("a", "SUPPORTED", 2)


@pytest.mark.parametrize(
    ("text", "value"), [("yes", True), ("No.", False), ('{"supported": "false"}', False), ('{"supported": 1}', True)]
)
def test_flags_are_read_in_words_and_figures(text: str, value: bool) -> None:
    assert parse(text, Verdict).supported is value


def test_a_flag_that_is_neither_is_never_taken_for_true() -> None:
    with pytest.raises(UnreadableError):
        parse('{"supported": "mostly"}', Verdict)


def test_a_numbered_list_in_one_string_is_a_list() -> None:
    assert parse('{"queries": "1. net sales 2022\\n2) revenue 2022\\n- sales"}', Queries).queries == [
        "net sales 2022", "revenue 2022", "sales",
    ]  # fmt: skip


@given(st.one_of(st.floats(allow_nan=True), st.integers(), st.text(max_size=30), st.none(), st.booleans()))
def test_a_score_is_always_within_bounds_or_refused(value: object) -> None:
    with suppress(ValueError):
        assert 0.0 <= read_score(value) <= 1.0


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_none_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        read_score(number)


@given(st.text(max_size=200))
def test_no_reply_at_all_makes_the_parser_raise_anything_else(text: str) -> None:
    with suppress(UnreadableError):
        parse(text, Rows)


@pytest.mark.parametrize("text", ["[" * 20_000, "{" * 20_000, '{"a":' * 4_000, "{[" * 10_000])
def test_nesting_without_end_is_refused_quickly(text: str) -> None:
    with pytest.raises(UnreadableError):
        parse(text, Rows)


def test_the_schema_sent_to_the_server_is_flat_and_bare() -> None:
    schema = schema_of(Rows)
    assert "$defs" not in str(schema)
    assert "title" not in str(schema)
    rows = schema["properties"]["claims"]
    row = rows["items"]
    assert list(row["properties"]) == row["required"] == ["claim", "status", "passage"]


def test_no_list_and_no_text_of_the_schema_is_without_bounds() -> None:
    class Short(BaseModel):
        word: Annotated[str, Field(max_length=9)]
        kind: Literal["a", "b"]
        lines: list[str] = Field(max_length=3)

    rows = schema_of(Rows)["properties"]["claims"]
    assert (rows["maxItems"], rows["items"]["properties"]["claim"]["maxLength"]) == (24, 600)
    own = schema_of(Short)["properties"]
    assert (own["word"]["maxLength"], own["lines"]["maxItems"], own["lines"]["items"]["maxLength"]) == (9, 3, 600)
    assert "maxLength" not in own["kind"]


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

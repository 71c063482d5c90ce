"""Passwords and control characters reach no message, no terminal and no JSON."""

import pickle
from typing import Any

import pytest

from cragraph.cli.console import complain, emit, out
from cragraph.errors import CragError, InputError, ModelError, StoreError, mask
from cragraph.passages import as_message, as_passage, as_question
from cragraph.protocols import Notes
from tests.support.cases import cases

HALF = "The sea \ud83d is salt."


@pytest.mark.parametrize(("text", "shown"), cases("doors/safe_text", "the password"))
def test_the_password_of_a_url_is_masked(text: str, shown: str) -> None:
    assert mask(text) == shown


@pytest.mark.parametrize("kind", [CragError, InputError, StoreError, ModelError])
def test_no_error_says_a_password_or_a_control_character(kind: type[CragError]) -> None:
    error = kind("http://bob:secret@host \x1b]0;owned\x07 \x1b[2Jgone")
    assert str(error) == "http://bob:***@host  gone"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_the_langgraph_server_passes_on_the_message_of_every_error_of_ours() -> None:
    def leaves(kind: type) -> list[type]:
        return [leaf for child in kind.__subclasses__() for leaf in [child, *leaves(child)]]

    assert all(issubclass(kind, ValueError | RuntimeError) for kind in leaves(CragError))


def test_what_was_degraded_says_no_password() -> None:
    notes = Notes()
    notes.degraded("http://bob:secret@host was asked again")
    assert notes.sentences == ["http://bob:***@host was asked again"]


def test_markup_and_escapes_are_printed_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    out().print(r"x\[/red] a[/b].md \x1b".replace("\\x1b", "\x1b[2J\x9b"))
    complain("cannot read [/red] \x1b[2J")
    done = capsys.readouterr()
    assert done.out == "x\\[/red] a[/b].md \ufffd[2J\ufffd\n"
    assert done.err == "error: cannot read [/red] \n"


def test_json_escapes_what_a_terminal_would_obey(capsys: pytest.CaptureFixture[str]) -> None:
    emit({"a": "\x1b[2J\x9b\u202e\udce9"})
    assert capsys.readouterr().out == '{\n  "a": "\\u001b[2J\\u009b\\u202e\\udce9"\n}\n'


@pytest.mark.parametrize(
    ("passage", "said"),
    [
        ({"text": "x", "metadata": ["year"]}, "metadata of passage 0 is a list; wanted an object"),
        ({"text": "x", "metadata": "year"}, "metadata of passage 0 is a str"),
        ({"text": "x", "chunk_index": "x"}, "chunk_index of passage 0 came as 'x'; wanted a whole number"),
        ({"text": "x", "chunk_index": [1]}, "chunk_index of passage 0"),
        ({"text": "x", "start_index": float("inf")}, "start_index of passage 0 came as inf"),
        ({"text": "x", "start_index": float("nan")}, "start_index of passage 0 came as nan"),
    ],
)
def test_a_passage_of_the_wrong_shape_is_named(passage: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        as_passage(passage)


def test_half_a_character_is_replaced_wherever_text_comes_in() -> None:
    whole = HALF.replace("\ud83d", "\ufffd")
    passage = as_passage({"text": HALF, "metadata": {"title\udc00": [HALF], "about": {"x": HALF}}})
    assert (passage["text"], passage["metadata"]) == (whole, {"title\ufffd": [whole], "about": {"x": whole}})
    assert as_passage(HALF)["text"] == as_question(HALF) == as_message({"role": "user", "content": HALF})[1] == whole
    assert str(InputError(f"nothing came from {HALF}")) == f"nothing came from {whole}"

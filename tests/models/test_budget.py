"""The prompt must fit into the context, because the server would cut it silently."""

from collections.abc import Sequence

import pytest

from cragraph.models.budget import Messages, estimated_tokens, fitting
from cragraph.passages import as_passage, as_passages
from cragraph.protocols import Notes
from cragraph.types import Passage
from tests.support.cases import cases

TEXTS = ["alpha " * 100, "beta " * 100, "gamma " * 100, "delta " * 100]


def fitted(num_ctx: int | None, notes: Notes) -> list[str]:
    def prompt(passages):  # type: ignore[no-untyped-def]
        return [("system", "Rules.\n" + "\n".join(p["text"] for p in passages))]

    kept = fitting(as_passages(TEXTS), prompt, num_ctx, 50, notes, task="generate")
    return [p["text"].split()[0] for p in kept]


def test_the_lowest_ranked_passages_go_first_and_it_is_said() -> None:
    notes = Notes()
    assert fitted(300, notes) == ["alpha", "beta"]
    assert notes.sentences == [
        "2 of 4 passages, the lowest ranked, were left out of the generate prompt, because the model's context of 300 "
        "tokens is too small: raise CRAG_NUM_CTX or lower top_k."
    ]


def test_the_text_around_passages_goes_before_passages_go() -> None:
    def prompt(passages: Sequence[Passage]) -> Messages:
        return [("system", "Rules.\n" + "\n".join(p["text"] for p in passages))]

    wide = [
        as_passage({"text": f"{'around ' * 100}{text}", "start_index": 50, "chunk_id": text})
        | {"parts": [{"chunk_id": text, "start": 700, "end": 700 + len(text), "from": 0}]}
        for text in TEXTS[:3]
    ]
    notes = Notes()
    kept = fitting(wide, prompt, 500, 50, notes, task="generate")
    assert [p["text"] == text for p, text in zip(kept, TEXTS, strict=False)] == [False, True, True]
    assert kept[1]["start_index"] == 750
    assert notes.sentences == [
        "2 of 3 passages, the lowest ranked, were put into the generate prompt without the text around them, because "
        "the model's context of 500 tokens is too small: raise CRAG_NUM_CTX or lower passage_window."
    ]


@pytest.mark.parametrize(("text", "at_least"), cases("models/budget", "the estimate errs"))
def test_the_estimate_errs_on_the_large_side(text: str, at_least: int) -> None:
    assert estimated_tokens(text) >= at_least


def test_the_last_passage_is_shortened_rather_than_dropped() -> None:
    notes = Notes()
    assert fitted(120, notes) == ["alpha"]
    assert any("was shortened" in sentence for sentence in notes.sentences)

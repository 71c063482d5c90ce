"""The prompt must fit into the context, because the server would cut it silently."""

import pytest

from cragraph.models.budget import estimated_tokens, fitting
from cragraph.passages import as_passages
from cragraph.protocols import Notes
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


@pytest.mark.parametrize(("text", "at_least"), cases("models/budget", "the estimate errs"))
def test_the_estimate_errs_on_the_large_side(text: str, at_least: int) -> None:
    assert estimated_tokens(text) >= at_least


def test_the_last_passage_is_shortened_rather_than_dropped() -> None:
    notes = Notes()
    assert fitted(120, notes) == ["alpha"]
    assert any("was shortened" in sentence for sentence in notes.sentences)

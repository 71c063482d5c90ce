"""The examples that the grounding model is trained on, beside the labelled ones."""

import json
from pathlib import Path
from random import Random

import pytest

from lab.training.judge.edits import EDITS, Material, apply
from lab.training.judge.mix import made_examples
from lab.training.judge.rows import SUPPORTED, Example

MATERIAL = Material(["Maria Lopez"], [" in the harbour of Elsfleth"], {"bridge": ["tunnel"], "opened": ["founded"]})
SENTENCE = (
    "In March 1932 the engineer Peter Stone opened a bridge of 410 metres that was longer than three others, and "
    "Hallam praised Stone."
)
PASSAGE = (
    "The old mill by the river was opened by Peter Stone in March 1932. It is 410 metres long and was closed in 1998. "
    "Anna Berg bought the mill for three million pounds, because its walls were strong. The council of Leeds did not "
    "agree with the sale of the mill. Visitors came from Norway and from the north of Germany during the summer."
)


@pytest.mark.parametrize("kind", sorted(EDITS))
def test_every_kind_of_edit_changes_the_sentence_and_says_where(kind: str) -> None:
    edit = EDITS[kind][0](SENTENCE, Random(3), MATERIAL)
    assert edit is not None
    text, spans = apply(SENTENCE, edit)
    assert text != SENTENCE
    assert edit[1] != SUPPORTED
    put_in = [new for _, _, new in sorted(edit[0])]
    assert all(not new or text[a:b] == new for (a, b), new in zip(spans, put_in, strict=True))


def test_a_detail_is_one_that_the_sentence_does_not_have() -> None:
    own = Material([], [" of 410 metres"], {})
    assert EDITS["detail"][0]("Peter Stone opened a bridge of 410 metres.", Random(1), own) is None


@pytest.fixture
def made(tmp_path: Path) -> list[Example]:
    rows = [
        {"id": "a:1", "passages": [PASSAGE], "answer": "A mill.", "label": "supported", "spans": []},
        {"id": "a:2", "passages": [PASSAGE, SENTENCE], "answer": "A mill.", "label": "supported", "spans": []},
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return made_examples([tmp_path / "a.jsonl"], 400, Random(7), MATERIAL.near)


def kind(example: Example) -> str:
    return example.source.split("/")[1]


def test_true_claims_and_false_ones_are_made_in_like_numbers(made: list[Example]) -> None:
    true = sum(example.label == SUPPORTED for example in made) / len(made)
    assert 0.35 < true < 0.65
    assert {"true", "edited", "both edited", "passage edited", "missing"} <= {kind(example) for example in made}


def test_an_edit_that_is_made_in_the_passage_too_is_true_again(made: list[Example]) -> None:
    false = {example.claim for example in made if kind(example) == "edited"}
    again = [example for example in made if kind(example) == "both edited"]
    assert again
    assert any(example.claim in false for example in again), "the claim alone must not tell"
    assert all(example.label == SUPPORTED and example.passages != (PASSAGE,) for example in again)


def test_marked_ranges_lie_within_their_claims(made: list[Example]) -> None:
    for example in made:
        for start, end in example.spans or ():
            assert 0 <= start < end <= len(example.claim)

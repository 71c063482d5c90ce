"""The network that reads a quotation with what stands around it and with later texts, with the weights that ship."""

import json
import shutil
from pathlib import Path

import pytest

from cragraph.errors import WeightsError
from cragraph.models.reader import QuotationReader
from cragraph.models.weights import DATA

KENNEL = "how late may the dog stay? Dogs are fetched by six."
LADDER = "who has the key of the loft? The key of the loft hangs at Mrs Tarn's."


@pytest.mark.parametrize(
    ("claim", "changing", "keeping"),
    [
        (KENNEL, "Fetching. Half past seven from now on.", "Fetching. Cats from half past seven from now on."),
        (KENNEL, "Six is too early for commuters. Agreed: eight.", "Six is too early for commuters. Voted down."),
        (LADDER, "Mrs Tarn has handed the loft over to Ove.", "Mrs Tarn has handed the boathouse over to Ove."),
        (LADDER, "Loft: the lock is gone, just push.", "Loft: the window is gone, just look."),
    ],
)
def test_a_text_that_changes_the_answer_is_told_from_one_that_looks_so(claim: str, changing: str, keeping: str) -> None:
    changes, keeps = QuotationReader().supersedes(
        [(claim, "Minutes, 4 May 2024", text) for text in (changing, keeping)]
    )
    assert keeps < 0
    assert changes > keeps + 2


def test_a_pair_gets_the_same_figure_whatever_is_read_beside_it() -> None:
    model, pairs = (
        QuotationReader(threads=2),
        [(KENNEL, "", "Half past seven."), (LADDER, "Minutes", "Ove has it now.")],
    )
    for reads in (model.supersedes, model.answers):
        assert reads(pairs) == [reads([pair])[0] for pair in pairs]


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("what do i pay for the punt as a guest", "Visitors: £9 an hour.", "Members: £4 an hour."),
        ("Who looks after the oars?", "Oars and rowlocks are with Ivo Brandt.", "Ivo Brandt rowed at Henley."),
        ("how long did it rain on the day of the race", "It poured from ten until two.", "Rain was forecast for noon."),
    ],
)
def test_a_quotation_that_answers_is_told_from_one_that_seems_to(question: str, right: str, wrong: str) -> None:
    around = f"The club has three punts. {right} {wrong} Boats are back by dusk."
    answers, seems = QuotationReader().answers([(f"{question}? {text}", "Boats", around) for text in (right, wrong)])
    assert answers > seems + 1


def test_the_additions_fit_the_reading_network_that_ships(tmp_path: Path) -> None:
    own, reading = (json.loads((DATA / f"{name}.json").read_text())["files"] for name in ("quotations", "reading"))
    assert own["reading.onnx"] == reading["reading.onnx"]
    for path in DATA.iterdir():
        shutil.copyfile(path, tmp_path / path.name)
    damaged = tmp_path / "reading.onnx"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"!")
    with pytest.raises(WeightsError, match=r"reading\.onnx is damaged or of another version"):
        QuotationReader(folder=tmp_path).supersedes([(KENNEL, "", "Half past seven.")])

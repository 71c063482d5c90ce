"""The network that tells whether a later text changes what an earlier one answers, with the weights that ship."""

import json
import shutil
from pathlib import Path

import pytest

from cragraph.errors import WeightsError
from cragraph.models.reader import Superseding
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
    changes, keeps = Superseding()([(claim, "Minutes, 4 May 2024", text) for text in (changing, keeping)])
    assert keeps < 0
    assert changes > keeps + 2


def test_a_pair_gets_the_same_figure_whatever_is_read_beside_it() -> None:
    model, pairs = Superseding(threads=2), [(KENNEL, "", "Half past seven."), (LADDER, "Minutes", "Ove has it now.")]
    assert model(pairs) == [model([pair])[0] for pair in pairs]


def test_the_additions_fit_the_reading_network_that_ships(tmp_path: Path) -> None:
    own, reading = (json.loads((DATA / f"{name}.json").read_text())["files"] for name in ("superseded", "reading"))
    assert own["reading.onnx"] == reading["reading.onnx"]
    for path in DATA.iterdir():
        shutil.copyfile(path, tmp_path / path.name)
    damaged = tmp_path / "reading.onnx"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"!")
    with pytest.raises(WeightsError, match=r"reading\.onnx is damaged or of another version"):
        Superseding(folder=tmp_path)([(KENNEL, "", "Half past seven.")])

import json
import shutil
from pathlib import Path

import pytest

from cragraph.errors import WeightsError
from cragraph.models.grounding import GroundingModel
from cragraph.models.weights import DATA

COMPANY = (
    "Northwind Ltd reported revenue of $3.2 million for 2021, up 12 percent from the year before. The company opened "
    "two stores in Leeds in March 2021 and hired 45 people. Its founder, Maria Lopez, remains chief executive."
)
BRIDGE = (
    "The Hallam Bridge was designed by the engineer Peter Stone and opened in 1932. It is 410 metres long and crosses "
    "the River Tarn. The bridge was closed to lorries in 1998 because its cables were weak."
)
TRIAL = (
    "In the trial, 240 patients received the new drug and 238 received a placebo. The drug reduced the number of "
    "headaches from eight to three a month. It did not improve sleep. Nausea was the most common side effect."
)
MATCH = (
    "Riverside beat Oakfield 3-1 on Saturday evening. Anna Berg scored two goals for Riverside before half time. "
    "Oakfield's only goal came from Julia Mann in the final minute. Some 5,000 people watched the match."
)

"""Texts that speak of different things."""
CLAIMS = [
    "Its founder, Maria Lopez, remains chief executive.",
    "Northwind Ltd reported revenue of $5.7 million for 2021.",
    "The company hired 450 people.",
    "Northwind plans to sell its shares on the stock exchange next summer.",
    "The bridge was closed to lorries in 1998 because its cables were weak.",
    "Peter Stone was the engineer who designed the Hallam Bridge.",
    "The drug did not improve sleep.",
    "Oakfield beat Riverside 3-1 on Saturday evening.",
]
TEXTS = [COMPANY] * 4 + [BRIDGE] * 2 + [TRIAL, MATCH]
"""What each claim is read with."""


@pytest.fixture(scope="module")
def model() -> GroundingModel:
    return GroundingModel(threads=2)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_claim_gets_the_same_figures_bit_for_bit_in_any_company_and_on_any_number_of_threads(threads: int) -> None:
    alone = [GroundingModel(threads=1).judge([claim], [own])[0] for claim, own in zip(CLAIMS, TEXTS, strict=True)]
    many = GroundingModel(threads=threads)
    assert many.judge(CLAIMS, TEXTS) == alone
    assert many.judge(CLAIMS[::-1], TEXTS[::-1])[::-1] == alone


def test_a_very_long_claim_is_judged_in_parts_and_is_as_good_as_its_weakest(model: GroundingModel) -> None:
    true = " ".join([COMPANY, BRIDGE, TRIAL])
    false = true + " The moon is made of green cheese and belongs to the king of Norway."
    good, bad = model.judge([true, false], [true] * 2)
    assert bad.supported <= good.supported
    # Beside many true ones a false sentence is read in one part with some of them; the judge reads sentences.
    [alone] = model.judge([false[len(true) + 1 :]], [true])
    assert alone.supported < 0.5
    assert false[bad.words[-1].start : bad.words[-1].end] == "Norway."
    assert max(word.end for word in bad.words) == len(false)


def _copied(folder: Path) -> Path:
    for name in ("encoder.json", "encoder-tokenizer.json", "reading.json", "reading.onnx"):
        shutil.copyfile(DATA / name, folder / name)
    return folder


def test_damaged_weights_are_named_before_they_are_loaded(tmp_path: Path) -> None:
    damaged = _copied(tmp_path) / "reading.onnx"
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    with pytest.raises(WeightsError, match=r"reading\.onnx is damaged or of another version"):
        GroundingModel(folder=tmp_path).judge(CLAIMS[:1], TEXTS[:1])


def test_weights_that_do_not_fit_the_tokenizer_are_refused(tmp_path: Path) -> None:
    card = json.loads((_copied(tmp_path) / "reading.json").read_text())
    card["idf"] = card["idf"][:400]
    (tmp_path / "reading.json").write_text(json.dumps(card))
    with pytest.raises(WeightsError, match="different versions"):
        GroundingModel(folder=tmp_path).judge(CLAIMS[:1], TEXTS[:1])


def test_all_weights_together_stay_below_a_hundred_and_fifteen_megabytes() -> None:
    assert sum(path.stat().st_size for path in DATA.iterdir()) <= 115_000_000

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cragraph.errors import WeightsError
from cragraph.models.grounding import NO_WORDS, Grounding, GroundingModel
from cragraph.models.grounding_features import readable
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

PASSAGES = [COMPANY, BRIDGE, TRIAL, MATCH]
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


def test_a_wrong_figure_is_the_word_pointed_at(model: GroundingModel) -> None:
    claim = "The company opened two stores in Glasgow in March 2021."
    [found] = model.judge([claim], [COMPANY])
    worst = max(found.words, key=lambda word: word.unsupported)
    assert claim[worst.start : worst.end] == "Glasgow"
    assert worst.unsupported >= model.word_threshold


def test_probabilities_sum_to_one_and_words_cover_the_claim(model: GroundingModel) -> None:
    for claim, found in zip(CLAIMS, model.judge(CLAIMS, TEXTS), strict=True):
        assert found.supported + found.unsupported + found.contradicted == pytest.approx(1)
        assert all(0 <= p <= 1 for p in (found.supported, found.unsupported, found.contradicted))
        assert "".join(claim[w.start : w.end] for w in found.words) == claim.replace(" ", "")


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_claim_gets_the_same_figures_bit_for_bit_in_any_company_and_on_any_number_of_threads(threads: int) -> None:
    alone = [GroundingModel(threads=1).judge([claim], [own])[0] for claim, own in zip(CLAIMS, TEXTS, strict=True)]
    many = GroundingModel(threads=threads)
    assert many.judge(CLAIMS, TEXTS) == alone
    assert many.judge(CLAIMS[::-1], TEXTS[::-1])[::-1] == alone


def test_what_a_text_says_against_a_claim_counts(model: GroundingModel) -> None:
    [denied, turned] = model.judge(["The drug improved sleep."] * 2, ["It did not improve sleep.", COMPANY])
    assert denied.contradicted > turned.contradicted
    assert denied.logit < turned.logit + 1


def test_pairs_are_scored_in_order_and_repeats_alike(model: GroundingModel) -> None:
    pairs = [(CLAIMS[0], COMPANY), (CLAIMS[4], BRIDGE), (CLAIMS[0], BRIDGE), (CLAIMS[0], COMPANY)]
    found = model.score(pairs)
    assert found[0] == found[3] == model.judge([CLAIMS[0]], [COMPANY])[0]
    assert found[1] == model.judge([CLAIMS[4]], [BRIDGE])[0]
    assert found[0].supported > found[2].supported


def _verify(model: GroundingModel, times: int, size: int = 2) -> set[tuple[Grounding, ...]]:
    alone = tuple(model.judge(CLAIMS[:size], TEXTS[:size]))
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: tuple(model.judge(CLAIMS[:size], TEXTS[:size])), range(times)))
    return found | {alone}


def test_eight_threads_that_load_and_judge_at_once_get_identical_results() -> None:
    assert len(_verify(GroundingModel(threads=2), 24)) == 1


@pytest.mark.slow
def test_eight_threads_get_identical_results_in_a_thousand_verifications() -> None:
    assert len(_verify(GroundingModel(threads=2), 1000, size=1)) == 1


@pytest.mark.parametrize("claim", ["", "   ", "\n", "...", "?!"])
def test_a_claim_without_words_is_not_supported(model: GroundingModel, claim: str) -> None:
    [found] = model.judge([claim], [COMPANY])
    assert found.supported < 0.5


def test_a_blank_claim_is_unread_and_no_claims_give_nothing(model: GroundingModel) -> None:
    assert model.judge([" "], [COMPANY]) == [NO_WORDS]
    assert model.judge([], []) == []
    assert model.score([]) == []


@pytest.mark.parametrize("text", ["", "  \n ", "."])
def test_without_text_nothing_is_supported(model: GroundingModel, text: str) -> None:
    [found] = model.judge([CLAIMS[0]], [text])
    assert found.supported < 0.5


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


@pytest.mark.slow
def test_a_passage_of_a_million_characters_and_a_word_without_end_are_read(model: GroundingModel) -> None:
    long = BRIDGE * 4000
    found = model.judge(["The Hallam Bridge crosses the River Tarn.", "x" * 20_000], [long] * 2)
    assert found[0].supported >= 0.5
    assert found[1].supported < 0.5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Revenue rose.", True),
        ("Penélope Cruz agreed.", True),
        ("Les ventes ont augmenté.", False),
        ("매출은 증가했다.", False),
        ("Выручка выросла.", False),
        ("收入增长了 12% in 2021", False),
        ("2021: 3.2", True),
        ("", True),
        ("The Greek letter α is used.", True),
    ],
)
def test_only_english_and_what_may_be_english_can_be_read(text: str, expected: bool) -> None:
    assert readable(text) is expected


@pytest.mark.parametrize("text", ["매출은 증가했다.", "a\ud800b", "\x00\x01", "🙂🙂", "é" * 300])
def test_strange_text_is_judged_without_an_error(model: GroundingModel, text: str) -> None:
    [found] = model.judge([text], [text])
    assert 0 <= found.supported <= 1


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


def test_missing_weights_are_named(tmp_path: Path) -> None:
    _copied(tmp_path)
    (tmp_path / "reading.onnx").unlink()
    with pytest.raises(WeightsError, match=r"reading\.onnx is missing"):
        GroundingModel(folder=tmp_path).judge(CLAIMS[:1], TEXTS[:1])


def test_weights_that_do_not_fit_the_tokenizer_are_refused(tmp_path: Path) -> None:
    card = json.loads((_copied(tmp_path) / "reading.json").read_text())
    card["idf"] = card["idf"][:400]
    (tmp_path / "reading.json").write_text(json.dumps(card))
    with pytest.raises(WeightsError, match="different versions"):
        GroundingModel(folder=tmp_path).judge(CLAIMS[:1], TEXTS[:1])


def test_the_card_says_how_what_is_read_is_joined() -> None:
    card = json.loads((DATA / "reading.json").read_text())
    assert card["blend"].keys() == {"share", "cost", "bound", "against", "scale"}
    assert 0 < card["thresholds"]["word"]["at"] < 1


def test_all_weights_together_stay_below_a_hundred_and_fifteen_megabytes() -> None:
    assert sum(path.stat().st_size for path in DATA.iterdir()) <= 115_000_000


def test_threads_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="wanted 1 or more"):
        GroundingModel(threads=0)

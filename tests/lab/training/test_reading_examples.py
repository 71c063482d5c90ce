"""What the network behind judge and reader learns claims from, and how its weights are written in few codes."""

import json
from pathlib import Path
from random import Random

import numpy as np

from lab.training.encoder_graph import quantised
from lab.training.judge.rows import NOT_SUPPORTED, SUPPORTED, UNSUPPORTED, Example
from lab.training.reading.rows import ENTAIL, SHARES, YES_NO, among, entailed, unrelated, yes_or_no


def example(claim: str, passage: str, label: int = SUPPORTED) -> Example:
    return Example(claim, (passage,), label, () if label == SUPPORTED else None, "test")


def test_a_yes_or_no_question_is_a_claim_with_its_answer_and_false_with_the_other(tmp_path: Path) -> None:
    row = {"question": "may the raft carry dogs?", "passages": ["Dogs are carried on the raft."], "answers": ["yes"]}
    for name in YES_NO:
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for _ in range(40)), encoding="utf-8")
    made = yes_or_no(tmp_path, Random(1))
    labels = {e.claim: e.label for e in made}
    assert labels == {
        "May the raft carry dogs? Yes.": SUPPORTED,
        "May the raft carry dogs? No.": NOT_SUPPORTED,
    }


def test_a_passage_among_others_still_stands_there_whole() -> None:
    alone = example("The mill burned down.", "The mill burned down in March")
    pool = [f"The tower number {n} was painted." for n in range(20)]
    wider = among(alone, pool, Random(2))
    assert wider.passages[0] != alone.passages[0]
    assert alone.passages[0] in wider.passages[0]
    assert wider.label == SUPPORTED


def test_a_long_passage_stays_alone() -> None:
    alone = example("The mill burned down.", "The mill burned down. " * 30)
    assert among(alone, ["A tower was painted."] * 6, Random(2)) == alone


def test_an_unrelated_claim_is_unsupported_and_never_before_its_own_passage() -> None:
    known = [example(f"Claim {n} is made.", f"Claim {n} is made in the text.") for n in range(60)]
    made = unrelated(known, [(f"Another text {n}.",) for n in range(60)], 30, Random(3))
    own = {e.claim: e.passages for e in known}
    assert made
    assert all(e.label == UNSUPPORTED and e.passages != own[e.claim] for e in made)


def test_each_source_gives_both_sides_and_no_claim_of_a_held_out_file(tmp_path: Path) -> None:
    def lines(name: str, start: int) -> str:
        rows = (
            {"answer": f"{name} {n}", "passages": [f"p {n}"], "label": label, "spans": None}
            for n, label in enumerate(["supported", "unsupported"] * 20, start)
        )
        return "".join(json.dumps(row) + "\n" for row in rows)

    for name in ENTAIL:
        (tmp_path / f"{name}.jsonl").write_text(lines(name, 0), encoding="utf-8")
    held_out = tmp_path / "held_out.jsonl"
    held_out.write_text(lines("paws_wiki", 0)[:4000].rsplit("\n", 1)[0] + "\n", encoding="utf-8")
    kept_out = {json.loads(line)["answer"] for line in held_out.read_text(encoding="utf-8").splitlines()}
    drawn = entailed(tmp_path, [held_out], 200, Random(4))
    assert not kept_out & {e.claim for e in drawn}
    assert {e.label == SUPPORTED for e in drawn if e.source == "onestop_english"} == {True, False}
    assert all(e.label != UNSUPPORTED for e in drawn if e.source == "paws_wiki")


def test_the_shares_of_an_epoch_make_a_whole() -> None:
    assert abs(sum(SHARES.values()) - 1) < 1e-9


def test_weights_of_few_codes_come_back_within_half_a_step() -> None:
    weight = np.random.default_rng(5).normal(size=(64, 6)).astype(np.float32)
    codes, scales = quantised(weight, 31)
    assert codes.dtype == np.int8
    assert np.abs(codes).max() == 31
    assert np.all(np.abs(codes * scales - weight) <= scales / 2 + 1e-6)

import json
from pathlib import Path
from typing import Any

import pytest

from cragraph.errors import InputError
from cragraph.protocols import Notes
from cragraph.testing import FakeJudge
from cragraph.verification.claims import SentenceExtractor
from cragraph.verification.verifier import Verifier
from lab.evals.data import read_rows
from lab.evals.grounding import run
from tests.support.cases import cases


def row(id: str, answer: str, label: str, **more: Any) -> dict[str, Any]:
    return {
        "id": id,
        "question": None,
        "passages": ["Gold shines.", "Lead is heavy."],
        "answer": answer,
        "label": label,
        "spans": [],
        **more,
    }


def written(folder: Path, name: str, *rows: dict[str, Any]) -> Path:
    file = folder / f"{name}.jsonl"
    file.write_text("".join(json.dumps(r) + "\n" for r in rows))
    return file


def verifier(**judges: Any) -> Verifier:
    known = judges or {"good": FakeJudge({"Gold": 0.9, "Lead": 0.8, "Tin": 0.3}, "good")}
    return Verifier(judges=known, fallback=[], extractor=SentenceExtractor())


FIRST = (
    row("x:1", "Gold shines. Lead is heavy.", "supported"),
    row("x:2", "Tin bends.", "unsupported"),
    row("x:3", "Gold shines. Pigs fly.", "contradicted"),
    row("x:4", "Lead is heavy, say some.", "partial"),
)


def test_a_judge_is_measured_on_each_file_and_on_the_mean_of_those_with_both_labels(tmp_path: Path) -> None:
    files = [written(tmp_path, "first", *FIRST), written(tmp_path, "one_sided", row("y:1", "Pigs fly.", "supported"))]
    found = run(files, ["good"], verifier())["judges"]["good"]
    first, other = found["data_sets"]["first"], found["data_sets"]["one_sided"]
    assert (first["rows"], first["supported"], first["unsupported"]) == (4, 1, 3)
    assert first["balanced_accuracy"] == pytest.approx((1 + 2 / 3) / 2)  # the partial row passes as supported
    assert first["f1_unsupported"] == pytest.approx(2 * 2 / (2 + 3))
    assert first["auroc"] == 1.0  # the mean logits: 1.8 against -0.8, -1.5 and 1.4
    assert (other["auroc"], other["balanced_accuracy"], other["ece"]) == (None, None, 1.0)
    assert found["macro"]["data_sets"] == 1
    assert found["macro"]["auroc"] == first["auroc"]
    assert first["judged_by"] == {"good": 4}
    assert first["ms_p50"] > 0


class Broken(FakeJudge):
    def __call__(self, claims: Any, passages: Any, notes: Notes, *, question: str = "") -> Any:
        raise TimeoutError("slow")


def test_rows_that_no_judge_could_judge_are_counted_apart(tmp_path: Path) -> None:
    found = run([written(tmp_path, "first", *FIRST)], ["bad"], verifier(bad=Broken({}, "bad")))
    figures = found["judges"]["bad"]["data_sets"]["first"]
    assert (figures["rows"], figures["unjudged"], figures["auroc"]) == (0, 4, None)
    assert any("'bad' failed" in sentence for sentence in figures["degraded"])


@pytest.mark.parametrize("line", cases("lab/evals/grounding", "a row of another"))
def test_a_row_of_another_shape_is_named_by_file_and_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(json.dumps(FIRST[0]) + "\n\n" + line + "\n")
    with pytest.raises(InputError, match=r"bad\.jsonl:3"):
        read_rows(file)


# -- spans -----------------------------------------------------------------------------------------------------


# -- what is shown ---------------------------------------------------------------------------------------------

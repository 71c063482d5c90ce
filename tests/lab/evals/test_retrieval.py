import builtins
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from cragraph.errors import InputError, SettingsError
from cragraph.testing import HashEmbeddings
from lab.benchmarks.vectors import RememberedEmbeddings
from lab.evals.data import read_collection
from lab.evals.report import plot_retrieval, retrieval_table
from lab.evals.retrieval import PlainBM25, run

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


def test_progress_counts_texts_and_the_queries_of_each_stage(folder: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    run(folder, HashEmbeddings(32), limit=2, progress=lambda *event: seen.append(event))
    assert seen[0] == (4, 4, "embedding")
    assert [event for event in seen if event[2] == "hybrid"] == [(1, 2, "hybrid"), (2, 2, "hybrid")]


def test_vectors_are_embedded_once_and_kept_between_runs(folder: Path, tmp_path: Path) -> None:
    first, second = HashEmbeddings(32), HashEmbeddings(32)
    kept = RememberedEmbeddings(first, tmp_path / "cache")
    one = run(folder, kept)
    kept.save()
    assert len(first.asked) == len(set(first.asked)) == 4 + 3
    two = run(folder, RememberedEmbeddings(second, tmp_path / "cache"))
    assert second.asked == []
    assert one["stages"]["dense"]["mrr"] == two["stages"]["dense"]["mrr"]


def test_another_model_has_vectors_of_its_own(tmp_path: Path) -> None:
    small, large = (RememberedEmbeddings(HashEmbeddings(n), tmp_path) for n in (8, 16))
    for kept in (small, large):
        kept.embed_documents(["krill"])
        kept.save()
    assert len(RememberedEmbeddings(HashEmbeddings(8), tmp_path).embed_query("krill")) == 8
    assert len(list(tmp_path.iterdir())) == 2


def test_the_table_shows_every_stage(folder: Path) -> None:
    console = Console(width=160, record=True, file=None, quiet=False)
    with console.capture() as shown:
        console.print(retrieval_table(run(folder, HashEmbeddings(32))))
    for name in ("plain bm25", "plain encoder", "lexical", "dense", "hybrid", "hybrid+rerank", "recall@100"):
        assert name in shown.get()


@pytest.mark.slow
def test_the_plot_is_written(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    result = run(folder, HashEmbeddings(32))
    plot_retrieval(result, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="svg"):
        plot_retrieval(result, tmp_path / "plot.docx")


def test_without_matplotlib_the_message_says_what_to_install(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run(folder, HashEmbeddings(32))
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    real = builtins.__import__

    def absent(name: str, *rest: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(SettingsError, match=r"pip install 'cragraph\[report\]'"):
        plot_retrieval(result, tmp_path / "plot.png")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("corpus.jsonl", None, "has no corpus.jsonl"),
        ("corpus.jsonl", "{oops\n", r"corpus.jsonl:1 is not JSON"),
        ("corpus.jsonl", "[1]\n", r"corpus.jsonl:1 is a list"),
        ("corpus.jsonl", '{"id": "p1"}\n', r"corpus.jsonl:1 has no `text`"),
        ("queries.jsonl", '{"text": "q"}\n', r"queries.jsonl:1 has no `id`"),
        ("qrels.tsv", "q1\tp1\t1\nq1 p1\n", r"qrels.tsv:2"),
        ("qrels.tsv", "q1\tp1\t0\n", "none of them with a relevant passage"),
    ],
)
def test_a_folder_that_is_no_collection_is_explained(folder: Path, name: str, text: str | None, message: str) -> None:
    path = folder / name
    path.unlink() if text is None else path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_collection(folder)


@pytest.mark.parametrize(
    "qrels", ["query-id\tcorpus-id\tscore\nq1\tp1\t2\n", "q1 0 p1 2\n", "q1\t0\tp1\t2\n", "\nq1\tp1\t2\n\n"]
)
def test_judgements_come_with_a_heading_or_in_the_form_of_trec(folder: Path, qrels: str) -> None:
    (folder / "qrels.tsv").write_text(qrels, encoding="utf-8")
    assert read_collection(folder).qrels == {"q1": {"p1": 2.0}}


def test_underscored_ids_are_read(folder: Path) -> None:
    (folder / "corpus.jsonl").write_text(lines([{"_id": "p1", "text": "x"}]), encoding="utf-8")
    assert read_collection(folder).passages[0]["chunk_id"] == "p1"


def test_plain_bm25_is_the_textbooks() -> None:
    # N = 2, n = 1: idf = ln(1 + 1.5 / 1.5) = 0.693; the word once in a text of 3 words, mean length 2:
    # norm = 1.2 * (0.25 + 0.75 * 1.5) = 1.65; 0.693 * 2.2 / 2.65 = 0.575.
    engine = PlainBM25(["a", "b"], ["ice ice sea", "ice"])
    assert engine("SEA", 5) == ["a"]
    assert engine("whale", 5) == []
    rows, weights = engine._weights["sea"]
    assert rows.tolist() == [0]
    assert weights.tolist() == pytest.approx([0.6931 * 2.2 / 2.65], rel=1e-3)

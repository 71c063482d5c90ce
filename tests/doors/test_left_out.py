"""What was left out of a file travels with the file: in the list of documents, in its passages, in figures over it."""

import json
from pathlib import Path
from typing import Any

import pytest

from cragraph import create_graph, load_settings
from cragraph.documents import Limits
from cragraph.run import Assistant

SAID = "only the first 12 of 30 rows are in"
ROWS = 30
SUM, COUNT = "What is the sum of amount_gbp in sales.csv?", "How many sales are there in all?"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("partly")
    rows = "".join(f"{n},{'north' if n % 2 else 'south'},{n}.50\n" for n in range(1, ROWS + 1))
    (folder / "sales.csv").write_text("sale,region,amount_gbp\n" + rows, encoding="utf-8")
    settings = load_settings(store=str(folder / "store"))
    Assistant(settings).ingest([folder / "sales.csv"], limits=Limits(chunks=12))
    return folder / "store"


def asked(store: Path, question: str, **options: Any) -> dict[str, Any]:
    settings = load_settings(store=str(store), **options)
    return dict(create_graph(settings).compile().invoke({"question": question}))


@pytest.mark.parametrize("where", [None, {"region": "north"}])
@pytest.mark.parametrize("question", [SUM, COUNT])
def test_a_figure_over_a_part_of_a_file_says_so_and_is_never_accepted(
    store: Path, question: str, where: dict[str, str] | None
) -> None:
    response = asked(store, question, confidence_threshold=0.1, where=where)
    assert response["computed"]
    assert SAID in response["answer"]
    assert not response["accepted"]
    assert response["decision"]["outcome"] == "doubtful"
    assert SAID in response["decision"]["why"]


def test_the_list_of_documents_and_every_passage_say_what_is_left_out(store: Path, shell: Any) -> None:
    assert SAID in shell("docs", "--store", str(store)).out
    [document] = json.loads(shell("docs", "--store", str(store), "--json").out)
    assert document["left_out"] == SAID
    found = Assistant(load_settings(store=str(store))).search("north sales", 5)
    assert found
    assert all(passage["metadata"]["left_out"] == SAID for passage in found)

"""Collections: what is asked in one shows nothing of the others, and several are searched as one."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cragraph.errors import InputError
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.search import SearchRetriever
from cragraph.store import Store, ingest, open_store
from cragraph.store.collections import may_pass
from cragraph.store.records import DEFAULT
from cragraph.testing import HashEmbeddings
from cragraph.types import Passage
from tests.support.cases import cases

EMBEDDINGS = HashEmbeddings(48)


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store", EMBEDDINGS) as opened:
        yield opened


def write(folder: Path, **texts: str) -> Path:
    """Files of a folder, by stem."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text)
    return folder


def read(held: Store, folder: Path, collection: str | None = None, **options: Any) -> Any:
    return ingest([folder], held, collection=collection, limits=None, **options)


def sources(held: Store) -> dict[str, list[str]]:
    """The files of each collection."""
    found: dict[str, list[str]] = {}
    for document in held.documents():
        found.setdefault(document.collection, []).append(document.filename)
    return found


# -- nothing shows across ----------------------------------------------------------------------------------------------

WORDS = ("tea", "sea", "salt", "bread", "river", "mill", "snow", "lake", "ship", "stone", "zebra", "quartz")
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=6)
QUERIES = st.lists(st.sampled_from((*WORDS, "zebbra", "quarz", "unknown")), min_size=1, max_size=4).map(" ".join)


def passages(name: str, texts: list[str]) -> list[Passage]:
    """Texts as the chunks of one document, whose fields and source have the collection's name in them."""
    rows = [
        {
            "text": text,
            "source": f"{name}.md",
            "doc_id": name,
            "chunk_index": n,
            "start_index": n * 100,
            f"of_{name}": n,
        }
        for n, text in enumerate(texts)
    ]
    return as_passages(rows)


@settings(max_examples=60)
@given(texts=TEXTS, others=TEXTS, query=QUERIES, twins=st.booleans())
def test_what_one_collection_answers_shows_nothing_of_another(
    texts: list[str], others: list[str], query: str, twins: bool
) -> None:
    others = [*others, *texts] if twins else others
    with open_store(None, EMBEDDINGS) as alone, open_store(None, EMBEDDINGS) as held:
        alone.add(passages("work", texts))
        held.add(passages("work", texts), collection="work")
        held.add(passages("home", others), collection="home")
        held.add(passages("rest", others))
        where = {"collection": "work"}
        near = [bare(p) for p in held.dense(query, 20, where)]
        assert near == [bare(p) for p in alone.dense(query, 20)]
        for found in (held.dense(query, 20, where), held.lexical(query, 20, where)):
            assert all((p["metadata"]["collection"], p["source"]) == ("work", "work.md") for p in found)
        found = SearchRetriever(held)([query], 10, Notes(), where=where)
        assert {p["source"] for p in found} <= {"work.md"}
        with pytest.raises(InputError) as refused:
            held.dense(query, 5, {"$and": [where, {"of_home": 1}]})
        assert "of_work" in str(refused.value)
        assert "of_rest" not in str(refused.value)


def bare(passage: Passage) -> dict[str, Any]:
    """A passage without the name of its collection."""
    metadata = {name: value for name, value in passage["metadata"].items() if name != "collection"}
    return {**passage, "metadata": metadata}


@settings(max_examples=60)
@given(parts=st.lists(TEXTS, min_size=2, max_size=4), query=QUERIES)
def test_several_collections_are_searched_as_if_all_lay_in_one(parts: list[list[str]], query: str) -> None:
    with open_store(None, EMBEDDINGS) as alone, open_store(None, EMBEDDINGS) as held:
        for number, texts in enumerate(parts):
            alone.add(passages(f"c{number}", texts))
            held.add(passages(f"c{number}", texts), collection=f"c{number}")
        for search in ("dense", "lexical"):
            before = {p["chunk_id"]: p["retrieval_score"] for p in getattr(alone, search)(query, 50)}
            after = {p["chunk_id"]: p["retrieval_score"] for p in getattr(held, search)(query, 50)}
            assert after == pytest.approx(before, abs=1e-6)


def scores(found: list[Passage]) -> list[float]:
    return [float(passage["retrieval_score"] or 0.0) for passage in found]


# -- filters -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("where", "passes"), cases("store/collections", "a filter tells"))
def test_a_filter_tells_which_collections_it_lets_through(where: Any, passes: bool) -> None:
    assert may_pass(where, "work") is passes


@pytest.mark.parametrize(
    "name", ["", " ", "all", "ALL", "a/b", "a\\b", ".hidden", "-x", "a,b", "x\0", "ä" * 51, "a\nb"]
)
def test_a_name_that_no_collection_should_have_is_refused(held: Store, name: str) -> None:
    with pytest.raises(InputError, match="the collection came as"):
        held.add(as_passages(["text"]), collection=name)


# -- old stores --------------------------------------------------------------------------------------------------------


# -- files in, from one to another, and out ----------------------------------------------------------------------------


def test_a_file_is_in_one_collection_and_stays_there_until_it_is_moved(held: Store, tmp_path: Path) -> None:
    folder = write(tmp_path / "files", a="The mill opened in 1820.", b="The bread is warm.")
    assert len(read(held, folder / "a.md", "work").added) == 1
    first = read(held, folder)
    assert sources(held) == {"work": ["a.md"], DEFAULT: ["b.md"]}
    assert (len(first.added), len(first.unchanged)) == (1, 1)
    write(folder, a="The mill opened in 1821.", c="The sea is salt.")
    again = read(held, folder)
    assert [Path(source).name for source in (*again.changed, *again.added)] == ["a.md", "c.md"]
    assert "1821" in held.lexical("mill", 1, {"collection": "work"})[0]["text"]
    assert held.lexical("mill", 1, {"collection": DEFAULT}) == []
    moved = read(held, folder, "home")
    assert sources(held) == {"home": ["a.md", "b.md", "c.md"]}
    assert [Path(source).name for source in moved.moved] == ["a.md", "b.md", "c.md"]
    assert (len(moved.unchanged), moved.added, moved.did_anything) == (3, [], True)


def test_a_move_embeds_nothing_again_and_keeps_what_is_found(held: Store, tmp_path: Path) -> None:
    folder = write(tmp_path / "files", a="The mill opened in 1820.\n\n" + "Bread is warm. " * 200, b="The sea is salt.")
    read(held, folder)
    before = held.dense("The mill opened in 1820.", 3)
    embedded: list[str] = []

    class Counted(HashEmbeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:  # type: ignore[override]
            embedded.extend(texts)
            return super().embed_documents(texts)

    with open_store(tmp_path / "store", Counted(48)) as counted:
        assert counted.move([(folder / "a.md").as_posix()], "work") == [(folder / "a.md").as_posix()]
        assert embedded == []
        assert sources(counted) == {DEFAULT: ["b.md"], "work": ["a.md"]}
        after = counted.dense("The mill opened in 1820.", 3)
        assert after[0]["chunk_id"] == before[0]["chunk_id"]
        assert scores(after) == pytest.approx(scores(before), abs=1e-6)
        report = read(counted, folder)
        assert (len(report.unchanged), report.added, report.changed, embedded) == (2, [], [], [])
        assert counted.problems() == []


def test_of_a_text_that_files_share_only_what_the_text_says_moves_with_one_of_them(held: Store, tmp_path: Path) -> None:
    front = "---\nowner: {}\n---\nThe mill opened in 1820."
    folder = write(tmp_path / "files", ann=front.format("ann"), bob=front.format("bob"))
    read(held, folder)
    held.move([(folder / "ann.md").as_posix()], "work")
    for name, own, other in ((DEFAULT, "bob", "ann"), ("work", "ann", "bob")):
        [found] = held.lexical("mill", 5, {"collection": name})
        assert (found["filename"], found["metadata"]["title"]) == (f"{own}.md", own)
        assert other not in str(found)
    report = read(held, folder)
    assert [Path(source).name for source in report.changed] == ["ann.md"], "what it says of itself is read again"
    assert held.lexical("mill", 5, {"collection": "work"})[0]["metadata"]["owner"] == "ann"
    assert held.problems() == []


OTHERS = """
import sys
from cragraph.passages import as_passages
from cragraph.store import open_store
from cragraph.testing import HashEmbeddings
with open_store(sys.argv[1], HashEmbeddings(48)) as held:
    for n in range(25):
        held.add(as_passages([{"text": f"Guests {n} come at noon.", "source": f"{n}.md"}]), collection="guests")
        held.rename("guests", "visitors")
        held.drop("visitors")
"""


@pytest.mark.slow
def test_a_question_is_answered_while_others_make_rename_and_remove_collections(held: Store, tmp_path: Path) -> None:
    read(held, write(tmp_path / "one", a="The mill opened in 1820."), "work")
    other = subprocess.Popen([sys.executable, "-c", OTHERS, str(tmp_path / "store")])
    asked = 0
    while other.poll() is None or asked < 80:
        with open_store(tmp_path / "store", EMBEDDINGS, create=False) as asker:
            assert asker.lexical("mill", 3)[0]["metadata"]["collection"] == "work"
            assert asker.dense("The mill opened in 1820.", 1, {"collection": "work"})
            assert asker.notes == []
        assert "work" in held.names()
        asked += 1
    assert other.returncode == 0
    assert held.names() == ["work"]

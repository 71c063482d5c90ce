"""One store, whatever keeps it: the same documents, questions and filters in real vector stores of LangChain's."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cragraph import create_graph, load_settings
from cragraph.cli import app
from cragraph.documents import Limits
from cragraph.errors import InputError, SettingsError, StoreError, StoreMismatchError, StoreMissingError
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.store import forget, ingest
from cragraph.store.chroma import open_chroma
from cragraph.store.vectorstore import LangChainStore
from cragraph.testing import HashEmbeddings
from tests.support.ports import free_port

pytestmark = [pytest.mark.enable_socket, pytest.mark.filterwarnings("ignore")]

TRENCH = "How deep is the Mariana Trench?"


@contextmanager
def chroma(folder: Path, port: int) -> Iterator[str]:
    """The address of a Chroma server of our own."""
    command = [Path(sys.executable).with_name("chroma"), "run", "--path", folder, "--host", "127.0.0.1", "--port", port]
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        while process.poll() is None:
            try:
                urllib.request.urlopen(f"{address}/api/v2/heartbeat", timeout=1).close()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        yield address
    finally:
        process.kill()
        process.wait()


def in_folder(folder: Path) -> Iterator[LangChainStore]:
    with open_chroma(f"chroma:{folder / 'chroma'}", EmbeddedEncoder()) as store:
        yield store


def on_server(folder: Path) -> Iterator[LangChainStore]:
    with chroma(folder / "chroma", free_port()) as url, open_chroma(f"chroma:{url}", EmbeddedEncoder()) as store:
        yield store


def somebodys_chroma(folder: Path) -> Iterator[LangChainStore]:
    from langchain_chroma import Chroma

    yield LangChainStore(Chroma("theirs", EmbeddedEncoder(), persist_directory=str(folder / "theirs")))


def in_memory(folder: Path) -> Iterator[LangChainStore]:
    from langchain_core.vectorstores import InMemoryVectorStore

    yield LangChainStore(InMemoryVectorStore(EmbeddedEncoder()))


def qdrant(folder: Path) -> Iterator[LangChainStore]:
    module = pytest.importorskip("langchain_qdrant")
    from qdrant_client import QdrantClient, models

    client = QdrantClient(":memory:")
    size = models.VectorParams(size=384, distance=models.Distance.COSINE)
    client.create_collection("passages", vectors_config=size)
    yield LangChainStore(module.QdrantVectorStore(client, "passages", EmbeddedEncoder()))
    client.close()


def pgvector(folder: Path) -> Iterator[LangChainStore]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module, pgserver = pytest.importorskip("langchain_postgres"), pytest.importorskip("pgserver")
    import sqlalchemy

    server = pgserver.get_server(folder / "pg", cleanup_mode="delete")
    try:
        url = server.get_uri().replace("postgresql://", "postgresql+psycopg://")
        engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.NullPool)  # leaves no connection open behind
        yield LangChainStore(module.PGVector(EmbeddedEncoder(), connection=engine, use_jsonb=True))
        engine.dispose()
    finally:
        server.cleanup()


HOMES = [
    in_memory,
    in_folder,
    somebodys_chroma,
    pytest.param(on_server, marks=[pytest.mark.server, pytest.mark.slow]),
    pytest.param(qdrant, marks=pytest.mark.slow),
    pytest.param(pgvector, marks=[pytest.mark.server, pytest.mark.slow]),
]


@pytest.fixture(params=HOMES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LangChainStore]:
    yield from request.param(tmp_path)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "sea.md").write_text(
        "# Sea\n\nThe sea is salt because rivers carry minerals into it.\n\n"
        f"# Trench\n\nThe Mariana Trench is 10,935 metres deep.\n\n{'Waves come and go. ' * 80}"
    )
    (folder / "cities.csv").write_text("city,people,share\nOslo,700000,0.5\nBergen,290000,1\nTromso,78000,-0.5\n")
    return folder


def test_documents_go_in_are_asked_filtered_moved_changed_and_forgotten(store: LangChainStore, docs: Path) -> None:
    sea, cities = ((docs / name).as_posix() for name in ("sea.md", "cities.csv"))
    assert sorted(ingest([docs], store, collection="Work", limits=None).added) == [cities, sea]
    assert sorted(ingest([docs], store, limits=None).unchanged) == [cities, sea]
    rows = {row.filename: row for row in store.documents()}
    assert {(row.collection, row.complete) for row in rows.values()} == {("Work", True)}
    assert store.count() == sum(row.chunks for row in rows.values())
    assert sea in store.files
    # asked, by the graph
    response = create_graph(load_settings(), store=store).compile().invoke({"question": TRENCH})
    assert "10,935" in response["answer"]
    assert response["citations"][0]["verified"]
    assert response["models"]["retriever"] == "hybrid"
    assert response["degraded"] == []
    # filtered
    for search in (store.dense, store.lexical):
        assert {p["filename"] for p in search("city people sea", 9, {"filename": "sea.md"})} == {"sea.md"}
        for where, found in (
            ({"collection": "work", "row": {"$gte": 1}}, {"Oslo", "Bergen", "Tromso"}),
            ({"share": {"$lt": 0.75}}, {"Oslo", "Tromso"}),
            ({"share": {"$gt": -0.25}}, {"Oslo", "Bergen"}),
            ({"city": {"$in": ["Oslo", "Bergen"]}}, {"Oslo", "Bergen"}),
            ({"$or": [{"city": "Oslo"}, {"people": {"$lte": 78000}}]}, {"Oslo", "Tromso"}),
        ):
            assert {p["metadata"]["city"] for p in search("city people", 9, where)} == found, where
    with pytest.raises(InputError, match="did you mean filename"):
        store.dense("sea", 1, {"filenam": "sea.md"})
    with pytest.raises(InputError, match="no collection 'wurk'"):
        store.dense("sea", 1, {"collection": "wurk"})
    # read on
    [first, *_] = store.dense(TRENCH, 1)
    assert store.get([first["chunk_id"], "none"]) == [first | {"retrieval_score": None}]
    near = {p["chunk_index"] for p in store.adjacent(first, 1, 1)}
    assert near
    assert near <= {first["chunk_index"] - 1, first["chunk_index"] + 1}
    assert [p["metadata"]["row"] for p in store.of_source(cities)] == [1, 2, 3]
    # moved, changed, forgotten
    assert store.rename("work", "play") == "play"
    assert store.move([cities], "towns") == [cities]
    assert [(held.name, held.documents) for held in store.held()] == [("play", 1), ("towns", 1)]
    (docs / "sea.md").write_text("The Mariana Trench is about 11 kilometres deep.")
    assert ingest([docs], store, limits=None).changed == [sea]
    assert [p["text"] for p in store.of_source(sea)] == ["The Mariana Trench is about 11 kilometres deep."]
    assert forget(store, "sea.md") == [sea]
    assert store.drop("towns") == [cities]
    assert (store.count(), store.documents()) == (0, [])


def test_what_is_left_out_of_a_large_file_is_kept_with_it_and_a_touched_file_is_unchanged(
    store: LangChainStore, docs: Path
) -> None:
    cities = docs / "cities.csv"
    report = ingest([docs], store, limits=None)
    assert len(report.added) == 2
    sea = (docs / "sea.md").as_posix()
    before = store.index.sources()[sea].mtime_ns
    os.utime(sea, (1, 1))
    assert len(ingest([docs], store, limits=None).unchanged) == 2
    assert store.index.sources()[sea].mtime_ns > before
    cities.write_text(cities.read_text() + "Alta,1,1\nBodo,1,1\n")
    [(path, said)] = ingest([cities], store, limits=Limits(chunks=2)).partial
    assert (path, "only the first 2" in said) == (cities.as_posix(), True)
    for opened in (store, LangChainStore(store.source)):
        assert {row.filename: row.left_out for row in opened.documents()}["cities.csv"].startswith("only the first 2")
        assert all(p["metadata"]["left_out"].startswith("only the first 2") for p in opened.of_source(path))
    assert ingest([cities], LangChainStore(store.source), limits=None).changed == [path]
    assert not any(row.left_out for row in store.documents())


def test_what_somebody_else_put_in_is_asked_as_it_is(store: LangChainStore, docs: Path) -> None:
    texts = ["The Mariana Trench is 10,935 metres deep.", "Green tea is not oxidised.", "Tea came to Europe in 1610."]
    about = [{"source": f"{n}.pdf", "page": n, "total_pages": 9, "year": 2020 + n} for n in range(3)]
    store.source.add_texts(texts, metadatas=about)
    graph = create_graph(load_settings(), store=store.source).compile()
    response = graph.invoke({"question": TRENCH}, context={"where": {"year": {"$lte": 2021}}})
    [citation] = response["citations"]
    assert (citation["metadata"]["source"], citation["metadata"]["page"]) == ("0.pdf", 1)  # loaders count from 0
    assert response["degraded"] == []
    assert [(row.source, row.chunks) for row in store.documents()] == [("0.pdf", 1), ("1.pdf", 1), ("2.pdf", 1)]
    ingest(docs / "cities.csv", store, limits=None)  # beside it
    assert len(store.documents()) == 4
    assert store.lexical("oxidised tea", 1)[0]["text"] == texts[1]


WRITER = """
import sys
from pathlib import Path
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.store import ingest
from cragraph.store.chroma import open_chroma
with open_chroma(sys.argv[1], EmbeddedEncoder()) as store:
    print(len(ingest(Path(sys.argv[2]), store).added))
"""


@pytest.mark.server
@pytest.mark.slow
def test_two_writers_and_three_askers_work_at_once_and_a_server_that_is_gone_is_one_clear_error(tmp_path: Path) -> None:
    for writer in range(2):
        (tmp_path / str(writer)).mkdir()
        for number in range(20):
            text = f"Bridge {writer}-{number} is {100 * writer + number + 300} metres long. It is of steel."
            (tmp_path / str(writer) / f"{number}.md").write_text(text)
    (tmp_path / "first.md").write_text("The tower is 77 metres high.")
    port = free_port()
    with chroma(tmp_path / "chroma", port) as url, open_chroma(url, EmbeddedEncoder()) as store:
        ingest(tmp_path / "first.md", store, limits=None)
        commands = [[sys.executable, "-c", WRITER, url, str(tmp_path / str(writer))] for writer in range(2)]
        writers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
        graph = create_graph(load_settings(store=url)).compile()

        def ask(_: int) -> str:
            return str(graph.invoke({"question": "How high is the tower?"})["answer"])

        with ThreadPoolExecutor(3) as pool:
            answers = list(pool.map(ask, range(6)))
        assert [writer.communicate()[0].strip() for writer in writers] == ["20", "20"]
        assert all("77 metres" in answer for answer in answers)
        assert store.count() == 41
        assert "307" in str(graph.invoke({"question": "How long is bridge 0-7?"})["answer"])
    with pytest.raises(StoreError, match=f"the store at http://127.0.0.1:{port} does not answer .*its server runs"):
        graph.invoke({"question": "How high is the tower?"})
    with pytest.raises(StoreError, match=rf"no Chroma server answers at \S+:{port}: run `chroma run --path"):
        open_chroma(url, EmbeddedEncoder())


def test_the_shell_keeps_its_documents_in_a_chroma_folder_that_langchain_reads(
    docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run: Any = CliRunner().invoke
    where = ["--store", "chroma:kept"]
    missing = run(app, ["ask", TRENCH, *where])
    assert isinstance(missing.exception, StoreMissingError) or "Run: cragraph ingest" in missing.output
    assert run(app, ["ingest", "docs", "-q", *where]).exit_code == 0
    asked = json.loads(run(app, ["ask", TRENCH, "--json", "-q", *where]).stdout)
    assert "10,935" in asked["answer"]
    totals = json.loads(run(app, ["ask", "What is the sum of people?", "--json", "-q", *where]).stdout)
    assert totals["computed"]
    assert "1,068,000" in totals["answer"]
    listed = json.loads(run(app, ["docs", "--json", *where]).stdout)
    assert [Path(row["source"]).name for row in listed] == ["cities.csv", "sea.md"]
    assert run(app, ["forget", "sea.md", *where]).exit_code == 0
    from langchain_chroma import Chroma

    theirs = Chroma("cragraph", EmbeddedEncoder(), persist_directory="kept")
    assert theirs.similarity_search("Oslo", 1)[0].metadata["city"] == "Oslo"


def test_another_model_no_embeddings_and_several_collections_are_refused_with_what_to_do(tmp_path: Path) -> None:
    from langchain_chroma import Chroma

    name = f"chroma:{tmp_path / 'kept'}"
    with pytest.raises(StoreMissingError, match="No documents found"):
        open_chroma(name, HashEmbeddings(16), create=False)
    with open_chroma(name, HashEmbeddings(16)) as store:
        store.add([])
    with pytest.raises(StoreMismatchError, match="hash-16"):
        open_chroma(name, HashEmbeddings(8))
    Chroma("two", HashEmbeddings(8), persist_directory=str(tmp_path / "theirs")).add_texts(["tea"])
    Chroma("three", HashEmbeddings(8), persist_directory=str(tmp_path / "theirs"))
    with pytest.raises(StoreError, match=r"holds three, two; wanted one of them: --store chroma:.*#"):
        open_chroma(f"chroma:{tmp_path / 'theirs'}", HashEmbeddings(8))
    with open_chroma(f"chroma:{tmp_path / 'theirs'}#two", HashEmbeddings(8)) as store:
        assert store.dense("tea", 1)[0]["text"] == "tea"
    with (
        open_chroma(f"chroma:{tmp_path / 'theirs'}#two", HashEmbeddings(4)) as store,
        pytest.raises(StoreMismatchError, match="another model"),
    ):
        store.dense("tea", 1)
    with pytest.raises(SettingsError, match="came as a Chroma without embeddings"):
        create_graph(load_settings(store=None), store=Chroma("none"))

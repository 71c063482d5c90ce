"""What one file may cost: chunks, time with all that is done with it, and the others' turn."""

from collections.abc import Sequence
from pathlib import Path

from cragraph.documents import Limits
from cragraph.store import SplitOptions, Store, forget, ingest, open_store
from cragraph.testing import HashEmbeddings
from tests.ingest.conftest import write

SHORT = SplitOptions(40, 0)


def rows(path: Path, count: int) -> Path:
    return write(path, "name,legs\n" + "".join(f"animal {n},{n}\n" for n in range(1, count + 1)))


def test_of_a_file_of_too_many_chunks_the_first_are_taken_and_it_is_said_from_where_on_it_is_left_out(
    store: Store, tmp_path: Path
) -> None:
    source = rows(tmp_path / "animals.csv", 25).as_posix()
    report = ingest(source, store, limits=Limits(chunks=10))
    said = "only the first 10 of 25 rows are in: a file may give 10 chunks; raise max_file_mb, or split it"
    assert (report.added, report.partial, store.count()) == ([source], [(source, said)], 10)
    again = ingest(source, store, limits=Limits(chunks=10))
    assert (again.unchanged, again.partial) == ([source], [(source, said)])
    more = ingest(source, store, limits=Limits(chunks=20))
    assert (more.changed, store.count()) == ([source], 20)
    assert "the first 20 of 25 rows" in more.partial[0][1]
    whole = ingest(source, store, limits=Limits(chunks=25))
    assert (whole.changed, whole.partial, store.count()) == ([source], [], 25)
    assert ingest(source, store, limits=Limits(chunks=25)).unchanged == [source]
    assert store.problems() == []


class Slow(HashEmbeddings):
    """A model that takes so many seconds a call, by a clock of its own."""

    def __init__(self, seconds: float) -> None:
        super().__init__(48)
        self.seconds, self.now, self.texts = seconds, 0.0, 0
        self.name = "hash-48"

    def clock(self) -> float:
        return self.now

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        self.now += self.seconds
        self.texts += len(texts)
        return super().embed_documents(list(texts))


def test_a_file_that_takes_too_long_with_all_that_is_done_with_it_is_put_off_and_the_next_run_goes_on(
    tmp_path: Path,
) -> None:
    long = write(tmp_path / "docs" / "long.txt", "\n\n".join(f"Paragraph {n} of a text." for n in range(2_000)))
    longer = write(tmp_path / "docs" / "longer.csv", "name,legs\n" + "spider,8\n" * 1_000 + "x" * 60_000)
    write(tmp_path / "docs" / "short.txt", "A short one.")
    model = Slow(30.0)
    with open_store(tmp_path / "store", model) as store:
        report = ingest(
            tmp_path / "docs", store, split_options=SHORT, limits=Limits(total_seconds=100), clock=model.clock
        )
        assert [Path(source).name for source in report.added] == ["short.txt"]
        [(source, reason), (other, _)] = report.failed
        assert (source, other) == (long.as_posix(), longer.as_posix())
        kept = store.unfinished()[source]
        assert reason.startswith(f"reading and embedding it took more than 100 seconds: {kept:,} chunks of it are kept")
        assert 0 < kept < 2_000
        assert store.lexical("paragraph 3", 3) == []
        for limits in (Limits(total_seconds=100), None):  # also where it is read in this process
            embedded = model.texts
            ingest(long, store, split_options=SHORT, limits=limits, clock=model.clock)
            assert model.texts - embedded <= 2_000 - kept
        assert store.unfinished().get(long.as_posix()) is None
        assert {d.filename: d.chunks for d in store.documents()}["long.txt"] == 2_000


class Meanwhile(HashEmbeddings):
    """A model during whose work somebody else writes to the store."""

    def __init__(self) -> None:
        super().__init__(48)
        self.name = "hash-48"
        self.folder: Path | None = None

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        if folder := self.folder:
            self.folder = None
            with open_store(folder, HashEmbeddings(48), patience=0.1) as other:
                assert forget(other, "old.md")
                ingest(folder.parent / "new.md", other, limits=None)
        return super().embed_documents(list(texts))


def test_others_write_while_an_ingest_embeds(tmp_path: Path) -> None:
    model, folder = Meanwhile(), tmp_path / "store"
    old, new = write(tmp_path / "old.md", "An old note."), write(tmp_path / "new.md", "A new note.")
    long = write(tmp_path / "long.txt", "\n\n".join(f"Paragraph {n} of a text." for n in range(900)))
    with open_store(folder, model) as store:
        ingest(old, store, limits=None)
        model.folder = folder
        ingest(long, store, split_options=SHORT, limits=None)
        assert {d.filename: d.chunks for d in store.documents()} == {"long.txt": 900, "new.md": 1}
        assert store.problems() == []
        assert store.lexical("new note", 1)[0]["source"] == new.as_posix()
        assert store.count() == 901


def test_values_without_names_are_lines_of_text_and_no_chunk_each(store: Store, tmp_path: Path) -> None:
    values = write(tmp_path / "values.jsonl", "[1]\n" * 20_000)
    embeddings = HashEmbeddings(48)
    with open_store(tmp_path / "other", embeddings) as other:
        report = ingest(values, other, limits=None)
        assert report.chunks < 500
        assert len(embeddings.asked) <= report.chunks / 50

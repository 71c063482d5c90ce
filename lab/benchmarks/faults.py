"""Kill the store's writers anywhere, damage its files in every way, and look whether anything is lost or half-visible.

Each kill happens in a forked process of its own, at a call drawn from all that an undisturbed run makes in the store's
code, those of SQLite and of the system among them, so that hundreds take a minute. A run is right when the store opens,
each file is in it whole, as it was or as it is, and the same command, run again, ends where an undisturbed one does.
A flipped bit keeps the time of its file: what is found then is right, or the damage is told.

    python -m lab.benchmarks.faults                           # 300 kills, 500 flipped bits, 80 questions
    python -m lab.benchmarks.faults --short                   # in half a minute
    python -m lab.benchmarks.faults --kills 20 --encoder      # with the real encoder
"""

import argparse
import os
import pickle
import random
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Event
from typing import Any

import langchain_chroma  # noqa: F401

from cragraph.documents import Limits
from cragraph.errors import CragError
from cragraph.log import Entry, History
from cragraph.passages import as_passages
from cragraph.store import Store, forget, ingest, open_store, watch
from cragraph.testing import HashEmbeddings
from lab.benchmarks.old_stores import version_3

FILES, PARTS, LONG = 10, 3, 50
ROWS = 20
BATCH = 16
"""Small, so that a run of a second has every step of a large one: several batches, a long file."""

OLD = 1_600_000_000
PATIENCE = 120
WAYS = ("empty", "halved", "zeroed", "flipped", "removed")
QUESTION = "part 3 of file7"

State = Mapping[str, tuple[str, frozenset[str]]]
"""The collection of each file, and its texts that the store holds; of the log its questions."""


def documents(folder: Path, version: str) -> None:
    """A folder of files, one of them long; the second version changes most, drops some and brings one."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(FILES):
        file = folder / f"{number}.md"
        if version == "two" and number % 6 == 0:
            file.unlink()
            continue
        changed = version if number % 3 else "one"
        parts = LONG if number == 1 else PARTS
        texts = (f"Part {i} of file{number} in version {changed}. " * 16 for i in range(parts))
        file.write_text(f"# File {number}\n\n" + "\n\n".join(texts), encoding="utf-8")
        os.utime(file, (OLD, OLD + (changed == "two")))
    rows = "".join(f"{version} {n},{n}\n" for n in range(3 * ROWS))
    (folder / "table.csv").write_text(f"row,of {version}\n{rows}", encoding="utf-8")  # is kept in columns
    os.utime(folder / "table.csv", (OLD, OLD + (version == "two")))
    if version == "two":
        (folder / "new.md").write_text("Brought by version two.", encoding="utf-8")


class Scene:
    """The folders that every case is copied from, and the model."""

    def __init__(self, base: Path, embeddings: Callable[[], Any]) -> None:
        self.base, self.embeddings = base, embeddings
        self.one, self.two, self.filled, self.none = (base / name for name in ("one", "two", "filled", "none"))
        documents(self.one, "one")
        documents(self.two, "one")
        documents(self.two, "two")
        self.docs = base / "docs"
        self.show("one")
        self.old = base / "old"
        elsewhere(self.fill)

    def fill(self) -> None:
        """Make the store that most operations start from, and one of an older version with the same in it."""
        with self.open(self.filled) as store:
            ingest(self.docs, store, limits=None)
            store.move([(self.docs / f"{number}.md").as_posix() for number in (2, 3, 5)], "guests")
            History(self.filled / "log").add(Entry("Which was the first?", "This one."))
            version_3(store, self.old)

    def held(self, folder: Path) -> "State":
        """What a store holds, looked at in another process."""

        def look() -> State:
            with self.open(folder) as store:
                return contents(store)

        found: State = elsewhere(look)
        return found

    def show(self, version: str) -> None:
        """Make the documents those of a version: the store knows files by their path."""
        shutil.rmtree(self.docs, ignore_errors=True)
        shutil.copytree(self.one if version == "one" else self.two, self.docs)

    def open(self, folder: Path, *, create: bool = True) -> Store:
        """Open a store, whose batches are small, and tables too from which on they are kept in columns."""
        vars(import_module("cragraph.store.bulk"))["_LIMITS"] = Limits(rows=ROWS)
        for module in ("store", "bulk", "opening"):
            vars(import_module(f"cragraph.store.{module}"))["BATCH"] = BATCH
        return open_store(folder, self.embeddings(), create=create)


def first(scene: Scene, store: Store) -> None:
    """Ingest into an empty store."""
    ingest(scene.docs, store, limits=None)


def again(scene: Scene, store: Store) -> None:
    """Ingest files of which most have changed."""
    ingest(scene.docs, store, limits=None)


def prune(scene: Scene, store: Store) -> None:
    """Ingest, and take out what has vanished."""
    ingest(scene.docs, store, prune=True, limits=None)


def out(scene: Scene, store: Store) -> None:
    """Forget a third of the files one by one."""
    for number in range(0, FILES, 3):
        source = (scene.docs / f"{number}.md").as_posix()
        if source in store.index.homes():
            forget(store, source)


def follow(scene: Scene, store: Store) -> None:
    """Watch the folder until it is followed."""
    stop = Event()
    for _ in watch(scene.docs, store, interval=0.0, stop=stop, limits=None):
        stop.set()


def move(scene: Scene, store: Store) -> None:
    """Move files into a collection, a long one among them."""
    store.move([(scene.docs / f"{number}.md").as_posix() for number in (1, 2, 4)], "family")


def rename(scene: Scene, store: Store) -> None:
    """Call a collection otherwise; a second time nothing is left to do."""
    if "guests" in store.names():
        store.rename("guests", "visitors")


def drop(scene: Scene, store: Store) -> None:
    """Remove a collection."""
    if "guests" in store.names():
        store.drop("guests")


def log(scene: Scene, store: Store) -> None:
    """Write down a question, once."""
    history = History(Path(store.index.path or "").parent / "log")
    if len(history.entries()) < 2:
        history.add(Entry("Which was the second?", "This one."))


def look(scene: Scene, store: Store) -> None:
    """Only open the store: an older one is brought to this version."""


OPERATIONS: Mapping[str, tuple[str, str, Callable[[Scene, Store], None]]] = {
    "first ingest": ("none", "one", first),
    "re-ingest": ("filled", "two", again),
    "prune": ("filled", "two", prune),
    "forget": ("filled", "one", out),
    "watch": ("filled", "two", follow),
    "move": ("filled", "one", move),
    "rename": ("filled", "one", rename),
    "drop": ("filled", "one", drop),
    "log": ("filled", "one", log),
    "upgrade": ("old", "one", look),
}
"""What is done: the store that it starts from, the version of the documents, the operation."""


def contents(store: Store) -> State:
    """The texts of each file; says what the two searches and the record of files do not agree on."""
    keys = sorted(store.index.keys())
    vectors = store.vectors([chunk_id for _, chunk_id in keys])
    assert not keys or abs(vectors).sum(axis=1).all(), "a passage has no vector"
    held: dict[str, tuple[str, frozenset[str]]] = {}
    chunks = 0
    for document in store.documents():
        assert document.complete, "a file is in by half"
        assert document.filename not in held, "a file is in two collections"
        texts = {passage["text"] for passage in store.of_source(document.source)}
        chunks += len(texts)
        for table in (table for table in store.index.tables() if table.source == document.source):
            texts |= {table.row(number)["text"] for number in range(table.size)}
        held[document.filename] = document.collection, frozenset(texts)
    assert {Path(source).name for source in store.index.sources()} == set(held), "a file has no record"
    assert chunks == len(keys), "passages are of no file"
    assert len(store.index.tables()) == store.index.rows('SELECT count(DISTINCT "table") FROM parts')[0][0]
    if keys:
        found = store.lexical(store.get([keys[0][1]])[0]["text"], 1)
        assert found, "a passage is not found by its words"
    damage = store.index.damage()
    assert not damage, damage
    path = Path(store.index.path or "").parent / "log"
    asked = frozenset(entry.question for entry in History(path).entries()) if path.exists() else frozenset[str]()
    return held | {"the log": ("", asked)}


def forked(work: Callable[[], object]) -> int:
    """Do some work in a process of its own; its wait status."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            signal.alarm(PATIENCE)
            work()
            status = 0
        except CragError as error:
            print(f"  {error}", file=sys.stderr)
            status = 3
        except BaseException as error:
            print(f"  {type(error).__name__}: {error}", file=sys.stderr)
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1]


def elsewhere(work: Callable[[], Any]) -> Any:
    """What some work gives, done in a process of its own: Chroma's threads must not run in one that forks later."""
    with tempfile.TemporaryFile() as file:
        if forked(lambda: (pickle.dump(work(), file), file.flush())):
            raise RuntimeError("what must work without any fault does not")
        file.seek(0)
        return pickle.load(file)


def counted(run: Callable[[], object], last: int = -1) -> int:
    """Run, counting the calls made in the store's code; at the call `last` the process is killed."""
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        place = frame.f_code.co_filename
        if event in ("call", "c_call") and ("cragraph/store" in place or place.endswith("cragraph/log.py")):
            calls += 1
            if calls == last:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls


def kills(scene: Scene, number: int, chance: random.Random) -> Counter[str]:
    """Kill each operation `number` times in all; the faults that were found, by operation."""
    faults: Counter[str] = Counter()
    for name, (start, version, operation) in OPERATIONS.items():
        scene.show(version)
        folder = scene.base / "store"

        def work(last: int = 0, operation: Any = operation, folder: Path = folder) -> int:
            def run() -> None:
                with scene.open(folder) as store:
                    operation(scene, store)

            return counted(run, last) if last else run() or 0

        def prepared(folder: Path = folder, start: str = start) -> None:
            shutil.rmtree(folder, ignore_errors=True)
            if start != "none":
                shutil.copytree(scene.filled if start == "filled" else scene.old, folder)

        prepared()
        calls = elsewhere(partial(work, -1))
        wanted = scene.held(folder)
        before: State = scene.held(scene.filled) if start == "filled" else wanted if start == "old" else {}
        share = max(1, round(number / len(OPERATIONS)))
        for _ in range(share):
            point = chance.randint(1, calls)
            prepared()
            status = forked(partial(work, point))
            if not os.WIFSIGNALED(status):
                faults[f"{name}: not killed"] += 1
                continue

            def check(before: State = before, wanted: State = wanted, work: Any = work, folder: Path = folder) -> None:
                with scene.open(folder) as store:
                    found = contents(store)
                for file in before.keys() | wanted.keys() | found.keys():
                    nothing = ("", frozenset[str]())
                    states = [before.get(file, nothing), wanted.get(file, nothing)]
                    assert found.get(file, nothing) in states, f"{file} is in by half"
                work()
                with scene.open(folder, create=False) as store:
                    assert contents(store) == wanted, "the same command does not complete it"
                    assert not store.problems(), store.problems()

            if forked(check):
                faults[name] += 1
                print(f"  {name}, killed at call {point} of {calls}", file=sys.stderr)
        print(f"{name}: {share} kills among {calls} calls, {faults[name]} faults", flush=True)
    return faults


def harmed(path: Path, way: str, chance: random.Random) -> None:
    """Damage a file."""
    data = bytearray(path.read_bytes())
    if way == "removed":
        path.unlink()
        return
    if way == "flipped":
        for _ in range(500 if data else 0):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes({"empty": b"", "halved": data[: len(data) // 2], "zeroed": bytes(len(data))}.get(way, data))


def damages(scene: Scene, chance: random.Random) -> Counter[str]:
    """Damage every file of a store in five ways; how often each outcome was seen."""
    outcomes: Counter[str] = Counter()
    scene.show("one")

    def known() -> Any:
        with scene.open(scene.filled) as store:
            return contents(store), searched(store)

    wanted, answers = elsewhere(known)
    killed = scene.base / "killed"
    shutil.copytree(scene.filled, killed)

    def dies() -> None:
        store = scene.open(killed)
        store.add(store.get([key[1] for key in sorted(store.index.keys())][:3]))
        os.kill(os.getpid(), signal.SIGKILL)

    forked(dies)
    for origin in (scene.filled, killed):  # the second has a log beside it
        for name in sorted(str(p.relative_to(origin)) for p in origin.rglob("*") if p.is_file() and p.name != "log"):
            for way in WAYS:
                folder = scene.base / "harmed"
                shutil.rmtree(folder, ignore_errors=True)
                shutil.copytree(origin, folder)
                harmed(folder / name, way, chance)

                def look(folder: Path = folder) -> None:
                    with scene.open(folder) as store:
                        aloud = bool(store.notes)
                        right = searched(store) == answers
                        aloud = aloud or bool(store.notes)
                        assert right or aloud, "other results, and nothing said"
                        ingest(scene.docs, store, limits=None)
                    with scene.open(folder) as store:
                        assert contents(store) == wanted, "not mended by the next ingest"
                        assert searched(store) == answers, "other results after the next ingest"

                status = forked(look)
                code = os.waitstatus_to_exitcode(status)
                outcome = {0: "right, or mended aloud", 3: "a clear error"}.get(code, "FAULT")
                outcomes[outcome] += 1
                if outcome == "FAULT":
                    print(f"  {name} {way}: {'hung' if code == -signal.SIGALRM else f'status {code}'}", file=sys.stderr)
    for outcome, times in sorted(outcomes.items()):
        print(f"damaged files: {outcome} {times} times", flush=True)
    return outcomes


def flips(scene: Scene, number: int, chance: random.Random) -> Counter[str]:
    """Flip one bit of a store's files, which keep their times; how often each outcome was seen."""
    outcomes: Counter[str] = Counter()
    scene.show("one")

    def seen(store: Store) -> Any:
        rows = [(d.source, d.chunks, d.collection, d.complete) for d in store.documents()]
        return rows, searched(store), store.fields(), store.held()

    def known() -> Any:
        with scene.open(scene.filled) as store:
            return contents(store), seen(store)

    wanted, answers = elsewhere(known)
    files = [path.relative_to(scene.filled) for path in scene.filled.glob("cragraph.*")]
    sizes = [(scene.filled / name).stat().st_size for name in files]
    for _ in range(number):
        folder = scene.base / "flipped"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(scene.filled, folder)
        (name,) = chance.choices(files, sizes)
        path, status = folder / name, (folder / name).stat()
        data = bytearray(path.read_bytes())
        bit = chance.randrange(8 * len(data))
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        said = scene.base / "said"
        said.unlink(missing_ok=True)

        def look(folder: Path = folder, said: Path = said) -> None:
            with scene.open(folder, create=False) as store:
                right = seen(store) == answers
                aloud = bool(store.notes)
                assert right or aloud, "other results, and nothing said"
                said.write_text("told" if aloud else "right")
                ingest(scene.docs, store, limits=None)
            with scene.open(folder) as store:
                found = contents(store)
                assert {k: v[1] for k, v in found.items()} == {k: v[1] for k, v in wanted.items()}, "not mended"
                assert searched(store) == answers[1], "other results after the next ingest"

        code = os.waitstatus_to_exitcode(forked(look))
        outcome = {0: "right, or mended aloud", 3: "a clear error"}.get(code, "FAULT")
        outcomes[outcome] += 1
        if outcome == "FAULT":
            print(f"  bit {bit} of {name}: {'hung' if code == -signal.SIGALRM else f'status {code}'}", file=sys.stderr)
    for outcome, times in sorted(outcomes.items()):
        print(f"flipped bits: {outcome} {times} times", flush=True)
    return outcomes


def side_by_side(scene: Scene, number: int) -> int:
    """Ask while another process makes, renames and removes collections; how many questions failed."""
    scene.show("one")
    folder = scene.base / "shared"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(scene.filled, folder)

    def known() -> Any:
        with scene.open(folder) as store:
            return searched(store)[1]

    answers = elsewhere(known)
    pid = os.fork()
    if pid == 0:
        with suppress(BaseException):
            while True:
                with scene.open(folder) as store:
                    store.add(as_passages([{"text": "Nobody asks for this.", "source": "x.md"}]), collection="new")
                    store.rename("new", "newer")
                    store.drop("newer")
        os._exit(1)
    failed = 0

    def ask() -> None:
        with scene.open(folder, create=False) as store:
            assert searched(store)[1] == answers, "another answer"
            assert not store.notes, store.notes

    for _ in range(number):
        failed += bool(forked(ask))
    alive = os.waitpid(pid, os.WNOHANG) == (0, 0)
    if alive:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    print(f"questions beside a writer of collections: {number}, {failed} failed", flush=True)
    return failed + (not alive)


def searched(store: Store) -> tuple[list[str], list[str]]:
    """What the two searches find."""
    dense, lexical = store.dense(QUESTION, 5), store.lexical(QUESTION, 5)
    return sorted(f"{p['retrieval_score']:.4f}" for p in dense), [p["text"] for p in lexical]


def main() -> int:
    """Run both halves; 1 where a fault was found."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--flips", type=int, default=500)
    parser.add_argument("--asks", type=int, default=80)
    parser.add_argument(
        "--short", action="store_true", help="20 kills, 40 flipped bits, 10 questions, no damaged files"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--encoder", action="store_true", help="the real encoder instead of hashed words")
    parser.add_argument("--only", choices=["kills", "damages", "flips", "asks"])
    options = parser.parse_args()
    if options.short:
        options.kills, options.flips, options.asks = 20, 40, 10
    embeddings: Callable[[], Any] = partial(HashEmbeddings, 48)
    if options.encoder:
        from cragraph.models.embeddings import EmbeddedEncoder

        embeddings = EmbeddedEncoder
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as base:
        scene = Scene(Path(base), embeddings)
        faults = 0
        if options.only in (None, "kills"):
            faults += sum(kills(scene, options.kills, chance).values())
        if options.only == "damages" or not (options.only or options.short):
            faults += damages(scene, chance)["FAULT"]
        if options.only in (None, "flips"):
            faults += flips(scene, options.flips, chance)["FAULT"]
        if options.only in (None, "asks"):
            faults += side_by_side(scene, options.asks)
    print(f"{faults} faults")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())

"""Kill the store's writers anywhere, damage its files in every way, and look whether anything is lost or half-visible.

Each kill happens in a forked process of its own, at a call drawn from all that an undisturbed run makes in the store's
code, so that hundreds take a minute. A run is right when each file is in the store whole, as it was or as it is, and
the same command, run again, ends where an undisturbed one does.

    python -m lab.benchmarks.faults --kills 200
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
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Event
from typing import Any

import langchain_chroma  # noqa: F401

from cragraph.errors import CragError
from cragraph.store import Store, forget, ingest, open_store, watch
from cragraph.testing import HashEmbeddings

FILES, PARTS, LONG = 10, 3, 50
BATCH = 16
"""Small, so that a run of a second has every step of a large one: several batches, a long file."""

OLD = 1_600_000_000
PATIENCE = 120
WAYS = ("empty", "halved", "zeroed", "flipped", "removed")
QUESTION = "part 3 of file7"

State = Mapping[str, frozenset[str]]
"""The texts that the store holds of each file."""


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
        elsewhere(self.fill)

    def fill(self) -> None:
        """Make the store that most operations start from."""
        with self.open(self.filled) as store:
            ingest(self.docs, store, limits=None)

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

    def open(self, folder: Path) -> Store:
        """Open a store, whose batches are small."""
        for module in ("store", "bulk"):
            vars(import_module(f"cragraph.store.{module}"))["BATCH"] = BATCH
        return open_store(folder, self.embeddings())


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


OPERATIONS: Mapping[str, tuple[str, str, Callable[[Scene, Store], None]]] = {
    "first ingest": ("none", "one", first),
    "re-ingest": ("filled", "two", again),
    "prune": ("filled", "two", prune),
    "forget": ("filled", "one", out),
    "watch": ("filled", "two", follow),
}
"""What is done: the store that it starts from, the version of the documents, the operation."""


def contents(store: Store) -> State:
    """The texts of each file; says what the two searches and the record of files do not agree on."""
    ids = [key[1] for key in sorted(store.index.keys())]
    assert len(store.vectors(ids)) == len(ids), "a passage has no vector"
    held: dict[str, set[str]] = {}
    for passage in store.get(ids):
        held.setdefault(passage["filename"], set()).add(passage["text"])
    assert {d.filename for d in store.documents()} == set(held), "the list of documents is not what is in"
    assert all(d.complete for d in store.documents()), "a file is in by half"
    assert {Path(source).name for source in store.index.sources()} == set(held), "a file has no record"
    if ids:
        found = store.lexical(store.get(ids[:1])[0]["text"], 1)
        assert found, "a passage is not found by its words"
    damage = store.index.damage()
    assert not damage, damage
    return {name: frozenset(texts) for name, texts in held.items()}


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


def counted(run: Callable[[], None], last: int = -1) -> int:
    """Run, counting the calls made in the store's code; at the call `last` the process is killed."""
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        if "cragraph/store" in frame.f_code.co_filename:
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
            with scene.open(folder) as store:
                return counted(partial(operation, scene, store), last) if last else operation(scene, store)

        def prepared(folder: Path = folder, start: str = start) -> None:
            shutil.rmtree(folder, ignore_errors=True)
            if start == "filled":
                shutil.copytree(scene.filled, folder)

        prepared()
        calls = elsewhere(partial(work, -1))
        wanted = scene.held(folder)
        before: State = scene.held(scene.filled) if start == "filled" else {}
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
                    states = [before.get(file, frozenset()), wanted.get(file, frozenset())]
                    assert found.get(file, frozenset()) in states, f"{file} is in by half"
                work()
                with scene.open(folder) as store:
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
        for name in sorted(str(p.relative_to(origin)) for p in origin.rglob("*") if p.is_file()):
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


def searched(store: Store) -> tuple[list[str], list[str]]:
    """What the two searches find."""
    dense, lexical = store.dense(QUESTION, 5), store.lexical(QUESTION, 5)
    return sorted(f"{p['retrieval_score']:.4f}" for p in dense), [p["text"] for p in lexical]


def main() -> int:
    """Run both halves; 1 where a fault was found."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--encoder", action="store_true", help="the real encoder instead of hashed words")
    parser.add_argument("--only", choices=["kills", "damages"])
    options = parser.parse_args()
    embeddings: Callable[[], Any] = partial(HashEmbeddings, 48)
    if options.encoder:
        from cragraph.models.embeddings import EmbeddedEncoder

        embeddings = EmbeddedEncoder
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as base:
        scene = Scene(Path(base), embeddings)
        faults = 0
        if options.only != "damages":
            faults += sum(kills(scene, options.kills, chance).values())
        if options.only != "kills":
            faults += damages(scene, chance)["FAULT"]
    print(f"{faults} faults")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())

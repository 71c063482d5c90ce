"""Does memory stay bounded while a folder is ingested that is larger than the memory allowed?

python -m lab.benchmarks.ingest_memory [25 100 600] [--limit 500] [--folder F]

Makes folders of so many MB (text files of 2 MB, and a quarter in one file of JSON lines), ingests each in a process
whose memory is limited to `--limit` MB (what it may allocate, RLIMIT_DATA; 0 for no limit), and prints the most that
it and its reader held. Vectors are made and short (8 numbers), and chunks long (8,000 characters), so that what is
measured is the ingest: Chroma's vector index, which is held in memory, comes on top with about 2 kB a chunk at 384
numbers. Linux only.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings

from cragraph.store import SplitOptions, ingest, open_store

DIMENSION, CHUNK, FILE = 8, 8_000, 2_000_000
MB = 1_000_000


class Drawn(Embeddings):
    """Vectors at random: the texts are noise anyway."""

    name, dimension = "drawn", DIMENSION

    def __init__(self) -> None:
        self._random = np.random.default_rng(0)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """A vector a text."""
        return self._random.normal(size=(len(texts), DIMENSION)).tolist()  # type: ignore[no-any-return]

    def embed_query(self, text: str) -> list[float]:
        """Any vector."""
        return self.embed_documents([text])[0]


def fill(folder: Path, size: int) -> None:
    """Make a folder of about `size` bytes: text in files of 2 MB, and a quarter in one file of JSON lines."""
    random = np.random.default_rng(size)
    folder.mkdir(parents=True)
    with (folder / "rows.jsonl").open("w") as out:
        while out.tell() < size / 4:
            out.write(json.dumps({"text": prose(random, 3_000)}) + "\n")
    for number in range(int(size * 3 / 4 / FILE)):
        with (folder / f"{number}.txt").open("w") as out:
            while out.tell() < FILE:
                out.write(prose(random, 1_500) + "\n\n")


def prose(random: np.random.Generator, length: int) -> str:
    """A paragraph of made sentences, about so many characters."""
    words = [f"w{number}" for number in random.zipf(1.3, length // 5).clip(max=50_000)]
    return ". ".join(" ".join(words[start : start + 12]).capitalize() for start in range(0, len(words), 12)) + "."


def run(folder: Path, store: Path) -> dict[str, Any]:
    """Ingest a folder in this process; the most that it and its reader held, in MB."""
    begun = time.perf_counter()
    with open_store(store, Drawn()) as opened:
        report = ingest(folder, opened, split_options=SplitOptions(CHUNK, 0), max_bytes=None)
    if report.failed:
        raise SystemExit(f"not read: {report.failed}")
    held, reader = (resource.getrusage(who).ru_maxrss / 1e3 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {"chunks": report.chunks, "s": time.perf_counter() - begun, "ingest_mb": held, "reader_mb": reader}


def limited(megabytes: int) -> None:
    """Let this process, and those that it starts, allocate no more than this."""
    if megabytes:
        resource.setrlimit(resource.RLIMIT_DATA, (megabytes * MB, megabytes * MB))


def main() -> None:
    """Measure every size in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", type=int, nargs="*", default=[25, 100, 600])
    parser.add_argument("--limit", type=int, default=500, help="MB that each process may allocate; 0 for no limit")
    parser.add_argument("--folder", type=Path, help="where to put files and stores; a temporary folder by default")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        limited(options.limit)
        print(json.dumps(run(options.folder / "files", options.folder / "store")))
        return
    print(f"{'MB':>6}{'chunks':>9}{'s':>8}{'ingest MB':>11}{'reader MB':>11}   (limit {options.limit or 'none'})")
    for size in options.sizes:
        with tempfile.TemporaryDirectory(dir=options.folder) as made:
            fill(Path(made) / "files", size * MB)
            command = [sys.executable, "-m", "lab.benchmarks.ingest_memory", "--one", "--limit", str(options.limit)]
            done = subprocess.run([*command, "--folder", made], stdout=subprocess.PIPE, text=True, check=True)
        row = json.loads(done.stdout)
        print(f"{size:>6}{row['chunks']:>9,}{row['s']:>8.0f}{row['ingest_mb']:>11.0f}{row['reader_mb']:>11.0f}")


if __name__ == "__main__":
    main()

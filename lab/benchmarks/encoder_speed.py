"""How many chunks per second the embedded encoder reads, next to Chroma's own default encoder.

    python -m lab.benchmarks.encoder_speed [--data ../shared/data] [--reference lab/training/runs/encoder-fp32/onnx]

Both read the same chunks in turn, several times over, in one process, and the medians are compared, so that a noisy
machine is noisy for both. Chroma's code runs on full-precision weights exported by lab/training/export_encoder.py; it
pads every chunk to 256 tokens, as it does for its users. Without `--data` the chunks come from this repository's
own documents.
"""

import argparse
import json
import os
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from chromadb.utils.embedding_functions import ONNXMiniLM_L6_V2

from cragraph.models.embeddings import EmbeddedEncoder
from lab.benchmarks.measure import Figure

DATA = Path(os.environ.get("CRAG_DATA", "../shared/data"))
REFERENCE = Path("lab/training/runs/encoder-fp32/onnx")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--reference", type=Path, default=REFERENCE)
    parser.add_argument("--chunks", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()

    figures = compare(chunks(args.data, args.chunks), args.reference, args.rounds)
    if args.json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{name:32}{value:10.2f}" for name, value in figures.items()))


def measure() -> list[Figure]:
    """Chunks a second beside Chroma's own encoder; nothing where its full-precision weights were not exported."""
    if not (REFERENCE / "model.onnx").exists():
        print(f"ingest beside Chroma's encoder: left out, {REFERENCE} holds no model.onnx; see docs/lab/training.md")
        return []
    found = compare(chunks(DATA, 64), REFERENCE, 3)
    ratio, ours = found["times as fast"], found["chunks per second, embedded"]
    return [
        Figure("ingest, beside Chroma's own encoder", ratio, "times", ">= 2 times", ratio >= 2, f"{ours:.0f} chunks/s")
    ]


def chunks(data: Path, count: int) -> list[str]:
    """Real chunks of up to 1,000 characters."""
    file = data / "retrieval" / "clapnq_dev" / "corpus.jsonl"
    if file.exists():
        with file.open(encoding="utf-8") as lines:
            texts = [json.loads(line)["text"] for line in lines]
    else:
        texts = [path.read_text(encoding="utf-8") for path in sorted(Path().glob("**/*.md"))]
    cut = (text[at : at + 1000] for text in texts for at in range(0, len(text), 1000))
    return list(islice((piece for piece in cut if len(piece) > 300), count))


def compare(texts: list[str], reference: Path, rounds: int) -> dict[str, float]:
    """Medians over the rounds; the two encoders alternate."""
    if not (reference / "model.onnx").exists():
        raise SystemExit(f"{reference} holds no model.onnx; make it with: python -m lab.training.export_encoder")
    chroma, ours = ONNXMiniLM_L6_V2(), EmbeddedEncoder()
    # Its files are looked up under these two names; where they exist, nothing is downloaded.
    chroma.DOWNLOAD_PATH, chroma.EXTRACTED_FOLDER_NAME = reference.parent, reference.name
    cosines = (np.array(chroma(texts[:8])) * ours.embed(texts[:8])).sum(1)
    seconds: dict[str, list[float]] = {"chroma": [], "ours": []}
    for _ in range(rounds):
        for name, embed in (("chroma", chroma), ("ours", ours.embed)):
            start = perf_counter()
            embed(texts)
            seconds[name].append(perf_counter() - start)
    theirs, mine = median(seconds["chroma"]), median(seconds["ours"])
    return {
        "chunks": len(texts),
        "characters a chunk": sum(map(len, texts)) / len(texts),
        "chunks per second, Chroma": len(texts) / theirs,
        "chunks per second, embedded": len(texts) / mine,
        "times as fast": theirs / mine,
        "worst cosine of eight chunks": float(cosines.min()),
    }


if __name__ == "__main__":
    main()

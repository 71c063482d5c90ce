"""Run the network over answers, sentence by sentence, each with the text that the judge reads it with.

Where the judge reads a claim with two places, the one counts that it would quote, joined as the blend that ships joins.

python -m lab.training.reading.featurise RUN OUT.npz FILE... [--limit N]     RUN holds int8.onnx and idf.npy
"""

import argparse
import json
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from cragraph.models.cache import LRU, CachedEmbeddings
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.models.grounding import (
    STEP,
    Blend,
    Network,
    PieceReader,
    ReadClaim,
    missing,
    read_claims,
    sentences,
    unpack_idf,
)
from cragraph.models.weights import DATA, open_session
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.types import Claim
from cragraph.verification.judges.embedded import held
from cragraph.verification.reading import ClaimReading, support_of
from lab.training.judge.prepare import minilm, reader
from lab.training.judge.rows import CLASSES, Example, read_rows

SEED = 13
RAGGED = ("words", "missing", "glued", "tags")


def pack_idf(idf: NDArray[np.float32]) -> str:
    """An idf table as text for the card."""
    return b64encode(np.round(idf / STEP).clip(0, 255).astype(np.uint8).tobytes()).decode("ascii")


@dataclass(frozen=True)
class Item:
    """A row to read: its number within its source, its answer's claims as (start, end), and the example itself."""

    row: int
    cuts: Sequence[tuple[int, int]]
    example: Example


def items_of(files: Iterable[Path], limit: int, seed: int) -> Iterator[Item]:
    """The rows of files, sentence by sentence; at most `limit` of each (0: all)."""
    for path in files:
        rows = list(enumerate(read_rows(path)))
        rows = _sample(rows, limit, seed) if limit else rows
        for place, row in rows:
            answer = str(row["answer"])
            passages = tuple(str(p) for p in row["passages"])  # type: ignore[attr-defined]
            spans = tuple((int(a), int(b)) for a, b in row["spans"] or ())  # type: ignore[attr-defined]
            cuts = [(a, b) for a, b in sentences(answer) if any(c.isalnum() for c in answer[a:b])]
            example = Example(answer, passages, CLASSES[str(row["label"])], spans, path.stem)
            yield Item(place, cuts or [(0, len(answer))], example)


def _sample(rows: list[tuple[int, dict[str, object]]], limit: int, seed: int) -> list[tuple[int, dict[str, object]]]:
    """Rows of at most `limit` distinct answers, with all rows of each answer, in their order."""
    answers = list(dict.fromkeys(str(row["answer"]) for _, row in rows))
    kept = set(Random(seed).sample(answers, min(limit, len(answers))))
    return [item for item in rows if str(item[1]["answer"]) in kept]


def word_tags(reading: ReadClaim, start: int, spans: Sequence[Sequence[int]]) -> NDArray[np.bool_]:
    """For each piece whether it touches an unsupported range of the answer."""
    starts, ends = (side + reading.offset + start for side in (reading.pieces.starts, reading.pieces.ends))
    tagged = np.zeros(len(starts), np.bool_)
    for a, b in spans:
        tagged |= (starts < b) & (ends > a)
    return tagged


def _objections(reading: ClaimReading) -> dict[str, Any]:
    unmatched = bool(reading.unknown_names or reading.denial_unmatched)
    return {"lacking": bool(reading.lacking), "opposed": reading.against() > 0, "unmatched": unmatched}


def featurise(network: Network, read: PieceReader, items: Iterable[Item], threads: int) -> dict[str, Any]:
    """The arrays of all readings: `source` indexes `names`, `row` numbers the rows within their source."""
    table: dict[str, list[Any]] = defaultdict(list)
    names: dict[str, int] = {}
    embeddings = CachedEmbeddings(EmbeddedEncoder(), LRU(100_000))
    blend = Blend.from_card(json.loads((DATA / "reading.json").read_text(encoding="utf-8"))["blend"])
    for item in items:
        example = item.example
        name = example.source
        if name not in names:
            names[name] = len(names)
            print(name, flush=True)
        passages, answer = as_passages(example.passages), example.claim
        claims = [Claim(text=answer[a:b], start=a, end=b, type="factual") for a, b in item.cuts]
        parts = read_claims(read, [claim["text"] for claim in claims])
        places = held(claims, passages, embeddings, Notes())
        pairs = [(part, reading) for part in parts for reading in places[part.claim]]
        texts = list(dict.fromkeys(reading.window.text for _, reading in pairs))
        ids = {text: pieces.ids for text, pieces in zip(texts, read.read(texts) if texts else (), strict=True)}
        pairs = [(part, reading) for part, reading in pairs if len(ids[reading.window.text])]
        results = network.many([(part.pieces.ids, ids[reading.window.text]) for part, reading in pairs], threads)
        least: dict[tuple[int, int], float] = {}
        for (part, reading), (scores, _) in zip(pairs, results, strict=True):
            support = blend.support(support_of(reading, "lexical"), blend.logit(scores), reading.objects())
            place = part.claim, id(reading)
            least[place] = min(support, least.get(place, 1.0))
        best = {claim: max((s, place) for (c, place), s in least.items() if c == claim)[1] for claim, _ in least}
        for (part, reading), (scores, words) in zip(pairs, results, strict=True):
            if best[part.claim] != id(reading):
                continue
            text = ids[reading.window.text]
            table["source"].append(names[name])
            table["row"].append(item.row)
            table["answer"].append(crc32(answer.encode("utf-8", "replace")))
            table["label"].append(example.label)
            for kind, value in {"opinion": support_of(reading, "lexical"), **_objections(reading)}.items():
                table[kind].append(value)
            table["coverage"].append(reading.values["whole"])
            table["logits"].append(scores)
            table["pieces"].append(len(words))
            table["words"].append(words)
            table["missing"].append(missing(read, part.pieces.ids, text))
            table["glued"].append(np.append(False, part.pieces.starts[1:] <= part.pieces.ends[:-1]))
            table["tags"].append(word_tags(part, item.cuts[part.claim][0], example.spans or ()))
    arrays = {k: np.concatenate(v) if k in RAGGED else np.array(v) for k, v in table.items()}
    return arrays | {"names": np.array(list(names))}


def main() -> None:
    """Read the options, run the network, write the arrays."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=0, help="distinct answers of each file, 0 for all")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    idf = unpack_idf(pack_idf(np.load(options.run / "idf.npy")))
    read = reader(minilm() / "tokenizer.json", idf)
    network = Network(open_session(options.run / "int8.onnx"))
    items = items_of(options.files, options.limit, SEED)
    np.savez(options.out, **featurise(network, read, items, options.threads))


if __name__ == "__main__":
    main()

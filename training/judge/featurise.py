"""Run a network over grounding data and keep its logits beside the cheap features, for fitting and measuring.

    python -m training.judge.featurise RUN MODEL.onnx OUT.npz --files FILE... [--limit N]
    python -m training.judge.featurise RUN MODEL.onnx OUT.npz --unseen DATA [--limit N]

With --files every answer is read sentence by sentence. With --unseen the claims are training examples that the network
did not get to see, as far as there are any: its logits on rows it was trained on look too sure.
"""

import argparse
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

from cragraph.models.grounding import Network
from cragraph.models.grounding_features import (
    STEP,
    PieceReader,
    ReadClaim,
    read_claims,
    read_corpus,
    sentences,
    unpack_idf,
)
from cragraph.models.weights import open_session
from cragraph.passages import as_passages
from cragraph.types import Claim
from cragraph.verification.judges.lexical import LexicalJudge
from cragraph.verification.judges.reading import Reading as Held
from training.judge.cheap import features_of, learned_features, read_grams
from training.judge.prepare import MADE, SEED, epoch, meaning, minilm, reader
from training.judge.rows import CLASSES, Example, key, read_rows

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


def unseen_items(data: Path, limit: int, seed: int) -> Iterator[Item]:
    """At most `limit` examples of each source, drawn from an epoch that the network was not trained on.

    Made examples are new; of the others those come first that the last run left out.
    """
    known = {key(example.claim) for example in meaning(data, SEED)[0]}
    pool, _ = epoch(data / "grounding", MADE, SEED + 1)
    order = list(range(len(pool)))
    Random(seed).shuffle(order)
    kept: dict[str, dict[str, Item]] = defaultdict(dict)
    for i in sorted(order, key=lambda i: key(pool[i].claim) in known):
        example, claim = pool[i], key(pool[i].claim)
        own = kept["made" if example.source.startswith("made/") else example.source]
        if claim not in own and len(own) < limit:
            own[claim] = Item(i, [(0, len(example.claim))], example)
    for own in kept.values():
        yield from own.values()


def word_tags(reading: ReadClaim, start: int, spans: Sequence[Sequence[int]]) -> NDArray[np.bool_]:
    """For each piece whether it touches an unsupported range of the answer."""
    starts, ends = (side + reading.offset + start for side in (reading.pieces.starts, reading.pieces.ends))
    tagged = np.zeros(len(starts), np.bool_)
    for a, b in spans:
        tagged |= (starts < b) & (ends > a)
    return tagged


def opinions_on(item: Item) -> list[dict[str, Any]]:
    """What the lexical judge makes of each claim of an item, and what facts and words hold against it."""
    text, judge = item.example.claim, LexicalJudge()
    claims = [Claim(text=text[a:b], start=a, end=b, type="factual") for a, b in item.cuts]
    return [
        {"opinion": judge.support(reading)} | _objections(reading)
        for reading in judge.readings(claims, as_passages(item.example.passages))
    ]


def _objections(reading: Held | None) -> dict[str, Any]:
    if reading is None:
        return {"lacking": False, "opposed": False, "unmatched": False}
    unmatched = bool(reading.unknown_names or reading.denial_unmatched or reading.misplaced)
    return {"lacking": bool(reading.lacking), "opposed": reading.against() > 0, "unmatched": unmatched}


def featurise(network: Network, read: PieceReader, items: Iterable[Item], threads: int) -> dict[str, Any]:
    """The arrays of all readings: `source` indexes `names`, `row` numbers the rows within their source."""
    table: dict[str, list[Any]] = defaultdict(list)
    names: dict[str, int] = {}
    for item in items:
        example = item.example
        name = "made" if example.source.startswith("made/") else example.source
        if name not in names:
            names[name] = len(names)
            print(name, flush=True)
        claims = [example.claim[a:b] for a, b in item.cuts]
        readings = read_claims(read, claims, example.passages)
        grams = read_grams(read, read_corpus(read, example.passages), example.passages)
        opinions = opinions_on(item)
        results = network.many([(r.pieces.ids, r.passage) for r in readings], threads)
        for reading, (logits, words) in zip(readings, results, strict=True):
            table["source"].append(names[name])
            table["row"].append(item.row)
            table["answer"].append(crc32(example.claim.encode("utf-8", "replace")))
            table["label"].append(example.label)
            for kind, value in opinions[reading.claim].items():
                table[kind].append(value)
            table["marked"].append(example.spans is not None)
            table["logits"].append(logits)
            text = claims[reading.claim][reading.offset : reading.offset + int(reading.pieces.ends[-1])]
            cheap = features_of(read, text, reading.pieces, grams)
            table["features"].append(np.concatenate([learned_features(logits, words, reading.weight), cheap]))
            table["pieces"].append(len(words))
            table["words"].append(words)
            table["missing"].append(reading.missing)
            table["glued"].append(np.append(False, reading.pieces.starts[1:] <= reading.pieces.ends[:-1]))
            table["tags"].append(word_tags(reading, item.cuts[reading.claim][0], example.spans or ()))
    arrays = {k: np.concatenate(v) if k in RAGGED else np.array(v) for k, v in table.items()}
    return arrays | {"names": np.array(list(names))}


def main() -> None:
    """Read the options, run the network, write the arrays."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--files", type=Path, nargs="*", default=[])
    parser.add_argument("--unseen", type=Path, help="folder with grounding/ and qa/")
    parser.add_argument("--limit", type=int, default=0, help="distinct answers of each source, 0 for all")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    idf = unpack_idf(pack_idf(np.load(options.run / "idf.npy")))
    read = reader(minilm() / "tokenizer.json", idf)
    if options.unseen:
        items = unseen_items(options.unseen, options.limit or 250, SEED)
    else:
        items = items_of(options.files, options.limit, SEED)
    np.savez(options.out, **featurise(Network(open_session(options.model)), read, items, options.threads))


if __name__ == "__main__":
    main()

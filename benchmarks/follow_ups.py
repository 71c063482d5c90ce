"""How often a follow-up question is made to stand alone without a chat model, beside leaving it as it came.

Of the content words that people added when they rewrote a question, the share that was added; of those that were added,
the share that people added too; and how often a question that stands alone was left alone.

    python -m benchmarks.follow_ups ../shared/data/qa/dev
"""

import argparse
import json
from pathlib import Path

from cragraph.generation.followups import stand_alone
from cragraph.text.words import content_words


def figures(rows: list[dict[str, object]], change: bool) -> tuple[float, float, float, float]:
    """Recall and precision of the words added, rewrites with all of them, and questions rightly left alone."""
    wanted = given = both = whole = needed = alone = kept = 0
    for row in rows:
        question, history = str(row["question"]), [str(turn) for turn in row["history"]]  # type: ignore[attr-defined]
        own = set(content_words(question))
        gold = set(content_words(str(row["rewrite"]))) - own
        found = set(content_words(stand_alone(question, history) if change else question)) - own
        wanted, given, both = wanted + len(gold), given + len(found), both + len(gold & found)
        needed, whole = needed + bool(gold), whole + (bool(gold) and gold <= found)
        alone, kept = alone + (not gold), kept + (not gold and not found)
    return both / max(1, wanted), both / max(1, given), whole / max(1, needed), kept / max(1, alone)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    print("set, questions: recall, precision, all words added, rightly left alone (left as it came: recall 0, left 1)")
    for file in sorted(parser.parse_args().folder.glob("rw_*.jsonl")):
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        print(f"{file.stem}, {len(rows)}:", ", ".join(f"{value:.2f}" for value in figures(rows, True)))


if __name__ == "__main__":
    main()

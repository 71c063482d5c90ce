"""How often a follow-up question is made to stand alone without a chat model, beside leaving it as it came.

Of the content words that people added when they rewrote a question, the share that was added; of those that were added,
the share that people added too; and how often a question that stands alone was left alone.

    python -m lab.benchmarks.follow_ups ../shared/data/qa/dev
    python -m lab.benchmarks.follow_ups ../shared/data/qa/dev --model ollama:qwen2.5-coder:1.5b --most 4

With a model: the questions that the rules change, as many of each file, by the rules and by it.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from cragraph.build import Parts
from cragraph.language.words import content_words
from cragraph.protocols import Notes
from cragraph.search.questions import Contextualizer
from cragraph.settings import load_settings
from cragraph.turns import stand_alone

Rewrite = Callable[[str, list[str]], str]


def figures(rows: list[dict[str, object]], rewrite: Rewrite) -> tuple[float, float, float, float]:
    """Recall and precision of the words added, rewrites with all of them, and questions rightly left alone."""
    wanted = given = both = whole = needed = alone = kept = 0
    for row in rows:
        question, history = str(row["question"]), [str(turn) for turn in row["history"]]  # type: ignore[attr-defined]
        own = set(content_words(question))
        gold = set(content_words(str(row["rewrite"]))) - own
        found = set(content_words(rewrite(question, history))) - own
        wanted, given, both = wanted + len(gold), given + len(found), both + len(gold & found)
        needed, whole = needed + bool(gold), whole + (bool(gold) and gold <= found)
        alone, kept = alone + (not gold), kept + (not gold and not found)
    return both / max(1, wanted), both / max(1, given), whole / max(1, needed), kept / max(1, alone)


def by_model(spec: str, server: str) -> Rewrite:
    """What a chat model makes of a question; the turns of a conversation are a person's and the assistant's in turn."""
    parts = Parts(load_settings(store=None, model=spec, ollama_host=server, timeout_s=900.0))
    writer = Contextualizer(parts.chat, parts.prompts)
    return lambda question, history: writer(
        question, [("assistant" if n % 2 else "user", turn) for n, turn in enumerate(history)], Notes()
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model")
    parser.add_argument("--server", default="http://127.0.0.1:11434")
    parser.add_argument("--most", type=int, default=4)
    given = parser.parse_args()
    ways: dict[str, Rewrite] = {"rules": stand_alone}
    if given.model:
        ways[given.model] = by_model(given.model, given.server)
    every = []
    print("set, questions: recall, precision, all words added, rightly left alone (left as it came: recall 0, left 1)")
    for file in sorted(given.folder.glob("rw_*.jsonl")):
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        print(f"{file.stem}, {len(rows)}:", ", ".join(f"{value:.2f}" for value in figures(rows, stand_alone)))
        every += [row for row in rows if stand_alone(row["question"], row["history"]) != row["question"]][: given.most]
    for name, rewrite in ways.items() if given.model else ():
        print(f"{name}, {len(every)} that rules change:", ", ".join(f"{v:.2f}" for v in figures(every, rewrite)))


if __name__ == "__main__":
    main()

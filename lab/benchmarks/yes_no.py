"""What the embedded judge makes of a yes and of a no to the same question: `python -m lab.benchmarks.yes_no`.

`yes_no.jsonl` has both answers to the yes-or-no questions of `lab/benchmarks/new_user`, in whole sentences, and which
of them is true; nothing is tuned on it. Each is judged against the five passages that the search finds, without the
question and with it: true and false ones that are supported, or at `SURE` and more; how well the support tells them
apart (AUROC); and for how many questions the true answer has more of it than the false one.
"""

import json
import tempfile
from pathlib import Path
from typing import Any, Final

from cragraph.protocols import Notes
from cragraph.run import Assistant
from cragraph.settings import load_settings
from cragraph.verification.claims import split_claims
from lab.benchmarks.new_user.__main__ import HERE, documents
from lab.benchmarks.prompts import PASSAGES, questions
from lab.evals.metrics import auroc

SURE: Final = 0.7
FETCHED: Final = 30


def main() -> None:
    """Judge both answers of each question, and print a table."""
    rows = [json.loads(line) for line in Path(__file__).with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["true"] in ("yes", "no")]
    asked = {(row["set"], row["id"]): row["question"] for row in questions("1/1")}
    found: dict[str, list[dict[str, Any]]] = {"without": [], "with": []}
    with tempfile.TemporaryDirectory() as scratch:
        assistants: dict[str, Assistant] = {}
        for row in rows:
            name = row["set"]
            if name not in assistants:
                folder = Path(scratch) / (name.strip(".") or "first")
                folder.mkdir()
                assistants[name] = Assistant(load_settings(store=str(folder / "store")))
                assistants[name].ingest([documents(HERE / name, folder / "files")])
            parts, question = assistants[name].parts, asked[name, row["id"]]
            passages = parts.reranker(question, parts.retriever([question], FETCHED, Notes()), Notes())[:PASSAGES]
            for how, given in (("without", ""), ("with", question)):
                judged = {
                    side: parts.judges["encoder"](split_claims(row[side]), passages, Notes(), question=given)[0]
                    for side in ("yes", "no")
                }
                found[how].append(
                    {"true": judged[row["true"]], "false": judged["no" if row["true"] == "yes" else "yes"]}
                )
    print(f"| {len(rows)} questions | true supported | false supported | true at {SURE} | false at {SURE} | AUROC | "
          "true above false |")  # fmt: skip
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for how, pairs in found.items():
        support = {side: [pair[side]["support"] for pair in pairs] for side in ("true", "false")}
        held = [sum(pair[side]["verdict"] == "supported" for pair in pairs) for side in support]
        sure = [sum(value >= SURE for value in values) for values in support.values()]
        apart = auroc([True] * len(pairs) + [False] * len(pairs), support["true"] + support["false"])
        above = sum(one > other for one, other in zip(*support.values(), strict=True))
        print(f"| {how} the question |", " | ".join(map(str, held + sure)), f"| {apart:.2f} | {above} |")


if __name__ == "__main__":
    main()

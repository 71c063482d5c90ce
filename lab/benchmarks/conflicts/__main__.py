"""Ask about pairs of small files that contradict each other, and about pairs that only look as if they did.

A pair that contradicts is told where the response has a conflict whose two sides are its two files, both quoted in the
answer; what is told of one that only looks so is a false alarm. `newer` is the file that holds now, where the pair says
which; the confidence is set beside that of the same question asked of one file alone.

    python -m lab.benchmarks.conflicts
    python -m lab.benchmarks.conflicts dev --verbose

`test` was written before the rule and is not looked at while it is changed; `dev` is what the rule was developed on.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from cragraph import create_graph, load_settings
from cragraph.run import Assistant

HERE = Path(__file__).parent


def asked(pair: dict[str, Any], folder: Path) -> tuple[dict[str, Any], float]:
    """The response to a pair's question on both files, and the highest confidence on one of them alone."""
    files = folder / "files"
    files.mkdir()
    for name, text in pair["files"].items():
        (files / name).write_text(text, encoding="utf-8")
    settings = load_settings(store=str(folder / "store"))
    Assistant(settings).ingest([files])
    graph = create_graph(settings).compile()
    alone = [
        graph.invoke({"question": pair["question"]}, context={"sources": [str(files / name)]})["confidence"] or 0.0
        for name in pair["files"]
    ]
    return graph.invoke({"question": pair["question"]}), max(alone)


def main() -> int:
    """Print what was told and what was not; 0 whatever it says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", nargs="?", choices=("test", "dev"), default="test")
    parser.add_argument("--verbose", action="store_true", help="every pair with its answer")
    options = parser.parse_args()
    rows = (HERE / f"{options.set}.jsonl").read_text(encoding="utf-8").splitlines()
    told = quoted = alarms = conflicts = 0
    newer = dict.fromkeys(("right", "wrong", "not said"), 0)
    unfounded = 0
    with_conflict: list[float] = []
    without: list[float] = []
    for pair in map(json.loads, rows):
        with tempfile.TemporaryDirectory() as folder:
            response, alone = asked(pair, Path(folder))
        found = [c for c in response["conflicts"] if {s["filename"] for s in c["sides"]} == pair["files"].keys()]
        conflicts += pair["conflict"]
        verdict = "look-alike"
        if pair["conflict"]:
            told += bool(found)
            verdict = "told" if found else "NOT TOLD"
            if found:
                answer = " ".join(response["answer"].split())
                quoted += all(" ".join(side["quote"].split()) in answer for side in found[0]["sides"])
                first = found[0]["sides"][0]["filename"] if found[0]["newer_first"] else None
                if pair["newer"]:
                    newer["not said" if first is None else "right" if first == pair["newer"] else "wrong"] += 1
                else:
                    unfounded += first is not None
                with_conflict.append(response["confidence"] or 0.0)
                without.append(alone)
        elif response["conflicts"]:
            alarms += 1
            verdict = "FALSE ALARM"
        if options.verbose:
            print(f"{verdict:<12} {pair['id']:<16} {pair['kind']}")
            print(f"    {pair['question']}  {response['confidence']:.2f}\n    {response['answer']!r}")
            for conflict in response["conflicts"]:
                print(f"    {[s['filename'] for s in conflict['sides']]} {conflict['why']}")
    print(f"{'conflicts told':<44} {told} of {conflicts}")
    print(f"{'  both sides quoted in the answer':<44} {quoted} of {told}")
    print(f"{'  newer one named: right, wrong, not said':<44} {', '.join(map(str, newer.values()))}")
    print(f"{'  a newer one named where none is':<44} {unfounded}")
    mean = [sum(values) / max(1, len(values)) for values in (without, with_conflict)]
    print(f"{'  confidence on one file alone, on both':<44} {mean[0]:.2f}, {mean[1]:.2f}")
    print(f"{'false alarms on look-alikes':<44} {alarms} of {len(rows) - conflicts}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

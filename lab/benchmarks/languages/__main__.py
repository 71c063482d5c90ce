"""Ask in German, French, Spanish, Korean and English of files in these languages: is it said what was not read?

A store for each language, and one of all files. It is *said* where the first line of the answer, or the reason of a
refusal, names a language that is not read; *left out* where a refusal says that it was read but for passages in another
language. What asks in English and has its answer in English is not to be told either.

    python -m lab.benchmarks.languages
    python -m lab.benchmarks.languages --verbose
"""

import argparse
import json
import tempfile
from collections import defaultdict
from pathlib import Path

from cragraph import create_graph, load_settings
from cragraph.language.languages import LEFT_OUT, UNREAD
from cragraph.run import Assistant

HERE = Path(__file__).parent
HIGHEST = 0.5  # the highest confidence that may be stated of what is not read


def main() -> int:
    """Print what was said and what was not, by kind of question; 0 whatever it says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verbose", action="store_true", help="every question with its answer")
    options = parser.parse_args()
    rows = [json.loads(line) for line in (HERE / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    counts: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    with tempfile.TemporaryDirectory() as folder:
        graphs = {}
        for name in dict.fromkeys(row["store"] for row in rows):
            settings = load_settings(store=str(Path(folder) / name))
            Assistant(settings).ingest([HERE / "files" / ("" if name == "mixed" else name)])
            graphs[name] = create_graph(settings).compile()
        for row in rows:
            response = graphs[row["store"]].invoke({"question": row["question"]})
            first = response["decision"]["why"] if response["abstained"] else response["answer"].partition("\n")[0]
            partly, found = LEFT_OUT in first, counts[row["kind"]]
            said = UNREAD in first and not partly
            found["asked"] += 1
            found["said"] += said
            found["left out"] += partly
            found["over"] += (response["confidence"] or 0.0) > HIGHEST
            found["answered"] += not response["abstained"]
            found["right"] += not response["abstained"] and (row["expects"] or "") in response["answer"]
            if options.verbose:
                told = "said" if said else "left" if partly else "-"
                print(f"{row['kind']:<20} {told:<5} {response['confidence']:.2f} {row['question']}")
                print(f"    {response['answer']!r} {'' if said else response['issues']}")
    print(f"{'':<28}{'asked':>7}{'said':>7}{'left out':>10}{'> 0.5':>7}{'answered':>10}{'right':>7}")
    for kind, found in counts.items():
        line = (found[name] for name in ("asked", "said", "left out", "over", "answered", "right"))
        print("{:<28}{:>7}{:>7}{:>10}{:>7}{:>10}{:>7}".format(kind, *line))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Ask questions whose answer is more than the sentence that names their words, without a model.

`next`: the answer stands in the sentence behind it; `list`: in the list below it; `parts`: in two files, one for each
part of the question; `yesno`: a sentence says yes or no. An answer is whole where it holds every expected text and
none of the rejected ones.

    python -m lab.benchmarks.whole_answers
    python -m lab.benchmarks.whole_answers dev --verbose

`test` was not looked at before its first figures, `later` was written after them and not looked at since; `dev` is
what the rules were developed on.
"""

import argparse
import json
import tempfile
from collections import Counter
from pathlib import Path

from cragraph import create_graph, load_settings
from cragraph.run import Assistant

HERE = Path(__file__).parent


def main() -> int:
    """Print what was whole, by kind; 0 whatever it says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", nargs="?", choices=("test", "dev", "later"), default="test")
    parser.add_argument("--verbose", action="store_true", help="every question with its answer")
    options = parser.parse_args()
    whole: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for line in (HERE / f"{options.set}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        with tempfile.TemporaryDirectory() as folder:
            files = Path(folder) / "files"
            files.mkdir()
            for name, text in row["files"].items():
                (files / name).write_text(text, encoding="utf-8")
            settings = load_settings(store=str(Path(folder) / "store"))
            Assistant(settings).ingest([files])
            response = create_graph(settings).compile().invoke({"question": row["question"]})
        answer = " ".join(response["answer"].split())
        good = not response["abstained"] and all(text in answer for text in row["all"])
        good = good and not any(text in answer for text in row["none"])
        asked[row["kind"]] += 1
        whole[row["kind"]] += good
        if options.verbose:
            print(f"{'whole' if good else 'NOT':<6} {row['kind']:<6} {response['confidence']:.2f} ", end="")
            print(f"{row['question']}\n    {response['answer']!r} {response['issues']}")
    for kind, count in asked.items():
        print(f"{kind:<44} {whole[kind]} of {count} whole")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

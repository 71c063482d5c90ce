"""Check what another system answered, in a pipeline: fails where too few answers hold, and says which do not.

python examples/gate.py ANSWERS.jsonl [SHARE]        each line {"id", "question", "answer", "passages": [...]}

The same from the shell: cragraph verify --jsonl ANSWERS.jsonl --fail-under 0.8 --report table.html
"""

import json
import sys
from pathlib import Path

from cragraph import verify
from cragraph.report import table_of


def main(path: str, share: str = "0.8") -> int:
    """Write a table of all answers to look at, print those that do not hold; 0 where enough of them do."""
    rows = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    found = [verify(row["answer"], row["passages"], row.get("question")) for row in rows]
    for row, checked in zip(rows, found, strict=True):
        for claim in checked.claims:
            if claim["verdict"] in ("unsupported", "contradicted"):
                print(f"{row['id']}: {claim['verdict']}: {claim['text']}  ({claim['reasoning']})")
    with Path("answers.html").open("w", encoding="utf-8") as page:
        page.writelines(table_of(row | checked.to_dict() for row, checked in zip(rows, found, strict=True)))
    held = sum(checked.is_grounded for checked in found) / len(found)
    print(f"{held:.0%} of {len(found)} answers hold; wanted {float(share):.0%}. See answers.html.")
    return 0 if held >= float(share) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

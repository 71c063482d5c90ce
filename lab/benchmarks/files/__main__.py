"""Files that readers misread, by kind of fault: each is written, ingested alone and asked one question.

    python -m lab.benchmarks.files [--only PART] [--verbose]

Prints how many answers of a kind are right, doubtful (not accepted) and wrong (accepted, and not what the file says),
and every answer that is not right. Exits with 1 where one is wrong.
"""

import argparse
import sys
from collections import Counter, defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

from cragraph.api import create_graph
from cragraph.errors import CragError
from cragraph.run import Assistant
from cragraph.settings import load_settings
from lab.benchmarks.files.case import Case, Outcome
from lab.benchmarks.files.exports import CASES as EXPORTS
from lab.benchmarks.files.grids import CASES as GRIDS
from lab.benchmarks.files.layouts import CASES as LAYOUTS
from lab.benchmarks.files.office import CASES as OFFICE
from lab.benchmarks.files.pages import CASES as PAGES
from lab.benchmarks.files.texts import CASES as TEXTS

CASES = (*PAGES, *LAYOUTS, *OFFICE, *GRIDS, *TEXTS, *EXPORTS)


def ask(case: Case) -> tuple[Outcome, str]:
    """The outcome of a case, and the answer with its decision."""
    with TemporaryDirectory() as folder:
        files = Path(folder, "files")
        files.mkdir()
        settings = load_settings(store=str(Path(folder, "store")))
        report = Assistant(settings).ingest([case.write(files)])
        if not report.added:
            why = f"not ingested: {[*report.failed, *report.skipped]}"
            return case.outcome("", accepted=False, said="cannot be read (" not in why), why  # else the reader broke
        try:
            response = create_graph(settings).compile().invoke({"question": case.question})
        except CragError as error:
            return case.outcome("", accepted=False), str(error)
    answer, decision = str(response["answer"]), response["decision"]
    outcome = case.outcome(answer, accepted=decision["outcome"] == "accepted", said=bool(report.doubtful))
    return outcome, f"{decision['outcome']} {decision['confidence']:.2f}: {answer}"


def main() -> int:
    """Ask every case, and print the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--only", default="", help="cases whose name holds this")
    options.add_argument("--verbose", action="store_true", help="print right answers too")
    given = options.parse_args()
    counts: defaultdict[str, Counter[Outcome]] = defaultdict(Counter)
    for case in CASES:
        if given.only not in case.name:
            continue
        outcome, said = ask(case)
        counts[case.kind][outcome] += 1
        if outcome != "right" or given.verbose:
            print(f"{outcome:<9}{case.name}\n         {case.question}\n         {said}", flush=True)
    total: Counter[Outcome] = sum(counts.values(), Counter())
    print(f"\n{'kind':<52}{'right':>6}{'doubtful':>10}{'wrong':>7}")
    for kind, row in [*sorted(counts.items()), ("all", total)]:
        print(f"{kind:<52}{row['right']:>6}{row['doubtful']:>10}{row['wrong']:>7}")
    return int(total["wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main())

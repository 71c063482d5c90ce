"""Questions that a table computes: how many are answered right, wrong, or refused; and look-alikes that no table does.

    python -m lab.benchmarks.computed                   # the blind set: nobody tuned on it
    python -m lab.benchmarks.computed offices           # tables of small offices; a third has no answer
    python -m lab.benchmarks.computed dev --verbose     # the set that the reading of questions was developed on
    python -m lab.benchmarks.computed --fit             # fits the confidence on the dev set and those of new users

A question is right when the figure that was computed (or the answer, where none was) holds every expected value, as a
number where it is one; wrong when anything else is answered, doubtfully or not. Questions of the kind `other` are not
to be computed: a text states their figure, or nothing does. They are right when they are answered so, or refused.
`made` names columns as the file does, `human` is as people ask. Workbooks, Word files and PDFs are made of the tables
in `made/`.
"""

import argparse
import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from cragraph import create_graph, load_settings
from cragraph.run import Assistant
from lab.benchmarks.new_user.__main__ import write_page

HERE = Path(__file__).parent
NEW_USERS = HERE.parent / "new_user"
KINDS = ("made", "human", "other")
VERDICTS = ("right", "wrong", "refused")
CENT = Decimal("0.0051")  # what a rounded figure may be off by
_NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?![\w]|[.,]\d)")


def documents(home: Path, folder: Path) -> Path:
    """The files of a set in a folder, those of `made` in their format."""
    shutil.copytree(home / "files", folder)
    for path in sorted((home / "made").iterdir()):
        grid = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
        {".xlsx": write_workbook, ".docx": write_word, ".pdf": write_pdf}[path.suffix](grid, folder / path.name)
    return folder


def write_workbook(grid: Sequence[Sequence[str]], path: Path) -> None:
    """A sheet, numbers as numbers."""
    from openpyxl import Workbook

    book = Workbook()
    for row in grid:
        book.active.append([float(c) if re.fullmatch(r"\d+\.\d+", c) else int(c) if c.isdigit() else c for c in row])
    book.save(path)


def write_word(grid: Sequence[Sequence[str]], path: Path) -> None:
    """A heading and a table below it."""
    from docx import Document

    document = Document()
    document.add_heading(path.stem.title(), 1)
    table = document.add_table(0, len(grid[0]))
    for row in grid:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    document.save(str(path))


def write_pdf(grid: Sequence[Sequence[str]], path: Path) -> None:
    """A page with a title and a table, its columns side by side."""
    lines = [f"1 0 0 1 60 780 Tm ({path.stem.title()}) Tj"]
    for number, row in enumerate(grid):
        for column, text in enumerate(row):
            place = 60 if not column else 160 + 90 * column
            lines.append(f"1 0 0 1 {place} {750 - 18 * number} Tm ({text}) Tj")
    stream = "BT /F1 11 Tf " + " ".join(lines) + " ET"
    write_page(stream, path)


def questions(home: Path) -> list[dict[str, Any]]:
    """The rows of a set."""
    return [json.loads(line) for line in (home / "questions.jsonl").read_text(encoding="utf-8").splitlines()]


def holds(expected: str, said: str) -> bool:
    """Whether a text holds an expected value: words as they are, figures whatever their thousands are parted by."""
    if not re.fullmatch(r"-?\d+(?:\.\d+)?", expected):
        return expected.casefold() in said.casefold()
    wanted = Decimal(expected)
    figures = (Decimal(found[0].replace(",", "")) for found in _NUMBER.finditer(said))
    return any(abs(figure - wanted) <= CENT for figure in figures)


def figure_of(computed: dict[str, Any]) -> str:
    """What of a computed answer is its figure, without the working."""
    asked = computed["query"]["operation"]
    if asked in ("compare", "list"):
        return (
            computed["answer"].split(":")[0]
            if asked == "compare"
            else " ".join([computed["value"], *computed["labels"]])
        )
    if asked == "growth":  # both the figure and the percentage are said
        return computed["answer"].split(": ", 1)[1]
    return " ".join([computed["value"], *computed["labels"]])


def verdict(row: dict[str, Any], response: dict[str, Any]) -> str:
    """right, wrong or refused; for what nothing answers, right is refused."""
    if response["abstained"]:
        return "right" if row.get("refuse") else "refused"
    if row.get("refuse"):
        return "wrong"
    computed = response["computed"]
    said = figure_of(computed) if computed else response["answer"]
    if not all(holds(expected, said) for expected in row["expect"]):
        return "wrong"
    if row["kind"] == "other" and computed:
        # A single cell may be stated by a table too, but no sum may happen to be it.
        return "right" if len(computed["cited"]) == 1 else "wrong"
    names = {c["metadata"].get("filename") for c in response["citations"]}
    return "right" if row["source"] in names else "wrong"


def asked(home: Path, rows: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], str, dict[str, Any]]]:
    """Each question with its verdict and its response."""
    with tempfile.TemporaryDirectory() as scratch:
        settings = load_settings(store=str(Path(scratch) / "store"))
        Assistant(settings).ingest([documents(home, Path(scratch) / "files")])
        graph = create_graph(settings).compile()
        for row in rows:
            response = dict(graph.invoke({"question": row["question"]}))
            yield row, verdict(row, response), response


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", nargs="?", default="blind", help="blind, offices, dev, or a folder like them")
    parser.add_argument("--only", help="numbers of questions, with commas between")
    parser.add_argument("--verbose", action="store_true", help="print every answer")
    parser.add_argument("--fit", action="store_true", help="fit the confidence")
    options = parser.parse_args()
    if options.fit:
        from lab.benchmarks.computed.fit import fit

        fit()
        return
    home = HERE / options.set
    rows = questions(home)
    if options.only:
        rows = [row for row in rows if str(row["id"]) in options.only.split(",")]
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    computed: Counter[str] = Counter()
    became: Counter[tuple[str, str]] = Counter()
    for row, found, response in asked(home, rows):
        counts[row["kind"]][found] += 1
        computed[row["kind"]] += bool(response["computed"])
        outcome = response["decision"]["outcome"]
        became[found, outcome] += 1
        if options.verbose or found != "right":
            how = "computed" if response["computed"] else "ordinary"
            said = f"{how}, {outcome} {response['confidence'] or 0:.2f}"
            print(f"{row['id']:>3} {found:<7} {said}  {row['question']}")
            print(f"      → {response['answer']!r}  wanted {', '.join(row['expect']) or 'nothing'}")
    for kind in KINDS:
        total = counts[kind].total()
        shares = ", ".join(f"{counts[kind][v]:>3} {v} ({counts[kind][v] / max(total, 1):.2f})" for v in VERDICTS)
        print(f"{kind:<6} {total:>3} questions: {shares}; {computed[kind]} computed")
    both = counts["made"] + counts["human"]
    shares = ", ".join(f"{both[v]:>3} {v} ({both[v] / max(both.total(), 1):.2f})" for v in VERDICTS)
    print(f"made and human together: {shares}")
    told = [f"{became[verdict, outcome]} {verdict} and {outcome}" for verdict in ("right", "wrong")
            for outcome in ("accepted", "doubtful")]  # fmt: skip
    print(f"all {len(rows)}: {', '.join(told)}")


if __name__ == "__main__":
    main()

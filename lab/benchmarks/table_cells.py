"""How often a cell that was looked up is the right one, by the probability that is stated of it.

    python -m lab.benchmarks.table_cells [DATA/retrieval/tatqa_dev]

Made questions on the cells of made tables (`lab/training/reader/made_tables.py`), of which two in five ask for a row or
a column that is not there; the questions of new users, put to the tables among their files, most of which do not answer
them; with the folder, people's questions on the tables of filings, whose answer is a cell.
"""

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import NamedTuple

from cragraph.answers.candidates import candidates
from cragraph.answers.ranking import MOST_ROWS
from cragraph.answers.rows import lookup
from cragraph.documents import load, split
from cragraph.language.questions import read_question
from cragraph.passages import as_passages
from lab.benchmarks.new_user.__main__ import HERE
from lab.training.reader.made_tables import table_example

SEED, MADE = 7, 3000
BANDS = (0.4, 0.5, 0.6, 0.7, 0.8, 1.01)


class Asked(NamedTuple):
    """A question on a table, and the cell that answers; empty where none does."""

    question: str
    table: str
    title: str
    cell: str


def made(count: int, seed: int) -> Iterator[Asked]:
    """Made questions on tables whose cells carry the names of their columns."""
    rng = Random(seed)
    while count:
        example = table_example(rng)
        first = example.text.split("\n")[0]
        if " | " in first and ": " in first:
            count -= 1
            cell = example.text[slice(*example.spans[0])] if example.answerable else ""
            yield Asked(example.question, example.text, example.heading, cell)


def filings(folder: Path) -> Iterator[Asked]:
    """People's questions on filings whose answer is one cell of a table."""

    def rows(name: str) -> list[dict[str, str]]:
        return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]

    texts = {row["id"]: row["text"] for row in rows("corpus.jsonl")}
    about = {query: text for query, text, *_ in map(str.split, (folder / "qrels.tsv").read_text().splitlines())}
    for row in rows("queries.jsonl"):
        table = with_names(texts.get(about.get(row["id"], ""), ""))
        cell = re.sub(r"[^\d.,%]", "", row.get("answer") or "").strip(".,")
        if table and re.search(r"\d", cell) and cell in table:
            yield Asked(row["text"], table, "", cell)


def with_names(text: str) -> str:
    """The rows of a table with the names of their columns before their cells, as `ingest` writes them."""
    names: Sequence[str] = ()
    kept = []
    for line in text.split("\n\n")[0].splitlines():
        cells = [cell.strip() for cell in line.split(" | ")]
        if re.fullmatch(r"(?:\W*(?:19|20)\d\d\W*)+", " ".join(cells)):
            names = [cell for cell in cells if cell]
        elif names and len(cells) == len(names) + 1:
            kept.append(" | ".join([cells[0], *(f"{n}: {c}" for n, c in zip(names, cells[1:], strict=True))]))
    return "\n".join(kept)


Found = tuple[float, bool]
"""The probability that is stated of what was looked up, and whether it is right."""


def looked_up(asked: Asked) -> Found | None:
    """What is found for a question on one table: right where one of at most three cells is; None where nothing is."""
    passages = as_passages([{"text": asked.table, "metadata": {"filename": "table.csv", "title": asked.title}}])
    found = lookup(read_question(asked.question), candidates(passages), passages)
    if found is None:
        return None
    cells = [row.text[start:end] for row, (start, end) in zip(found.rows, found.cells, strict=True)]
    return found.probability, bool(asked.cell) and len(cells) <= 3 and any(asked.cell in cell for cell in cells)


def of_new_users(name: str) -> Iterator[Found | None]:
    """What is found for the questions of a set of `lab.benchmarks.new_user` in all tables of its files."""
    files = [path for path in sorted((HERE / name / "files").rglob("*")) if path.suffix in (".csv", ".json", ".jsonl")]
    passages = [passage for path in files for document in load(path) for passage in split(document)]
    rows = candidates(passages)
    for line in (HERE / name / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found = lookup(read_question(row["question"]), rows, passages)
        given = " ".join(candidate.text for candidate in found.rows[:MOST_ROWS]).casefold() if found else ""
        right = not row.get("refuse") and all(text.casefold() in given for text in row["expect"])
        yield (
            (found.probability, right and not any(t.casefold() in given for t in row.get("reject", ())))
            if found
            else None
        )


def report(name: str, found: Sequence[Found | None]) -> None:
    """A line a band of probabilities."""
    known = [one for one in found if one]
    print(f"{name}: {len(found)} questions, {len(known)} looked up")
    for low, high in pairwise(BANDS):
        inside = [one for one in known if low <= one[0] < high]
        if inside:
            stated, right = (sum(one[i] for one in inside) / len(inside) for i in (0, 1))
            print(f"  from {low:.1f}: {len(inside):>5}, stated {stated:.2f}, right {right:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="tables and questions of filings")
    options = parser.parse_args()
    report("made", [looked_up(one) for one in made(MADE, SEED)])
    for name in (".", "second", "third", "fourth"):
        report(f"new users, {name}", list(of_new_users(name)))
    if options.folder:
        report("filings", [looked_up(one) for one in filings(options.folder)])


if __name__ == "__main__":
    main()

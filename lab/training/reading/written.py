"""Texts written for training, with claims and questions about them in other words than theirs.

    python -m lab.training.reading.written [FILE ...] [--aside OUT.jsonl]

checks files (all of `texts/` and `folders/` where none is named) and says what is in them; OUT.jsonl gets the claims of
those texts that no network is trained on, as grounding rows. A file of `texts/` holds texts on subjects of their own,
one of `folders/` the documents of one household or organisation, each asked for what no other of them answers. They
stand one after the other:

    ## kind of text | what it is about
    The text, in as many lines as it takes.

    + a claim that the text bears out
    - a claim that the text contradicts
    ~ a claim that the text leaves open
    ? a question => its answer, as it stands in the text
    ! a question that the text does not answer
    y a question => yes or no, as the text says

A text of the kind `table` whose answers name their row (`? a question => Tea :: 1.80`, the start of the line and the
cell) is written with commas, headings first, and read as rows ("Item: Tea | Price: 1.80").
"""

import argparse
import csv
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TypeVar
from zlib import crc32

from cragraph.language.sentences import sentence_spans
from lab.training.judge import rows as judge
from lab.training.reader import rows as reader
from lab.training.reading.aside import write

TEXTS, FOLDERS = (Path(__file__).with_name(name) for name in ("texts", "folders"))
LABELS = {"+": judge.SUPPORTED, "-": judge.CONTRADICTED, "~": judge.UNSUPPORTED}
LONGEST = 1500
"""Characters of the longest text."""
AMONG = 0.3
"""Share of the texts that are read between stretches of other texts of their file."""
ASIDE = 10
"""Every such text of a file is put aside: settings are chosen on it, no network is trained on it."""
FOLDER_ASIDE = 5
"""About every such folder, by its name, is put aside likewise, whole."""
TIMES = 3
"""How often a row is drawn at most, each time among other texts."""
ROW = " :: "
"""Stands between the row and the cell of an answer: such a text is read as a table."""
TOLD = 0.35
"""Share of the answers that are told as question and answer, beside a wrong one."""


@dataclass(frozen=True)
class Written:
    """A text with its kind and subject; `claims` have their mark, `asked` where the answer stands (None: nowhere),
    `polar` yes or no."""

    head: tuple[str, str]
    text: str
    claims: tuple[tuple[str, str], ...]
    asked: tuple[tuple[str, tuple[int, int] | None], ...]
    polar: tuple[tuple[str, str], ...]
    table: str = ""
    """The lines of a table as they were written; `text` is how they are read."""


def as_rows(lines: str) -> str:
    """A table as it is read: each row with its headings, in a line."""
    headings, *rows = csv.reader(lines.splitlines())
    if wrong := next((row for row in rows if len(row) != len(headings)), None):
        raise ValueError(f"a row of {len(wrong)} cells below {len(headings)} headings: {','.join(wrong)}")
    cells = ([(h.strip(), c.strip()) for h, c in zip(headings, row, strict=True) if c.strip()] for row in rows)
    return "\n".join(" | ".join(f"{heading}: {cell}" for heading, cell in row) for row in cells)


def _place(text: str, table: str, answer: str) -> tuple[int, int] | None:
    """Where an answer stands in a text; in the row that it names, if the text is a table; None where it does not."""
    row, named, cell = answer.partition(ROW)
    if not table:
        start = text.find(answer)
        return (start, start + len(answer)) if start >= 0 and answer else None
    lines = table.splitlines()
    number = next((n for n, line in enumerate(lines) if n and named and line.strip('"').startswith(row)), 0)
    begun = sum(len(line) + 1 for line in text.split("\n")[: number - 1])
    start = text.find(f": {cell}", begun, begun + len(text[begun:].partition("\n")[0])) + 2
    return (start, start + len(cell)) if number and start > 1 and cell else None


def parsed(path: Path) -> Iterator[Written]:
    """The texts of a file; `ValueError` names the text and line that does not keep to the form."""
    for number, block in enumerate(re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.M)[1:], 1):
        head, _, block = block.partition("\n")
        kind, _, subject = head.partition("|")
        body, _, rows = block.strip().partition("\n\n")
        while rows and not re.match(r"[-+~?!y] ", rows):
            more, _, rows = rows.partition("\n\n")
            body += f"\n\n{more}"
        claims, asked, polar = [], [], []
        where = f"{path.name}, text {number} ({body[:40]}…)"
        table = body if kind.strip() == "table" and ROW in rows else ""
        try:
            body = as_rows(table) if table else body
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from error
        if not rows or len(table or body) > LONGEST:
            raise ValueError(f"{where}: wanted a text of at most {LONGEST} characters, an empty line, and rows")
        for line in rows.splitlines():
            mark, row = line[:1], line[2:].strip()
            question, arrow, answer = row.partition(" => ")
            if not line.strip():
                continue
            if mark in LABELS and not arrow and line[1] == " ":
                claims.append((mark, row))
            elif mark == "!" and not arrow:
                asked.append((row, None))
            elif mark == "y" and answer in ("yes", "no"):
                polar.append((question, answer))
            elif mark == "?" and (place := _place(body, table, answer)):
                asked.append((question, place))
            else:
                raise ValueError(f"{where}: a row must be as in the form, and an answer stand in its text: {line}")
        yield Written((kind.strip(), subject.strip()), body, tuple(claims), tuple(asked), tuple(polar), table)


def written(paths: Iterable[Path] = (), aside: bool | None = None) -> list[list[Written]]:
    """The texts of each file: all of them, or only those that are put aside, or only the others."""
    files = [list(parsed(path)) for path in sorted(paths) or sorted(TEXTS.glob("*.txt"))]
    if aside is None:
        return files
    return [[text for number, text in enumerate(own, 1) if (number % ASIDE == 0) is aside] for own in files]


def folders(aside: bool) -> dict[str, list[Written]]:
    """The documents of each folder by its name: of those that are put aside, or of the others."""
    paths = [p for p in sorted(FOLDERS.glob("*.txt")) if (crc32(p.stem.encode()) % FOLDER_ASIDE == 0) is aside]
    return {path.stem: list(parsed(path)) for path in paths}


T = TypeVar("T")


def enough(drawn: Callable[[Sequence[Sequence[Written]], Random], Iterator[T]], count: int, rng: Random) -> list[T]:
    """`count` rows of the texts and folders to learn from, or as many as `TIMES` of each."""
    files = [*written(aside=False), *folders(aside=False).values()]
    rows: list[T] = []
    for _ in range(TIMES):
        once = list(drawn(files, rng))
        rows += rng.sample(once, min(len(once), count - len(rows)))
    return rows


def among(text: Written, others: Sequence[Written], rng: Random) -> Written:
    """The text with sentences of others of its file before and after it, or as it is."""
    if not others or rng.random() > AMONG or len(text.text) > 600:
        return text
    before, after = ("\n".join(_stretch(rng.choice(others), rng) for _ in range(rng.randint(0, 1))) for _ in "ab")
    whole = "\n".join(part for part in (before, text.text, after) if part)
    moved = len(before) + 1 if before else 0
    asked = tuple((q, span and (span[0] + moved, span[1] + moved)) for q, span in text.asked)
    return replace(text, text=whole, asked=asked)


def _stretch(text: Written, rng: Random) -> str:
    spans = sentence_spans(text.text)
    start = rng.randrange(len(spans))
    return text.text[spans[start][0] : spans[min(start + 2, len(spans) - 1)][1]][:300]


def questions(files: Sequence[Sequence[Written]], rng: Random) -> Iterator[reader.Example]:
    """Every question once, of a few sentences of its text or of others beside it; every second one headed."""
    for texts in files:
        for own in texts:
            text = among(own, [t for t in texts if t is not own], rng)
            for question, span in text.asked:
                evidence = reader.around(text.text, (span,)) if span else ()
                heading = rng.choice(("", "", *own.head))
                spans = (span,) if span else ()
                asked = reader.Example(question, text.text, bool(span), spans, evidence, heading, "written")
                yield reader.window(asked, span or _nearest(question, own, text), rng)


def _nearest(question: str, own: Written, text: Written) -> tuple[int, int]:
    """The sentence of a text, as it stands among others, that has the most of a question's words."""
    start = text.text.index(own.text)
    a, b = reader.nearest(question, own.text, sentence_spans(own.text))
    return start + a, start + b


def claims(files: Sequence[Sequence[Written]], rng: Random) -> Iterator[judge.Example]:
    """Every claim once; answers to questions, right and wrong, and yes and no, as question and answer."""
    for texts in files:
        for own in texts:
            text = among(own, [t for t in texts if t is not own], rng)
            for mark, claim in text.claims:
                known = LABELS[mark]
                yield judge.Example(claim, (text.text,), known, () if mark == "+" else None, "written")
            for question, answer in text.polar:
                for given in ("yes", "no"):
                    known = judge.SUPPORTED if given == answer else judge.CONTRADICTED
                    spans = () if given == answer else None
                    yield judge.Example(f"{question} {given.capitalize()}.", (text.text,), known, spans, "written")
            yield from _told(text, rng)


def _told(text: Written, rng: Random) -> Iterator[judge.Example]:
    """Questions with their answer, and with the answer to another; a question without one, with any."""
    answers = [text.text[span[0] : span[1]] for _, span in text.asked if span]
    for question, span in text.asked:
        if rng.random() > TOLD or not answers:
            continue
        right = text.text[span[0] : span[1]] if span else None
        others = [a for a in answers if not right or (a not in right and right not in a)]
        for answer in filter(None, (right, rng.choice(others) if others else None)):
            told = f"{question} {answer[:1].upper()}{answer[1:].rstrip('.')}."
            known = judge.SUPPORTED if answer == right else judge.NOT_SUPPORTED
            yield judge.Example(told, (text.text,), known, () if answer == right else None, "written")


def main() -> None:
    """Check files and print what is in them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--aside", type=Path)
    given = parser.parse_args()
    try:
        files = written(given.files or [*TEXTS.glob("*.txt"), *FOLDERS.glob("*.txt")])
    except ValueError as error:
        sys.exit(str(error))
    texts = [text for own in files for text in own]
    counted = Counter(mark for text in texts for mark, _ in text.claims)
    counted.update("?" if span else "!" for text in texts for _, span in text.asked)
    counted["y"] = sum(len(text.polar) for text in texts)
    said = Counter(row for t in texts for row in (t.text, *(c for _, c in t.claims), *(q for q, _ in t.asked)))
    print(f"{len(texts)} texts, rows {dict(counted)}")
    for row, times in said.items():
        if times > 1 and len(row.split()) > 6:
            print(f"stands {times} times: {row[:100]}")
    if given.aside:
        write(list(claims(written(given.files, aside=True), Random(ASIDE))), given.aside)


if __name__ == "__main__":
    main()

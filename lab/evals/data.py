"""Labelled data: rows of answers for grounding; collections of passages, queries and relevance for retrieval."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import TypeAdapter, ValidationError

from cragraph.calibrate import json_rows
from cragraph.errors import InputError
from cragraph.passages import as_passage
from cragraph.types import Passage

_PART: Final = re.compile(r"-o\d+$")


@dataclass(frozen=True)
class Row:
    """A labelled answer.

    `spans` are the answer's unsupported character ranges; `group` joins rows of one claim; `kind` is what sort of claim
    it is, where the file says.
    """

    id: str
    question: str
    passages: tuple[str, ...]
    answer: str
    label: Literal["supported", "partial", "unsupported", "contradicted"]
    spans: tuple[tuple[int, int], ...]
    group: str
    kind: str = ""

    @property
    def supported(self) -> bool:
        """Whether the answer is wholly supported: a partly supported one is not."""
        return self.label == "supported"


def read_rows(file: Path, limit: int | None = None) -> list[Row]:
    """The rows of a file that count towards binary figures, evenly spaced over the file where limited.

    Partly supported rows of `begin` (generic replies) are left out. The parts of a claim that was labelled once for
    several groups of passages (ids that end in ``-o0``, ``-o1``…) share a group and are never torn apart by a limit.
    Raises InputError naming the line of a row with another shape.
    """
    rows = [
        row
        for row in (_row(*line) for line in json_rows(file))
        if not (row.id.startswith("begin:") and row.label == "partial")
    ]
    groups = list(dict.fromkeys(row.group for row in rows))
    if limit is None or limit >= len(groups):
        return rows
    kept = {groups[index * len(groups) // limit] for index in range(limit)}
    return [row for row in rows if row.group in kept]


_ROWS: Final = TypeAdapter(Row)


def _row(data: dict[str, Any], where: str) -> Row:
    name = str(data.get("id", where))
    read = {"id": name, "group": _PART.sub("", name), "question": data.get("question") or ""}
    read |= {"kind": str(data.get("kind") or ""), "spans": data.get("spans") or ()}
    try:
        return _ROWS.validate_python(data | read)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(
            f"{where} is no row of labelled answers ({'.'.join(map(str, first['loc']))}: {first['msg']}); wanted "
            '{"id", "question", "passages": [text…], "answer", "label", "spans"}.'
        ) from error


NAMES = ("corpus.jsonl", "queries.jsonl", "qrels.tsv")


@dataclass(frozen=True)
class Collection:
    """Passages, queries by id, and for each query the graded relevance of passages."""

    name: str
    passages: list[Passage]
    queries: Mapping[str, str]
    qrels: Mapping[str, Mapping[str, float]]

    @property
    def judged(self) -> list[str]:
        """The ids of the queries that something is relevant to: those that ranking can be measured on."""
        return [query for query in self.queries if any(gain > 0 for gain in self.qrels.get(query, {}).values())]


def read_collection(folder: Path) -> Collection:
    """Read a collection; a passage's `chunk_id` is its id in the corpus.

    Rows of the corpus are ``{"id", "text", "title"?}``, of the queries ``{"id", "text"}``; `_id` does as well. The
    judgements are tab-separated query, passage and grade, with a heading or without. Raises InputError where a file is
    missing, a row has another shape, or nothing is judged relevant.
    """
    missing = [name for name in NAMES if not (folder / name).is_file()]
    if missing:
        raise InputError(f"{folder} has no {', '.join(missing)}; wanted a folder with {', '.join(NAMES)}.")
    corpus, queries, judgements = (folder / name for name in NAMES)
    passages = [_passage(row, index, where) for index, (row, where) in enumerate(json_rows(corpus))]
    texts = {_text(row, "id", where): _text(row, "text", where) for row, where in json_rows(queries)}
    collection = Collection(folder.name, passages, texts, _qrels(judgements))
    if not passages or not collection.judged:
        raise InputError(
            f"{folder} has {len(passages)} passages, {len(texts)} queries and none of them with a relevant passage; "
            "check that the ids in qrels.tsv are those of queries.jsonl and corpus.jsonl."
        )
    return collection


def _text(row: Mapping[str, Any], key: str, where: str) -> str:
    value = row.get(key, row.get(f"_{key}"))
    if not isinstance(value, str | int):
        raise InputError(f"{where} has no `{key}`; wanted an object with `id` and `text`.")
    return str(value)


def _passage(row: Mapping[str, Any], index: int, where: str) -> Passage:
    name, text, title = _text(row, "id", where), _text(row, "text", where), str(row.get("title") or "")
    fields = {"chunk_id": name, "doc_id": name, "chunk_index": 0, "source": name}
    metadata = {"title": title} if title else {}
    return as_passage({"text": text or title, **fields, "metadata": metadata}, index)


def _qrels(path: Path) -> dict[str, dict[str, float]]:
    qrels: dict[str, dict[str, float]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        cells = line.split("\t") if "\t" in line else line.split()
        if not line.strip() or (number == 1 and not _number(cells[-1])):
            continue
        # TREC's own form has an unused second column.
        if len(cells) not in (3, 4) or not _number(cells[-1]):
            raise InputError(f"{path.name}:{number} is {line!r}; wanted query, passage and grade, separated by tabs.")
        qrels.setdefault(cells[0], {})[cells[-2]] = float(cells[-1])
    return qrels


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

"""Rows of labelled answers: ``{"id", "question", "passages", "answer", "label", "spans"}``, one JSON object a line."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cragraph.errors import InputError

LABELS: Final = ("supported", "partial", "unsupported", "contradicted")

_PART: Final = re.compile(r"-o\d+$")


@dataclass(frozen=True)
class Row:
    """A labelled answer. `spans` are the answer's unsupported character ranges; `group` joins rows of one claim."""

    id: str
    question: str
    passages: tuple[str, ...]
    answer: str
    label: str
    spans: tuple[tuple[int, int], ...]
    group: str

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
    rows = [row for row in _rows(file) if not (row.id.startswith("begin:") and row.label == "partial")]
    groups = list(dict.fromkeys(row.group for row in rows))
    if limit is None or limit >= len(groups):
        return rows
    kept = {groups[index * len(groups) // limit] for index in range(limit)}
    return [row for row in rows if row.group in kept]


def _rows(file: Path) -> Iterator[Row]:
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _row(line, f"{file}:{number}")
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error.strerror}); wanted a file of JSON lines.") from error


def _row(line: str, place: str) -> Row:
    try:
        data: Any = json.loads(line)
        passages, spans = data["passages"], data.get("spans") or []
        row = Row(
            id=str(data.get("id", place)),
            question=data.get("question") or "",
            passages=tuple(passages),
            answer=data["answer"],
            label=data["label"],
            spans=tuple((int(start), int(end)) for start, end in spans),
            group=_PART.sub("", str(data.get("id", place))),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{place} is no row of labelled answers ({type(error).__name__}: {error}); wanted "
            '{"id", "question", "passages": [text…], "answer", "label", "spans"}.'
        ) from error
    texts = isinstance(row.answer, str) and isinstance(passages, list) and all(isinstance(p, str) for p in passages)
    if not texts or row.label not in LABELS:
        raise InputError(
            f"{place}: wanted an answer and passages as text and a label of {', '.join(LABELS)}; the label is "
            f"{row.label!r}."
        )
    return row

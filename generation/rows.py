"""Rows of tables as records: which of them a question asks for by the value of a cell."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from cragraph.generation.candidates import Candidate
from cragraph.generation.questions import Question
from cragraph.text.words import content_words
from cragraph.types import Passage

_CELL: Final = re.compile(r"^\s*([^\W\d][^:|]{0,40}?): (.*)$", re.S)
_NOT: Final = re.compile(r"\b(?:not|never|no|without|nicht|kein\w*)\b|n['’]t\b", re.I)
_SOLD_OUT: Final = re.compile(
    r"\b(?:sold out|out of stock|not in stock|no longer (?:available|in stock)|ausverkauft)\b", re.I
)
_STOCK: Final = re.compile(r"stock|quantity|qty|availab|on hand|units left|inventory|bestand|vorrat", re.I)
_NONE: Final = re.compile(r"0+(?:\.0+)?|no|none|false|nein", re.I)
_ASKED: Final = re.compile(r"\b(?:which|what|list|name|all|every)\s+(?:the\s+|of\s+)*([^\W\d]\w+)", re.I)


def cells(row: str) -> dict[str, str]:
    """Values by the names of their columns, for a row whose cells carry them: "item: Lamp | price: 9"."""
    found = (_CELL.match(cell) for cell in row.strip().strip("|").split(" | "))
    return {match[1].strip(): match[2].strip() for match in found if match}


def matching(question: Question, found: Sequence[Candidate], passages: Sequence[Passage]) -> tuple[Candidate, ...]:
    """Every row that holds what is asked for in a cell: "which orders are open" asks for `status: open`.

    A denied value asks for the other rows. Rows come from one table, the one that what is asked for names, or that has
    the most of them; none where the question names no value, or asks for a figure.
    """
    if not question.wants_rows:
        return ()
    tables: dict[str, list[tuple[Candidate, Mapping[str, str]]]] = {}
    for candidate in found:
        if candidate.is_row and (values := cells(candidate.text)):
            passage = passages[candidate.passage]
            tables.setdefault(passage["source"] or passage["doc_id"], []).append((candidate, values))
    asked = set(content_words(question.text))
    sort = {word for match in _ASKED.finditer(question.text) for word in content_words(match.group(1))}
    best: tuple[tuple[bool, int], tuple[Candidate, ...]] = ((False, 0), ())
    for rows in tables.values():
        rows_found = _asked_for(question.text, asked, rows)
        if rows_found and len(rows_found) < max(2, len(rows)):
            about = f"{rows[0][0].context} {' '.join(rows[0][1])}"
            rank = (bool(sort & set(content_words(about.replace("_", " ")))), len(rows_found))
            best = max(best, (rank, tuple(rows_found)), key=lambda item: item[0])
    return best[1]


def _asked_for(question: str, asked: set[str], rows: Sequence[tuple[Candidate, Mapping[str, str]]]) -> list[Candidate]:
    sold_out, denied = _SOLD_OUT.search(question) is not None, _NOT.search(question) is not None
    wanted: dict[str, set[str]] = {}
    for _, values in rows:
        for name, value in values.items():
            words = set(content_words(value))
            if sold_out and _STOCK.search(name):
                if _NONE.fullmatch(value):
                    wanted.setdefault(name, set()).add(value)
            elif words and words <= asked and not re.fullmatch(r"[\d.,:/-]+", value):
                wanted.setdefault(name, set()).add(value)
    if not wanted:
        return []
    if denied and not sold_out:
        return [c for c, values in rows if any(n in values and values[n] not in w for n, w in wanted.items())]
    return [c for c, values in rows if all(values.get(name) in chosen for name, chosen in wanted.items())]

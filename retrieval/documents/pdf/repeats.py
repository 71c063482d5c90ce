"""Headers and footers: lines at the edge of pages that come again on page after page."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from cragraph.retrieval.documents.pdf.lines import Line

EDGE = 3
"""Lines at the top and at the bottom of a page that may be header and footer."""

LEAST_PAGES = 3
SHARE = 0.2
"""A line is a header where it stands on this share of the pages, and on three at least."""

_NUMBERS = re.compile(r"\d+|\b[ivxlc]+\b")


def without_repeats(pages: Sequence[Sequence[Line]], seen: set[str]) -> list[list[Line]]:
    """The pages without their headers and footers; one that says more than a number stays where it first stands.

    `seen` keeps what has been met, over several calls on parts of one document.
    """
    places: dict[tuple[str, str], set[int]] = defaultdict(set)
    for number, lines in enumerate(pages):
        for line, edge in _edges(lines):
            places[_key(line), edge].add(number)
    least = max(LEAST_PAGES, SHARE * len(pages))
    kept: list[list[Line]] = []
    for lines in pages:
        dropped: set[int] = set()
        ended: set[str] = set()
        for line, edge in _edges(lines):
            key = _key(line)
            if edge in ended or len(places[key, edge]) < least:
                # Nothing further in is header or footer.
                ended.add(edge)
                continue
            if key in seen or not any(sign.isalpha() for sign in key.replace("page", "")):
                dropped.add(id(line))
            seen.add(key)
        kept.append([line for line in lines if id(line) not in dropped])
    return kept


def _edges(lines: Sequence[Line]) -> Iterator[tuple[Line, str]]:
    """The outermost lines of a page with the edge they are at, from the edge inwards."""
    half = (len(lines) + 1) // 2
    yield from ((line, "top") for line in lines[:half][:EDGE])
    yield from ((line, "bottom") for line in lines[half:][::-1][:EDGE])


def _key(line: Line) -> str:
    return _NUMBERS.sub("#", line.text.casefold())

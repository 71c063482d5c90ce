"""Words in the pictures of pages: by RapidOCR, whose package holds its networks."""

import signal
from functools import cache
from importlib.util import find_spec
from time import monotonic
from typing import Any, Final

from cragraph.retrieval.documents.pdf.words import Word, weighted_median

INSTALL: Final = "pip install 'cragraph[ocr]'"
"""The command that brings what reads pictures."""

SCALE: Final = 150 / 72
"""Pixels a point that a page is drawn with."""
ALIKE: Final = 0.25
"""Share of the usual height by which a line may differ and still count as set in the same size."""


def can_recognise() -> bool:
    """Whether pictures can be read here."""
    return find_spec("rapidocr") is not None


def recognised(page: Any) -> list[Word]:
    """The words of a page's picture with their places; none where there are none."""
    began = monotonic()
    found = _engine()(page.render(scale=SCALE).to_numpy())
    _do_not_count(monotonic() - began)
    lines = [] if found.txts is None else list(zip(found.boxes, found.txts, strict=True))
    sides = [(box[:, 0].min(), box[:, 1].min(), box[:, 0].max(), box[:, 1].max()) for box, _ in lines]
    usual = weighted_median(
        (bottom - top, len(text)) for (_, top, _, bottom), (_, text) in zip(sides, lines, strict=True)
    )
    words: list[Word] = []
    for (left, top, right, bottom), (_, text) in zip(sides, lines, strict=True):
        height, middle = bottom - top, (top + bottom) / 2
        height = usual if abs(height - usual) <= ALIKE * usual else height
        wide, at = (right - left) / max(len(text), 1), 0
        for part in text.split():
            at = text.index(part, at)
            edges = (left + at * wide, left + (at + len(part)) * wide, middle - height / 2, middle + height / 2)
            x0, x1, top, bottom = (float(edge) / SCALE for edge in edges)
            words.append(Word(part, x0, x1, top, bottom))
            at += len(part)
    return words


@cache
def _engine() -> Any:
    from rapidocr import RapidOCR

    # Lines upside down are rare in scans, and the network that looks for them turns upright ones. Lines are found in a
    # picture of 960 pixels, in half the time and no worse than in all of them; they are read in all of them.
    wanted = {"Global.log_level": "critical", "Global.use_cls": False}
    return RapidOCR(params=wanted | {"Det.limit_type": "max", "Det.limit_side_len": 960})


def _do_not_count(seconds: float) -> None:
    """Put off the alarm that bounds the reading of a file; recognition takes seconds per page."""
    if hasattr(signal, "setitimer") and (left := signal.getitimer(signal.ITIMER_REAL)[0]):
        signal.setitimer(signal.ITIMER_REAL, left + seconds)

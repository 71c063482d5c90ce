"""What a second pass keeps of the answer before, and what it must not say again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cragraph.generation.phrases import plain
from cragraph.protocols import Brief
from cragraph.text.markers import without_markers
from cragraph.text.sentences import sentence_spans
from cragraph.text.words import content_words

_GROUNDED: Final = 0.6
"""Share of a kept sentence's words that one passage must hold to be cited for it."""


@dataclass(frozen=True)
class Kept:
    """A sentence of the previous answer that held, and the passage (from 0) to cite for it."""

    text: str
    passage: int


def kept_sentences(brief: Brief) -> list[Kept]:
    """Sentences of the previous answer that no failed verdict touches and that a passage still carries."""
    if not brief.previous or not brief.failed:
        return []
    broken = [(verdict["start"], verdict["end"]) for verdict in brief.failed]
    failed = failed_texts(brief)
    kept = []
    for start, end in sentence_spans(brief.previous):
        text = without_markers(brief.previous[start:end])
        touched = any(start < right and left < end for left, right in broken)
        if text and not touched and not is_failed(text, failed):
            passage = _carrier(text, brief)
            if passage is not None:
                kept.append(Kept(text, passage))
    return kept


def failed_texts(brief: Brief) -> list[str]:
    """What failed, in a form that quotations can be compared with."""
    return [said for verdict in brief.failed if (said := plain(without_markers(verdict["text"])))]


def is_failed(text: str, failed: Sequence[str]) -> bool:
    """Whether a text is, or holds, something that failed."""
    return any(claim in plain(text) for claim in failed)


def _carrier(text: str, brief: Brief) -> int | None:
    wanted = set(content_words(text))
    best, share = None, _GROUNDED
    for number, passage in enumerate(brief.passages):
        if text in passage["text"]:
            return number
        held = len(wanted & set(content_words(passage["text"]))) / max(1, len(wanted))
        if held > share:
            best, share = number, held
    return best

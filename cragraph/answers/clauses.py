"""Clauses, sections and paragraphs that a question asks for by their number alone."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from cragraph.answers.candidates import LONGEST, Candidate
from cragraph.answers.rows import CERTAIN, Lookup
from cragraph.language.questions import Question
from cragraph.language.words import content_words, normalised
from cragraph.types import Passage

_NAMES: Final = (
    "clause|section|article|paragraph|rule|point|item|chapter|sec|art|para|absatz|abschnitt|artikel|punkt|ziffer"
)
_NAMED: Final = re.compile(rf"(?:\b(?:{_NAMES})\.? |§ ?)(?P<number>\d+(?:\.\d+)*)(?P<letter> ?\([a-z]{{1,4}}\))?", re.I)
_LINE: Final = re.compile(rf"^[ \t#*-]*(?:(?:{_NAMES})\.? |§ ?)?(\d+(?:\.\d+)*)[.):]?\**[ \t]+(?=\S)", re.M | re.I)
_ASKING: Final = frozenset(
    content_words(
        "clause say says said state states provide contain read tell text wording quote show give sagt steht regelt"
    )
)
SEVERAL: Final = 0.5  # probability of one of several clauses of that number


def clause_named(question: Question, passages: Sequence[Passage]) -> Lookup | None:
    """The clause that a question asks for by its number alone; None for another question or an unknown number."""
    asked = _NAMED.search(question.text)
    if asked is None:
        return None
    rest = {*content_words(f"{question.text[: asked.start()]}clause{question.text[asked.end() :]}")} - _ASKING
    found: dict[str, Candidate] = {}
    for number, passage in enumerate(passages):
        about = f"{passage['filename']} {passage['metadata'].get('title') or ''}"
        if rest <= {*content_words(about.replace("_", " ").replace(".", " "))}:
            for start, end in _stretches(passage["text"], asked["number"], (asked["letter"] or "").strip()):
                text = passage["text"][start:end]
                found.setdefault(normalised(text), Candidate(number, start, end, text))
    clauses = tuple(found.values())
    probability = CERTAIN if len(clauses) == 1 else SEVERAL
    return Lookup(clauses, probability, tuple((0, len(one.text)) for one in clauses)) if clauses else None


def _stretches(text: str, number: str, letter: str) -> Iterator[tuple[int, int]]:
    """The stretches of the clauses of this number, with their subclauses."""
    lines = [*((match.start(), match[1]) for match in _LINE.finditer(text)), (len(text), "")]
    for at, (start, own) in enumerate(lines):
        if own != number:
            continue
        end = next(begin for begin, other in lines[at + 1 :] if not other.startswith(f"{number}."))
        last = max(begin for begin, _ in lines if begin < end)
        line, gap = text[last:end].partition("\n")[0], text.find("\n\n", last, end)
        if line.rstrip()[-1:] in ".;!?" and gap > 0:  # a sentence, not a heading
            end = gap
        if letter:
            items = [*(m.start() for m in re.finditer(r"^[ \t-]*\([a-z]{1,4}\)", text[start:end], re.M)), end - start]
            parts = ((start + a, start + b) for a, b in pairwise(items))
            yield from (_trimmed(text, a, b) for a, b in parts if text[a:b].lstrip(" \t-").startswith(letter))
        else:
            yield _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch without blanks around it, cut to whole lines if it is too long to be quoted."""
    stretch = text[start:end].rstrip()
    if len(stretch) > LONGEST:
        stretch = (
            stretch[: max(stretch.rfind("\n", 0, LONGEST), stretch.rfind(". ", 0, LONGEST) + 1)] or stretch[:LONGEST]
        )
    lead = len(stretch) - len(stretch.lstrip())
    return start + lead, start + len(stretch.rstrip())

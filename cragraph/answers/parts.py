"""The parts of passages that are read at once, each below its heading."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from cragraph.answers.candidates import Candidate
from cragraph.language.questions import Question
from cragraph.language.words import content_words, terms, weight
from cragraph.types import Passage

WINDOW: Final = 360
"""Characters of a passage that are read at once; longer passages are read in parts that share a sentence."""
MOST_WINDOWS: Final = 24
"""Parts of passages that are read for one question at most, in the order of the passages."""
AFTER: Final = 3
"""Ranking offset: a passage's second-best part ranks with the best part of the passage this many places below."""
HEADING: Final = 90  # characters of heading and title that are read before a text


class Part(NamedTuple):
    """A part of a passage that is read at once, with the numbers of its candidates and of its passage."""

    heading: str
    text: str
    start: int
    holds: tuple[int, ...]
    passage: int


def parts_of(question: Question, passages: Sequence[Passage], pool: Sequence[Candidate]) -> list[Part]:
    """The parts of passages that hold the candidates, cut between candidates; the most promising, in order."""
    parts: list[Part] = []
    for number, passage in enumerate(passages):
        own = [i for i, c in enumerate(pool) if c.passage == number]
        heading, start = heading_of(passage), 0
        while own:
            first = start if pool[own[0]].start - start < WINDOW // 3 else pool[own[0]].start
            # Rows and sentences are read separately: a table would drown the line of text above it.
            turn = next((n for n, i in enumerate(own) if pool[i].is_row != pool[own[0]].is_row), len(own))
            alike = own[:turn]
            inside = [i for i in alike if pool[i].end - first <= WINDOW] or own[:1]
            last = max(pool[i].end for i in inside)
            lead = _lead(heading, pool[inside[0]])
            parts.append(Part(lead, passage["text"][first:last], first, tuple(inside), number))
            rest = own[len(inside) :]
            # The last sentence of a part is read again at the head of the next, as context.
            again = len(inside) > 1 and len(inside) < len(alike)
            own = [inside[-1], *rest] if again else rest
            start = pool[own[0]].start if own else 0
    if len(parts) <= MOST_WINDOWS:
        return parts
    worth = shares_of(question, parts)
    taken: Counter[int] = Counter()
    places = []
    for n in sorted(range(len(parts)), key=lambda n: -worth[n]):
        place = parts[n].passage
        places.append((place + AFTER * taken[place], n))
        taken[place] += 1
    return [parts[n] for n in sorted(n for _, n in sorted(places)[:MOST_WINDOWS])]


def shares_of(question: Question, parts: Sequence[Part]) -> list[float]:
    """The weighted share of the question's words in each part, its heading included."""
    asked = set(content_words(question.text))
    whole = sum(map(weight, asked)) or 1.0
    return [sum(map(weight, asked & set(terms(f"{part.heading} {part.text}")))) / whole for part in parts]


def heading_of(passage: Passage) -> str:
    """A passage's title and the end of its heading path; without both, its file's name."""
    about = passage["metadata"]
    title, heading = str(about.get("title") or ""), str(about.get("heading") or "")
    shown = heading if title and title in heading else f"{title} {heading}".strip()
    return (shown or re.sub(r"[_-]+", " ", passage["filename"].rpartition(".")[0]))[-HEADING:]


def _lead(heading: str, first: Candidate) -> str:
    header = first.header if first.is_row else ""
    return f"{heading} {header}".strip()[-2 * HEADING :] if header and header not in first.text else heading

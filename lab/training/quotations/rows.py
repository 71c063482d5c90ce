"""Earlier texts with later ones that change what they answer, and later ones that do not: written for training.

    python -m lab.training.quotations.rows

checks all files and counts. A file of `texts/` has earlier texts, each with questions, and after each question
passages of later papers:

    ## earlier heading | later heading
    old: The earlier text.
    ? a question that it answers => the answer, in the text's words
    + a later passage after which that answer is no longer right
    - a later passage on the same subject after which it still is

A file of `marks/` marks such places in the folder of the same name in `lab/training/reading/folders`, letter by letter:

    > question | earlier text | later text that changes the answer
    = question | earlier text | later text that does not

A row of a table is marked by its line, or the beginning of it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal, NamedTuple
from zlib import crc32

import numpy as np

from cragraph.answers.candidates import claim_of
from cragraph.answers.later import stretches
from cragraph.language.sentences import sentence_spans
from cragraph.models.embeddings import EmbeddedEncoder
from lab.training.reading.written import FOLDERS, Written, parsed

Task = Literal["changes", "answers"]
TEXTS, MARKS = (Path(__file__).with_name(name) for name in ("texts", "marks"))
ASIDE = 6
"""About every such folder, and every such earlier text, is put aside: no network learns from it."""
WHOLE = 0.3
"""Share of the earlier texts that are read whole; of the others the sentence that answers."""
HEADED = 0.7
"""Share of the later passages that are read below their heading."""
IN_PLACE = 0.6
"""Share of the marked later texts that are read as a search would cut them out of their document."""
OTHERS, NEAR, NEAREST = 2, 4, 16
"""For each question, later passages that change something else; for each mark, later stretches near the question and
not marked, and among how many of the nearest these are drawn."""
UNCHANGED = 25
"""Other questions of each folder, whose answers no mark changes, each with so many later stretches near it:"""
BESIDE = 3


class Example(NamedTuple):
    """A question with a quotation, another text with its heading, and whether it is so: the quotation `answers`, in
    what stands around it, or a later text `changes` the answer."""

    claim: str
    heading: str
    text: str
    is_so: bool
    group: str
    task: Task = "changes"


class Asked(NamedTuple):
    """A question on an earlier text, its answer, and later passages: does each change the answer?"""

    question: str
    answer: str
    later: tuple[tuple[bool, str], ...]


class Item(NamedTuple):
    """An earlier text with its questions, and the heading of the later passages."""

    heading: str
    earlier: str
    asked: tuple[Asked, ...]


@dataclass(frozen=True)
class Mark:
    """A marked place of a folder: the documents, by number, and texts; tables as they are read."""

    question: str
    old: int
    earlier: str
    new: int
    later: str
    changes: bool


def one_line(text: str) -> str:
    """A text without line breaks."""
    return " ".join(text.split())


def items(path: Path) -> list[Item]:
    """The earlier texts of a file; `ValueError` names the line that does not keep to the form."""
    found = []
    for block in re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.M)[1:]:
        head, *lines = (line.strip() for line in block.splitlines() if line.strip())
        earlier, asked = "", []
        for line in lines:
            mark, text = line[:2], line[2:].strip()
            question, arrow, answer = text.partition(" => ")
            if line.startswith("old: "):
                earlier = line.removeprefix("old: ")
            elif mark == "? " and arrow:
                asked.append(Asked(question.strip(), answer.strip(), ()))
            elif mark in ("+ ", "- ") and asked:
                asked[-1] = asked[-1]._replace(later=(*asked[-1].later, (mark == "+ ", text)))
            else:
                raise ValueError(f"{path.name}, below {head}: a line must be as in the form: {line}")
        if not earlier or not asked or not all(one.later for one in asked):
            raise ValueError(f"{path.name}, below {head}: wanted an earlier text, a question and later passages")
        found.append(Item(head.partition(" | ")[2].strip(), earlier, tuple(asked)))
    return found


def marks(path: Path, texts: Sequence[Written]) -> list[Mark]:
    """The marks of a folder; `ValueError` names the line whose texts do not stand in it."""
    whole = [one_line(f"{text.text}\n{text.table}") for text in texts]
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        parts = [one_line(part) for part in line[2:].split(" | ")]
        if line[:2] not in ("> ", "= ") or len(parts) != 3:
            raise ValueError(f"{path.name}: a line must be as in the form: {line}")
        question, earlier, later = parts
        old = next((n for n, text in enumerate(whole) if earlier in text), None)
        new = next((n for n in reversed(range(len(whole))) if later in whole[n]), None)
        if old is None or new is None:
            raise ValueError(f"{path.name}: both texts must stand in the folder: {line}")
        shown = _as_read(texts[old], earlier), _as_read(texts[new], later)
        found.append(Mark(question, old, shown[0], new, shown[1], line[0] == ">"))
    return found


def _as_read(text: Written, marked: str) -> str:
    """A marked line of a table as the table is read; any other text as it is."""
    rows = zip(text.table.splitlines()[1:], text.text.splitlines(), strict=False) if text.table else ()
    return next((row for line, row in rows if one_line(line).startswith(marked)), marked)


def aside(group: str) -> bool:
    """Whether no network learns from a group."""
    return crc32(group.encode()) % ASIDE == 0


def examples(rng: Random) -> list[Example]:
    """Every question and mark once, with later passages that change the answer and others, drawn anew each time."""
    found = [e for path in sorted(TEXTS.glob("*.txt")) for e in _of_items(path.stem, items(path), rng)]
    for path in sorted(MARKS.glob("*.txt")):
        texts = list(parsed(FOLDERS / path.name))
        found += _of_marks(path.stem, texts, marks(path, texts), rng)
    return found


def _of_items(name: str, every: Sequence[Item], rng: Random) -> Iterator[Example]:
    changing = [(n, text) for n, item in enumerate(every) for one in item.asked for yes, text in one.later if yes]
    for number, item in enumerate(every):
        sentences = [item.earlier[start:end] for start, end in sentence_spans(item.earlier)]
        others = [text for n, text in changing if n != number]
        for one in item.asked:
            words = _words(one.answer)
            answering = max(sentences, key=lambda sentence: len(words & _words(sentence)))
            for changes, later in [*one.later, *((False, text) for text in rng.sample(others, OTHERS))]:
                earlier = item.earlier if rng.random() < WHOLE else answering
                heading = item.heading if rng.random() < HEADED else ""
                yield Example(claim_of(one.question, earlier), heading, later, changes, f"{name}-{number}")


def _of_marks(name: str, texts: Sequence[Written], every: Sequence[Mark], rng: Random) -> Iterator[Example]:
    cut = [(n, whole, last) for n, text in enumerate(texts) for whole, last in stretches(text.text)]
    for mark in every:
        claim = claim_of(mark.question, mark.earlier)

        def example(number: int, later: str, changes: bool, claim: str = claim) -> Example:
            heading = texts[number].head[1] if rng.random() < HEADED else ""
            return Example(claim, heading, later, changes, name)

        own = [whole for n, whole, last in cut if n == mark.new and mark.later.endswith(last)]
        in_place = own and len(own[-1]) >= len(mark.later) and rng.random() < IN_PLACE
        yield example(mark.new, own[-1] if in_place else mark.later, mark.changes)
        if not mark.changes:
            continue
        known = {one.later for one in every if one.changes and one.earlier == mark.earlier}
        same = {one.earlier for one in every if one.later in known}
        alien = [
            one
            for one in every
            if one.changes and one.new > mark.old and one.earlier not in same and not _overlaps(one.later, known)
        ]
        for one in rng.sample(alien, min(OTHERS, len(alien))):
            yield example(one.new, one.later, False)
        open_ = [(n, whole) for n, whole, last in cut if n > mark.old and not _overlaps(last, known)]
        near = _nearest(claim, open_)[:NEAREST]
        for number, whole in rng.sample(near, min(NEAR, len(near))):
            yield example(number, whole, False)
    asked = [
        (number, question, text.text[slice(*sentence)])
        for number, text in enumerate(texts[:-1])
        for question, span in text.asked
        if span
        for sentence in sentence_spans(text.text)
        if sentence[0] <= span[0] < sentence[1]
    ]
    changed = {one.earlier for one in every if one.changes}
    asked = [one for one in asked if not _overlaps(one_line(one[2]), changed)]
    for number, question, earlier in rng.sample(asked, min(UNCHANGED, len(asked))):
        claim = claim_of(question, earlier)
        near = _nearest(claim, [(n, whole) for n, whole, _ in cut if n > number])[:NEAREST]
        for place, whole in rng.sample(near, min(BESIDE, len(near))):
            heading = texts[place].head[1] if rng.random() < HEADED else ""
            yield Example(claim, heading, whole, False, name)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _overlaps(text: str, others: set[str]) -> bool:
    return any(text in other or other in text for other in others)


def _nearest(claim: str, cut: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    return sorted(cut, key=lambda one: -float(_vector(claim) @ _vector(one[1])))


@cache
def _vector(text: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    vector = np.array(EmbeddedEncoder().embed_documents([text])[0])
    return vector / max(float(np.linalg.norm(vector)), 1e-9)


def main() -> None:
    """Check, and count."""
    found = examples(Random(1))
    changing = sum(e.is_so for e in found)
    print(f"{len(found)} pairs of an earlier and a later text, {changing} with a change; aside: ", end="")
    print(sum(aside(e.group) for e in found))


if __name__ == "__main__":
    main()

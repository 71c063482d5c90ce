"""Questions with quotations that answer them, and with others that seem to, each with what stands around it.

Three kinds: the folders and texts of `lab.training.reading`, and the folders of `folders/`, which were written to
mislead. Of those each line of `questions.jsonl` is a question with `line`, the sentences or rows that answer it (none
for a sum, or where nothing answers), `old`, the sentence that answered it before a later paper changed it, and
`beside`, a later sentence that only seems to change it. Some have `near`, what a careless reader would give as the
answer, and `doubt`, why nothing is learned from a question. Quotations near a question that do not answer it are the
other rows, those of `near` before all; what once answered it is none of them.
"""

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cragraph import load_settings
from cragraph.answers.candidates import Candidate, candidates, claim_of, heading_of, named, surroundings
from cragraph.answers.later import heading_of as headings_of
from cragraph.answers.later import stretches
from cragraph.answers.quotations import dated, document_of
from cragraph.language.words import content_words, terms, weight
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.run import Assistant
from cragraph.types import Passage
from lab.training.quotations.rows import HEADED, MARKS, Example, marks, one_line
from lab.training.reader.made import typed
from lab.training.reading.lists import asked_of
from lab.training.reading.written import FOLDERS, Written, parsed, written

MISLEADING = Path(__file__).with_name("folders")
WORDS_SAY = 0.3
"""Weight of the share of a question's words beside the cosine, for what is near it."""
NEAR, FURTHER, OTHERS = 10, 2, 16
"""So many of the next nearest quotations, of which `FURTHER` are drawn; later stretches near a quotation are drawn of
the nearest `OTHERS`."""
OF_FOLDER, OF_TEXT, OF_MISLEADING = (4, 5), (3, 3), (6, 6)
"""How many of the nearest quotations that do not answer are rows, where one answers and where none does."""
RIGHT = 3  # quotations that answer a question, at most
CHANGED, UNCHANGED = 4, 3
"""Later stretches that change nothing, beside a quotation that another one changes, and beside any other."""
SHORTEST = 12  # characters of a candidate that is part of a line
Floats = NDArray[np.float32]


class Pool:
    """The candidates of some passages, and how near each is to a question."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages, self.all = passages, candidates(passages)
        self.vectors = vectors([f"{heading_of(passages[c.passage])} {c.read}" for c in self.all])
        self.words = [set(terms(c.text)) for c in self.all]

    def nearest(self, question: str) -> list[int]:
        """The candidates, nearest first."""
        asked = set(content_words(question))
        whole = sum(map(weight, asked)) or 1.0
        shares = [sum(map(weight, asked & words)) / whole for words in self.words]
        [own] = vectors([question])
        return [int(i) for i in np.argsort(-(self.vectors @ own + WORDS_SAY * np.array(shares)))]

    def example(self, question: str, number: int, answers: bool, group: str) -> Example:
        """A row: question and candidate, and what stands around the candidate."""
        c = self.all[number]
        passage = self.passages[c.passage]
        around = surroundings(passage["text"], c.start, c.end)
        return Example(claim_of(question, c.text), named(passage), around, answers, group, "answers")

    def rows(
        self, question: str, asked: str, right: Sequence[int], others: Sequence[int], most: int, group: str, rng: Random
    ) -> Iterator[Example]:
        """Rows of a question, worded as somebody types it: those that answer, and the nearest of the others."""
        further = others[most : most + NEAR]
        for number in right[:RIGHT]:
            yield self.example(asked, number, True, group)
        for number in [*others[:most], *rng.sample(further, min(FURTHER, len(further)))]:
            yield self.example(asked, number, False, group)


def vectors(texts: Sequence[str]) -> Floats:
    """The texts' vectors, each of length 1."""
    found = np.array(EmbeddedEncoder().embed_documents([*texts]), np.float32)
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(found / np.maximum(lengths, 1e-9), np.float32)


def answering(rng: Random) -> Iterator[Example]:
    """All rows of the folders and texts of `lab.training.reading`."""
    for path in sorted(FOLDERS.glob("*.txt")):
        texts = list(parsed(path))
        passages, asked = _documents(texts, rng)
        marked = marks(MARKS / path.name, texts) if (MARKS / path.name).exists() else []
        known = {one_line(text) for mark in marked for text in (mark.earlier, mark.later)}
        yield from _of_asked(passages, asked, OF_FOLDER, path.stem, rng, known)
    for own in written(aside=False):
        for text in own:
            passages = as_passages([{"text": text.text, "metadata": {"title": text.head[1], "filename": "a.md"}}])
            if asked := list(asked_of(text, "a.md")):
                yield from _of_asked(passages, asked, OF_TEXT, "text", rng, set())


def _documents(texts: Sequence[Written], rng: Random) -> tuple[list[Passage], list[tuple[str, tuple[str, str, str]]]]:
    """The documents of a folder under names of their own, and their questions."""
    items: list[dict[str, Any]] = []
    asked: list[tuple[str, tuple[str, str, str]]] = []
    known: set[str] = set()
    for text in texts:
        kind, title = text.head
        told = f"{kind} {title}" if rng.random() < 1 / 2 else title or kind
        name = re.sub(r"\W+", "-", told.casefold()).strip("-")[:40]
        while name in known:
            name += "x"
        known.add(name)
        filename = f"{name}.{'csv' if text.table else 'md'}"
        items.append({"text": text.text, "metadata": {"title": "" if text.table else title, "filename": filename}})
        asked += asked_of(text, filename)
    return as_passages(items), asked


def _of_asked(
    passages: Sequence[Passage],
    asked: Sequence[tuple[str, tuple[str, str, str]]],
    most: tuple[int, int],
    group: str,
    rng: Random,
    known: set[str],
) -> Iterator[Example]:
    if not candidates(passages):
        return
    pool = Pool(passages)
    for question, (name, sentence, answer) in asked:

        def answers(c: Candidate, name: str = name, sentence: str = one_line(sentence), answer: str = answer) -> bool:
            text = one_line(c.text)
            inside = sentence in text or (text in sentence and one_line(answer) in text)
            return passages[c.passage]["filename"] == name and inside

        right = [n for n, c in enumerate(pool.all) if sentence and answers(c)]
        if sentence and not right:
            continue

        def seems(number: int, right: Sequence[int] = right, answer: str = answer) -> bool:
            text = one_line(pool.all[number].text)
            states = bool(answer) and one_line(answer).lower() in text.lower()
            return number not in right and not states and not any(text in one or one in text for one in known)

        others = [n for n in pool.nearest(question) if seems(n)]
        yield from pool.rows(question, typed(question, rng), right, others, most[not sentence], group, rng)


def misleading(rng: Random) -> Iterator[Example]:
    """All rows of the folders that were written to mislead: of quotations, and of what later documents change."""
    for home in sorted(MISLEADING.iterdir()):
        with tempfile.TemporaryDirectory() as scratch:
            made = Assistant(load_settings(store=f"{scratch}/store"))
            made.ingest([home / "files"])
            lines = (home / "questions.jsonl").read_text(encoding="utf-8").splitlines()
            asked = [row for row in map(json.loads, lines) if not row.get("doubt")]
            found: dict[tuple[str, str], Passage] = {}
            for row in asked:
                for passage in made.parts.retriever([row["question"]], 30, Notes()):
                    found.setdefault((document_of(passage), passage["text"]), passage)
            yield from _of_misleading(Pool([*found.values()]), asked, home.name, rng)


def _of_misleading(pool: Pool, asked: Sequence[dict[str, Any]], group: str, rng: Random) -> Iterator[Example]:
    cut = [(passage, whole, last) for passage in pool.passages for whole, last in stretches(passage["text"])]
    near_cut = vectors([whole for _, whole, _ in cut])
    for row in asked:

        def is_line(number: int, lines: Sequence[str]) -> bool:
            c = pool.all[number]
            table = pool.passages[c.passage]["filename"].endswith(".csv")
            return any(_same(line, c.text) or (table and _row_of(line, c.text)) for line in lines)

        numbers, lines = range(len(pool.all)), row["line"]
        right = [n for n in numbers if is_line(n, lines)]
        if lines and not right:
            continue
        avoided = [text for text in (row["old"], row["beside"]) if text]

        def seems(
            number: int,
            right: Sequence[int] = right,
            avoided: Sequence[str] = avoided,
            wanted: Sequence[Sequence[str]] | None = row["answer"],
            is_line: Callable[[int, Sequence[str]], bool] = is_line,
        ) -> bool:
            text = pool.all[number].text.lower()
            states = wanted is not None and all(any(str(way).lower() in text for way in ways) for ways in wanted)
            return number not in right and not states and not is_line(number, avoided)

        typed_as = typed(row["question"], rng) if rng.random() < 1 / 2 else row["question"]
        others = [n for n in pool.nearest(row["question"]) if seems(n)]
        careless = {n for n in others if is_line(n, row.get("near", []))}
        others.sort(key=lambda n, first=careless: n not in first)  # the others stay in their order
        yield from pool.rows(row["question"], typed_as, right, others, OF_MISLEADING[0], group, rng)

        def later(
            number: int, changing: Sequence[str], left: Sequence[str], most: int, typed_as: str = typed_as
        ) -> Iterator[Example]:
            """Later stretches near a quotation: those that change the answer, and others; those `left` are neither."""
            c = pool.all[number]
            own, claim = pool.passages[c.passage], claim_of(typed_as, c.text)
            if not dated(own):
                return
            order = np.argsort(-(near_cut @ vectors([claim])[0]))
            after = [n for n in order if document_of(cut[n][0]) != document_of(own) and dated(cut[n][0]) > dated(own)]
            changes = [n for n in after if any(_same(line, cut[n][2]) for line in changing)]
            known = [*changing, *left]
            keeps = [n for n in after[:OTHERS] if not any(_same(t, cut[n][k]) for t in known for k in (1, 2))]
            for n in [*changes[:2], *rng.sample(keeps, min(most, len(keeps)))]:
                passage, whole, _ = cut[n]
                heading = headings_of(passage) if rng.random() < HEADED else ""
                yield Example(claim, heading, whole, n in changes, group, "changes")

        if row["old"]:
            for number in [n for n in numbers if is_line(n, [row["old"]])][:1]:
                yield from later(number, lines, [], CHANGED)
        for number in right[:1]:
            own = document_of(pool.passages[pool.all[number].passage])
            for passage, whole, last in cut:
                if row["beside"] and _same(row["beside"], last) and document_of(passage) != own:
                    claim = claim_of(typed_as, pool.all[number].text)
                    yield Example(claim, headings_of(passage), whole, False, group, "changes")
                    break
            yield from later(number, [], [row["old"]] if row["old"] else [], UNCHANGED)


def _same(line: str, text: str) -> bool:
    """Whether a line and a text are the same, or one is a good part of the other."""
    one, other = (" ".join(each.replace("*", "").split()).casefold() for each in (line, text))
    return bool(one and other) and (one in other or (other in one and len(other) > SHORTEST))


def _row_of(line: str, text: str) -> bool:
    """Whether a text is a line of a table as it is read: it has all cells."""
    cells = [cell.strip().casefold() for cell in line.replace('"', "").split(",") if cell.strip()]
    return bool(cells) and all(cell in " ".join(text.split()).casefold() for cell in cells)

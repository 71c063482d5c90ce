"""Questions with the parts of all passages that a search brings, of which few answer: what must be told apart.

    python -m lab.training.reading.lists DATA OUT [--articles 1500] [--texts 1500]
    python -m lab.training.reading.lists DATA OUT --aside

OUT gets lists.npz: rows as those of reader.npz, and `lists`, the number of the question that each row is a part for.
With `--aside` it gets aside.npz, all parts of the questions on the folders that no network learns from, for
`training.reading.rank`.
Three kinds: the written folders, searched as a person's own are; public questions with four paragraphs of their
article; and the written texts, alone or with another of their file. The parts are those that
`generation.ranking` reads.
"""

import argparse
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from cragraph import create_graph, load_settings
from cragraph.answers.candidates import candidates, parts_of, similarities
from cragraph.language.questions import read_question
from cragraph.language.words import content_words, weight
from cragraph.models.cache import LRU, CachedEmbeddings
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.passages import as_passages
from cragraph.protocols import Embeddings
from cragraph.run import Assistant
from cragraph.types import Passage
from lab.training.judge.prepare import minilm
from lab.training.reader.made import typed
from lab.training.reader.prepare import arrays
from lab.training.reader.rows import Example, around
from lab.training.reading.written import Written, folders, written

MOST = 6
"""Parts of a list at most: those that answer, and the likeliest of the others by words and by meaning in turn."""
UNANSWERED = 3
"""Parts of a list of which none answers."""
ASKED_OF_A_TEXT = 12
"""Questions of a written text, about."""
ALONE = 0.5
"""Share of the written texts that are read alone."""
PARAGRAPHS = 4
"""Paragraphs of an article that a public question is asked of."""


@dataclass(frozen=True)
class Listed:
    """A question with the parts that could answer it; of those that do, `span` and `evidence` are marked."""

    parts: tuple[Example, ...]
    kind: str


def documents(folder: Sequence[Written], home: Path, rng: Random) -> list[Path]:
    """Write the documents of a folder as files, half of them as plain text; the paths in order."""
    home.mkdir(parents=True)
    paths: list[Path] = []
    for number, text in enumerate(folder):
        kind, title = text.head
        name = re.sub(r"\W+", "-", (title or kind).casefold()).strip("-")[:40]
        name = f"{name}-{number}" if name in {path.stem for path in paths} else name
        plain = rng.random() < 0.5
        ending = "csv" if text.table else "txt" if plain else "md"
        paths.append(home / f"{name}.{ending}")
        written_out = f"{text.table}\n" if text.table else f"{'' if plain else '# '}{title}\n\n{text.text}\n"
        paths[-1].write_text(written_out, encoding="utf-8")
    return paths


def searched(files: Path, questions: Sequence[str], scratch: Path) -> Iterator[list[Passage]]:
    """The passages that the generator is given for each question over the files."""
    settings = load_settings(store=str(scratch / "store"), max_crag_attempts=0)
    Assistant(settings).ingest([files])
    graph = create_graph(settings).compile()
    for question in questions:
        held: list[Passage] = []
        for update in graph.stream({"question": question}, stream_mode="updates"):
            if "rerank" in update:
                held = update["rerank"]["held"]
                break
        yield held


def listed(question: str, passages: Sequence[Passage], answer: tuple[str, str, str], kind: str) -> Listed | None:
    """The parts of passages; `answer` is the file that answers, its sentence, and the words of the answer in it.

    All three are empty where nothing answers; None where the sentence stands in none of the parts.
    """
    asked = read_question(question)
    found, answered = [], False
    for part in parts_of(asked, passages, candidates(passages)):
        name = passages[part.passage]["filename"]
        spans, evidence = _places(part.text, answer) if answer[1] and name == answer[0] else ((), ())
        answered = answered or bool(evidence)
        found.append(Example(question, part.text, bool(evidence), spans, evidence, part.heading, kind))
    return Listed(tuple(found), kind) if found and (answered or not answer[1]) else None


def _places(text: str, answer: tuple[str, str, str]) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    """Where answer and sentence stand in a text; nowhere where the sentence does not."""
    _, sentence, words = answer
    start = text.find(sentence)
    if start < 0:
        return (), ()
    at = start + sentence.find(words)
    return ((at, at + len(words)),), ((start, start + len(sentence)),)


def asked_of(text: Written, name: str) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """The questions of a text, with its file's name, the sentence that answers, and the answer."""
    for question, span in text.asked:
        if span is None:
            yield question, ("", "", "")
        elif text.table:
            start = text.text.rfind("\n", 0, span[0]) + 1
            yield question, (name, text.text[start:].partition("\n")[0], text.text[slice(*span)])
        elif sentences := around(text.text, (span,)):
            sentence = text.text[sentences[0][0] : sentences[-1][1]]
            line = next((line for line in sentence.split("\n") if text.text[slice(*span)] in line), sentence)
            yield question, (name, line.strip(), text.text[slice(*span)])


def of_folders(wanted: Mapping[str, Sequence[Written]], rng: Random) -> Iterator[Listed]:
    """Every question of the folders, over the passages that a search brings."""
    for name, folder in wanted.items():
        with tempfile.TemporaryDirectory() as scratch:
            home = Path(scratch) / "files"
            paths = documents(folder, home, rng)
            rows = [row for text, path in zip(folder, paths, strict=True) for row in asked_of(text, path.name)]
            came = searched(home, [question for question, _ in rows], Path(scratch))
            kept = [
                listed(question, held, answer, "folder") for (question, answer), held in zip(rows, came, strict=True)
            ]
        lists = [one for one in kept if one]
        print(f"{name}: {len(lists)} of {len(rows)} questions with their answer found", flush=True)
        yield from lists


def of_articles(data: Path, count: int, rng: Random) -> Iterator[Listed]:
    """Public questions over their paragraph and others of its article that share the most of their words."""
    rows = [json.loads(line) for line in (data / "qa/train/squad1_train_du.jsonl").open(encoding="utf-8")]
    rows = [row for row in rows if row["answerable"] and row["answer_start"] and row.get("title")]
    articles: dict[str, dict[str, None]] = defaultdict(dict)
    for row in rows:
        articles[row["title"]][row["passages"][0]] = None
    for row in rng.sample(rows, min(count, len(rows))):
        gold, start, answer = row["passages"][0], row["answer_start"][0], row["answers"][0]
        asked = set(content_words(row["question"]))
        near = sorted(articles[row["title"]], key=lambda text: -_shared(asked, text))
        texts = [gold, *(text for text in near if text != gold and answer not in text)][:PARAGRAPHS]
        rng.shuffle(texts)
        title = row["title"].replace("_", " ")
        passages = as_passages([{"text": t, "metadata": {"title": title, "filename": str(t == gold)}} for t in texts])
        for sentence in around(gold, ((start, start + len(answer)),))[:1]:
            if one := listed(row["question"], passages, ("True", gold[slice(*sentence)], answer), "article"):
                yield one


def of_texts(count: int, rng: Random) -> Iterator[Listed]:
    """Questions of the written texts, answered or not, over their text alone or with one more of its file."""
    every = [(text, own) for own in written(aside=False) for text in own]
    for text, own in rng.sample(every, min(count // ASKED_OF_A_TEXT, len(every))):
        other = rng.choice(own)
        texts = [text, other] if other is not text and rng.random() > ALONE else [text]
        rng.shuffle(texts)
        passages = as_passages([{"text": t.text, "metadata": {"filename": str(t is text)}} for t in texts])
        for question, answer in asked_of(text, "True"):
            if one := listed(question, passages, answer, "text"):
                yield one


def _shared(asked: set[str], text: str) -> float:
    return sum(map(weight, asked & set(content_words(text))))


def thinned(one: Listed, embeddings: Embeddings) -> Listed:
    """The list with at most `MOST` parts: those that answer, and of the others the likeliest."""
    question = one.parts[0].question
    right = [part for part in one.parts if part.answerable][:2]
    others = [part for part in one.parts if not part.answerable]
    asked = set(content_words(question))
    by_words = sorted(others, key=lambda part: -_shared(asked, f"{part.heading} {part.text}"))
    cosines = similarities(embeddings, question, [f"{part.heading} {part.text}" for part in others]) if others else []
    by_meaning = [others[i] for i in np.argsort(-np.asarray(cosines))]
    turns = dict.fromkeys(id(part) for pair in zip(by_words, by_meaning, strict=True) for part in pair)
    known = {id(part): part for part in others}
    room = MOST - len(right) if right else UNANSWERED
    return Listed((*right, *(known[i] for i in [*turns][:room])), one.kind)


def table(lists: Sequence[Listed], rng: Random, worded: Callable[[str, Random], str] = typed) -> dict[str, Any]:
    """Ragged arrays of all parts, with the number of their list; each question is worded once, as somebody types it.

    A list of which an answer lies beyond what is read is left out whole.
    """
    parts: list[Example] = []
    numbers: list[int] = []
    for number, one in enumerate(lists):
        question = worded(one.parts[0].question, rng)
        parts += [replace(part, question=question) for part in one.parts]
        numbers += [number] * len(one.parts)
    found = arrays(parts, minilm() / "tokenizer.json", rng, asked=lambda question, _: question)
    if lost := {numbers[i] for i in set(range(len(parts))).difference(found["example"].tolist())}:
        return table([one for number, one in enumerate(lists) if number not in lost], rng, worded)
    return {**found, "lists": np.array(numbers, np.int32)}


def main() -> None:
    """Write the lists and print what is in them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--articles", type=int, default=1500)
    parser.add_argument("--texts", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--aside", action="store_true")
    given = parser.parse_args()
    rng = Random(given.seed)
    given.out.mkdir(parents=True, exist_ok=True)
    if given.aside:
        np.savez(given.out / "aside.npz", **table([*of_folders(folders(aside=True), rng)], rng, lambda asked, _: asked))
        return
    embeddings = CachedEmbeddings(EmbeddedEncoder(), LRU(100_000))
    lists = [
        thinned(one, embeddings)
        for one in (
            *of_folders(folders(aside=False), rng),
            *of_articles(given.data, given.articles, rng),
            *of_texts(given.texts, rng),
        )
    ]
    np.savez(given.out / "lists.npz", **table(lists, rng))
    for kind in ("folder", "article", "text"):
        own = [one for one in lists if one.kind == kind]
        rows, answered = sum(len(one.parts) for one in own), sum(any(p.answerable for p in one.parts) for one in own)
        print(f"{kind}: {len(own)} lists, {rows} parts, {answered} answered")


if __name__ == "__main__":
    main()

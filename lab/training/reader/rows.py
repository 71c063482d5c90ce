"""Questions with the text to read them against: public rows cut into windows of whole sentences."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from cragraph.language.sentences import sentence_spans
from cragraph.language.words import content_words

READ = 400
"""Characters of the longest window: the reader reads texts in parts of little less (`generation.ranking`)."""
WHOLE = 850
"""Characters of the longest text of which only the whole is known to answer."""
ELSEWHERE = 0.4
"""Share of the marked questions that are also asked of another part of their passage."""
NEAREST = 0.7
"""Share of the questions without an answer that are asked of the sentence with the most of their words; else of any."""
OVERSAMPLED = {"squad2_train_500": 3}
"""Files whose questions without an answer people wrote: they are scarce, so they are drawn more often."""
THINNED = {
    "rel_medquad": 0.0,
    "nqswap_train": 0.4,
    "qadiscourse_devtest": 0.4,
    "qadiscourse_train": 0.4,
    "qamr_dev": 0.6,
    "qamr_test": 0.6,
    "strategyqa_train": 0.5,
    "boolq_dev": 0.7,
    "boolq_train_part": 0.7,
}
"""Files of which only a share is drawn: templates, answers of the wrong kind, odd questions, no marked answer."""
SKIPPED_KINDS = frozenset({"narrative-implicit"})


@dataclass(frozen=True)
class Example:
    """A question and a window of text.

    `spans` are the character ranges that answer (empty where nobody marked them, and where there is no answer);
    `evidence` the ranges of the sentences that answer, None where it is not known which; `heading` goes before the text.
    """

    question: str
    text: str
    answerable: bool
    spans: tuple[tuple[int, int], ...] = ()
    evidence: tuple[tuple[int, int], ...] | None = ()
    heading: str = ""
    made: str = ""


def read_rows(path: Path) -> list[dict[str, object]]:
    """The rows of a file; follow-up rewriting files hold none."""
    if path.name.startswith("rw_"):
        return []
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def examples_of(row: dict, rng: Random) -> Iterator[Example]:
    """What one row teaches: its answering window, where one is marked; its passages, where it has no answer."""
    question, passages = row["question"], row["passages"]
    heading = row.get("title") or ""
    heading = heading if rng.random() < 0.5 else ""
    if row.get("kind") in SKIPPED_KINDS or not passages:
        return
    if not row["answerable"]:
        if "relevant" in row:
            return  # random negatives, too easy to teach anything
        yield window(Example(question, passages[0], False, heading=heading), None, rng)
        return
    gold = (row.get("gold") or [0])[0]
    text = passages[gold]
    known = row.get("gold_sentences")
    if known:
        spans = [find(text, row["sentences"][i]) for i in known]
        if all(spans):
            yield from parts(Example(question, text, True, (), tuple(spans), heading), spans[0], rng)
        return
    if row.get("answer_start"):
        starts = row["answer_start"]
        spans = tuple(
            (s, s + len(a)) for s, a in zip(starts, row["answers"], strict=False) if text[s : s + len(a)] == a
        )
        if not spans:
            return
        whole = row.get("kind") in ("sentence", "passage")
        if row.get("answer_sentence"):
            at = find(text, row["answer_sentence"])
            evidence = (at,) if at else around(text, spans[:1])
        else:
            evidence = around(text, spans[:1])
        if whole:
            marked = evidence if row["kind"] == "sentence" else None
            yield from parts(Example(question, text, True, (), marked, heading), spans[0], rng)
        else:
            yield from parts(Example(question, text, True, spans[:1], evidence, heading), spans[0], rng)
        return
    # Answered by the passage as a whole, or in other words: only that it answers is known.
    kind = row.get("kind")
    if kind == "yesno" or row.get("ideal") or row.get("relevant") or kind == "narrative-explicit":
        for passage in passages[:2] if row.get("ideal") else passages[:1]:
            exact = next((passage.find(a) for a in row["answers"] if len(a) > 3 and a in passage), -1)
            if exact >= 0 and kind != "yesno":
                size = len(next(a for a in row["answers"] if len(a) > 3 and a in passage))
                spans = ((exact, exact + size),)
                example = Example(question, passage, True, spans, around(passage, spans), heading)
                yield from parts(example, spans[0], rng)
            elif not row.get("ideal") or kind in ("yesno", "summary"):
                yield Example(question, passage[:WHOLE], True, (), None, heading)


def parts(example: Example, anchor: tuple[int, int], rng: Random) -> Iterator[Example]:
    """The part that answers, and for a share of the questions another of the same passage."""
    yield window(example, anchor, rng)
    other = elsewhere(example, rng) if rng.random() < ELSEWHERE else None
    if other:
        yield other


def find(text: str, part: str) -> tuple[int, int] | None:
    """Where a part stands in a text, or None."""
    at = text.find(part.strip())
    return (at, at + len(part.strip())) if at >= 0 else None


def around(text: str, spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The sentences that touch the spans."""
    return tuple((s, e) for s, e in sentence_spans(text) if any(s < b and a < e for a, b in spans))


def window(example: Example, anchor: tuple[int, int] | None, rng: Random) -> Example:
    """The example on a part of its text, as the reader meets it: whole sentences around an anchor.

    Where there is none, the anchor is a sentence that the question's words are in, so that neither the length nor the
    words of a part tell whether it answers.
    """
    sentences = sentence_spans(example.text)
    if not sentences:
        return example
    if anchor is None:
        near = rng.random() < NEAREST
        anchor = nearest(example.question, example.text, sentences) if near else rng.choice(sentences)
    inside = [i for i, (s, e) in enumerate(sentences) if s < anchor[1] and anchor[0] < e]
    if not inside:
        return example
    size = rng.choice((0, 1, 1, 1, 2, 2, 3, 99))
    before = rng.randint(0, size) if size < 99 else 99
    first, last = max(0, inside[0] - before), min(len(sentences) - 1, inside[-1] + size - min(before, size))
    if size == 99:
        last = len(sentences) - 1
    while sentences[last][1] - sentences[first][0] > READ and (first < inside[0] or last > inside[-1]):
        if first < inside[0] and (last == inside[-1] or rng.random() < 0.5):
            first += 1
        else:
            last -= 1
    start, end = sentences[first][0], sentences[last][1]
    return cut(example, start, min(end, start + WHOLE))


def nearest(question: str, text: str, sentences: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The sentence that has the most of a question's words; the first of those that have as many."""
    asked = set(content_words(question))
    return max(sentences, key=lambda span: len(asked & set(content_words(text[slice(*span)]))))


def elsewhere(example: Example, rng: Random) -> Example | None:
    """The example on another part of its text, which does not hold the answer; None where the text is too short."""
    if not example.evidence:
        return None
    held = [(s, e) for s, e in sentence_spans(example.text) if any(s < b and a < e for a, b in example.evidence)]
    answers = [example.text[a:b].casefold() for a, b in example.spans]
    sides = [example.text[: held[0][0]], example.text[held[-1][1] :]] if held else []
    sides = [side.strip() for side in sides if len(side.strip()) > 40]
    sides = [side for side in sides if not any(answer in side.casefold() for answer in answers)]
    if not sides:
        return None
    other = replace(example, text=rng.choice(sides), answerable=False, spans=(), evidence=(), made="elsewhere")
    return window(other, None, rng)


def cut(example: Example, start: int, end: int) -> Example:
    """The example on `text[start:end]`, its ranges moved along."""

    def moved(ranges: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
        return tuple((max(a, start) - start, min(b, end) - start) for a, b in ranges if a < end and b > start)

    evidence = None if example.evidence is None else moved(example.evidence)
    return replace(example, text=example.text[start:end], spans=moved(example.spans), evidence=evidence)

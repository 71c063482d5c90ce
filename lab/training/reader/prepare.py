"""The training arrays: every example as word pieces with its span, its evidence and whether it answers."""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from lab.training.judge.near import near_words, without_same
from lab.training.judge.prepare import UNKNOWN, minilm
from lab.training.reader.made import Others, changed, fragment, headed, negated, stock_of, typed, without_answer
from lab.training.reader.made_tables import table_example
from lab.training.reader.rows import OVERSAMPLED, THINNED, Example, examples_of, read_rows

MAX_QUESTION, MAX_PIECES = 48, 256
SHARES = {"changed": 0.55, "negated": 0.03, "without": 0.4, "fragment": 0.06, "headed": 0.1, "other": 0.25}
"""How many of the answered examples each kind of made example is drawn from."""
TABLES = 14_000


def examples(files: Sequence[Path], rng: Random, tables: int = TABLES) -> list[Example]:
    """One epoch: what people marked, and what is made from it."""
    real: list[Example] = []
    texts: dict[str, None] = {}
    for path in files:
        rows = read_rows(path) * OVERSAMPLED.get(path.stem, 1)
        for row in rows:
            if rng.random() > THINNED.get(path.stem, 1.0):
                continue
            texts.update(dict.fromkeys(p for p in row["passages"] if len(p) > 80))
            real.extend(examples_of(row, rng))
    answered = [e for e in real if e.answerable]
    stock = stock_of(answered, without_same(near_words(minilm())))
    others = Others(list(texts))
    made: list[Example | None] = []
    for example in answered:
        made.append(changed(example, rng, stock) if rng.random() < SHARES["changed"] else None)
        made.append(negated(example, rng) if rng.random() < SHARES["negated"] else None)
        made.append(without_answer(example, rng) if rng.random() < SHARES["without"] else None)
        made.append(fragment(example, rng) if rng.random() < SHARES["fragment"] else None)
        made.append(headed(example, rng) if rng.random() < SHARES["headed"] else None)
        made.append(others.near(example, rng) if rng.random() < SHARES["other"] else None)
    every = real + [e for e in made if e is not None] + [table_example(rng) for _ in range(tables)]
    rng.shuffle(every)
    return every


def arrays(
    chosen: Sequence[Example], tokenizer: Path, rng: Random, asked: Callable[[str, Random], str] = typed
) -> dict[str, NDArray[np.generic]]:
    """Ragged arrays: `ids` of question and text in one row, `sizes`, `answer` 0/1, `span` in pieces, `evidence` tags.

    An example whose answer lies beyond what is read gives no row; `example` has the number of each row's.
    `asked` words a question as somebody types it.
    """
    tok = Tokenizer.from_file(str(tokenizer))
    tok.no_padding()
    tok.no_truncation()
    ids, tags, sizes, answers, spans, numbers = [], [], [], [], [], []
    for start in range(0, len(chosen), 2000):
        part = chosen[start : start + 2000]
        questions = tok.encode_batch([asked(e.question, rng) for e in part], add_special_tokens=False)
        texts = tok.encode_batch([lead(e) + e.text for e in part], add_special_tokens=False)
        for number, (example, question, text) in enumerate(zip(part, questions, texts, strict=True), start):
            own = np.array(question.ids[:MAX_QUESTION], np.uint16)
            room = MAX_PIECES - len(own) - 3
            shift = len(lead(example))
            offsets = np.array(text.offsets[:room], np.int64).reshape(-1, 2) - shift
            span = (-1, -1)
            if example.spans:
                a, b = example.spans[0]
                inside = np.flatnonzero((offsets[:, 0] < b) & (offsets[:, 1] > a))
                if len(inside):
                    span = (int(inside[0]), int(inside[-1]))
            tag = np.full(len(offsets), 0, np.int8)
            if example.evidence is None:
                tag[:] = UNKNOWN
            for a, b in example.evidence or ():
                tag[(offsets[:, 0] < b) & (offsets[:, 1] > a)] = 1
            if example.answerable and example.evidence is not None and not (tag == 1).any():
                continue  # the answer was cut off with the end of the text
            ids += [own, np.array(text.ids[:room], np.uint16)]
            tags.append(tag)
            sizes.append((len(own), len(offsets)))
            answers.append(example.answerable)
            spans.append(span)
            numbers.append(number)
    return {
        "ids": np.concatenate(ids),
        "tags": np.concatenate(tags),
        "sizes": np.array(sizes, np.int32),
        "answer": np.array(answers, np.int8),
        "span": np.array(spans, np.int32),
        "example": np.array(numbers, np.int32),
    }


def lead(example: Example) -> str:
    """What goes before the text: its heading."""
    return f"{example.heading}: " if example.heading else ""

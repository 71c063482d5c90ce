"""Examples made from claims that people called supported: with one error, in other words, and before other passages.

Errors in whole sentences of a passage (`mix.py`) leave most words as they stand there. Claims that people wrote say it
in words of their own, and an error in one of these must be told from a paraphrase by what the words mean.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import log
from random import Random

import numpy as np
from numpy.typing import NDArray

from cragraph.language.words import stem
from lab.training.judge.compress import frame, retell
from lab.training.judge.edits import WIDE_EDITS, Material, apply, details, make_edit, names
from lab.training.judge.rows import SUPPORTED, UNSUPPORTED, Example, key

CLOSEST = 20
"""Passages with most of a claim's words, from which one is drawn that does not support it."""
MOST_HELD = 0.6
"""The largest share (by idf) of a claim's words in passages that are taken not to support it."""
RANDOM = 0.25
"""Share of the other passages that are drawn from all, whatever they speak of."""
EVENING = 0.6
"""Sources are drawn by this power of their size: large ones more often, but less than their share."""
BOTH = 0.3
"""Chance that a claim gets an error both as it stands and in other words."""
COMMON = frozenset({
    "the", "and", "for", "was", "were", "are", "has", "had", "have", "been", "with", "that", "this", "from", "his",
    "her", "its", "their", "they", "she", "which",
})  # fmt: skip
"""Words that say nothing of what a claim is about."""
NOT_ABOUT = ("med", "breaking", "conjnli")
"""Files whose passages are one sentence that is the claim in other words: another one would be no passage for it."""


def by_file(examples: Sequence[Example]) -> dict[str, list[Example]]:
    """Examples of each source."""
    found: dict[str, list[Example]] = {}
    for example in examples:
        found.setdefault(example.source, []).append(example)
    return found


def _draw(pools: Mapping[str, Sequence[Example]], rng: Random) -> Iterator[Example]:
    """Examples without end, large sources more often, each source in a shuffled order again and again."""
    weights = [len(pool) ** EVENING for pool in pools.values()]
    waiting: dict[str, list[Example]] = {name: [] for name in pools}
    while True:
        name = rng.choices(list(pools), weights)[0]
        if not waiting[name]:
            waiting[name] = rng.sample(list(pools[name]), len(pools[name]))
        yield waiting[name].pop()


def derived_examples(examples: Sequence[Example], count: int, everyone: Material, rng: Random) -> list[Example]:
    """`count` examples from supported claims: a quarter before other passages, the rest retold or with one error."""
    true = by_file([e for e in examples if e.label == SUPPORTED and len(e.claim.split()) >= 4])
    about = {name: pool for name, pool in true.items() if not name.startswith(NOT_ABOUT) and len(pool) > 100}
    made: list[Example] = []
    for example in _draw(true, rng):
        if len(made) >= count * 3 // 4:
            break
        made.extend(_variants(example, everyone, rng))
    made = made[: count * 3 // 4]
    return made + elsewhere(examples, about, count - len(made), rng)


def _variants(example: Example, everyone: Material, rng: Random) -> Iterator[Example]:
    """The claim with one error, and now and then in other words, with a second error."""
    retold = retell(example.claim, rng)
    if retold != example.claim:
        yield replace(example, claim=frame(retold, rng), spans=(), source=f"made/retold/{example.source}")
    own = [n for n in names(" ".join(example.passages)) if n not in example.claim]
    pool = own if len(own) > 3 and rng.random() < 0.7 else rng.sample(everyone.names, min(40, len(everyone.names)))
    far = everyone.details
    far = details(" ".join(example.passages)) if rng.random() < 0.5 else rng.sample(far, min(40, len(far)))
    material = Material(pool, [d for d in far if d.split()[-1] not in example.claim], everyone.near)
    claims = [example.claim, retold]
    for claim in dict.fromkeys(claims if rng.random() < BOTH else [rng.choice(claims)]):
        edit = make_edit(claim, rng, material, WIDE_EDITS)
        if edit:
            false, spans = apply(claim, edit)
            yield replace(example, claim=false, label=edit[1], spans=spans, source=f"made/wrong/{example.source}")


def elsewhere(
    examples: Sequence[Example], claims: Mapping[str, Sequence[Example]], count: int, rng: Random
) -> list[Example]:
    """Claims before passages of the same file that speak of the same things and do not hold them."""
    every = by_file(examples)
    sizes = {name: len(pool) ** EVENING for name, pool in claims.items()}
    made: list[Example] = []
    for name, pool in claims.items():
        share = round(count * sizes[name] / sum(sizes.values()))
        drawn = rng.choices(pool, k=share)
        documents = list(dict.fromkeys(e.passages for e in every[name]))
        for example, place in zip(drawn, _others(drawn, documents, rng), strict=True):
            if place is not None:
                source = f"made/elsewhere/{name}"
                made.append(replace(example, passages=documents[place], label=UNSUPPORTED, spans=None, source=source))
    rng.shuffle(made)
    return made


def _others(claims: Sequence[Example], documents: Sequence[tuple[str, ...]], rng: Random) -> list[int | None]:
    """For each claim the number of a document that is not its own; None where every other one holds too much of it."""
    texts = [" ".join(passages) for passages in documents]
    held = Held(texts)
    keys = [key(text) for text in texts]
    found: list[int | None] = []
    for example in claims:
        line, mine = held.shares(example.claim), key(" ".join(example.passages))
        if rng.random() < RANDOM:
            order = rng.sample(range(len(texts)), min(CLOSEST, len(texts)))
        else:
            order = np.argsort(-np.where(line < MOST_HELD, line, -1.0), kind="stable")[:CLOSEST].tolist()
        free = [i for i in order if line[i] < MOST_HELD and mine not in keys[i] and keys[i] not in mine]
        found.append(rng.choice(free) if free else None)
    return found


class Held:
    """Which documents hold how much of a claim."""

    def __init__(self, texts: Sequence[str]) -> None:
        places: dict[str, list[int]] = {}
        for number, text in enumerate(texts):
            for word in sorted(_words(text)):
                places.setdefault(word, []).append(number)
        self._places = {word: np.array(numbers) for word, numbers in places.items()}
        self._idf = {word: log(1 + len(texts) / len(numbers)) for word, numbers in places.items()}
        self._unknown = log(1 + len(texts))
        self._count = len(texts)

    def shares(self, claim: str) -> NDArray[np.float64]:
        """(documents,): the share of the claim's words, by idf, that each document holds."""
        shares = np.zeros(self._count)
        total = 0.0
        for word in sorted(_words(claim)):
            total += self._idf.get(word, self._unknown)
            if word in self._places:
                shares[self._places[word]] += self._idf[word]
        return shares / max(total, 1e-9)


def _words(text: str) -> set[str]:
    return {stem(word) for word in re.findall(r"\w{3,}", text.lower())} - COMMON

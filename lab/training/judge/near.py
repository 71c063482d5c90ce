"""Words that stand near each other in MiniLM's own word embeddings: related, seldom the same.

*Reduces* lies near *improves*, *guitar* near *violin*, *hospital* near *hotel*. A claim with one put for the other
reads as well as before and is not supported any more, which is what a model that counts words cannot see.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from cragraph.language.words import stem
from lab.training.judge.lexicon import SAME as LEXICON
from lab.training.judge.words import SAME

NEAREST, FARTHEST = 0.50, 0.30
"""Cosines between which two words are related but rarely mean the same."""
ENDINGS = ("ing", "ed", "ly", "tion", "ist", "ness", "ment", "er", "al", "ic", "ive", "s")
SHORTEST = 5
MOST_NEAR = 8


def ending(word: str) -> str:
    """The ending that says roughly which part of speech a word is."""
    return next((e for e in ENDINGS if word.endswith(e)), "")


@cache
def near_words(folder: Path) -> dict[str, Sequence[str]]:
    """For each whole word of the vocabulary, related words with the same ending, the nearest first."""
    from safetensors.numpy import load_file

    vocabulary = Tokenizer.from_file(str(folder / "tokenizer.json")).get_vocab()
    words = sorted(w for w in vocabulary if w.isascii() and w.isalpha() and w.islower() and len(w) >= SHORTEST)
    weights = load_file(folder / "model.safetensors")
    table = next(v for k, v in weights.items() if k.endswith("word_embeddings.weight")).astype(np.float32)
    table = table - table.mean(0)
    vectors = table[[vocabulary[w] for w in words]]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    stems = [stem(w) for w in words]
    endings = np.array([ending(w) for w in words])
    found: dict[str, Sequence[str]] = {}
    for start in range(0, len(words), 1000):
        cosines = vectors[start : start + 1000] @ vectors.T
        for row, line in enumerate(cosines, start):
            line = np.where((line > FARTHEST) & (line < NEAREST) & (endings == endings[row]), line, 0.0)
            near = [int(i) for i in np.argsort(-line)[:MOST_NEAR] if line[i] > 0]
            same = SAME.get(words[row], ())
            kept = [words[i] for i in near if stems[i] != stems[row] and words[i] not in same]
            if kept:
                found[words[row]] = kept
    return found


def without_same(near: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """The table without words that the lexicon calls the same in either direction."""
    kept = {
        word: [o for o in others if o not in LEXICON.get(word, ()) and word not in LEXICON.get(o, ())]
        for word, others in near.items()
    }
    return {word: others for word, others in kept.items() if others}

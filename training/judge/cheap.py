"""What words alone say of a claim: cheap features to fit a model on, beside what the network gives."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cragraph.models.grounding_features import Corpus, Floats, Ints, PieceReader, Pieces, digest, overlap

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_NEGATION = frozenset({"not", "no", "never", "none", "nor", "neither", "without", "nothing", "nobody", "cannot", "t"})
_COUNTED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_WORDS = {word: str(number) for number, word in enumerate(_COUNTED, start=1)}
_NUMBER_WORD = re.compile(r"\b(" + "|".join(_WORDS) + r")\b", re.I)

CHEAP = (
    "words", "words in one sentence", "pairs", "pairs in one sentence", "triples", "figures", "names", "negation",
    "rarest word", "digest words",
)  # fmt: skip
"""Names of the cheap features, in order."""
LEARNED = ("support logit", "no contradiction logit", "worst word", "mean word")
"""Names of the features that the network gives, in order."""


@dataclass(frozen=True)
class Grams:
    """What one set of passages holds, sorted, read once for all claims."""

    corpus: Corpus
    stems: Ints
    pairs: NDArray[np.int64]
    triples: NDArray[np.int64]
    sentence: Ints
    pair_table: NDArray[np.int64] = field(repr=False)
    numbers: frozenset[str] = field(default=frozenset())


def read_grams(reader: PieceReader, corpus: Corpus, passages: Sequence[str]) -> Grams:
    """Read the passages' words, pairs, triples and figures."""
    sentence = np.repeat(np.arange(len(corpus.spans), dtype=np.int32), np.diff(corpus.bounds))
    keep = reader.wordlike[corpus.ids]
    stems, sentence = corpus.stems[keep], sentence[keep]
    pairs = _codes(stems, 2, reader.size)
    return Grams(
        corpus,
        np.unique(stems),
        np.unique(pairs),
        np.unique(_codes(stems, 3, reader.size)),
        sentence,
        pairs,
        numbers(" ".join(passages)),
    )


def cheap_features(
    reader: PieceReader, text: str, claim: Pieces, grams: Grams, table: Floats, chosen: Sequence[int]
) -> Floats:
    """The features of one claim, in the order of `CHEAP`, each 0..1.

    `table` is the claim's `overlap` with the sentences, `chosen` its digest.
    """
    ids = claim.ids[reader.wordlike[claim.ids]]
    if not ids.size or not grams.stems.size:
        return np.zeros(len(CHEAP), np.float32)
    stems = reader.stems[ids]
    idf = reader.idf[stems]
    held = np.isin(stems, grams.stems, assume_unique=False)
    words = np.unique(stems)
    total = float(reader.idf[words].sum()) or 1.0
    pairs = _codes(stems, 2, reader.size)
    best_pairs = 0.0
    if pairs.size and grams.pair_table.size:
        found = np.isin(grams.pair_table, pairs)
        per_sentence = np.bincount(grams.sentence[1:][found], minlength=1)
        best_pairs = min(1.0, float(per_sentence.max()) / len(pairs))
    digest_words = float(table[list(chosen)].max(0).sum()) / total if chosen else 0.0
    return np.array(
        [
            float((idf * held).sum() / max(float(idf.sum()), 1e-6)),
            float(table.sum(1).max(initial=0.0)) / total,
            _share(pairs, grams.pairs),
            best_pairs,
            _share(_codes(stems, 3, reader.size), grams.triples),
            _figures(text, grams.numbers),
            _names(text, claim, reader, grams.stems),
            _negation(stems, grams, table, reader),
            1.0 - float((idf * ~held).max(initial=0.0)) / 11.0,
            digest_words,
        ],
        np.float32,
    )


def features_of(reader: PieceReader, text: str, claim: Pieces, grams: Grams) -> Floats:
    """The cheap features of a claim, or of a part of one."""
    table = overlap(reader, claim, grams.corpus)
    return cheap_features(reader, text, claim, grams, table, digest(table, grams.corpus))


def learned_features(logits: Floats, word_logits: Floats, weight: Floats) -> Floats:
    """The features of one claim that the network gives, in the order of `LEARNED`.

    `logits` is (3,) for supported, unsupported, contradicted; `word_logits` and `weight` (the idf) are (pieces,).
    """
    shifted = logits - logits.max()
    p = np.exp(shifted) / np.exp(shifted).sum()
    kept = weight > 0
    doubt = word_logits[kept] if kept.any() else word_logits
    chance = 1.0 / (1.0 + np.exp(-word_logits))
    mean = float((chance * weight).sum() / max(float(weight.sum()), 1e-6))
    worst = float(doubt.max(initial=-8.0))
    return np.array([_logit(p[0]), -_logit(p[2]), -worst, 1.0 - mean], np.float32)


def numbers(text: str) -> frozenset[str]:
    """The figures of a text without thousands separators and trailing zeros; small number words count as figures."""
    plain = {_plain(n) for n in _NUMBER.findall(text)}
    return frozenset(plain | {_WORDS[w.lower()] for w in _NUMBER_WORD.findall(text)})


def _plain(number: str) -> str:
    number = number.replace(",", "")
    return number.rstrip("0").rstrip(".") if "." in number else number


def _codes(stems: Ints, size: int, base: int) -> NDArray[np.int64]:
    """Each run of `size` words as one number."""
    wide = stems.astype(np.int64)
    length = max(0, len(wide) - size + 1)
    code = np.zeros(length, np.int64)
    for offset in range(size):
        code = code * base + wide[offset : offset + length]
    return code


def _share(own: NDArray[np.int64], held: NDArray[np.int64]) -> float:
    return float(np.isin(own, held).mean()) if own.size else 1.0


def _figures(text: str, held: frozenset[str]) -> float:
    own = numbers(text) - {"1"}
    return 1.0 - len(own - held) / len(own) if own else 1.0


def _names(text: str, claim: Pieces, reader: PieceReader, held: Ints) -> float:
    """The idf-weighted share of capitalised words, the first word apart, that the passages hold."""
    code = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    upper = (code[claim.starts] >= 65) & (code[claim.starts] <= 90)
    upper[:1] = False
    weight = reader.idf[claim.ids] * upper
    if not weight.any():
        return 1.0
    return float((weight * np.isin(reader.stems[claim.ids], held)).sum() / weight.sum())


def _negation(stems: Ints, grams: Grams, table: Floats, reader: PieceReader) -> float:
    """0 where exactly one of the claim and its closest sentence holds a negation, else 1."""
    negative = np.array(
        [reader.stems[i] for w in sorted(_NEGATION) if (i := reader.tokenizer.token_to_id(w)) is not None], np.int32
    )
    closest = int(table.sum(1).argmax()) if table.size else 0
    there = grams.corpus.stems[grams.corpus.bounds[closest] : grams.corpus.bounds[closest + 1]]
    return 1.0 - float(np.isin(stems, negative).any() != np.isin(there, negative).any())


def _logit(p: float) -> float:
    clipped = min(max(float(p), 1e-5), 1 - 1e-5)
    return float(np.log(clipped / (1 - clipped)))

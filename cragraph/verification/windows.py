"""Windows over passages (one to three adjacent sentences), and the windows that a claim most likely rests on."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cragraph.language.sentences import LONGEST, pieces, sentence_spans
from cragraph.language.words import pairs, terms, weight
from cragraph.types import Passage

SPAN: Final = 3
WIDER: Final = 0.03  # least coverage that each further sentence of a window must add
PAIRS: Final = 0.35  # weight of pairs of neighbouring words in the coverage; single words have the rest

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Window:
    """A stretch of a passage: ``passages[passage]["text"][start:end] == text``; sentences `first` to `last`."""

    passage: int
    start: int
    end: int
    text: str
    first: int
    last: int

    def overlaps(self, other: "Window") -> bool:
        """Whether the two share characters."""
        return self.passage == other.passage and self.start < other.end and other.start < self.end


@dataclass(frozen=True)
class Space:
    """Every window of some passages, and how much of each claim it covers, 0..1."""

    sentences: Sequence[Window]
    windows: Sequence[Window]
    coverage: Floats  # [window, claim], by single words
    phrases: Floats  # [window, claim], by neighbouring pairs of words
    whole: Floats  # each claim's coverage by all passages together

    @cached_property
    def likely(self) -> Floats:
        """Score of each window for each claim, [window, claim]: its coverage less `WIDER` per further sentence."""
        extra = np.array([[window.last - window.first] for window in self.windows], dtype=np.float32)
        return np.asarray((1 - PAIRS) * self.coverage + PAIRS * self.phrases - WIDER * extra.reshape(-1, 1))

    @cached_property
    def singles(self) -> Sequence[int]:
        """The window that consists of one sentence, for each sentence."""
        return [place for place, window in enumerate(self.windows) if window.first == window.last]

    def best(self, claim: int, count: int = 1) -> list[int]:
        """The likeliest windows of a claim, best first; of overlapping windows only the best."""
        chosen: list[int] = []
        for index in np.argsort(-self.likely[:, claim], kind="stable")[: count * 8].tolist():
            if not any(self.windows[index].overlaps(self.windows[other]) for other in chosen):
                chosen.append(index)
            if len(chosen) == count:
                break
        return chosen


def space(claims: Sequence[str], passages: Sequence[Passage]) -> Space:
    """The windows of the passages with their coverage of the claims; judge and signals share the last few."""
    return _space(tuple(claims), tuple(passage["text"] for passage in passages))


@lru_cache(maxsize=4)
def _space(claims: tuple[str, ...], texts: tuple[str, ...]) -> Space:
    sentences: list[Window] = []
    windows: list[Window] = []
    for number, text in enumerate(texts):
        own = sentence_windows(number, text)
        windows += _widened(text, own, len(sentences))
        sentences += own
    vocabulary: dict[object, int] = {}
    for claim in claims:
        for item in (*terms(claim), *pairs(claim)):
            vocabulary.setdefault(item, len(vocabulary))
    holds = np.zeros((len(sentences), len(vocabulary)), dtype=bool)
    for row, sentence in enumerate(sentences):
        columns = [vocabulary[item] for item in (*terms(sentence.text), *pairs(sentence.text)) if item in vocabulary]
        holds[row, columns] = True
    in_window = _joined(holds, windows)
    single, double = _weights(claims, vocabulary, whole=False), _weights(claims, vocabulary, whole=True)
    anywhere = holds.any(axis=0, keepdims=True).astype(np.float32)
    return Space(sentences, windows, in_window @ single, in_window @ double, (anywhere @ single)[0])


def _joined(holds: NDArray[np.bool_], windows: Sequence[Window]) -> Floats:
    """The terms of each window: those of all its sentences."""
    first, last = (np.array([getattr(w, end) for w in windows], dtype=np.intp) for end in ("first", "last"))
    joined = holds[first]
    for step in range(1, SPAN):
        joined = joined | holds[np.minimum(first + step, last)]
    return np.asarray(joined, dtype=np.float32)


def _weights(claims: Sequence[str], vocabulary: dict[object, int], *, whole: bool) -> Floats:
    """Weights of the vocabulary for each claim, which add up to 1: of pairs if `whole`, else of single terms."""
    table = np.zeros((len(vocabulary), len(claims)), dtype=np.float32)
    for column, claim in enumerate(claims):
        for pair in pairs(claim) if whole else ():
            table[vocabulary[pair], column] = weight(pair[0]) + weight(pair[1])
        for term in terms(claim) if not whole or not pairs(claim) else ():
            table[vocabulary[term], column] = weight(term)
    total = table.sum(axis=0, keepdims=True)
    return np.asarray(table / np.where(total > 0, total, 1), dtype=np.float32)


_CELL_END: Final = re.compile(r"\s\|\s|;\s")


@lru_cache(maxsize=2048)
def _spans(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(piece for span in sentence_spans(text) for piece in pieces(text, *span))


def sentence_windows(number: int, text: str) -> list[Window]:
    """The sentences of passage number `number` as windows."""
    return [Window(number, start, end, text[start:end], i, i) for i, (start, end) in enumerate(_spans(text))]


def _widened(text: str, sentences: Sequence[Window], offset: int = 0) -> list[Window]:
    """Windows of up to `SPAN` adjacent sentences, never two rows of a table; `offset` is the first sentence's
    number."""
    windows: list[Window] = []
    for sentence in sentences:
        rows = 0
        for last in sentences[sentence.first : sentence.first + SPAN]:
            rows += is_table_row(last.text)
            if rows > 1:
                break
            if last is sentence or last.end - sentence.start <= LONGEST:
                ends = offset + sentence.first, offset + last.first
                windows.append(
                    Window(sentence.passage, sentence.start, last.end, text[sentence.start : last.end], *ends)
                )
    return windows


@lru_cache(maxsize=4096)
def is_table_row(text: str) -> bool:
    """Whether a text is a row whose cells carry the headings of their columns: ``Revenue | 2023: 394 | 2022: 383``."""
    first, *others = _CELL_END.split(text)
    return bool(others) and all(": " in cell for cell in others) and "\n" not in first

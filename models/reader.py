"""The reader: the network that judges claims reads question and text together, and says whether and where it answers.

Each pair is read by a call of its own, unpadded, so that the same pair always gets the same figures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cragraph.models.cache import LRU
from cragraph.models.weights import CLS, DATA, SEP, Shipped, open_tokenizer, opened, side_by_side, whole

Floats = NDArray[np.float32]

MAX_QUESTION: Final = 48  # word pieces of a question that are read
MAX_PIECES: Final = 256  # word pieces of question and text together; what stands after them is not read
LONGEST_SPAN: Final = 40  # word pieces of the longest answer that is looked for inside a sentence
KEPT: Final = 2048  # readings that are remembered, so that verification does not read again what generation has read


@dataclass(frozen=True)
class ReadText:
    """Logits for one question and one text: `answer` that the text answers at all, `nowhere` that no part of it does.

    `pieces` (pieces, 3) are those that a piece starts the answer, ends it, and stands in a sentence that answers;
    `offsets` (pieces, 2) are character ranges in the text.
    """

    answer: float
    offsets: NDArray[np.int64]
    pieces: Floats
    nowhere: float

    def evidence(self, start: int, end: int) -> float:
        """Mean logit that the pieces of `text[start:end]` stand in a sentence that answers; -10 where none was read."""
        inside = self._inside(start, end)
        return float(self.pieces[inside, 2].mean()) if len(inside) else -10.0

    def span(self, start: int, end: int) -> tuple[float, int, int]:
        """The best answer inside `text[start:end]`: its logit above "nowhere", and its character range."""
        inside = self._inside(start, end)
        if not len(inside):
            return -20.0, start, start
        first, last = self.pieces[inside, 0], self.pieces[inside, 1]
        sums = first[:, None] + last[None, :]
        place = np.arange(len(inside))
        length = place[None, :] - place[:, None]
        sums = np.where((length >= 0) & (length < LONGEST_SPAN), sums, -np.inf)
        a, b = np.unravel_index(int(sums.argmax()), sums.shape)
        left, right = self.offsets[inside[a], 0], self.offsets[inside[b], 1]
        return float(sums[a, b]) - self.nowhere, int(left), int(right)

    def _inside(self, start: int, end: int) -> NDArray[np.intp]:
        return np.flatnonzero((self.offsets[:, 0] < end) & (self.offsets[:, 1] > start))


class Reader(Shipped):
    """Reads questions with texts; the same pair is read once, as so many readings are `remembered`."""

    network = "reading"

    def __init__(self, *, threads: int | None = None, folder: Path = DATA, remembered: int = KEPT) -> None:
        super().__init__(threads=threads, folder=folder)
        self._known: LRU[tuple[str, str, str], ReadText] = LRU(remembered)

    @cached_property
    def heads(self) -> Mapping[str, Sequence[float]]:
        """Weights of the heads that `generation.ranking` puts on what is read, by name."""
        heads: Mapping[str, Sequence[float]] = self._weights.card["heads"]
        return heads

    def read(self, question: str, texts: Sequence[tuple[str, str]]) -> list[ReadText]:
        """Read a question with each (heading, text), in order; what was read before is remembered."""
        keys = [(question, heading, text) for heading, text in texts]
        readings = {key: self._known.get(key) for key in keys}
        if wanted := [key for key, known in readings.items() if known is None]:
            read = partial(_read, opened(self.network, self._folder), open_tokenizer(self._folder))
            fresh_readings = side_by_side(lambda key: read(*key), wanted, self.threads, lambda key: len(key[2]))
            for key, fresh in zip(wanted, fresh_readings, strict=True):
                self._known.put(key, fresh)
                readings[key] = fresh
        return [reading for key in keys if (reading := readings[key]) is not None]


def _read(session: Any, tokenizer: Any, question: str, heading: str, text: str) -> ReadText:
    lead = f"{heading}: " if heading else ""
    asked = tokenizer.encode(whole(question), add_special_tokens=False).ids[:MAX_QUESTION]
    encoded = tokenizer.encode(lead + whole(text), add_special_tokens=False)
    room = MAX_PIECES - len(asked) - 3
    ids = np.array([[CLS, *asked, SEP, *encoded.ids[:room], SEP]], np.int64)
    types = np.zeros_like(ids)
    types[0, len(asked) + 2 :] = 1
    answer, pieces = session.run(["answer", "pieces"], {"input_ids": ids, "types": types})
    offsets = np.array(encoded.offsets[:room], np.int64).reshape(-1, 2) - len(lead)
    own = pieces[0, len(asked) + 2 : -1]
    known = offsets[:, 0] >= 0
    return ReadText(float(answer[0, 0]), offsets[known], own[known], float(pieces[0, 0, 0] + pieces[0, 0, 1]))

"""The reader: the network that judges claims reads question and text together, and finds the answer in the text.

Each pair is read by a call of its own, unpadded, so that the same pair always gets the same figures.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from cragraph.models.cache import LRU
from cragraph.models.weights import CLS, DATA, SEP, Shipped, open_tokenizer, opened, side_by_side, whole

Floats = NDArray[np.float32]
Result = TypeVar("Result")
Key = tuple[str, str, str]
"""The input of one reading: a question or claim, a heading, a text."""

MAX_QUESTION: Final = 48  # word pieces of a question that are read
MAX_CLAIM: Final = 96  # word pieces of a claim that are read
MAX_PIECES: Final = 256  # word pieces of question and text together; the rest is not read
LONGEST_SPAN: Final = 40  # word pieces of the longest answer that is looked for inside a sentence
KEPT: Final = 2048  # readings in the cache, so that verification does not repeat those of generation


@dataclass(frozen=True)
class ReadText:
    """Logits for one question and one text: `answer` that the text answers, `nowhere` that no part of it does.

    `pieces` (pieces, 3) are the logits that a piece starts the answer, ends it, and stands in a sentence that answers;
    `offsets` (pieces, 2) are character ranges in the text.
    """

    answer: float
    offsets: NDArray[np.int64]
    pieces: Floats
    nowhere: float

    def evidence(self, start: int, end: int) -> float:
        """Mean logit that the pieces of `text[start:end]` stand in a sentence that answers; -10 if none was read."""
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
    """Reads questions with texts; `remembered` readings are cached, so that equal pairs are read once."""

    network = "reading"

    def __init__(self, *, threads: int | None = None, folder: Path = DATA, remembered: int = KEPT) -> None:
        super().__init__(threads=threads, folder=folder)
        self._known: LRU[Key, ReadText] = LRU(remembered)
        self._judged: LRU[Key, float] = LRU(remembered)

    @cached_property
    def heads(self) -> Mapping[str, Sequence[float]]:
        """Weights of the heads of `answers.ranking`, by name."""
        heads: Mapping[str, Sequence[float]] = self._weights.card["heads"]
        return heads

    def read(self, question: str, texts: Sequence[tuple[str, str]]) -> list[ReadText]:
        """Read a question with each (heading, text), in order, using the cache."""
        return self._remembered(_read, self._known, [(question, heading, text) for heading, text in texts])

    def supports(self, claims: Sequence[Key]) -> list[float]:
        """Log-odds that the text of each (claim, heading, text) supports the claim, using the cache.

        A question followed by its answer is a claim too.
        """
        return self._remembered(_supports, self._judged, claims)

    def _remembered(self, call: Callable[..., Result], known: LRU[Key, Result], keys: Sequence[Key]) -> list[Result]:
        found: dict[Key, Result | None] = {key: known.get(key) for key in keys}
        if wanted := [key for key, came in found.items() if came is None]:
            call = partial(call, opened(self.network, self._folder), open_tokenizer(self._folder))
            fresh = side_by_side(lambda key: call(*key), wanted, self.threads, lambda key: len(key[2]))
            for key, result in zip(wanted, fresh, strict=True):
                known.put(key, result)
                found[key] = result
        return [came for key in keys if (came := found[key]) is not None]


class QuotationReader(Shipped):
    """Reads a question and a quotation that may answer it with another text: the same network with low-rank additions.

    The additions are a file of their own, and take the weights out of the reading network's file. Each pair is a
    question followed by the quotation, a heading, and the text.
    """

    network = "quotations"

    def __init__(self, *, threads: int | None = None, folder: Path = DATA, remembered: int = KEPT) -> None:
        super().__init__(threads=threads, folder=folder)
        self._known: LRU[Key, float] = LRU(remembered)

    def answers(self, read: Sequence[Key]) -> list[float]:
        """Log-odds that the quotation answers the question, from the text around it."""
        found: dict[Key, float | None] = {key: self._known.get(key) for key in read}
        wanted = [key for key, came in found.items() if came is None]
        for key, fresh in zip(wanted, self._log_odds(wanted, 0), strict=True):
            self._known.put(key, fresh)
            found[key] = fresh
        return [came for key in read if (came := found[key]) is not None]

    def supersedes(self, read: Sequence[Key]) -> list[float]:
        """Log-odds that a text of a later document changes the answer."""
        return self._log_odds(read, 2)

    def _log_odds(self, read: Sequence[Key], number: int) -> list[float]:
        call = partial(_log_odds_of, opened(self.network, self._folder), open_tokenizer(self._folder), number)
        return side_by_side(lambda key: call(*key), read, self.threads, lambda key: len(key[2]))


def _pair(
    tokenizer: Any, first: str, most: int, heading: str, text: str
) -> tuple[dict[str, NDArray[np.int64]], NDArray[np.int64]]:
    """The network's input for two texts, and the character ranges in `text` of the second one's pieces."""
    lead = f"{heading}: " if heading else ""
    own = tokenizer.encode(whole(first), add_special_tokens=False).ids[:most]
    encoded = tokenizer.encode(lead + whole(text), add_special_tokens=False)
    room = MAX_PIECES - len(own) - 3
    ids = np.array([[CLS, *own, SEP, *encoded.ids[:room], SEP]], np.int64)
    types = np.zeros_like(ids)
    types[0, len(own) + 2 :] = 1
    offsets = np.array(encoded.offsets[:room], np.int64).reshape(-1, 2) - len(lead)
    return {"input_ids": ids, "types": types}, offsets


def _read(session: Any, tokenizer: Any, question: str, heading: str, text: str) -> ReadText:
    pair, offsets = _pair(tokenizer, question, MAX_QUESTION, heading, text)
    answer, pieces = session.run(["answer", "pieces"], pair)
    own = pieces[0, -1 - len(offsets) : -1]
    known = offsets[:, 0] >= 0
    return ReadText(float(answer[0, 0]), offsets[known], own[known], float(pieces[0, 0, 0] + pieces[0, 0, 1]))


def _supports(session: Any, tokenizer: Any, *key: str) -> float:
    return _log_odds_of(session, tokenizer, 0, *key)


def _log_odds_of(session: Any, tokenizer: Any, number: int, claim: str, heading: str, text: str) -> float:
    """The log-odds of one of the three classes of a claim."""
    pair, _ = _pair(tokenizer, claim, MAX_CLAIM, heading, text)
    others = [*session.run(["claim"], pair)[0][0]]
    own = others.pop(number)
    return float(own - np.logaddexp(*others))

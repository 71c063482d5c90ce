"""The arrays that `featurise` wrote, as claims, as whole rows and as words."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.training.judge.rows import NOT_SUPPORTED

Array = NDArray[Any]


@dataclass(frozen=True)
class Words:
    """Words of many claims, flat: the network's logit, the missing idf and the tag of each."""

    logits: Array
    missing: Array
    tags: Array


@dataclass(frozen=True)
class Table:
    """One entry a reading: `source`, `row`, `label` (n,), `logits` (n, 3)."""

    data: dict[str, Array]

    @classmethod
    def load(cls, path: Path) -> "Table":
        """Read the arrays into memory."""
        with np.load(path) as file:
            return cls({name: file[name] for name in file.files})

    def __getitem__(self, name: str) -> Array:
        return self.data[name]

    @property
    def sources(self) -> Array:
        """(n,): the name of each reading's source."""
        return np.asarray(self["names"][self["source"]])

    @cached_property
    def _starts(self) -> Array:
        return np.concatenate([[0], np.cumsum(self["pieces"])])

    def rows(self, scores: Array, *, weakest: bool = False) -> dict[str, tuple[Array, Array]]:
        """For each file the score and label of its rows: the mean of a row's sentences, or its weakest one.

        Partial rows of dialogue sets are left out; in the oracle file, where candidate passages of a claim stand in
        rows of their own, a claim is as good as in its best row.
        """
        found: dict[str, tuple[Array, Array]] = {}
        for number, name in enumerate(self["names"].tolist()):
            here = np.flatnonzero(self["source"] == number)
            rows, first, place = np.unique(self["row"][here], return_index=True, return_inverse=True)
            score = np.bincount(place, scores[here]) / np.bincount(place)
            if weakest:
                score = np.full(len(rows), np.inf)
                np.minimum.at(score, place, scores[here])
            labels, answers = self["label"][here][first], self["answer"][here][first]
            if name.endswith("_oracle"):
                _, first, place = np.unique(answers, return_index=True, return_inverse=True)
                high = np.full(len(first), -np.inf)
                np.maximum.at(high, place, score)
                score, labels = high, labels[first]
            kept = labels != NOT_SUPPORTED if name.startswith("begin") else np.ones(len(labels), bool)
            found[name] = (score[kept], labels[kept])
        return found

    def words(self, readings: Array) -> Words:
        """All words of some readings; a word has the largest value of its pieces."""
        starts = self._starts
        pieces = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in readings])
        firsts = np.flatnonzero(~self["glued"][pieces])
        joined = {
            name: np.maximum.reduceat(self[name][pieces].astype(np.float32), firsts)
            for name in ("words", "missing", "tags")
        }
        return Words(joined["words"], joined["missing"], joined["tags"] > 0)

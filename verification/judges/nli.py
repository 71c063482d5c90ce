"""The judge with an entailment model: any sequence-classification ONNX model with its tokenizer."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cragraph.protocols import Notes
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.claims import without_markers
from cragraph.verification.judges.deciding import Thresholds, decide
from cragraph.verification.judges.features import Held, read
from cragraph.verification.judges.nli_model import NLIModel, load_nli
from cragraph.verification.windows import Space, space

THRESHOLDS: Final = Thresholds(supported=0.5, partial=0.3, contradicted=0.6)
WINDOWS: Final = 4
"""Windows that each claim is compared with."""


class NLIJudge:
    """Judges by entailment: does the window entail the claim, contradict it, or neither?

    `model` is a folder with ``model.onnx`` (or ``onnx/model.onnx``), ``tokenizer.json`` and ``config.json``, the name
    of an installed package that holds them, or a loaded `NLIModel`. Which output means what is read from
    ``id2label`` of the config. A path is checked at once and loaded at the first call. Raises WeightsError where
    files are missing or the labels do not say which is entailment.
    """

    def __init__(
        self,
        model: str | Path | NLIModel,
        *,
        thresholds: Thresholds = THRESHOLDS,
        windows: int = WINDOWS,
        strict_facts: bool = True,
        name: str = "nli",
    ) -> None:
        self.name = name
        self.thresholds = thresholds
        self.windows = windows
        self.strict_facts = strict_facts
        self.model = model if isinstance(model, NLIModel) else load_nli(model)

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict a claim; all pairs of claim and window go through the model in batches of like length."""
        texts = [without_markers(claim["text"]) for claim in claims]
        found = space(texts, passages)
        chosen = [found.best(column, self.windows) for column in range(len(texts))]
        pairs = [(found.windows[place].text, texts[column]) for column, places in enumerate(chosen) for place in places]
        scores = self.model(pairs)
        notes.ran("nli model", self.model.name)
        held = Held.of(passages)
        verdicts, done = [], 0
        for column, claim in enumerate(claims):
            own = scores[done : done + len(chosen[column])]
            done += len(chosen[column])
            pick = _pick(own, chosen[column], column, found)
            reading = read(texts[column], column, pick.place, found, held, passages) if pick.place is not None else None
            verdicts.append(
                decide(
                    claim,
                    reading,
                    pick.support,
                    pick.contradiction,
                    self.thresholds,
                    passages,
                    self.name,
                    strict=self.strict_facts,
                    by_words=False,
                )
            )
        return verdicts


@dataclass(frozen=True)
class _Pick:
    place: int | None
    support: float
    contradiction: float


def _pick(scores: NDArray[np.float32], places: Sequence[int], column: int, found: Space) -> _Pick:
    """The window that speaks most clearly; a contradiction counts as far as its window is on the claim's matter."""
    if not len(places):
        return _Pick(None, 0.0, 0.0)
    matter = np.minimum(1.0, found.coverage[list(places), column] / 0.5)
    against = scores[:, 1] * matter
    support, contradiction = float(scores[:, 0].max()), float(against.max())
    clearest: Any = scores[:, 0].argmax() if support >= contradiction else against.argmax()
    return _Pick(places[int(clearest)], support, contradiction * (1 - support))

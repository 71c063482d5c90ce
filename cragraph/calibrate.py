"""A judge's calibration on the user's own labelled answers: the meaning of its probabilities, and the threshold."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from shutil import copymode
from typing import Any, Final, Literal

import numpy as np
import yaml
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from cragraph.errors import InputError
from cragraph.passages import as_passages
from cragraph.private import private
from cragraph.protocols import Notes
from cragraph.verification.policies import (
    SUPPORTED_FROM,
    JudgeCalibration,
    calibrated_confidence,
    has_curve,
    logit,
)
from cragraph.verification.verifier import Verifier

FEWEST: Final = 20  # least answers of each label for a fit
PRIOR: Final = 5.0  # weight of the shipped calibration in rows
FOLDS: Final = 5
DRAWS: Final = 1000
BEGIN, END = "# cragraph calibrate: begin", "# cragraph calibrate: end"

Array = NDArray[Any]


@dataclass(frozen=True)
class Labelled:
    """An answer with its passages, and a person's label: do the passages support all of it?"""

    answer: str
    passages: tuple[str, ...]
    label: Literal["supported", "partial", "unsupported", "contradicted"]
    question: str | None = None

    @property
    def supported(self) -> bool:
        """Whether the answer is wholly supported."""
        return self.label == "supported"


_LABELLED: Final = TypeAdapter(Labelled)


def read_labelled(file: Path) -> list[Labelled]:
    """The labelled answers of a file of JSON lines. Raises InputError that names the line of a wrong row."""
    rows = []
    for row, where in json_rows(file):
        try:
            rows.append(_LABELLED.validate_python(row))
        except ValidationError as error:
            first = error.errors()[0]
            raise InputError(
                f"{where} is no row of labelled answers ({'.'.join(map(str, first['loc']))}: {first['msg']}); wanted "
                '{"answer", "passages": [text…], "label": "supported" or "unsupported", "question"?}.'
            ) from error
    return rows


def json_rows(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects of a file of JSON lines, each with its line. Raises InputError that names a line without an
    object."""
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                where = f"{path.name}:{number}"
                try:
                    row = json.loads(line)
                except json.JSONDecodeError as error:
                    raise InputError(f"{where} is not JSON ({error}); wanted one object per line.") from error
                if not isinstance(row, dict):
                    raise InputError(f"{where} is a {type(row).__name__}; wanted one object per line.")
                yield row, where
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); wanted a file of JSON lines.") from error


@dataclass(frozen=True)
class Calibration:
    """The fitted numbers of one judge, and their gain on rows that they were not fitted on.

    A claim's probability becomes the logistic of ``slope * logit + bias``; an answer is accepted from `threshold` up.
    `gained` is the gain in balanced accuracy, `least` to `most` its 95 % bootstrap interval.
    """

    judge: str
    slope: float
    bias: float
    threshold: float
    rows: int
    good: int
    before: dict[str, float]
    after: dict[str, float]
    gained: float
    least: float
    most: float

    @property
    def worse(self) -> bool:
        """Whether it was measured as worse than the calibration in force, so that it should not be written."""
        return self.gained < 0


def calibrate(
    rows: Sequence[Labelled],
    verifier: Verifier,
    judge: str,
    *,
    refused: float,
    threshold: float | None = None,
    in_force: Mapping[str, JudgeCalibration] | None = None,
) -> Calibration:
    """Fit on labelled answers. Raises InputError if a label has too few, or if the judge has no curve.

    `refused` is the share of good answers that may be refused. Each row is measured by a fit without its fifth of the
    rows, and compared with the present acceptance: the calibration `in_force`, and `threshold` if a person set one.
    """
    now = replace(verifier, options=replace(verifier.options, calibration=in_force)) if in_force else verifier
    judged = [_judged(row, verifier, now, judge, threshold) for row in rows]
    known = [(row.supported, *judgement) for row, judgement in zip(rows, judged, strict=True) if judgement is not None]
    good = np.array([supported for supported, *_ in known], dtype=bool)
    if min(good.sum(), (~good).sum()) < FEWEST:
        raise InputError(
            f"{len(known)} of {len(rows)} rows could be judged, {good.sum()} of them supported; wanted at least "
            f"{FEWEST} supported and {FEWEST} others: label more answers."
        )
    logits, old, accepted = (np.array([row[column] for row in known]) for column in (1, 2, 3))
    fold = np.random.default_rng(0).permutation(len(known)) % FOLDS
    probabilities, after = np.zeros(len(known)), np.zeros(len(known), dtype=bool)
    for number in range(FOLDS):
        inside, others = fold == number, fold != number
        slope, bias = _fit(logits[others], good[others])
        probabilities[inside] = _logistic(slope * logits[inside] + bias)
        after[inside] = probabilities[inside] >= _threshold(
            _logistic(slope * logits[others] + bias)[good[others]], refused
        )
    slope, bias = _fit(logits, good)
    least, most = _interval(good, accepted, after)
    gained = _accuracy(good, after) - _accuracy(good, accepted)
    return Calibration(
        judge=known[0][4],
        slope=round(slope, 4),
        bias=round(bias, 4),
        threshold=round(_threshold(_logistic(slope * logits + bias)[good], refused), 4),
        rows=len(known),
        good=int(good.sum()),
        before=_measured(good, old, accepted),
        after=_measured(good, probabilities, after),
        gained=round(gained, 4),
        least=round(least, 4),
        most=round(most, 4),
    )


def _judged(
    row: Labelled, verifier: Verifier, now: Verifier, judge: str, threshold: float | None
) -> tuple[float, float, bool, str] | None:
    """The logit of an answer's probability, its present probability and decision, and its judge; None without a
    claim."""
    given = (row.question or "", row.answer, as_passages(row.passages), Notes())
    options: dict[str, Any] = {"judge": judge, "policy": "auto", "threshold": threshold}
    checked = verifier(*given, **options)
    if not checked.counted or not has_curve(checked.claims):
        if checked.counted and checked.judge not in ("none", ""):
            raise InputError(
                f"the judge {checked.judge} has no calibrated scores; choose encoder, embedding or lexical."
            )
        return None
    current = checked if now is verifier else now(*given, **options)
    before = calibrated_confidence(current.claims)
    return logit(calibrated_confidence(checked.claims)), before, current.accepted, checked.judge


def _fit(logits: Array, good: Array) -> tuple[float, float]:
    """Slope and bias with the smallest log loss, drawn towards 1 and 0; by Newton's method."""
    x = np.column_stack([logits, np.ones(len(logits))])
    w, start = np.array([1.0, 0.0]), np.array([1.0, 0.0])
    for _ in range(30):
        probability = _logistic(x @ w)
        slope = x.T @ (probability - good) + PRIOR * (w - start)
        curve = (x * (probability * (1 - probability))[:, None]).T @ x + PRIOR * np.eye(2)
        w = w - np.linalg.solve(curve, slope)
    # A negative slope would turn the judge round: that would be noise, or swapped labels.
    return max(float(w[0]), 0.05), float(w[1])


def _threshold(probabilities: Array, refused: float) -> float:
    """The probability below which this share of the good answers lies; at least that of a supported claim."""
    return max(SUPPORTED_FROM, float(np.quantile(probabilities, refused)))


def _logistic(logits: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-logits)))


def _accuracy(good: Array, accepted: Array) -> float:
    return balanced_accuracy(good.tolist(), accepted.tolist()) or 0.0


def _measured(good: Array, probabilities: Array, accepted: Array) -> dict[str, float]:
    return {
        "balanced_accuracy": round(_accuracy(good, accepted), 4),
        "refused_good": round(float(1 - accepted[good].mean()), 4),
        "accepted_bad": round(float(accepted[~good].mean()), 4),
        "calibration_error": round(calibration_error(reliability(good.tolist(), probabilities.tolist())) or 0.0, 4),
    }


def _interval(good: Array, before: Array, after: Array) -> tuple[float, float]:
    """The 95 % bootstrap interval of the gain in balanced accuracy."""
    random = np.random.default_rng(0)
    draws = [random.integers(len(good), size=len(good)) for _ in range(DRAWS)]
    gains = [_accuracy(good[drawn], after[drawn]) - _accuracy(good[drawn], before[drawn]) for drawn in draws]
    return float(np.quantile(gains, 0.025)), float(np.quantile(gains, 0.975))


def store(calibration: Calibration, file: Path) -> None:
    """Write the calibration into a settings file, replacing an earlier one; the rest of the file stays.

    Raises InputError if the file has a calibration in another form.
    """
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    before, begun, rest = text.partition(BEGIN)
    after = rest.partition(END)[2] if begun else ""
    kept = f"{before.rstrip()}\n{after.lstrip()}".strip()
    if "calibration" in (yaml.safe_load(kept) or {}):
        raise InputError(f"{file} has a `calibration:` of its own; remove it, and this writes one in its place.")
    fields = {name: value for name, value in asdict(calibration).items() if name in ("slope", "bias", "threshold")}
    block = yaml.safe_dump({"calibration": {calibration.judge: fields}}, sort_keys=False)
    whole = f"{kept}\n\n{BEGIN}\n# fitted on {calibration.rows} rows\n{block}{END}\n".lstrip()
    part = file.with_name(f".{file.name}.part")
    with private(part, encoding="utf-8") as written:
        written.write(whole)
    if file.is_file():
        copymode(file, part)
    part.replace(file)


# -- figures --------------------------------------------------------------------------------------------------------

BINS = 10


@dataclass(frozen=True)
class Bin:
    """Scores from `low` up to `high`: their number, their mean, and the share supported."""

    low: float
    high: float
    count: int
    score: float
    supported: float


def balanced_accuracy(truth: Sequence[bool], predicted: Sequence[bool]) -> float | None:
    """Mean of the recalls of supported and unsupported rows; None if one kind is missing."""
    shares = [[guess == real for real, guess in zip(truth, predicted, strict=True) if real == side] for side in (1, 0)]
    return sum(sum(right) / len(right) for right in shares) / 2 if all(shares) else None


def reliability(truth: Sequence[bool], scores: Sequence[float]) -> list[Bin]:
    """The reliability curve: scores in bins of equal width without empty bins. 1.0 belongs to the last bin."""
    labels, values = np.asarray(truth, dtype=float), np.asarray(scores, dtype=float)
    place = np.minimum((values * BINS).astype(int), BINS - 1)
    curve = []
    for number in range(BINS):
        inside = place == number
        if inside.any():
            mean, share = float(values[inside].mean()), float(labels[inside].mean())
            curve.append(Bin(number / BINS, (number + 1) / BINS, int(inside.sum()), mean, share))
    return curve


def calibration_error(curve: Sequence[Bin]) -> float | None:
    """Expected calibration error: the distance of score and truth in each bin, weighted by rows; None without rows."""
    total = sum(b.count for b in curve)
    return sum(b.count * abs(b.score - b.supported) for b in curve) / total if total else None

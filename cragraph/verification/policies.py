"""Policies: the pure functions that turn verdicts and signals into a confidence."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from math import exp, isclose, log
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar, cast

import numpy as np
from pydantic import Field

from cragraph.errors import InputError, SettingsError, WeightsError
from cragraph.types import Label, Verdict
from cragraph.verification.decision import Threshold
from cragraph.verification.result import AGAINST, CREDIT, counted, embedded, judges_of, reliance, word_for_word

T = TypeVar("T")
Weights = Mapping[str, float]
Signals = Mapping[str, float]

EXACT: Final = frozenset({"cell", "computed"})
"""Judges that look up a cell or compute a figure again: a claim that they support is certain, without a curve."""
PENALTY: Final = 0.1
BONUS: Final = 0.1
UNCERTAINTY_COST: Final = 0.3  # what full uncertainty takes off the similarity policy: 0.1 a phrase, up to three
CONSISTENT: Final = ("internal_consistency", "knowledge_consistency")
"""Signals that count in every policy: a policy without a weight for one of them is multiplied by it."""


@dataclass(frozen=True)
class Policy:
    """A named formula with the signals it needs and its default weights."""

    name: str
    formula: Callable[[Sequence[Verdict], Signals, Weights], float] = field(repr=False)
    needs: tuple[str, ...] = ()
    weights: Weights = field(default_factory=dict)

    def __call__(
        self, verdicts: Sequence[Verdict], signals: Signals | None = None, weights: Weights | None = None
    ) -> float:
        """The formula's value, 0..1. Raises InputError when a signal that it needs was not measured."""
        signals = signals or {}
        missing = [name for name in self.needs if name not in signals]
        if missing:
            raise InputError(
                f"policy {self.name!r} came without {', '.join(missing)}; it needs the signals "
                f"{', '.join(self.needs)}: measure them first or choose the policy 'claims'."
            )
        return clamp(self.formula(verdicts, signals, checked_weights(self, weights)))

    def discounted(self, verdicts: Sequence[Verdict], signals: Signals, weights: Weights | None) -> float:
        """The policy's value, lowered for contradictions with itself or known facts and for weaker sources."""
        value = self(verdicts, signals, weights)
        for name in CONSISTENT:
            if name not in self.needs:
                value *= signals.get(name, 1.0)
        return value * reliance(verdicts)


def clamp(value: float) -> float:
    """The value moved into 0..1; anything that is not a number is an error of the caller."""
    if value != value:
        raise InputError("a confidence came out as NaN; wanted a number: a signal holds NaN, leave it out instead.")
    return min(max(value, 0.0), 1.0)


def checked_weights(policy: Policy, weights: Weights | None) -> Weights:
    """The policy's weights with the caller's in their place; raises SettingsError unless they sum to 1."""
    if not weights:
        return policy.weights
    if unknown := sorted(weights.keys() - policy.weights.keys()):
        raise SettingsError(
            f"policy {policy.name!r} has no weight {', '.join(unknown)}; it has {', '.join(policy.weights) or 'none'}."
        )
    merged = {**policy.weights, **weights}
    total = sum(merged.values())
    if any(not 0.0 <= weight <= 1.0 for weight in merged.values()) or not isclose(total, 1.0, abs_tol=1e-6):
        listed = ", ".join(f"{name}={weight:g}" for name, weight in merged.items())
        raise SettingsError(
            f"the weights of policy {policy.name!r} are {listed} (sum {total:g}); wanted weights of 0..1 that sum to 1."
        )
    return merged


def confidence_of_labels(labels: Sequence[Label]) -> float:
    """Supported share, less 0.1 for each unsupported claim, plus 0.1 when none is unsupported; clamped to 0..1.

    Claim-verification formula. It favours answers with no unsupported claim at all: one bad claim of five costs 0.2 of
    the share, 0.1 of penalty and the bonus. An unjudged claim counts as 0 and forfeits the bonus, because it may be
    unsupported; without any claim the confidence is 0.0.
    """
    if not labels:
        return 0.0
    base = sum(CREDIT[label] for label in labels) / len(labels)
    against = sum(label in AGAINST for label in labels)
    bonus = BONUS if against == 0 and "unjudged" not in labels else 0.0
    # Nine digits are plenty for a score and keep 0.8 - 0.1 from being 0.7000000000000001 or just under it.
    return clamp(round(base - PENALTY * against + bonus, 9))


def _weighed(weights: Weights, **values: float) -> float:
    return sum(weights[name] * value for name, value in values.items())


_POLICIES: Final = (
    # Claim-verification formula, see `confidence_of_labels`.
    Policy("claims", lambda verdicts, *_: confidence_of_labels([v["verdict"] for v in counted(verdicts)])),
    # The probability, fitted on labelled answers, that every claim is supported.
    Policy("calibrated", lambda verdicts, *_: calibrated_confidence(verdicts)),
    # Weighted verification formula. Favours answers in the words of their sources that name them, and forgives one
    # wrong fact.
    Policy(
        "weighted",
        lambda _, s, w: _weighed(w, alignment=s["alignment"], citation=s["citation_coverage"], facts=s["fact_score"]),
        ("alignment", "citation_coverage", "fact_score"),
        {"alignment": 0.4, "citation": 0.3, "facts": 0.3},
    ),
    # Reliability formula. Favours answers that many well-matching sources share, even where single claims are weakly
    # supported.
    Policy(
        "reliability",
        lambda _, s, w: _weighed(
            w,
            retrieval_quality=s["retrieval_quality"],
            source_agreement=s["source_agreement"],
            hallucination_score=1.0 - s["hallucination"],
            consistency_score=min(s["internal_consistency"], s["knowledge_consistency"]),
        ),
        ("retrieval_quality", "source_agreement", "hallucination", "internal_consistency", "knowledge_consistency"),
        {"retrieval_quality": 0.3, "source_agreement": 0.25, "hallucination_score": 0.25, "consistency_score": 0.2},
    ),
    # Answer-validation formula. Favours fluent answers close to question and sources; cannot see a contradiction.
    Policy(
        "similarity",
        lambda _, s, w: _weighed(w, **{name: s[name] for name in w}) - UNCERTAINTY_COST * s["uncertainty"],
        ("relevance", "faithfulness", "completeness", "uncertainty"),
        {"relevance": 0.35, "faithfulness": 0.40, "completeness": 0.25},
    ),
)
POLICIES: Final[Mapping[str, Policy]] = {policy.name: policy for policy in _POLICIES}

AUTO: Final = "auto"  # replaced by `best_policy` of the verdicts


def best_policy(verdicts: Sequence[Verdict]) -> str:
    """`calibrated` if every verdict is of a judge with a fitted curve, else `claims`."""
    return "calibrated" if has_curve(verdicts) else "claims"


def calculate_confidence(verification: Any) -> float:
    """The `claims` policy's confidence, 0..1, of a Verification, a VerificationResult, verdicts or labels.

    Labels are such as ``"supported"``, a `ClaimStatus`, or claims with one as their `status`.

    Opinions and questions among verdicts are not counted. Raises InputError for a label that does not exist.
    """
    items = getattr(verification, "claims", verification)
    if isinstance(items, str | Mapping) or not isinstance(items, Sequence):
        raise InputError(
            f"calculate_confidence got a {type(verification).__name__}; wanted a Verification or a list of labels."
        )
    verdicts = [item for item in items if isinstance(item, Mapping)]
    if verdicts and len(verdicts) == len(items):
        typed = all("type" in v for v in verdicts)
        items = [v["verdict"] for v in (counted([cast(Verdict, v) for v in verdicts]) if typed else verdicts)]
    items = [getattr(item, "status", item) for item in items]
    names = [str(item.value if isinstance(item, Enum) else item).strip().lower() for item in items]
    for item, name in zip(items, names, strict=True):
        if name not in CREDIT:
            raise InputError(f"a claim is labelled {item!r}; wanted one of {', '.join(CREDIT)}.")
    return confidence_of_labels(cast(list[Label], names))


FITTED: Final = Path(__file__).with_name("confidence.json")
"""The fitted numbers; `python -m lab.training.confidence` writes them."""
SUPPORTED_FROM: Final = 0.5  # least probability of a supported claim
MOST_SUPPORT: Final = 0.995  # support is kept between this and 1 less this, so that its logit stays finite


@dataclass(frozen=True)
class Curve:
    """The fitted meaning of one judge's scores; half of the labelled answers were good.

    A claim's probability is the logistic of ``slope * logit + bias``. An answer's probability is the logistic of the
    mean logit of its claims' probabilities, moved by the share `worst` towards the worst claim and by `number` times
    the logarithm of the number of claims: an answer of one claim has that claim's probability. `thresholds` gives, for
    a share of good answers, the confidence that refuses it.
    """

    slope: float
    bias: float
    worst: float = 0.0
    number: float = 0.0
    thresholds: Mapping[str, float] = field(default_factory=dict)

    def claim(self, support: float) -> float:
        """The probability, 0..1, that a claim with this score of the judge is supported."""
        return logistic(self.slope * logit(support) + self.bias)

    def answer(self, probabilities: Sequence[float]) -> float:
        """The probability, 0..1, that all claims with these probabilities are supported."""
        logits = [logit(probability) for probability in probabilities]
        mean = sum(logits) / len(logits)
        return logistic(mean + self.worst * (min(logits) - mean) + self.number * log(len(logits)))

    def threshold(self, refused: float) -> float:
        """The confidence below which this share of the good answers lies, interpolated between measured shares."""
        known = sorted((float(share), value) for share, value in self.thresholds.items())
        shares, values = [share for share, _ in known], [value for _, value in known]
        return round(float(np.interp(refused, shares, values)), 4) if known else SUPPORTED_FROM


@cache
def curves(path: Path = FITTED) -> Mapping[str, Curve]:
    """The fitted curves, by judge. Raises WeightsError if the file cannot be read."""
    return shipped(path, lambda file: {name: Curve(**fit["curve"]) for name, fit in file["judges"].items()})


def shipped(path: Path, read: Callable[[Any], T]) -> T:
    """What is read from a file of fitted numbers that ships. Raises WeightsError if the file cannot be read."""
    try:
        return read(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise WeightsError(
            f"{path.name} cannot be read ({type(error).__name__}: {error}); it ships with the package: reinstall "
            "cragraph (pip install --force-reinstall cragraph)."
        ) from error


def has_curve(verdicts: Sequence[Verdict]) -> bool:
    """Whether there is a counted claim, and every counted claim was judged by a judge with a curve."""
    judges = {embedded(v)[0] for v in counted(verdicts) if v["verdict"] != "unjudged"}
    return bool(judges) and judges - EXACT <= curves().keys()


@dataclass(frozen=True)
class JudgeCalibration:
    """A judge's calibration on the user's labelled answers: slope and bias as in `Curve.claim`, and the threshold."""

    slope: Annotated[float, Field(gt=0)] = 1.0
    bias: float = 0.0
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None


def recalibrated(verdict: Verdict, calibrations: Mapping[str, JudgeCalibration]) -> Verdict:
    """The verdict with its support calibrated on the user's own answers; facts against a claim still count."""
    fit = calibrations.get(verdict["judge"])
    if fit is None or verdict["verdict"] == "unjudged":
        return verdict
    fresh: Verdict = {**verdict, "support": Curve(fit.slope, fit.bias).claim(verdict["support"])}
    if fresh.get("objected") or fresh["verdict"] == "contradicted":
        fresh["support"] = min(fresh["support"], verdict["support"])
    elif fresh["support"] >= SUPPORTED_FROM:
        fresh["verdict"] = "supported"
    elif fresh["verdict"] == "supported":
        fresh["verdict"] = "partially_supported"
    return fresh


def threshold_of(
    policy: str, verdicts: Sequence[Verdict], calibrations: Mapping[str, JudgeCalibration] | None = None
) -> Threshold:
    """The threshold of an answer if no person set one: that of a calibration for its judges, else the default."""
    judges = curves().keys() & judges_of(counted(verdicts)) if policy == "calibrated" and calibrations else set()
    fitted = [
        fit.threshold for judge in judges if (fit := (calibrations or {}).get(judge)) and fit.threshold is not None
    ]
    return Threshold(max(fitted), "calibration") if fitted else Threshold()


def calibrated_confidence(verdicts: Sequence[Verdict]) -> float:
    """The probability, 0..1, that all counted claims of an answer are supported, as fitted on labelled answers.

    A claim that stands word for word in its evidence is certain and is left out; an unjudged claim has no support. If
    several judges took part, the curve with the lowest result counts. 0.0 without any claim. Raises InputError for
    verdicts of a judge without a curve.
    """
    claims = counted(verdicts)
    if not claims:
        return 0.0
    judges = {embedded(v)[0] for v in claims if v["verdict"] != "unjudged"} - EXACT
    if unknown := sorted(judges - curves().keys()):
        raise InputError(
            f"the policy 'calibrated' was fitted for the judges {', '.join(curves())}; the verdicts came from "
            f"{', '.join(unknown)}: choose the policy 'claims'."
        )
    probabilities = [
        0.0 if v["verdict"] == "unjudged" else embedded(v)[1] for v in claims if not (word_for_word(v) or is_exact(v))
    ]
    if not probabilities:
        return 1.0
    return min((curves()[judge].answer(probabilities) for judge in judges), default=0.0)


def is_exact(verdict: Verdict) -> bool:
    """Whether a claim is supported by a look-up or a computation, about which there is no doubt."""
    return verdict["judge"] in EXACT and verdict["verdict"] == "supported"


def pooled_support(supports: Sequence[float]) -> float:
    """One support, 0..1, for several claims: the logistic of their mean logit."""
    return supports[0] if len(supports) == 1 else Curve(1.0, 0.0).answer(supports)


def logistic(value: float) -> float:
    """The logistic function, of a value that is cut to -30..30."""
    return 1 / (1 + exp(-max(-30.0, min(30.0, value))))


def logit(probability: float, least: float = 1 - MOST_SUPPORT) -> float:
    """The logit of a probability that is clamped to `least`..1 - `least`."""
    kept = min(1 - least, max(least, probability))
    return log(kept / (1 - kept))

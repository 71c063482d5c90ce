"""The verifier: claims, judges, signals and a policy joined into one call that does not fail."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite
from time import perf_counter
from types import MappingProxyType, TracebackType
from typing import Final, ParamSpec, Self, TypeVar

from langchain_core.embeddings import Embeddings

from cragraph.errors import InputError, ModelError, SettingsError
from cragraph.models.cache import LRU
from cragraph.passages import as_passages
from cragraph.protocols import ClaimExtractor, Judge, Notes
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.cached_judge import VerdictCache, cached
from cragraph.verification.claims import uncovered_parts
from cragraph.verification.conflicts import find_conflicts
from cragraph.verification.judges.evidence import unjudged
from cragraph.verification.judging import Judging, judge_names
from cragraph.verification.policies import AUTO, POLICIES, Policy, Weights, best_policy, checked_weights
from cragraph.verification.result import Uncovered, Verification
from cragraph.verification.signals import (
    BY_SIMILARITY,
    SIGNALS,
    AlignmentScorer,
    ConsistencyScorer,
    Material,
    NotMeasured,
    SignalOptions,
    issues_of,
    judge_failed,
    key_claims,
)
from cragraph.verification.signals.closeness import Closeness, measure_closeness
from cragraph.verification.sources import SourceWeight, reliance, told, weighed, weights_of

logger = logging.getLogger(__name__)
T = TypeVar("T")

ALWAYS: Final = (
    "fact_score",
    "hallucination",
    "attribution_coverage",
    "retrieval_quality",
    "completeness",
    "uncertainty",
    "internal_consistency",
)
"""Signals that are measured whatever the policy, because they cost little."""


@dataclass(frozen=True)
class VerifierOptions:
    """Settings of a verifier: the confidence that is good enough, weights by policy, what to measure, cache size.

    `judge_timeout` is how many seconds a judge may take before the next one is asked; None for no limit.
    """

    threshold: float = 0.7
    weights: Mapping[str, Weights] = field(default_factory=lambda: MappingProxyType({}))
    signals: SignalOptions = field(default_factory=SignalOptions)
    measure: Sequence[str] = ALWAYS
    cache_size: int = 4096
    judge_timeout: float | None = None


@dataclass(frozen=True)
class Verifier:
    """Judges an answer claim by claim against passages, measures it, and says how confident to be of it.

    `judges` are the judges by name; `fallback` names those that take over, in order, when the one asked for fails.
    `embeddings` serve the signals that compare texts (a `CachedEmbeddings` shared with the embedding judge embeds
    each text once). `alignment` scores alignment in place of keyword overlap, and
    `consistency` the answer's consistency where a policy needs it. `source_weight` says how far the source of a
    passage is relied on. Safe to call from several threads.
    """

    judges: Mapping[str, Judge]
    fallback: Sequence[str]
    extractor: ClaimExtractor
    embeddings: Embeddings | None = None
    options: VerifierOptions = field(default_factory=VerifierOptions)
    alignment: AlignmentScorer | None = None
    consistency: ConsistencyScorer | None = None
    policies: Mapping[str, Policy] = field(default_factory=lambda: POLICIES)
    spare_extractor: ClaimExtractor | None = None
    source_weight: SourceWeight | None = None
    cache: VerdictCache = field(init=False, repr=False)
    _judging: Judging = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in self.fallback:
            _known("judge", name, self.judges)
        for name in self.options.measure:
            _known("signal", name, SIGNALS)
        for name, weights in self.options.weights.items():
            checked_weights(_known("policy", name, self.policies), weights)
        object.__setattr__(self, "cache", LRU(self.options.cache_size))
        # One judge under two names keeps one wrapper, so that it is recognised.
        wrapped = {id(judge): cached(judge, self.cache, name) for name, judge in self.judges.items()}
        behind = {name: wrapped[id(judge)] for name, judge in self.judges.items()}
        judging = Judging(behind, self.fallback, self.extractor, self.spare_extractor, self.options.judge_timeout)
        object.__setattr__(self, "_judging", judging)

    def __call__(
        self,
        question: str,
        answer: str,
        passages: Sequence[Passage],
        notes: Notes,
        *,
        judge: str = "embedding",
        policy: str = AUTO,
        policy_scores: bool = False,
        known_facts: Sequence[str] = (),
    ) -> Verification:
        """Verify an answer; raises SettingsError for an unknown judge or policy, and nothing else.

        The policy ``"auto"`` is the best one for the verdicts at hand (`best_policy`); the result names it.
        When verification fails altogether, the result holds the answer unjudged with confidence 0.0, says so in its
        issues, and the failure is logged. What was degraded is added to `notes` and is in the result.
        """
        _known("judge", judge, self.judges)
        if policy != AUTO:
            _known("policy", policy, self.policies)
        start = perf_counter()
        mine = Notes()
        try:
            found = self._verified(question, answer, passages, mine, judge, policy, policy_scores, known_facts)
        # The answer must come back whatever happens to its verification.
        except Exception as error:
            logger.exception("verification failed; the answer is returned unjudged")
            mine.degraded(f"Verification failed ({type(error).__name__}: {error}).")
            found = failed_verification(answer, policy, mine, self.options.threshold)
        _pass_on(mine, notes)
        return replace(found, ms=(perf_counter() - start) * 1000)

    def judged(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, judge: str, question: str = ""
    ) -> list[Verdict]:
        """Verdicts on given claims, by the judge that was asked for or those that stand in for it."""
        _known("judge", judge, self.judges)
        return self._judging.claims(self._judging.order(judge), claims, passages, notes, question=question)

    def _verified(
        self,
        question: str,
        answer: str,
        passages: Sequence[Passage],
        notes: Notes,
        judge: str,
        policy: str,
        policy_scores: bool,
        known_facts: Sequence[str],
    ) -> Verification:
        asked = [] if policy == AUTO else [policy]
        names = list(self.policies) if policy_scores else asked
        needed = [signal for name in names for signal in self.policies[name].needs]
        wanted = list(dict.fromkeys([*self.options.measure, *needed]))
        with Sides() as sides:
            aligned = consistent = None
            if self.consistency is not None and "internal_consistency" in needed:
                consistent = sides.start(self._consist, answer, known_facts, notes)
            if self.alignment is not None and "alignment" in wanted and passages:
                aligned = sides.start(self._align, question, answer, passages, notes)
            verdicts = self._judging.answer(judge, answer, passages, notes, question=question)
            weights = weights_of(passages, self.source_weight)
            again = partial(self._judging.claims, self._judging.order(judge), notes=notes, question=question)
            verdicts = weighed(verdicts, passages, weights, again)
            known = None
            if known_facts:
                known = sides.start(self._know, judge, verdicts, known_facts, notes)
            closeness = closeness_for(wanted, self.embeddings, question, answer, verdicts, passages, notes)
            material = Material(
                answer=answer,
                passages=passages,
                verdicts=verdicts,
                closeness=closeness,
                question=question,
                alignment=aligned() if aligned else None,
                consistency=consistent() if consistent else None,
                knowledge=known() if known else (),
                weights=weights,
                options=self.options.signals,
            )
        measured = measure(wanted, material, notes)
        if "fact_score" in measured.signals and judge_failed(key_claims(verdicts)):
            notes.degraded("No judge could verify the facts; the fact score of 0.5 only says that it is not known.")
        if policy == AUTO:
            policy = best_policy(verdicts)
        scores = self._scores(names or [policy], policy, verdicts, measured, notes)
        uncovered = tuple(uncovered_parts(answer, verdicts))
        return Verification(
            confidence=scores[policy] if policy in scores else scores["claims"],
            claims=tuple(verdicts),
            signals=MappingProxyType(dict(measured.signals)),
            issues=(
                *issues_of(measured.signals),
                *issues_besides(verdicts, uncovered, passages),
                *told(verdicts, passages, weights),
            ),
            judge=judge_names(verdicts),
            policy=policy if policy in scores else "claims",
            policy_scores=MappingProxyType(scores),
            degraded=tuple(notes.sentences),
            uncovered=uncovered,
            threshold=self.options.threshold,
        )

    def _scores(
        self, names: Sequence[str], policy: str, verdicts: Sequence[Verdict], measured: "Measured", notes: Notes
    ) -> dict[str, float]:
        """The policies' values; one whose signals are missing has none, and `claims` stands in for the chosen one."""
        scores = {}
        for name in names:
            try:
                value = self.policies[name](verdicts, measured.signals, self.options.weights.get(name))
            except InputError as error:
                reasons = [measured.missing[s] for s in self.policies[name].needs if s in measured.missing]
                notes.degraded(f"Policy {name!r} could not be computed: {'; '.join(reasons) or error}.")
            else:
                scores[name] = round(value * reliance(verdicts), 6)
        if policy not in scores:
            scores["claims"] = round(POLICIES["claims"](verdicts) * reliance(verdicts), 6)
            notes.degraded(f"The confidence is that of the policy 'claims' instead of {policy!r}.")
        return scores

    def _align(self, question: str, answer: str, passages: Sequence[Passage], notes: Notes) -> float | None:
        """The injected scorer's alignment over the top passages."""
        scorer = self.alignment
        if scorer is None:
            return None
        return scored("alignment", scorer.name, lambda: scorer(question, answer, passages, notes), notes)

    def _consist(self, answer: str, known_facts: Sequence[str], notes: Notes) -> float | None:
        """The injected scorer's consistency of the answer with itself and the known facts."""
        scorer = self.consistency
        if scorer is None:
            return None
        return scored("consistency", scorer.name, lambda: scorer(answer, known_facts, notes), notes)

    def _know(
        self, judge: str, verdicts: Sequence[Verdict], facts: Sequence[str], notes: Notes
    ) -> Sequence[Verdict] | None:
        """The answer's claims judged against the known facts; None when no judge could."""
        claims = [Claim(text=v["text"], start=v["start"], end=v["end"], type=v["type"]) for v in verdicts]
        found = self._judging.claims(self._judging.order(judge), claims, as_passages(facts), notes)
        return None if judge_failed(found) else found


def _pass_on(mine: Notes, notes: Notes) -> None:
    for sentence in mine.sentences:
        notes.degraded(sentence)
    notes.called(mine.calls)
    for role, name in mine.models.items():
        notes.ran(role, name)


def _known(kind: str, name: str, table: Mapping[str, T]) -> T:
    if name not in table:
        raise SettingsError(f"there is no {kind} {name!r}; choose one of {', '.join(table)}.")
    return table[name]


@dataclass(frozen=True)
class Measured:
    """Signals by name, each 0..1, and for each that could not be measured the reason."""

    signals: Mapping[str, float]
    missing: Mapping[str, str] = field(default_factory=dict)


def closeness_for(
    wanted: Collection[str],
    embeddings: Embeddings | None,
    question: str,
    answer: str,
    verdicts: Sequence[Verdict],
    passages: Sequence[Passage],
    notes: Notes,
) -> Closeness:
    """The similarities that the wanted signals need; nothing is embedded when none needs any."""
    if not BY_SIMILARITY & set(wanted):
        return Closeness()
    # Without relevance among the wanted signals, question and answer need not be embedded.
    asked = question if "relevance" in wanted else ""
    texts = [verdict["text"] for verdict in verdicts]
    whole = "source_agreement" in wanted
    return measure_closeness(embeddings, asked, answer, texts, passages, notes, whole=whole)


def measure(
    wanted: Collection[str],
    material: Material,
    notes: Notes,
    table: Mapping[str, Callable[[Material], float]] = SIGNALS,
) -> Measured:
    """Measure the wanted signals; one that has nothing to be measured on is left out, one that breaks is noted too."""
    signals: dict[str, float] = {}
    missing: dict[str, str] = {}
    for name in wanted:
        try:
            value = float(table[name](material))
            if not isfinite(value):
                raise ValueError(f"it came out as {value}")
        except NotMeasured as reason:
            missing[name] = str(reason)
        # One broken signal must not take the others with it.
        except Exception as error:
            missing[name] = f"{type(error).__name__}: {error}"
            notes.degraded(f"The signal {name!r} could not be measured ({missing[name]}).")
        else:
            signals[name] = round(min(max(value, 0.0), 1.0), 6)
    return Measured(signals, missing)


P = ParamSpec("P")


class Sides:
    """A few threads for slow checks, started with the first of them and gone at the end of the block.

    Quick checks are not worth a thread: a signal takes less time than starting one.
    """

    def __init__(self, most: int = 2) -> None:
        self._most = most
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            # When the block failed nobody will ask for the results, and a stalled server must not hold the answer.
            self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def start(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Callable[[], T]:
        """Start a call in the caller's context; the returned function waits for its result or raises its error."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._most, "cragraph-check")
        context = copy_context()
        return self._pool.submit(lambda: context.run(function, *args, **kwargs)).result


OWN: Final[Mapping[str, str]] = MappingProxyType(
    {"alignment": "keyword overlap", "consistency": "facts, opposites and negation"}
)
"""What a signal measures by where its scorer fails."""


def scored(what: str, name: str, score: Callable[[], float], notes: Notes) -> float | None:
    """A scorer's score, 0..1; None, and noted, when it fails: the signal's own measure stands in."""
    try:
        value = float(score())
        if not 0.0 <= value <= 1.0:
            raise ModelError(f"it returned {value}; wanted a number of 0..1")
    # A model's server may raise anything; what the signal measures by itself stands in.
    except Exception as error:
        notes.degraded(
            f"The {what} scorer {name!r} failed ({type(error).__name__}: {error}); {what} was measured by {OWN[what]}."
        )
        return None
    return value


def failed_verification(answer: str, policy: str, notes: Notes, threshold: float = 0.7) -> Verification:
    """What a caller gets when verification failed: the whole answer as one unjudged claim, confidence 0.0, and why."""
    whole = Claim(text=answer, start=0, end=len(answer), type="factual")
    why = "Verification failed: nothing was judged, and the confidence of 0.0 says only that"
    return Verification(
        confidence=0.0,
        claims=(unjudged(whole, why + "."),) if answer.strip() else (),
        issues=(why,),
        policy=policy,
        degraded=tuple(notes.sentences),
        threshold=threshold,
        failed=True,
    )


def issues_besides(
    verdicts: Sequence[Verdict], uncovered: Sequence[Uncovered], passages: Sequence[Passage]
) -> list[str]:
    """Issues that are no signal's: claims without a verdict, parts without a claim, passages at odds."""
    lost = sum(verdict["verdict"] == "unjudged" for verdict in verdicts)
    return [
        *([f"{lost} claim(s) could not be judged"] if lost else []),
        *(f"Part of the answer was not checked: “{part['text']}”" for part in uncovered),
        *(conflict.issue for conflict in find_conflicts(passages)),
    ]

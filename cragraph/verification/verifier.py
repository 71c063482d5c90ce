"""The verifier: from an answer over claims, judges, signals and policy to a `Verification`, in one call."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import Any, Final, TypeVar

from cragraph.choices import JUDGES
from cragraph.errors import InputError, ModelError, SettingsError, encodable
from cragraph.language.facts import Fact
from cragraph.language.languages import LET_IT_JUDGE, SET_MODEL, seems_english, unread
from cragraph.language.markers import without_markers
from cragraph.language.words import shortened
from cragraph.models.cache import LRU
from cragraph.models.examined import NEUTRAL, Worth
from cragraph.passages import as_evidence, as_passages, as_question
from cragraph.protocols import (
    Answered,
    AnswerScorer,
    ClaimExtractor,
    Embeddings,
    Judge,
    Notes,
    Scorer,
    deadline,
    reason_of,
    remaining,
    stand_in,
)
from cragraph.types import EMBEDDED, EVADES, Claim, Conflict, OnLowConfidence, Passage, Verdict
from cragraph.verification import policies
from cragraph.verification.claims import SentenceExtractor, uncovered_parts
from cragraph.verification.computed import Recomputed
from cragraph.verification.conflicts import MOST_CONFLICTS, find_conflicts, plainer, same_but_one
from cragraph.verification.decision import WORTH_SHOWING, Threshold
from cragraph.verification.evidence import (
    ANSWERS_ELSE,
    Judged,
    Written,
    answers_else,
    merged,
    ratio_of_facts,
    unstated,
    updated,
    without_figure,
    written_probability,
)
from cragraph.verification.judges import JudgeChain, VerdictCache, judge_names, over_limit, within
from cragraph.verification.judges.llm import LLMJudge, ModelReading
from cragraph.verification.judges.verdicts import cell_verdict, claim_of, unjudged, verdict_of
from cragraph.verification.policies import AUTO, POLICIES, JudgeCalibration, Weights, is_exact
from cragraph.verification.result import (
    ADDRESSED,
    DIFFER,
    IN_FAVOUR,
    UNCHECKED,
    UNJUDGED,
    Reading,
    Verification,
    counted,
    embedded,
    judges_of,
)
from cragraph.verification.signals import (
    SIGNALS,
    Material,
    SignalOptions,
    compared_claims,
    issues_of,
    measure,
    quoted_contradictions,
)
from cragraph.verification.sources import (
    SourceWeight,
    attributed,
    measure_closeness,
    weak_source_issues,
    weigh_sources,
    weights_of,
)

logger = logging.getLogger(__name__)
T = TypeVar("T")
Texts = Mapping[str, str]
Replies = Mapping[str, Any]
Contradicts = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
"""For each pair, the probability, 0..1, that the first text contradicts the second."""

ALWAYS: Final = ("fact_score", "attribution_coverage", "internal_consistency")
"""Signals that are measured whatever the policy: for issues, sources and the confidence. A policy names its others."""

OTHERWISE: Final = "“{other}” contradicts the answer and says it more plainly than what supports it: “{quote}”."
JOINED: Final = frozenset({AUTO, "calibrated"})
"""Policies, by the requested name, whose confidence is multiplied by the reader's probability."""
MOST_COMPARED: Final = 60  # contradictions between passages that are looked through for those of the evidence
OPEN: Final = "This part of the question may be unanswered"
NOWHERE: Final = "No passage has this in any form"
MOST_UNREAD: Final = 0.5
"""The highest confidence if the reader could not read question and answer, as in other languages."""
EITHER: Final = 0.5
"""Factor on the confidence if passages answer the question differently and none is known to be newer."""
NEWER: Final = 0.8  # the same where something does; quotations show both, the newer one first, and lose nothing
FIT_UNKNOWN: Final = (
    f"Nothing says whether the answer fits the question: the confidence is by words alone, not calibrated, and at most "
    f"{MOST_UNREAD:.2f}."
)
CONTRADICTED: Final = 0.45
"""Least probability, read both ways, that two claims which differ in one place contradict each other."""
ELSE_WANTS: Final[Mapping[str, str]] = {"custom": "a judge passed to create_graph(judge=...)"}
"""The requirement of a judge that is not available, if the table of judges names none."""
BY_MODEL: Final = frozenset({"auto", "llm", "cascade"})
"""Judges, by the requested name, with which a chat model judges too: always with `llm`, with the others only if its
verdict can add something to the embedded reading."""
FOREIGN_SUPPORT: Final = 0.2
"""Least support that the embedded judge's reading counts as, where passages are in a language that it does not read."""
FIRM: Final = 0.9
"""Least probability by the embedded reading at which the model that wrote the answer is not asked to judge it."""
VERY_FIRM: Final = 0.95  # the same for an answer that no model wrote


@dataclass(frozen=True)
class VerifierOptions:
    """Settings of a verifier."""

    calibration: Mapping[str, JudgeCalibration] = field(
        default_factory=dict
    )  # calibrations of judges on the user's own answers
    weights: Mapping[str, Weights] = field(default_factory=dict)  # by policy
    signals: SignalOptions = field(default_factory=SignalOptions)
    measure: Sequence[str] = ALWAYS
    cache_size: int = 4096
    judge_timeout: float | None = 300.0  # seconds after which the next judge is asked


@dataclass(frozen=True)
class Verifier:
    """Judges an answer claim by claim against passages, measures signals, and makes the confidence.

    Safe to call from several threads.
    """

    judges: Mapping[str, Judge]
    fallback: Sequence[str]  # judges that take over, in order, when the one asked for fails
    extractor: ClaimExtractor
    embeddings: Embeddings | None = None  # for the signals that compare texts; `CachedEmbeddings` can be shared
    options: VerifierOptions = field(default_factory=VerifierOptions)
    alignment: Scorer | None = None  # a scorer in place of keyword overlap
    consistency: Scorer | None = None  # a scorer of consistency, if a policy needs it
    source_weight: SourceWeight | None = None  # the weight of a passage's source
    scorer: AnswerScorer | None = None  # the reader: does the answer answer the question?
    contradicts: Contradicts | None = None  # the network: do two nearly equal claims contradict each other?
    model: LLMJudge | None = None  # a chat model that judges beside the embedded judges
    cache: VerdictCache = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in self.fallback:
            _known("judge", name, self.judges)
        for name in self.options.measure:
            _known("signal", name, SIGNALS)
        for name, weights in self.options.weights.items():
            policies.checked_weights(_known("policy", name, POLICIES), weights)
        object.__setattr__(self, "cache", LRU(self.options.cache_size))

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
        threshold: float | None = None,
        on_low_confidence: OnLowConfidence = "doubt",
        showing: float = WORTH_SHOWING,
        written: Written | None = None,
        ratio: float = 1.0,
        computed: Recomputed | None = None,
        deadline_s: float | None = None,
    ) -> Verification:
        """Verify an answer, and decide on it.

        Raises SettingsError for an unknown judge or policy, InputError for an answer that is no text, and nothing else.

        If verification fails altogether, the result has the answer unjudged with confidence 0.0 and an issue, and the
        failure is logged. Degradations are added to `notes` and are in the result.

        Args:
            policy: ``"auto"`` takes `best_policy` of the verdicts; the result names the policy taken.
            threshold: the threshold that a person set, 0..1.
            on_low_confidence: the decision below the threshold (`decision.decide`).
            showing: the least confidence of an answer that is shown as doubtful.
            written: what is known of an answer that a chat model wrote (`verification.evidence`).
            ratio: the likelihood ratio of all else that is known of the answer.
            computed: the recomputed result of a computed answer; it judges the answer in place of a network.
            deadline_s: seconds after which slow judges and models are no longer waited for.
        """
        if not isinstance(answer, str):
            raise InputError(f"The answer came as a {type(answer).__name__}; wanted text: give a string.")
        question, answer = as_question(question), encodable(answer)
        if policy != AUTO:
            _known("policy", policy, POLICIES)
        chosen = list(POLICIES) if policy_scores else [] if policy == AUTO else [policy]
        start, own = perf_counter(), Notes()
        given, passages = passages, as_evidence(passages, own.degraded)
        case = _Case(
            question=question,
            answer=answer,
            passages=passages,
            notes=own,
            chain=self._chain(judge),
            judge=judge,
            policy=policy,
            chosen=chosen,
            known_facts=known_facts,
            written=written,
            ratio=ratio,
            computed=computed,
            given=given,
        )
        try:
            with deadline(deadline_s):
                outcome = self._verified(case)
        # The answer must come back whatever happens to its verification.
        except Exception as error:
            logger.exception("verification failed; the answer is returned unjudged")
            own.degraded(f"Verification failed ({reason_of(error)}).")
            outcome = _failed(answer, policy)
        notes.add(own)
        notes.ran("judge", outcome.judge)
        line = policies.threshold_of(outcome.policy, outcome.claims, self.options.calibration)
        line = line if threshold is None else Threshold(threshold, "person")
        return outcome.changed(
            degraded=tuple(own.sentences),
            threshold=line.at,
            set_by=line.set_by,
            on_low_confidence=on_low_confidence,
            showing=showing,
            ms=(perf_counter() - start) * 1000,
            question=question,
            answer=answer,
            passages=tuple(passages),
        )

    def judged(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, judge: str, question: str = ""
    ) -> list[Verdict]:
        """Verdicts on given claims, by the requested judge or its fallbacks."""
        return _judged(self._chain(judge), claims, passages, notes, question)

    def _verified(self, case: "_Case") -> Verification:
        """Claims, verdicts, sources, signals and confidence of one case."""
        needed = [signal for name in case.chosen for signal in POLICIES[name].needs]
        wanted = dict.fromkeys([*self.options.measure, *needed])
        if case.known_facts:
            wanted["knowledge_consistency"] = None
        weights = weights_of(case.passages, self.source_weight)
        pool = ThreadPoolExecutor(3, "cragraph-check")
        try:
            # What waits for a model's server runs beside the judging.
            waiting = {name: _started(pool, call) for name, call in self._model_calls(case, wanted, needed).items()}
            verdicts = self._verdicts(case, weights) if case.computed is None else case.computed.verdicts(case.passages)
            if case.known_facts and verdicts:
                facts, claims = as_passages(case.known_facts), [claim_of(verdict) for verdict in verdicts]
                waiting["knowledge"] = _started(pool, lambda: case.chain(claims, facts, case.notes))
            texts = ["" if over_limit(verdict) else verdict["text"] for verdict in verdicts]
            closeness = measure_closeness(
                self.embeddings, case.question, case.answer, texts, case.passages, case.notes, wanted
            )
            verdicts = attributed(verdicts, case.passages, closeness.rows, self.options.signals.attribution_threshold)
            replies = {name: wait() for name, wait in waiting.items()}
        finally:
            # When this failed nobody will ask for the results, and a stalled server must not hold the answer.
            pool.shutdown(wait=False, cancel_futures=True)
        material = Material(
            answer=case.answer,
            passages=case.passages,
            verdicts=verdicts,
            closeness=closeness,
            question=case.question,
            alignment=replies.get("alignment"),
            consistency=replies.get("consistency"),
            clashes=self._clashes(verdicts, case.notes) if "internal_consistency" in wanted else (),
            knowledge=replies.get("knowledge", ()),
            weights=weights,
            options=self.options.signals,
        )
        signals, missing = measure(wanted, material, case.notes)
        found = self._weighed(case, material, signals, missing, replies)
        judged = self._by_model(case, found) if self._asks(case, found) else None
        if judged is None:
            return found
        again = replace(material, verdicts=attributed(
            judged[0], case.passages, closeness.rows, self.options.signals.attribution_threshold
        ))  # fmt: skip
        signals, missing = measure(wanted, again, case.notes)
        return self._weighed(case, again, signals, missing, replies, judged[1])

    def _asks(self, case: "_Case", found: Verification) -> bool:
        """Whether a chat model is asked to judge: if it is wanted, and its verdict can change the decision."""
        if case.computed is not None or not found.claims or not any(p["text"].strip() for p in case.passages):
            return False
        if self.model is None or not self.is_asked(case.judge):
            return False
        # A model that judges its own answer adds less; another model always judges an answer that a model wrote.
        others = case.written is not None and case.written.model != self.model.caller.title
        least = FIRM if case.written is not None else VERY_FIRM
        firm = found.confidence >= least and found.supported_by_passages and not found.conflicts
        return case.judge == "llm" or others or not firm

    def is_asked(self, judge: str) -> bool:
        """Whether a chat model judges with this judge if the embedded reading is not firm."""
        if self.model is None or judge not in BY_MODEL or ("custom" in self.judges and judge == "auto"):
            return False
        return judge == "llm" or self.model.caller.worth.judges

    def _by_model(self, case: "_Case", found: Verification) -> tuple[list[Verdict], Judged] | None:
        """The chat model's verdicts joined with the embedded ones, and its judgement of the whole answer."""
        model, own = self.model, found.claims
        assert model is not None
        claims = [claim_of(verdict) for verdict in own if not over_limit(verdict) and not is_exact(verdict)]
        limits = [limit for limit in (self.options.judge_timeout, remaining()) if limit is not None]

        def call() -> ModelReading:
            return within(
                min(limits, default=None),
                partial(model.read, claims, case.passages, case.notes, question=case.question),
            )

        reading = stand_in(f"Judge {model.name!r}", call, "the embedded judge's verdicts stand", case.notes)
        if reading is None:
            return None
        said = zip(claims, reading.verdicts, strict=True)
        by_place = {(claim["start"], claim["end"], claim["text"]): verdict for claim, verdict in said}
        worth = model.caller.worth if reading.attentive else NEUTRAL
        if not reading.attentive:
            if case.written is not None and case.written.model == model.caller.title:
                case.written = replace(case.written, worth=NEUTRAL)
            return list(own), Judged(worth)
        verdicts = []
        for verdict in own:
            theirs = by_place.get((verdict["start"], verdict["end"], verdict["text"]))
            verdicts.append(verdict if theirs is None else merged(verdict, theirs, worth))
        case.notes.ran("judge", judge_names(verdicts))
        lacking: list[Fact] = []
        heard = counted(verdicts)
        for place, verdict in enumerate(verdicts):
            if verdict["verdict"] in IN_FAVOUR and "embedded" in verdict and verdict in heard:
                quotes = [*([verdict["evidence"]] if verdict["evidence"] else []), *verdict.get("further", [])]
                missing = unstated(without_markers(verdict["text"]), case.passages, case.question, quotes)
                verdicts[place], lacking = without_figure(verdict, missing), [*lacking, *missing]
        words = tuple(dict.fromkeys(fact.text.strip() for fact in lacking))
        return verdicts, Judged(
            worth, reading.answers, reading.open, tuple(reading.search), words, ratio_of_facts(lacking)
        )

    def _model_calls(
        self, case: "_Case", wanted: Collection[str], needed: Collection[str]
    ) -> dict[str, Callable[[], Any]]:
        calls: dict[str, Callable[[], Any]] = {}

        def add(name: str, part: str, scorer: Scorer | AnswerScorer | None, given: Sequence[Any], instead: str) -> None:
            if scorer is not None:
                calls[name] = partial(_scored, f"The {part} {scorer.name!r}", partial(scorer, *given), instead, notes)

        notes, whole = case.notes, (case.question, case.answer, case.passages, case.notes)
        if case.computed is not None:
            calls["answered"] = case.computed.answered
        elif case.question.strip() and case.answer.strip() and case.passages:
            add("answered", "reader", self.scorer, whole, "whether the answer fits the question is not known")
        if "internal_consistency" in needed:
            instead = "consistency was measured by facts, opposites and negation"
            facts = (case.answer, case.known_facts, notes)
            add("consistency", "consistency scorer", self.consistency, facts, instead)
        if "alignment" in wanted and case.passages:
            instead = "alignment was measured by keyword overlap"
            add("alignment", "alignment scorer", self.alignment, whole, instead)
        return calls

    def _clashes(self, verdicts: Sequence[Verdict], notes: Notes) -> list[tuple[str, str]]:
        """The pairs of claims that contradict each other by the network, in either order."""
        pairs = [pair for pair in compared_claims(verdicts) if same_but_one(*pair)]
        if not pairs or self.contradicts is None:
            return []
        turned = [(other, one) for one, other in pairs]
        read = stand_in(
            "Reading the claims against each other", partial(self.contradicts, [*pairs, *turned]),
            "consistency was measured by facts, opposites and negation", notes,
        ) or [0.0] * 2 * len(pairs)  # fmt: skip
        both = zip(pairs, read, read[len(pairs) :], strict=False)
        return [pair for pair, there, back in both if min(there, back) >= CONTRADICTED]

    def _verdicts(self, case: "_Case", weights: Sequence[float]) -> list[Verdict]:
        """The verdicts on the answer's claims; a weaker source gives way to stronger ones that support the same
        claim."""

        def judge(some: Sequence[Claim], passages: Sequence[Passage]) -> list[Verdict]:
            return _judged(case.chain, some, passages, case.notes, case.question)

        claims = self._claims(case.answer, case.notes) if case.answer.strip() else []
        judged, own = judge(claims, case.passages), self.options.calibration
        return weigh_sources([policies.recalibrated(v, own) for v in judged], case.passages, weights, judge)

    def _weighed(
        self,
        case: "_Case",
        material: Material,
        signals: policies.Signals,
        missing: Texts,
        replies: Replies,
        judged: Judged | None = None,
    ) -> Verification:
        """The policy's value of verdicts and signals, joined with the values of the reader and a model."""
        verdicts = [_doubted(verdict, case.passages) for verdict in material.verdicts]
        uncovered = uncovered_parts(case.answer, verdicts)
        # An unjudged answer has no confidence.
        checked = 1 - sum(part["end"] - part["start"] for part in uncovered) / max(1, len(case.answer))
        answered = replies.get("answered") or Answered(None)
        asked = answered if "answered" in replies else None
        elsewhere = case.written is None and judged is None and answers_else(answered)
        read = reading_of(case.policy, asked, case.written, case.ratio * (ANSWERS_ELSE if elsewhere else 1.0), judged)
        if read and not all(seems_english(passage["text"]) for passage in case.passages):
            read = {**read, "least": FOREIGN_SUPPORT}
        made = weighed(case.policy, case.chosen, verdicts, signals, missing, self.options.weights, checked, read)
        for sentence in made.degraded:
            case.notes.degraded(sentence)
        evades = (
            judged.answers == "no"
            if judged is not None and judged.answers
            else elsewhere
            or (
                case.written is None
                and answered.quoted
                and answered.probability is not None
                and answered.probability < ADDRESSED
                and (case.ratio == 1.0 or made.confidence < ADDRESSED)
            )
        )
        opened = [f"{OPEN}: “{judged.open}”"] if judged is not None and judged.answers == "part" and judged.open else []
        nowhere = [f"{NOWHERE}: {', '.join(judged.unstated)}."] if judged is not None and judged.unstated else []
        lost = sum(verdict["verdict"] == "unjudged" for verdict in verdicts)
        told = [{side["quote"] for side in conflict["sides"]} for conflict in answered.conflicts]
        relied = [place for v in verdicts for place in (v["evidence"], *v.get("further", ())) if place]
        found = [one for one in find_conflicts(case.given, MOST_COMPARED) if one.concerns(relied)][:MOST_CONFLICTS]
        conflicts = [one.issue for one in found if {one.one["quote"], one.other["quote"]} not in told]
        said = ""
        if asked is not None and asked.probability is None and EMBEDDED.issuperset(judges_of(verdicts)):
            advice = LET_IT_JUDGE if case.written else SET_MODEL
            said = unread(case.question, [passage["text"] for passage in case.passages], advice=advice)
        return Verification(
            confidence=made.confidence,
            claims=tuple(verdicts),
            signals=signals,
            issues=(
                *map(differ, answered.conflicts),
                *([EVADES] if evades else []),
                *opened,
                *nowhere,
                *([FIT_UNKNOWN] if FIT_UNKNOWN in made.degraded else []),
                *issues_of(signals, verdicts),
                *([f"{lost} {UNJUDGED}"] if lost else []),
                *(f"{UNCHECKED}: “{part['text']}”" for part in uncovered),
                *(conflicts or ([] if told else quoted_contradictions(verdicts))),
                *weak_source_issues(verdicts, case.passages, material.weights),
            ),
            judge=judge_names(verdicts),
            policy=made.policy,
            policy_scores=made.scores,
            uncovered=tuple(uncovered),
            answered=answered.probability,
            supported=made.scores[made.policy],
            answer_spans=answered.spans,
            conflicts=answered.conflicts,
            unread=said,
            read=read,
        )

    def _chain(self, judge: str) -> JudgeChain:
        if self.model is not None and judge == "llm":
            judge = "encoder"  # the model is asked beside it (`_by_model`)
        if judge not in self.judges:
            wants = ELSE_WANTS.get(judge) or JUDGES.get(judge, "")
            why = f"needs {wants}" if wants else "is not known"
            raise SettingsError(f"The judge {judge!r} {why}; available are {', '.join(sorted(self.judges))}.")
        # One judge may go by two names; it is not worth a second try.
        order = {id(one): one for one in (self.judges[name] for name in (judge, *self.fallback))}
        return JudgeChain(list(order.values()), self.options.judge_timeout, cache=self.cache)

    def _claims(self, answer: str, notes: Notes) -> list[Claim]:
        """The claims of an answer; if the extractor fails, its sentences, with a note."""
        spare = SentenceExtractor()
        call, instead = partial(self.extractor, answer, notes), f"{spare.name!r} took over"
        claims = stand_in(f"Claim extraction by {self.extractor.name!r}", call, instead, notes)
        return spare(answer, notes) if claims is None else claims


@dataclass(frozen=True)
class Weighed:
    """The confidence, its policy, the values of all computed policies, and what was left out."""

    confidence: float
    policy: str
    scores: Mapping[str, float]
    degraded: Sequence[str] = ()


def weighed(
    asked: str,
    chosen: Sequence[str],
    verdicts: Sequence[Verdict],
    signals: policies.Signals,
    missing: Texts,
    weights: Mapping[str, Weights],
    checked: float,
    read: Reading | None,
) -> Weighed:
    """The confidence of an answer, as a pure function of its verdicts, signals and readings.

    A policy whose signals are missing gives way to ``"claims"``. For a quotation the value is multiplied by the
    reader's probability; it is at most `MOST_UNREAD` if the reader could not read it. For a chat model's answer, or a
    quotation beside one, the value is a feature of the probability fitted on such answers.

    Args:
        asked: the requested policy.
        chosen: the policies to compute.
        missing: why signals were not measured, by signal.
        checked: the share of the answer that claims cover, 0..1.
        read: the reader's values that count.
    """
    policy = policies.best_policy(verdicts) if asked == AUTO else asked
    degraded: list[str] = []
    scores: dict[str, float] = {}

    def score(names: Sequence[str]) -> None:
        for formula in (POLICIES[name] for name in names):
            try:
                value = formula.discounted(verdicts, signals, weights.get(formula.name))
            except InputError as error:
                reasons = [missing[signal] for signal in formula.needs if signal in missing]
                degraded.append(f"Policy {formula.name!r} could not be computed: {'; '.join(reasons) or error}.")
            else:
                scores[formula.name] = round(value * checked, 6)

    score(chosen or [policy])
    if policy not in scores:
        degraded.append(f"The confidence is that of the policy 'claims' instead of {policy!r}.")
        policy = "claims"
        score([policy])
    confidence, scores[policy], capped = joined(scores[policy], verdicts, read, checked)
    return Weighed(confidence, policy, scores, [*degraded, FIT_UNKNOWN] if capped else degraded)


def reading_of(
    asked: str, answered: Answered | None, written: Written | None, ratio: float = 1.0, judged: Judged | None = None
) -> Reading | None:
    """The values that count beside the requested policy; None if there are none.

    `answered` is the reader's result, None if no reader was asked.
    """
    if asked not in JOINED or (answered is None and judged is None and ratio == 1.0):
        return None
    read: dict[str, Any] = {}
    if answered is not None:
        read |= {"probability": answered.probability, "quoted": answered.quoted, "seen": {**answered.seen}}
        # A model that read all passages and finds the question answered has already weighed their disagreement.
        if answered.conflicts and not (judged is not None and judged.answers == "all"):
            newer = 1.0 if answered.quoted and written is None else NEWER
            read["agreed"] = min(newer if conflict["newer_first"] else EITHER for conflict in answered.conflicts)
    if written is not None and answered is not None:
        read["written"] = asdict(written)
    if ratio != 1.0:
        read["ratio"] = ratio
    if judged is not None:
        read["judged"] = judged.to_dict()
    return read


def differ(conflict: Conflict) -> str:
    """A conflict as an issue: both answers with their places, and the sign that tells which is newer."""
    first, second = (f"“{shortened(s['answer'], 80)}” ({s['filename'] or s['chunk_id']})" for s in conflict["sides"])
    return f"{DIFFER}: {first} and {second}; " + (
        f"the first is the newer: {conflict['why']}."
        if conflict["newer_first"]
        else "nothing tells which is the newer."
    )


def joined(
    value: float, verdicts: Sequence[Verdict], read: Reading | None, checked: float = 1.0
) -> tuple[float, float, bool]:
    """The confidence from a policy's value and all other evidence, and whether it was cut to `MOST_UNREAD`."""
    if read is None:
        return value, value, False
    judged = Judged.from_dict(read["judged"]) if "judged" in read else None
    before, value, cut = _before(value, verdicts, read, judged)
    after = updated(before, read.get("ratio", 1.0), judged.ratio(verdicts) if judged else 1.0)
    return round(after * min(checked, 1.0) * read.get("agreed", 1.0), 6), value, cut


def _before(
    value: float, verdicts: Sequence[Verdict], read: Reading, judged: Judged | None
) -> tuple[float, float, bool]:
    """The probability before a model judged the answer."""
    if "written" in read:
        written = Written(**{**read["written"], "worth": Worth(**read["written"]["worth"])})
        least = min((embedded(v)[1] for v in counted(verdicts) if v["verdict"] != "unjudged"), default=0.0)
        probability = written_probability(read["seen"], max(least, read.get("least", 0.0)), written)
        if any(v["verdict"] != "supported" and "embedded" not in v for v in counted(verdicts)):
            probability = min(probability, value)  # a claim failed that no model judged, whatever else speaks for it
        probability = probability if counted(verdicts) else 0.0
        unread = read["probability"] is None and EMBEDDED.issuperset(judges_of(verdicts))
        cut = unread and probability > MOST_UNREAD
        return (MOST_UNREAD if cut else probability), value, cut
    if "probability" not in read:
        return value, value, False
    if read["probability"] is None:
        cut = value > MOST_UNREAD and EMBEDDED.issuperset(judges_of(verdicts))
        return (MOST_UNREAD, MOST_UNREAD, True) if cut else (value, value, False)
    return (value * read["probability"] if read["quoted"] else value), value, False


@dataclass
class _Case:
    """One call of the verifier: its arguments, the judge, and the policies to compute."""

    question: str
    answer: str
    passages: Sequence[Passage]
    notes: Notes
    chain: JudgeChain
    judge: str
    policy: str
    chosen: Sequence[str]
    known_facts: Sequence[str]
    written: Written | None = None
    ratio: float = 1.0
    computed: Recomputed | None = None
    given: Sequence[Passage] = ()  # the passages with the sentences that give orders


def _doubted(verdict: Verdict, passages: Sequence[Passage]) -> Verdict:
    """The verdict, with a doubt if a plainer sentence of the passages contradicts its evidence."""
    evidence = verdict["evidence"]
    if not evidence or not (other := plainer(verdict["text"], evidence, passages)):
        return verdict
    if any(other in further["quote"] for further in verdict.get("further", ())):
        return verdict  # the claim rests on that sentence too
    told = OTHERWISE.format(quote=shortened(evidence["quote"]), other=shortened(other))
    return {**verdict, "doubts": [*verdict.get("doubts", ()), told]}


def _failed(answer: str, policy: str) -> Verification:
    whole = Claim(text=answer, start=0, end=len(answer), type="factual")
    why = "Verification failed: nothing was judged, and the confidence of 0.0 says only that"
    claims = (unjudged(whole, why + "."),) if answer.strip() else ()
    return Verification(confidence=0.0, claims=claims, issues=(why,), policy=policy, failed=True)


def _scored(part: str, call: Callable[[], Any], instead: str, notes: Notes) -> Any:
    """The result of a scorer or the reader, 0..1; if it fails None, with a note that says `instead`."""

    def asked() -> Any:
        reply = call()
        value = reply.probability if isinstance(reply, Answered) else float(reply)
        if value is not None and not 0.0 <= value <= 1.0:
            raise ModelError(f"it returned {value}; wanted a number of 0..1")
        return reply if isinstance(reply, Answered) else value

    return stand_in(part, asked, instead, notes)


def _started(pool: ThreadPoolExecutor, call: Callable[[], T]) -> Callable[[], T]:
    """Start a call in the caller's context. The returned function waits for its result or raises its error."""
    return pool.submit(copy_context().run, call).result


def _judged(
    chain: JudgeChain, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, question: str
) -> list[Verdict]:
    if not any(passage["text"].strip() for passage in passages):
        why = "There is no passage to support it."
        return [verdict_of(claim, "unsupported", 0.0, 0.0, None, why, "none") for claim in claims]
    # Claims that state a cell are looked up; only the others are judged.
    exact = [cell_verdict(claim, passages) for claim in claims]
    rest = [claim for claim, verdict in zip(claims, exact, strict=True) if verdict is None]
    judged = iter(chain(rest, passages, notes, question=question) if rest or not claims else ())
    return [verdict or next(judged) for verdict in exact]


def _known(kind: str, name: str, table: Mapping[str, T]) -> T:
    if name not in table:
        raise SettingsError(f"there is no {kind} {name!r}; choose one of {', '.join(table)}.")
    return table[name]

"""The result of a verification: the one model from which every output is made."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import pairwise
from typing import Any, Final, Self

from cragraph.language.markers import without_markers
from cragraph.language.questions import lacks_time
from cragraph.language.sentences import sentence_spans
from cragraph.language.words import shortened
from cragraph.passages import doubts_of
from cragraph.report import Report
from cragraph.types import (
    AnswerSpan,
    Conflict,
    Label,
    Level,
    OnLowConfidence,
    Passage,
    SetBy,
    Uncovered,
    Verdict,
    mark_of,
    standing,
)
from cragraph.verification.claims import without_lead
from cragraph.verification.decision import DEFAULT_THRESHOLD, WORTH_SHOWING, Decision, Threshold, decide, reaches

CREDIT: Final[dict[Label, float]] = {
    "supported": 1.0,
    "partially_supported": 0.5,
    "unsupported": 0.0,
    "contradicted": 0.0,
    "unjudged": 0.0,
}
"""The credit of each label, 0..1: a partly supported claim has half of a supported one's."""

AGAINST: Final[frozenset[Label]] = frozenset({"unsupported", "contradicted"})
"""Labels that speak against the answer; a contradicted claim counts as unsupported."""

IN_FAVOUR: Final[frozenset[Label]] = frozenset({"supported", "partially_supported"})


def is_counted(verdict: Verdict) -> bool:
    """Whether a claim can speak for or against its answer: an opinion or a question cannot."""
    return verdict["type"] != "opinion" and not verdict["text"].rstrip(" \t\n\"'”’»)]*_").endswith(("?", "？"))


def counted(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts on counted claims; in an answer of opinions alone, the supported ones."""
    every = list(verdicts)
    return [v for v in every if is_counted(v)] or [v for v in every if v["verdict"] == "supported"]


def judges_of(verdicts: Iterable[Verdict]) -> list[str]:
    """The judges whose verdicts stand, in order of appearance."""
    return list(dict.fromkeys(v["judge"] for v in verdicts if v["verdict"] != "unjudged"))


def embedded(verdict: Verdict) -> tuple[str, float]:
    """The embedded judge of a claim and its support, 0..1, before a model's verdict was joined."""
    return verdict.get("embedded", (verdict["judge"], verdict["support"]))


def mean_support(verdicts: Sequence[Verdict]) -> float:
    """Mean support of the verdicts, 0..1; an unjudged claim counts as 0, an empty list is 0."""
    if not verdicts:
        return 0.0
    return sum(0.0 if v["verdict"] == "unjudged" else v["support"] for v in verdicts) / len(verdicts)


def reliance(verdicts: Sequence[Verdict]) -> float:
    """The mean source weight of the supported claims, by credit, 0..1; 1.0 if all sources are fully relied on.

    Every policy's confidence is multiplied by it: by 0.5 if the answer rests on a source of weight 0.5, by 0.75 if half
    of its claims do. Claims that no source supports do not count.
    """
    good = [v for v in counted(verdicts) if v["verdict"] in IN_FAVOUR]
    credit = sum(CREDIT[v["verdict"]] for v in good)
    return sum(CREDIT[v["verdict"]] * v.get("source_weight", 1.0) for v in good) / credit if credit else 1.0


LEVELS: tuple[tuple[float, Level], ...] = ((0.9, "high"), (0.7, "medium"), (0.5, "low"))


def level_of(confidence: float) -> Level:
    """The level of a confidence, rounded to the two digits that are shown; very low below all of `LEVELS`."""
    return next((level for bound, level in LEVELS if round(confidence, 2) >= bound), "very low")


ADDRESSED: Final = 0.5  # least probability of an answer that addresses its question
HALLUCINATED: Final = 0.3
"""An answer is not grounded if this share or more of its claims lacks support (reliability policy's document)."""

SUMMARY: Final = ("confidence", "is_grounded", "accepted", "claims_checked", "claims_supported")
"""The fields of the response's verification block by default."""

DETAILS: Final = (
    "level", "hallucination_score", "attribution_coverage", "signals", "issues", "verified_sources",
    "unverified_claims", "suggested_corrections", "judge", "policy", "policy_scores", "degraded", "uncovered",
    "hallucination_count", "warnings", "passed", "threshold", "answered", "supported",
    "answer_spans", "conflicts", "unread", "failed", "decision",
)  # fmt: skip

WEIGHTED: Final[Mapping[str, str]] = {
    "answer_source_alignment": "alignment",
    "citation_coverage": "citation_coverage",
    "fact_verification_score": "fact_score",
}
"""Names of the signals in the weighted formula."""

UNCHECKED: Final = "Part of the answer was not checked"
DIFFER: Final = "The documents answer this differently"
NO_TIME: Final = "The question asks when, and the answer states no time."
UNJUDGED: Final = "claim(s) could not be judged"  # issues that `prune` removes with their sentences
_WIDTH: Final = 88

Reading = Mapping[str, Any]
"""`probability`: that the answer answers (None: not known). `quoted`: whether the answer is a quotation.
`seen`: the reader's values. `logprob`: the mean log-probability of the model that wrote it. `beside`: a model's answer
beside a quotation. `agreed`: the factor for passages that disagree."""


@dataclass(frozen=True, repr=False)
class Verification:
    """The judged claims of one answer, its signals, and the confidence that a policy makes of both."""

    confidence: float  # 0..1; `supported` times `answered`, unless a founding policy was chosen or no reader was asked
    claims: tuple[Verdict, ...] = ()
    # Signals that could not be measured are named in `degraded`.
    signals: Mapping[str, float] = field(default_factory=dict)
    issues: tuple[str, ...] = ()
    judge: str = "none"  # the judges whose verdicts stand
    policy: str = "claims"
    policy_scores: Mapping[str, float] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()
    uncovered: tuple[Uncovered, ...] = ()
    threshold: float = DEFAULT_THRESHOLD  # the confidence from which the run accepts an answer
    ms: float = 0.0  # wall time
    answered: float | None = None  # the reader's probability that the answer answers the question
    supported: float | None = None  # the policy's value
    answer_spans: tuple[AnswerSpan, ...] = ()  # the places that answer the question
    conflicts: tuple[Conflict, ...] = ()  # the places that answer it differently
    unread: str = ""  # which part is in a language that no model read, in a sentence
    set_by: SetBy = field(default="default", kw_only=True)  # who set the threshold
    # The policy below the threshold.
    on_low_confidence: OnLowConfidence = field(default="doubt", kw_only=True, compare=False)
    # Least confidence of an answer that is shown as doubtful.
    showing: float = field(default=WORTH_SHOWING, kw_only=True, compare=False)
    decision: Decision = field(default=None, kw_only=True)  # type: ignore[assignment]  # made of the rest, once
    failed: bool = field(default=False, kw_only=True)  # verification failed and no claim was judged
    read: Reading | None = field(default=None, kw_only=True, compare=False)
    """The reader's values that count in the confidence, needed when a part of the answer is scored; not in
    `to_dict`."""
    question: str = field(default="", kw_only=True, compare=False)
    answer: str = field(default="", kw_only=True, compare=False)
    passages: tuple[Passage, ...] = field(default=(), kw_only=True, compare=False)
    """The verified passages, for a report; not in `to_dict`."""

    def __post_init__(self) -> None:
        if self.decision is not None:
            return
        supported = self.supported_by_passages
        # A calibrated confidence says that all claims are supported: then no claim may speak against the answer.
        sound = self.policy != "calibrated" or supported
        line = Threshold(self.threshold, self.set_by)
        made = decide(
            self.confidence,
            line,
            self.on_low_confidence,
            sound=sound,
            supported=supported or self._supported_but_for_figures,
            judged=not self.unjudged,
            showing=self.showing,
            doubts=self.doubts,
        )
        object.__setattr__(self, "decision", made)

    def changed(self, **fields: Any) -> Self:
        """A copy with other fields and a new decision."""
        return replace(self, **fields, decision=None)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        """A line with the outcome, then a line per claim."""
        head = (
            f"Verification: {standing(asdict(self.decision))}; {self.claims_supported} of "
            f"{self.claims_checked} claims supported; judge {self.judge}, policy {self.policy}"
        )
        marked = ((*mark_of(claim_row(v)), v) for v in self.claims)
        rows = (f"  {sign} {word:<19} {v['support']:.2f}  {shortened(v['text'], _WIDTH)}" for sign, word, v in marked)
        return "\n".join([head, *rows, *(f"  issue: {issue}" for issue in self.issues)])

    def _repr_html_(self) -> str:
        return Report(self)._repr_html_()

    @property
    def level(self) -> Level:
        """The confidence in words."""
        return level_of(self.confidence)

    @property
    def accepted(self) -> bool:
        """Whether the answer was accepted."""
        return self.decision.accepted

    @property
    def unjudged(self) -> bool:
        """Whether there are claims and no judge could judge any of them."""
        return bool(self.claims) and all(v["verdict"] == "unjudged" for v in self.claims)

    @property
    def doubts(self) -> list[str]:
        """Reasons, in sentences, why quoted places may be misread or a figure may not be the one asked for."""
        places = [place for v in self.claims for place in (v["evidence"], *v.get("further", ())) if place]
        read = [p for p in places if p["passage"] < len(self.passages)]
        found = [doubts_of(self.passages[p["passage"]], p["start"], p["end"]) for p in read]
        own = [claim.get("doubts", []) for claim in self.claims]
        if self.claims and lacks_time(self.question, self.answer):
            own.append([NO_TIME])
        return list(dict.fromkeys(doubt for doubts in [*own, *found] for doubt in doubts))

    @property
    def counted(self) -> list[Verdict]:
        """The verdicts on counted claims: opinions and questions do not count."""
        return counted(self.claims)

    @property
    def claims_checked(self) -> int:
        """The number of counted claims that were judged."""
        return sum(v["verdict"] != "unjudged" for v in self.counted)

    @property
    def claims_supported(self) -> int:
        """The number of supported claims among them."""
        return sum(v["verdict"] == "supported" for v in self.counted)

    @property
    def hallucination_score(self) -> float:
        """1 - mean support of the claims that count; 0.0 where there is none."""
        return round(1.0 - mean_support(self.counted), 9) if self.counted else 0.0

    @property
    def supported_by_passages(self) -> bool:
        """Whether every claim was judged, none is contradicted, and less than 0.3 of them lack support.

        Under the calibrated policy every claim must be supported. False for an answer without a claim.
        """
        claims = self.counted
        labels = {v["verdict"] for v in claims}
        if not labels or self.failed or labels & {"unjudged", "contradicted"}:
            return False
        if self.policy == "calibrated":
            return labels == {"supported"}
        lacking = 1.0 - sum(CREDIT[v["verdict"]] for v in claims) / len(claims)
        return round(lacking, 9) < HALLUCINATED

    @property
    def _supported_but_for_figures(self) -> bool:
        """Whether a model supported every claim, and only figures that it may have calculated are in no passage."""
        labels = {v.get("said", v["verdict"]) for v in self.counted}
        return bool(labels) and labels <= IN_FAVOUR

    @property
    def is_grounded(self) -> bool:
        """Whether the passages support the answer, its confidence is at the threshold, and it was not refused."""
        return self.supported_by_passages and self.decision.reached and self.decision.outcome != "refused"

    @property
    def attribution_coverage(self) -> float | None:
        """Share of the claims that resemble a passage closely; None when it was not measured."""
        return self.signals.get("attribution_coverage")

    @property
    def unsupported_claims(self) -> list[Verdict]:
        """The verdicts that speak against the answer."""
        return [v for v in self.counted if v["verdict"] in AGAINST]

    @property
    def hallucination_count(self) -> int:
        """How many claims speak against the answer."""
        return len(self.unsupported_claims)

    @property
    def unverified_claims(self) -> list[str]:
        """Texts of the claims that are not (or not wholly) supported."""
        return [v["text"] for v in self.counted if v["verdict"] != "supported"]

    @property
    def attributions(self) -> dict[str, list[str]]:
        """For each claim the ids of the chunks that support it, that of its evidence first."""
        return {v["text"]: sources_of(v) for v in self.claims}

    @property
    def verified_sources(self) -> list[str]:
        """Ids of all chunks that support a supported claim, in order of first use."""
        return list(dict.fromkeys(s for v in self.counted if v["verdict"] == "supported" for s in sources_of(v)))

    @property
    def suggested_corrections(self) -> list[str]:
        """A correction for each failed claim: the judge's, else the quote that contradicts the claim."""
        said = [v.get("correction") or contradicting_quote(v) for v in self.claims]
        return list(dict.fromkeys(filter(None, said)))

    @property
    def warnings(self) -> list[str]:
        """Why the answer did not pass, one plain sentence each; empty when it passed."""
        reasons = low_values([("confidence", self.confidence, self.threshold)])
        if unsupported := len(self.unsupported_claims):
            reasons.append(f"Found {unsupported} unsupported claim(s)")
        if self.policy == "calibrated" and (partly := sum(v["verdict"] == "partially_supported" for v in self.counted)):
            reasons.append(f"{partly} claim(s) supported only in part")
        if unjudged := sum(v["verdict"] == "unjudged" for v in self.counted):
            reasons.append(f"{unjudged} {UNJUDGED}")
        if not self.counted:
            reasons.append("No claim to check was found in the answer")
        return reasons

    @property
    def passed(self) -> bool:
        """Whether there is nothing to warn of."""
        return not self.warnings

    def summary(self) -> dict[str, Any]:
        """The response's `verification` block, without a claim; with the weighted formula's fields where measured."""
        block: dict[str, Any] = {name: getattr(self, name) for name in SUMMARY}
        if self.answered is not None:
            block |= {"answered": self.answered, "supported": self.supported}
        if "weighted" in self.policy_scores:
            block["overall_score"] = self.policy_scores["weighted"]
            block |= {theirs: self.signals[ours] for theirs, ours in WEIGHTED.items()}
            block |= {n: _plain(getattr(self, n)) for n in ("issues", "verified_sources", "unverified_claims")}
        return block

    def to_dict(self) -> dict[str, Any]:
        """The whole result as plain JSON: a row of `verify --jsonl` without its id."""
        details = {name: _plain(getattr(self, name)) for name in DETAILS} | {"decision": asdict(self.decision)}
        return self.summary() | details | {"claims": [claim_row(v) for v in self.claims], "ms": round(self.ms, 1)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], verdicts: Sequence[Verdict]) -> Self:
        """The verification that `to_dict` wrote, with its verdicts."""
        known = {f.name: data[f.name] for f in fields(cls) if f.name in data} | {"claims": verdicts}
        known |= {name: tuple(value) for name, value in known.items() if isinstance(value, list)}
        decision = Decision(**data["decision"])
        return cls(**known | {"decision": decision, "set_by": decision.set_by})


def low_values(values: Iterable[tuple[str, float, float]]) -> list[str]:
    """A warning for each (name, value, threshold) with the value below, with enough digits to tell the two apart."""
    return [
        f"Low {name}: {value:.{digits}f} (threshold {bound:.{digits}f})"
        for name, value, bound in values
        if not reaches(value, bound)
        for digits in [next((d for d in range(2, 6) if round(value, d) != round(bound, d)), 6)]
    ]


def contradicting_quote(verdict: Verdict) -> str:
    """The quote that contradicts the claim; empty for a claim that is not contradicted."""
    evidence = verdict["evidence"]
    return evidence["quote"] if verdict["verdict"] == "contradicted" and evidence else ""


def sources_of(verdict: Verdict) -> list[str]:
    """Ids of the chunks that support a claim, the chunk of its evidence first; empty if none does."""
    if verdict["verdict"] not in IN_FAVOUR:
        return []
    evidence = verdict["evidence"]
    return list(dict.fromkeys([*([evidence["chunk_id"]] if evidence else []), *verdict.get("sources", [])]))


def claim_row(verdict: Verdict) -> dict[str, Any]:
    """A verdict as plain JSON. Optional fields that the judge left empty are left out, but for `reasoning` and
    `evidence`.

    `quoted` is there, and true, where the claim stands word for word in its evidence.
    """
    row: dict[str, Any] = {name: _plain(value) for name, value in verdict.items() if name != "objected"}
    for name in ("correction", "sources", "unsupported_spans"):
        if not row.get(name):
            row.pop(name, None)
    if sources := sources_of(verdict):
        row["sources"] = sources
    if word_for_word(verdict):
        row["quoted"] = True
    evidence = verdict["evidence"]
    return row | {"evidence": evidence and {key: evidence[key] for key in ("quote", "passage", "start", "end")}}


_EDGES: Final = re.compile(r"^\W+|\W+$")


def word_for_word(verdict: Verdict) -> bool:
    """Whether a supported claim is whole sentences, lines or cells of its evidence; spacing, case and marks aside.

    A part of a sentence is not enough, because the rest may take it back. A model's quote does not count either,
    because models quote as little as they can.
    """
    evidence = verdict["evidence"]
    if verdict["verdict"] != "supported" or evidence is None or "embedded" in verdict:
        return False
    text, quote = bare(without_markers(verdict["text"])), evidence["quote"]
    cuts = [0, *(n for n, letter in enumerate(quote) if letter in "|\n"), len(quote)]
    spans = [*sentence_spans(quote), *pairwise(cuts)]
    stretches = (quote[one[0] : other[1]] for one in spans for other in spans if one[0] < other[1])
    return (
        bool(text) and text in bare(quote) and any(text == bare(without_lead(one.strip("| \n"))) for one in stretches)
    )


def bare(text: str) -> str:
    """A text in lower case, without marks at its ends, with one space between words."""
    return _EDGES.sub("", " ".join(text.split())).casefold()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value

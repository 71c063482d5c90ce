"""The records that flow through the graph: plain JSON, so that any checkpointer round-trips them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NotRequired

# From typing_extensions, because pydantic needs the backport on Python 3.11.
from typing_extensions import TypedDict

IDK: Final = "I don't know based on the documents."  # the answer of a run that abstains

ClaimType = Literal["factual", "opinion", "conditional"]
Label = Literal["supported", "partially_supported", "unsupported", "contradicted", "unjudged"]
MARKS: Final[dict[Label, str]] = {
    "supported": "✓", "partially_supported": "~", "unsupported": "✗", "contradicted": "!", "unjudged": "?",
}  # fmt: skip
"""The sign of each verdict in all output."""

QUOTED: Final = "”"
"""The sign of a claim that stands word for word in its passage, which does not mean that it answers the question."""


def mark_of(claim: Mapping[str, Any]) -> tuple[str, str]:
    """The sign of a claim and the word for it: its verdict, or "quoted"."""
    if claim.get("quoted"):
        return QUOTED, "quoted"
    return MARKS.get(claim["verdict"], "?"), str(claim["verdict"]).replace("_", " ")


EVADES: Final = "The answer may not address the question."
"""The issue of an answer that does not answer the question by the reader."""

Level = Literal["high", "medium", "low", "very low"]
Mode = Literal["low", "balanced", "high"]
OnLowConfidence = Literal["doubt", "abstain", "flag", "prune"]
Outcome = Literal["accepted", "doubtful", "refused"]
SetBy = Literal["default", "calibration", "person"]


class Decided(TypedDict):
    """The decision on an answer as plain JSON (`verification.decision.Decision`)."""

    outcome: Outcome
    confidence: float
    threshold: float
    set_by: SetBy
    why: str


def doubt_of(decision: Mapping[str, Any] | None) -> str:
    """The doubt shown before a doubtful answer; empty for any other."""
    if not decision or decision["outcome"] != "doubtful":
        return ""
    confidence, threshold = distinct_digits(decision["confidence"], decision["threshold"])
    return f"Doubtful ({confidence}, wanted {threshold}): "


def standing(decision: Mapping[str, Any] | None) -> str:
    """Confidence and decision in a line.

    ``Confidence 0.44 · doubtful · the threshold is 0.70``
    """
    if not decision:
        return "Not verified"
    confidence, threshold = distinct_digits(decision["confidence"], decision["threshold"])
    return (
        f"Confidence {confidence} · {decision['outcome']} · the threshold is {threshold}{SETTERS[decision['set_by']]}"
    )


def number_of(count: int, noun: str) -> str:
    """A count with its noun: ``1 chunk``, ``2 chunks``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def further(issues: Sequence[str], decision: Mapping[str, Any] | None) -> list[str]:
    """The issues to show beside `standing`, without the one that the confidence is below the threshold."""
    told = decision["why"] if decision and decision["why"].startswith("Confidence ") else None
    return [issue for issue in issues if issue != told]


def distinct_digits(confidence: float, threshold: float) -> tuple[str, str]:
    """Both numbers with enough digits to differ, at least two: 0.6954 beside 0.7000."""
    digits = next((d for d in (2, 4, 6) if round(confidence, d) != round(threshold, d)), 2)
    return f"{confidence:.{digits}f}", f"{threshold:.{digits}f}"


def called(calls: int, tokens: Mapping[str, int]) -> str:
    """The number of chat model calls and their tokens in words; empty without calls."""
    told = {"read": "read", "wrote": "written"}
    counts = [f"{count:,} tokens {told.get(what, what)}" for what, count in tokens.items()]
    return ", ".join([f"{calls} model call{'s' if calls != 1 else ''}", *counts]) if calls else ""


SETTERS: Final[dict[SetBy, str]] = {"default": "", "calibration": " by calibration", "person": " as set"}


class Passage(TypedDict):
    """A retrieved chunk of a document.

    `start_index` is the offset of `text` in the document's text; `page` counts from 1 and is None where the format has
    no pages. Scores are 0..1, None if that stage did not run.
    """

    text: str
    chunk_id: str
    doc_id: str
    chunk_index: int
    start_index: int
    source: str
    filename: str
    page: int | None
    metadata: dict[str, Any]
    retrieval_score: float | None
    rerank_score: float | None


class Claim(TypedDict):
    """A piece of the answer that can be checked on its own: `answer[start:end] == text` unless it was rephrased."""

    text: str
    start: int
    end: int
    type: ClaimType


class Evidence(TypedDict):
    """An exact quote: `passages[passage]["text"][start:end] == quote`."""

    quote: str
    passage: int
    chunk_id: str
    start: int
    end: int


class AnswerSpan(TypedDict):
    """A stretch of a passage that answers the question: `passages[passage]["text"][start:end] == text`."""

    passage: int
    chunk_id: str
    start: int
    end: int
    text: str


Operation = Literal[
    "count", "sum", "mean", "largest", "smallest", "list", "difference", "growth", "share", "compare", "adjusted"
]


class Condition(TypedDict):
    """A test of a column: ``=`` means one of the values and ``!=`` none of them; the others have one value."""

    column: str
    test: Literal["=", "!=", ">", ">=", "<", "<="]
    values: list[str]


class Operand(TypedDict):
    """An operand of a query: the sum of a column (the number of rows if it is empty) over the rows that pass."""

    column: str
    where: list[Condition]


class Query(TypedDict):
    """A question put to the rows of one table, checked against its columns before it is run.

    `column` is empty if rows are counted. With `group`, `of` (sum, mean or count) is computed for each value of that
    column, and the operation runs over the results. `most` is the length of a ranking. `against` is the second operand
    of a difference, a growth (the earlier), a share (the whole) and a comparison, whose `test` is ``>`` or ``<``.
    `percent` is an addition to a figure from a text, with its place `percent_at`.
    """

    source: str
    table: str
    operation: Operation
    column: str
    where: list[Condition]
    group: NotRequired[str]
    of: NotRequired[Literal["sum", "mean", "count"]]
    most: NotRequired[int]
    against: NotRequired[Operand]
    test: NotRequired[Literal[">", "<"]]
    percent: NotRequired[str]
    percent_at: NotRequired["Cited"]


class Cited(TypedDict):
    """A row that a figure was computed of: `quote` stands in that chunk's text at `start`."""

    chunk_id: str
    start: int
    end: int
    quote: str


class Computed(TypedDict):
    """A figure that was computed over the stored rows of a table, with its working.

    `value` is the figure as digits, exact unless `rounded`; for a comparison yes or no, for a list the number of its
    rows. `labels` name the rows or groups that answer. `rows` is the number of rows, `missing` of them had no figure.
    `cited` are the first rows. `probability`, 0..1, is that the query is what the question asks. `doubts` are the
    reasons why the figure is not accepted, whatever its probability.
    """

    query: Query
    answer: str
    value: str
    unit: str
    labels: list[str]
    rows: int
    missing: int
    rounded: bool
    cited: list[Cited]
    probability: float
    doubts: NotRequired[list[str]]


class Verdict(Claim):
    """The verdict of a judge on a claim.

    `support` and `contradiction` are 0..1 and independent of each other. `correction` is the right statement, if the
    judge knows it. `sources` are the ids of further chunks that support the claim. `source_weight` is the weight of the
    evidence's source if below 1. `unsupported_spans` are answer offsets of words without support, if the judge finds
    them. `objected` says that facts speak against the claim, whatever its support. `further` are more places that the
    claim rests on, such as the rows of a sum. `doubts` are the reasons why an answer with this claim is not accepted
    although the claim is supported. `embedded` is the embedded judge's name and support for a claim that a model
    judged; `said` is the model's label if another label stands.
    """

    verdict: Label
    support: float
    contradiction: float
    evidence: Evidence | None
    reasoning: str
    judge: str
    correction: NotRequired[str]
    source_weight: NotRequired[float]
    sources: NotRequired[list[str]]
    unsupported_spans: NotRequired[list[tuple[int, int]]]
    objected: NotRequired[bool]
    further: NotRequired[list[Evidence]]
    doubts: NotRequired[list[str]]
    embedded: NotRequired[tuple[str, float]]
    said: NotRequired[Label]


class ClaimRow(Verdict):
    """A verdict as it is shown; `quoted`, and true, if the claim stands word for word in its evidence."""

    quoted: NotRequired[bool]


class Uncovered(TypedDict):
    """A part of the answer that no claim covers: ``answer[start:end] == text``."""

    text: str
    start: int
    end: int


EMBEDDED: Final = frozenset({"lexical", "embedding", "encoder"})
"""The judges without a server; their reasons are measurements."""


def judge_reason(verdict: Verdict) -> str:
    """The reason in words of a model's or a user's own judge; empty for embedded judges and tables."""
    worded = "embedded" in verdict or verdict["judge"] not in EMBEDDED | {"cell", "computed", "none"}
    return verdict["reasoning"] if worded else ""


class Citation(TypedDict):
    """A passage that the answer cites by `[number]`; `verified` if it supports every sentence that cites it.

    `quotes` is all exact evidence in it, in the order of the answer, `quote` the first. `text[answer_start:answer_end]`
    answers the question; None if the reader found no such place.
    """

    number: int
    text: str
    quote: str
    quotes: list[str]
    metadata: dict[str, Any]
    chunk_id: str
    doc_id: str
    start_index: int
    verified: bool
    answer_start: NotRequired[int | None]
    answer_end: NotRequired[int | None]


class Nearest(TypedDict):
    """A place to look up after an abstention: the part of a passage nearest to the question."""

    text: str
    source: str
    filename: str
    page: int | None
    chunk_id: str


class ConflictSide(TypedDict):
    """One of two passages that answer differently: its sentence, `passages[passage]["text"][start:end] == quote`, and
    its answering words."""

    answer: str
    quote: str
    passage: int
    chunk_id: str
    start: int
    end: int
    source: str
    filename: str
    page: int | None


class Conflict(TypedDict):
    """Two passages of different documents that answer the question differently.

    With `newer_first` the first of `sides` is the newer one, and `why` gives the sign; else it is the likelier one.
    """

    sides: list[ConflictSide]
    newer_first: bool
    why: str


class Checked(TypedDict):
    """A verification as plain JSON: `answered` and `supported` if the reader was asked, the founding document's fields
    if the policy `weighted` was scored, and all else if claims are asked for."""

    confidence: float
    is_grounded: bool
    accepted: bool
    claims_checked: int
    claims_supported: int
    answered: NotRequired[float | None]
    supported: NotRequired[float | None]

    overall_score: NotRequired[float]
    answer_source_alignment: NotRequired[float]
    citation_coverage: NotRequired[float]
    fact_verification_score: NotRequired[float]
    issues: NotRequired[list[str]]
    verified_sources: NotRequired[list[str]]
    unverified_claims: NotRequired[list[str]]

    claims: NotRequired[list[ClaimRow]]
    level: NotRequired[Level]
    hallucination_score: NotRequired[float]
    hallucination_count: NotRequired[int]
    attribution_coverage: NotRequired[float | None]
    signals: NotRequired[dict[str, float]]
    suggested_corrections: NotRequired[list[str]]
    judge: NotRequired[str]
    policy: NotRequired[str]
    policy_scores: NotRequired[dict[str, float]]
    degraded: NotRequired[list[str]]
    uncovered: NotRequired[list[Uncovered]]
    warnings: NotRequired[list[str]]
    passed: NotRequired[bool]
    threshold: NotRequired[float]
    answer_spans: NotRequired[list[AnswerSpan]]
    conflicts: NotRequired[list[Conflict]]
    unread: NotRequired[str]
    failed: NotRequired[bool]
    decision: NotRequired[Decided]
    ms: NotRequired[float]


class RunChecked(Checked):
    """The verification of a run's answer, with the number of corrections."""

    crag_attempts: int


class JudgedDraft(TypedDict):
    """One of several answers that a pass wrote."""

    answer: str
    confidence: float | None


class Attempt(TypedDict):
    """One pass of generate and verify; `decision` is the decision on its answer, None if nothing was verified.

    `context` (the passages of the answer, then the chunks read beside them), `verdicts`, `verification` (signals and
    confidence) and `read` (the reader's values that count) stay in the state; the response leaves them out unless asked
    for, and `answer` and `queries` if the answer is withheld.
    """

    attempt: int
    answer: NotRequired[str]
    confidence: float | None
    is_grounded: bool | None
    claims_checked: int
    claims_supported: int
    new_passages: int
    queries: NotRequired[list[str]]
    accepted: bool | None
    decision: Decided | None
    context: NotRequired[list[Passage]]
    verdicts: NotRequired[list[Verdict]]
    verification: NotRequired[Checked]
    read: NotRequired[Mapping[str, Any] | None]
    candidates: NotRequired[list[JudgedDraft]]
    computed: NotRequired[Computed]


def in_words(computed: Mapping[str, Any]) -> str:
    """A query of a table in words: ``sum of cost over 6 rows of incidents.jsonl where injury = yes``."""
    query = computed["query"]
    file, table = str(query.get("source") or "").replace("\\", "/").rpartition("/")[2], query.get("table")
    column = query.get("column")
    said = f"{query['operation']} of {column or 'rows'}"
    if query.get("group"):
        said = f"{query['operation']} of the {query.get('of') or 'sum'} of {column or 'rows'} by {query['group']}"
    if computed.get("rows"):
        said += f" over {number_of(computed['rows'], 'row')}"
    if computed.get("missing"):
        said += f" ({computed['missing']} more without a figure)"
    said += f" of {file}" + (f" › {table}" if table and table != file else "") + tested(query.get("where"))
    if against := query.get("against"):
        said += f", against {against.get('column') or 'rows'}{tested(against.get('where'))}"
    if 1 < (cited := len(computed.get("cited") or ())) < (computed.get("rows") or 0):
        said += f"; {cited} of the rows are cited"
    return said + (f", adjusted by {query['percent']} %" if query.get("percent") else "")


def tested(conditions: Sequence[Mapping[str, Any]] | None) -> str:
    """The conditions of a query in words, with `where` before them."""
    each = [f"{one['column']} {one['test']} {' or '.join(map(str, one['values']))}" for one in conditions or ()]
    return f" where {' and '.join(each)}" if each else ""

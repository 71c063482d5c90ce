"""The records that flow through the graph: plain JSON, so that any checkpointer round-trips them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NotRequired

# Not typing's: pydantic reads these as schemas, which on Python 3.11 needs the backport.
from typing_extensions import TypedDict

IDK: Final = "I don't know based on the documents."  # what an abstaining run answers

ClaimType = Literal["factual", "opinion", "conditional"]
Label = Literal["supported", "partially_supported", "unsupported", "contradicted", "unjudged"]
MARKS: Final[dict[Label, str]] = {
    "supported": "✓", "partially_supported": "~", "unsupported": "✗", "contradicted": "!", "unjudged": "?",
}  # fmt: skip
"""The sign of each verdict, wherever one is shown."""

QUOTED: Final = "”"
"""The sign of a claim that stands word for word in its passage: that it is said there does not say that it answers."""


def mark_of(claim: Mapping[str, Any]) -> tuple[str, str]:
    """The sign of a claim, wherever it is shown, and the word for it: its verdict, or that it is quoted."""
    if claim.get("quoted"):
        return QUOTED, "quoted"
    return MARKS.get(claim["verdict"], "?"), str(claim["verdict"]).replace("_", " ")


EVADES: Final = "The answer may not address the question."
"""The issue of an answer that the reader does not take for one."""

Level = Literal["high", "medium", "low", "very low"]
Mode = Literal["low", "balanced", "high"]
OnLowConfidence = Literal["doubt", "abstain", "flag", "prune"]
Outcome = Literal["accepted", "doubtful", "refused"]
SetBy = Literal["default", "calibration", "person"]


def doubt_of(decision: Mapping[str, Any] | None) -> str:
    """What stands before a doubtful answer wherever one is shown; nothing before any other."""
    if not decision or decision["outcome"] != "doubtful":
        return ""
    confidence, threshold = apart(decision["confidence"], decision["threshold"])
    return f"Doubtful ({confidence}, wanted {threshold}): "


def standing(decision: Mapping[str, Any] | None, level: str | None = None) -> str:
    """Confidence and decision in a line, with the level if it is given.

    ``Confidence 0.44 · doubtful · the threshold is 0.70``
    """
    if not decision:
        return "Not verified"
    confidence, threshold = apart(decision["confidence"], decision["threshold"])
    line = f"Confidence {confidence}{f' ({level})' if level else ''} · {decision['outcome']}"
    return f"{line} · the threshold is {threshold}{SETTERS[decision['set_by']]}"


def number_of(count: int, noun: str) -> str:
    """A count with its noun: ``1 chunk``, ``2 chunks``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def further(issues: Sequence[str], decision: Mapping[str, Any] | None) -> list[str]:
    """The issues to show beside `standing`, which says already that the confidence is below the threshold."""
    told = decision["why"] if decision and decision["why"].startswith("Confidence ") else None
    return [issue for issue in issues if issue != told]


def apart(confidence: float, threshold: float) -> tuple[str, str]:
    """Both with as many digits as tell them apart, two at least: 0.6954 beside 0.7000."""
    digits = next((d for d in (2, 4, 6) if round(confidence, d) != round(threshold, d)), 2)
    return f"{confidence:.{digits}f}", f"{threshold:.{digits}f}"


def called(calls: int, tokens: Mapping[str, int]) -> str:
    """How often chat models were called, and what they read and wrote; empty where none was called."""
    told = {"read": "read", "wrote": "written"}
    counts = [f"{count:,} tokens {told.get(what, what)}" for what, count in tokens.items()]
    return ", ".join([f"{calls} model call{'s' if calls != 1 else ''}", *counts]) if calls else ""


SETTERS: Final[dict[SetBy, str]] = {"default": "", "calibration": " by calibration", "person": " as set"}


Part = TypedDict("Part", {"chunk_id": str, "start": int, "end": int, "from": int, "about": NotRequired[dict[str, Any]]})
"""A stretch of a text made of several chunks: `text[start:end]` is that chunk's text from character `from` on; where
the chunk has `doubts`, they are in `about`, with the places that are `doubted`."""


class Passage(TypedDict):
    """A retrieved chunk of a document.

    `start_index` is the offset of `text` in the document's text; `page` counts from 1 and is None where the format
    has no pages. Scores are 0..1, None where that stage did not run. `around` are the chunks to read beside it, in
    document order; a passage that is read as one text with them has `parts`, which say what is from which chunk.
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
    around: NotRequired[list["Passage"]]
    parts: NotRequired[list[Part]]


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
    """What a query compares with: the sum of a column (rows counted where it is empty) over the rows that pass."""

    column: str
    where: list[Condition]


class Query(TypedDict):
    """A question put to the rows of one table, checked against its columns before it is run.

    `column` is empty where rows are counted. With `group`, `of` (sum, mean or count) is computed for each value of that
    column, and the operation is put to the results. `most` is how many of a ranking are wanted. `against` is the second
    operand of a difference, a growth (the earlier), a share (the whole) and a comparison, whose `test` is ``>`` or
    ``<``. `percent` is what a text adds to a figure or takes off, with `percent_at`, where the text says so.
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

    `value` is the figure, exact unless `rounded`, as digits; for a comparison yes or no, for a list the number of its
    rows. `labels` name the rows or groups that answer. `rows` were taken in, `missing` of them had no figure. `cited`
    are the first of the rows. `chance` is how likely the query is what the question asks, 0..1. `doubts` say why
    the figure is not accepted as the answer, whatever its chance.
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
    chance: float
    doubts: NotRequired[list[str]]


class Verdict(Claim):
    """The verdict of a judge on a claim.

    `support` and `contradiction` are 0..1 and independent of each other. `correction` is what the claim should say,
    where the judge knows. `sources` are the ids of further chunks that support it. `source_weight` is how far the
    source of the evidence is relied on, where that is below 1. `unsupported_spans` are answer offsets of
    the words that lack support, where the judge can point at them. `objected` says that facts speak against the claim,
    whatever its support. `further` are more places that a claim rests on as a whole, such as the rows of a sum.
    `doubts` say why an answer with this claim is not accepted although the claim is supported.
    `embedded` is what the embedded judge said of a claim that a model judged: its name, and the support that it gave;
    `said` is the label that the model gave where another stands.
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


EMBEDDED: Final = frozenset({"lexical", "embedding", "encoder"})
"""The judges that need no server; their reasons are measurements."""


def told(verdict: Verdict) -> str:
    """The reason of a judge that has words for it, a model or a person's own; empty for embedded judges and tables."""
    worded = "embedded" in verdict or verdict["judge"] not in EMBEDDED | {"cell", "computed", "none"}
    return verdict["reasoning"] if worded else ""


class Citation(TypedDict):
    """A passage that the answer points at by `[number]`; `verified` when it supports every sentence that cites it.

    `quotes` is all exact evidence in it, in the order of the answer, `quote` the first of it. What answers the question
    is `text[answer_start:answer_end]`; None where the reader found no such place.
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
    """Where to look oneself when nothing was answered: the part of a passage that comes nearest to the question."""

    text: str
    source: str
    filename: str
    page: int | None
    chunk_id: str


class ConflictSide(TypedDict):
    """One of two passages that answer differently: its sentence, `passages[passage]["text"][start:end] == quote`, and
    the words in it that answer."""

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

    The newer is the first of `sides` where `newer_first`, and `why` says what tells it; else the likelier one is.
    """

    sides: list[ConflictSide]
    newer_first: bool
    why: str


class Attempt(TypedDict):
    """One pass of generate and verify; `decision` is what was decided on its answer, None where nothing was verified.

    `context` (the passages it was written from, then the chunks that were read beside them), `verdicts`,
    `verification` (what was measured), `read` (what of the reader's words counts in it) and `beside` (what a small
    model answered, and what was quoted beside it) stay in the state; the response leaves them out unless asked for, and
    `answer` and `queries` where the answer is withheld.
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
    decision: dict[str, Any] | None
    context: NotRequired[list[Passage]]
    verdicts: NotRequired[list[Verdict]]
    verification: NotRequired[dict[str, Any]]
    read: NotRequired[Mapping[str, Any] | None]
    candidates: NotRequired[list[dict[str, Any]]]
    beside: NotRequired[dict[str, Any]]
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
        said += f" over {computed['rows']} row{'s' if computed['rows'] != 1 else ''}"
    if computed.get("missing"):
        said += f" ({computed['missing']} more without a figure)"
    said += f" of {file}" + (f" › {table}" if table and table != file else "") + tested(query.get("where"))
    if against := query.get("against"):
        said += f", against {against.get('column') or 'rows'}{tested(against.get('where'))}"
    return said + (f", adjusted by {query['percent']} %" if query.get("percent") else "")


def tested(conditions: Sequence[Mapping[str, Any]] | None) -> str:
    """The conditions of a query in words, with `where` before them."""
    each = [f"{one['column']} {one['test']} {' or '.join(map(str, one['values']))}" for one in conditions or ()]
    return f" where {' and '.join(each)}" if each else ""

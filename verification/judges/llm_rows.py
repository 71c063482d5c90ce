"""What a judging model replies: flat rows, read tolerantly, and what their statuses mean."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema, model_validator
from pydantic.json_schema import SkipJsonSchema

from cragraph.models.replies import MAY_BE_LEFT_OUT, Text, Whole
from cragraph.types import ClaimType, Label

STATUSES: Final[Mapping[str, Label]] = {
    **dict.fromkeys(("supported", "fully_supported", "true", "yes", "entailed", "verified", "correct"), "supported"),
    **dict.fromkeys(("partially_supported", "partly_supported", "partial", "partially"), "partially_supported"),
    **dict.fromkeys(
        ("unsupported", "not_supported", "false", "no", "neutral", "unverified", "not_found", "not_mentioned",
         "not_enough_info", "insufficient_evidence", "unknown"),
        "unsupported",
    ),
    **dict.fromkeys(("contradicted", "contradiction", "refuted", "contradictory", "conflicting"), "contradicted"),
}  # fmt: skip
"""What models write for a status, and the verdict that it is; anything else is no verdict."""

SCORES: Final[Mapping[Label, tuple[float, float]]] = {
    "supported": (1.0, 0.0),
    "partially_supported": (0.5, 0.0),
    "unsupported": (0.0, 0.0),
    "contradicted": (0.0, 1.0),
    "unjudged": (0.0, 0.0),
}
"""(support, contradiction) of each verdict: a status has no degrees, and a small model's own numbers mislead."""

LOWERED: Final[Mapping[Label, Label]] = {
    "supported": "partially_supported",
    "partially_supported": "unsupported",
    "contradicted": "unsupported",
}
"""What becomes of a verdict whose evidence does not exist."""

_ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "status": ("verdict", "label", "supported", "verified", "judgement", "judgment"),
    "claim": ("text", "statement", "sentence"),
    "evidence": ("quote", "supporting_evidence", "evidence_quote"),
    "passage": ("source", "passage_number", "supporting_sources", "sources"),
    "reasoning": ("reason", "explanation", "rationale"),
    "correction": ("suggested_correction", "fix", "corrected"),
    "n": ("number", "id", "index", "claim_number"),
}


def read_status(value: Any) -> str:
    """The status as one of `STATUSES`' verdicts, or ``unjudged`` when it is none of them."""
    word = re.sub(r"[^a-z]+", "_", str(value).lower()).strip("_")
    return STATUSES.get(word, "unjudged")


def read_type(value: Any) -> str:
    """The claim's type; what is neither opinion nor conditional is factual, and so is checked."""
    word = str(value).strip().lower()
    return word if word in ("opinion", "conditional") else "factual"


_STATUS_SCHEMA = {"type": "string", "enum": ["SUPPORTED", "PARTIALLY_SUPPORTED", "UNSUPPORTED", "CONTRADICTED"]}
_TYPE_SCHEMA = {"type": "string", "enum": ["factual", "opinion", "conditional"]}
Status = Annotated[Label, BeforeValidator(read_status), WithJsonSchema(_STATUS_SCHEMA)]
Kind = Annotated[ClaimType, BeforeValidator(read_type), WithJsonSchema(_TYPE_SCHEMA)]


class Row(BaseModel):
    """A row that is read under other names too.

    It has no fields of its own, because a model held to a schema writes them in the schema's order: each kind of row
    begins with what it is about, the evidence comes before the status that rests on it, and last comes what most rows
    do not need, since a small model on a laptop writes thirty tokens a second.
    """

    @model_validator(mode="before")
    @classmethod
    def _other_names(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        renamed = dict(value)
        for name, others in _ALIASES.items():
            found = next((other for other in others if other in renamed), None)
            if name not in renamed and found is not None:
                renamed[name] = renamed[found]
        return renamed


class NumberedRow(Row):
    """The verdict on a claim that was given by its number."""

    n: Whole = 0
    evidence: Text = ""
    passage: Whole = 0
    status: Status
    reasoning: Annotated[Text, MAY_BE_LEFT_OUT] = ""
    correction: Annotated[Text, MAY_BE_LEFT_OUT] = ""


class ClaimRow(Row):
    """A claim that the model found, and its verdict."""

    claim: Annotated[Text, Field(min_length=1)]
    evidence: Text = ""
    passage: Whole = 0
    status: Status
    reasoning: Annotated[Text, MAY_BE_LEFT_OUT] = ""
    correction: Annotated[Text, MAY_BE_LEFT_OUT] = ""
    type: Annotated[Kind, MAY_BE_LEFT_OUT] = "factual"


class NumberedRows(BaseModel):
    """Verdicts on numbered claims."""

    claims: list[NumberedRow]


class ClaimRows(BaseModel):
    """The claims of an answer, and their verdicts."""

    claims: list[ClaimRow]
    suggested_corrections: SkipJsonSchema[list[Text]] = []


class FoundRow(BaseModel):
    """A claim that the model found."""

    claim: Annotated[Text, Field(min_length=1)]
    type: Kind = "factual"


class FoundRows(BaseModel):
    """The claims of an answer."""

    claims: list[FoundRow]

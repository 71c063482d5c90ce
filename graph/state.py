"""State per step: plain JSON in every field, so that any checkpointer round-trips it.

Only the next step sees the values of `EPHEMERAL` fields, so that a new question on an old thread starts clean:
`retrieve` has `queries` only when `requery` has just written them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Final, NotRequired, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model
from typing_extensions import TypedDict

from cragraph.types import (
    Attempt,
    Citation,
    ClaimRow,
    Computed,
    Conflict,
    Decided,
    Level,
    Nearest,
    Passage,
    RunChecked,
)

EPHEMERAL: Final = ("answer", "passages", "messages", "queries")


@dataclass
class State:
    """The state of a run."""

    question: str = ""
    answer: str | None = None
    passages: list[Any] | None = None
    messages: list[Any] | None = None
    queries: list[str] | None = None

    asked: str = ""  # the question in a form that stands alone; differs from `question` only in a conversation
    put: str = ""  # the question of the last run: on a thread, an equal `question` may be left over from it
    started: float = 0.0  # when the run began, in seconds since the epoch
    held: list[Passage] = field(default_factory=list)
    available: int = 0  # number of all passages: given, or in the store
    seen: list[str] = field(default_factory=list)
    """Ids of every passage that the run has met, also those that reranking dropped."""
    read: list[str] = field(default_factory=list)  # ids of every passage that a pass was given to read
    relevant: int | None = None  # how many passages were found, before the best of them were chosen
    new_passages: int = 0  # how many passages this pass reads that none before it did
    rerank_gain: float | None = None  # mean score that the first pass's reranking gained over retrieval's order
    found: int = 0  # how many passages this pass's search brought that none before it did, kept or not
    searched: list[str] = field(default_factory=list)
    carried: list[str] = field(default_factory=list)  # ids of the passages that the previous answer cited
    doubted: str = ""  # the previous answer, if a person doubts it
    said: str = ""  # the reply to a turn that asks nothing of the documents
    cited: list[Any] = field(default_factory=list)  # the citations of that reply
    drafts: list[str] = field(default_factory=list)
    written: dict[str, float | None] = field(default_factory=dict)
    """The drafts of a chat model, each with the mean log-probability of its tokens if the server told it."""
    search: list[str] = field(default_factory=list)  # search words of the writer of the draft
    computed: Computed | None = None  # the computation behind the draft; at the end, behind the answer
    attempts: list[Attempt] = field(default_factory=list)
    halted: str = ""  # why no further correction can be made, after a permanent failure
    decided: str = ""  # the last choice of a person: accept, edit, search or abstain

    degraded: list[str] = field(default_factory=list)
    models: dict[str, str] = field(default_factory=dict)
    llm_calls: int = 0
    tokens: dict[str, int] = field(default_factory=dict)
    timings_ms: dict[str, float] = field(default_factory=dict)

    abstained: bool = False
    confidence: float | None = None
    confidence_level: Level | None = None
    is_grounded: bool | None = None
    accepted: bool | None = None
    decision: Decided | None = None
    citations: list[Citation] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    verification: RunChecked | None = None
    issues: list[str] = field(default_factory=list)
    nearest: list[Nearest] = field(default_factory=list)
    stopped: str = ""


class CragInput(BaseModel):
    """A question; optionally an answer to verify and correct, and passages to use instead of the store."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    question: str = Field(
        default="",
        description="The question; by default the last of the messages.",
        json_schema_extra={"examples": ["What is CRAG?"]},
    )
    answer: str | None = Field(default=None, description="An answer to verify and correct instead of writing one.")
    passages: list[str | dict[str, Any]] | None = Field(
        default=None, description="Passages to use instead of searching: strings, or objects with text and metadata."
    )
    messages: list[dict[str, Any]] | None = Field(
        default=None, description="The conversation so far, so that a follow-up question can be understood."
    )


class Response(TypedDict):
    """The result of a run: the answer, the decision on it, and the reason."""

    question: str
    asked: Annotated[
        str, Field(description="The question as it was understood: in a conversation, as it stands alone.")
    ]
    answer: str
    abstained: bool
    confidence: Annotated[float | None, Field(description="0..1; null where verification was off.")]
    confidence_level: Level | None
    is_grounded: Annotated[
        bool | None,
        Field(description="Whether the passages support the answer, at the threshold, and it was not refused."),
    ]
    accepted: Annotated[bool | None, Field(description="Whether the answer is given without a doubt.")]
    decision: Annotated[
        Decided | None,
        Field(
            description="`outcome` (accepted, doubtful, refused), `confidence`, `threshold`, `set_by`, `why`; null "
            "where verification was off."
        ),
    ]
    citations: list[Citation]
    computed: Annotated[
        Computed | None,
        Field(description="For an answer that was computed over a table: the query, the figure and the rows."),
    ]
    conflicts: Annotated[
        list[Conflict],
        Field(
            description="Pairs of passages that answer the question differently; the newer one first if it is known."
        ),
    ]
    verification: Annotated[RunChecked | None, Field(description="null where verification was off or failed.")]
    attempts: list[Attempt]
    issues: Annotated[list[str], Field(description="The faults of the answer, in plain sentences.")]
    nearest: Annotated[list[Nearest], Field(description="After an abstention: the nearest passages, best first.")]
    stopped: Annotated[
        str, Field(description="Why the loop ended: accepted, nothing at fault, attempts used up, and the like.")
    ]
    degraded: Annotated[
        list[str], Field(description="Parts that did not run as requested, each with the reason; empty if all did.")
    ]
    models: Annotated[dict[str, str], Field(description="The models and parts that ran, by role.")]
    llm_calls: int
    tokens: Annotated[
        dict[str, int], Field(description="Tokens that chat models `read` and `wrote`; empty if none ran.")
    ]
    timings_ms: dict[str, float]
    __interrupt__: NotRequired[Sequence[Any]]  # the question to a person, for a run that waits


_SHOWN: Final[dict[str, Any]] = {
    name: (kind, ...) for name, kind in get_type_hints(Response, include_extras=True).items() if name[0] != "_"
}
CragOutput = create_model("CragOutput", __doc__="The response of a run.", __config__={"defer_build": True}, **_SHOWN)
"""`Response` as the graph and the server check it."""


class VerifyInput(BaseModel):
    """An answer and the passages to verify it against."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    answer: str = Field(description="The answer to verify.")
    passages: list[str | dict[str, Any]] = Field(
        description="Passages that must support the answer: strings, or objects with text and metadata."
    )
    question: str | None = Field(default=None, description="The question of the answer, if there is one.")


@dataclass
class VerifyState:
    """State of the verify graph: its input, and the verification."""

    answer: str = ""
    passages: list[Any] = field(default_factory=list)
    question: str | None = None
    confidence: float | None = None
    level: Level | None = None
    is_grounded: bool | None = None
    accepted: bool | None = None
    decision: Decided | None = None
    claims: list[ClaimRow] = field(default_factory=list)
    signals: dict[str, float] = field(default_factory=dict)
    issues: list[str] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
    models: dict[str, str] = field(default_factory=dict)
    llm_calls: int = 0
    tokens: dict[str, int] = field(default_factory=dict)
    ms: float = 0.0


_MEASURED: Final[dict[str, Any]] = {f.name: (f.type, ...) for f in fields(VerifyState)[len(VerifyInput.model_fields) :]}
VerifyOutput = create_model(
    "VerifyOutput", __doc__="The verification of one answer.", __config__={"defer_build": True}, **_MEASURED
)

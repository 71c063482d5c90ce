"""The options of a run: a caller's `context=`, and the form that Studio shows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic_core.core_schema import (
    CoreSchema,
    literal_schema,
    no_info_after_validator_function,
    str_schema,
    union_schema,
)

from cragraph.choices import JUDGES, SPECIALIST
from cragraph.errors import InputError
from cragraph.types import Mode, OnLowConfidence
from cragraph.verification.decision import DEFAULT_THRESHOLD, Threshold

MAX_ATTEMPTS: Final = 10  # the largest `max_crag_attempts`; the graph's recursion limit follows from it

PRESETS: Final[dict[Mode, dict[str, Any]]] = {
    "low": {"min_chunks": 1, "verify": False, "second_pass_k": 5},
    "balanced": {"min_chunks": 2, "verify": True, "second_pass_k": 8},
    "high": {"min_chunks": 3, "verify": True, "second_pass_k": 10},
}
"""What each mode sets: options, unless they are set explicitly, and the passages kept on correction passes."""

PolicyName = Literal["auto", "calibrated", "claims", "weighted", "reliability", "similarity"]


@dataclass(frozen=True)
class OneOf:
    """Marks a text that must be one of these names, or begin with the prefix.

    With `others` (a description), any text that `known` accepts is valid too.
    """

    names: tuple[str, ...]
    prefix: str = ""
    others: tuple[str, ...] = ()
    known: Callable[[str], bool] | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        """The schema that pydantic checks and Studio shows as a form."""
        if self.known is not None:
            return no_info_after_validator_function(self._checked, str_schema())
        named = literal_schema(list(self.names))
        if not self.prefix:
            return named
        wanted = f"wanted one of {', '.join(self.names)}, or {self.prefix} and a name"
        choices: list[CoreSchema | tuple[CoreSchema, str]] = [named, str_schema(pattern=f"^{self.prefix}.+")]
        return union_schema(choices, custom_error_type="one_of", custom_error_message=wanted)

    def _checked(self, value: str) -> str:
        if value in self.names or (self.known is not None and self.known(value)):
            return value
        raise ValueError(f"wanted one of {', '.join((*self.names, *self.others))}")


JudgeName = Annotated[str, OneOf(("auto", *JUDGES, "custom"), SPECIALIST)]


def _names(value: Any) -> Any:
    """The collections from a text with commas, or a list; `all` means no choice."""
    given = [value] if isinstance(value, str) else value
    texts = [text for text in given if isinstance(text, str)] if isinstance(given, list | tuple) else []
    names = dict.fromkeys(name.strip() for text in texts for name in text.split(","))
    if value is not None and (not names or not all(names) or len(texts) != len(given)):
        # An empty choice must not mean all: a program may have found that a person may see none.
        raise ValueError("wanted the name of a collection, or several, or all")
    return None if value is None or any(name.casefold() == "all" for name in names) else tuple(names)


GONE: Final = {
    "num_predict": "it is an eighth of `num_ctx`, at least 256",
    "ask_on_low_confidence": "set `on_low_confidence` to ask",
    "second_pass_k": "`mode` says how many passages a correction reads, and `top_k` where it is more",
    "chunk_overlap": "it is 15 % of `chunk_size`",
    "max_file_chunks": "it follows from `max_file_mb`: 500 chunks per megabyte, at least 50,000",
    "file_seconds": "it follows from `max_file_mb`: 1.2 seconds per megabyte, at least 120",
    "passage_window": "a passage is read as it is; a larger `chunk_size` reads more of the text around a sentence",
    "relevance_floor": "passages are ranked, and the judge decides what they support; `top_k` reads fewer",
    "threads": "the embedded models take as many cores as there are, four at most",
    "identifier_fields": "ticker, year and filing_type are read; `SignalOptions(identifier_fields=…)` takes others",
    "attribution_threshold": "it is 0.7; `SignalOptions(attribution_threshold=…)` takes another",
    "uncertainty_phrases": "`ValidationConfig(uncertainty_words=…)` takes your own",
    "claim_extractor": "sentences are claims, and a model that judges finds its own; `ClaimExtractor` asks a model",
    "file_total_seconds": "it follows from `max_file_mb`: 9 seconds per megabyte, at least 900",
}
"""Names that were settings once, each with what to do now."""

OTHER_NAMES: Final = {
    "enable_verification": ("boolean", "Another name of `verify`."),
    "crag": ("boolean", "False is `max_crag_attempts` 0."),
    "inference_mode": ("string", "Another name of `mode`."),
}


_BOUNDS: Final = {"ge": "at least {}", "gt": "more than {}", "le": "at most {}", "lt": "less than {}"}


def wrong_fields(error: ValidationError, model: type[BaseModel]) -> list[tuple[tuple[str, ...], Any, str]]:
    """Each wrong field of a model once, with the given value and the wanted one in plain words.

    A field is a path, empty if the error has no field; the wanted value is empty for an unknown field.
    """
    found: dict[tuple[str, ...], tuple[Any, str]] = {}
    for problem in error.errors():
        place, given = tuple(map(str, problem["loc"])), problem.get("ctx", {})
        wanted = problem["msg"].removeprefix("Value error, ").replace("Input should be ", "wanted ").partition(", ")[0]
        if problem["type"] in ("extra_forbidden", "value_error", "one_of"):
            wanted = "" if problem["type"] == "extra_forbidden" else problem["msg"].removeprefix("Value error, ")
        elif problem["type"] == "literal_error":
            wanted = f"wanted {given['expected']}".replace("'", "")
        elif given.keys() & _BOUNDS.keys():
            parts = model.model_fields[place[0]].metadata if place and place[0] in model.model_fields else []
            limits = {name: getattr(part, name) for part in parts for name in _BOUNDS if hasattr(part, name)}
            limits = {name: f"{value:g}" for name, value in (limits or given).items() if name in _BOUNDS}
            each = " and ".join(_BOUNDS[name].format(value) for name, value in limits.items())
            wanted = f"wanted {limits['ge']} to {limits['le']}" if {*limits} == {"ge", "le"} else f"wanted {each}"
        found.setdefault(place, (problem.get("input"), wanted))
    return [(place, came, wanted) for place, (came, wanted) in found.items()]


def options_of(given: Mapping[str, Any], model: "type[Context] | None" = None) -> "Context":
    """The options of a run from a mapping. Raises InputError that names each wrong option."""
    model = model or Context
    try:
        return model(**given)
    except ValidationError as error:
        lines = []
        for (name, *inside), came, wanted in (
            (place or ("crag",), *rest) for place, *rest in wrong_fields(error, model)
        ):
            if wanted:
                lines.append(f"{'.'.join([name, *inside])} came as {came!r:.200}: {wanted}")
            else:
                close = get_close_matches(name, model.model_fields, n=1)
                if name in GONE:
                    lines.append(f"{name} is no option any more: {GONE[name]}")
                    continue
                known = f"did you mean {close[0]}?" if close else f"there are {', '.join(model.model_fields)}"
                lines.append(f"there is no option {name!r}: {known}")
        raise InputError(f"The options cannot be used: {'; '.join(lines)}.".replace("?.", "?")) from None


LABELS: Final = {
    "mode": "How strict the check is",
    "confidence_threshold": "Confidence from which an answer is accepted",
    "max_crag_attempts": "How many corrections are tried",
    "verify": "Whether the claims are judged",
    "policy": "How the confidence is computed",
    "judge": "Who judges the claims",
    "min_chunks": "How many passages an answer needs",
    "top_k": "How many passages are read",
    "where": "Filter of the documents' metadata",
    "sources": "Files and folders that are searched",
    "collection": "Collections that are searched",
    "on_low_confidence": "What is returned below the threshold",
    "best_of": "How many answers are written to choose from",
    "show_claims": "Whether the verdict on each claim is shown",
    "known_facts": "Facts that an answer must not contradict",
    "deadline_s": "Seconds after which no correction starts",
}
"""The options of a run in words, as forms show them: the page, and LangGraph Studio."""


def _label(name: str, _: Any) -> str:
    return LABELS.get(name, name.replace("_", " ").capitalize())


def _with_other_names(schema: dict[str, Any]) -> None:
    """The schema with the other names too, because LangGraph's server drops names that the schema lacks."""
    schema["properties"] |= {
        name: {"anyOf": [{"type": type_}, {"type": "null"}], "default": None, "description": text}
        for name, (type_, text) in OTHER_NAMES.items()
    }


class Context(BaseModel):
    """Per-run options. A field left at None takes its mode's value."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        field_title_generator=_label,
        json_schema_extra=_with_other_names,
    )

    mode: Mode = Field(default="balanced", description="How strict: low (fast, unverified), balanced or high.")
    confidence_threshold: float = Field(
        default=DEFAULT_THRESHOLD,
        ge=0,
        le=1,
        description="Smallest confidence with which an answer is accepted. Below it the answer is corrected, then "
        "handled by `on_low_confidence`. A threshold that is set replaces one that `cragraph calibrate` fitted.",
    )
    max_crag_attempts: int = Field(
        default=2, ge=0, le=MAX_ATTEMPTS, description="How many times an answer may be corrected; 0 corrects none."
    )
    verify: bool | None = Field(
        default=None, description="Judge the answer's claims. By mode: low no, balanced yes, high yes."
    )
    policy: PolicyName = Field(
        default="auto",
        description="How verdicts and signals become a confidence. auto is calibrated for the judges that it was "
        "fitted to, and claims for the others.",
    )
    judge: JudgeName = Field(
        default="auto",
        description="Who judges the claims. auto takes the best judge that is available; ollama:<model> is a model "
        "made to judge, such as ollama:bespoke-minicheck.",
    )
    min_chunks: int | None = Field(
        default=None, ge=0, description="Abstain if fewer passages than this are found. By mode: 1, 2, 3."
    )
    top_k: int | None = Field(
        default=None,
        ge=1,
        le=50,
        description="Passages kept for the first pass: 5, or 3 with the llm reranker and one query; "
        "8 for a capable chat model and one query. A correction keeps 5, 8 or 10 by mode, and no fewer than these.",
    )
    where: dict[str, Any] | None = Field(
        default=None, description='Metadata filter, e.g. {"year": 2023} or {"year": {"$gte": 2020}}.'
    )
    sources: tuple[str, ...] | None = Field(
        default=None, description="Answer only from these files and folders of the store."
    )
    collection: Annotated[tuple[str, ...] | None, BeforeValidator(_names)] = Field(
        default=None,
        description="Answer only from these collections of the store, e.g. work, or several with commas; all means "
        "every collection.",
    )
    on_low_confidence: Literal[OnLowConfidence, "ask"] = Field(
        default="doubt",
        description="What to return below the threshold. abstain: no answer. flag: the answer, as doubtful. "
        "prune: only its supported sentences. doubt: a supported answer of at least 0.4 (a quotation "
        "that was chosen here: 0.25; a chat model's words: 0.5), as doubtful; else no answer. ask: wait for a person "
        "to accept, edit, search or abstain, if no correction helps; needs a checkpointer.",
    )
    best_of: int = Field(default=1, ge=1, le=10, description="Answers written and judged per pass; the best is kept.")
    show_claims: bool = Field(default=False, description="Put verdict and evidence of each claim into the response.")
    known_facts: tuple[str, ...] = Field(default=(), description="Facts that the answer must not contradict.")
    deadline_s: float | None = Field(
        default=None, gt=0, description="Seconds after which no new correction starts; the best attempt is returned."
    )

    @model_validator(mode="before")
    @classmethod
    def _other_names(cls, data: Any) -> Any:
        """Read `enable_verification` as `verify`, `inference_mode` as `mode`, and `crag: false` as no corrections."""
        if not isinstance(data, Mapping) or not OTHER_NAMES.keys() & data.keys():
            return data
        read = dict(data)
        if "enable_verification" in read:
            read.setdefault("verify", read.pop("enable_verification"))
        if (mode := read.pop("inference_mode", None)) is not None:
            read.setdefault("mode", mode)
        if TypeAdapter(bool | None).validate_python(read.pop("crag", None)) is False:
            read["max_crag_attempts"] = 0
        return read

    def resolved(self) -> Self:
        """A copy with every unset field filled in by the mode.

        In the copy the collections are part of `where`, so that every search is limited to them.
        """
        preset = PRESETS[self.mode]
        unset: dict[str, Any] = {name: value for name, value in preset.items() if getattr(self, name) is None}
        if self.collection is not None:
            unset |= {"where": self.filter, "collection": None}
        return self.model_copy(update=unset)

    @property
    def filter(self) -> dict[str, Any] | None:
        """The filter of searches: `where`, limited to the chosen collections."""
        if self.collection is None:
            return self.where
        among: dict[str, Any] = {"collection": {"$in": list(self.collection)}}
        return {"$and": [among, self.where]} if self.where else among

    @property
    def threshold(self) -> float | None:
        """The confidence threshold if a person set one, else None, as a calibration may have its own."""
        return self.confidence_threshold if "confidence_threshold" in self.model_fields_set else None

    @property
    def unjudged_threshold(self) -> Threshold:
        """The threshold if no answer was judged, so that no judge's calibration counts."""
        return Threshold() if self.threshold is None else Threshold(self.threshold, "person")

    @property
    def judging(self) -> dict[str, Any]:
        """The arguments of the run for a verifier."""
        names = ("judge", "policy", "known_facts", "threshold", "deadline_s")
        low = "doubt" if self.asks else self.on_low_confidence
        return {"on_low_confidence": low} | {name: getattr(self, name) for name in names}

    @property
    def asks(self) -> bool:
        """Whether a person is asked below the threshold."""
        return self.on_low_confidence == "ask"

    @property
    def second_pass_k(self) -> int:
        """The number of passages kept on correction passes."""
        return max(int(PRESETS[self.mode]["second_pass_k"]), self.top_k or 0)

    def over(self, defaults: "Context") -> "Context":
        """These options over some defaults: only options that were set count."""
        return defaults.model_copy(update={name: getattr(self, name) for name in self.model_fields_set})


JUDGING: Final = frozenset(
    {"confidence_threshold", "on_low_confidence", "judge", "policy", "known_facts", "deadline_s"}
)
"""The options that have an effect on verifying a given answer without search and writing."""


class JudgingContext(Context):
    """Per-run options of the verify graph. Its form shows the options with an effect; it accepts any `Context`."""

    model_config = ConfigDict(
        json_schema_extra=lambda form: form.update(
            properties={name: field for name, field in form["properties"].items() if name in JUDGING}
        ),
        defer_build=True,
    )

"""Settings of a process: explicit argument > environment > .env > cragraph.yaml > mode preset > default."""

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from dotenv import dotenv_values
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)
from pydantic_settings import SettingsError as SourceError

from cragraph.errors import SettingsError
from cragraph.graph.context import Context
from cragraph.tables import CLAIM_EXTRACTORS, RERANKERS, OneOf

PREFIX: Final = "CRAG_"
NOT_OURS: Final = frozenset({"CRAG_DATA", "CRAG_CONFIG"})
"""Variables with our prefix that are no settings: the evaluation data's folder, and the settings file's path."""

ALIASES: Final = {
    "ENABLE_VERIFICATION": ("verify",),
    "CONFIDENCE_THRESHOLD": ("confidence_threshold",),
    "OLLAMA_HOST": ("ollama", "base_url"),
}
"""Variables without our prefix that are understood too, in the environment and in `.env`.

Those of answer validation are read by `cragraph.validation.ValidationConfig`.
"""

LIFTED: Final = ("confidence_threshold", "max_crag_attempts", "show_claims")
"""Per-run fields that the file's `verification:` block may hold."""


Share = Annotated[float, Field(ge=0, le=1)]

RELIABILITY: Final = ("retrieval_quality", "source_agreement", "hallucination_score", "consistency_score")
"""What the reliability policy weighs."""


class Group(BaseModel):
    """A nested group of settings; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class OllamaSettings(Group):
    """How an Ollama server is asked."""

    base_url: str | None = Field(default=None, description="The server's URL; OLLAMA_HOST, else the local default.")
    num_ctx: int = Field(default=8192, ge=512, description="Tokens of context that the model is loaded with.")
    num_predict: int = Field(default=1024, ge=16, description="Tokens that an answer may have at most.")
    keep_alive: str = Field(
        default="10m", pattern=r"^-?\d+[smh]?$", description="How long the server keeps the model loaded: 90s, 10m, 2h."
    )
    seed: int = Field(default=0, description="Random seed, for repeatable answers.")

    @property
    def keep_seconds(self) -> int:
        """`keep_alive` in seconds."""
        number, unit = self.keep_alive.rstrip("smh"), self.keep_alive[-1]
        return int(number) * {"m": 60, "h": 3600}.get(unit, 1)


class IngestSettings(Group):
    """How documents are read and split."""

    chunk_size: int = Field(default=1000, ge=50, le=20_000, description="Characters a chunk has at most.")
    chunk_overlap: int = Field(default=150, ge=0, description="Characters that neighbouring chunks share at most.")
    max_file_mb: float = Field(default=100.0, gt=0, description="Larger files are skipped, with a reason.")
    file_seconds: float = Field(default=120.0, gt=0, description="A file that takes longer to read is skipped.")
    file_memory_mb: int = Field(default=1024, ge=64, description="A file that needs more memory to read is skipped.")

    @model_validator(mode="after")
    def _overlap_is_smaller(self) -> "IngestSettings":
        if self.chunk_overlap >= self.chunk_size:
            raise ValueError(f"chunk_overlap {self.chunk_overlap} must be smaller than chunk_size {self.chunk_size}")
        return self


class VerificationSettings(Group):
    """What the verification's signals look at."""

    identifier_fields: tuple[str, ...] = Field(
        default=("ticker", "year", "filing_type"),
        description="Metadata fields whose values count as citations of a source.",
    )
    uncertainty_phrases: tuple[str, ...] = Field(
        default=(), description="Phrases of uncertainty beside the built-in ones."
    )
    reliability_weights: dict[str, Share] | None = Field(
        default=None,
        description="Weights of the reliability policy: retrieval_quality, source_agreement, hallucination_score, "
        "consistency_score; they must sum to 1.",
    )
    claims: Annotated[str, OneOf(*CLAIM_EXTRACTORS)] = Field(
        default="sentences", description="What finds the claims, where the judge does not find them itself."
    )
    attribution_threshold: Share = Field(
        default=0.7, description="Similarity above which a passage counts as a source of a claim."
    )
    judge_timeout_s: float = Field(
        default=300.0, gt=0, description="Seconds that a judge may take before the next one is asked."
    )
    smallest_judge: float = Field(
        default=2.0,
        ge=0,
        description="Billions of parameters that a chat model must have to judge unasked; a smaller one leaves judging "
        "to the encoder.",
    )
    cascade_band: tuple[Share, Share] = Field(
        default=(0.35, 0.75), description="Support scores between which the cascade asks the second judge."
    )

    @field_validator("reliability_weights")
    @classmethod
    def _sum_to_one(cls, weights: dict[str, float] | None) -> dict[str, float] | None:
        if weights is not None and (unknown := weights.keys() - set(RELIABILITY)):
            raise ValueError(f"there is no {min(unknown)} to weigh; there are {', '.join(RELIABILITY)}")
        if weights is not None and abs(sum(weights.values()) - 1) > 1e-6:
            raise ValueError(f"the weights sum to {sum(weights.values()):g}; they must sum to 1")
        return weights

    @field_validator("cascade_band")
    @classmethod
    def _in_order(cls, band: tuple[float, float]) -> tuple[float, float]:
        if band[0] > band[1]:
            raise ValueError(f"the band begins at {band[0]:g}, above its end at {band[1]:g}: swap them")
        return band


class CalibrationSettings(Group):
    """What the scores of a judge mean on one's own answers; `cragraph calibrate` writes it."""

    slope: float = Field(default=1.0, gt=0, description="What the logit of a claim's chance is multiplied by.")
    bias: float = Field(default=0.0, description="What is added to it.")
    threshold: Share | None = Field(default=None, description="Accept from this confidence, where none is set.")
    rows: int = Field(default=0, ge=0, description="Labelled answers that it was fitted on.")


class Settings(Context, BaseSettings):
    """Everything that can be set; the per-run fields of `Context` are the defaults of every run."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", env_file=".env", extra="forbid", frozen=True, allow_inf_nan=False
    )

    store: str | None = Field(default=".cragraph", description="Folder or server URL of the store; empty for none.")
    retriever: str | None = Field(
        default=None,
        description="module:name of a LangChain retriever or vector store, or of a function that makes one, to search "
        "instead of the store.",
    )
    collection: str = Field(default="cragraph", min_length=3, description="Name of the collection in the store.")
    embeddings: str = Field(default="embedded", description="Embedding model: embedded, or ollama:<model>.")
    model: str | None = Field(
        default=None, description="Chat model, e.g. ollama:llama3.2; none: the embedded parts answer."
    )
    base_url: str | None = Field(
        default=None,
        description="URL of the chat model's server, such as http://localhost:8080/v1 for openai:<model>; none: the "
        "provider's own, for Ollama `ollama.base_url`.",
    )
    judge_model: str | None = Field(default=None, description="Chat model that judges; none: the same as `model`.")
    nli_model: Path | None = Field(default=None, description="Folder of an ONNX sequence classifier for the nli judge.")
    nli_labels: tuple[str, ...] = Field(
        default=(), description="What its outputs mean, in order, where its config.json does not say or says it wrong."
    )
    search: Literal["hybrid", "dense", "lexical"] = Field(default="hybrid", description="How passages are found.")
    reranker: Annotated[str, OneOf("auto", *RERANKERS)] = Field(default="auto", description="How they are ranked.")
    multi_query: bool = Field(
        default=False, description="Rewrite the question into several queries with the chat model."
    )
    source_weights: dict[str, Share] = Field(
        default={},
        description="Reliability 0..1 by source pattern, in ranking and in confidence, e.g. {'drafts/*': 0.5}.",
    )
    prompts: Path | None = Field(
        default=None, description="Folder whose prompts replace the built-in ones of the same name."
    )
    timeout_s: float = Field(
        default=120.0, gt=0, description="Seconds without a token after which a model call has stalled."
    )
    max_concurrency: int = Field(default=4, ge=1, le=64, description="Model calls that run at the same time.")
    calls_per_minute: int | None = Field(default=None, ge=1, description="Model calls that begin in a minute at most.")
    threads: int | None = Field(
        default=None, ge=1, description="Threads of the embedded models; none: as many as cores."
    )
    metrics_log: Path | None = Field(
        default=None, description="File that gets one JSON line a run; none: nothing is logged."
    )
    ollama: OllamaSettings = OllamaSettings()
    ingest: IngestSettings = IngestSettings()
    verification: VerificationSettings = VerificationSettings()
    calibration: dict[str, CalibrationSettings] = Field(
        default={}, description="By judge, what its scores mean on your own answers; `cragraph calibrate` writes it."
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The other names of the environment go behind it, those of `.env` behind `.env`, the file last."""
        return (
            init_settings,
            env_settings,
            Found(settings_cls, aliases(os.environ)),
            OwnDotEnvSource(settings_cls),
            Found(settings_cls, aliases(dotenv_values(".env"))),
            Found(settings_cls, in_file()),
        )

    def context(self) -> Context:
        """The per-run options that these settings make the default."""
        return Context(**{n: getattr(self, n) for n in self.model_fields_set if n in Context.model_fields})


def load_settings(**explicit: Any) -> Settings:
    """Settings from every source; raises SettingsError naming the file or variable that is wrong."""
    refuse_unknown_variables(Settings)
    try:
        return Settings(**explicit)
    except ValidationError as error:
        raise SettingsError(explained(error, explicit, Settings)) from None
    except SourceError as error:
        raise SettingsError(f"{error}: a list or a mapping in the environment is written as JSON.") from None


def context_schema(settings: Settings, base: type[Context] = Context) -> type[Context]:
    """The options of a run with these settings as their defaults: what Studio shows as a form."""
    defaults = settings.context()
    changed: dict[str, Any] = {}
    for name in defaults.model_fields_set:
        info = Context.model_fields[name]
        changed[name] = (info.annotation, info._copy())
        changed[name][1].default = getattr(defaults, name)
    return create_model("Context", __base__=base, __doc__=base.__doc__, **changed) if changed else base


# -- where settings come from ----------------------------------------------------------------------------------


class OwnDotEnvSource(DotEnvSettingsSource):
    """The `.env` file without the variables of other programs, which may share it."""

    def __call__(self) -> dict[str, Any]:
        """Our variables, without their prefix."""
        ours = {f: v for f, v in super().__call__().items() if f in self.settings_cls.model_fields}
        strays = {n[len(PREFIX) :].lower(): v for n, v in self.env_vars.items() if n.upper().startswith(PREFIX)}
        return {n: v for n, v in strays.items() if n.split("__")[0] not in self.settings_cls.model_fields} | ours


class Found(PydanticBaseSettingsSource):
    """Settings that were read already."""

    def __init__(self, settings_cls: type[BaseSettings], found: dict[str, Any]) -> None:
        super().__init__(settings_cls)
        self._found = found

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        """One of them; not used, as all are given at once."""
        return self._found.get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        """All of them."""
        return self._found


def aliases(variables: Mapping[str, str | None]) -> dict[str, Any]:
    """The settings that variables without our prefix set; an empty one sets nothing."""
    found: dict[str, Any] = {}
    for variable, path in ALIASES.items():
        if value := (variables.get(variable) or "").strip():
            inner = found if len(path) == 1 else found.setdefault(path[0], {})
            inner[path[-1]] = value
    return found


def config_path() -> Path | None:
    """The settings file: CRAG_CONFIG, which must exist, else `cragraph.yaml`, else `config.yaml` in this folder."""
    named = os.environ.get("CRAG_CONFIG")
    if named and not Path(named).is_file():
        raise SettingsError(f"CRAG_CONFIG names {named}, which is not a file: correct it or unset it.")
    return next(
        (path for path in map(Path, [named] if named else ["cragraph.yaml", "config.yaml"]) if path.is_file()), None
    )


def in_file() -> dict[str, Any]:
    """The settings of the file; of a `config.yaml`, which other programs have too, only our two blocks."""
    path = config_path()
    if path is None:
        return {}
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}" if mark else ""
        why = getattr(error, "problem", None) or error
        raise SettingsError(f"{path}{place} is not YAML ({why}): correct that line.") from None
    if not isinstance(data, Mapping):
        raise SettingsError(f"{path} holds a {type(data).__name__}; wanted settings, one `name: value` a line.")
    if path.name == "config.yaml" and not os.environ.get("CRAG_CONFIG"):
        data = {name: data[name] for name in ("verification", "crag") if name in data}
    return lift_blocks(data)


def lift_blocks(data: Mapping[str, Any]) -> dict[str, Any]:
    """Read the blocks ``verification: {enabled: true, …}`` and ``crag: {enabled: true}`` as per-run fields."""
    lifted = dict(data)
    crag = lifted.get("crag")
    if isinstance(crag, Mapping) and set(crag) == {"enabled"}:
        lifted["crag"] = crag["enabled"]
    block = lifted.get("verification")
    if isinstance(block, Mapping):
        rest = dict(block)
        for name in ("enabled", "enable"):
            if name in rest:
                lifted.setdefault("verify", rest.pop(name))
        for name in LIFTED:
            if name in rest:
                lifted.setdefault(name, rest.pop(name))
        lifted["verification"] = rest
    return lifted


# -- which source to blame for a wrong one -----------------------------------------------------------------------


def refuse_unknown_variables(settings: type[BaseSettings]) -> None:
    """Raise SettingsError for a variable with our prefix that no setting has."""
    known = {f"{PREFIX}{name}".upper() for name in settings.model_fields}
    for variable in os.environ:
        if not variable.upper().startswith(PREFIX) or variable in NOT_OURS:
            continue
        head = variable.upper().split("__")[0]
        if head not in known:
            raise SettingsError(f"The environment variable {variable} is no setting{_hint(head, known)}")


def explained(error: ValidationError, explicit: Mapping[str, Any], settings: type[BaseSettings]) -> str:
    """One line a problem: the source that holds it, what came and what was wanted."""
    lines = []
    for problem in error.errors():
        path = [str(part) for part in problem["loc"]]
        source = _source_of(path, explicit, settings)
        if problem["type"] == "extra_forbidden":
            known = set(settings.model_fields) if len(path) == 1 else set()
            lines.append(f"{source}: unknown setting {'.'.join(path)!r}{_hint(path[-1], known)}")
        else:
            came = problem.get("input")
            lines.append(
                f"{source}: {'.'.join(path)} came as {came!r}: {problem['msg'].removeprefix('Value error, ')}."
            )
    return "\n".join(lines)


def source_of(path: list[str]) -> str:
    """Where a setting that nobody passed as an argument comes from."""
    return _source_of(path, {}, Settings)


def _source_of(path: list[str], explicit: Mapping[str, Any], settings: type[BaseSettings]) -> str:
    if _holds(explicit, path):
        return "argument"
    if _holds(EnvSettingsSource(settings)(), path):
        variable = PREFIX + "__".join(path).upper()
        return f"environment variable {variable if variable in os.environ else PREFIX + path[0].upper()}"
    if _holds(aliases(os.environ), path):
        return f"environment variable {_alias(path)}"
    if _holds(OwnDotEnvSource(settings)(), path):
        return ".env"
    if _holds(aliases(dotenv_values(".env")), path):
        return f".env, {_alias(path)}"
    return str(config_path() or "settings")


def _alias(path: list[str]) -> str:
    return next(variable for variable, setting in ALIASES.items() if list(setting) == path[: len(setting)])


def _holds(data: Any, path: list[str]) -> bool:
    for part in path[:2]:
        if not isinstance(data, Mapping) or part not in data:
            return False
        data = data[part]
    return True


def _hint(name: str, known: set[str]) -> str:
    close = sorted(one for one in known if one.startswith(f"{name}_")) or get_close_matches(name, known, n=1)
    return f": did you mean {close[0]}?" if close else "; see cragraph.example.yaml for the settings there are."

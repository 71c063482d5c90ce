"""Settings of a process: argument > environment > .env > cragraph.yaml > ~/.config/cragraph/config.yaml > default."""

import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final

import yaml
from dotenv import dotenv_values
from pydantic import BeforeValidator, Field, ValidationError, create_model, field_validator
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)
from pydantic_settings import SettingsError as SourceError

from cragraph import trust
from cragraph.choices import COMPRESSORS_NAMED, RERANKERS, is_compressor
from cragraph.documents import Limits
from cragraph.errors import SettingsError
from cragraph.graph.context import GONE, Context, OneOf, wrong_fields
from cragraph.verification.policies import POLICIES, JudgeCalibration, checked_weights

PREFIX: Final = "CRAG_"
NOT_OURS: Final = frozenset({"CRAG_DATA", "CRAG_CONFIG", "CRAG_TOKEN"})
"""Variables with our prefix that are no settings: evaluation data, the settings file, a server's token."""

ALIASES: Final = {
    "ENABLE_VERIFICATION": "verify",
    "CONFIDENCE_THRESHOLD": "confidence_threshold",
    "OLLAMA_HOST": "ollama_host",
}
"""Variables without our prefix that are read too, in the environment and in `.env`.

Those of answer validation are read by `cragraph.founding.ValidationConfig`.
"""


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


LEAST_PREDICT: Final = 256  # tokens that a model may write in a small context: an answer of some sentences
Share = Annotated[float, Field(ge=0, le=1)]


class Settings(Context, BaseSettings):
    """All settings; the per-run fields of `Context` are the defaults of every run."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_file=".env", extra="forbid", frozen=True, allow_inf_nan=False
    )

    store: Annotated[str | None, BeforeValidator(_as_text)] = Field(
        default=".cragraph",
        description="Folder of the store, or chroma:FOLDER, chroma:http://host:port; empty for none.",
    )
    retriever: str | None = Field(
        default=None,
        description="module:name of a LangChain retriever or vector store, or of a function that makes one, to search "
        "instead of the store.",
    )
    embeddings: str = Field(
        default="embedded",
        description="Embedding model: embedded, ollama:<model>, fastembed:<model>, a provider of LangChain's "
        "init_embeddings such as huggingface:<model> or openai:<model>, or one that an installed package brings.",
    )
    model: str | None = Field(
        default=None, description="Chat model, e.g. ollama:llama3.2; none: the embedded parts answer."
    )
    judge_model: str | None = Field(default=None, description="Chat model that judges; none: the same as `model`.")
    base_url: str | None = Field(
        default=None,
        description="URL of the chat model's server, such as http://localhost:8080/v1 for openai:<model>; none: the "
        "provider's own, for Ollama `ollama_host`.",
    )
    ollama_host: str | None = Field(default=None, description="Address of the Ollama server; none: this machine's.")
    num_ctx: int = Field(
        default=8192,
        ge=512,
        description="Tokens of context that an Ollama model is loaded with; a model may write an eighth of them.",
    )
    timeout_s: float = Field(
        default=120.0, gt=0, description="Seconds without a token after which a model call has stalled."
    )
    max_concurrency: int = Field(default=4, ge=1, le=64, description="Model calls that run at the same time.")
    calls_per_minute: int | None = Field(default=None, ge=1, description="Model calls that begin per minute at most.")
    prompts: Path | None = Field(
        default=None, description="Folder whose prompts replace the built-in ones of the same name."
    )
    nli_model: Path | None = Field(default=None, description="Folder of an ONNX sequence classifier for the nli judge.")
    reranker: Annotated[
        str, OneOf(("auto", *RERANKERS), others=(*COMPRESSORS_NAMED, "a package's own"), known=is_compressor)
    ] = Field(
        default="auto",
        description="How passages are ranked; also flashrank:<model>, cross-encoder:<model>, cohere:<model>, or one "
        "that an installed package brings.",
    )
    multi_query: bool = Field(
        default=False, description="Rewrite the question into several queries with the chat model."
    )
    extractive_fallback: bool = Field(
        default=True,
        description="Where the chat model's answer is not accepted, quote what the passages say where that is worth "
        "showing; where the model is small, quote before it is asked.",
    )
    source_weights: dict[str, Share] = Field(
        default={},
        description="Reliability 0..1 by source pattern, in ranking and in confidence, e.g. {'drafts/*': 0.5}.",
    )
    chunk_size: int = Field(default=1000, ge=50, le=20_000, description="Characters a chunk has at most.")
    max_file_mb: float = Field(
        default=100.0,
        gt=0,
        description="Larger files are skipped, with a reason. A larger limit also raises the chunks taken of a file "
        "(50,000) and the seconds for reading it (120).",
    )
    reliability_weights: dict[str, Share] | None = Field(
        default=None,
        description="Weights of the reliability policy: retrieval_quality, source_agreement, hallucination_score, "
        "consistency_score; they must sum to 1.",
    )
    calibration: dict[str, JudgeCalibration] = Field(
        default={}, description="The calibration of each judge on your own answers; `cragraph calibrate` writes it."
    )
    history: bool = Field(
        default=True,
        description="Keep the questions of the shell, the page and agents in a log beside the store; see "
        "`cragraph log`.",
    )
    metrics_log: Path | None = Field(
        default=None, description="File that gets one JSON line per run; none: nothing is logged."
    )

    @field_validator("reliability_weights")
    @classmethod
    def _sum_to_one(cls, weights: dict[str, float] | None) -> dict[str, float] | None:
        return {**checked_weights(POLICIES["reliability"], weights)} if weights else None

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *_: Any, **__: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """An argument comes first, then what `sources` finds."""
        return (init_settings, *(InitSettingsSource(settings_cls, values) for _, values in sources()))

    @property
    def num_predict(self) -> int:
        """The number of tokens that a model may write."""
        return max(LEAST_PREDICT, self.num_ctx // 8)

    @property
    def limits(self) -> Limits:
        """The limits of a file; those of time and chunks grow with `max_file_mb`."""
        usual = Limits()
        times = max(1.0, self.max_file_mb / type(self).model_fields["max_file_mb"].default)
        return replace(
            usual,
            seconds=times * usual.seconds,
            total_seconds=times * usual.total_seconds,
            chunks=int(times * usual.chunks),
        )

    def context(self) -> Context:
        """The per-run options that these settings make the default."""
        return Context(**{n: getattr(self, n) for n in self.model_fields_set if n in Context.model_fields})


GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "Loop": ("mode", "confidence_threshold", "max_crag_attempts", "on_low_confidence",
             "deadline_s", "show_claims", "history", "metrics_log"),
    "Retrieval": ("store", "retriever", "embeddings", "reranker", "multi_query", "top_k", "min_chunks",
                  "where", "sources", "collection", "source_weights", "chunk_size"),
    "Generation": ("model", "extractive_fallback", "best_of", "prompts"),
    "Verification": ("verify", "judge", "judge_model", "nli_model", "policy", "reliability_weights", "calibration",
                     "known_facts"),
    "Model server": ("base_url", "ollama_host", "num_ctx", "timeout_s", "max_concurrency",
                     "calls_per_minute"),
    "Limits of a file": ("max_file_mb",),
}  # fmt: skip
"""The settings by what they are for, as the documents show them."""


def load_settings(**explicit: Any) -> Settings:
    """Settings from every source. Raises SettingsError that names the wrong file or variable."""
    return loaded(explicit)


Chosen = Settings | Mapping[str, Any] | str | PathLike[str] | None
"""Settings of a caller: an object, a dictionary, or a settings file; None: environment and `cragraph.yaml`."""


def as_settings(given: Chosen) -> Settings:
    """The settings of a caller. Raises SettingsError for a wrong one."""
    if isinstance(given, Settings):
        return given
    if isinstance(given, str | PathLike):
        return load_settings(**in_file(Path(given)))
    if given is None or isinstance(given, Mapping):
        return load_settings(**(given or {}))
    raise SettingsError(
        f"The settings came as a {type(given).__name__}; wanted Settings, a dictionary or a file's path."
    )


def loaded(explicit: Mapping[str, Any], called: Mapping[str, str] = MappingProxyType({})) -> Settings:
    """`load_settings` with errors that name arguments as the user wrote them: `called` has those names."""
    known = {f"{PREFIX}{name}".upper() for name in Settings.model_fields}
    for variable in os.environ:
        if variable.upper().startswith(PREFIX) and variable not in NOT_OURS and variable.upper() not in known:
            raise SettingsError(f"The environment variable {variable} is no setting{_hint(variable.upper(), known)}")
    try:
        return Settings(**explicit)
    except ValidationError as error:
        raise SettingsError(explained(error, explicit, called)) from None
    except SourceError as error:
        raise SettingsError(f"{error}: a list or a mapping in the environment is written as JSON.") from None


def context_schema(settings: Settings, base: type[Context] = Context) -> type[Context]:
    """The schema of a run's options with these settings as defaults, which Studio shows as a form."""
    defaults = settings.context()
    changed: dict[str, Any] = {}
    for name in defaults.model_fields_set:
        info = Context.model_fields[name]
        changed[name] = (info.annotation, info._copy())
        changed[name][1].default = getattr(defaults, name)
    return create_model("Context", __base__=base, __doc__=base.__doc__, **changed) if changed else base


# -- where settings come from, and which source to blame for a wrong one ----------------------------------------


def sources() -> list[tuple[str, dict[str, Any]]]:
    """The settings of each source, in order of precedence: the environment, the folder's `.env` and settings file (only
    allowed ones, `cragraph.trust`), the user's own file."""
    path, own = config_path(), trust.home() / "config.yaml"
    of_folder = in_file(path)
    if path is not None and not os.environ.get("CRAG_CONFIG"):
        of_folder = trust.allowed(path, of_folder)
    return [
        ("environment variable", EnvSettingsSource(Settings)()),
        ("environment variable", aliases(os.environ)),
        (".env", trust.allowed(Path(".env"), aliases(dotenv_values(".env")) | in_dotenv())),
        (str(path or "settings"), of_folder),
        (str(own), in_file(own if own.is_file() else None)),
    ]


def in_dotenv() -> dict[str, Any]:
    """Our variables of `.env`, without their prefix; those of other programs, which may share the file, are ignored."""
    read = DotEnvSettingsSource(Settings)
    ours = {name[len(PREFIX) :].lower() for name in read.env_vars if name.upper().startswith(PREFIX)}
    values = {name: value for name, value in read().items() if name in Settings.model_fields}
    return dict.fromkeys(ours - Settings.model_fields.keys() - {"token"}) | values


def aliases(variables: Mapping[str, str | None]) -> dict[str, Any]:
    """The settings from variables without our prefix; an empty variable sets nothing."""
    given = {name: (variables.get(variable) or "").strip() for variable, name in ALIASES.items()}
    return {name: value for name, value in given.items() if value}


def config_path() -> Path | None:
    """The settings file: CRAG_CONFIG, which must exist, else `cragraph.yaml`, else `config.yaml` in this folder."""
    named = os.environ.get("CRAG_CONFIG")
    if named and not Path(named).is_file():
        raise SettingsError(f"CRAG_CONFIG names {named}, which is not a file: correct it or unset it.")
    places = map(Path, [named] if named else ["cragraph.yaml", "config.yaml"])
    return next((path for path in places if path.is_file()), None)


def in_file(path: Path | None) -> dict[str, Any]:
    """The settings of a file; from a folder's `config.yaml`, which other programs use too, only our two blocks.

    These are ``verification: {enabled: true, …}`` and ``crag: {enabled: true}``; their entries count as settings.
    """
    if path is None:
        return {}
    try:
        text = path.read_text(encoding="utf-8")
        trust.check_yaml(text)
        data = yaml.safe_load(text) or {}
    except OSError as error:
        raise SettingsError(f"{path} cannot be read ({error.strerror or error}): correct the path.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}" if mark else ""
        why = getattr(error, "problem", None) or error
        raise SettingsError(f"{path}{place} is not YAML ({why}): correct that line.") from None
    if not isinstance(data, dict):
        raise SettingsError(f"{path} holds a {type(data).__name__}; wanted settings, one `name: value` per line.")
    if path == Path("config.yaml") and not os.environ.get("CRAG_CONFIG"):
        data = {name: data[name] for name in ("verification", "crag") if name in data}
    if isinstance(crag := data.get("crag"), Mapping) and set(crag) == {"enabled"}:
        data["crag"] = crag["enabled"]
    if isinstance(block := data.get("verification"), Mapping):
        del data["verification"]
        data = {"verify" if name in ("enabled", "enable") else name: value for name, value in block.items()} | data
    return {str(name).lower(): value for name, value in data.items()}  # as pydantic reads the names


def explained(error: ValidationError, explicit: Mapping[str, Any], called: Mapping[str, str]) -> str:
    """One line per problem: its source, the value, and the wanted value."""
    lines = []
    for place, came, wanted in wrong_fields(error, Settings):
        # Only `crag`, which is no field, has no place.
        name, *inside = place or ("crag",)
        source = source_of(name, explicit)
        if not wanted:
            hint = _hint(name, set(Settings.model_fields))
            if isinstance(came, Mapping):
                hint = ": settings have no groups; write those in it at the top level."
            lines.append(f"{source}: {'no' if name in GONE else 'unknown'} setting {name!r}{hint}")
        else:
            given = called.get(name) if name in explicit else None
            lines.append(
                f"{given or f'{source}: {name}'}{''.join(f'.{part}' for part in inside)} came as {came!r}: {wanted}."
            )
    return "\n".join(lines)


def source_of(name: str, explicit: Collection[str] = ()) -> str:
    """Where a setting comes from: an argument, a variable, or a file."""
    if name in explicit:
        return "argument"
    place = next((place for place, values in sources() if name in values), "default")
    if place != "environment variable":
        return place
    own = f"{PREFIX}{name}".upper()
    return f"{place} {own if own in os.environ else next(v for v, setting in ALIASES.items() if setting == name)}"


def _hint(name: str, known: set[str]) -> str:
    if (gone := name.removeprefix(PREFIX).lower()) in GONE:
        return f" any more: {GONE[gone]}."
    parts = name.rpartition("__")
    inner = f"{PREFIX}{parts[2]}" if parts[1] else name
    close = sorted(one for one in known if one.startswith(f"{name}_") or one == inner)
    close = close or get_close_matches(name, known, n=1)
    return f": did you mean {close[0]}?" if close else "; see cragraph.example.yaml for the settings there are."

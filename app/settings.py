"""Settings of a process: explicit argument > environment > .env > cragraph.yaml > mode preset > default."""

from pathlib import Path
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings import SettingsError as SourceError
from yaml import YAMLError

from cragraph.errors import SettingsError
from cragraph.graph.context import Context
from cragraph.settings_sources import (
    PREFIX,
    BlocksSource,
    OwnDotEnvSource,
    config_path,
    explained,
    refuse_unknown_variables,
)


class Group(BaseModel):
    """A nested group of settings; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class OllamaSettings(Group):
    """How an Ollama server is asked."""

    base_url: str | None = Field(None, description="The server's URL; OLLAMA_HOST, else the local default.")
    num_ctx: int = Field(8192, ge=512, description="Tokens of context that the model is loaded with.")
    num_predict: int = Field(1024, ge=16, description="Tokens that an answer may have at most.")
    keep_alive: str = Field("10m", description="How long the server keeps the model loaded.")
    seed: int = Field(0, description="Random seed, for repeatable answers.")


class IngestSettings(Group):
    """How documents are read and split."""

    chunk_size: int = Field(1000, ge=50, le=20_000, description="Characters a chunk has at most.")
    chunk_overlap: int = Field(150, ge=0, description="Characters that neighbouring chunks share at most.")
    max_file_mb: float = Field(100.0, gt=0, description="Larger files are skipped, with a reason.")

    @model_validator(mode="after")
    def _overlap_is_smaller(self) -> "IngestSettings":
        if self.chunk_overlap >= self.chunk_size:
            raise ValueError(f"chunk_overlap {self.chunk_overlap} must be smaller than chunk_size {self.chunk_size}")
        return self


class VerificationSettings(Group):
    """What the verification's signals look at."""

    identifier_fields: tuple[str, ...] = Field(
        ("ticker", "year", "filing_type"),
        description="Metadata fields whose values count as citations of a source.",
    )
    uncertainty_phrases: tuple[str, ...] = Field((), description="Phrases of uncertainty beside the built-in ones.")
    reliability_weights: dict[str, float] | None = Field(
        None,
        description="Weights of the reliability policy: retrieval_quality, source_agreement, hallucination_score, "
        "consistency_score; they must sum to 1.",
    )
    claims: Literal["sentences", "llm"] = Field(
        "sentences", description="What finds the claims, where the judge does not find them itself."
    )
    attribution_threshold: float = Field(
        0.7, ge=0, le=1, description="Similarity above which a passage counts as a source of a claim."
    )
    judge_timeout_s: float = Field(
        300.0, gt=0, description="Seconds that a judge may take before the next one is asked."
    )
    cascade_band: tuple[float, float] = Field(
        (0.35, 0.75), description="Support scores between which the cascade asks the second judge."
    )

    @field_validator("reliability_weights")
    @classmethod
    def _sum_to_one(cls, weights: dict[str, float] | None) -> dict[str, float] | None:
        if weights is not None and abs(sum(weights.values()) - 1) > 1e-6:
            raise ValueError(f"the weights sum to {sum(weights.values()):g}; they must sum to 1")
        return weights


class Settings(Context, BaseSettings):
    """Everything that can be set; the per-run fields of `Context` are the defaults of every run."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", env_file=".env", extra="forbid", frozen=True
    )

    store: str | None = Field(".cragraph", description="Folder or server URL of the store; empty for in-memory.")
    collection: str = Field("cragraph", min_length=3, description="Name of the collection in the store.")
    embeddings: str = Field("embedded", description="Embedding model: embedded, or ollama:<model>.")
    model: str | None = Field(None, description="Chat model, e.g. ollama:llama3.2; none: the embedded parts answer.")
    judge_model: str | None = Field(None, description="Chat model that judges; none: the same as `model`.")
    nli_model: Path | None = Field(None, description="Folder of an ONNX sequence classifier for the nli judge.")
    search: Literal["hybrid", "dense", "lexical"] = Field("hybrid", description="How passages are found.")
    reranker: Literal["auto", "none", "lexical", "encoder", "llm"] = Field("auto", description="How they are ranked.")
    multi_query: bool = Field(False, description="Rewrite the question into several queries with the chat model.")
    source_weights: dict[str, float] = Field(
        {}, description="Reliability 0..1 by source pattern, in ranking and in confidence, e.g. {'drafts/*': 0.5}."
    )
    prompts: Path | None = Field(None, description="Folder whose prompts replace the built-in ones of the same name.")
    timeout_s: float = Field(120.0, gt=0, description="Seconds without a token after which a model call has stalled.")
    max_concurrency: int = Field(4, ge=1, le=64, description="Model calls that run at the same time.")
    threads: int | None = Field(None, ge=1, description="Threads of the embedded models; none: as many as cores.")
    metrics_log: Path | None = Field(None, description="File that gets one JSON line a run; none: nothing is logged.")
    ollama: OllamaSettings = OllamaSettings()
    ingest: IngestSettings = IngestSettings()
    verification: VerificationSettings = VerificationSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Put the YAML file after the environment and `.env`."""
        path = config_path()
        sources = (init_settings, env_settings, OwnDotEnvSource(settings_cls))
        return (*sources, BlocksSource(settings_cls, path)) if path else sources

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
    except YAMLError as error:
        raise SettingsError(f"{config_path()} is not YAML: {error}: correct that line.") from None
    except SourceError as error:
        raise SettingsError(f"{error}: a list or a mapping in the environment is written as JSON.") from None


def context_schema(settings: Settings) -> type[Context]:
    """`Context` with these settings as its defaults: what Studio shows as a form."""
    defaults = settings.context()
    changed: dict[str, Any] = {}
    for name in defaults.model_fields_set:
        info = Context.model_fields[name]
        changed[name] = (info.annotation, info._copy())
        changed[name][1].default = getattr(defaults, name)
    return create_model("Context", __base__=Context, __doc__=Context.__doc__, **changed) if changed else Context

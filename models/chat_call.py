"""Calling a chat model so that nothing it does can hang, flood or break a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import sleep
from typing import TYPE_CHECKING, Any, Final

from cragraph.errors import DeadlineError, ModelError, ModelUnavailableError
from cragraph.models.chat_errors import Target, broken_off, is_transient, translate
from cragraph.models.deadline import remaining
from cragraph.models.pump import Gate, Pump, StalledError
from cragraph.models.thinking import without_thinking
from cragraph.protocols import Notes

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessageChunk

QUIET: Final = "nostream"
"""The tag that keeps a call's tokens out of LangGraph's ``stream_mode="messages"``."""

Messages = Sequence[tuple[str, str]]
"""(role, text) pairs; roles are ``system`` and ``human``."""


@dataclass(frozen=True)
class ChatReply:
    """What a model wrote, without its thinking. `cut` says that it did not end by itself."""

    text: str
    cut: bool = False


@dataclass(frozen=True)
class ChatCaller:
    """A chat model with the limits that every call to it keeps.

    `timeout_s` bounds the silence before and between tokens, `max_chars` the whole reply, `gate` the calls
    at once (share one gate among the callers of one server). A transient fault is tried again `retries`
    times, waiting `backoff_s`, then twice as long each time.
    """

    model: "BaseChatModel"
    name: str = ""
    timeout_s: float = 120.0
    max_chars: int = 20_000
    retries: int = 2
    backoff_s: float = 0.5
    gate: Gate = field(default_factory=lambda: Gate(4))

    @property
    def title(self) -> str:
        """The model's name, as the person wrote it where that is known."""
        return self.name or str(getattr(self.model, "model", None) or type(self.model).__name__)

    @property
    def num_ctx(self) -> int | None:
        """How many tokens the prompt and the reply may have together, None where nobody knows."""
        known = getattr(self.model, "num_ctx", None)
        profile: Mapping[str, Any] = getattr(self.model, "profile", None) or {}
        return known or profile.get("max_input_tokens")

    @property
    def num_predict(self) -> int | None:
        """How many tokens a reply may have, None where nobody knows."""
        for attribute in ("num_predict", "max_tokens"):
            known = getattr(self.model, attribute, None)
            if isinstance(known, int) and known > 0:
                return known
        return None

    @property
    def seed(self) -> int | None:
        """The model's random seed, None where it has none."""
        seed = getattr(self.model, "seed", None)
        return seed if isinstance(seed, int) else None

    def __call__(
        self,
        messages: Messages,
        notes: Notes,
        *,
        schema: Mapping[str, Any] | None = None,
        temperature: float = 0.0,
        quiet: bool = True,
    ) -> ChatReply:
        """Call the model and return all it wrote; each try counts as one call in `notes`.

        `schema` is a JSON schema for Ollama's `format`; with it, reasoning is off. `quiet` keeps the tokens
        out of the message stream. Raises `ModelNotFoundError`, `ModelUnavailableError` (after the retries),
        `ModelError`, or `DeadlineError` when the run's deadline passes.
        """
        for attempt in range(self.retries + 1):
            try:
                return self._once(messages, notes, schema, temperature, quiet)
            except ModelUnavailableError as error:
                pause = self.backoff_s * 2**attempt
                left = remaining()
                hopeless = not is_transient(error) or (left is not None and left <= pause)
                if attempt == self.retries or hopeless:
                    raise
                notes.degraded(f"A call to {self.title} was tried again: {error}")
                sleep(pause)
        raise AssertionError("the loop above returns or raises")

    def _once(
        self,
        messages: Messages,
        notes: Notes,
        schema: Mapping[str, Any] | None,
        temperature: float,
        quiet: bool,
    ) -> ChatReply:
        left = remaining()
        try:
            self.gate.enter(left)
        except StalledError:
            raise self._too_late() from None
        except Exception as error:
            raise translate(error, self._target, self.timeout_s) from error
        try:
            notes.called()
            return self._read(messages, notes, schema, temperature, quiet)
        except (DeadlineError, ModelError):
            raise
        except StalledError as error:
            if remaining() == 0.0:
                raise self._too_late() from error
            raise translate(error, self._target, self.timeout_s) from error
        except Exception as error:  # whatever a provider's client raises becomes one of ours
            raise translate(error, self._target, self.timeout_s) from error
        finally:
            self.gate.leave()

    def _read(
        self,
        messages: Messages,
        notes: Notes,
        schema: Mapping[str, Any] | None,
        temperature: float,
        quiet: bool,
    ) -> ChatReply:
        model = tuned(self.model, temperature, schema)
        tags = [QUIET] if quiet else []
        pump: Pump[BaseMessageChunk] = Pump(
            lambda: model.stream([(role, text) for role, text in messages], config={"tags": tags})
        )
        self.gate.watch(pump)
        text = ""
        last: dict[str, Any] = {}
        usage: Mapping[str, Any] = {}
        for chunk in pump.read(self._patience):
            text += chunk.text
            last = {**last, **chunk.response_metadata}
            usage = getattr(chunk, "usage_metadata", None) or usage
            if len(text) > self.max_chars:
                notes.degraded(f"{self.title} wrote more than {self.max_chars} characters; the rest was cut off.")
                return ChatReply(without_thinking(text[: self.max_chars]), cut=True)
        if self._target.ollama and last.get("done") is not True:
            raise broken_off(self._target)
        self._warn_of_truncation(usage, notes)
        return ChatReply(without_thinking(text), cut=last.get("done_reason", last.get("finish_reason")) == "length")

    def _patience(self) -> float | None:
        left = remaining()
        return self.timeout_s if left is None else min(self.timeout_s, left)

    def _warn_of_truncation(self, usage: Mapping[str, Any], notes: Notes) -> None:
        total = int(usage.get("input_tokens") or 0) + int(usage.get("output_tokens") or 0)
        if self._target.ollama and self.num_ctx and total >= self.num_ctx:
            notes.degraded(
                f"The prompt and the reply filled the context of {self.title} ({self.num_ctx} tokens), "
                "so some of the prompt may have been lost: raise CRAG_OLLAMA__NUM_CTX."
            )

    def _too_late(self) -> DeadlineError:
        return DeadlineError(f"the run's deadline passed while {self.title} was asked: raise CRAG_DEADLINE_S.")

    @property
    def _target(self) -> Target:
        url = str(getattr(self.model, "base_url", None) or "")
        return Target(self.title, url, ollama=self.model._llm_type == "chat-ollama")


def tuned(model: "BaseChatModel", temperature: float, schema: Mapping[str, Any] | None) -> "BaseChatModel":
    """The same model at this temperature; with `schema`, held to it and not reasoning, where the model can
    do that.
    """
    wanted: dict[str, Any] = {"temperature": temperature}
    if schema is not None and model._llm_type == "chat-ollama":
        wanted |= {"format": dict(schema), "reasoning": False}
    known = type(model).model_fields
    return model.model_copy(update={key: value for key, value in wanted.items() if key in known})

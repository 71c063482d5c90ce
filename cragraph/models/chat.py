"""Calls to a chat model with limits, so that no call can hang, flood or break a run."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from cragraph.errors import CragError, ModelError, encodable, printable
from cragraph.models.budget import Messages, estimated_tokens, fitting
from cragraph.models.examined import Worth, by_size, worth_shown
from cragraph.models.http import run
from cragraph.models.replies import Record, UnreadableError, parse, repetition, schema_of, without_thinking
from cragraph.models.servers import PATIENCE, Target, billions, late, translate, tried
from cragraph.prompts import Prompts
from cragraph.protocols import Notes, remaining
from cragraph.types import Passage

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessageChunk

QUIET: Final = "nostream"  # the tag that keeps a call's tokens out of LangGraph's ``stream_mode="messages"``
READ_TOKENS: Final = 4000  # prompt tokens that double the allowed time to the first token
LOOK: Final = 80  # characters between checks of a reply for repetition
# A prompt was cut if the server read less than this share of the estimate: estimates are off by less.
READ_SHARE: Final = 0.5


class Gate:
    """Limits calls to `places` at once and `per_minute` starts per minute; closing it cancels all of them."""

    def __init__(self, places: int, per_minute: int | None = None) -> None:
        self.places = places
        self.per_minute = per_minute
        self.closed = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running: set[asyncio.Task[Any]] = set()
        self._next = 0.0
        _GATES.add(self)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Wait for a place and hold it."""
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._semaphore = loop, asyncio.Semaphore(self.places)
        assert task is not None
        self._running.add(task)
        try:
            async with self._semaphore:
                if self.closed:
                    raise asyncio.CancelledError
                if self.per_minute:
                    begins = max(self._next, monotonic())
                    self._next = begins + 60 / self.per_minute
                    await asyncio.sleep(begins - monotonic())
                yield
        finally:
            self._running.discard(task)

    def close(self) -> None:
        """Cancel every waiting, running and later call."""
        self.closed = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(lambda: [task.cancel() for task in list(self._running)])


_GATES: Final[WeakSet[Gate]] = WeakSet()


def stop_all_calls() -> None:
    """Cancel every model call of this process, as a shell does on Ctrl-C."""
    for gate in list(_GATES):
        gate.close()


# -- calls -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChatReply:
    """A model's reply without its thinking."""

    text: str
    cut: bool = False  # the reply was cut at the limit
    unread: bool = False  # the server seems to have left out part of the prompt
    logprob: float | None = None  # mean log-probability of its tokens, if asked for and if the server gives them


@dataclass(frozen=True)
class ChatCaller:
    """A chat model with the limits of its calls."""

    model: "BaseChatModel"
    name: str = ""
    # Seconds of silence before and between words; a whole reply may take PATIENCE times as long.
    timeout_s: float = 120.0
    max_chars: int = 20_000  # of a whole reply
    retries: int = 2  # after transient faults
    backoff_s: float = 0.5  # before the first retry; twice as long before each other
    gate: Gate = field(default_factory=lambda: Gate(4))  # shared by the callers of one server
    _known: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def billions(self) -> float | None:
        """The model's parameters in billions; None if its server does not give the number, or not yet."""
        if "size" not in self._known and (size := billions(self.model)) is not None:
            self._known["size"] = size
        return self._known.get("size")

    @property
    def worth(self) -> Worth:
        """The model's worth as evidence: by its examination (`cragraph exam`), else by its size."""
        if "worth" not in self._known:
            size = self.billions
            shown = worth_shown(self.model, self.title)
            if size is None and shown is None:
                return by_size(None)  # the server may tell it later
            self._known["worth"] = shown or by_size(size)
        known: Worth = self._known["worth"]
        return known

    @property
    def title(self) -> str:
        """The model's name, as the user wrote it if known."""
        return self.name or str(getattr(self.model, "model", None) or type(self.model).__name__)

    @property
    def num_ctx(self) -> int | None:
        """Tokens of prompt and reply together at most, None if unknown."""
        known = getattr(self.model, "num_ctx", None)
        profile: Mapping[str, Any] = getattr(self.model, "profile", None) or {}
        return known or profile.get("max_input_tokens")

    @property
    def num_predict(self) -> int | None:
        """Tokens of a reply at most, None if unknown."""
        known = [getattr(self.model, name, None) for name in ("num_predict", "max_tokens")]
        return next((tokens for tokens in known if isinstance(tokens, int) and tokens > 0), None)

    def __call__(
        self,
        messages: Messages,
        notes: Notes,
        *,
        schema: Mapping[str, Any] | None = None,
        temperature: float = 0.0,
        quiet: bool = True,
        most: int | None = None,
        logprob: bool = False,
    ) -> ChatReply:
        """Call the model and return its whole reply; each try counts as one call in `notes`.

        Raises a `ModelError` (after retries if they may help), or `DeadlineError` when the run's deadline passes.

        Args:
            schema: a JSON schema for Ollama's `format`; with it, reasoning is off.
            quiet: keeps the tokens out of the message stream.
            most: tokens of the reply at most.
            logprob: asks the server for the tokens' log-probabilities.
        """
        model = tuned(self.model, temperature, schema, most, logprob=logprob)

        failures: list[BaseException] = []
        once = partial(self._once, model, messages, notes, [QUIET] if quiet else [])
        reply = run(tried(once, self.retries, self.backoff_s, failures.append))
        for error in failures:  # if every try fails, the last error says it all
            notes.degraded(f"A call to {self.title} was tried again: {error}")
        return reply

    async def _once(self, model: "BaseChatModel", messages: Messages, notes: Notes, tags: list[str]) -> ChatReply:
        try:
            async with asyncio.timeout(remaining()), self.gate.place():
                notes.called()
                return await self._read(model, messages, notes, tags)
        except asyncio.CancelledError:
            raise ModelError(f"the call to {self.title} was stopped.") from None
        except CragError:
            raise
        except Exception as error:  # any error of a provider's client becomes one of ours
            if isinstance(error, TimeoutError) and remaining() == 0.0:
                raise late(self.title) from error
            raise translate(error, self._target, self.timeout_s) from error

    async def _read(self, model: "BaseChatModel", messages: Messages, notes: Notes, tags: list[str]) -> ChatReply:
        text, looked, logprobs = "", 0, list[float]()
        last: dict[str, Any] = {}
        usage: Mapping[str, Any] = {}
        pieces = _pieces(model, messages, tags)
        # A long prompt takes time to read: the first token may take longer, by the prompt's length.
        sent = sum(estimated_tokens(words) for _, words in messages)
        begun = word = monotonic()
        wait = self.timeout_s * (1 + sent / READ_TOKENS)
        try:
            while True:
                now = monotonic()
                if text.strip() and now > begun + PATIENCE * self.timeout_s:
                    notes.degraded(f"{self.title} wrote for {now - begun:.0f} s; the rest was cut off.")
                    return ChatReply(_clean(text), cut=True)
                # Blanks do not count as words: a broken server sends them for ever.
                if now > min(word + wait, begun + PATIENCE * wait) or remaining() == 0.0:
                    raise TimeoutError
                async with asyncio.timeout(word + wait - now):
                    chunk = await anext(pieces, None)
                if chunk is None:
                    break
                if chunk.text.strip() or chunk.additional_kwargs.get("reasoning_content"):
                    word, wait = monotonic(), self.timeout_s
                text += chunk.text
                last |= chunk.response_metadata
                logprobs += _logprobs(chunk.response_metadata)
                usage = getattr(chunk, "usage_metadata", None) or usage
                if len(text) > self.max_chars:
                    notes.degraded(f"{self.title} wrote more than {self.max_chars} characters; the rest was cut off.")
                    return ChatReply(_clean(text[: self.max_chars]), cut=True)
                # A reply by a schema has bounds; an answer has none.
                if not tags and len(text) - looked >= LOOK:
                    looked = len(text)
                    if again := repetition(text):
                        notes.degraded(f"{self.title} repeated itself and was stopped.")
                        return ChatReply(_clean(text[:again]), cut=True)
        finally:
            read, wrote = usage.get("input_tokens"), usage.get("output_tokens")
            notes.counted(read=read or sent, wrote=wrote or estimated_tokens(text))
            # Close the connection, so that the server stops writing.
            with suppress(RuntimeError):
                await pieces.aclose()
        if self._target.ollama and last.get("done") is not True:
            raise self._target.broke_off()
        read_all, ctx = int(read or 0), self.num_ctx if self._target.ollama else None
        unread = bool(ctx and 0 < read_all < READ_SHARE * sent and 2 * sent > ctx)
        if unread:
            notes.degraded(
                f"{self.title} read {read_all} of about {sent} tokens of the prompt: its server cut the rest off. "
                "Raise the context there, or lower CRAG_NUM_CTX to what it has."
            )
        elif ctx and read_all + int(wrote or 0) >= ctx:
            notes.degraded(
                f"The prompt and the reply filled the context of {self.title} ({ctx} tokens), "
                "so some of the prompt may have been lost: raise CRAG_NUM_CTX."
            )
        cut = last.get("done_reason", last.get("finish_reason")) == "length"
        if cut:
            notes.degraded(
                f"{self.title} was cut off in the middle of its answer: raise CRAG_NUM_CTX, an eighth of it is written."
            )
        mean = sum(logprobs) / len(logprobs) if logprobs else None
        return ChatReply(_clean(text), cut=cut, unread=unread, logprob=mean)

    @property
    def _target(self) -> "Target":
        url = str(getattr(self.model, "base_url", None) or "")
        return Target(self.title, url, ollama=self.model._llm_type == "chat-ollama")


def _logprobs(metadata: Mapping[str, Any]) -> list[float]:
    """The log-probabilities of the tokens of a piece; empty if the server does not tell them."""
    rows = metadata.get("logprobs")
    each = rows if isinstance(rows, list) else []
    values = [row.get("logprob") if isinstance(row, Mapping) else getattr(row, "logprob", None) for row in each]
    return [min(0.0, float(value)) for value in values if isinstance(value, int | float) and isfinite(value)]


def _clean(text: str) -> str:
    """A reply without thinking and without control sequences for terminals."""
    return printable(encodable(without_thinking(text)))


async def _pieces(
    model: "BaseChatModel", messages: Messages, tags: list[str]
) -> "AsyncGenerator[BaseMessageChunk, None]":
    """The model's reply, piece by piece."""
    config: Any = {"tags": tags}
    prompt: Any = list(messages)
    if model._llm_type == "chat-ollama":
        async for piece in model.astream(prompt, config):
            yield piece
        return
    # Other models are streamed in a thread: the connections of their clients may belong to another loop.
    loop, queue, given_up = asyncio.get_running_loop(), asyncio.Queue[Any](), False

    def pump() -> None:
        end: Any = None
        try:
            for piece in model.stream(prompt, config):
                if given_up:
                    break
                loop.call_soon_threadsafe(queue.put_nowait, piece)
        except BaseException as error:
            end = error
        loop.call_soon_threadsafe(queue.put_nowait, end)

    Thread(target=copy_context().run, args=(pump,), daemon=True, name="cragraph-model").start()
    try:
        while (piece := await queue.get()) is not None:
            if isinstance(piece, BaseException):
                raise piece
            yield piece
    finally:
        given_up = True


def tuned(
    model: "BaseChatModel",
    temperature: float,
    schema: Mapping[str, Any] | None,
    most: int | None = None,
    *,
    logprob: bool = False,
) -> "BaseChatModel":
    """The model with this temperature, reply limit and, if the provider supports it, schema."""
    wanted: dict[str, Any] = {"temperature": temperature}
    for name in ("num_predict", "max_tokens"):
        own = getattr(model, name, None)
        if most and (own is None or own > most):
            wanted[name] = most
    if schema is not None and model._llm_type == "chat-ollama":
        wanted |= {"format": dict(schema), "reasoning": False}
    elif schema is not None and model._llm_type == "openai-chat":
        response_format = {"type": "json_schema", "json_schema": {"name": "reply", "schema": dict(schema)}}
        wanted["model_kwargs"] = {**getattr(model, "model_kwargs", {}), "response_format": response_format}
    if logprob and model._llm_type == "chat-ollama":
        wanted["logprobs"] = True
    known = type(model).model_fields
    return model.model_copy(update={key: value for key, value in wanted.items() if key in known})


# -- records ----------------------------------------------------------------------------------------------------

REPAIR = (
    "That could not be read as the JSON that was asked for ({why}). Reply again with the JSON object only: no prose, "
    "no code fence, no comments."
)


def ask(
    caller: ChatCaller,
    messages: Messages,
    record: type[Record],
    notes: Notes,
    *,
    most: int | None = None,
    schema: Mapping[str, Any] | None = None,
) -> Record:
    """Call the model for a record, with one repair. Raises `UnreadableError` if that cannot be read either."""
    schema = schema or schema_of(record)  # the caller's schema may be stricter
    reply = caller(messages, notes, schema=schema, most=most)
    try:
        return parse(reply.text, record)
    except UnreadableError as error:
        why = str(error).rpartition(": ")[2]
    repair = [*messages, ("ai", reply.text[:2000] or "(nothing)"), ("human", REPAIR.format(why=why))]
    return parse(caller(repair, notes, schema=schema, most=most).text, record)


@dataclass(frozen=True)
class ChatPart:
    """A part of the pipeline that calls a chat model with the prompts of its tasks."""

    caller: ChatCaller
    prompts: Prompts = field(default_factory=Prompts)

    @property
    def name(self) -> str:
        """The model's name."""
        return self.caller.title

    def ask(self, record: type[Record], task: str, notes: Notes, *about: Any, **values: Any) -> Record:
        """The record that the model writes for a task; arguments as in `messages`."""
        messages, _ = self.messages(task, notes, *about, **values)
        return ask(self.caller, messages, record, notes, most=values.get("most"))

    def messages(
        self,
        task: str,
        notes: Notes,
        passages: Sequence[Passage] | None = None,
        quoted: Mapping[str, str] | None = None,
        *,
        most: int | None = None,
        title: str = "",
        **values: object,
    ) -> tuple[Messages, list[Passage]]:
        """A task's prompt, and the passages that fit into the context with it and a reply of `most` tokens.

        `quoted` is foreign text, `values` are our own; `title` is the prompt's name in notes, if not its task.
        """
        notes.ran(f"prompt:{task}", self.prompts[task].digest)
        caller, seed = self.caller, getattr(self.caller.model, "seed", None)
        prompt = partial(self.prompts[task].on, seed=seed, quoted=quoted or {}, values=values)
        kept = fitting(passages or (), prompt, caller.num_ctx, most or caller.num_predict, notes, task=title or task)
        return prompt(None if passages is None else kept), kept

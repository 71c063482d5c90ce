"""Calls to a chat model, made so that nothing they do can hang, flood or break a run."""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from cragraph.errors import CragError, DeadlineError, ModelError, plain
from cragraph.models.replies import Record, UnreadableError, parse, schema_of, without_thinking
from cragraph.models.servers import Target, run, translate, tried
from cragraph.passages import own_text
from cragraph.protocols import Notes, remaining
from cragraph.types import Passage

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessageChunk

QUIET: Final = "nostream"
"""The tag that keeps a call's tokens out of LangGraph's ``stream_mode="messages"``."""
READ_TOKENS: Final = 4000
"""Tokens of a prompt that double the time that its first token may take."""
LOOK: Final = 80
"""Characters after which a reply is looked at for repetition."""
RUN: Final = 160
"""Characters of a repetition at least, which also says the same at least three times."""
UNREAD: Final = 0.5
"""Share of the estimated prompt below which it was not read whole: an estimate is off by less than that."""
MARGIN: Final = 0.05
"""Share of the context left free, because tokens are estimated and chat templates add some."""

Messages = Sequence[tuple[str, str]]
"""(role, text) pairs; roles are ``system`` and ``human``."""


class Gate:
    """Lets at most `places` calls run at once and `per_minute` begin per minute; closing it gives all of them up."""

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
        """Wait for a place, and hold it."""
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
        """Give up every waiting and running call, and every later one."""
        self.closed = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(lambda: [task.cancel() for task in list(self._running)])


_GATES: Final[WeakSet[Gate]] = WeakSet()


def stop_all_calls() -> None:
    """Make every model call of this process give up at once: what a shell does on Ctrl-C."""
    for gate in list(_GATES):
        gate.close()


# -- calls -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChatReply:
    """What a model wrote, without its thinking.

    `cut` says that it did not end by itself, `unread` that the server seems to have left out part of the prompt.
    """

    text: str
    cut: bool = False
    unread: bool = False


@dataclass(frozen=True)
class ChatCaller:
    """A chat model with the limits that every call to it keeps.

    `timeout_s` bounds the silence before and between tokens, `max_chars` the whole reply, `gate` the calls at once
    (share one among the callers of one server). A transient fault is tried again `retries` times, after `backoff_s`,
    then twice as long each time.
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
        known = [getattr(self.model, name, None) for name in ("num_predict", "max_tokens")]
        return next((tokens for tokens in known if isinstance(tokens, int) and tokens > 0), None)

    @property
    def seed(self) -> int | None:
        """The model's random seed, None where it has none."""
        seed = getattr(self.model, "seed", None)
        return seed if isinstance(seed, int) else None

    def fitted(
        self,
        passages: Sequence[Passage],
        prompt: Callable[[Sequence[Passage]], Messages],
        notes: Notes,
        task: str,
        most: int | None = None,
    ) -> list[Passage]:
        """The passages that fit with the rest of a prompt, and a reply of `most` tokens, into the context."""
        return fitting(passages, prompt, self.num_ctx, most or self.num_predict, notes, task=task)

    def __call__(
        self,
        messages: Messages,
        notes: Notes,
        *,
        schema: Mapping[str, Any] | None = None,
        temperature: float = 0.0,
        quiet: bool = True,
        most: int | None = None,
    ) -> ChatReply:
        """Call the model and return all it wrote; each try counts as one call in `notes`.

        `schema` is a JSON schema for Ollama's `format`; with it, reasoning is off. `quiet` keeps the tokens out of the
        message stream. `most` is how many tokens the reply may have, where that is fewer than the model's own. Raises
        `ModelNotFoundError`, `ModelUnavailableError` (after the retries), `ModelError`, or `DeadlineError` when the
        run's deadline passes.
        """
        model = tuned(self.model, temperature, schema, most)

        def say(error: BaseException) -> None:
            notes.degraded(f"A call to {self.title} was tried again: {error}")

        once = partial(self._once, model, messages, notes, [QUIET] if quiet else [])
        return run(tried(once, self.retries, self.backoff_s, say))

    async def _once(self, model: "BaseChatModel", messages: Messages, notes: Notes, tags: list[str]) -> ChatReply:
        try:
            async with asyncio.timeout(remaining()), self.gate.place():
                notes.called()
                return await self._read(model, messages, notes, tags)
        except asyncio.CancelledError:
            raise ModelError(f"the call to {self.title} was stopped.") from None
        except CragError:
            raise
        except Exception as error:  # whatever a provider's client raises becomes one of ours
            if isinstance(error, TimeoutError) and remaining() == 0.0:
                raise DeadlineError(
                    f"the run's deadline passed while {self.title} was asked: raise CRAG_DEADLINE_S."
                ) from error
            raise translate(error, self._target, self.timeout_s) from error

    async def _read(self, model: "BaseChatModel", messages: Messages, notes: Notes, tags: list[str]) -> ChatReply:
        text, looked = "", 0
        last: dict[str, Any] = {}
        usage: Mapping[str, Any] = {}
        pieces = _pieces(model, messages, tags)
        # Reading a long prompt is no stall: the first token may take longer, by its length.
        sent = sum(estimated_tokens(words) for _, words in messages)
        wait = self.timeout_s * (1 + sent / READ_TOKENS)
        try:
            while True:
                async with asyncio.timeout(wait):
                    chunk = await anext(pieces, None)
                wait = self.timeout_s
                if chunk is None:
                    break
                text += chunk.text
                last |= chunk.response_metadata
                usage = getattr(chunk, "usage_metadata", None) or usage
                if len(text) > self.max_chars:
                    notes.degraded(f"{self.title} wrote more than {self.max_chars} characters; the rest was cut off.")
                    return ChatReply(_clean(text[: self.max_chars]), cut=True)
                # What is held to a schema has bounds of its own; an answer has none.
                if not tags and len(text) - looked >= LOOK and (again := repetition(text)):
                    notes.degraded(f"{self.title} repeated itself and was stopped.")
                    return ChatReply(_clean(text[:again]), cut=True)
                looked = len(text) if len(text) - looked >= LOOK else looked
        finally:
            read, wrote = usage.get("input_tokens"), usage.get("output_tokens")
            notes.counted(read=read or sent, wrote=wrote or estimated_tokens(text))
            # Hangs up, so that the server stops writing for nobody.
            with suppress(RuntimeError):
                await pieces.aclose()
        if self._target.ollama and last.get("done") is not True:
            raise self._target.broke_off()
        unread = self._warn_of_overflow(sent, usage, notes)
        cut = last.get("done_reason", last.get("finish_reason")) == "length"
        if cut:
            notes.degraded(f"{self.title} was cut off in the middle of its answer: raise CRAG_NUM_PREDICT.")
        return ChatReply(_clean(text), cut=cut, unread=unread)

    def _warn_of_overflow(self, sent: int, usage: Mapping[str, Any], notes: Notes) -> bool:
        """Say where the context was too small; whether the server read much less than the tokens that were sent."""
        read = int(usage.get("input_tokens") or 0)
        if self._target.ollama and self.num_ctx and 0 < read < UNREAD * sent and 2 * sent > self.num_ctx:
            notes.degraded(
                f"{self.title} read {read} of about {sent} tokens of the prompt: its server cut the rest off. Raise "
                "the context there, or lower CRAG_NUM_CTX to what it has."
            )
            return True
        total = read + int(usage.get("output_tokens") or 0)
        if self._target.ollama and self.num_ctx and total >= self.num_ctx:
            notes.degraded(
                f"The prompt and the reply filled the context of {self.title} ({self.num_ctx} tokens), "
                "so some of the prompt may have been lost: raise CRAG_NUM_CTX."
            )
        return False

    @property
    def _target(self) -> "Target":
        url = str(getattr(self.model, "base_url", None) or "")
        return Target(self.title, url, ollama=self.model._llm_type == "chat-ollama")


_ITEM: Final = re.compile(r"^\d+(?=[.)] )", re.M)


def repetition(text: str) -> int:
    """Where a text should end that says the same at least three times in a row up to its end; 0 where it does not.

    The numbers of a list's items do not make them differ.
    """
    text = _ITEM.sub(lambda number: "0" * len(number[0]), text.rstrip())
    before = text.rfind(text[-40:], 0, -1)
    if len(text) < RUN or before < 0:
        return 0
    period = len(text) - 40 - before
    times = max(3, ceil(RUN / period))
    run = text[-period * times :]
    if run != run[:period] * times or not any(map(str.isalnum, run)):
        return 0
    start = len(text) - len(run)
    while start and text[start - 1] == text[start - 1 + period]:
        start -= 1
    end = start + period
    while text[end : end + 1] in tuple(".!?"):
        end += 1
    return end


def _clean(text: str) -> str:
    """A reply without thoughts and without what a terminal would obey."""
    return plain(without_thinking(text))


async def _pieces(
    model: "BaseChatModel", messages: Messages, tags: list[str]
) -> "AsyncGenerator[BaseMessageChunk, None]":
    """What the model writes, piece by piece.

    A model that the caller brought is streamed in a thread: the connections of its client may belong to another loop.
    """
    config: Any = {"tags": tags}
    prompt: Any = list(messages)
    if model._llm_type == "chat-ollama":
        async for piece in model.astream(prompt, config):
            yield piece
        return
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
    model: "BaseChatModel", temperature: float, schema: Mapping[str, Any] | None, most: int | None = None
) -> "BaseChatModel":
    """The same model at this temperature, for replies of `most` tokens; with `schema`, held to it where it can be."""
    wanted: dict[str, Any] = {"temperature": temperature}
    for name in ("num_predict", "max_tokens"):
        own = getattr(model, name, None)
        if most and (own is None or own > most):
            wanted[name] = most
    if schema is not None and model._llm_type == "chat-ollama":
        wanted |= {"format": dict(schema), "reasoning": False}
    elif schema is not None and model._llm_type == "openai-chat":
        held = {"type": "json_schema", "json_schema": {"name": "reply", "schema": dict(schema)}}
        wanted["model_kwargs"] = {**getattr(model, "model_kwargs", {}), "response_format": held}
    known = type(model).model_fields
    return model.model_copy(update={key: value for key, value in wanted.items() if key in known})


# -- keeping a prompt within the context ------------------------------------------------------------------------

_STRETCH = re.compile(r"[A-Za-z]+|\d+|[^\W\d_]+|[^\w\s]|_|\n+", re.A)


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has, rather too many than too few.

    Counted by runs: an ASCII word is one token up to six letters and one more for each six after, digits are
    three a token, punctuation and line breaks one each; letters of other scripts one each, because
    vocabularies of small models split them.
    """
    total = sum(ord(letter) > 127 and letter.isalnum() for letter in text)
    for part in _STRETCH.findall(text):
        if part.isdigit():
            total += ceil(len(part) / 3)
        elif part.isascii() and part.isalpha():
            total += ceil(len(part) / 6)
        else:
            total += 1 if part.isspace() else len(part)
    return total


def fitting(
    passages: Sequence[Passage],
    prompt: Callable[[Sequence[Passage]], Messages],
    num_ctx: int | None,
    num_predict: int | None,
    notes: Notes,
    *,
    task: str,
) -> list[Passage]:
    """The passages, in their order, that fit with the rest of the prompt and the reply into `num_ctx` tokens.

    Text around passages goes first, that of the lowest-ranked before that of others; then the lowest-ranked
    are dropped, whole; if not even the best one fits, it is shortened. What was left out is noted, with `task`
    naming the prompt. Without a known `num_ctx` all passages stay.
    """
    kept = list(passages)
    if num_ctx is None or not kept:
        return kept

    def cost(some: Sequence[Passage]) -> int:
        return sum(estimated_tokens(text) for _, text in prompt(some))

    worst_first = sorted(range(len(kept)), key=lambda n: (kept[n]["rerank_score"] or 0.0, -n))
    reply = min(num_predict or num_ctx // 4, num_ctx // 2)
    room = int(num_ctx * (1 - MARGIN)) - reply
    frame = cost([])
    costs = [max(1, cost([passage]) - frame) for passage in kept]
    narrowed = 0
    for place in worst_first:
        narrow = own_text(kept[place])
        if narrow is not kept[place] and frame + sum(costs) > room:
            kept[place], narrowed = narrow, narrowed + 1
            costs[place] = max(1, cost([narrow]) - frame)
    if narrowed:
        notes.degraded(
            f"{narrowed} of {len(passages)} passages, the lowest ranked, were put into the {task} prompt without the "
            f"text around them, because the model's context of {num_ctx} tokens is too small: raise "
            "CRAG_NUM_CTX or lower passage_window."
        )
    left = set(worst_first)
    for place in worst_first[:-1]:
        if frame + sum(costs[n] for n in left) > room:
            left.remove(place)
    kept, costs = [kept[n] for n in sorted(left)], [costs[n] for n in sorted(left)]
    dropped = len(passages) - len(kept)
    if dropped:
        notes.degraded(
            f"{dropped} of {len(passages)} passages, the lowest ranked, were left out of the {task} prompt, because "
            f"the model's context of {num_ctx} tokens is too small: raise CRAG_NUM_CTX or lower top_k."
        )
    over = frame + costs[0] - room
    if len(kept) == 1 and over > 0:
        text = kept[0]["text"]
        cut = text[: int(len(text) * max(0.0, 1 - over / costs[0]) * 0.95)]
        kept = [{**kept[0], "text": cut.rsplit(" ", 1)[0] if " " in cut else cut}]
        notes.degraded(
            f"The only passage that was left in the {task} prompt was shortened, because the model's context of "
            f"{num_ctx} tokens is too small: raise CRAG_NUM_CTX."
        )
    return kept


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
    """Call the model for a record, with one repair try; raise `UnreadableError` when that cannot be read either.

    `schema` holds the reply closer than the record's own does.
    """
    schema = schema or schema_of(record)
    reply = caller(messages, notes, schema=schema, most=most)
    try:
        return parse(reply.text, record)
    except UnreadableError as error:
        why = str(error).rpartition(": ")[2]
    repair = [*messages, ("ai", reply.text[:2000] or "(nothing)"), ("human", REPAIR.format(why=why))]
    return parse(caller(repair, notes, schema=schema, most=most).text, record)

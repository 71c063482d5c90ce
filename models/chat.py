"""Chat models: built by name, and called so that nothing they do can hang, flood or break a run."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from importlib import import_module
from ipaddress import ip_address
from math import ceil
from queue import Empty, SimpleQueue
from threading import Condition, Event, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar
from urllib.parse import urlsplit
from weakref import WeakSet

from cragraph.errors import (
    DeadlineError,
    ModelError,
    ModelNotFoundError,
    ModelStalledError,
    ModelUnavailableError,
)
from cragraph.models.replies import Record, UnreadableError, parse, schema_of, without_thinking
from cragraph.passages import own_text
from cragraph.protocols import Notes
from cragraph.types import Passage

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessageChunk


_AT: ContextVar[float | None] = ContextVar("cragraph_deadline", default=None)


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Give up on model calls inside the block after `seconds`; an earlier deadline around it stays in
    force.
    """
    outer = _AT.get()
    at = None if seconds is None else monotonic() + seconds
    token = _AT.set(outer if at is None else at if outer is None else min(at, outer))
    try:
        yield
    finally:
        _AT.reset(token)


def remaining() -> float | None:
    """Seconds until the deadline, at least 0; None where there is no deadline."""
    at = _AT.get()
    return None if at is None else max(0.0, at - monotonic())


Item = TypeVar("Item")


class StoppedError(Exception):
    """The caller's gate was closed while it waited."""


class StalledError(Exception):
    """Nothing came within the time that was given."""


class _End:
    """The stream is over: with `error`, or well."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


class Pump(Generic[Item]):
    """Runs an iterator in a thread of its own, so that its reader can give up on it at any moment.

    A model client blocks in a socket read; a reader that waits on a queue instead can time out, meet a
    deadline and be interrupted. The context variables of the caller are copied, so LangGraph's callbacks see
    the tokens.
    """

    def __init__(self, make: Callable[[], Iterator[Item]]) -> None:
        self._queue: SimpleQueue[Item | _End] = SimpleQueue()
        self._abandoned = Event()
        context = copy_context()
        Thread(target=context.run, args=(self._run, make), daemon=True, name="cragraph-chat").start()

    def read(self, seconds: Callable[[], float | None]) -> Iterator[Item]:
        """Yield items as they come; raise `StalledError` when the next one takes longer than `seconds()`."""
        try:
            while True:
                try:
                    item = self._queue.get(timeout=seconds())
                except Empty:
                    raise StalledError from None
                if not isinstance(item, _End):
                    yield item
                elif item.error is None:
                    return
                else:
                    raise item.error
        finally:
            self._abandoned.set()

    def stop(self) -> None:
        """Wake the reader with `StoppedError`; the thread ends at the next item."""
        self._abandoned.set()
        self._queue.put(_End(StoppedError()))

    def _run(self, make: Callable[[], Iterator[Item]]) -> None:
        try:
            stream = make()
            for item in stream:
                if self._abandoned.is_set():
                    break
                self._queue.put(item)
            close = getattr(stream, "close", None)
            if close is not None:
                close()  # hangs up, so that the server stops writing for nobody
        except BaseException as error:  # handed to the reader, who raises it in the caller's thread
            self._queue.put(_End(error))
        else:
            self._queue.put(_End())


class Gate:
    """Lets at most `places` calls through at once, and can be closed to make every one of them give up."""

    def __init__(self, places: int) -> None:
        self.places = places
        self._free = places
        self._closed = False
        self._changed = Condition()
        self._pumps: WeakSet[Pump[Any]] = WeakSet()
        _GATES.add(self)

    def enter(self, seconds: float | None) -> None:
        """Take a place, waiting at most `seconds`."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._closed or self._free > 0, timeout=seconds):
                raise StalledError
            if self._closed:
                raise StoppedError
            self._free -= 1

    def leave(self) -> None:
        """Give the place back."""
        with self._changed:
            self._free += 1
            self._changed.notify()

    def watch(self, pump: Pump[Any]) -> None:
        """Stop this pump too when the gate closes."""
        with self._changed:
            self._pumps.add(pump)
            if self._closed:
                pump.stop()

    def close(self) -> None:
        """Make every waiting and running call raise `StoppedError`."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            for pump in self._pumps:
                pump.stop()

    def open(self) -> None:
        """Let calls through again."""
        with self._changed:
            self._closed = False


_GATES: WeakSet[Gate] = WeakSet()


def stop_all_calls() -> None:
    """Make every model call of this process give up at once: what a shell does on Ctrl-C."""
    for gate in list(_GATES):
        gate.close()


_BUSY: Final = frozenset({408, 409, 425, 429})
_TRANSIENT_NAMES: Final = (
    "Connection",
    "Timeout",
    "RateLimit",
    "Overloaded",
    "ServiceUnavailable",
    "InternalServer",
)
"""How the exceptions of other providers' clients are called when trying again may help."""


@dataclass(frozen=True)
class Target:
    """What was called: `name` as the person wrote it, `url` of the server where it is known."""

    name: str
    url: str = ""
    ollama: bool = False

    @property
    def model(self) -> str:
        """The name without its provider."""
        return self.name.removeprefix("ollama:")

    @property
    def server(self) -> str:
        """The server in words."""
        if self.ollama:
            return f"the Ollama server at {self.url}"
        return f"the server of {self.name}" + (f" at {self.url}" if self.url else "")


def translate(error: Exception, target: Target, waited_s: float) -> ModelError:
    """One of our errors for any error; a `ModelUnavailableError` is transient, the others are not."""
    if isinstance(error, ModelError):
        return error
    if isinstance(error, StoppedError):
        return ModelError(f"the call to {target.name} was stopped.")
    if isinstance(error, StalledError | TimeoutError) or "Timeout" in type(error).__name__:
        return ModelStalledError(
            f"{target.server} sent nothing for {waited_s:g} s; wanted a token: "
            "try a smaller model or a shorter prompt, or raise CRAG_TIMEOUT_S."
        )
    status = _status(error)
    if status is not None and status >= 400:
        return _of_status(status, error, target)
    if _is_refusal(error):
        fix = "start it with `ollama serve`, or set OLLAMA_HOST" if target.ollama else "check its address and network"
        return ModelUnavailableError(f"{target.server} cannot be reached: {fix}.")
    if target.ollama:
        return _of_stream(error, target)
    text = f"{target.name} failed with {type(error).__name__}: {_short(error)}"
    if any(name in type(error).__name__ for name in _TRANSIENT_NAMES) or isinstance(error, OSError):
        return ModelUnavailableError(f"{text}; try again, or check the provider.")
    return ModelError(f"{text}; check the model's name, key and settings.")


def is_transient(error: BaseException) -> bool:
    """Whether trying again may help; a stall has already cost a whole timeout, and the next try would too."""
    return isinstance(error, ModelUnavailableError) and not isinstance(error, ModelStalledError)


def broken_off(target: Target) -> ModelUnavailableError:
    """The stream ended without its last line."""
    return ModelUnavailableError(
        f"{target.server} broke off in the middle of an answer; wanted its end: look at the server's log."
    )


def _of_status(status: int, error: Exception, target: Target) -> ModelError:
    said = _short(error)
    if status == 404 and target.ollama and ("not found" in said or "pull" in said):
        return ModelNotFoundError(
            f"{target.server} has no model {target.model!r}: run `ollama pull {target.model}`, "
            "or choose one of `ollama list`."
        )
    if status == 404:
        return ModelNotFoundError(f"{target.server} does not know {target.name!r} ({said}): check the model's name.")
    if status >= 500 or status in _BUSY:
        return ModelUnavailableError(
            f"{target.server} answered {status} ({said}): try again, or look at the server's log."
        )
    if status in (401, 403):
        return ModelError(f"{target.server} refused the request with {status} ({said}): check the key.")
    return ModelError(f"{target.server} rejected the request with {status} ({said}).")


def _of_stream(error: Exception, target: Target) -> ModelError:
    """Errors in the middle of Ollama's stream: its own, the connection's, or bytes that are not its
    protocol.
    """
    root = type(error).__module__.partition(".")[0]
    if root == "ollama":
        said = _short(error)
        return ModelUnavailableError(
            f"{target.server} reported {said!r} in the middle of an answer: look at the server's log."
        )
    if root in ("httpx", "httpcore") or isinstance(error, OSError):
        return broken_off(target)
    if isinstance(error, ValueError | TypeError | AttributeError | KeyError):
        return ModelUnavailableError(
            f"{target.server} sent bytes that are not Ollama's protocol ({type(error).__name__}): "
            "check that OLLAMA_HOST is an Ollama server."
        )
    return ModelError(f"{target.name} failed with {type(error).__name__}: {_short(error)}.")


def _status(error: Exception) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        status = getattr(holder, "status_code", None)
        if isinstance(status, int):
            return status
    return None


def _is_refusal(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ConnectionRefusedError) or type(error).__name__ == "ConnectError":
            return True
        if isinstance(error, ConnectionError) and "failed to connect" in str(error).lower():
            return True
        error = error.__cause__ or error.__context__
    return False


def _short(error: Exception, limit: int = 200) -> str:
    text = str(getattr(error, "error", None) or error).strip() or type(error).__name__
    return text if len(text) <= limit else f"{text[:limit]}…"


OLLAMA_PORT = 11434
NUM_CTX = 8192
NUM_PREDICT = 1024


def chat_model(
    spec: str,
    *,
    base_url: str | None = None,
    num_ctx: int = NUM_CTX,
    num_predict: int = NUM_PREDICT,
    keep_alive: int | str | None = "10m",
    seed: int | None = 0,
    temperature: float = 0.0,
    timeout_s: float = 120.0,
    reasoning: bool | str | None = False,
) -> "BaseChatModel":
    """Build the chat model that `spec` names; nothing is sent yet.

    `base_url` defaults to ``OLLAMA_HOST``, then to Ollama's own port on this machine. `num_ctx` is always
    sent, because Ollama's default is small and what does not fit is cut off silently. `timeout_s` bounds the
    silence between two tokens, not the whole answer. `reasoning` False asks thinking models not to think
    aloud, None leaves it to the model.
    """
    provider, _, name = spec.partition(":")
    if not provider or not name:
        raise ModelError(
            f"the chat model came as {spec!r}; wanted 'ollama:<model>' (such as ollama:llama3.2) or "
            "'provider:model': write the provider first."
        )
    if provider != "ollama":
        return _through_langchain(spec, provider, temperature, timeout_s)
    # Imported here: langchain-ollama takes a tenth of a second that `cragraph --help` does not have.
    from langchain_ollama import ChatOllama

    url = ollama_url(base_url)
    return ChatOllama(
        model=name,
        base_url=url,
        num_ctx=num_ctx,
        num_predict=num_predict,
        keep_alive=keep_alive,
        seed=seed,
        temperature=temperature,
        reasoning=reasoning,
        client_kwargs=client_options(url, timeout_s),
    )


def client_options(url: str, timeout_s: float) -> dict[str, Any]:
    """Options of the HTTP clients: silence of `timeout_s` is a stall; certificates only where the URL uses them.

    Loading certificates takes longer than everything else at start-up. Connections are not kept alive: one to a
    server that restarted costs a failed call, and a new one on loopback costs nothing.
    """
    from httpx import Limits, Timeout

    return {
        "timeout": Timeout(timeout_s, connect=10.0),
        "limits": Limits(max_keepalive_connections=0),
        "verify": url.startswith("https:"),
    }


def ollama_url(base_url: str | None = None) -> str:
    """The server's URL from an argument or ``OLLAMA_HOST``, in any of the shapes that Ollama itself accepts.

    ``0.0.0.0`` and ``::`` are addresses to listen on; a client connects to the loopback address instead.
    """
    given = (base_url or os.environ.get("OLLAMA_HOST") or "").strip().rstrip("/")
    with_scheme = given if "://" in given else f"http://{given}"
    parts = urlsplit(with_scheme)
    host = parts.hostname or "127.0.0.1"
    try:
        port = parts.port
    except ValueError:
        raise ModelError(f"OLLAMA_HOST came as {given!r}; wanted host:port such as 127.0.0.1:11434.") from None
    try:
        address = ip_address(host)
    except ValueError:
        pass  # a host name
    else:
        if address.is_unspecified:
            host = "::1" if address.version == 6 else "127.0.0.1"
        if address.version == 6:
            host = f"[{host}]"
    if port is None:
        port = OLLAMA_PORT if "://" not in given else 443 if parts.scheme == "https" else 80
    login = f"{parts.username}:{parts.password or ''}@" if parts.username else ""
    return f"{parts.scheme}://{login}{host}:{port}{parts.path.rstrip('/')}"


def _through_langchain(spec: str, provider: str, temperature: float, timeout_s: float) -> "BaseChatModel":
    try:
        build = import_module("langchain.chat_models").init_chat_model
    except ImportError:
        raise ModelError(
            f"the chat model {spec!r} needs the package langchain: run `pip install langchain "
            f"langchain-{provider.replace('_', '-')}`, or use 'ollama:<model>'."
        ) from None
    settings: dict[str, Any] = {"temperature": temperature, "timeout": timeout_s}
    try:
        model: BaseChatModel = build(spec, **settings)
    except ImportError as error:
        raise ModelError(
            f"the chat model {spec!r} needs a package ({error}): run `pip install langchain-{provider}`."
        ) from error
    except ValueError as error:
        raise ModelError(f"the chat model {spec!r} cannot be built: {error}") from error
    return model


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


MARGIN: Final = 0.05
"""Share of the context left free, because tokens are estimated and chat templates add some."""

_RUNS = re.compile(r"[A-Za-z]+|\d+|[^\W\d_]+|[^\w\s]|_|\n+", re.A)


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has, rather too many than too few.

    Counted by runs: an ASCII word is one token up to six letters and one more for each six after, digits are
    three a token, punctuation and line breaks one each; letters of other scripts one each, because
    vocabularies of small models split them.
    """
    total = 0
    for run in _RUNS.findall(text):
        if run.isdigit():
            total += ceil(len(run) / 3)
        elif run.isascii() and run.isalpha():
            total += ceil(len(run) / 6)
        else:
            total += 1 if run.isspace() else len(run)
    return total + sum(1 for character in text if ord(character) > 127 and character.isalnum())


def fitting(
    passages: Sequence[Passage],
    prompt_of: Callable[[Sequence[Passage]], str],
    num_ctx: int | None,
    num_predict: int | None,
    notes: Notes,
    *,
    task: str,
) -> list[Passage]:
    """The passages, best first, that fit with the rest of the prompt and the reply into `num_ctx` tokens.

    Text around passages goes first, that of the lowest-ranked before that of others; then the lowest-ranked
    are dropped, whole; if not even the best one fits, it is shortened. What was left out is noted, with `task`
    naming the prompt. Without a known `num_ctx` all passages stay.
    """
    kept = list(passages)
    if num_ctx is None or not kept:
        return kept
    reply = min(num_predict or num_ctx // 4, num_ctx // 2)
    room = int(num_ctx * (1 - MARGIN)) - reply
    frame = estimated_tokens(prompt_of([]))
    costs = [max(1, estimated_tokens(prompt_of([passage])) - frame) for passage in kept]
    narrowed = 0
    for place in reversed(range(len(kept))):
        narrow = own_text(kept[place])
        if narrow is not kept[place] and frame + sum(costs) > room:
            kept[place], narrowed = narrow, narrowed + 1
            costs[place] = max(1, estimated_tokens(prompt_of([narrow])) - frame)
    if narrowed:
        notes.degraded(
            f"{narrowed} of {len(passages)} passages, the lowest ranked, were put into the {task} prompt without the "
            f"text around them, because the model's context of {num_ctx} tokens is too small: raise "
            "CRAG_OLLAMA__NUM_CTX or lower passage_window."
        )
    while len(kept) > 1 and frame + sum(costs[: len(kept)]) > room:
        kept.pop()
    dropped = len(passages) - len(kept)
    if dropped:
        notes.degraded(
            f"{dropped} of {len(passages)} passages, the lowest ranked, were left out of the {task} prompt, because "
            f"the model's context of {num_ctx} tokens is too small: raise CRAG_OLLAMA__NUM_CTX or lower top_k."
        )
    over = frame + costs[0] - room
    if len(kept) == 1 and over > 0:
        kept = [_shortened(kept[0], max(0.0, 1 - over / costs[0]))]
        notes.degraded(
            f"The only passage that was left in the {task} prompt was shortened, because the model's context of "
            f"{num_ctx} tokens is too small: raise CRAG_OLLAMA__NUM_CTX."
        )
    return kept


def _shortened(passage: Passage, share: float) -> Passage:
    text = passage["text"]
    cut = text[: int(len(text) * share * 0.95)]
    return {**passage, "text": cut.rsplit(" ", 1)[0] if " " in cut else cut}


REPAIR = (
    "That could not be read as the JSON that was asked for ({why}). Reply again with the JSON object only: no prose, "
    "no code fence, no comments."
)


def ask(
    caller: ChatCaller, messages: Messages, record: type[Record], notes: Notes, *, temperature: float = 0.0
) -> Record:
    """Call the model for a record, with one repair try; raise `UnreadableError` when that cannot be read
    either.
    """
    schema = schema_of(record)
    reply = caller(messages, notes, schema=schema, temperature=temperature)
    try:
        return parse(reply.text, record)
    except UnreadableError as error:
        why = str(error).rpartition(": ")[2]
    repair = [*messages, ("ai", reply.text[:2000] or "(nothing)"), ("human", REPAIR.format(why=why))]
    return parse(caller(repair, notes, schema=schema, temperature=temperature).text, record)

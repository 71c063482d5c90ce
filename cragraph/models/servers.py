"""Models by name and their servers: addresses, clients, retries, and errors as ours."""

import os
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

from cragraph.errors import (
    DeadlineError,
    ModelError,
    ModelNotFoundError,
    ModelStalledError,
    ModelUnavailableError,
    SettingsError,
)
from cragraph.models import http
from cragraph.protocols import remaining

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

Result = TypeVar("Result")

OLLAMA_PORT: Final = 11434
NUM_CTX: Final = 8192
NUM_PREDICT: Final = 1024
PATIENCE: Final = 4
KEEP_SECONDS: Final = 600  # time for which an Ollama server keeps a used model loaded
HINT_S: Final = 0.5  # seconds for the search of a running Ollama, which only gives a hint


async def tried(
    call: Callable[[], Awaitable[Result]],
    retries: int = 2,
    backoff_s: float = 0.5,
    say: Callable[[BaseException], None] = lambda error: None,
) -> Result:
    """The result of a call; transient faults are told to `say` and retried until the run's deadline."""
    # Imported here: it takes an eighth of a second that `--help` does not have.
    from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, stop_any, wait_exponential

    def transient(error: BaseException) -> bool:  # a stall has cost a whole timeout, and so would the next try
        return isinstance(error, ModelUnavailableError) and not isinstance(error, ModelStalledError)

    def too_late(state: Any) -> bool:
        return (left := remaining()) is not None and left <= state.upcoming_sleep

    tries = AsyncRetrying(
        retry=retry_if_exception(transient),
        stop=stop_any(stop_after_attempt(retries + 1), too_late),  # type: ignore[arg-type]
        wait=wait_exponential(multiplier=backoff_s),
        before_sleep=lambda state: say(state.outcome.exception()),  # type: ignore[union-attr, arg-type]
        reraise=True,
    )
    return await tries(call)


# -- models and addresses ----------------------------------------------------------------------------------------


def chat_model(
    spec: str,
    *,
    base_url: str | None = None,
    num_ctx: int = NUM_CTX,
    num_predict: int = NUM_PREDICT,
    temperature: float = 0.0,
    timeout_s: float = 120.0,
    reasoning: bool | str | None = False,
) -> "BaseChatModel":
    """Build the chat model that `spec` names; nothing is sent yet.

    A server that speaks OpenAI's protocol (llama.cpp, LM Studio, vLLM) is ``openai:<model>`` with its `base_url`.
    `num_ctx` is always sent, because Ollama silently cuts prompts at its small default. `timeout_s` is the longest
    silence between two tokens. `reasoning` None leaves thinking aloud to the model.
    """
    provider, _, name = spec.partition(":")
    if not provider or not name:
        raise SettingsError(
            f"the chat model came as {spec!r}; wanted 'ollama:<model>' (such as ollama:llama3.2) or "
            "'provider:model': write the provider first."
        )
    if provider == "ollama":
        url = ollama_url(base_url)
        options = http.ollama_options(url, PATIENCE * timeout_s)  # the caller judges what a stall is
        ollama: BaseChatModel = http.langchain_ollama().ChatOllama(
            model=name,
            base_url=url,
            num_ctx=num_ctx,
            num_predict=num_predict,
            keep_alive=KEEP_SECONDS,
            seed=0,
            temperature=temperature,
            reasoning=reasoning,
            **options,
        )
        return ollama
    options = {"temperature": temperature, "timeout": timeout_s, "max_tokens": num_predict}
    server = own_server(provider, base_url, PATIENCE * timeout_s, stream_usage=True)
    try:
        build = import_module("langchain.chat_models").init_chat_model
    except ImportError:
        raise ModelError(
            f"the chat model {spec!r} needs the package langchain: run `pip install langchain "
            f"langchain-{provider.replace('_', '-')}`, or use 'ollama:<model>'."
        ) from None
    try:
        model: BaseChatModel = build(spec, **options, **server)
    except ImportError as error:
        raise ModelError(
            f"the chat model {spec!r} needs a package ({error}): run `pip install langchain-{provider}`."
        ) from error
    except Exception as error:  # a provider's own error: no key, unknown model
        why = str(error).partition("\n")[0].rstrip(".")
        if "infer model provider" in why:
            why = f"LangChain knows no provider {provider!r}; wanted one such as 'ollama:<model>' or 'openai:<model>'"
        raise SettingsError(f"the chat model {spec!r} cannot be built ({why}): correct its name or its key.") from error
    return model


def own_server(provider: str, base_url: str | None, timeout_s: float, **openai: Any) -> dict[str, Any]:
    """Client options for a user's own server, which rarely asks for a key."""
    if provider != "openai":
        return {"base_url": base_url} if base_url else {}
    base_url = base_url or os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE")
    if not base_url:
        http.check_proxy("https://api.openai.com")
        return {}
    keyless = {} if os.environ.get("OPENAI_API_KEY") else {"api_key": "none"}
    clients: dict[str, Any] = http.openai_options(base_url, timeout_s)
    return {"base_url": base_url} | keyless | openai | clients


def ollama_url(base_url: str | None = None) -> str:
    """The server's URL from an argument or ``OLLAMA_HOST``, in any form that Ollama itself accepts.

    ``0.0.0.0`` and ``::`` are addresses to listen on; a client connects to the loopback address instead.
    """
    given = (base_url or os.environ.get("OLLAMA_HOST") or "").strip().rstrip("/")
    parts = urlsplit(given if "://" in given else f"http://{given}")
    host = parts.hostname or "127.0.0.1"
    try:
        port = parts.port or (OLLAMA_PORT if "://" not in given else 443 if parts.scheme == "https" else 80)
    except ValueError:
        raise ModelError(f"OLLAMA_HOST came as {given!r}; wanted host:port such as 127.0.0.1:11434.") from None
    try:
        address = ip_address(host)
    except ValueError:
        pass  # a host name
    else:
        loopback = "::1" if address.version == 6 else "127.0.0.1"
        host = loopback if address.is_unspecified else host
        host = f"[{host}]" if address.version == 6 else host
    login = f"{parts.username}:{parts.password or ''}@" if parts.username else ""
    return f"{parts.scheme}://{login}{host}:{port}{parts.path.rstrip('/')}"


def ollama_hint(base_url: str | None = None) -> str:
    """The option for a command to use a running Ollama; empty if none runs or it has no chat model."""
    try:
        told = http.json_of(http.fetched(f"{ollama_url(base_url)}/api/tags", seconds=HINT_S).raise_for_status())
        names = [row["name"] for row in told["models"] if "embed" not in row["name"]]
    except Exception:  # errors are ignored, because the hint was not asked for
        return ""
    return f"Ollama runs here and no model is set: --model ollama:{names[0]} lets it write." if names else ""


# -- errors ------------------------------------------------------------------------------------------------------

_BUSY: Final = frozenset({408, 409, 425, 429})
# Names of exceptions of other providers' clients after which a retry may help.
_TRANSIENT: Final = ("Connection", "Timeout", "RateLimit", "Overloaded", "ServiceUnavailable", "InternalServer")


@dataclass(frozen=True)
class Target:
    """The target of a call: `name` as the user wrote it, `url` of the server if known."""

    name: str
    url: str = ""
    ollama: bool = False

    @property
    def server(self) -> str:
        """The server in words."""
        server = "the Ollama server" if self.ollama else f"the server of {self.name}"
        return f"{server} at {self.url}" if self.url else server

    @property
    def proxy(self) -> str:
        """Words on a proxy before the server; empty without one."""
        return str(http.in_the_way(self.url))

    def broke_off(self) -> ModelUnavailableError:
        """The stream ended without its last line."""
        return ModelUnavailableError(
            f"{self.server} broke off in the middle of an answer; wanted its end: look at the server's log."
        )


def late(name: str) -> DeadlineError:
    """The error of a model call that was still running at the run's deadline."""
    return DeadlineError(
        f"the run's deadline passed while {name} was asked: give it longer (--deadline, CRAG_DEADLINE_S)."
    )


def translate(error: Exception, target: Target, waited_s: float) -> ModelError:
    """Our error for any error; a `ModelUnavailableError` is transient, the others are not."""
    cause: BaseException | None = error
    while cause is not None:  # a client may have wrapped an error of our own limits
        if isinstance(cause, ModelError):
            return cause
        cause = cause.__cause__
    kind, server, root = type(error).__name__, target.server, type(error).__module__.partition(".")[0]
    reason = str(getattr(error, "error", None) or error).strip() or kind
    reason = reason if len(reason) <= 200 else f"{reason[:200]}…"
    if isinstance(error, TimeoutError) or "Timeout" in kind:
        return ModelStalledError(
            f"{server} sent nothing for {waited_s:g} s; wanted a token: "
            f"try a smaller model or a shorter prompt, or raise CRAG_TIMEOUT_S{target.proxy}."
        )
    codes = (getattr(holder, "status_code", None) for holder in (error, getattr(error, "response", None)))
    status = next((code for code in codes if isinstance(code, int)), 0)
    if status == 404 and target.ollama and ("not found" in reason or "pull" in reason):
        model = target.name.removeprefix("ollama:")
        return ModelNotFoundError(
            f"{server} has no model {model!r}: run `ollama pull {model}`, or choose one of `ollama list`."
        )
    if status == 404:
        return ModelNotFoundError(f"{server} does not know {target.name!r} ({reason}): check the model's name.")
    if status >= 500 or status in _BUSY:
        advice = f"try again, or look at the server's log{target.proxy}"
        return ModelUnavailableError(f"{server} answered {status} ({reason}): {advice}.")
    if status in (401, 403):
        return ModelError(f"{server} refused the request with {status} ({reason}): check the key.")
    if status >= 400:
        return ModelError(f"{server} rejected the request with {status} ({reason}).")
    if _is_refusal(error):
        fix = "run `ollama serve`, or set OLLAMA_HOST" if target.ollama else "start it, or check its address"
        return ModelUnavailableError(f"{server} cannot be reached: {fix}{target.proxy}.")
    failed = f"{target.name} failed with {kind}: {reason}"
    if not target.ollama and (isinstance(error, OSError) or any(name in kind for name in _TRANSIENT)):
        return ModelUnavailableError(f"{failed}; try again, or check the provider{target.proxy}.")
    if not target.ollama:
        return ModelError(f"{failed}; check the model's name, key and settings.")
    if root == "ollama":
        return ModelUnavailableError(
            f"{server} reported {reason!r} in the middle of an answer: look at the server's log."
        )
    if root in ("httpx", "httpcore") or isinstance(error, OSError):
        return target.broke_off()
    if isinstance(error, ValueError | TypeError | AttributeError | KeyError):
        return ModelUnavailableError(
            f"{server} sent bytes that are not Ollama's protocol ({kind}): check that OLLAMA_HOST is an Ollama server."
        )
    return ModelError(f"{failed}; check the model's name, key and settings.")


def _is_refusal(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ConnectionRefusedError) or type(error).__name__ == "ConnectError":
            return True
        if isinstance(error, ConnectionError) and "failed to connect" in str(error).lower():
            return True
        error = error.__cause__ or error.__context__
    return False


# -- sizes -------------------------------------------------------------------------------------------------------

_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([KMBT])", re.IGNORECASE)
SIZE_S: Final = 5.0  # seconds for a server to tell the size of a model


def billions(model: Any) -> float | None:
    """The parameters of an Ollama model in billions, as its server tells them; None if it does not."""
    if getattr(model, "_llm_type", "") != "chat-ollama":
        return None
    left = remaining()
    try:
        seconds = SIZE_S if left is None else min(SIZE_S, left)
        shown = http.fetched(f"{model.base_url}/api/show", {"model": model.model}, seconds=seconds)
        size = _SIZE.search(str(http.json_of(shown)["details"]["parameter_size"]))
    except Exception:  # without a usable reply the size is unknown
        return None
    scale = {"k": 1e-6, "m": 1e-3, "b": 1.0, "t": 1e3}
    return float(size[1]) * scale[size[2].lower()] if size else None

"""Whatever a chat model's client raises, as one of ours: what came, what was wanted, what to do next."""

from dataclasses import dataclass
from typing import Final

from cragraph.errors import ModelError, ModelNotFoundError, ModelStalledError, ModelUnavailableError
from cragraph.models.pump import StalledError, StoppedError

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

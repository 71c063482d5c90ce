"""Chat models by name: ``ollama:<model>`` first, ``provider:model`` where `langchain` is installed."""

import os
from importlib import import_module
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from cragraph.errors import ModelError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

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

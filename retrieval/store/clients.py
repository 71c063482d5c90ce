"""Chroma clients for a folder, a server or memory, with telemetry off and no embedding function of Chroma's own."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from cragraph.errors import StoreError

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

Connect = Callable[[], "ClientAPI"]
_SECONDS: Final = 60.0
"""How long a server may take over one request: a write of 2,000 chunks takes it a few."""

_FIRST_SECONDS: Final = 10.0
_open_paths: Final[set[str]] = set()


def is_url(target: str | Path | None) -> bool:
    """Whether a target names a Chroma server rather than a folder."""
    return isinstance(target, str) and target.lower().startswith(("http://", "https://"))


def in_memory() -> "ClientAPI":
    """A client whose data lives as long as the process."""
    import chromadb

    return chromadb.EphemeralClient(settings=_settings())


def in_folder(folder: Path) -> "ClientAPI":
    """A client on a folder, which shares nothing with other clients of this process on the same folder.

    Chroma shares one engine, with one cached vector index, among clients on the same path; closing and reopening one
    of them would then not bring in what another process wrote. Another spelling of the path is another engine.
    """
    import chromadb

    spellings = (str(folder) + "/." * n for n in count())
    path = next(path for path in spellings if path not in _open_paths)
    _open_paths.add(path)
    try:
        return chromadb.PersistentClient(path=path, settings=_settings())
    except BaseException:
        _open_paths.discard(path)
        raise


def on_server(url: str) -> "ClientAPI":
    """A client of a Chroma server.

    Raises:
        StoreError: where nothing answers at the URL, or what answers is no Chroma server.
    """
    import chromadb
    import httpx

    parts = urlsplit(url)
    secure = parts.scheme.lower() == "https"
    try:
        # chromadb itself would wait for ever for a server that takes the connection and says nothing.
        httpx.get(f"{url}/api/v2/heartbeat", timeout=_FIRST_SECONDS).raise_for_status()
        client = chromadb.HttpClient(
            host=parts.hostname or "localhost",
            port=parts.port or (443 if secure else 8000),
            ssl=secure,
            settings=_settings(),
        )
        for session in _sessions(client):
            session.timeout = _SECONDS
        return client
    except Exception as error:  # chromadb raises ValueError, KeyError, httpx and its own errors here
        raise StoreError(
            f"no Chroma server answers at {url} ({type(error).__name__}: {error}); wanted one to keep the store: start "
            f"it with `chroma run --path FOLDER --port {parts.port or 8000}`, or give a folder instead of a URL."
        ) from error


def close(client: "ClientAPI") -> None:
    """Let go of a client and, where it has its own, of its engine."""
    path = client.get_settings().persist_directory
    for session in _sessions(client):
        session.close()
    closing: Any = client  # `close` is missing from the type that chromadb declares
    closing.close()
    _open_paths.discard(path)


def _sessions(client: Any) -> list[Any]:
    """The HTTP sessions of a client of a server, which chromadb gives no time limit and does not close itself."""
    parts = (client, getattr(client, "_admin_client", None))
    found = (getattr(getattr(part, "_server", None), "_session", None) for part in parts)
    return [session for session in found if session is not None]


def _settings() -> Any:
    from chromadb.config import Settings

    # Without _env_file the settings of the program around us would be read from its .env file.
    return Settings(anonymized_telemetry=False, _env_file=None)

"""Chroma by name, through `langchain_chroma`: a folder, or a server."""

from contextlib import suppress
from functools import partial
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from cragraph.errors import CragError, StoreError, StoreMissingError, mask
from cragraph.protocols import Embeddings
from cragraph.store.database import WriteLock
from cragraph.store.records import Identity, at_home
from cragraph.store.vectorstore import LangChainStore

SERVER_SECONDS: Final = 60.0  # seconds for one request to a server
FIRST_SECONDS: Final = 10.0
MODEL: Final = "cragraph:embedding"
HNSW: Final[Any] = {"space": "cosine", "max_neighbors": 32, "ef_construction": 200, "ef_search": 200}
"""Parameters of the graph of vectors: twice Chroma's defaults, with which a passage among near-copies was now and then
not found by its own text."""


def is_named(target: Any) -> bool:
    """Whether a store's name means a Chroma folder or server, rather than an embedded store."""
    return str(target).lower().startswith(("chroma:", "http://", "https://"))


def open_chroma(target: str, embeddings: Embeddings, *, create: bool = True) -> LangChainStore:
    """Open a Chroma store by name: `chroma:FOLDER`, `chroma:http://host:port` or `http://host:port`, with `#COLLECTION`
    if it has several.

    Raises StoreError if the server does not answer, StoreMissingError if there is no store and `create` is False.
    """
    from langchain_chroma import Chroma

    where, _, name = target.removeprefix("chroma:").partition("#")
    on_server = where.lower().startswith(("http://", "https://"))
    location = f"the store at {mask(where)}" if on_server else f"the Chroma folder {where}"
    if not on_server and not create and not at_home(where).is_dir():
        raise StoreMissingError(f"No documents found in {where}. Run: cragraph ingest PATH --store {target}")
    client = _server(where) if on_server else _folder(where)
    try:
        there = {one.name: one.metadata or {} for one in client.list_collections()}
        chosen = name or ("cragraph" if "cragraph" in there or not there else next(iter(there)))
        if not name and chosen != "cragraph" and len(there) > 1:
            raise StoreError(
                f"{location} holds {', '.join(sorted(there))}; wanted one of them: --store {target}#{chosen}."
            )
        if chosen not in there and not create:
            raise StoreMissingError(f"{location} holds no collection {chosen!r}. Run: cragraph ingest PATH")
        mine = Identity.of(embeddings)
        if model := there.get(chosen, {}).get(MODEL):
            mine.check(Identity(str(model)), location)
        new: dict[str, Any] = {"collection_metadata": {MODEL: mine.model}, "collection_configuration": {"hnsw": HNSW}}
        given: Any = embeddings
        source = Chroma(chosen, given, client=client, **({} if chosen in there else new))
    except CragError:
        close(client)
        raise
    except Exception as error:  # chromadb raises ValueError, KeyError, httpx and its own errors here
        close(client)
        raise StoreError(f"{location} cannot be opened ({type(error).__name__}: {error}).") from error
    store = LangChainStore(source, location, lock=WriteLock(None if on_server else at_home(where)))
    store.close = partial(close, client)  # type: ignore[method-assign]
    return store


def _folder(path: str) -> Any:
    import chromadb

    folder = at_home(path).absolute()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(ValueError):  # the calling program has opened it with its own settings, which are shared
            return chromadb.PersistentClient(path=folder, settings=_settings())
        return chromadb.PersistentClient(path=folder)
    except Exception as error:
        raise StoreError(
            f"the Chroma folder {folder} cannot be opened ({error}): choose another with --store."
        ) from error


def _server(url: str) -> Any:
    import chromadb
    import httpx

    parts = urlsplit(url)
    secure = parts.scheme.lower() == "https"
    port = parts.port or (443 if secure else 8000)
    headers = {}
    if parts.username:
        headers["Authorization"] = httpx.BasicAuth(unquote(parts.username), unquote(parts.password or ""))._auth_header
    try:
        # chromadb itself would wait for ever for a server that accepts the connection and does not answer.
        beat = f"{parts.scheme}://{parts.hostname}:{port}/api/v2/heartbeat"
        httpx.get(beat, timeout=FIRST_SECONDS, headers=headers).raise_for_status()
        client = chromadb.HttpClient(
            host=parts.hostname or "localhost", port=port, ssl=secure, headers=headers, settings=_settings()
        )
        for session in _sessions(client):
            session.timeout = SERVER_SECONDS
        return client
    except Exception as error:  # chromadb raises ValueError, KeyError, httpx and its own errors here
        told = f"{type(error).__name__}: {error}"
        why = "" if "connect" in told.lower() else f" ({told})"
        raise StoreError(
            f"no Chroma server answers at {mask(url)}{why}: run `chroma run --path FOLDER --port {port}`, or give a "
            "folder instead of a URL."
        ) from error


def close(client: Any) -> None:
    """Close a client, and its engine if no other client uses it."""
    for session in _sessions(client):
        session.close()
    client.close()


def _sessions(client: Any) -> list[Any]:
    """The HTTP sessions of a client of a server, which chromadb gives no time limit and does not close itself."""
    parts = (client, getattr(client, "_admin_client", None))
    sessions = (getattr(getattr(part, "_server", None), "_session", None) for part in parts)
    return [session for session in sessions if session is not None]


def _settings() -> Any:
    from chromadb.config import Settings

    # Without _env_file Chroma would read the calling program's .env file.
    return Settings(anonymized_telemetry=False, _env_file=None)

"""Chroma's errors in our words."""

from collections.abc import Iterator
from contextlib import contextmanager

from cragraph.errors import StoreError


@contextmanager
def told(where: str, done: str) -> Iterator[None]:
    """Raise what Chroma and its HTTP client raise as StoreError: what lies `where` could not be `done`."""
    from chromadb.errors import ChromaError

    try:
        yield
    except StoreError:
        raise
    except (ChromaError, ValueError, OSError) as error:
        raise StoreError(f"{where} cannot be {done}: {_reason(error)}") from error
    except Exception as error:
        if type(error).__module__.split(".")[0] not in ("httpx", "httpcore"):
            raise
        raise StoreError(
            f"{where} does not answer ({error}); wanted a running Chroma server: start it and try again."
        ) from error


def _reason(error: Exception) -> str:
    text = str(error) or type(error).__name__
    low = text.lower()
    if "readonly" in low or "read-only" in low or "permission denied" in low or "unable to open" in low:
        return f"{text}; wanted a folder with write permission: change its permissions or choose another with --store."
    if "full" in low or "no space" in low:
        return f"the disk is full ({text}); what was stored before is safe: free some space and run the command again."
    return f"{text}; what was stored before is safe."

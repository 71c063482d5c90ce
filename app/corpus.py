"""What people do with the store outside a run: fill it, search it, list it, empty it."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cragraph.errors import InputError
from cragraph.factory import make_embeddings, make_retriever, make_store
from cragraph.protocols import Notes
from cragraph.settings import Settings

if TYPE_CHECKING:
    from cragraph.retrieval.ingest import IngestReport
    from cragraph.retrieval.store import StoredDocument

Progress = Callable[[Any], None]

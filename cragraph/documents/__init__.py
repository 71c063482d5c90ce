"""From files and folders to passages: discover them, load their text, split it."""

from cragraph.documents.clean import Limits
from cragraph.documents.document import Block, Document, Heading
from cragraph.documents.files import LEADS_OUT, MAX_BYTES, Found, Skipped, discover, load, shown_name
from cragraph.documents.split import CHUNK_OVERLAP, CHUNK_SIZE, split

__all__ = [
    "CHUNK_OVERLAP", "CHUNK_SIZE", "LEADS_OUT", "MAX_BYTES", "Block", "Document", "Found", "Heading", "Limits",
    "Skipped", "discover", "load", "shown_name", "split",
]  # fmt: skip

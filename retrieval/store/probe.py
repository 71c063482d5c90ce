"""Read a vector index whole, in a process of its own: a torn one can take its reader down with it.

Run as a script: `python -P probe.py FOLDER COLLECTION`. Exit status 0 says that every vector could be read and
the index searched.
"""

import subprocess
import sys
from pathlib import Path
from typing import Final

_PAGE: Final = 1000
_PATIENCE: Final = 1800.0


def damaged(folder: Path, collection: str) -> bool:
    """Whether the vector index in a folder cannot be read whole; nothing else may write to it meanwhile."""
    command = [sys.executable, "-P", __file__, str(folder), collection]
    result = subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=False)
    return result.returncode != 0


def main(folder: str, name: str) -> int:
    """Read every vector once and search for a few of them."""
    import chromadb
    import numpy as np
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False, _env_file=None)
    collection = chromadb.PersistentClient(path=folder, settings=settings).get_collection(name, embedding_function=None)
    ids = collection.get(include=[])["ids"]
    for start in range(0, len(ids), _PAGE):
        page = ids[start : start + _PAGE]
        found = collection.get(ids=page, include=["embeddings"])
        vectors = found["embeddings"]
        if vectors is None or len(vectors) != len(page) or any(not np.any(vector) for vector in vectors):
            return 1
        collection.query(query_embeddings=vectors[:5], n_results=min(20, len(ids)))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))

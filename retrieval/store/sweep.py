"""Remove vector index files that no collection of a folder uses any more."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from uuid import UUID


def sweep(folder: Path) -> list[str]:
    """Delete the folders of indexes that Chroma's own database does not name; returns their names.

    Chroma leaves the files of a deleted collection behind where it could not read them. Nothing is deleted where the
    database cannot be read or names no index at all.
    """
    try:
        with closing(sqlite3.connect(f"{(folder / 'chroma.sqlite3').absolute().as_uri()}?mode=ro", uri=True)) as db:
            used = {row[0] for row in db.execute("SELECT id FROM segments")}
    except sqlite3.Error:
        return []
    unused = [path for path in folder.iterdir() if used and _is_index(path) and path.name not in used]
    for path in unused:
        shutil.rmtree(path, ignore_errors=True)
    return [path.name for path in unused]


def _is_index(path: Path) -> bool:
    try:
        UUID(path.name)
    except ValueError:
        return False
    return (path / "header.bin").exists()

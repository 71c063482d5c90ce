"""What a file's suffix says: a format that is read, an archive, or a type with advice what to do instead."""

from pathlib import Path
from typing import Final

FORMATS: Final = {
    ".md": "md",
    ".markdown": "md",
    ".txt": "txt",
    ".text": "txt",
    ".rst": "rst",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
"""Suffix, in small letters, to format."""

TEXTUAL: Final = frozenset({"md", "txt", "rst", "html", "csv", "json", "jsonl"})
"""Formats that are text, so that a binary file under such a name is refused."""

_ARCHIVES = ".zip .tar .gz .tgz .bz2 .tbz2 .xz .txz .zst .7z .rar .lz4 .lzma .jar .whl .iso .dmg .deb .rpm"
ARCHIVES: Final = frozenset(_ARCHIVES.split())

ADVICE: Final = {
    ".doc": "save it as .docx",
    ".odt": "save it as .docx",
    ".rtf": "save it as .docx",
    ".pages": "save it as .docx",
    ".xls": "save each sheet as .csv",
    ".xlsx": "save each sheet as .csv",
    ".ods": "save each sheet as .csv",
    ".ppt": "save it as .pdf",
    ".pptx": "save it as .pdf",
    ".epub": "save it as .html",
}


def format_of(path: Path) -> str | None:
    """The format a path's suffix stands for, whatever its case; None for one that is not read."""
    return FORMATS.get(path.suffix.lower())


def why_unread(path: Path) -> str:
    """One plain sentence on why a suffix without a loader is passed over."""
    suffix = path.suffix.lower()
    if suffix in ARCHIVES:
        return "an archive: archives are not opened; unpack it and ingest the folder"
    if suffix in ADVICE:
        return f"type {suffix} is not read: {ADVICE[suffix]}"
    read = " ".join(sorted(FORMATS))
    return f"type {suffix} is not read (read are {read})" if suffix else f"it has no suffix (read are {read})"

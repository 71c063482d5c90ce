"""The formats that are read: one line each, and one module each.

A module has `read(path, limits)`, an iterator of drafts, or, where a format is text, `draft(text, limits)`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Format:
    """How files of a format are told and read; `textual` says that a binary file under such a name is refused."""

    name: str
    suffixes: str
    module: str
    function: str = "read"
    textual: bool = True


FORMATS: Final = (
    Format("md", ".md .markdown", "markdown", "draft"),
    Format("txt", ".txt .text", "plain", "draft"),
    Format("rst", ".rst", "rst", "draft"),
    Format("html", ".html .htm .xhtml", "html"),
    Format("pdf", ".pdf", "pdf", textual=False),
    Format("docx", ".docx", "docx", textual=False),
    Format("pptx", ".pptx", "pptx", textual=False),
    Format("xlsx", ".xlsx .xlsm", "xlsx", textual=False),
    Format("eml", ".eml", "eml"),
    Format("epub", ".epub", "epub", textual=False),
    Format("csv", ".csv .tsv", "delimited"),
    Format("json", ".json", "json"),
    Format("jsonl", ".jsonl .ndjson", "json", "read_lines"),
)
"""Modules are named, not imported, so that no start-up pays for the libraries of formats that it does not meet."""

BY_SUFFIX: Final[Mapping[str, Format]] = {suffix: form for form in FORMATS for suffix in form.suffixes.split()}
"""Suffix, in small letters, to format."""

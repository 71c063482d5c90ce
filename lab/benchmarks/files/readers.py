"""Other readers of pages on the same files: what of each kind they read rightly, and how long they take.

    python -m lab.benchmarks.files.readers

Reads with every reader that is installed (`pip install trafilatura markitdown[pdf] selectolax pdfplumber pymupdf pypdf
kreuzberg`, none of which the package needs). A file is read rightly where its text holds the right words of its case,
and none of the wrong ones where those stand nowhere in the file (`MISREAD`). Files that are in doubt are left out.
"""

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, suppress
from importlib import import_module
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from lab.benchmarks.files.case import Case
from lab.benchmarks.files.pages import CASES

MISREAD = ("raised marks and exponents", "formulas", "words struck out", "HTML within Markdown")
"""Kinds whose wrong figures stand nowhere in the file."""


def read_rightly(case: Case, text: str) -> bool:
    """Whether a text of a case's file says what the file says."""
    misread = case.kind in MISREAD and case.wrong and re.search(case.wrong, text, re.IGNORECASE)
    return bool(re.search(case.right, text, re.IGNORECASE)) and not misread


def _ours(path: Path) -> str:
    return "\n".join(document.text for document in import_module("cragraph.documents").load(path))


def _selectolax(path: Path) -> str:
    parser: Any = import_module("selectolax.lexbor").LexborHTMLParser(path.read_text(encoding="utf-8"))
    return str(parser.body.text(separator="\n", strip=True))


def _pdfplumber(path: Path) -> str:
    with import_module("pdfplumber").open(path) as pdf:
        return "\n".join(page.extract_text() for page in pdf.pages)


def _trafilatura(path: Path) -> str:
    page = path.read_text(encoding="utf-8")
    return str(import_module("trafilatura").extract(page, include_tables=True, favor_recall=True) or "")


READERS: dict[str, tuple[str, Callable[[Path], str]]] = {
    "cragraph": (".html .md .epub .pdf .txt .csv .rst", _ours),
    "trafilatura": (".html", _trafilatura),
    "selectolax": (".html", _selectolax),
    "markitdown": (
        ".html .md .epub .pdf .txt .csv",
        lambda path: str(import_module("markitdown").MarkItDown().convert(str(path)).text_content),
    ),
    "kreuzberg": (
        ".html .md .epub .pdf .txt .csv",
        lambda path: str(import_module("kreuzberg").extract_file_sync(str(path)).content),
    ),
    "pdfplumber": (".pdf", _pdfplumber),
    "pypdf": (
        ".pdf",
        lambda path: "\n".join(page.extract_text() for page in import_module("pypdf").PdfReader(path).pages),
    ),
    "pymupdf": (".pdf", lambda path: "\n".join(page.get_text() for page in import_module("pymupdf").open(path))),
}


def scores(name: str) -> Iterator[tuple[Case, str, bool, float]]:
    """Of each case that a reader can read: its suffix, whether it was read rightly, and the seconds it took."""
    suffixes, read = READERS[name]
    for case in CASES:
        with TemporaryDirectory() as folder:
            path = case.write(Path(folder))
            if case.doubt or path.suffix not in suffixes.split():
                continue
            begun, text = perf_counter(), ""
            with suppress(Exception), redirect_stderr(StringIO()):  # a reader that fails has read nothing
                text = read(path)
            yield case, path.suffix, read_rightly(case, text), perf_counter() - begun


def main() -> None:
    """Print right of all by suffix, and the kinds that a reader misses."""
    logging.disable(logging.CRITICAL)
    for name in READERS:
        if name != "cragraph":
            try:
                import_module(name)
            except ImportError:
                print(f"{name:<12} is not installed")
                continue
        right, every, missed, seconds = Counter[str](), Counter[str](), Counter[str](), 0.0
        for case, suffix, rightly, took in scores(name):
            every[suffix] += 1
            right[suffix] += rightly
            missed[case.kind] += not rightly
            seconds += took
        shares = ", ".join(f"{suffix} {right[suffix]} of {count}" for suffix, count in every.items())
        print(f"{name:<12} {shares}; {1000 * seconds / sum(every.values()):.0f} ms a file")
        for kind, count in missed.items():
            if count:
                print(f"{'':<13}misses {count} of {kind}")


if __name__ == "__main__":
    main()

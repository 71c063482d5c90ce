"""Plain files of other programs: logs, captions of films, notebooks, outlines of Emacs."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from cragraph.documents.clean import DEFAULT, Limits
from cragraph.documents.document import Draft, Writer
from cragraph.documents.formats.markdown import draft as markdown
from cragraph.errors import DocumentError

_CUE: Final = re.compile(r"(?:(\d{1,3}):)?(\d\d):(\d\d)[.,]\d{1,3}[ \t]+-->[ \t]+.*")
_MARKUP: Final = re.compile(r"<v(?:\.[\w.]+)? ([^>]{1,80})>|</?[^<>]{1,80}>|\{\\[^{}]{1,40}\}")
_LONGEST: Final = 400  # characters of captions under one time at most
_LINK: Final = re.compile(r"\[\[([^\[\]]{1,500})\](?:\[([^\[\]]{1,500})\])?\]")
_STRUCK: Final = re.compile(r"(?<![\w+])\+(?=\S)([^+\n]{1,200})(?<=\S)\+(?![\w+])")


def log_draft(text: str, limits: Limits = DEFAULT) -> Draft:
    """A log: every line as it is."""
    writer = Writer(limits)
    writer.code(text)
    return writer.draft()


def caption_draft(text: str, limits: Limits = DEFAULT) -> Draft:
    """Captions (.srt, .vtt): a paragraph for each sentence or few captions, with the time of its beginning."""
    writer, said, since = Writer(limits), list[str](), ""

    def told() -> None:
        if said:
            writer.paragraph(f"[{since}] {' '.join(said)}")
        said.clear()

    for block in re.split(r"\n[ \t]*\n", text):
        lines = block.strip("\n").split("\n")
        at = next((n for n, line in enumerate(lines) if _CUE.fullmatch(line.strip())), None)
        if at is None:
            continue
        hours, minutes, seconds = _CUE.fullmatch(lines[at].strip()).groups()  # type: ignore[union-attr]
        words = _MARKUP.sub(lambda mark: f"{mark[1]}: " if mark[1] else "", " ".join(lines[at + 1 :])).strip()
        if not said:
            since = f"{int(hours or 0)}:{minutes}:{seconds}"
        said += [words] if words else []
        if words.endswith((".", "!", "?", "…", ".”", '."')) or sum(map(len, said)) > _LONGEST:
            told()
    told()
    return writer.draft()


def notebook_draft(text: str, limits: Limits = DEFAULT) -> Draft:
    """A Jupyter notebook: its text, its code, and the code's output."""
    try:
        book = json.loads(text)
        cells = book["cells"] if "cells" in book else book["worksheets"][0]["cells"]
        told = "\n\n".join(part for cell in cells for part in _cell(cell))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise DocumentError(f"is not a notebook ({error}); open it in Jupyter and save it again.") from error
    return markdown(told, limits)


def _cell(cell: Any) -> Iterator[str]:
    source = _joined(cell.get("source", cell.get("input", "")))
    if cell.get("cell_type") in ("markdown", "heading", "raw"):
        yield source
        return
    yield _fenced(source)
    for output in cell.get("outputs", ()):
        data = output.get("data", output)
        shown = data.get("text/markdown") or data.get("text/plain") or output.get("text") or output.get("evalue") or ""
        if said := _joined(shown).strip():
            yield said if data.get("text/markdown") else _fenced(said)


def _joined(text: Any) -> str:
    return "".join(map(str, text)) if isinstance(text, list) else str(text)


def _fenced(text: str) -> str:
    return f"``````\n{text.strip()}\n``````" if text.strip() else ""


def outline_draft(text: str, limits: Limits = DEFAULT) -> Draft:
    """An outline of Org: headings, tables, lists and code as in Markdown; drawers and settings are left out."""
    lines, title, drawer, code = list[str](), "", False, False
    for line in text.split("\n"):
        word = line.strip()
        keyword = word.upper()
        if keyword.startswith(("#+BEGIN_SRC", "#+BEGIN_EXAMPLE", "#+END_SRC", "#+END_EXAMPLE")):
            code = keyword.startswith("#+BEGIN")
            lines.append("``````")
        elif code:
            lines.append(line)
        elif keyword.startswith("#+TITLE:"):
            title = word[8:].strip()
        elif re.fullmatch(r":[\w-]+:", word):
            drawer = keyword != ":END:"
        elif not drawer and not word.startswith(("#+", "# ")):
            heading = re.match(r"(\*+)[ \t]+(.*?)(?:[ \t]+:[\w@:]+:)?$", line)
            if heading:
                line = f"{'#' * min(len(heading[1]) + bool(title), 6)} {heading[2]}"
            elif re.fullmatch(r"\|[-+]+\|", word):
                line = word.replace("+", "|")
            line = _LINK.sub(lambda link: link[2] or link[1], line)
            lines.append(_STRUCK.sub(r"~~\1~~", line))
    return markdown("\n".join([f"# {title}\n"] * bool(title) + lines), limits)

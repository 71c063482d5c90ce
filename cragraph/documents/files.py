"""Files: found under paths, skipped with a reason, or read as documents."""

import os
import re
import stat
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from cragraph.documents.clean import DEFAULT, Limits, clean, plain_encoding, read_text
from cragraph.documents.document import Document, Draft, head_date, scalars
from cragraph.documents.formats import (
    cards,
    delimited,
    docx,
    eml,
    epub,
    html,
    json,
    lines,
    markdown,
    odf,
    plain,
    pptx,
    rst,
    rtf,
    xls,
    xlsx,
)
from cragraph.errors import DocumentError, InputError
from cragraph.passages import content_id


@dataclass(frozen=True, slots=True)
class Format:
    """A file format and its reader: `read` reads a file lazily, `draft` maps a whole text.

    `textual` refuses a binary file of that suffix. `needs` is the module of a library from the extra `formats`.
    """

    name: str
    suffixes: str
    read: Callable[[Path, Limits], Iterator[Draft]] | None = None
    draft: Callable[[str, Limits], Draft] | None = None
    textual: bool = True
    needs: str = ""


def _read_pdf(path: Path, limits: Limits) -> Iterator[Draft]:
    """Pages of a PDF; the reader is imported with the first one, so that start-up does not load PDFium."""
    drafts: Iterator[Draft] = import_module("cragraph.documents.formats.pdf").read(path, limits)
    return drafts


def _attached(name: str, data: bytes, limits: Limits) -> Sequence[Draft]:
    """The drafts of a file attached to a mail; none for a mail and for a file that cannot be read."""
    with TemporaryDirectory(prefix="cragraph-") as folder, suppress(DocumentError):  # the mail itself still goes in
        path = Path(folder, f"attached{Path(name).suffix}")
        path.write_bytes(data)
        if isinstance(found := next(discover(path)), Found) and found.format not in ("eml", "mbox"):
            return [*load(path, limits=limits)]
    return []


FORMATS: Final = (
    Format("md", ".md .markdown", draft=markdown.draft),
    Format("txt", ".txt .text", draft=plain.draft),
    Format("rst", ".rst", draft=rst.draft),
    Format("html", ".html .htm .xhtml", html.read),
    Format("pdf", ".pdf", _read_pdf, textual=False),
    Format("docx", ".docx", docx.read, textual=False),
    Format("pptx", ".pptx", pptx.read, textual=False),
    Format("xlsx", ".xlsx .xlsm", xlsx.read, textual=False),
    Format("eml", ".eml .mht .mhtml", lambda path, limits: eml.read(path, limits, _attached)),
    Format("mbox", ".mbox", lambda path, limits: eml.read_box(path, limits, _attached)),
    Format("epub", ".epub", epub.read, textual=False),
    Format("csv", ".csv .tsv", delimited.read),
    Format("json", ".json", json.read),
    Format("jsonl", ".jsonl .ndjson", json.read_lines),
    Format("odt", ".odt .ott", odf.read, textual=False),
    Format("ods", ".ods .ots", odf.read, textual=False),
    Format("odp", ".odp .otp", odf.read, textual=False),
    Format("rtf", ".rtf", rtf.read),
    Format("xls", ".xls .xlsb", xls.read, textual=False, needs="python_calamine"),
    Format("ics", ".ics .ical .vcs", cards.read),
    Format("vcf", ".vcf", cards.read),
    Format("log", ".log", draft=lines.log_draft),
    Format("srt", ".srt .vtt", draft=lines.caption_draft),
    Format("ipynb", ".ipynb", draft=lines.notebook_draft),
    Format("org", ".org", draft=lines.outline_draft),
)

BY_SUFFIX: Final[Mapping[str, Format]] = {suffix: form for form in FORMATS for suffix in form.suffixes.split()}

_ARCHIVES = ".zip .tar .gz .tgz .bz2 .tbz2 .xz .txz .zst .7z .rar .lz4 .lzma .jar .whl .iso .dmg .deb .rpm"
_SAVE_AS = {
    ".docx": ".doc .pages .wpd .wps",
    ".xlsx": ".numbers",
    ".pptx": ".ppt .key",
    ".pdf": ".tex .dvi .ps .djvu .xps .one",
    ".epub": ".mobi .azw3",
    ".eml": ".msg",
}
_ADVICE = {old: new for new, olds in _SAVE_AS.items() for old in olds.split()}

LEADS_OUT: Final = (
    "a link that leads out of the folder; name what it leads to, or have such links followed (--follow-links)"
)
MAX_BYTES: Final = 100 * 1024 * 1024  # larger files are skipped by default
_MAGIC = (b"%PDF-", b"\x7fELF", b"\x89PNG", b"PK\x03\x04", b"\x1f\x8b", b"GIF8", b"\xff\xd8\xff", b"SQLite format 3")
_FAULTS: Final[Mapping[type[Exception], str]] = {
    DocumentError: "{error}",
    RecursionError: "is nested too deeply to be read; flatten it.",
    MemoryError: "needs more memory than there is; split it.",
    OSError: "cannot be read: {why}; check that it exists and that you may read it.",
    Exception: "cannot be read ({kind}: {error}); mend it, or leave it out.",
}
# Bytes that are not UTF-8 come as lone surrogates; control characters would steer a terminal that shows the name.
_BAD_NAME = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_HIDDEN_SIGNS = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def why_unread(path: Path) -> str:
    """A sentence on why files of a suffix without a loader are skipped; empty for a known suffix."""
    suffix = path.suffix.lower()
    if form := BY_SUFFIX.get(suffix):
        missing = form.needs and find_spec(form.needs) is None
        return f"type {suffix} is read with: pip install 'cragraph[formats]'" if missing else ""
    if suffix and suffix in _ARCHIVES.split():
        return "an archive: archives are not opened; unpack it and ingest the folder"
    if suffix in _ADVICE:
        return f"type {suffix} is not read: save it as {_ADVICE[suffix]}"
    what = f"type {shown_name(suffix)} is not read" if suffix else "it has no suffix"
    return f"{what} (read are {' '.join(sorted(BY_SUFFIX))})"


def shown_name(path: str | os.PathLike[str]) -> str:
    """A path for display: control characters, direction marks and bytes that are not UTF-8 are escaped."""
    return _HIDDEN_SIGNS.sub(lambda match: match[0].encode("unicode_escape").decode(), os.fspath(path))


@dataclass(frozen=True, slots=True)
class Found:
    """A file that can be loaded; `size` in bytes."""

    path: Path
    format: str
    size: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A skipped file or folder, and the reason."""

    path: Path
    reason: str


Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def discover(
    paths: Paths, *, max_bytes: int | None = MAX_BYTES, follow_links: bool = False
) -> Iterator[Found | Skipped]:
    """Every file at or under the paths, folders in order of name, each file once.

    Hidden files and folders are skipped unless they are named as a path. Links that lead out of all paths are skipped
    unless `follow_links`, because anybody who can write into a folder could otherwise have any file read. Other links
    are followed, except back into a folder above. `max_bytes` None sets no limit. Raises InputError at once if a path
    does not exist.
    """
    roots = [Path(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    missing = [shown_name(root) for root in roots if not os.path.lexists(root)]
    if missing:
        raise InputError(
            f"{', '.join(missing)} does not exist; wanted files or folders: check the spelling, or the folder this "
            f"runs in ({Path.cwd()})."
        )
    seen: dict[tuple[int, int], Path] = {}
    within = None if follow_links else [Path(os.path.realpath(root)) for root in roots]
    return (item for root in roots for item in _visited(root, (), seen, max_bytes, within))


def _leads_out(path: Path, within: list[Path]) -> bool:
    """Whether a path is a link, or a junction of Windows, to a target outside all these folders."""
    if not (path.is_symlink() or getattr(path, "is_junction", bool)()):
        return False
    target = Path(os.path.realpath(path))
    return not any(target.is_relative_to(folder) for folder in within)


def _visited(
    path: Path,
    above: tuple[tuple[int, int], ...],
    seen: dict[tuple[int, int], Path],
    max_bytes: int | None,
    within: list[Path] | None,
) -> Iterator[Found | Skipped]:
    """The files at a path and below it.

    `above` are the parent folders, `seen` the visited paths; `within` are the folders that links may lead into, None
    for any.
    """
    if above and within is not None and _leads_out(path, within):
        yield Skipped(path, LEADS_OUT)
        return
    if _BAD_NAME.search(str(path)):
        yield Skipped(path, "its name is not UTF-8 or holds control characters; rename it")
        return
    try:
        status = path.stat()
        key = (status.st_dev, status.st_ino)
        if key in above:
            yield Skipped(path, "a link back into a folder it lies in (a loop)")
        elif key in seen:
            yield Skipped(path, f"the same as {seen[key]}, which is already in")
        elif stat.S_ISREG(status.st_mode):
            seen[key] = path
            yield _looked_at(path, status.st_size, max_bytes)
        elif not stat.S_ISDIR(status.st_mode):
            yield Skipped(path, "not a regular file")
        else:
            seen[key] = path
            for inner in sorted(path.iterdir()):
                if inner.name.startswith("."):
                    yield Skipped(inner, "hidden; name it outright to take it in")
                else:
                    yield from _visited(inner, (*above, key), seen, max_bytes, within)
    except FileNotFoundError:
        yield Skipped(path, "a link to something that is not there")
    except PermissionError:
        yield Skipped(path, "no permission to read it")
    except OSError as error:
        yield Skipped(path, f"cannot be read: {error.strerror or error}")


def _looked_at(path: Path, size: int, max_bytes: int | None) -> Found | Skipped:
    if why := why_unread(path):
        return Skipped(path, why)
    form = BY_SUFFIX[path.suffix.lower()]
    if size == 0:
        return Skipped(path, "empty")
    if max_bytes is not None and size > max_bytes:
        return Skipped(
            path,
            f"{_mb(size)} is over the limit of {_mb(max_bytes)}; raise max_file_mb (CRAG_MAX_FILE_MB) to take it in",
        )
    with path.open("rb") as file:
        head = file.read(4096)
    # The signature of another format, or zero bytes before the last: this is no text in any encoding.
    if form.textual and (head.startswith(_MAGIC) or (b"\x00" in head[:-1] and not plain_encoding(head))):
        return Skipped(path, f"binary data, although the name ends in {path.suffix}")
    return Found(path, form.name, size)


def _mb(size: int) -> str:
    return f"{size / 1024 / 1024:.1f} MB" if size >= 100_000 else f"{size} bytes"


def load(path: str | os.PathLike[str], *, source: str | None = None, limits: Limits = DEFAULT) -> Iterator[Document]:
    """The documents of a file, in order; `source` is the name of its place, by default its path.

    Lazy: a file of rows is read while its documents are consumed, and an error comes after the documents before it. The
    calling process must enforce the `limits` of time and memory.

    Raises:
        DocumentError: the file cannot be read, or there is no text in it; says what to do.
    """
    path = Path(path)
    name = shown_name(path)
    if why := why_unread(path):
        raise DocumentError(f"{name} cannot be read: {why}.")
    form = BY_SUFFIX[path.suffix.lower()]
    seen: Counter[str] = Counter()
    try:
        if form.draft is not None:
            drafts: Iterable[Draft] = [form.draft(clean(read_text(path, limits)), limits)]
        else:
            assert form.read is not None
            drafts = form.read(path, limits)
        for draft in drafts:
            if not draft.text.strip():
                continue
            limits.check("characters", len(draft.text), "characters")
            key = content_id(draft.text)
            yield Document(
                text=draft.text,
                source=source or name,
                filename=shown_name(unicodedata.normalize("NFC", path.name)),
                # The number distinguishes equal texts within one file.
                doc_id=content_id(draft.text, str(seen[key])) if seen[key] else key,
                format=form.name,
                metadata=scalars(draft.metadata, limits) | ({"dated": day} if (day := head_date(draft)) else {}),
                page_starts=draft.page_starts,
                headings=draft.headings,
                blocks=draft.blocks,
                doubts=draft.doubts,
                table=draft.table,
            )
            seen[key] += 1
    except Exception as error:  # a library may raise any error for a broken file; the other files still go in
        sentence = next(sentence for kind, sentence in _FAULTS.items() if isinstance(error, kind))
        told = getattr(error, "strerror", None) or error
        raise DocumentError(f"{name} {sentence.format(error=error, why=told, kind=type(error).__name__)}") from error
    if not seen:
        raise DocumentError(f"{name} holds no text; wanted a file with words in it: leave it out, or fill it.")

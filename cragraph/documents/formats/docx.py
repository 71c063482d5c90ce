"""Word documents: headings, paragraphs and lists with the numbers that Word counts, tables, boxes, notes, comments."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from cragraph.documents.clean import Limits, one_line
from cragraph.documents.document import Draft, Writer
from cragraph.documents.formats.omml import equation
from cragraph.documents.package import Package, count_of, grid_of, package
from cragraph.documents.signs import STRUCK, lowered, raised, settled
from cragraph.documents.table_text import tables_of

EMPTY: Final = "(not filled in)"  # stands for the placeholder of a control behind its label
UNDECIDED: Final = "A change that is tracked here was neither accepted nor rejected: {changes}."
CHANGED: Final = UNDECIDED.format(changes="something is put in or deleted")

_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_W14: Final = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_MATH: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_HEADING: Final = re.compile(r"^heading (\d)$", re.I)
_SIGNS: Final = {f"{_W}tab": "\t", f"{_W}ptab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
_DELETED: Final = frozenset((f"{_W}del", f"{_W}moveFrom"))
_WORDS: Final = (f"{_W}t", f"{_W}delText")
_INSERTED: Final = frozenset((f"{_W}ins", f"{_W}moveTo"))
# A fallback repeats the drawing before it; a ruby's reading repeats its word.
_GONE: Final = frozenset(("{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback", f"{_W}rt"))
_DRAWN: Final = {"6F": "☐", "71": "☐", "A8": "☐", "FB": "☒", "FD": "☒", "FE": "☒", "FC": "✓", "E0": "→", "B7": "•"}
_DEEPEST: Final = 20  # styles that are based on one another at most


@dataclass(frozen=True)
class _ParagraphStyle:
    """The properties of a style; `run` has those of its letters."""

    name: str = ""
    based_on: str = ""
    number: tuple[str, int] | None = None
    outline: int | None = None
    run: Any = None


@dataclass
class _Level:
    """A level of a numbering: its format, its start, and its present number."""

    text: str
    kind: str
    start: int
    plain: bool


@dataclass
class _Paragraph:
    """The text and the notes gathered while a paragraph is read."""

    parts: list[str] = field(default_factory=list)
    boxes: list[Any] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)

    @property
    def before(self) -> str:
        """The last signs of the text so far."""
        return "".join(self.parts[-3:])[-12:]

    @property
    def text(self) -> str:
        """The text without struck-out words."""
        return settled("".join(self.parts)).strip()


def read(path: Path, limits: Limits) -> Iterator[Draft]:
    """The whole file as one draft."""
    with package(path, limits) as parts:
        yield _Body(parts, limits).draft()


class _Body:
    def __init__(self, package: Package, limits: Limits) -> None:
        self._package, self._limits, self._writer = package, limits, Writer(limits)
        self._styles: dict[str, _ParagraphStyle] = {}
        self._numbers = _Numbers()
        self._comments: dict[str, str] = {}

    def draft(self) -> Draft:
        package = self._package
        main = package.main()
        body = package.xml(main).find(f"{_W}body")
        for part in package.related(main, "/styles"):
            for style in package.xml(part).iterfind(f".//{_W}style"):
                self._styles[style.get(f"{_W}styleId", "")] = _style(style)
        for part in package.related(main, "/numbering"):
            self._numbers = _Numbers(package.xml(part), self._styles)
        for part in package.related(main, "/comments"):
            for one in package.xml(part).iterfind(f"{_W}comment"):
                author = one.get(f"{_W}author") or "a reader"
                self._comments[one.get(f"{_W}id", "")] = f"Comment by {author}: {self._text(one).text}"
        self._margins(main, "/header", "Page header")
        self._blocks(() if body is None else body)
        self._margins(main, "/footer", "Page footer")
        for part in package.related(main, "/footnotes", "/endnotes"):
            for note in package.xml(part):
                self._writer.item(self._text(note).text, "")
        return self._writer.draft(package.properties()).titled()

    def _margins(self, main: str, kind: str, name: str) -> None:
        """The headers or footers, once; bare page numbers are left out."""
        texts = (one_line(self._text(self._package.xml(part)).text) for part in self._package.related(main, kind))
        for text in filter(in_margins, dict.fromkeys(texts)):
            self._writer.paragraph(f"{name}: {text}")

    def _blocks(self, parts: Any) -> None:
        for part in parts:
            if part.tag == f"{_W}p":
                self._paragraph(part)
            elif part.tag == f"{_W}tbl":
                self._table(part)
            elif (
                part.tag not in _DELETED and part.tag not in _GONE and not _asks(part)
            ):  # a control, a custom element, an insertion
                self._blocks(part)

    def _paragraph(self, paragraph: Any) -> None:
        read = self._text(paragraph)
        about = paragraph.find(f"{_W}pPr")
        at = _value(about, "pStyle")
        level = next((style.outline for style in self._line(at) if style.outline is not None), None)
        stated = _value(about, "outlineLvl")
        level = int(stated) if stated.isdecimal() else level
        name = next((style.name for style in self._line(at)), "")
        number = self._number(about, at) if read.text else None
        text, item = read.text, number is not None or name.lower().startswith("list")
        if (level is not None and level < 9) or name.lower() == "title":
            self._writer.heading(f"{(number or '').removesuffix('-')} {text}".strip(), 1 + (level or 0))
        elif "code" in name.lower() or name == "HTML Preformatted":
            self._writer.code(text)
        elif item:
            self._writer.item(text, "-" if number is None else number)
        else:
            self._writer.paragraph(text)
        if read.changes and text:
            self._writer.doubt(UNDECIDED.format(changes=", ".join(read.changes)))
        self._notes_and_boxes(read)

    def _notes_and_boxes(self, read: _Paragraph) -> None:
        """The comments on the paragraph, and its text boxes."""
        for comment in read.comments:
            self._writer.paragraph(comment)
        for box in read.boxes:
            self._blocks(box)

    def _line(self, style: str) -> Iterator[_ParagraphStyle]:
        """A style and the styles it is based on."""
        for _ in range(_DEEPEST):
            if style not in self._styles:
                return
            yield self._styles[style]
            style = self._styles[style].based_on

    def _number(self, about: Any, style: str) -> str | None:
        """The number that Word counts for a paragraph, "-" for a bullet; None for a paragraph outside lists."""
        own = None if about is None else about.find(f"{_W}numPr")
        given = next((one.number for one in self._line(style) if one.number), None)
        if own is not None:
            inherited = given or ("", 0)
            level = _value(own, "ilvl")
            given = (_value(own, "numId") or inherited[0], int(level) if level.isdecimal() else inherited[1])
        return self._numbers.next(*given, style) if given else None

    def _table(self, table: Any) -> None:
        read, rows = _Paragraph(), list[Any]()
        for row in _found(table, f"{_W}tr"):
            marks = {mark.tag for mark in row.iterfind(f"{_W}trPr/*")}
            if f"{_W}del" not in marks:
                rows.append(row)
            if how := "deleted" if f"{_W}del" in marks else "put in" if f"{_W}ins" in marks else "":
                cells = ("".join(t.text or "" for t in cell.iter(*_WORDS)) for cell in _found(row, f"{_W}tc"))
                read.changes.append(f"“{one_line(' | '.join(cells))[:80]}” is {how}")
        grid = grid_of((self._cells(row, read) for row in rows), self._limits)
        marked = 0
        while marked < len(rows) - 1 and _is_on(rows[marked].find(f"{_W}trPr/{_W}tblHeader")):
            marked += 1
        if any(len(row) > 1 for row in grid if any(row)):
            doubts = (UNDECIDED.format(changes=", ".join(read.changes)),) if read.changes else ()
            for part in tables_of(grid, marked):
                self._writer.table(part, doubts=doubts)
        else:
            for row in grid:
                self._writer.paragraph("".join(row))
        self._notes_and_boxes(read)

    def _cells(self, row: Any, gathered: _Paragraph) -> Iterator[tuple[str, int, bool]]:
        if before := self._count(row, f"{_W}trPr/{_W}gridBefore"):
            yield "", before, False
        for cell in _found(row, f"{_W}tc"):
            merged = cell.find(f"{_W}tcPr/{_W}vMerge")
            goes_on = merged is not None and merged.get(f"{_W}val", "continue") == "continue"
            read = self._text(cell)
            gathered.boxes += read.boxes
            gathered.comments += read.comments
            gathered.changes += read.changes
            yield " ".join(read.text.split()), max(1, self._count(cell, f"{_W}tcPr/{_W}gridSpan")), goes_on

    def _count(self, element: Any, path: str) -> int:
        child = element.find(path)
        return 0 if child is None else count_of(child, f"{_W}val", least=0, most=self._limits.fields + 1)

    # -- runs ------------------------------------------------------------------------------------------------

    def _text(self, element: Any) -> _Paragraph:
        """The visible text below an element: with insertions and links, without deletions and hidden runs."""
        read = _Paragraph()
        self._inside(element, read, self._of_style(_value(element.find(f"{_W}pPr"), "pStyle")))
        return read

    def _of_style(self, style: str) -> dict[str, str]:
        """The letter properties of a style, from the nearest style it is based on."""
        found: dict[str, str] = {}
        for one in self._line(style):
            found = {**_letters(one.run), **found}
        return found

    def _inside(self, element: Any, read: _Paragraph, letters: Mapping[str, str]) -> None:
        for child in element:
            tag = child.tag
            if tag in _GONE:
                continue
            if tag in _DELETED or tag in _INSERTED:
                changed = _Paragraph()
                self._inside(child, changed if tag in _DELETED else read, letters)
                words = "".join(t.text or "" for t in child.iter(*_WORDS)).strip()
                if words:
                    how = "deleted" if tag in _DELETED else "put in"
                    read.changes.append(f"“{one_line(words)[:80]}” is {how}")
            elif tag == f"{_W}r":
                about = child.find(f"{_W}rPr")
                style = self._of_style(_value(about, "rStyle"))
                self._run(child, read, {**letters, **style, **_letters(about)})
            elif tag == f"{_W}p":
                self._inside(child, read, self._of_style(_value(child.find(f"{_W}pPr"), "pStyle")))
                read.parts.append("\n")
            elif tag == f"{_W}sdt":
                if not _asks(child):
                    self._inside(child, read, letters)
                elif read.before.strip():
                    read.parts.append(EMPTY)
            elif tag in (f"{_MATH}oMath", f"{_MATH}oMathPara"):
                read.parts.append(equation(child, read.before))
            elif tag == f"{_W}commentReference":
                read.comments += filter(None, [self._comments.get(child.get(f"{_W}id", ""))])
            else:
                self._inside(child, read, letters)

    def _run(self, run: Any, read: _Paragraph, letters: Mapping[str, str]) -> None:
        if letters.get("vanish") == "on":
            return
        own = _Paragraph()
        for child in run:
            if child.tag == f"{_W}t":
                own.parts.append(child.text or "")
            elif child.tag in _SIGNS:
                own.parts.append(_SIGNS[child.tag])
            elif child.tag == f"{_W}sym":
                own.parts.append(_DRAWN.get(child.get(f"{_W}char", "")[-2:].upper(), ""))
            elif child.tag == f"{_W}commentReference":
                read.comments += filter(None, [self._comments.get(child.get(f"{_W}id", ""))])
            elif child.tag == f"{_W}fldChar":
                own.parts.append(_field(child))
            else:
                for box in child.iter(f"{_W}txbxContent"):
                    if not any(True for _ in box.iterancestors(*_GONE, f"{_W}txbxContent")):
                        read.boxes.append(box)
        text = "".join(own.parts)
        if "on" in (letters.get("strike"), letters.get("dstrike")) and text.strip():
            text = STRUCK
        elif letters.get("vertAlign") == "superscript" and text.strip():
            text = raised(text, read.before)
        elif letters.get("vertAlign") == "subscript" and text.strip():
            text = lowered(text, read.before)
        read.parts.append(text)


def in_margins(text: str) -> str:
    """The text of a header or footer; empty for a bare page number."""
    says = re.search(r"[^\W\d_]{2}|\d\D+\d", re.sub(r"(?i)\b(?:page|of|seite|von)\b", "", text))
    return text if says else ""


def _found(element: Any, tag: str) -> Iterator[Any]:
    """The rows of a table or the cells of a row, also in controls and custom elements, but not of nested tables."""
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag not in (f"{_W}tbl", f"{_W}tc", *_DELETED, *_GONE):
            yield from _found(child, tag)


def _value(element: Any, name: str) -> str:
    child = None if element is None else element.find(f"{_W}{name}")
    return "" if child is None else child.get(f"{_W}val", "")


def _is_on(switch: Any) -> bool:
    return switch is not None and switch.get(f"{_W}val", "on") not in ("0", "false", "off")


def _asks(control: Any) -> bool:
    """Whether a control holds only its placeholder text."""
    return _is_on(control.find(f"{_W}sdtPr/{_W}showingPlcHdr"))


def _letters(about: Any) -> dict[str, str]:
    """The letter properties of a run or style: struck, hidden, above or below the line."""
    found: dict[str, str] = {}
    for child in () if about is None else about:
        name = str(child.tag).rpartition("}")[2]
        if name in ("strike", "dstrike", "vanish"):
            found[name] = "on" if _is_on(child) else "off"
        elif name == "vertAlign":
            found[name] = child.get(f"{_W}val", "")
        elif name == "position" and "vertAlign" not in found:
            points = child.get(f"{_W}val", "0")
            found["vertAlign"] = "" if points in ("0", "") else "subscript" if points[0] == "-" else "superscript"
    return found


def _style(style: Any) -> _ParagraphStyle:
    about, name = style.find(f"{_W}pPr"), _value(style, "name")
    numbers = None if about is None else about.find(f"{_W}numPr")
    level, outline, heading = _value(numbers, "ilvl"), _value(about, "outlineLvl"), _HEADING.match(name)
    return _ParagraphStyle(
        name,
        _value(style, "basedOn"),
        None if numbers is None else (_value(numbers, "numId"), int(level) if level.isdecimal() else 0),
        int(heading[1]) - 1 if heading else int(outline) if outline.isdecimal() else None,
        style.find(f"{_W}rPr"),
    )


def _field(mark: Any) -> str:
    """The value of an old form field beside its text: a tick, or the choice from a list."""
    box, listed = mark.find(f"{_W}ffData/{_W}checkBox"), mark.find(f"{_W}ffData/{_W}ddList")
    if box is not None:
        checked = box.find(f"{_W}checked")
        return "☒" if _is_on(box.find(f"{_W}default") if checked is None else checked) else "☐"
    if listed is not None:
        choices = [entry.get(f"{_W}val", "") for entry in listed.iterfind(f"{_W}listEntry")]
        at = _value(listed, "result") or _value(listed, "default") or "0"
        return choices[int(at)] if at.isdecimal() and int(at) < len(choices) else ""
    return ""


class _Numbers:
    """The numberings of a file with their present counts."""

    def __init__(self, part: Any = None, styles: Mapping[str, _ParagraphStyle] | None = None) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._abstract: dict[str, str] = {}
        self._own: dict[str, dict[int, _Level]] = {}  # levels that one list writes in its own way
        self._starts: dict[str, dict[int, int]] = {}  # restarts of lists
        self._of_style: dict[tuple[str, str], int] = {}
        self._counts: dict[str, dict[int, int]] = {}
        linked: dict[str, str] = {}
        for one in () if part is None else part.iterfind(f"{_W}abstractNum"):
            name = one.get(f"{_W}abstractNumId", "")
            self._levels[name] = {at: level for at, level, _ in map(_level, one.iterfind(f"{_W}lvl"))}
            self._of_style |= {(name, style): at for at, _, style in map(_level, one.iterfind(f"{_W}lvl")) if style}
            if link := _value(one, "numStyleLink"):
                linked[name] = link
        for one in () if part is None else part.iterfind(f"{_W}num"):
            number = one.get(f"{_W}numId", "")
            self._abstract[number] = _value(one, "abstractNumId")
            for override in one.iterfind(f"{_W}lvlOverride"):
                start, at = _value(override, "startOverride"), override.get(f"{_W}ilvl", "0")
                for own in override.iterfind(f"{_W}lvl"):
                    level, written, _ = _level(own)
                    self._own.setdefault(number, {})[level] = written
                    start = start or str(written.start)
                if start.isdecimal() and at.isdecimal():
                    self._starts.setdefault(number, {})[int(at)] = int(start)
        for name, link in linked.items():
            style = (styles or {}).get(link, _ParagraphStyle())
            self._levels[name] = self._levels.get(self._abstract.get(style.number[0] if style.number else "", ""), {})

    def next(self, number: str, at: int, style: str) -> str | None:
        """The next number of a list at a level, "-" for a bullet; None for an unknown list."""
        name = self._abstract.get(number, "")
        at = self._of_style.get((name, style), at)
        levels = {**self._levels.get(name, {}), **self._own.get(number, {})}
        if number == "0":
            return None
        if at not in levels:
            return "-"
        counts = self._counts.setdefault(name, {})
        for level, start in self._starts.pop(number, {}).items():
            counts[level] = start - 1
        counts[at] = counts.get(at, levels[at].start - 1) + 1
        for deeper in [level for level in counts if level > at]:
            del counts[deeper]
        if levels[at].kind in ("bullet", "none"):
            return "-" if levels[at].kind == "bullet" else levels[at].text and re.sub(r"%\d", "", levels[at].text)

        def written(match: re.Match[str]) -> str:
            level = int(match[1]) - 1
            if level not in levels:
                return ""
            kind = "decimal" if levels[at].plain else levels[level].kind
            return counted(counts.setdefault(level, levels[level].start), kind)

        return re.sub(r"%([1-9])", written, levels[at].text).strip()


def _level(level: Any) -> tuple[int, _Level, str]:
    at, start = level.get(f"{_W}ilvl", "0"), _value(level, "start")
    found = _Level(
        _value(level, "lvlText"),
        _value(level, "numFmt") or "decimal",
        int(start) if start.isdecimal() else 1,
        _is_on(level.find(f"{_W}isLgl")),
    )
    return int(at) if at.isdecimal() else 0, found, _value(level, "pStyle")


_ROMAN: Final = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


def counted(number: int, kind: str) -> str:
    """A number as a list writes it."""
    text = str(number)
    if kind.endswith("Letter") and 0 < number <= 26 * 50:
        text = chr(96 + (number - 1) % 26 + 1) * ((number - 1) // 26 + 1)
    elif kind.endswith("Roman") and 0 < number < 4000:
        text, left = "", number
        for value, letters in _ROMAN:
            text += letters * (left // value)
            left %= value
    elif kind == "decimalZero":
        text = f"{number:02d}"
    elif kind == "ordinal":
        tens = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
        text += tens
    return text.upper() if kind.startswith("upper") else text

"""Writers of small office files: workbooks, Word files and presentations whose every part is known."""

import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from openpyxl import Workbook

Write = Callable[[Path], Path]
Change = Callable[[Any], object]

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_STRICT = {
    f"http://schemas.openxmlformats.org/{kind}/2006/": f"http://purl.oclc.org/ooxml/{kind}/"
    for kind in ("wordprocessingml", "spreadsheetml", "presentationml", "drawingml", "officeDocument")
}


def data_file(name: str, data: bytes) -> Write:
    """A file of these bytes."""

    def write(folder: Path) -> Path:
        (folder / name).write_bytes(data)
        return folder / name

    return write


def workbook(
    name: str, rows: Iterable[Sequence[object]], change: Change | None = None, *,
    title: str = "Sheet", replaced: Mapping[bytes, bytes] | None = None, strict: bool = False,
) -> Write:  # fmt: skip
    """A workbook of one sheet of these rows; `change` works on the sheet, `replaced` on its parts as bytes."""

    def write(folder: Path) -> Path:
        book = Workbook()
        sheet = book.active
        sheet.title = title
        for row in rows:
            sheet.append(list(row))
        if change:
            change(sheet)
        raw = BytesIO()
        book.save(raw)
        with zipfile.ZipFile(raw) as old, zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as new:
            for part in old.infolist():
                data = old.read(part)
                for before, after in (replaced or {}).items():
                    data = data.replace(before, after)
                new.writestr(part.filename, _strict(data) if strict else data)
        return folder / name

    return write


def merged(*ranges: str) -> Change:
    """Merges cells of a sheet."""
    return lambda sheet: [sheet.merge_cells(one) for one in ranges]


def formats(**codes: str) -> Change:
    """Sets the formats of cells by name."""
    return lambda sheet: [setattr(sheet[cell], "number_format", code) for cell, code in codes.items()]


def _strict(data: bytes) -> bytes:
    for before, after in _STRICT.items():
        data = data.replace(before.encode(), after.encode())
    return data


# -- Word -------------------------------------------------------------------------------------------------------------

_SPACES = " ".join(
    f'xmlns:{short}="{name}"'
    for short, name in {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "r": f"{_OFFICE}/relationships",
        "m": f"{_OFFICE}/math",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
        "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
        "w14": "http://schemas.microsoft.com/office/word/2010/wordml",
        "v": "urn:schemas-microsoft-com:vml",
        "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
        "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
        "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
    }.items()
)
_HEADINGS = "".join(
    f'<w:style w:type="paragraph" w:styleId="Heading{n}"><w:name w:val="heading {n}"/></w:style>' for n in (1, 2, 3)
)


def run(text: str, about: str = "") -> str:
    """A run of Word, with the properties of its letters."""
    return f'<w:r><w:rPr>{about}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def para(*runs: str, style: str = "", about: str = "") -> str:
    """A paragraph of Word of runs or texts."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    inner = "".join(one if one.startswith("<") else run(one) for one in runs)
    return f"<w:p><w:pPr>{named}{about}</w:pPr>{inner}</w:p>"


def numbered(text: str, level: int, number: int = 1, style: str = "") -> str:
    """A paragraph whose number Word counts."""
    about = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'
    return para(text, style=style, about=about)


def numbering(*levels: tuple[str, str], more: str = "") -> str:
    """A numbering of levels: how each is counted, and how it is written."""
    made = "".join(
        f'<w:lvl w:ilvl="{n}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for n, (kind, text) in enumerate(levels)
    )
    return (
        f'<w:numbering {_SPACES}><w:abstractNum w:abstractNumId="0">{made}</w:abstractNum>'
        f'<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>{more}</w:numbering>'
    )


def row(*cells: str, about: str = "") -> str:
    """A row of a table of Word, of texts or cells."""
    return f"<w:tr><w:trPr>{about}</w:trPr>{''.join(c if c.startswith('<w:tc>') else cell(c) for c in cells)}</w:tr>"


def cell(text: str, about: str = "") -> str:
    """A cell of a table of Word."""
    return f"<w:tc><w:tcPr>{about}</w:tcPr>{para(text)}</w:tc>"


def table(*rows: str) -> str:
    """A table of Word."""
    return f"<w:tbl>{''.join(rows)}</w:tbl>"


def formula(inner: str) -> str:
    """A formula of Word."""
    return f"<m:oMath>{inner}</m:oMath>"


def term(text: str) -> str:
    """A run of a formula."""
    return f'<m:r><m:t xml:space="preserve">{text}</m:t></m:r>'


def word(
    name: str, body: str, parts: Mapping[str, str] | None = None, *, styles: str = "", strict: bool = False
) -> Write:
    """A Word file of this body; `parts` are more parts by kind (numbering, comments, header, footnotes)."""
    named = {"styles": f"<w:styles {_SPACES}>{_HEADINGS}{styles}</w:styles>", **(parts or {})}
    files = {
        "word/document.xml": f"<w:document {_SPACES}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": _relations({k: (k, f"{k}.xml") for k in named}),
        **{f"word/{kind}.xml": text.replace("SPACES", _SPACES) for kind, text in named.items()},
    }
    return _package(name, "word/document.xml", files, strict)


def slides(name: str, *shapes: str, chart: str = "", comments: str = "", strict: bool = False) -> Write:
    """A presentation, a slide per drawing of shapes; `chart` is drawn where a shape names c1, `comments` are on all."""
    numbers = range(1, len(shapes) + 1)
    ids = "".join(f'<p:sldId id="{255 + n}" r:id="s{n}"/>' for n in numbers)
    files = {
        "ppt/presentation.xml": f"<p:presentation {_SPACES}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": _relations({f"s{n}": ("slide", f"slides/slide{n}.xml") for n in numbers}),
    }
    for n, drawn in zip(numbers, shapes, strict=True):
        files[f"ppt/slides/slide{n}.xml"] = f"<p:sld {_SPACES}><p:cSld><p:spTree>{drawn}</p:spTree></p:cSld></p:sld>"
        beside = {"c1": ("chart", "../charts/chart1.xml")} if chart else {}
        beside |= {"k1": ("comments", "../comments/comment1.xml")} if comments else {}
        if beside:
            files[f"ppt/slides/_rels/slide{n}.xml.rels"] = _relations(beside)
    if chart:
        files["ppt/charts/chart1.xml"] = (
            f"<c:chartSpace {_SPACES}><c:chart><c:plotArea><c:barChart>{chart}</c:barChart></c:plotArea></c:chart>"
            "</c:chartSpace>"
        )
    if comments:
        files["ppt/comments/comment1.xml"] = f"<p:cmLst {_SPACES}>{comments}</p:cmLst>"
    return _package(name, "ppt/presentation.xml", files, strict)


def shape(*paragraphs: str, title: bool = False) -> str:
    """A box of a slide with paragraphs of runs."""
    kind = '<p:ph type="title"/>' if title else ""
    inner = "".join(f"<a:p>{one if one.startswith('<') else spoken(one)}</a:p>" for one in paragraphs)
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="t"/><p:cNvSpPr/><p:nvPr>{kind}</p:nvPr></p:nvSpPr>'
        f"<p:txBody>{inner}</p:txBody></p:sp>"
    )


def spoken(text: str, about: str = "") -> str:
    """A run of a slide, with the properties of its letters."""
    return f"<a:r><a:rPr {about}/><a:t>{text}</a:t></a:r>"


def frame(inner: str) -> str:
    """A table or a chart of a slide."""
    return (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="3" name="c"/></p:nvGraphicFramePr><a:graphic>'
        f"<a:graphicData>{inner}</a:graphicData></a:graphic></p:graphicFrame>"
    )


def series(name: str, categories: str, values: Sequence[float], code: str = "General") -> str:
    """A series of a chart; its figures have a format."""
    return (
        f"<c:ser><c:tx><c:strRef><c:strCache>{points([name])}</c:strCache></c:strRef></c:tx><c:cat>{categories}</c:cat>"
        f"<c:val><c:numRef><c:numCache><c:formatCode>{code}</c:formatCode>{points(values)}</c:numCache></c:numRef></c:val>"
        "</c:ser>"
    )


def points(values: Iterable[object]) -> str:
    """Points of a chart; those of nothing are left out."""
    return "".join(f'<c:pt idx="{n}"><c:v>{v}</c:v></c:pt>' for n, v in enumerate(values) if v is not None)


def _relations(named: Mapping[str, tuple[str, str]]) -> str:
    each = "".join(
        f'<Relationship Id="{name}" Type="{_OFFICE}/relationships/{kind}" Target="{target}"/>'
        for name, (kind, target) in named.items()
    )
    return f'<Relationships xmlns="{_RELATIONS}">{each}</Relationships>'


def _package(name: str, main: str, files: Mapping[str, str], strict: bool) -> Write:
    def write(folder: Path) -> Path:
        with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as packed:
            for part, text in {"_rels/.rels": _relations({"r": ("officeDocument", main)}), **files}.items():
                data = text.encode()
                packed.writestr(part, _strict(data) if strict else data)
        return folder / name

    return write


# -- OpenDocument -----------------------------------------------------------------------------------------------------

_ODF = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for short, name in {
        "office": "office", "text": "text", "table": "table", "draw": "drawing", "style": "style",
        "presentation": "presentation",
    }.items()
)  # fmt: skip


def opendocument(name: str, kind: str, body: str, *, styles: str = "", edges: str = "") -> Write:
    """An OpenDocument file of a kind (text, spreadsheet, presentation); `edges` are headers and footers of pages."""

    def write(folder: Path) -> Path:
        with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("content.xml", (
                f'<office:document-content {_ODF} xmlns:xlink="http://www.w3.org/1999/xlink" '
                f'xmlns:dc="http://purl.org/dc/elements/1.1/"><office:automatic-styles>{styles}</office:automatic-styles>'
                f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
            ))  # fmt: skip
            packed.writestr("styles.xml", (
                f"<office:document-styles {_ODF}><office:master-styles><style:master-page>{edges}</style:master-page>"
                "</office:master-styles></office:document-styles>"
            ))  # fmt: skip
        return folder / name

    return write


def filled(value: object, about: str = "", text: str = "") -> str:
    """A cell of a sheet of OpenDocument; None is one that a merged cell covers."""
    if value is None:
        return "<table:covered-table-cell/>"
    if isinstance(value, str):
        return f'<table:table-cell office:value-type="string" {about}><text:p>{value}</text:p></table:table-cell>'
    kind = "" if "value-type" in about else 'office:value-type="float"'
    return (
        f'<table:table-cell {kind} office:value="{value}" {about}><text:p>{text or value}</text:p></table:table-cell>'
    )


def filled_rows(name: str, *rows: Sequence[str]) -> str:
    """A table of OpenDocument of rows of cells."""
    inner = "".join(f"<table:table-row>{''.join(cells)}</table:table-row>" for cells in rows)
    return f'<table:table table:name="{name}">{inner}</table:table>'

"""Malformed files in one folder beside good ones: every good one must go in, and every bad one be named.

    python -m lab.benchmarks.malformed [--seconds 20] [--memory-mb 512] [--chunks 5000] [--only KIND,KIND]

Makes more than 500 files, ingests the folder with the command as a person would, and prints what became of each kind,
the time, and the most memory that the process and its readers held together. Exits with 1 where a good file is
missing, a bad one is not named, a reader breaks, one of too many chunks is not said to be cut, or the limits of ten
minutes of processor time and one gigabyte are passed.
"""

import argparse
import io
import json
import os
import resource
import sys
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from types import MappingProxyType
from typing import NamedTuple

from cragraph.documents import Limits, shown_name
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.store import ingest, open_store

LONGEST, MOST_MB = 600.0, 1024
VARIANTS = 24
SIZE = 30_000
GOOD = 40


class Kind(NamedTuple):
    """Files of one kind: `content` by number, `suffixes` in turn; `refused` says that none may be read, `cut` that each
    goes in up to a limit and is said to."""

    suffixes: str
    refused: bool
    content: Callable[[int], str | bytes]
    count: int = VARIANTS
    cut: bool = False

    def file(self, name: str, n: int) -> tuple[str, bytes]:
        """The name and the content of a file."""
        content = self.content(n)
        suffixes = self.suffixes.split()
        return f"{name}{n}.{suffixes[n % len(suffixes)]}", content.encode() if isinstance(content, str) else content


def front_aliases(n: int) -> str:
    """Front matter of a few lines that stand for millions of values."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 8 + n % 4)]
    return "---\n" + "\n".join(lines) + f"\n---\nwords {n}\n"


def surrogates(n: int) -> str:
    """Halves of characters in names and values."""
    return json.dumps({"name": f"row {n}", "value\udcff": "\ud800", "text" if n % 2 else "note": "\udfff lone"})


def package(
    document: bytes,
    blanks: int = 0,
    main: str = "word/document.xml",
    more: Mapping[str, str] = MappingProxyType({}),
) -> bytes:
    """An office file with this as its main part, and so many megabytes of blanks after it; `more` are other parts."""
    named = "http://schemas.openxmlformats.org"
    relations = (
        f'<Relationships xmlns="{named}/package/2006/relationships"><Relationship Id="r" '
        f'Type="{named}/officeDocument/2006/relationships/officeDocument" Target="{main}"/></Relationships>'
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("_rels/.rels", relations)
        for name, text in more.items():
            packed.writestr(name, text)
        with packed.open(main, "w") as part:
            part.write(document)
            for _ in range(blanks):
                part.write(b" " * (1 << 20))
    return file.getvalue()


NAMED = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
WORD = f'<w:document xmlns:w="{NAMED}"><w:body>%s</w:body></w:document>'
PARAGRAPH = "<w:p><w:r><w:t>words</w:t></w:r></w:p>"


def broken_word(n: int) -> bytes:
    """Word files that are cut short, empty, flipped, or say more than they hold."""
    whole = package((WORD % (PARAGRAPH * 50)).encode())
    tens = "".join(f"<!ENTITY {chr(98 + i)} '{f'&{chr(97 + i)};' * 10}'>" for i in range(9))
    entities = f"<!DOCTYPE l [<!ENTITY a 'x'>{tens}]>"
    wide = '<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="99999999"/></w:tcPr></w:tc></w:tr></w:tbl>'
    broken = (
        whole[: len(whole) // 2 + n],
        package(b"<w:document"),
        package(b""),
        b"PK\x03\x04" + os.urandom(400 + n),
        package((entities + WORD % "<w:p><w:r><w:t>&j;</w:t></w:r></w:p>").encode()),
        package((WORD % wide).encode()),
    )
    return broken[n % len(broken)]


SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
REFERS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
BOOK = f'<workbook xmlns="{SHEETS}" xmlns:r="{REFERS}"><sheets><sheet name="S" r:id="r1"/></sheets></workbook>'
RELATED = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="r1" Type="{REFERS}/worksheet" Target="sheet.xml"/></Relationships>'
)


def broken_book(n: int) -> bytes:
    """Workbooks with cells, rows and merges far out, formats and figures that are none, and entities in entities."""
    tens = "".join(f"<!ENTITY {chr(98 + i)} '{f'&{chr(97 + i)};' * 10}'>" for i in range(9))
    row = '<row r="{}"><c r="{}" s="7"><v>{}</v></c><c r="B1" t="inlineStr"><is><t>words</t></is></c></row>'
    rows, above, below = (
        (row.format(1, "A1", "1e999"), "", '<mergeCells><mergeCell ref="A1:XFD9999999"/></mergeCells>'),
        (row.format("9" * 30, "ZZZZZ9", "x"), "", ""),
        (row.format(1, "A1", "&j;"), f"<!DOCTYPE l [<!ENTITY a 'x'>{tens}]>", ""),
        (row.format(1, "A1", 1) * SIZE, "", "<mergeCells>" + '<mergeCell ref="A1:B9"/>' * SIZE + "</mergeCells>"),
        ("<row>" + "<c><v>1</v></c>" * (2_000 + n) + "</row>", "", ""),
    )[n % 5]
    sheet = f'{above}<worksheet xmlns="{SHEETS}"><sheetData>{rows}</sheetData>{below}</worksheet>'
    more = {"xl/sheet.xml": sheet, "xl/_rels/workbook.xml.rels": RELATED}
    return package(BOOK.encode(), main="xl/workbook.xml", more=more)


OPEN = "urn:oasis:names:tc:opendocument:xmlns"


def broken_open(n: int) -> bytes:
    """OpenDocument files with lists in lists, levels, blanks, spans and repeats beyond all use."""
    many, deep = "999999999", 50 * n + 50
    body = (
        "<text:list><text:list-item>" * deep + "<text:p>words</text:p>" + "</text:list-item></text:list>" * deep,
        f'<text:h text:outline-level="{many}">words</text:h><text:p>words<text:s text:c="{many}"/></text:p>',
        f'<table:table><table:table-row><table:table-cell table:number-columns-spanned="{many}"/></table:table-row>'
        "</table:table><text:p>words</text:p>",
        f'<table:table><table:table-row table:number-rows-repeated="{many}"><table:table-cell '
        f'table:number-columns-repeated="{many}"><text:p>1</text:p></table:table-cell></table:table-row></table:table>',
    )[n % 4]
    spaces = f'xmlns:office="{OPEN}:office:1.0" xmlns:text="{OPEN}:text:1.0" xmlns:table="{OPEN}:table:1.0"'
    body = f"<office:body><office:text>{body}</office:text></office:body>"
    content = f"<office:document-content {spaces}>{body}</office:document-content>"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("content.xml", content)
    return file.getvalue()


RICH = ("{", "\\u1057?", "\\cell ", "\\'e9", "\\super 2 ", "{\\footnote ", "\\row\\trowd\\intbl a\\cell ")
CARD = (
    "ATTENDEE:a@b\n",
    " folded\n",
    "BEGIN:VEVENT\n",
    "END:VEVENT\n",
    "NOTE;ENCODING=QUOTED-PRINTABLE:=\n",
    "RRULE:FREQ=X\n",
)
CUES = ("00:00:01,000 --> 00:00:02,000\nwords\n\n", "<i>", "-->", "99:99:99.999 --> \n", "\n\n", "<v ")


def nested_word(n: int) -> bytes:
    """Tables in tables in tables."""
    tables = "<w:tbl><w:tr><w:tc>" * (30 * n + 30) + PARAGRAPH + "</w:tc></w:tr></w:tbl>" * (30 * n + 30)
    return package((WORD % (PARAGRAPH + tables)).encode())


def pdf(*objects: bytes) -> bytes:
    """A PDF of these objects, the first of which is its catalogue."""
    data = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (size, len(data))
    return bytes(data) + b"xref\n0 %d\n0000000000 65535 f \n%s%s" % (size, table, trailer)


def stream(content: bytes, entries: bytes = b"") -> bytes:
    """A stream of a PDF, packed."""
    packed = zlib.compress(content, 9)
    return b"<< /Length %d /Filter /FlateDecode %s >>\nstream\n%s\nendstream" % (len(packed), entries, packed)


PAGE = (
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> %s >> >>"
)
ONE_PAGE = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
CATALOGUE = b"<< /Type /Catalog /Pages 2 0 R >>"
SHOWN = b"BT /F 12 Tf 72 700 Td (Some words to be found) Tj ET "


def nested_forms(n: int) -> bytes:
    """A form that shows another ten times, which shows another ten times, and so on."""
    kind = b"/Type /XObject /Subtype /Form /BBox [0 0 9 9]"
    inner = kind + b" /Resources << /XObject << /X %d 0 R >> >>"
    forms = [stream(b"/X Do " * 10, inner % (7 + i)) for i in range(9 + n)]
    last = stream(b"BT /F 1 Tf (x) Tj ET", kind)
    page = PAGE % b"/XObject << /X 6 0 R >>"
    return pdf(CATALOGUE, ONE_PAGE, page, stream(b"/X Do " * 10), FONT, *forms, last)


def noted(n: int) -> bytes:
    """A page with very many fields, notes and struck words, whose boxes are of any size."""
    kinds = (
        b"/Widget /FT /Tx /V (a %s)" % (b"b " * 500),
        b"/FreeText /Contents (a)",
        b"/StrikeOut /QuadPoints [0 9 9 9 0 0 9 0]",
    )
    refs = b" ".join(b"%d 0 R" % number for number in range(7, 7 + 20_000))
    notes = [
        b"<< /Type /Annot /Subtype %s /Rect [%d 1e30 -9 %d] /F 4 >>" % (kinds[i % 3], i * n, -i) for i in range(20_000)
    ]
    catalogue = CATALOGUE[:-3] + b" /AcroForm << /Fields [%s] >> >>" % refs
    page = (PAGE % b"")[:-3] + b" /Annots [%s] >>" % refs
    return pdf(catalogue, ONE_PAGE, page, stream(SHOWN), FONT, b"null", *notes)


def paged(kids: bytes, count: int) -> bytes:
    """A PDF that says that it has so many pages."""
    pages = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, count)
    return pdf(CATALOGUE, pages, PAGE % b"", stream(SHOWN), FONT)


def broken_pdf(n: int) -> bytes:
    """PDFs that are cut short, noise, without text, empty or without pages."""
    whole = pdf(CATALOGUE, ONE_PAGE, PAGE % b"", stream(b""), FONT)
    noise = b"%PDF-1.7\n" + os.urandom(2_000)
    return (whole[: 40 + n], noise, whole, b"%PDF-1.4\n%%EOF", whole.replace(b"/Pages", b"/Nopes"))[n % 5]


def odd_text(n: int) -> bytes:
    """Text that is long, not in one encoding, or made of marks alone."""
    odd = (
        ("a" + "\u0315\u0300" * 100_000).encode(),
        b"words " * 300_000,
        b"\xed\xa0\x80 words \xff\xfe\x80",
        "words".encode("utf-16-le") * 1_000 + b"\x00",
        b"\x1b]0;title\x07\x1b[2J words",
        b"=" * 200_000 + b"\nwords",
        b"1. " * 100_000,
        b"\n" * 500_000 + b"words",
    )
    return odd[n % len(odd)] + f"\n{n}".encode()


FRONT = (
    "date: 2023-13-45", "x: !!python/object:os.system {}", "? [a, b]\n: c", "a: *nowhere", "x: &a [*a]", "{" * 300,
)  # fmt: skip
MARKS = (
    "$a^{$ ",
    "~~a",
    "<sup>2",
    "<table>\n\n",
    ". . ",
    "a^b",
    "[",
    "*a ",
    "<!--",
    ">",
    "- ",
    "![](",
    "_",
    "~~~\n",
    "|a|b|\n|-|-|\n|1|2|\n\n",
    "<b>",
    "# \n",
    "&amp;",
)
ITEMS = (
    "a<sup>2",
    "<del>a",
    "<math><mfrac><mi>a",
    "<aside><a>b",
    "<form><input value=a>",
    "<li>item",
    "<ol><li>item</ol>",
    "<ul><li>",
    "<div>",
    "<table><tr><td>a",
    "<b>",
    "<p>",
    "<td>",
    "<br>",
)
SPAN = '<tr><td colspan="99999999" rowspan="99999999">a</td><td>b</td></tr>'
NAMES = (b"caf\xe9%d.md", b"\x1b[2J%d.md", b"a\nb%d.md", b"\x1b]0;title\x07%d.txt")

KINDS = {
    "columns": Kind(
        "csv", True, lambda n: "\n".join(",".join(f"{c}{i}" for i in range(2_000 + 400 * n)) for c in "abc")
    ),
    "open_quote": Kind(
        "csv", True, lambda n: "name,note\n" + "good,row\n" * n + 'bad,"never closed\n' + "lost,row\n" * 500
    ),
    "swallowing_quote": Kind("csv", True, lambda n: 'a,b\n1,"open\n' + "2,lost\n" * (n + 1) + '3,"closed"\n'),
    "surrogates": Kind("jsonl", False, surrogates),
    "broken_line": Kind("jsonl", True, lambda n: '{"a": 1}\n' * n + '{"a": \n'),
    "deep_json": Kind("json", True, lambda n: "[" * (50_000 + n) + "]" * (50_000 + n)),
    "odd_numbers": Kind("json", False, lambda n: f'[{{"a": 1e999, "b": NaN, "c": -Infinity, "d": {1 << (64 + n)}}}]'),
    "long_number": Kind("json", True, lambda n: '{"a": ' + "9" * (5_000 + n) + "}"),
    "wide_record": Kind("jsonl", True, lambda n: json.dumps({f"key {i}": i for i in range(1_500 + n)})),
    "front_keys": Kind(
        "md", True, lambda n: "---\n" + "".join(f"key{i}: {i}\n" for i in range(30_000 + n)) + "---\nwords\n"
    ),
    "front_aliases": Kind("md", True, front_aliases),
    "front_odd": Kind("md", False, lambda n: f"---\n{FRONT[n % len(FRONT)]}\n---\nwords {n}\n"),
    "backticks": Kind(
        "md", False, lambda n: f"words {n} <!-- hidden -->" + "".join("`" * (i % 97 + 1) + " a " for i in range(SIZE))
    ),
    "marks": Kind("md", False, lambda n: f"words {n}\n\n" + MARKS[n % len(MARKS)] * SIZE),
    "items": Kind("html", False, lambda n: f"<p>words {n}</p><ol>" + ITEMS[n % len(ITEMS)] * SIZE),
    "spans": Kind("html", False, lambda n: f"<p>words {n}</p><table>{SPAN * (SIZE // 10)}</table>"),
    "wide_table": Kind(
        "html", True, lambda n: "<p>words</p><table>" + ("<tr>" + "<td>1" * (5_000 + n) + "</tr>") * 3 + "</table>"
    ),
    "unpacks_to_a_gigabyte": Kind("docx", True, lambda n: package((WORD % PARAGRAPH).encode(), 600 + n), 3),
    "broken_word": Kind("docx", True, broken_word),
    "nested_word": Kind("docx", False, nested_word),
    "broken_book": Kind("xlsx", False, broken_book),
    "broken_open": Kind("odt ods", False, broken_open),
    "rich": Kind("rtf", False, lambda n: "{\\rtf1 words " + RICH[n % len(RICH)] * SIZE),
    "cards": Kind(
        "ics vcf",
        False,
        lambda n: (
            "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTEND:20249999\nSUMMARY:words\n"
            + CARD[n % len(CARD)] * SIZE
            + "END:VEVENT\n"
        ),
    ),
    "cues": Kind("srt vtt", False, lambda n: CUES[0] + CUES[n % len(CUES)] * SIZE),
    "notebook": Kind("ipynb org", False, lambda n: '{"cells": [' + '{"source": [' * n + "]"),
    "million_pages": Kind("pdf", True, lambda n: paged(b"3 0 R", 1_000_000 + n)),
    "nested_forms": Kind("pdf", True, nested_forms, 3),
    "noted": Kind("pdf", False, noted, 3),
    "packed_text": Kind(
        "pdf", False, lambda n: pdf(CATALOGUE, ONE_PAGE, PAGE % b"", stream(SHOWN * (1_000_000 + n)), FONT), 3
    ),
    "broken_pdf": Kind("pdf", True, broken_pdf),
    "pages_in_a_circle": Kind("pdf", False, lambda n: paged(b"2 0 R 3 0 R", n + 1)),
    "rows_of_nothing": Kind("jsonl", False, lambda n: "[1]\n" * (SIZE * 17), 1, cut=True),
    "endless_rows": Kind("csv", False, lambda n: "a,b\n" + "".join(f"{i},{i % 7}\n" for i in range(SIZE * 17)), 1),
    "endless_list": Kind("json", False, lambda n: json.dumps([{"a": i} for i in range(SIZE * 7)]), 1, cut=True),
    "odd_text": Kind("txt rst md", False, odd_text),
    "no_text": Kind(
        "txt html csv json md jsonl", True, lambda n: (b"", b" \n\t", b"\n" * (n + 1), b"\x00" * 50)[n % 4]
    ),
    "names": Kind("md", True, lambda n: "words in a file\n"),
}


def made(name: str, n: int) -> tuple[str, bytes]:
    """A file of a kind; those of `names` have names that cannot be shown."""
    file, content = KINDS[name].file(name, n)
    return (os.fsdecode(NAMES[n % len(NAMES)] % n) if name == "names" else file), content


def good(n: int) -> tuple[str, bytes]:
    """A file as people have them, some under names that a careless program trips over."""
    fact = f"The lighthouse number {n} was built in {1800 + n}."
    name = ("note", "[red]note[bold]", "-note", "no te", "nöte", "note\u200d", "%s", "$note", "n'ote")[n % 9]
    page = stream(SHOWN + b"BT /F 9 Tf 9 9 Td (%d) Tj ET" % n)
    shapes: tuple[tuple[str, bytes], ...] = (
        ("md", f"# Lighthouse\n\n{fact}\n".encode()),
        ("txt", fact.encode()),
        ("html", f"<h1>Lighthouse</h1><p>{fact}</p>".encode()),
        ("csv", f"name,built\nlighthouse {n},{1800 + n}\n".encode()),
        ("jsonl", json.dumps({"name": f"lighthouse {n}", "built": 1800 + n}).encode()),
        ("docx", package((WORD % f"<w:p><w:r><w:t>{fact}</w:t></w:r></w:p>").encode())),
        ("pdf", pdf(CATALOGUE, ONE_PAGE, PAGE % b"", page, FONT)),
    )
    suffix, content = shapes[n % len(shapes)]
    return f"{name}{n}.{suffix}", content


def write(folder: Path, only: frozenset[str] = frozenset()) -> tuple[dict[str, str], set[str]]:
    """Write the folder; returns the kind of each malformed file, and the names of the good ones."""
    kinds: dict[str, str] = {}
    for name, kind in KINDS.items():
        for n in range(kind.count if not only or name in only else 0):
            file, content = made(name, n)
            (folder / file).write_bytes(content)
            kinds[file] = name
    fine = set()
    for n in range(GOOD):
        file, content = good(n)
        (folder / file).write_bytes(content)
        fine.add(file)
    return kinds, fine


def megabytes() -> float:
    """The most memory that this process and its largest reader held."""
    return sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024


def _broke(reason: str | None) -> bool:
    """Whether a file was refused by an error that its reader did not foresee."""
    return "cannot be read (" in (reason or "")


def run(folder: Path, store_path: Path, limits: Limits, only: frozenset[str]) -> bool:
    """Ingest the folder and print what became of each kind; whether all is as it must be."""
    kinds, fine = write(folder, only)
    begun = perf_counter()
    with open_store(str(store_path), EmbeddedEncoder()) as store:
        report = ingest(folder, store, limits=limits)
    seconds = perf_counter() - begun
    taken = {Path(source).name for source in report.added}
    named = {Path(source).name: reason for source, reason in (*report.failed, *report.skipped, *report.partial)}
    cut = {Path(source).name for source, reason in report.partial if "only the first" in reason}
    print(f"{'kind':24} {'files':>6} {'in':>6} {'named':>6}  for example")
    wrong: list[str] = [f"the good file {name!r} is not in: {named.get(name)}" for name in sorted(fine - taken)]
    for kind_name, count in Counter(kinds.values()).items():
        files = [name for name, of in kinds.items() if of == kind_name]
        bad = [name for name in files if shown_name(name) in named or name in named]
        example = next((named.get(name) or named.get(shown_name(name)) for name in bad), "")
        print(f"{kind_name:24} {count:6} {len(taken.intersection(files)):6} {len(bad):6}  {str(example)[-90:]}")
        wanted = set(files) if KINDS[kind_name].refused else set(files) - taken
        wrong.extend(f"{name!r} ({kind_name}) is not named" for name in sorted(wanted - set(bad)))
        broke = (f"{name!r} ({kind_name}) broke its reader: {named[name]}" for name in files if _broke(named.get(name)))
        wrong.extend(broke)
        whole = set(files) - cut if KINDS[kind_name].cut else ()
        wrong.extend(f"{name!r} ({kind_name}) is not in up to the limit" for name in whole)
    memory = megabytes()
    work = sum(os.times()[:4])
    print(f"{len(kinds)} malformed and {len(fine)} good files in {seconds:.0f} s ({work:.0f} s of processor time),")
    print(f"{memory:.0f} MB")
    if work > LONGEST or memory > MOST_MB:
        wrong.append(f"wanted at most {LONGEST:.0f} s of processor time and {MOST_MB} MB")
    print("\n".join(wrong))
    return not wrong


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--memory-mb", type=int, default=512)
    parser.add_argument("--chunks", type=int, default=5_000)
    parser.add_argument("--only", default="", help="names of kinds, with commas between")
    options = parser.parse_args()
    limits = Limits(seconds=options.seconds, memory_mb=options.memory_mb, chunks=options.chunks)
    with tempfile.TemporaryDirectory() as folder:
        files, store = Path(folder, "files"), Path(folder, "store")
        files.mkdir()
        sys.exit(not run(files, store, limits, frozenset(filter(None, options.only.split(",")))))


if __name__ == "__main__":
    main()

"""Malformed files in one folder beside good ones: every good one must go in, and every bad one be named.

    python -m benchmarks.malformed [--seconds 20] [--memory-mb 512] [--only KIND,KIND]

Makes more than 500 files, ingests the folder with the command as a person would, and prints what became of each kind,
the time, and the most memory that the process and its readers held together. Exits with 1 where a good file is
missing, a bad one is not named, or the limits of ten minutes and one gigabyte are passed.
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
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.retrieval.documents import Limits, shown_name
from cragraph.retrieval.store import ingest, open_store

LONGEST, MOST_MB = 600.0, 1024
VARIANTS = 24
SIZE = 30_000
GOOD = 40

Files = Iterator[tuple[str | bytes, bytes]]
"""File names with their content."""


# Each kind says whether its files must be refused (False: they can be read, or be refused; either way they end).
KINDS: dict[str, tuple[Callable[[int], tuple[str | bytes, bytes]], bool, int]] = {}


def kind(refused: bool, count: int = VARIANTS) -> Callable[[Callable[[int], tuple[str | bytes, bytes]]], None]:
    """Enter a maker of files under its own name."""

    def enter(make: Callable[[int], tuple[str | bytes, bytes]]) -> None:
        KINDS[make.__name__] = make, refused, count

    return enter


@kind(refused=True)
def columns(n: int) -> tuple[str, bytes]:
    width = 2_000 + 400 * n
    return f"columns{n}.csv", "\n".join(",".join(f"{c}{i}" for i in range(width)) for c in "abc").encode()


@kind(refused=True)
def open_quote(n: int) -> tuple[str, bytes]:
    return f"open{n}.csv", ("name,note\n" + "good,row\n" * n + 'bad,"never closed\n' + "lost,row\n" * 500).encode()


@kind(refused=True)
def swallowing_quote(n: int) -> tuple[str, bytes]:
    return f"swallow{n}.csv", ('a,b\n1,"open\n' + "2,lost\n" * (n + 1) + '3,"closed"\n').encode()


@kind(refused=False)
def surrogates(n: int) -> tuple[str, bytes]:
    rows = [{"name": f"row {n}", "value\udcff": "\ud800", "text" if n % 2 else "note": "\udfff lone"}]
    return f"surrogates{n}.jsonl", "\n".join(map(json.dumps, rows)).encode()


@kind(refused=True)
def broken_line(n: int) -> tuple[str, bytes]:
    return f"broken{n}.jsonl", b'{"a": 1}\n' * n + b'{"a": \n'


@kind(refused=True)
def deep_json(n: int) -> tuple[str, bytes]:
    return f"deep{n}.json", b"[" * (50_000 + n) + b"]" * (50_000 + n)


@kind(refused=False)
def odd_numbers(n: int) -> tuple[str, bytes]:
    return f"numbers{n}.json", f'[{{"a": 1e999, "b": NaN, "c": -Infinity, "d": {1 << (64 + n)}}}]'.encode()


@kind(refused=True)
def long_number(n: int) -> tuple[str, bytes]:
    return f"digits{n}.json", b'{"a": ' + b"9" * (5_000 + n) + b"}"


@kind(refused=True)
def wide_record(n: int) -> tuple[str, bytes]:
    return f"wide{n}.jsonl", json.dumps({f"key {i}": i for i in range(1_500 + n)}).encode()


@kind(refused=True)
def front_keys(n: int) -> tuple[str, bytes]:
    return f"keys{n}.md", ("---\n" + "".join(f"key{i}: {i}\n" for i in range(30_000 + n)) + "---\nwords\n").encode()


@kind(refused=True)
def front_aliases(n: int) -> tuple[str, bytes]:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 8 + n % 4)]
    return f"aliases{n}.md", ("---\n" + "\n".join(lines) + f"\n---\nwords {n}\n").encode()


@kind(refused=False)
def front_odd(n: int) -> tuple[str, bytes]:
    odd = (
        "date: 2023-13-45",
        "x: !!python/object:os.system {}",
        "? [a, b]\n: c",
        "a: *nowhere",
        "x: &a [*a]",
        "{" * 300,
    )
    return f"front{n}.md", f"---\n{odd[n % len(odd)]}\n---\nwords {n}\n".encode()


@kind(refused=False)
def backticks(n: int) -> tuple[str, bytes]:
    return f"backticks{n}.md", (
        f"words {n} <!-- hidden -->" + "".join("`" * (i % 97 + 1) + " a " for i in range(SIZE))
    ).encode()


@kind(refused=False)
def marks(n: int) -> tuple[str, bytes]:
    mark = ("[", "*a ", "<!--", ">", "- ", "![](", "_", "~~~\n", "|a|b|\n|-|-|\n|1|2|\n\n", "<b>", "# \n", "&amp;")[
        n % 12
    ]
    return f"marks{n}.md", (f"words {n}\n\n" + mark * SIZE).encode()


@kind(refused=False)
def items(n: int) -> tuple[str, bytes]:
    item = ("<li>item", "<ol><li>item</ol>", "<ul><li>", "<div>", "<table><tr><td>a", "<b>", "<p>", "<td>", "<br>")[
        n % 9
    ]
    return f"items{n}.html", (f"<p>words {n}</p><ol>" + item * SIZE).encode()


@kind(refused=False)
def spans(n: int) -> tuple[str, bytes]:
    row = '<tr><td colspan="99999999" rowspan="99999999">a</td><td>b</td></tr>'
    return f"spans{n}.html", f"<p>words {n}</p><table>{row * (SIZE // 10)}</table>".encode()


@kind(refused=True)
def wide_table(n: int) -> tuple[str, bytes]:
    row = "<tr>" + "<td>1" * (5_000 + n) + "</tr>"
    return f"cells{n}.html", f"<p>words</p><table>{row * 3}</table>".encode()


def package(document: bytes, blanks: int = 0) -> bytes:
    """A Word file with this as its document, and so many megabytes of blanks after it."""
    named = "http://schemas.openxmlformats.org"
    relations = (
        f'<Relationships xmlns="{named}/package/2006/relationships"><Relationship Id="r" '
        f'Type="{named}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>'
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("_rels/.rels", relations)
        with packed.open("word/document.xml", "w") as part:
            part.write(document)
            for _ in range(blanks):
                part.write(b" " * (1 << 20))
    return file.getvalue()


NAMED = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
WORD = f'<w:document xmlns:w="{NAMED}"><w:body>%s</w:body></w:document>'
PARAGRAPH = "<w:p><w:r><w:t>words</w:t></w:r></w:p>"


@kind(refused=True, count=3)
def unpacks_to_a_gigabyte(n: int) -> tuple[str, bytes]:
    return f"gigabyte{n}.docx", package((WORD % PARAGRAPH).encode(), 600 + n)


@kind(refused=True)
def broken_word(n: int) -> tuple[str, bytes]:
    whole = package((WORD % (PARAGRAPH * 50)).encode())
    flipped = bytearray(whole)
    flipped[len(whole) // 2 + n] ^= 0xFF
    tens = "".join(f"<!ENTITY {chr(98 + i)} '{f'&{chr(97 + i)};' * 10}'>" for i in range(9))
    entities = f"<!DOCTYPE l [<!ENTITY a 'x'>{tens}]>"
    broken = (
        whole[: len(whole) // 2 + n],
        package(b"<w:document"),
        package(b""),
        b"PK\x03\x04" + os.urandom(400 + n),
        package((entities + WORD % "<w:p><w:r><w:t>&j;</w:t></w:r></w:p>").encode()),
        package(
            (WORD % '<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="99999999"/></w:tcPr></w:tc></w:tr></w:tbl>').encode()
        ),
    )
    return f"word{n}.docx", broken[n % len(broken)]


@kind(refused=False)
def nested_word(n: int) -> tuple[str, bytes]:
    tables = "<w:tbl><w:tr><w:tc>" * (30 * n + 30) + PARAGRAPH + "</w:tc></w:tr></w:tbl>" * (30 * n + 30)
    return f"nested{n}.docx", package((WORD % (PARAGRAPH + tables)).encode())


def pdf(*objects: bytes) -> bytes:
    """A PDF of these objects, the first of which is its catalogue."""
    data = b"%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (size, len(data))
    return data + b"xref\n0 %d\n0000000000 65535 f \n%s%s" % (size, table, trailer)


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


@kind(refused=True)
def million_pages(n: int) -> tuple[str, bytes]:
    pages = b"<< /Type /Pages /Kids [3 0 R] /Count %d >>" % (1_000_000 + n)
    return f"million{n}.pdf", pdf(CATALOGUE, pages, PAGE % b"", stream(SHOWN), FONT)


@kind(refused=True, count=3)
def nested_forms(n: int) -> tuple[str, bytes]:
    depth = 9 + n
    forms = [
        stream(
            b"/X Do " * 10,
            b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X %d 0 R >> >>" % (7 + i),
        )
        for i in range(depth)
    ]
    last = stream(b"BT /F 1 Tf (x) Tj ET", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9]")
    pages = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    page = PAGE % b"/XObject << /X 6 0 R >>"
    return f"forms{n}.pdf", pdf(CATALOGUE, pages, page, stream(b"/X Do " * 10), FONT, *forms, last)


@kind(refused=False, count=3)
def packed_text(n: int) -> tuple[str, bytes]:
    return f"packed{n}.pdf", pdf(CATALOGUE, ONE_PAGE, PAGE % b"", stream(SHOWN * (1_000_000 + n)), FONT)


@kind(refused=True)
def broken_pdf(n: int) -> tuple[str, bytes]:
    whole = pdf(CATALOGUE, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", PAGE % b"", stream(b""), FONT)
    broken = (
        whole[: 40 + n],
        b"%PDF-1.7\n" + os.urandom(2_000),
        whole,
        b"%PDF-1.4\n%%EOF",
        whole.replace(b"/Pages", b"/Nopes"),
    )
    return f"broken{n}.pdf", broken[n % len(broken)]


@kind(refused=False)
def pages_in_a_circle(n: int) -> tuple[str, bytes]:
    pages = b"<< /Type /Pages /Kids [2 0 R 3 0 R] /Count %d >>" % (n + 1)
    return f"circle{n}.pdf", pdf(CATALOGUE, pages, PAGE % b"", stream(SHOWN), FONT)


@kind(refused=False)
def odd_text(n: int) -> tuple[str, bytes]:
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
    return f"odd{n}.{('txt', 'rst', 'md')[n % 3]}", odd[n % len(odd)] + f"\n{n}".encode()


@kind(refused=True)
def no_text(n: int) -> tuple[str, bytes]:
    return f"none{n}.{('txt', 'html', 'csv', 'json', 'md', 'jsonl')[n % 6]}", (
        b"",
        b" \n\t",
        b"\n" * (n + 1),
        b"\x00" * 50,
    )[n % 4]


@kind(refused=True)
def names(n: int) -> tuple[bytes, bytes]:
    return (b"caf\xe9%d.md", b"\x1b[2J%d.md", b"a\nb%d.md", b"\x1b]0;title\x07%d.txt")[n % 4] % n, b"words in a file\n"


def good(n: int) -> tuple[str, bytes]:
    """A file as people have them, some under names that a careless program trips over."""
    fact = f"The lighthouse number {n} was built in {1800 + n}."
    name = ("note", "[red]note[bold]", "-note", "no te", "nöte", "note\u200d", "%s", "$note", "n'ote")[n % 9]
    page = stream(SHOWN + b"BT /F 9 Tf 9 9 Td (%d) Tj ET" % n)
    made: tuple[tuple[str, bytes], ...] = (
        ("md", f"# Lighthouse\n\n{fact}\n".encode()),
        ("txt", fact.encode()),
        ("html", f"<h1>Lighthouse</h1><p>{fact}</p>".encode()),
        ("csv", f"name,built\nlighthouse {n},{1800 + n}\n".encode()),
        ("jsonl", json.dumps({"name": f"lighthouse {n}", "built": 1800 + n}).encode()),
        ("docx", package((WORD % f"<w:p><w:r><w:t>{fact}</w:t></w:r></w:p>").encode())),
        ("pdf", pdf(CATALOGUE, ONE_PAGE, PAGE % b"", page, FONT)),
    )
    suffix, content = made[n % len(made)]
    return f"{name}{n}.{suffix}", content


def write(folder: Path, only: frozenset[str] = frozenset()) -> tuple[dict[str, str], set[str]]:
    """Write the folder; returns the kind of each malformed file, and the names of the good ones."""
    kinds: dict[str, str] = {}
    for name, (make, _, count) in KINDS.items():
        for n in range(count if not only or name in only else 0):
            file, content = make(n)
            shown = os.fsdecode(file)
            (folder / shown).write_bytes(content)
            kinds[shown] = name
    fine = set()
    for n in range(GOOD):
        file, content = good(n)
        (folder / str(file)).write_bytes(content)
        fine.add(str(file))
    return kinds, fine


def megabytes() -> float:
    """The most memory that this process and its largest reader held."""
    return sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024


def run(folder: Path, store_path: Path, limits: Limits, only: frozenset[str]) -> bool:
    """Ingest the folder and print what became of each kind; whether all is as it must be."""
    kinds, fine = write(folder, only)
    begun = perf_counter()
    with open_store(str(store_path), EmbeddedEncoder()) as store:
        report = ingest(folder, store, limits=limits)
    seconds = perf_counter() - begun
    taken = {Path(source).name for source in report.added}
    named = {Path(source).name: reason for source, reason in (*report.failed, *report.skipped)}
    print(f"{'kind':24} {'files':>6} {'in':>6} {'named':>6}  for example")
    wrong: list[str] = [f"the good file {name!r} is not in: {named.get(name)}" for name in sorted(fine - taken)]
    for kind_name, count in Counter(kinds.values()).items():
        files = [name for name, of in kinds.items() if of == kind_name]
        bad = [name for name in files if shown_name(name) in named or name in named]
        example = next((named.get(name) or named.get(shown_name(name)) for name in bad), "")
        print(f"{kind_name:24} {count:6} {len(taken.intersection(files)):6} {len(bad):6}  {str(example)[-90:]}")
        wanted = set(files) if KINDS[kind_name][1] else set(files) - taken
        wrong.extend(f"{name!r} ({kind_name}) is not named" for name in sorted(wanted - set(bad)))
    memory = megabytes()
    work = sum(os.times()[:4])
    print(f"{len(kinds)} malformed and {len(fine)} good files in {seconds:.0f} s ({work:.0f} s of processor time),")
    print(f"{memory:.0f} MB")
    if seconds > LONGEST or memory > MOST_MB:
        wrong.append(f"wanted at most {LONGEST:.0f} s and {MOST_MB} MB")
    print("\n".join(wrong))
    return not wrong


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--memory-mb", type=int, default=512)
    parser.add_argument("--only", default="", help="names of kinds, with commas between")
    options = parser.parse_args()
    limits = Limits(seconds=options.seconds, memory_mb=options.memory_mb)
    with tempfile.TemporaryDirectory() as folder:
        files, store = Path(folder, "files"), Path(folder, "store")
        files.mkdir()
        sys.exit(not run(files, store, limits, frozenset(filter(None, options.only.split(",")))))


if __name__ == "__main__":
    main()

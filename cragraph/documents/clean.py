"""Bytes to text, within limits, and text to clean text, before any offset is counted."""

import codecs
import re
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from chardetng_py import EncodingDetector

from cragraph.documents.tables import LARGE
from cragraph.errors import DocumentError, InputError, encodable


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits per file; a file over a limit is reported, and the other files go in.

    `seconds` and `memory_mb` hold for the process that reads the file, `total_seconds` for reading and embedding
    together. `fields` counts the columns of a table, the values of a record and the keys of front matter. A file with
    more than `chunks` chunks is cut. A table with more than `rows` rows is stored in columns, with a sample of its rows
    as chunks.
    """

    seconds: float = 120.0
    total_seconds: float = 900.0
    memory_mb: int = 1024
    fields: int = 1000
    characters: int = 50_000_000
    pages: int = 20_000
    chunks: int = 50_000
    rows: int = LARGE

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not getattr(self, name) > 0:
                raise InputError(f"the limit {name} is {getattr(self, name)}; wanted a number above 0.")

    def check(self, limit: str, count: int, what: str) -> None:
        """Raises DocumentError if a count exceeds a limit; `load` adds the file's name."""
        most = getattr(self, limit)
        if count > most:
            raise DocumentError(
                f"has {count:,} {what}, over the limit of {most:,} ({limit}); split it, or raise the limit."
            )


DEFAULT = Limits()

LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
# Control characters, soft hyphens, zero-width spaces and byte order marks have no meaning. Direction overrides and tag
# characters show a person another text than the model reads, which can hide instructions in a document.
DROPPED = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\U000e0000-\U000e007f]"
)
_COLOURS = re.compile("\x1b\\[[0-9;?]{0,40}[A-Za-z]|\x1b\\][^\x07\x1b]{0,500}(?:\x07|\x1b\\\\)")  # of a terminal
LIGATURES = {chr(0xFB00 + n): letters for n, letters in enumerate(("ff", "fi", "fl", "ffi", "ffl", "st", "st"))}
_LIGATURES = re.compile("[\ufb00-\ufb06]")
# Normalising sorts a run of accents in quadratic time; no script stacks this many.
_STACKED = re.compile("([\u0300-\u036f]{30})[\u0300-\u036f]+")


LEADER: Final = re.compile(
    r"(?<=[^\s.])[ \t]*\.(?:[ \t]?\.){3,}[ \t]*(?=(?:[$€£]|[A-Z]{3} ?)?\d[\d.,]*(?:[ \t]|$))"
    r"|(?<=[^\s.])[ \t]+(?:…+|\.\.\.)[ \t]*(?=[$€£]\d)",
    re.M,
)
"""Dots that lead from an entry to its price or page at the end of a line."""


def clean(text: str) -> str:
    """One kind of line end and space, composed accents, no control characters, ligatures or dot leaders; idempotent."""
    text = LEADER.sub(": ", text) if ".." in text or ". ." in text or "…" in text else text
    if text.isascii() and "\r" not in text and not DROPPED.search(text):
        return LINE_ENDS.sub("\n", text)
    text = _COLOURS.sub("", text) if "\x1b" in text else text
    text = DROPPED.sub("", LINE_ENDS.sub("\n", text))
    text = _STACKED.sub(r"\1", encodable(SPACES.sub(" ", text)))
    return unicodedata.normalize("NFC", _LIGATURES.sub(lambda match: LIGATURES[match[0]], text))


def one_line(text: str) -> str:
    """Clean, with every run of white space as one space."""
    if text.isascii() and text.isprintable() and " " not in text and ".." not in text:
        return text  # as most cells of large tables are
    return " ".join(clean(text).split())


SAMPLE = 1 << 18
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Of the names that browsers have for encodings, those that are others here, or mean more than they do here.
_NAMES = {
    "shift_jis": "cp932", "euc-kr": "cp949", "gbk": "gb18030", "big5": "big5hkscs", "iso-8859-8-i": "iso8859_8",
    "windows-874": "cp874",
}  # fmt: skip
_HIGH = re.compile(b"[\x80-\xff]")
_OF_DOS = re.compile(b"(?<=[A-Za-z])[\x81\x82\x84\x94](?=[A-Za-z])")  # ü é ä ö there, quotation marks in Windows-1252
_WESTERN = frozenset(("windows-1250", "windows-1252", "windows-1254", "windows-1257", "iso-8859-2"))
_CENTRAL = frozenset(("windows-1250", "iso-8859-2"))
_ALONE = b"(?<![A-Za-z\x80-\xff])"
# Signs that stand where no letter can, or the other way round: the guesses that they overrule, and the encoding.
_SIGNS = (
    (re.compile(_ALONE + b"\x9c ?\\d"), _WESTERN, "cp850"),  # £12, elsewhere œ or ś
    (re.compile(b"(?<=[a-z])\x8e"), _WESTERN, "mac_roman"),  # café, elsewhere Ž
    (re.compile(_ALONE + b"(?:z\xb3|K\xe8)(?![A-Za-z\x80-\xff])"), _WESTERN, "windows-1250"),  # zł, Kč; else z³, Kè
    (re.compile(b"\xa4 ?\\d|\\d ?\xa4"), _WESTERN, "iso8859_15"),  # €, elsewhere ¤
    # £ and m³, elsewhere Ł alone (but an initial) and mł; ² and ½, elsewhere accents without their letters
    (
        re.compile(_ALONE + b"(?:\xa3(?! ?[A-Z]|[a-z.\x80-\xff])|[cdk]?m\xb3(?![A-Za-z.\x80-\xff]))|[\xb2\xbd]"),
        _CENTRAL,
        "windows-1252",
    ),
)  # fmt: skip


def encoding_of(path: Path) -> str:
    """The encoding of a whole file, read in pieces; UTF-8 only if every byte agrees."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        head = file.read(SAMPLE)
        if known := plain_encoding(head):
            return known
        piece = head
        try:
            while piece:
                decoder.decode(piece)
                piece = file.read(1 << 20)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return guessed_encoding(head)
    return "utf-8"


def guessed_encoding(data: bytes) -> str:
    """The likeliest encoding of bytes; UTF-8 if nearly all bytes beyond ASCII are valid UTF-8."""
    text = data.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    if len(data) - len(text) > 4 * wrong or data.isascii():
        return "utf-8"
    guesser = EncodingDetector()
    guesser.feed(data, last=True)
    # A single sign fits several encodings; Windows-1252 is the likeliest, as on a British page.
    few = len({*_HIGH.findall(data)}) < 2
    name = str(guesser.guess(tld=b"uk" if few else None, allow_utf8=False)).lower()
    if name in _WESTERN and len(_OF_DOS.findall(data)) > 1:
        return "cp850"
    name = next((told for sign, guesses, told in _SIGNS if name in guesses and sign.search(data)), name)
    return _NAMES.get(name, name)


def plain_encoding(head: bytes) -> str | None:
    """The encoding by a byte order mark, or by zeros in nearly every second byte of Western text; else empty."""
    if named := next((name for mark, name in _MARKS if head.startswith(mark)), None):
        return named
    sample = head[:4096]
    half = max(len(sample) // 2, 1)
    even, odd = sample[0::2].count(0) / half, sample[1::2].count(0) / half
    if half >= 4 and max(even, odd) > 0.4 and min(even, odd) < 0.05:
        return "utf-16-le" if odd > even else "utf-16-be"
    return None


def read_text(path: Path, limits: Limits = DEFAULT, declared: re.Pattern[bytes] | None = None) -> str:
    """The text of a file; `declared` finds the encoding that the text names, if its bytes do not tell."""
    limits.check("characters", path.stat().st_size // 4, "characters at least")
    data, encoding = path.read_bytes(), encoding_of(path)
    text = data.decode(encoding, errors="replace")
    if declared and not encoding.startswith("utf-") and (stated := declared.search(data[:4096])):
        with suppress(LookupError, UnicodeError):  # the declared encoding is unknown or does not fit every byte
            text = data.decode(stated[1].decode())
    limits.check("characters", len(text), "characters")
    return text

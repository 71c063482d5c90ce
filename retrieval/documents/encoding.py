"""Which encoding a text file is in: its byte order mark, UTF-8 if it is valid, else what the bytes look like."""

import codecs
from pathlib import Path

from charset_normalizer import from_bytes

SAMPLE = 1 << 18
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WESTERN = {"latin_1", "iso8859_1", "iso8859_15", "cp1252"}


def encoding_of(path: Path) -> str:
    """The encoding of a whole file, read in pieces; UTF-8 only where every byte agrees."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        head = file.read(SAMPLE)
        known = marked(head) or unmarked_utf16(head)
        if known:
            return known
        piece = head
        try:
            while piece:
                decoder.decode(piece)
                piece = file.read(1 << 20)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return guessed(head)
    return "utf-8"


def marked(head: bytes) -> str | None:
    """The encoding that a byte order mark names."""
    return next((name for mark, name in _MARKS if head.startswith(mark)), None)


def unmarked_utf16(head: bytes) -> str | None:
    """UTF-16 without a mark: Western text in it has a zero in nearly every second byte."""
    sample = head[:4096]
    half = len(sample) // 2
    if half < 4:
        return None
    even, odd = sample[0::2].count(0) / half, sample[1::2].count(0) / half
    if odd > 0.4 and even < 0.05:
        return "utf-16-le"
    if even > 0.4 and odd < 0.05:
        return "utf-16-be"
    return None


def guessed(head: bytes) -> str:
    """The likeliest encoding of bytes that are not UTF-8.

    The Western encodings differ in a few signs only and short texts fit several; Windows-1252 is the one in use.
    """
    best = from_bytes(head).best()
    if best is None:
        return "cp1252"
    names = {best.encoding, *best.could_be_from_charset}
    return "cp1252" if names & _WESTERN else best.encoding


def read_text(path: Path) -> str:
    """The text of a file; bytes that its encoding does not know become U+FFFD."""
    return path.read_bytes().decode(encoding_of(path), errors="replace")

"""Text as every later part sees it; done before any offset is counted."""

import re
import unicodedata

LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
# Control characters, soft hyphens, zero-width spaces and byte order marks carry nothing; direction overrides and tag
# characters show a reader something else than what a model reads, a way to hide instructions in a document.
DROPPED = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\U000e0000-\U000e007f]"
)
SURROGATES = re.compile("[\ud800-\udfff]")
LIGATURES = {
    "\ufb00": "ff",
    "\ufb01": "fi",
    "\ufb02": "fl",
    "\ufb03": "ffi",
    "\ufb04": "ffl",
    "\ufb05": "st",
    "\ufb06": "st",
}
_LIGATURES = re.compile("[\ufb00-\ufb06]")


def clean(text: str) -> str:
    """One kind of line end and space, no control characters, no ligatures, no lone surrogates, composed accents.

    Idempotent: cleaning twice changes nothing.
    """
    if text.isascii() and "\r" not in text and not DROPPED.search(text):
        return LINE_ENDS.sub("\n", text)
    text = DROPPED.sub("", LINE_ENDS.sub("\n", text))
    text = SURROGATES.sub("\ufffd", SPACES.sub(" ", text))
    return unicodedata.normalize("NFC", _LIGATURES.sub(lambda match: LIGATURES[match[0]], text))


def one_line(text: str) -> str:
    """Clean, with every run of white space as one space."""
    return " ".join(clean(text).split())

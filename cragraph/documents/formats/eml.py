"""Mail: subject, who wrote to whom and when, the text, and the files attached; saved pages and mailboxes."""

import codecs
import mailbox
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from email import policy
from email.message import MIMEPart
from email.parser import BytesParser
from itertools import groupby
from pathlib import Path
from typing import Any

from cragraph.documents.clean import Limits, guessed_encoding, one_line
from cragraph.documents.document import BlockKind, Draft, Writer
from cragraph.documents.formats.html import write
from cragraph.documents.formats.plain import PARAGRAPH, with_rows
from cragraph.errors import DocumentError
from cragraph.language.facts.polarity import negative

QUOTED = "An earlier mail is quoted here, and the mail that quotes it may say otherwise."

# The line above an earlier mail, which reaches to the end.
_EARLIER = re.compile(
    r"^(?:(?:On|Am|Le|El|Il|Op|Em|Den)\b[^>]{4,200}?\b(?:wrote|schrieb|a écrit|escribió|ha scritto|schreef|escreveu|"
    r"skrev)\b[^:\n]{0,80}:\s*$"
    r"|-{3,} ?(?:Original Message|Ursprüngliche Nachricht|Message d'origine|Mensaje original) ?-{3,}"
    r"|\*?(?:From|Von|De|Da|Van|Från):[^\n]{1,200}\n(?:[^\n]{1,200}\n)?"
    r"\*?(?:Sent|Date|Gesendet|Datum|Envoyé|Enviado|Inviato|Data|Verzonden|Skickat)\s?:)",
    re.I | re.M,
)
_DEEPEST = 5  # mails attached to one another that are read


Attached = Callable[[str, bytes, Limits], Sequence[Draft]]  # reads an attached file by its name and its bytes


def read(path: Path, limits: Limits, attached: Attached) -> Iterator[Draft]:
    """The whole mail as one draft, with the mails attached to it; then the drafts of other files attached."""
    limits.check("characters", path.stat().st_size // 4, "characters at least")
    with path.open("rb") as file:
        if file.read(3) != codecs.BOM_UTF8:
            file.seek(0)
        yield from _drafts(BytesParser(policy=policy.default).parse(file), limits, attached)


def read_box(path: Path, limits: Limits, attached: Attached) -> Iterator[Draft]:
    """The mails of a mailbox with the files attached; entries that are no mail are left out."""
    limits.check("characters", path.stat().st_size // 40, "characters at least")
    with closing(mailbox.mbox(path, create=False)) as box:
        for key in box.iterkeys():
            with suppress(DocumentError):
                yield from _drafts(BytesParser(policy=policy.default).parsebytes(box.get_bytes(key)), limits, attached)


def _drafts(mail: "MIMEPart[Any, Any]", limits: Limits, attached: Attached) -> Iterator[Draft]:
    """The draft of a mail, and those of the files attached to it, each with its file's name."""
    yield _draft(mail, limits)
    bodies, seen = [mail.get_body((kind,)) for kind in ("plain", "html")], set[bytes]()
    for part in mail.walk():
        name, data = _file_name(part), part.get_payload(decode=True)
        if name and isinstance(data, bytes) and data not in seen and part not in bodies:
            seen.add(data)
            for draft in attached(name, data, limits):
                yield replace(draft, metadata={"title": name.rpartition(".")[0], **draft.metadata, "attached": name})


def _draft(mail: "MIMEPart[Any, Any]", limits: Limits) -> Draft:
    if not (mail["from"] or mail["subject"] or mail["date"]):
        raise DocumentError("is not a mail: it has neither a sender, nor a date, nor a subject; save it again.")
    writer = _MailWriter(limits)
    _write(mail, writer, limits, 1)
    sent = mail["date"].datetime if mail["date"] else None
    stated = {"title": _header(mail, "subject"), "author": _header(mail, "from"), "to": _header(mail, "to")}
    stated["date"] = sent.date().isoformat() if sent else ""
    return writer.draft({name: text for name, text in stated.items() if text})


def _file_name(part: "MIMEPart[Any, Any]") -> str:
    """The name of a file that comes with a mail, attached or shown in it; an invitation has none of its own."""
    name = one_line(part.get_filename() or "")
    return name or ("invitation.ics" if part.get_content_type() == "text/calendar" else "")


class _MailWriter(Writer):
    """Writes mails, and doubts what one quotes of an earlier mail that it corrects: that it has a figure or says no."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self._own: list[str] = []
        self._quoted: list[int] = []
        self._earlier = False

    def settle(self) -> None:
        """End a mail: its quotations are in doubt if its own words have a figure or a negation."""
        if negative(own := "\n".join(self._own)) or any(sign.isdigit() for sign in own):
            for at in self._quoted:
                self._blocks[at] = replace(self._blocks[at], doubts=(*self._blocks[at].doubts, QUOTED))
        self._own, self._quoted, self._earlier = [], [], False

    def _write(self, text: str, kind: BlockKind, *, apart: bool = False, **about: Any) -> int:
        self._earlier |= bool(_EARLIER.search(text))
        start = super()._write(text, kind, apart=apart, **about)
        if self._earlier or text.startswith(">"):
            self._quoted.append(len(self._blocks) - 1)
        else:
            self._own.append(text)
        return start


def _write(mail: "MIMEPart[Any, Any]", writer: _MailWriter, limits: Limits, level: int) -> None:
    writer.heading(_header(mail, "subject"), level)
    for name in ("From", "To", "Cc", "Date"):
        if text := _header(mail, name):
            writer.line(f"{name}: {text}")
    writer.settle()
    plain, page = (_text(part) if (part := mail.get_body((kind,))) else "" for kind in ("plain", "html"))
    paragraphs = PARAGRAPH.findall(with_rows(plain))
    if page.strip() and not _is_all(plain, page, limits):
        write(page, writer, limits)
        paragraphs = []
    for paragraph in paragraphs:
        for _, lines in groupby(paragraph.split("\n"), lambda line: line.startswith(">")):
            writer.paragraph("\n".join(lines))
    writer.settle()
    parts = list(mail.iter_attachments()) if mail.is_multipart() else []
    names = [one_line(part.get_filename() or "") for part in parts]
    if any(names):
        writer.line(f"Attached: {', '.join(filter(None, names))}")
    for part in parts:
        if part.get_content_type() == "message/rfc822" and level < _DEEPEST:
            _write(part.get_content(), writer, limits, level + 1)


def _is_all(plain: str, page: str, limits: Limits) -> bool:
    """Whether a mail's plain text has half of the text of its HTML page: some plain texts only point to the page."""
    beside = Writer(limits)
    write(page, beside, limits)
    ours, theirs = ({*re.findall(r"\w+", text.casefold())} for text in (plain, beside.draft().text))
    return bool(ours) and 2 * len(ours & theirs) >= len(theirs)


def _text(part: "MIMEPart[Any, Any]") -> str:
    """The text of a part, in the encoding that the part names, else in the likeliest encoding of its bytes."""
    data = part.get_payload(decode=True)
    data = data if isinstance(data, bytes) else str(part.get_payload()).encode("utf-8", "surrogateescape")
    stated = (part.get_content_charset() or "us-ascii").replace("us-ascii", "utf-8")
    with suppress(LookupError, UnicodeError):
        return data.decode(stated)
    return data.decode(guessed_encoding(data), "replace")


def _header(mail: "MIMEPart[Any, Any]", name: str) -> str:
    """A header as text; bytes beyond ASCII are decoded by the likeliest encoding."""
    raw = next((str(value) for key, value in mail.raw_items() if key.lower() == name.lower()), "")
    data = raw.encode("ascii", "surrogateescape") if not raw.isascii() else b""
    return one_line(data.decode(guessed_encoding(data), "replace") if data else str(mail[name] or ""))

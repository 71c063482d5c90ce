"""Mail: subject, who wrote to whom and when, the text, and the names of what is attached."""

from collections.abc import Iterator
from email import policy
from email.message import MIMEPart
from email.parser import BytesParser
from pathlib import Path
from typing import Any

from cragraph.documents.clean import Limits, one_line
from cragraph.documents.document import Draft, Writer
from cragraph.documents.formats.html import write
from cragraph.documents.formats.plain import PARAGRAPH
from cragraph.errors import DocumentError

_DEEPEST = 5  # mails attached to one another that are read


def read(path: Path, limits: Limits) -> Iterator[Draft]:
    """The whole mail as one draft, with the mails attached to it; of other attachments only the names."""
    limits.check("characters", path.stat().st_size // 4, "characters at least")
    with path.open("rb") as file:
        mail = BytesParser(policy=policy.default).parse(file)
    if not (mail["from"] or mail["subject"] or mail["date"]):
        raise DocumentError("is not a mail: it says neither who wrote it, nor when, nor what about; save it again.")
    writer = Writer(limits)
    _write(mail, writer, limits, 1)
    sent = mail["date"].datetime if mail["date"] else None
    stated = {"title": _header(mail, "subject"), "author": _header(mail, "from"), "to": _header(mail, "to")}
    stated["date"] = sent.date().isoformat() if sent else ""
    yield writer.draft({name: text for name, text in stated.items() if text})


def _write(mail: "MIMEPart[Any, Any]", writer: Writer, limits: Limits, level: int) -> None:
    writer.heading(_header(mail, "subject"), level)
    for name in ("From", "To", "Cc", "Date"):
        if text := _header(mail, name):
            writer.line(f"{name}: {text}")
    bodies = ((body, _text(body)) for kind in (("plain", "html"), ("html",)) if (body := mail.get_body(kind)))
    body, text = next(((body, text) for body, text in bodies if text.strip()), (None, ""))
    if body and body.get_content_subtype() == "html":
        write(text, writer, limits)
    else:
        for paragraph in PARAGRAPH.findall(text):
            writer.paragraph(paragraph)
    parts = list(mail.iter_attachments()) if mail.is_multipart() else []
    names = [one_line(part.get_filename() or "") for part in parts]
    if any(names):
        writer.line(f"Attached: {', '.join(filter(None, names))}")
    for part in parts:
        if part.get_content_type() == "message/rfc822" and level < _DEEPEST:
            _write(part.get_content(), writer, limits, level + 1)


def _text(part: "MIMEPart[Any, Any]") -> str:
    """The text of a part; in an encoding that is not known, as Windows-1252."""
    try:
        return str(part.get_content())
    except LookupError:
        return bytes(part.get_payload(decode=True)).decode("cp1252", "replace")


def _header(mail: "MIMEPart[Any, Any]", name: str) -> str:
    return one_line(str(mail[name] or ""))

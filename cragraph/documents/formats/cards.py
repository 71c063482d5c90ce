"""Calendars (.ics) and address cards (.vcf): an event, a task or a person per row, with plain names of fields."""

import datetime as dt
import quopri
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from cragraph.documents.clean import DEFAULT, Limits, read_text
from cragraph.documents.document import Draft, Writer
from cragraph.documents.formats.html import write
from cragraph.documents.records import record_drafts
from cragraph.errors import DocumentError

_KINDS: Final = {"VEVENT": "event", "VTODO": "task", "VJOURNAL": "note", "VCARD": "card"}
_NAMES: Final = {
    "SUMMARY": "Summary", "DTSTART": "Start", "DTEND": "End", "DUE": "Due", "DURATION": "Duration",
    "LOCATION": "Location", "DESCRIPTION": "Description", "ORGANIZER": "Organizer", "ATTENDEE": "Attendees",
    "RRULE": "Repeats", "EXDATE": "Except", "STATUS": "Status", "CATEGORIES": "Categories",
    "URL": "Web page", "PRIORITY": "Priority", "COMPLETED": "Completed",
    "FN": "Name", "NICKNAME": "Nickname", "ORG": "Organisation", "TITLE": "Position", "ROLE": "Role", "TEL": "Phone",
    "EMAIL": "Email", "ADR": "Address", "BDAY": "Birthday", "NOTE": "Note",
}  # fmt: skip
_LINE: Final = re.compile(r"(?:[\w-]+\.)?([\w-]+)((?:;(?:[^:;\"]|\"[^\"]*\")*)*):(.*)", re.S)
_WHEN: Final = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:T(\d\d):?(\d\d):?(\d\d)?(Z)?)?")
_DAYS: Final = {
    "MO": "Monday", "TU": "Tuesday", "WE": "Wednesday", "TH": "Thursday", "FR": "Friday", "SA": "Saturday",
    "SU": "Sunday",
}  # fmt: skip
_EVERY: Final = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year", "HOURLY": "hour"}
_PAGE: Final = "X-ALT-DESC"  # the description as a page of HTML
_MARKUP: Final = re.compile(
    r"</?(?:p|br|b|i|u|a|ul|ol|li|div|span|strong|em|table|tr|td|th|h[1-6]|html|body|font|hr|img)(?:\s[^<>]*)?/?>"
    r"|&(?:amp|nbsp|lt|gt|quot|#\d{1,5});", re.I
)  # fmt: skip
_BLOCK: Final = re.compile(r"<(?:br|p|div|li|tr|html)\b", re.I)
_ESCAPED: Final = re.compile(r"\\([\\;,nN])")


class _Property(NamedTuple):
    name: str
    about: dict[str, str]
    value: str


def read(path: Path, limits: Limits) -> Iterator[Draft]:
    """The events, tasks or cards of a file, a row each."""
    text = read_text(path, limits)
    if not re.match(r"\s*BEGIN:V(?:CALENDAR|CARD|EVENT)", text, re.I):
        raise DocumentError("is neither a calendar nor a card; export it again from the program that made it.")
    yield from record_drafts(_records(text), limits)


def _records(text: str) -> Iterator[dict[str, Any]]:
    open_: list[str] = []
    record: dict[str, Any] = {}
    page = name = ""
    for one in _properties(text):
        if one.name == "BEGIN":
            open_.append(one.value.strip().upper())
            if open_[-1] in _KINDS:
                record, page, name = {}, "", ""
        elif one.name == "END":
            kind = open_.pop() if open_ else ""
            if kind in _KINDS and record:
                if page:
                    record.setdefault("Description", page)
                yield {"Name": name, **record} if kind == "VCARD" and name and "Name" not in record else record
        elif open_ and open_[-1] in _KINDS and one.name == _PAGE:
            page = _plain(one.value)
        elif open_ and open_[-1] == "VCARD" and one.name == "N":
            parts = [_plain(part) for part in re.split(r"(?<!\\);", one.value.strip())][:5]
            last, first, *rest = [*parts, "", "", "", "", ""][:5]
            name = " ".join(filter(None, (rest[1], first, rest[0], last, rest[2])))
        elif open_ and open_[-1] in _KINDS and one.name in _NAMES and (value := _value_text(one)):
            field = _NAMES[one.name]
            if one.name in ("TEL", "ADR", "EMAIL") and (kinds := _kinds(one)):
                field = f"{field} ({kinds})"
            record[field] = f"{record[field]}, {value}" if field in record else value
            if "TZID" in one.about and one.name == "DTSTART":
                record["Time zone"] = one.about["TZID"].strip('"')
        if one.name == "DTEND" and open_[-1:] == ["VEVENT"] and re.fullmatch(r"\d{8}", one.value.strip()):
            # The end of whole days is the day after the last of them.
            with suppress(ValueError, OverflowError):
                record["End"] = (dt.date.fromisoformat(record["End"]) - dt.timedelta(days=1)).isoformat()
            if record["End"] == record.get("Start"):
                del record["End"]


def _properties(text: str) -> Iterator[_Property]:
    """The lines of a file, with folded lines joined."""
    lines = re.sub(r"(?<!=)\n[ \t]", "", text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        match = _LINE.fullmatch(line)
        if not match:
            continue
        about: dict[str, str] = {}
        for part in re.findall(r";((?:[^:;\"]|\"[^\"]*\")*)", match[2]):
            name, _, value = part.partition("=")
            name, value = (name.upper(), value) if value else ("TYPE", name)
            about[name] = f"{about[name]},{value}" if name in about else value
        value = match[3]
        if "QUOTED-PRINTABLE" in f"{about.get('ENCODING')} {about.get('TYPE')}".upper():
            folded = [value]
            while folded[-1].endswith("=") and at < len(lines):
                folded[-1] = folded[-1][:-1]
                folded.append(lines[at])
                at += 1
            value = "".join(folded)
            try:
                value = quopri.decodestring(value.encode()).decode(about.get("CHARSET", "utf-8"), "replace")
            except LookupError:
                value = quopri.decodestring(value.encode()).decode("utf-8", "replace")
        yield _Property(match[1].upper(), about, value)


def _value_text(one: _Property) -> str:
    value = one.value.strip()
    if one.name in ("DTSTART", "DTEND", "DUE", "COMPLETED", "BDAY", "EXDATE"):
        return ", ".join(_moment(part) for part in value.split(","))
    if one.name == "RRULE":
        return _repeats(dict(part.split("=", 1) for part in value.split(";") if "=" in part))
    if one.name in ("ORGANIZER", "ATTENDEE"):
        return one.about.get("CN", "").strip('"') or re.sub(r"(?i)^mailto:", "", value)
    if one.name == "STATUS":
        return value.lower()
    if one.name in ("ADR", "ORG"):
        parts = (_plain(part) for part in re.split(r"(?<!\\);", value))
        return ", ".join(filter(None, parts))
    return _plain(re.sub(r"(?i)^tel:", "", value) if one.name == "TEL" else value)


def _plain(value: str) -> str:
    text = _ESCAPED.sub(lambda sign: "\n" if sign[1] in "nN" else sign[1], value).strip()
    if not _MARKUP.search(text):
        return text
    writer = Writer()
    write(text.replace("\n", "<br>") if not _BLOCK.search(text) else text, writer, DEFAULT)
    return writer.draft().text


def _kinds(one: _Property) -> str:
    kinds = (kind.strip('"').lower() for kind in one.about.get("TYPE", "").split(","))
    return ", ".join(kind for kind in kinds if kind in ("home", "work", "cell", "mobile", "fax", "main"))


def _moment(value: str) -> str:
    match = _WHEN.fullmatch(value.strip())
    if not match:
        return value
    day = "-".join(match.groups()[:3])
    clock = f" {match[4]}:{match[5]}" if match[4] else ""
    return f"{day}{clock}{' UTC' if match[7] else ''}"


def _repeats(rule: dict[str, str]) -> str:
    every, count = _EVERY.get(rule.get("FREQ", ""), ""), rule.get("INTERVAL", "1")
    text = f"every {every}" if count == "1" else f"every {count} {every}s"
    if days := [_DAYS[day[-2:]] for day in rule.get("BYDAY", "").split(",") if day[-2:] in _DAYS]:
        text += f" on {', '.join(days)}"
    if "UNTIL" in rule:
        text += f" until {_moment(rule['UNTIL'])}"
    return f"{text}, {rule['COUNT']} times" if "COUNT" in rule else text

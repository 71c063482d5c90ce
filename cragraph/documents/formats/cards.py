"""Calendars (.ics) and address cards (.vcf): an event, a task or a person per row, with plain names of fields."""

import datetime as dt
import quopri
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from cragraph.documents.clean import DEFAULT, Limits, read_text
from cragraph.documents.document import Draft, Writer
from cragraph.documents.formats.html import write
from cragraph.documents.records import record_drafts
from cragraph.errors import DocumentError

_KINDS: Final = {"VEVENT": "event", "VTODO": "task", "VJOURNAL": "note", "VCARD": "card"}
_NAMES: Final = {
    "SUMMARY": "Summary", "DTSTART": "Start", "DTEND": "End", "DUE": "Due", "DURATION": "Duration",
    "LOCATION": "Location", "DESCRIPTION": "Description", "ORGANIZER": "Organizer", "ATTENDEE": "Attendees",
    "RRULE": "Repeats", "EXDATE": "Except", "RECURRENCE-ID": "Instead of", "STATUS": "Status",
    "CATEGORIES": "Categories", "URL": "Web page", "PRIORITY": "Priority", "COMPLETED": "Completed",
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
_MONTHS: Final = {
    "1": "January", "2": "February", "3": "March", "4": "April", "5": "May", "6": "June", "7": "July", "8": "August",
    "9": "September", "10": "October", "11": "November", "12": "December",
}  # fmt: skip
_PLACES: Final = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", -1: "last", -2: "last but one"}
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
    page = name = uid = ""
    zone, instead = _about(text)
    for one in _properties(text):
        if one.name == "BEGIN":
            open_.append(one.value.strip().upper())
            if open_[-1] in _KINDS:
                record, page, name, uid = {}, "", "", ""
        elif one.name == "END":
            kind = open_.pop() if open_ else ""
            if kind in _KINDS and record:
                if page:
                    record.setdefault("Description", page)
                if "Repeats" in record and uid in instead:
                    record["Except"] = ", ".join(
                        filter(None, (record.get("Except"), *(_moment(at, zone) for at in instead[uid])))
                    )
                yield {"Name": name, **record} if kind == "VCARD" and name and "Name" not in record else record
        elif open_ and open_[-1] in _KINDS and one.name == _PAGE:
            page = _plain(one.value)
        elif open_ and open_[-1] == "VCARD" and one.name == "N":
            parts = [_plain(part) for part in re.split(r"(?<!\\);", one.value.strip())][:5]
            last, first, *rest = [*parts, "", "", "", "", ""][:5]
            name = " ".join(filter(None, (rest[1], first, rest[0], last, rest[2])))
        elif open_ and open_[-1] in _KINDS and one.name == "UID":
            uid = one.value.strip()
        elif open_ and open_[-1] in _KINDS and one.name in _NAMES and (value := _value_text(one, zone)):
            field = _NAMES[one.name]
            if one.name in ("TEL", "ADR", "EMAIL") and (kinds := _kinds(one)):
                field = f"{field} ({kinds})"
            record[field] = f"{record[field]}, {value}" if field in record else value
            if "TZID" in one.about and one.name == "DTSTART":
                record["Time zone"] = one.about["TZID"].strip('"')
            elif zone and one.name == "DTSTART" and one.value.strip().endswith("Z"):
                record["Time zone"] = zone.key
        if one.name == "DTEND" and open_[-1:] == ["VEVENT"] and re.fullmatch(r"\d{8}", one.value.strip()):
            # The end of whole days is the day after the last of them.
            with suppress(ValueError, OverflowError):
                record["End"] = (dt.date.fromisoformat(record["End"]) - dt.timedelta(days=1)).isoformat()
            if record["End"] == record.get("Start"):
                del record["End"]


def _about(text: str) -> tuple[ZoneInfo | None, dict[str, list[str]]]:
    """The time zone that a calendar is shown in, and the moments of repeated events that other events replace."""
    stated, zones, uid, at = "", set[str](), "", ""
    instead: defaultdict[str, list[str]] = defaultdict(list)
    for one in _properties(text):
        if one.name == "END":
            if uid and at:
                instead[uid].append(at)
            uid, at = "", ""
        elif one.name == "UID":
            uid = one.value.strip()
        elif one.name == "RECURRENCE-ID":
            at = one.value
        elif one.name == "TZID":
            zones.add(one.value.strip())
        elif one.name == "X-WR-TIMEZONE":
            stated = one.value.strip()
    shown = stated or (zones.pop() if len(zones) == 1 else "")
    with suppress(LookupError, ValueError, OSError):  # a zone by a name of its own, or a machine without zones
        return ZoneInfo(shown), instead
    return None, instead


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


def _value_text(one: _Property, zone: ZoneInfo | None) -> str:
    value = one.value.strip()
    if one.name in ("DTSTART", "DTEND", "DUE", "COMPLETED", "BDAY", "EXDATE", "RECURRENCE-ID"):
        return ", ".join(_moment(part, zone) for part in value.split(","))
    if one.name == "RRULE":
        return _repeats(dict(part.split("=", 1) for part in value.split(";") if "=" in part), zone)
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


def _moment(value: str, zone: ZoneInfo | None = None) -> str:
    """A moment as it is shown; one in UTC in the calendar's zone, if that is known."""
    match = _WHEN.fullmatch(value.strip())
    if not match:
        return value
    day = "-".join(match.groups()[:3])
    if match[7] and zone:
        with suppress(ValueError, OverflowError):
            utc = dt.datetime(*map(int, match.groups()[:5]), tzinfo=dt.UTC)  # type: ignore[misc,arg-type]
            return utc.astimezone(zone).strftime("%Y-%m-%d %H:%M")
    clock = f" {match[4]}:{match[5]}" if match[4] else ""
    return f"{day}{clock}{' UTC' if match[7] else ''}"


def _repeats(rule: dict[str, str], zone: ZoneInfo | None) -> str:
    every, count = _EVERY.get(rule.get("FREQ", ""), ""), rule.get("INTERVAL", "1")
    text = f"every {every}" if count == "1" else f"every {count} {every}s"
    days = [day for part in rule.get("BYDAY", "").split(",") if (day := _weekday(part.strip()))]
    if place := _place(rule.get("BYSETPOS", "")):
        text += f" on the {place} of {', '.join(days)}"
    elif days:
        text += f" on {', '.join(days)}"
    if "BYMONTHDAY" in rule:
        text += f" on day {rule['BYMONTHDAY'].replace('-1', 'last')}"
    if months := [_MONTHS[month] for month in rule.get("BYMONTH", "").split(",") if month in _MONTHS]:
        text += f" in {', '.join(months)}"
    if "UNTIL" in rule:
        text += f" until {_moment(rule['UNTIL'], zone)}"
    return f"{text}, {rule['COUNT']} times" if "COUNT" in rule else text


def _weekday(code: str) -> str:
    """A weekday by its code: `FR` is Friday, `-1FR` the last Friday."""
    name, place = _DAYS.get(code[-2:], ""), _place(code[:-2])
    return f"the {place} {name}" if name and place else name


def _place(number: str) -> str:
    return _PLACES.get(int(number), f"{number}.") if number.lstrip("+-").isdecimal() else ""

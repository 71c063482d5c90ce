"""Rich text (.rtf): paragraphs, tables and notes; raised and lowered signs as such, no struck-out or hidden words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from cragraph.documents.clean import Limits
from cragraph.documents.document import Draft, Writer
from cragraph.documents.signs import STRUCK, lowered, raised, settled
from cragraph.documents.table_text import table_of
from cragraph.errors import DocumentError

_TOKEN: Final = re.compile(
    rb"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<hex>[0-9a-fA-F]{2})|\\(?P<sign>[^a-zA-Z])"
    rb"|(?P<open>\{)|(?P<close>\})|(?P<text>[^\\{}\r\n]+)|[\r\n]+",
    re.S,
)
_UNREAD: Final = frozenset(
    b"fonttbl colortbl stylesheet listtable listoverridetable rsidtbl generator pict object themedata datastore "
    b"xmlnstbl "
    b"fldinst bkmkstart bkmkend nonshppict mmathPr latentstyles info header footer headerf footerf headerl headerr "
    b"footerl footerr ftnsep ftnsepc filetbl revtbl atnid atnauthor atndate atnref shpinst".split()
)
_SIGNS: Final = {
    b"tab": "\t", b"line": "\n", b"emdash": "—", b"endash": "–", b"lquote": "‘", b"rquote": "’", b"ldblquote": "“",
    b"rdblquote": "”", b"bullet": "•", b"emspace": " ", b"enspace": " ",
}  # fmt: skip
_DEEPEST: Final = 500


@dataclass(frozen=True)
class _State:
    """The state of a group: letters above or below the line, struck out, hidden, or in a footnote; and the number of
    signs that repeat a character for older programs."""

    lift: str = ""
    struck: bool = False
    hidden: bool = False
    note: bool = False
    skipped: int = 1


def read(path: Path, limits: Limits) -> Iterator[Draft]:
    """The whole file as one draft."""
    limits.check("characters", path.stat().st_size // 16, "characters at least")
    data = path.read_bytes()
    if not data.lstrip().startswith(b"{\\rtf"):
        raise DocumentError("is not rich text; open it in the program that made it and save it again.")
    yield _RtfReader(data, limits).draft()


class _RtfReader:
    def __init__(self, data: bytes, limits: Limits) -> None:
        self._data, self._limits, self._writer = data, limits, Writer(limits)
        self._codec = "cp1252"
        self._text: list[str] = []
        self._notes: list[str] = []
        self._cells: list[str] = []
        self._rows: list[list[str]] = []
        self._in_table = False

    def draft(self) -> Draft:
        state, groups, left_out, title = _State(), list[_State](), 0, b""
        if found := re.search(rb"\{\\title ([^{}\\]{1,200})\}", self._data):
            title = found[1]
        for token in _TOKEN.finditer(self._data):
            if token["open"]:
                if len(groups) > _DEEPEST:
                    raise DocumentError("has groups nested too deeply; save it again.")
                groups.append(state)
            elif token["close"]:
                state = groups.pop() if groups else _State()
            elif token["word"]:
                state = self._word(token["word"], token["number"], state)
                if token["word"] == b"u" and token["number"]:
                    left_out = state.skipped
                    continue
            elif token["hex"]:
                if left_out:
                    left_out -= 1
                    continue
                self._say(bytes([int(token["hex"], 16)]).decode(self._codec, "replace"), state)
            elif token["sign"]:
                self._sign(token["sign"], state)
                if token["sign"] == b"*":
                    state = replace(state, hidden=True)
            elif token["text"]:
                text = token["text"].decode(self._codec, "replace")
                self._say(text[left_out:], state)
            left_out = 0
        self._paragraph()
        self._table()
        for note in "".join(self._notes).split("\n"):
            self._writer.item(note.strip(), "")
        named = title.decode(self._codec, "replace").strip()
        return self._writer.draft({"title": named} if named else {}).titled()

    def _word(self, word: bytes, given: bytes | None, state: _State) -> _State:
        number = int(given) if given else None
        if word in _UNREAD:
            return replace(state, hidden=True)
        if word in _SIGNS:
            self._say(_SIGNS[word], state)
        elif word == b"u" and number is not None:
            self._say(chr(number % 65536), state)
        elif word == b"uc":
            return replace(state, skipped=max(0, min(number or 0, 8)))
        elif word in (b"super", b"sub", b"nosupersub", b"up", b"dn"):
            high = {b"super": "super", b"up": "super", b"sub": "sub", b"dn": "sub"}.get(word, "")
            return replace(state, lift="" if number == 0 else high)
        elif word in (b"strike", b"striked", b"deleted"):
            return replace(state, struck=number != 0)
        elif word == b"footnote":
            self._notes.append("\n")
            return replace(state, note=True, lift="")
        elif word == b"v":
            return replace(state, hidden=number != 0)
        elif word == b"plain":
            return replace(state, lift="", struck=False)
        elif word == b"ansicpg" and number:
            self._codec = (
                f"cp{number}" if number in (437, 850, 852, *range(1250, 1259), 932, 936, 949, 950) else "cp1252"
            )
        elif word in (b"par", b"sect", b"page") and not state.note:
            self._paragraph()
        elif word == b"pard":
            self._in_table = False
        elif word == b"intbl":
            self._in_table = True
        elif word == b"cell":
            self._cells.append(self._taken())
        elif word == b"row":
            self._limits.check("fields", len(self._cells), "columns")
            self._rows.append(self._cells)
            self._cells = []
        return state

    def _sign(self, sign: bytes, state: _State) -> None:
        if sign in (b"\n", b"\r"):
            self._paragraph()
        elif sign in b"\\{}~_":
            self._say({b"~": " ", b"_": "-"}.get(sign, sign.decode("ascii")), state)

    def _say(self, text: str, state: _State) -> None:
        if state.hidden or not text:
            return
        into = self._notes if state.note else self._text
        before = "".join(into[-3:])[-12:]
        if text.strip() and state.struck:
            text = STRUCK
        elif text.strip() and state.lift:
            text = raised(text, before) if state.lift == "super" else lowered(text, before)
        into.append(text)

    def _taken(self) -> str:
        text = settled("".join(self._text)).strip()
        self._text = []
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _paragraph(self) -> None:
        if self._in_table:
            self._text.append(" ")
            return
        self._table()
        self._writer.paragraph(self._taken())

    def _table(self) -> None:
        if self._rows:
            self._writer.table(table_of([[" ".join(cell.split()) for cell in row] for row in self._rows]))
            self._rows = []

"""Rich text (.rtf): paragraphs, tables, boxes, notes, comments; no struck-out or hidden words."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Final

from cragraph.documents.clean import Limits, one_line
from cragraph.documents.document import Draft, Writer
from cragraph.documents.formats.docx import CHANGED, in_margins
from cragraph.documents.signs import STRUCK, lowered, raised, settled
from cragraph.documents.table_text import tables_of
from cragraph.errors import DocumentError

_TOKEN: Final = re.compile(
    rb"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<hex>[0-9a-fA-F]{2})|\\(?P<sign>[^a-zA-Z])"
    rb"|(?P<open>\{)|(?P<close>\})|(?P<text>[^\\{}\r\n]+)|[\r\n]+",
    re.S,
)
_UNREAD: Final = frozenset(
    b"fonttbl colortbl stylesheet listtable listoverridetable rsidtbl generator pict object themedata datastore "
    b"xmlnstbl "
    b"fldinst bkmkstart bkmkend nonshppict mmathPr latentstyles info ftnsep ftnsepc filetbl revtbl atnid atndate "
    b"atnref shpinst".split()
)
_SIGNS: Final = {
    b"tab": "\t", b"line": "\n", b"emdash": "—", b"endash": "–", b"lquote": "‘", b"rquote": "’", b"ldblquote": "“",
    b"rdblquote": "”", b"bullet": "•", b"emspace": " ", b"enspace": " ",
}  # fmt: skip
_APART: Final = {  # groups whose text does not stand in its paragraph
    b"footnote": "note", b"annotation": "comment", b"atnauthor": "author", b"shptxt": "box",
    **dict.fromkeys((b"header", b"headerf", b"headerl", b"headerr"), "Page header"),
    **dict.fromkeys((b"footer", b"footerf", b"footerl", b"footerr"), "Page footer"),
}  # fmt: skip
_FONT: Final = re.compile(rb"\\f(\d{1,5})(?:\\(?!f\d)[a-z]{1,20}-?\d{0,5} ?){0,8}?\\fcharset(\d{1,3})")
_CODECS: Final = {  # of the letters of a font
    77: "mac_roman", 128: "cp932", 129: "cp949", 134: "cp936", 136: "cp950", 161: "cp1253", 162: "cp1254",
    163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250",
}  # fmt: skip
_DEEPEST: Final = 500
_STATED: Final = re.compile(rb"\{\\(title|author) ([^{}\\]{1,200})\}")
_HEAD: Final = 1 << 20  # bytes in which fonts are looked for


@dataclass(frozen=True)
class _State:
    """The state of a group: letters above or below the line, struck out, hidden, in a tracked change, or apart from
    the paragraph (a note, a header); the font's encoding, and the number of signs that repeat a character for older
    programs."""

    lift: str = ""
    struck: bool = False
    hidden: bool = False
    changed: bool = False
    apart: str = ""
    codec: str = ""
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
        self._apart: defaultdict[str, list[str]] = defaultdict(list)
        self._changed = False
        fonts = ((font, _CODECS.get(int(charset), "")) for font, charset in _FONT.findall(data[:_HEAD]))
        self._fonts = {int(font): codec for font, codec in fonts}
        self._cells: list[str] = []
        self._rows: list[list[str]] = []
        self._in_table = False

    def draft(self) -> Draft:
        state, groups, left_out = _State(), list[_State](), 0
        stated = {str(name, "ascii"): value for name, value in _STATED.findall(self._data[:_HEAD])}
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
                self._say(bytes([int(token["hex"], 16)]).decode(state.codec or self._codec, "replace"), state)
            elif token["sign"]:
                self._sign(token["sign"], state)
                if token["sign"] == b"*":
                    state = replace(state, hidden=True)
            elif token["text"]:
                text = token["text"].decode(state.codec or self._codec, "replace")
                self._say(text[left_out:], state)
            left_out = 0
        self._paragraph()
        self._table()
        for name in ("Page header", "Page footer"):
            for text in filter(in_margins, dict.fromkeys(map(one_line, self._from(name)))):
                self._writer.paragraph(f"{name}: {text}")
        for note in self._from("note"):
            self._writer.item(note, "")
        about = {name: value.decode(self._codec, "replace").strip() for name, value in stated.items()}
        return self._writer.draft({name: value for name, value in about.items() if value}).titled()

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
        elif word in (b"strike", b"striked"):
            return replace(state, struck=number != 0)
        elif word in (b"deleted", b"revised"):
            return replace(state, changed=number != 0, struck=state.struck if word == b"revised" else number != 0)
        elif word in _APART:
            self._apart[_APART[word]].append("\v")
            return replace(state, apart=_APART[word], lift="", hidden=False)
        elif word == b"f" and number is not None:
            return replace(state, codec=self._fonts.get(number, ""))
        elif word == b"v":
            return replace(state, hidden=number != 0)
        elif word == b"plain":
            return replace(state, lift="", struck=False, codec="")
        elif word == b"ansicpg" and number:
            self._codec = (
                f"cp{number}" if number in (437, 850, 852, *range(1250, 1259), 932, 936, 949, 950) else "cp1252"
            )
        elif state.apart and word in (b"par", b"row", b"cell", b"pard", b"intbl"):
            self._say({b"par": "\n", b"row": "\n", b"cell": " "}.get(word, ""), state)
        elif word in (b"par", b"sect", b"page"):
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
        into = self._apart[state.apart] if state.apart else self._text
        if state.changed and text.strip():
            self._changed = True
            text = "" if state.struck else text
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

    def _from(self, apart: str) -> list[str]:
        """The texts that stand apart, each whole; they are taken out."""
        texts = "".join(self._apart.pop(apart, ())).split("\v")
        return [told for text in texts if (told := settled(text).strip())]

    def _paragraph(self) -> None:
        if self._in_table:
            self._text.append(" ")
            return
        self._table()
        text = self._taken()
        self._writer.paragraph(text)
        if text and self._changed:
            self._writer.doubt(CHANGED)
        self._changed = False
        for author, comment in zip_longest(self._from("author"), self._from("comment"), fillvalue="a reader"):
            self._writer.paragraph(f"Comment by {author}: {' '.join(comment.split())}")
        for box in self._from("box"):
            for line in box.split("\n"):
                self._writer.paragraph(line.strip())

    def _table(self) -> None:
        if self._rows:
            rows = [[" ".join(cell.split()) for cell in row] for row in self._rows]
            for part in tables_of(rows):
                self._writer.table(part, doubts=(CHANGED,) if self._changed else ())
            self._rows, self._changed = [], False

"""reStructuredText: kept as written; underlined titles become headings, literal blocks are code."""

import re

from cragraph.documents.clean import DEFAULT, Limits
from cragraph.documents.document import Block, Draft, Heading
from cragraph.documents.formats.plain import PARAGRAPH, paragraph_blocks
from cragraph.documents.signs import lowered, raised, tex

_RULE = re.compile(r"^([!-/:-@\[-`{-~])\1{2,}[ \t]*$")
_ROLE = re.compile(r"(?:\\ ?)?:(?P<role>sup(?:erscript)?|sub(?:script)?|math):`(?P<inner>[^`\n]{1,500})`(?:\\ )?")
_FIELD = re.compile(r"^:(title|author|date|version):[ \t]+(\S.*)$", re.I | re.M)
_OPENS_CODE = re.compile(r"(?:::|\.\. (?:code|code-block|sourcecode|parsed-literal)::.*)\s*$")


def draft(text: str, limits: Limits = DEFAULT) -> Draft:
    """Map reStructuredText; the level of a heading is the order in which its kind of rule first appears."""
    text = _ROLE.sub(_set, text)
    styles: list[str] = []
    blocks: list[Block] = []
    headings: list[Heading] = []
    code = False
    for match in PARAGRAPH.finditer(text):
        start = match.start()
        if heading := _heading(match[0]):
            title, style, length = heading
            if style not in styles:
                styles.append(style)
            headings.append(Heading(start, styles.index(style) + 1, title))
            blocks.append(Block(start, start + length, "heading"))
            start += length + 1
            code = False
        if start >= match.end():
            continue
        body = text[start : match.end()]
        code = code and body[:1].isspace()
        if code:
            lines = re.finditer(r"[^\n]+", body)
            blocks += [Block(start + line.start(), start + line.end(), "code") for line in lines]
        else:
            blocks.extend(paragraph_blocks(text, start, match.end()))
            code = bool(_OPENS_CODE.search(body))
    metadata = {name.lower(): value.strip() for name, value in _FIELD.findall(text)}
    if headings:
        metadata.setdefault("title", headings[0].title)
    return Draft(text, tuple(blocks), tuple(headings), (), metadata)


def _set(match: re.Match[str]) -> str:
    """Raised and lowered signs, and formulas, as plain text on the line."""
    before = match.string[max(0, match.start() - 8) : match.start()]
    role, inner = match["role"], match["inner"]
    return tex(inner) if role == "math" else (raised if role.startswith("sup") else lowered)(inner, before)


def _heading(paragraph: str) -> tuple[str, str, int] | None:
    """Title, style of its rules and length of a heading that begins a paragraph."""
    lines = paragraph.split("\n")
    over = bool(_RULE.match(lines[0])) and len(lines) > 2
    title, rule = (lines[1], lines[2]) if over else (lines[0], lines[1] if len(lines) > 1 else "")
    if not _RULE.match(rule) or _RULE.match(title) or len(rule.strip()) < len(title.strip()):
        return None
    if over and lines[0].strip() != rule.strip():
        return None
    used = lines[: 3 if over else 2]
    return title.strip(), ("over" if over else "") + rule[0], len("\n".join(used))

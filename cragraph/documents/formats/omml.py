"""Formulas of Word and PowerPoint on one line: `E = mc²`, `(a + b)/2`, `√(x)`."""

from typing import Any, Final

from cragraph.documents.signs import grouped, lowered, raised

_M: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"


def equation(element: Any, before: str = "") -> str:
    """The text of a formula that stands behind `before`."""
    text = ""
    for child in element:
        text += _piece(child, text or before)
    return text


def _piece(element: Any, before: str) -> str:
    name = str(element.tag).removeprefix(_M)

    def part(tag: str) -> str:
        child = element.find(f"{_M}{tag}")
        return "" if child is None else equation(child)

    if name == "t":
        return element.text or ""
    if name == "f":
        return f"{grouped(part('num'))}/{grouped(part('den'))}"
    if name in ("sSup", "sSub", "sSubSup"):
        base = part("e")
        low = lowered(part("sub"), base or before) if name != "sSup" else ""
        return base + low + (raised(part("sup"), base or before) if name != "sSub" else "")
    if name == "rad":
        return f"{raised(part('deg')) if part('deg') else ''}√{grouped(part('e'))}"
    if name == "nary":
        sign = _about(element, "naryPr", "chr", "∫")
        low, high = part("sub"), part("sup")
        return f"{sign}{f'_({low})' if low else ''}{f'^({high})' if high else ''} {part('e')}"
    if name == "d":
        inner = _about(element, "dPr", "sepChr", "|").join(equation(e) for e in element.iterfind(f"{_M}e"))
        return f"{_about(element, 'dPr', 'begChr', '(')}{inner}{_about(element, 'dPr', 'endChr', ')')}"
    if name == "func":
        return f"{part('fName')} {grouped(part('e'))}"
    if name == "limLow":
        return f"{part('e')}_({part('lim')})"
    if name in ("m", "eqArr"):
        return "; ".join(equation(row) for row in element.iterfind(f"{_M}{'mr' if name == 'm' else 'e'}"))
    if name == "mr":
        return " ".join(equation(cell) for cell in element)
    return "" if name.endswith("Pr") else equation(element, before)


def _about(element: Any, properties: str, name: str, usual: str) -> str:
    child = element.find(f"{_M}{properties}/{_M}{name}")
    return usual if child is None else str(child.get(f"{_M}val", ""))

"""The sides of a comparison, and the years of a question that spans several."""

import re
from typing import Final

_WITH: Final = r"(?:with|to|and|against|versus|vs\.?)"
_TAIL: Final = (
    r"(?P<tail>\s+(?:in terms of|with respect to|with regard to|regarding|in|for|during|on|over|as of)\s+.+)?"
)
_SIDES: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bcompare\s+(?P<a>.+?)\s+{_WITH}\s+(?P<b>.+?){_TAIL}[?.\s]*$",
        rf"\bdifferences?\s+(?:is\s+there\s+)?between\s+(?P<a>.+?)\s+and\s+(?P<b>.+?){_TAIL}[?.\s]*$",
        rf"\bhow\s+(?:do|does|did|is|are|was|were)\s+(?P<a>.+?)\s+(?:differ(?:ent)?|vary)\s+from\s+(?P<b>.+?)"
        rf"{_TAIL}[?.\s]*$",
        rf"\bhow\s+(?:do|does|did)\s+(?P<a>.+?)\s+compare\s+(?:with|to|against)\s+(?P<b>.+?){_TAIL}[?.\s]*$",
        rf"^(?P<a>.+?),?\s+(?:compared\s+(?:with|to)|versus|vs\.?)\s+(?P<b>.+?){_TAIL}[?.\s]*$",
    )
)
_THAN: Final = re.compile(
    r"^(?:is|are|was|were|did|does|do|has|have|had)\s+(?P<a>.+?)\s+"
    r"(?P<what>(?:have|had|has|report|reported|a|an|\s)*(?:more|less|fewer|[a-z]+er)\b.*?)\s+than\s+(?P<b>.+?)[?.\s]*$",
    re.IGNORECASE,
)
_OPENING: Final = re.compile(r"^(?:how|what|which|who)\s+(?:do|does|did|is|are|was|were|of)?\s*", re.IGNORECASE)
_OBJECT: Final = re.compile(r"^(?P<head>.+?)\s+(?P<link>of|for|at|by|in)\s+(?P<object>.+)$", re.IGNORECASE)
_OWNER: Final = re.compile(r"['’]s?$")

_YEAR: Final = r"(?:19|20)\d\d"
_YEARS: Final = re.compile(
    rf"(?P<open>\b(?:from|between)\s+)?(?P<first>\b{_YEAR})"
    rf"(?P<rest>(?:\s*(?:,\s*and|,|/|&|-|–|—|\band\b|\bor\b|\bto\b|\bthrough\b|\bvs\.?|\bversus\b|\bund\b|\bbis\b)\s*{_YEAR}\b)+)"
)
_LONGEST_RANGE: Final = 6


def sides(question: str) -> list[str]:
    """The two things that a question compares, each with what they are compared by; none where it compares nothing.

    A shortened second side gets what the first one has: ``revenue of A and B`` is ``revenue of B`` on the second,
    ``A's revenue with B's`` is ``B's revenue``.
    """
    text = question.strip()
    for pattern in _SIDES:
        if found := pattern.search(text):
            a = _OPENING.sub("", found["a"]).strip(" ,")
            tail = found["tail"] or ""
            return [f"{a}{tail}", f"{_whole(found['b'], a)}{tail}"]
    if found := _THAN.search(text):
        what = re.sub(r"^(?:more|less|fewer)\s+", "", found["what"].strip(), flags=re.IGNORECASE)
        return [f"{found['a']} {what}", f"{_whole(found['b'], found['a'])} {what}"]
    return []


def _whole(b: str, a: str) -> str:
    b = re.sub(r"^(?:that|those)\s+(?=(?:of|in|for|at)\s)", "", b.strip(" ,"), flags=re.IGNORECASE)
    if _OWNER.search(b) and (owned := re.search(r"['’]s?\s+(.+)$", a)):
        return f"{b} {owned.group(1)}"
    inside = _OBJECT.match(a)
    if not inside:
        return b
    if link := re.match(r"(?:of|in|for|at)\s+(.+)$", b, re.IGNORECASE):
        return f"{inside['head']} {b}" if link else b
    return b if _OBJECT.match(b) else f"{inside['head']} {inside['link']} {b}"


def years_apart(question: str) -> list[str]:
    """The question once a year where it names several; a range of at most six years stands for all of them."""
    if found := _YEARS.search(question):
        listed = [int(year) for year in re.findall(_YEAR, found.group())]
        spans = found["open"] or re.search(r"-|–|—|\bto\b|\bthrough\b", found["rest"])
        if spans and len(listed) == 2 and 0 < listed[1] - listed[0] < _LONGEST_RANGE:
            listed = list(range(listed[0], listed[1] + 1))
        lead = "in " if found["open"] else ""
        return [f"{question[: found.start()]}{lead}{year}{question[found.end() :]}" for year in dict.fromkeys(listed)]
    named = list(dict.fromkeys(re.findall(rf"\b{_YEAR}\b", question)))
    if len(named) < 2:
        return []
    return [_without(question, [other for other in named if other != year]) for year in named]


def _without(question: str, years: list[str]) -> str:
    for year in years:
        question = re.sub(rf"\s*\b(?:in|of|for|to|from|since|during|and|than)?\s*(?:fiscal\s+)?{year}\b", "", question)
    return question

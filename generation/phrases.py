"""Different wordings of one thing brought to one word."""

import re
from functools import lru_cache
from typing import Final

from cragraph.text.words import content_words

_PHRASES: Final = tuple(
    (re.compile(pattern, re.I), word)
    for pattern, word in (
        (r"\bchief executive(?: officer)?\b|\bCEO\b", "ceo"),
        (r"\bchief financial officer\b|\bCFO\b", "cfo"),
        (r"\bchief operating officer\b|\bCOO\b", "coo"),
        (r"\b(?:corporate|principal executive|executive|head|main|home) offices?\b|\bheadquarter\w*\b", "headquarters"),
        (r"\b(?:net sales|revenues?)\b", "revenue"),
        (r"\bnet (?:income|earnings)\b", "netincome"),
        (r"\b(?:ticker(?: symbol)?|stock symbol|trading symbol|nasdaq|nyse)\b", "ticker"),
        (r"\b(?:founded|established|incorporated|set up|founding)\b", "setup"),
        (r"\b(?:located|situated|based|headquartered)\b", "located"),
        (r"\b(?:employs?|employed|employees?|workforce|headcount)\b", "employed"),
        (r"\b(?:declin\w*|decreas\w*|fell|fall(?:s|en|ing)?|reduc\w+|drop(?:s|ped)?)\b", "decline"),
        (r"\b(?:increas\w*|rose|rise[ns]?|grew|grow(?:s|th|n)?)\b", "increase"),
        (r"\b(?:die[ds]?|dying|death)\b", "death"),
        (r"\bbec[ao]m(?:es?|ing)\b", "become"),
        (r"\b(?:acquir\w*|acquisitions?|bought|purchased?)\b", "acquire"),
    )
)


def canonical(text: str) -> str:
    """A text in which the synonyms of a small table were brought to one word."""
    text = " ".join(text.split())
    for pattern, word in _PHRASES:
        text = pattern.sub(word, text)
    return text


@lru_cache(maxsize=8192)
def meaning_words(text: str) -> tuple[str, ...]:
    """Content words of a text's canonical form."""
    return content_words(canonical(text))

"""Words that carry meaning, for the signals that compare texts without a model."""

import re
from typing import Final

WORD: Final = re.compile(r"[^\W_]+(?:[.,'’\-][^\W_]+)*")

_STOPWORDS = """
a about above after again against all also am an and any are as at be because been before being
below between both but by can could did do does doing down during each few for from further had has
have having he her here hers him his how i if in into is it its itself just me more most my no nor
not now of off on once only or other our out over own same she should so some such than that the
their them then there these they this those through to too under until up very was we were what when
where which while who whom whose why will with would you your
"""

STOPWORDS: Final = frozenset(_STOPWORDS.split())


def words(text: str) -> list[str]:
    """The words and figures of a text, lower case, in order; ``$394`` is ``394``, ``10-Q`` stays whole."""
    return [match.group().lower().replace("’", "'") for match in WORD.finditer(text)]


def content_words(text: str) -> set[str]:
    """The distinct words of a text without stop words; all its words where nothing else is left."""
    found = set(words(text))
    return found - STOPWORDS or found


def overlap(text: str, other: str) -> float:
    """Share of the content words of `text` that occur in `other`, 0..1; 0.0 for a text without words."""
    wanted = content_words(text)
    return len(wanted & set(words(other))) / len(wanted) if wanted else 0.0

"""Whether a text is English, told by its smallest words: enough to know what an English model should leave alone."""

import re
from collections import Counter
from typing import Final

from cragraph.text.lexicon import listed

_ENGLISH: Final = frozenset(
    listed(
        """
        the of and to in is was for that on with as by at from are were it its his her their this these be been an or
        which who has have had not but will can may when after than more into also a he she they we you do does no me
        """
    )
)
_OTHERS: Final = (
    frozenset(
        # German, French, Spanish, Italian, Portuguese and Dutch.
        listed(
            """
            der die das und ist nicht ein eine einen einer den dem des von zu mit auf für im sich auch als wird wurde
            wurden sind bei nach aus zum zur oder wie hat dass le la les et est une dans pour que qui sur pas par du
            au aux avec sont il elle ce cette ses été el los las es un una en por con del para se su como fue lo gli
            di che della dei nel sono è più os uma da em não ao foi mais het een niet op voor met dat zijn te aan
            deze door werd naar ook
            """
        )
    )
    - _ENGLISH
)
_WORD: Final = re.compile(r"[^\W\d_]+")
FOREIGN: Final = 2
"""Small words of another language from which on a text may be in that one; a single one is often a name's."""
_ASKING: Final = frozenset(
    listed(
        """
        wie wer wann wo warum wieso weshalb wem wen wessen woher wohin wieviel welche welcher welches welchen qui quand
        pourquoi comment combien quel quelle quels quelles qué quién quiénes cuándo cuánto cuántos cuántas dónde cómo
        cuál cuáles quando dove perché quanto chi quanti quale quali wat wanneer waar waarom hoe welk quem onde quantos
        """
    )
)
"""Words that open a question in another language; a question is too short to hold many small words."""
_LETTER: Final = re.compile(r"[^\W\d_]")
_LATIN: Final = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_OPENERS: Final = frozenset(listed("Der Die Das Ein Eine Kein Keine Sie Les Une Il Het Een El Los Las Gli Uma"))


def seems_english(text: str) -> bool:
    """Whether a text is English as far as its small words tell; a text without any of them may be.

    A text in another script is not. Small words of other languages count in lower case only, because "Los Angeles" and
    "8 p.m. ET" are English. Where there is no English one at all, a single foreign one beside a foreign letter or
    opening word is enough; so is a word that opens a question.
    """
    if 2 * len(_LATIN.findall(text)) < len(_LETTER.findall(text)):
        return False
    words = Counter(found := _WORD.findall(text))
    asks = bool(found) and found[0].casefold() in _ASKING
    foreign = sum(words[word] for word in _OTHERS) + FOREIGN * asks
    english = sum(count for word, count in words.items() if word.casefold() in _ENGLISH)
    if foreign < FOREIGN and not english:
        opened = any(word in _OPENERS for word in words)
        return foreign + opened + any(not word.isascii() for word in words) < FOREIGN
    return foreign < FOREIGN or foreign <= english

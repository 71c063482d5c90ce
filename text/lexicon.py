"""Words that decide whether a full stop ends a sentence: abbreviations and words that open a sentence."""

import re
from typing import Final


def listed(words: str) -> tuple[str, ...]:
    """The words of a list that is written as text, which reads better than a column of quoted strings."""
    return tuple(words.split())


TITLES: Final = frozenset(
    listed(
        """
    mr mrs ms mx dr prof gen sen rep gov capt cmdr lt col maj sgt st ste mt ft hon rev fr messrs mme mmes
    mlle mgr hr herr frau dipl ing bzw usw ggf inkl exkl evtl ca cca approx vs cf viz resp incl excl env dt
    engl frz geb gest gegr sog bspw allg eigtl vgl pres supt adm brig e.g i.e z.b d.h u.a v.a i.d.r
    p.ex c.-à-d
    """
    )
)
"""Abbreviations that another word always follows: a full stop after one never ends a sentence."""

NUMBERED: Final = frozenset(
    listed(
        """
    no nos fig figs sec secs art arts eq eqs vol vols ch chap chaps pp p par para paras tab ex nr abs bd s
    ziff item app ref refs vers ver v n jan feb mar apr jun jul aug sep sept oct nov dec mrz okt dez janv
    févr avr juil déc kap anm lfd
    """
    )
)
"""Abbreviations that continue when a number (or a single letter) follows."""

EITHER: Final = frozenset(
    listed(
        """
    inc ltd corp co llc plc bros jr sr al etc dept univ assn est gmbh cie esq ave blvd rd min max avg ext
    tel ed eds trans hrsg misc natl intl govt mfg acct mgmt oz lb lbs ft hrs hr mins secs sq yr yrs wk dba
    u.s u.k u.n e.u d.c ph.d m.d b.a m.a b.s m.s ll.b ll.m m.b.a r.n
    """
    )
)
"""Abbreviations that may stand at the end of a sentence: they end it only before an opener."""

CLOCK: Final = frozenset({"a.m", "p.m", "b.c", "a.d", "b.c.e", "c.e"})
"""Times and eras: they end a sentence before a capital, unless a day or a time zone follows."""

AFTER_CLOCK: Final = frozenset(
    listed(
        """
    et est edt ct cst cdt mt mst mdt pt pst pdt gmt utc cet eastern central mountain pacific monday tuesday
    wednesday thursday friday saturday sunday
    """
    )
)

OPENERS: Final = frozenset(
    listed(
        """
    The This That These Those It Its In On At As A An He She They We You I His Her Their Our My There
    However But And Or So If When While After Before Since For From With By According Although Though
    Because During Despite Each Both Many Most Some Such Then Thus Therefore Moreover Furthermore
    Additionally Also What Which Who Why How Is Are Was Were Here Meanwhile Instead Finally Overall Under
    Today Not Nor Once Until Unlike Like To Der Die Das Ein Eine Einen Er Sie Es Wir Ihr Im Am Dies Diese
    Dieser Dieses Danach Dann Auch Aber Wenn Nach Bei Seit Il Elle Ils Elles Ce Cette Ces En Dans Les Une Un
    Nous Vous On Mais
    """
    )
)
"""Words that so often open a sentence that they end even an abbreviation or an initial before them."""

LOWER_OPENERS: Final = frozenset(
    listed(
        """
    i he she they it its we you this that there the
    """
    )
)
"""Lower-case words that open a sentence in text whose writer does not capitalise."""

CONNECTORS: Final = frozenset(
    listed(
        """
    a an the of in on at to for from with by and or but as is are was were be been that which who whose this
    these those its their his her our your my not no than into per über der die das den dem des und oder von
    mit im am zu für ein eine einer eines einem einen le la les de du des et ou un une dans pour par sur mr
    mrs ms dr
    """
    )
)
"""Words that cannot end a line on purpose: a line that ends with one goes on in the next."""

AFTER_GERMAN_ORDINAL: Final = frozenset(
    listed(
        """
    januar februar märz april mai juni juli august september oktober november dezember jahrhundert
    jahrhunderts jh quartal halbjahr platz klasse stock etage auflage weltkrieg bundesliga kapitel jänner
    """
    )
)
BEFORE_GERMAN_ORDINAL: Final = frozenset(
    listed(
        """
    der die das den dem des am im vom zum zur ein eine einer beim ab bis seit jeder jede jedes
    """
    )
)

DOTTED: Final = re.compile(r"(?:[^\W\d_]\.-?)+[^\W\d_]?", re.UNICODE)
"""``U.S``, ``e.g``, ``z.B``, ``J.-C``: letters with full stops between them (the last one removed)."""

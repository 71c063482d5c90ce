"""Forms of verbs: what turns *did X find* into *X found*, and *X found Y* into *Y was found by X*."""

import re
from functools import cache
from pathlib import Path

WORDNET = Path("/usr/share/wordnet")
"""Where Debian's `wordnet-base` puts its files."""

_IRREGULAR = """
be was been|become became become|begin began begun|bear bore borne|beat beat beaten|bend bent bent|bind bound bound
bite bit bitten|blow blew blown|break broke broken|bring brought brought|build built built|burn burned burned
buy bought bought|catch caught caught|choose chose chosen|come came come|cost cost cost|cut cut cut|deal dealt dealt
dig dug dug|do did done|draw drew drawn|dream dreamed dreamed|drink drank drunk|drive drove driven|eat ate eaten
fall fell fallen|feed fed fed|feel felt felt|fight fought fought|find found found|flee fled fled|fly flew flown
forbid forbade forbidden|forget forgot forgotten|forgive forgave forgiven|freeze froze frozen|get got got
give gave given|go went gone|grow grew grown|hang hung hung|have had had|hear heard heard|hide hid hidden|hit hit hit
hold held held|hurt hurt hurt|keep kept kept|know knew known|lay laid laid|lead led led|leave left left|lend lent lent
let let let|lie lay lain|lose lost lost|make made made|mean meant meant|meet met met|pay paid paid|put put put
quit quit quit|read read read|ride rode ridden|ring rang rung|rise rose risen|run ran run|say said said|see saw seen
seek sought sought|sell sold sold|send sent sent|set set set|shake shook shaken|shed shed shed|shine shone shone
shoot shot shot|show showed shown|shrink shrank shrunk|shut shut shut|sing sang sung|sink sank sunk|sit sat sat
sleep slept slept|speak spoke spoken|speed sped sped|spend spent spent|spin spun spun|split split split
spread spread spread|stand stood stood|steal stole stolen|stick stuck stuck|strike struck struck|swear swore sworn
sweep swept swept|swim swam swum|swing swung swung|take took taken|teach taught taught|tear tore torn|tell told told
think thought thought|throw threw thrown|understand understood understood|undergo underwent undergone
wake woke woken|wear wore worn|win won won|withdraw withdrew withdrawn|write wrote written
overthrow overthrew overthrown
overcome overcame overcome|oversee oversaw overseen|rebuild rebuilt rebuilt|undertake undertook undertaken
"""
PAST = {line.split()[0]: line.split()[1] for line in re.split(r"[|\n]", _IRREGULAR.strip())}
PARTICIPLE = {line.split()[0]: line.split()[2] for line in re.split(r"[|\n]", _IRREGULAR.strip())}
BASE = {past: base for base, past in PAST.items() if base not in ("cut", "put", "set", "hit", "let", "read")}
_DOUBLED = re.compile(
    r"(?:stop|ban|drop|plan|trap|rob|grab|rub|strip|wrap|ship|step|tap|map|beg|jog|chat|permit|admit|commit|transmit"
    r"|submit|omit|prefer|refer|occur|expel|compel|regret|control|patrol|cancel)$"
)


def past(base: str) -> str:
    """*find* as *found*, *walk* as *walked*."""
    return PAST.get(base) or _suffixed(base, "ed")


def participle(base: str) -> str:
    """*write* as *written*, *walk* as *walked*."""
    return PARTICIPLE.get(base) or _suffixed(base, "ed")


def third(base: str) -> str:
    """*go* as *goes*, *have* as *has*."""
    if base == "have":
        return "has"
    if base.endswith(("s", "sh", "ch", "x", "z", "o")):
        return base + "es"
    return base[:-1] + "ies" if re.search(r"[^aeiou]y$", base) else base + "s"


def gerund(base: str) -> str:
    """*make* as *making*, *run* as *running*."""
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if (re.fullmatch(r"[^aeiou]*[aeiou][bdgmnprt]", base) and len(base) <= 4) or _DOUBLED.search(base):
        return base + base[-1] + "ing"
    return (base[:-1] if re.search(r"[^eyo]e$", base) else base) + "ing"


def _suffixed(base: str, ending: str) -> str:
    if _DOUBLED.search(base):
        return base + base[-1] + ending
    if base.endswith("e"):
        return base + ending[1:]
    return base[:-1] + "i" + ending if re.search(r"[^aeiou]y$", base) else base + ending


def base_of(past_form: str) -> str | None:
    """*found* as *find*, *tried* as *try*; None where no verb has that past."""
    if past_form in BASE:
        return BASE[past_form]
    if not past_form.endswith("ed") or len(past_form) < 5:
        return None
    stem = past_form[:-2]
    tries = [stem + "e", stem, stem[:-1] + "y" if stem.endswith("i") else "", stem[:-1] if stem[-1] == stem[-2] else ""]
    known = verbs()
    return next((t for t in tries if t in known and _suffixed(t, "ed") == past_form), None)


@cache
def verbs() -> frozenset[str]:
    """The verbs of WordNet in one word that are not far oftener nouns."""
    verb: dict[str, int] = {}
    noun: dict[str, int] = {}
    for line in (WORDNET / "cntlist.rev").read_text(encoding="ascii").splitlines():
        key, _, count = line.split()
        word, kind = key.split("%")
        table = verb if kind[0] == "2" else noun
        table[word] = table.get(word, 0) + int(count)
    known = {
        line.split()[0]
        for line in (WORDNET / "index.verb").read_text(encoding="ascii").splitlines()
        if not line.startswith(" ") and line.split()[0].isalpha()
    }
    return frozenset(w for w in known if len(w) > 2 and verb.get(w, 0) >= 0.25 * noun.get(w, 0) - 1) | {"go", "do"}

"""True claims made from a sentence: shorter, reworded, or with figures and dates written another way."""

import re
from collections.abc import Callable
from random import Random

from lab.training.judge.lexicon import SAME as LEXICON
from lab.training.judge.words import MONTHS, NUMBER_WORDS, SAME

_BRACKET = re.compile(r"\s*[(\[][^()\[\]]{1,120}[)\]]")
_LEAD = re.compile(
    r"^(?:However|Moreover|Furthermore|Meanwhile|Therefore|Thus|Additionally|Instead|Also|And|But|So|Then|Finally|"
    r"In addition|As a result|For example|In fact|On the other hand|At the same time)\s*,?\s+(?=\w)"
)
_LEAD_CLAUSE = re.compile(
    r"^(?:In|On|At|After|Before|During|Since|By|From|With|Following|As|When|While)\b[^,.;]{3,60},\s+(?=\w)"
)
_TAIL = re.compile(
    r",\s+(?:which|who|where|while|whereas|although|but|and|with|including|such as|according to|as|after|making|"
    r"leading|giving|following|because|when|using|based)\b[^;]{8,}$"
)
_INNER = re.compile(r",\s+(?:who|which|where|a|an|the|also|formerly|born)\b[^,;]{4,80},(?=\s)")
_SAID = re.compile(r",?\s+(?:\w+ ){0,3}(?:said|says|told [\w ]+)\.?$")
_SAME = re.compile(r"\b(" + "|".join(map(re.escape, sorted(SAME, key=len, reverse=True))) + r")(?!\w)")
_LEXICON = re.compile(r"\b(" + "|".join(sorted(LEXICON, key=len, reverse=True)) + r")\b(?![-’'])")
_DATE = re.compile(
    rf"\b(\d{{1,2}}) ({'|'.join(MONTHS)})(?: (\d{{4}}))?\b|\b({'|'.join(MONTHS)}) (\d{{1,2}})(?:, (\d{{4}}))?\b"
)
_FRAMES = (
    "According to the document, {}", "The text says that {}", "It is reported that {}", "{}", "{}", "Notably, {}",
    "The passage states that {}", "As described, {}", "In short, {}", "Yes, {}", "I read that {}",
)  # fmt: skip


def _cut(pattern: re.Pattern[str]) -> Callable[[str, Random], str]:
    return lambda text, rng: pattern.sub("", text, count=1)


def reword(text: str, rng: Random) -> str:
    """Replace up to three words by others of the same meaning."""
    return _SAME.sub(lambda m: rng.choice(list(SAME[m.group()])) if rng.random() < 0.7 else m.group(), text, count=3)


def retell(text: str, rng: Random) -> str:
    """Replace words by others of the same meaning out of the whole lexicon, each with a chance of a half."""

    def other(match: re.Match[str]) -> str:
        return rng.choice(LEXICON[match.group()]) if rng.random() < 0.5 else match.group()

    return _LEXICON.sub(other, text)


def rewrite_number(text: str, rng: Random) -> str:
    """*three* as 3 and 3 as *three*; 1,200 as 1200."""
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "" if rng.random() < 0.5 else ",", text)

    def digit(match: re.Match[str]) -> str:
        value = int(match.group())
        return NUMBER_WORDS[value - 2] if 2 <= value <= 12 else match.group()

    if rng.random() < 0.5:
        return re.sub(
            r"(?<![\w.,$£€:/-])\d{1,2}(?![\w.,:/%-])(?! (?:million|billion|" + "|".join(MONTHS) + r"))",
            digit,
            text,
            count=1,
        )
    words = "|".join(NUMBER_WORDS)
    return re.sub(rf"\b(?:{words})\b(?!-)", lambda m: str(NUMBER_WORDS.index(m.group()) + 2), text, count=1)


def rewrite_date(text: str, rng: Random) -> str:
    """*5 May 2012* as *May 5, 2012* and the other way round."""

    def swap(match: re.Match[str]) -> str:
        day, month, year, month2, day2, year2 = match.groups()
        if day:
            return f"{month} {day}" + (f", {year}" if year else "")
        return f"{day2} {month2}" + (f" {year2}" if year2 else "")

    return _DATE.sub(swap, text)


STEPS: tuple[tuple[Callable[[str, Random], str], float], ...] = (
    (_cut(_BRACKET), 0.8),
    (_cut(_LEAD), 0.9),
    (_cut(_LEAD_CLAUSE), 0.4),
    (_cut(_TAIL), 0.5),
    (_cut(_INNER), 0.5),
    (_cut(_SAID), 0.5),
    (reword, 0.6),
    (rewrite_number, 0.4),
    (rewrite_date, 0.6),
)


def compress(sentence: str, rng: Random) -> str:
    """A claim that follows from the sentence: each step is made with its own chance, in order."""
    text = sentence
    for step, chance in STEPS:
        if rng.random() < chance:
            shorter = step(text, rng).strip(" ,;")
            text = shorter if len(shorter.split()) >= 4 else text
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?", '"')) else text + "."


def frame(claim: str, rng: Random) -> str:
    """Sometimes put the claim into a frame that an assistant or a chat would use."""
    if rng.random() < 0.8:
        return claim
    pattern = rng.choice(_FRAMES)
    keep = pattern == "{}" or (
        len(claim) > 1 and claim.split()[0] not in ("The", "A", "An", "It", "He", "She", "They", "In")
    )
    return pattern.format(claim if keep else claim[:1].lower() + claim[1:])

"""Questions and their answers as claims: what people ask says in other words what a passage says.

A question of `qa/train` and its answer become a statement (*When was the bridge rebuilt?*, *1894*: *The bridge was
rebuilt in 1894.*), by rules that give up where the words do not tell what belongs where; some pairs stay a pair. A
passage that answers supports it. The same question with another answer of the same kind out of the same passage, with
any such answer where the passage has none, and the right claim before a passage of the same article that lacks the
answer are not supported: neither overlap nor the claim alone gives that away.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from lab.training.judge.compress import frame, retell, rewrite_date, rewrite_number
from lab.training.judge.edits import names
from lab.training.judge.rows import NOT_SUPPORTED, SUPPORTED, UNSUPPORTED, Example
from lab.training.judge.verbs import PARTICIPLE, past, third, verbs
from lab.training.judge.words import MONTHS

FILES = {
    "squad1_train_du": 6000, "squad1_train_misc": 6000, "squad2_train_part": 4000, "squad2_train_500": 1700,
    "nq_open_gold": 1300, "bioasq_golden": 900, "fairytaleqa_train": 2500, "qamr_dev": 700, "qed_dev": 700,
}  # fmt: skip
"""Questions taken of each file at most."""
ABSENT = 9000
"""Claims before a passage of the same article without the answer."""

_QUESTION = re.compile(
    r"(?:(?P<prep>in|on|at|to|from|by|for|with|of|during|under|after|through|into|about|within|among) )?"
    r"(?P<wh>who|whom|whose|what|which|when|where|why|how many|how much|how long|how old|how)\b ?(?P<rest>.*)",
    re.I,
)
_AUX = [
    "did",
    "do",
    "does",
    "is",
    "are",
    "was",
    "were",
    "has",
    "have",
    "had",
    "can",
    "could",
    "will",
    "would",
    "should",
    "may",
    "might",
    "must",
]
_DET = frozenset(
    [
        "the",
        "a",
        "an",
        "his",
        "her",
        "its",
        "their",
        "this",
        "that",
        "these",
        "those",
        "of",
        "in",
        "on",
        "at",
        "to",
        "by",
        "for",
        "with",
        "from",
        "and",
        "or",
    ]
)
_PREP = frozenset(
    [
        "of",
        "for",
        "in",
        "by",
        "from",
        "with",
        "to",
        "at",
        "on",
        "into",
        "about",
        "as",
        "through",
        "under",
        "after",
        "against",
        "over",
    ]
)
_PARTICIPLES = frozenset(PARTICIPLE.values())


def statement(question: str, answer: str) -> str | None:
    """A question and its answer as one sentence; None where the rules do not know how."""
    match = _QUESTION.fullmatch(question.strip().rstrip("?. ").strip())
    if not match or not match["rest"]:
        return None
    wh, prep, tokens = match["wh"].lower(), match["prep"], match["rest"].split()
    asked: list[str] = []
    if wh in ("what", "which", "whose", "how many", "how much"):
        while tokens and tokens[0].lower() not in _AUX:
            asked.append(tokens.pop(0))
        if not tokens:
            tokens, asked = asked, []
            return _subject(answer, tokens, wh)
        if len(asked) > 5:
            return None
    if not tokens:
        return None
    aux = tokens[0].lower()
    if aux not in _AUX:
        return f"{answer} {' '.join(tokens)}" if wh == "who" and not prep else None
    rest = tokens[1:]
    if not rest:
        return None
    if wh == "who" and not prep and aux not in ("did", "do", "does") and rest[-1] not in _PREP:
        return f"{answer} {' '.join(tokens)}"
    cut = _boundary(rest, aux)
    plain_be = aux in ("is", "are", "was", "were")
    if cut is None:
        if plain_be and wh in ("what", "which", "who") and not prep and rest[-1] not in _PREP:
            return f"{' '.join(rest)} {aux} {answer}" if not asked else f"{answer} {aux} {' '.join(rest)}"
        return None
    subject, verb, tail = " ".join(rest[:cut]), rest[cut], rest[cut + 1 :]
    if aux == "did":
        head = f"{subject} {past(verb)}"
    elif aux == "does":
        head = f"{subject} {third(verb)}"
    elif aux == "do":
        head = f"{subject} {verb}"
    else:
        head = f"{subject} {aux} {verb}"
    placed = _placed(wh, prep, asked, answer)
    if placed is None:
        return None
    where = wh in ("when", "where", "why", "how", "how long") or prep or _time(asked)
    if not where and (not tail or tail[0].lower() in _PREP | {"when", "before", "because", "during", "while"}):
        if tail and tail[-1].lower() in _PREP:
            return f"{head} {' '.join(tail)} {placed}"
        return f"{head} {placed} {' '.join(tail)}".rstrip()
    return f"{head} {' '.join(tail)}".rstrip() + f" {placed}"


def _subject(answer: str, tokens: Sequence[str], wh: str) -> str | None:
    """*What company makes X*, *how many people live here*: the answer is the subject."""
    if wh in ("how many", "how much"):
        return f"{answer} {' '.join(tokens)}"
    for i, token in enumerate(tokens[:4]):
        word = token.lower()
        if i and (word.endswith("ed") or word in verbs() or word[:-1] in verbs()):
            return f"{answer} {' '.join(tokens[i:])}"
    return f"{answer} {' '.join(tokens)}" if tokens and tokens[0].lower().endswith(("ed", "s")) else None


def _time(asked: Sequence[str]) -> bool:
    return bool(asked) and asked[-1].lower() in ("year", "century", "decade", "month", "day", "date", "season")


def _placed(wh: str, prep: str | None, asked: Sequence[str], answer: str) -> str | None:
    first = answer.split()[0].lower() if answer.split() else ""
    if first in _PREP | {"because", "before", "during", "since", "near", "between"}:
        return answer
    if prep:
        return f"{prep.lower()} {answer}"
    if wh == "when" or _time(asked):
        if re.match(r"(?:early |late |mid-)?(?:1\d|20)\d\d|the \d|" + "|".join(MONTHS), answer):
            day = re.search(rf"(?:{'|'.join(MONTHS)}) \d{{1,2}}\b(?!\d)|\b\d{{1,2}} (?:{'|'.join(MONTHS)})", answer)
            return f"{'on' if day else 'in'} {answer}"
        return None if wh == "when" else f"in {answer}"
    if wh == "where":
        return f"in {answer}"
    if wh == "why":
        return f"because {answer}" if len(answer.split()) > 3 else f"because of {answer}"
    if wh == "how":
        return answer if first.endswith("ly") else f"by {answer}"
    if wh == "how long":
        return f"for {answer}"
    if wh == "how old":
        return f"{answer} years old" if answer.isdigit() else answer
    if wh in ("how many", "how much"):
        return " ".join([answer, *[w for w in asked if w.lower() not in answer.lower()]])
    return answer


def _boundary(rest: Sequence[str], aux: str) -> int | None:
    """Where the verb stands behind its subject."""
    known = verbs()
    for i, token in enumerate(rest):
        word = token.lower().rstrip(",")
        if not i or rest[i - 1].lower() in _DET or not token.islower():
            continue
        if aux in ("is", "are", "was", "were", "has", "have", "had"):
            if (word.endswith(("ed", "ing")) and len(word) > 4) or word in _PARTICIPLES:
                return i
        elif word in known or word in ("be", "have"):
            return i
    return None


KINDS = (
    ("year", re.compile(r"\b(?:1[0-9]|20)\d\d\b")),
    ("date", re.compile(rf"\b(?:\d{{1,2}} )?(?:{'|'.join(MONTHS)})(?: \d{{1,2}})?(?:,? \d{{4}})?\b")),
    (
        "number",
        re.compile(r"(?<![\w.,])[$£€]?\d[\d,]*(?:\.\d+)?(?: (?:million|billion|percent|%|years|miles|km|people))?"),
    ),
)


def kind_of(answer: str) -> str:
    """What an answer is: a year, a date, a number, a name, or other words."""
    for name, pattern in KINDS:
        if pattern.fullmatch(answer.strip(" .")):
            return name
    if re.search(r"\d", answer):
        return "figure"
    words = answer.split()
    capital = [w for w in words if w[:1].isupper()]
    if words and len(capital) >= len(words) / 2:
        return "name"
    return "words" if len(words) > 2 else "word"


def of_kind(text: str, kind: str) -> list[str]:
    """What in a text is of a kind that can be told by its look."""
    if kind == "name":
        return list(dict.fromkeys(names(text)))
    return list(dict.fromkeys(m.group() for name, p in KINDS if name == kind for m in p.finditer(text)))


def rows_of(folder: Path, name: str) -> list[dict[str, Any]]:
    """The rows of one file."""
    with (folder / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _claim(question: str, answer: str, rng: Random) -> tuple[str, tuple[tuple[int, int], ...]] | None:
    """The claim and where the answer stands in it."""
    said = statement(question, answer)
    if said is None:
        if rng.random() > 0.25:
            return None
        asked = question.strip().rstrip("?. ") + "?"
        said = f"{asked} {answer}"
    said = re.sub(r"\s+", " ", said).strip(" ,;.")
    said = said[:1].upper() + said[1:] + "."
    start = said.lower().find(answer.lower().strip(" .,"))
    return said, ((start, start + len(answer.strip(" .,"))),) if start >= 0 else ()


def _others(row: Mapping[str, Any], siblings: Sequence[str]) -> list[str]:
    """Wrong answers of the right kind: those of other questions on the passage first, then what looks alike."""
    right = [a.lower() for a in row["answers"]]
    kind = kind_of(row["answers"][0]) if row["answers"] else "name"
    text = " ".join(row["passages"])
    question = row["question"].lower()

    def other(found: str) -> bool:
        low = found.lower()
        return low not in question and not any(low in r or r in low for r in right)

    asked = [a for a in siblings if kind_of(a) == kind and other(a)]
    return asked or [a for a in of_kind(text, kind) if other(a) and len(a) > 1]


def asked_examples(folder: Path, rng: Random, share: float = 1.0) -> Iterator[Example]:
    """The claims made of each file's questions; `folder` is qa/train."""
    titles: dict[str, list[str]] = defaultdict(list)
    by_id: dict[str, dict[str, Any]] = {}
    for name, quota in FILES.items():
        rows = rows_of(folder, name)
        answers: dict[str, list[str]] = defaultdict(list)
        for row in rows:
            by_id[str(row["id"])] = row
            for passage in row["passages"]:
                answers[passage].extend(row["answers"][:1])
            if row.get("title"):
                titles[row["title"]].append(row["passages"][0])
        for row in rng.sample(rows, min(round(quota * share), len(rows))):
            siblings = [a for p in row["passages"] for a in answers[p]]
            near = [p for p in titles.get(row.get("title") or "", ()) if p not in row["passages"]]
            passages = tuple(row["passages"])
            if near and rng.random() < 0.3:
                passages = tuple(rng.sample([*passages, rng.choice(near)], len(passages) + 1))
            yield from _of_row(row, passages, siblings, name, rng)
    absent = rows_of(folder, "neg_same_doc")
    for row in rng.sample(absent, min(round(ABSENT * share), len(absent))):
        pair = by_id.get(str(row.get("pair", "")))
        answer = pair["answers"][0] if pair and pair["answers"] else None
        made = _claim(row["question"], answer, rng) if answer and len(answer) < 80 else None
        if made:
            yield Example(made[0], tuple(row["passages"]), UNSUPPORTED, None, "made/absent/neg_same_doc")


def _of_row(
    row: Mapping[str, Any], passages: tuple[str, ...], siblings: Sequence[str], name: str, rng: Random
) -> Iterator[Example]:
    if row["answerable"] and row["answers"] and len(row["answers"][0]) < 100:
        made = _claim(row["question"], row["answers"][0], rng)
        if made:
            claim = made[0]
            if rng.random() < 0.4:
                claim = rewrite_date(rewrite_number(retell(claim, rng), rng), rng)
            yield Example(frame(claim, rng), passages, SUPPORTED, (), f"made/asked/{name}")
    label = NOT_SUPPORTED if row["answerable"] else UNSUPPORTED
    others = _others(row, siblings)
    wrong = _claim(row["question"], rng.choice(others), rng) if others else None
    if wrong:
        yield Example(wrong[0], passages, label, wrong[1] or None, f"made/misasked/{name}")

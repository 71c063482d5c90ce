"""How many probes of each rule of language come out right, beside the least that may.

    python -m lab.benchmarks.probes
    python -m lab.benchmarks.probes --only sentences,pairs --wrong    # with what came out wrong

A rule has a file of probes, a JSON list a line: what the rule is given, and last what it has to give. The rules were
written with these probes in sight: a share below the floor says that a rule got worse, not how good it is. The exit
code is 1 where a rule is below its floor.
"""

import argparse
import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

from cragraph.answers.candidates import is_noise
from cragraph.answers.chat_answerer import settled
from cragraph.language.cells import read_header
from cragraph.language.facts import Fact, compare, extract
from cragraph.language.facts.polarity import negations, opposite_words
from cragraph.language.languages import language_of, seems_english
from cragraph.language.orders import is_order
from cragraph.language.questions import read_question
from cragraph.language.sentences import sentences
from cragraph.language.words import plain_years, stem
from cragraph.models.grounding import GroundingModel
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.search.questions import decompose
from cragraph.turns import stand_alone
from cragraph.types import IDK, Claim
from cragraph.verification.claims import claim_type, split_claims
from cragraph.verification.conflicts import contradict, find_conflicts
from cragraph.verification.evidence import unstated
from cragraph.verification.judges.embedded import EncoderJudge
from cragraph.verification.judges.verdicts import quoted

HERE: Final = Path(__file__).parent
FLOOR: Final = 0.95
"""The least share of a rule's probes that may come out right."""
FLOORS: Final = {"pairs": 0.9}


def figure(text: str) -> list[Any]:
    """Kind, value and unit of the one figure in a text."""
    fact = only(text)
    return [fact.kind, float(f"{fact.value:.9g}"), fact.unit]


def only(text: str) -> Fact:
    """The one fact in a text that is no name."""
    [fact] = [fact for fact in extract(text) if fact.kind != "name"]
    return fact


def language(text: str, expected: str) -> bool:
    """Whether a text is taken for its language; `other` is any but English."""
    if expected in ("English", "other"):
        return seems_english(text) is (expected == "English")
    return language_of(text) == expected and not seems_english(text)


def claims(answer: str, expected: list[str] | int) -> bool:
    """Whether an answer is split into these claims, or into so many."""
    found = [claim["text"] for claim in split_claims(answer)]
    return len(found) == expected if isinstance(expected, int) else found == expected


def lacking(claim: str, passage: str, question: str) -> list[str]:
    """The figures and names of a claim that its passage does not state."""
    passages = as_passages([passage])
    evidence = quoted(passage, passages)
    return [fact.text for fact in unstated(claim, passages, question, [evidence] if evidence else [])]


@cache
def judge() -> EncoderJudge:
    """The judge that ships."""
    return EncoderJudge(GroundingModel(threads=1))


def judged(passages: list[str], text: str, expected: str) -> bool:
    """Whether the judge gives a claim this verdict, or with `not` before it any other."""
    [verdict] = judge()([Claim(text=text, start=0, end=len(text), type="factual")], as_passages(passages), Notes())
    wanted = expected.removeprefix("not ")
    return (verdict["verdict"] == wanted) is (wanted == expected)


def gives(rule: Callable[..., Any]) -> Callable[..., bool]:
    """A check that a rule gives what stands last in the row."""

    def check(*row: Any) -> bool:
        *given, expected = row
        return bool(json.loads(json.dumps(rule(*given))) == expected)

    return check


RULES: Final[dict[str, Callable[..., bool]]] = {
    "sentences": gives(sentences),
    "figures": gives(figure),
    "dates": gives(lambda text: only(text).date),
    "names": gives(lambda text: [fact.words for fact in extract(text) if fact.kind == "name"]),
    "compared": gives(lambda claim, evidence: compare(extract(claim), extract(evidence), evidence).share == 1),
    "negations": gives(negations),
    "opposites": gives(opposite_words),
    "languages": language,
    "stems": gives(lambda one, other: stem(one) == stem(other)),
    "headings": lambda heading, words, unit: read_header(heading) == (words, unit),
    "no_orders": lambda sentence: not is_order(sentence),
    "parts": gives(decompose),
    "years": gives(plain_years),
    "declining": gives(lambda answer: settled(answer) == IDK),
    "kinds": gives(lambda question: read_question(question).kind.name),
    "followups": gives(stand_alone),
    "noise": gives(is_noise),
    "claims": claims,
    "claim_types": gives(claim_type),
    "statements": gives(lambda one, other: bool(contradict(one, other) and contradict(other, one))),
    "passages": gives(lambda one, other: bool(find_conflicts(as_passages([one, other])))),
    "unstated": gives(lacking),
    "pairs": judged,
}


def probes(name: str) -> list[list[Any]]:
    """The probes of a rule."""
    with (HERE / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def right(name: str, row: list[Any]) -> bool:
    """Whether a probe comes out right; a rule that raises an error is wrong."""
    try:
        return RULES[name](*row)
    except ValueError:
        return False


def main(arguments: list[str] | None = None) -> int:
    """Print a line for each rule; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(RULES), help=f"some of {', '.join(RULES)}")
    parser.add_argument("--wrong", action="store_true", help="print the probes that come out wrong")
    options = parser.parse_args(arguments)
    below, total, good = 0, 0, 0
    for name in options.only.split(","):
        rows = probes(name)
        wrong = [row for row in rows if not right(name, row)]
        found, floor = len(rows) - len(wrong), FLOORS.get(name, FLOOR)
        low = found < floor * len(rows)
        print(f"{name:12} {found:4} of {len(rows):4} right{f', below {floor:.0%}' if low else ''}", flush=True)
        for row in wrong if options.wrong else ():
            print(f"    {json.dumps(row, ensure_ascii=False)}")
        below, total, good = below + low, total + len(rows), good + found
    print(f"together     {good:4} of {total:4} right")
    return int(bool(below))


if __name__ == "__main__":
    sys.exit(main())

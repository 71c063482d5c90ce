"""What each rule beside the reader is worth: the questions of new users asked with it and without it.

    python -m lab.benchmarks.answer_rules
    python -m lab.benchmarks.answer_rules --dev ../shared/data/qa/dev --rows 40
    python -m lab.benchmarks.answer_rules --only look-ups conflicts --sets fifth blind bats

Printed for each rule is how many questions of each set are answered rightly (or refused where no file answers) and how
many wrongly or in part without it, less what they are with it. `APART` are the folders of `lab.benchmarks.blind`, the
others those of `lab.benchmarks.new_user`; the first four of these are what the rules were made on. *dev* is the mean
utility over public files of questions with their own passages: of those whose best sentence is at least as likely to
answer as `REFUSED` says, the right ones, and the others that nothing answers. *mistyped* is the same with two slips of
the hand in each question.
"""

import argparse
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Final
from unittest.mock import patch

from langgraph.checkpoint.memory import InMemorySaver

from cragraph import load_settings
from cragraph.answers.ranking import AnswerRanker
from cragraph.build import Parts
from cragraph.loop import graph_of
from cragraph.models.reader import Reader
from cragraph.passages import as_passages
from cragraph.run import Assistant
from lab.benchmarks.blind import __main__ as fresh
from lab.benchmarks.new_user import __main__ as users
from lab.benchmarks.rules import empty, nothing, remembered
from lab.evals.answers import AskedRow, read

APART: Final = ("blind", "bats", "observatory")
SETS: Final = (".", "second", "third", "fourth", "fifth", *APART)
G: Final = "cragraph.answers."
QUESTION: Final = "cragraph.language.questions.Question"


def as_asked(question: str, *_: object) -> str:
    """The question as it is."""
    return question


RULES: Final[Mapping[str, Mapping[str, Any]]] = {
    "misspelt words put right": {f"{G}ranking.corrected": as_asked},
    "look-ups in tables": {f"{G}ranking.lookup": nothing},
    "answers below their label": {f"{G}ranking.answer_below": nothing},
    "all rows": {f"{QUESTION}.wants_all": False, f"{QUESTION}.wants_rows": False},
    "conflicts": {f"{G}answered.differing": empty, f"{G}extractive.differing": empty},
}  # fmt: skip
"""What is put in the place of what to leave a rule out."""


DEV: Final = (
    "squad2_train_500", "squad2_train_part", "neg_same_doc", "clapnq_dev", "bioasq_golden", "selqa_test",
    "nq_open_gold", "tatqa_dev_text", "ottqa_hybridqa_dev", "contrast_sets", "qed_dev", "fairytaleqa_val", "qamr_dev",
)  # fmt: skip
REFUSED: Final = 0.4  # probability below which a best sentence counts as no answer


def mistyped(row: AskedRow, rng: Random) -> AskedRow:
    """The row with two slips in its question: a letter left out, doubled, or exchanged with the next."""
    text = row.question
    for _ in range(2):
        words = list(re.finditer(r"[a-z]{5,}", text))
        if not words:
            break
        word = rng.choice(words)
        at, letters = rng.randrange(word.start() + 1, word.end() - 1), rng.choice((0, 1, 2))
        slip = (text[at + 1], text[at] * 2 + text[at + 1], text[at + 1] + text[at])[letters]
        text = text[:at] + slip + text[at + 2 :]
    return replace(row, question=text)


def utility(rows: Sequence[AskedRow], ranker: AnswerRanker) -> float:
    """The share of questions answered rightly, or refused where nothing answers."""
    good = 0
    for row in rows:
        ranking = ranker(row.question, as_passages([{"text": text} for text in row.passages]))
        if ranking.scored and (ranking.answered or 0.0) >= REFUSED:
            best = ranking.scored[0].candidate
            good += row.is_right(f"{best.opener} {best.text}")
        else:
            good += not row.answerable
    return good / len(rows)


class Asked:
    """The questions of one set and a graph over its files, whose networks read each pair of texts once."""

    def __init__(self, name: str, scratch: Path) -> None:
        apart = fresh.FOLDERS
        home = apart.get(name) or users.HERE / name
        self.rows = list(fresh.rows(home / "questions.jsonl"))
        self.verdict: Callable[[Any, Any], str] = fresh.verdict if name in apart else users.verdict
        files = home / "files" if name in apart else users.documents(home, scratch / "files")
        self.parts = Parts(load_settings(store=str(scratch / "store")))
        Assistant(self.parts.settings).ingest([files])

    def counted(self) -> tuple[int, int]:
        """How many answers are right, how many are wrong or right in part."""
        graph = graph_of(self.parts).compile(checkpointer=InMemorySaver())
        found = Counter(self.verdict(row, users.asked(graph, row)) for row in self.rows)
        return found["right"], found["wrong"] + found["partly"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="*", default=SETS, choices=SETS, metavar="SET")
    parser.add_argument("--dev", type=Path, help="folder of public questions with their passages")
    parser.add_argument("--rows", type=int, default=40, help="questions of each of its files")
    parser.add_argument("--only", nargs="*", help="beginnings of the rules' names")
    options = parser.parse_args()
    wanted = [name for name in RULES if not options.only or name.startswith(tuple(options.only))]
    with ExitStack() as stack, remembered():
        stack.enter_context(patch(f"{G}ranking.REMEMBERED", 0))
        stack.enter_context(patch.dict(Reader.__init__.__kwdefaults__, remembered=1_000_000))
        files = [read(options.dev / f"{name}.jsonl") for name in DEV] if options.dev else []
        dev = [Random(0).sample(rows, min(len(rows), options.rows)) for rows in files]
        slips = Random(0)
        typed = [[mistyped(row, slips) for row in rows] for rows in dev]
        ranker = Parts(load_settings()).ranker
        sets: dict[str, Asked] = {}
        for name in options.sets:
            sets[name] = Asked(name, Path(stack.enter_context(tempfile.TemporaryDirectory())))

        def measured() -> tuple[list[float], list[tuple[int, int]]]:
            means = [sum(utility(rows, ranker) for rows in each) / max(len(each), 1) for each in (dev, typed)]
            return means, [one.counted() for one in sets.values()]

        means, whole = measured()
        print(f"| left out | dev | mistyped | {' | '.join(sets)} |")
        print(f"| --- | --- | --- |{' --- |' * len(sets)}")
        cells = [f"{mean:.3f}" for mean in means] + [f"{right}, {wrong}" for right, wrong in whole]
        print(f"| nothing | {' | '.join(cells)} |", flush=True)
        for rule in wanted:
            with ExitStack() as without:
                for place, other in RULES[rule].items():
                    without.enter_context(patch(place, other))
                others, counts = measured()
            cells = [f"{now - was:+.3f}" for now, was in zip(others, means, strict=True)]
            cells += [f"{now[0] - was[0]:+d}, {now[1] - was[1]:+d}" for now, was in zip(counts, whole, strict=True)]
            print(f"| {rule} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

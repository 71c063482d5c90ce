"""How a chat model fares on every prompt beside the ones that answer and judge, each beside what needs no model.

    python -m lab.benchmarks.prompt_tasks --server http://127.0.0.1:11435 --model ollama:qwen2.5-coder:1.5b \
        --out rows.jsonl
    python -m lab.benchmarks.prompt_tasks --table rows.jsonl

`benchmarks.prompts` measures the prompts that answer (`generate`, `generate_plainly`, `regenerate`) and
`benchmarks.model_judges` the one that judges. Replies are kept as there. The tasks, and when a case counts as right:

    contextualize     a follow-up: the search for it brings an expected text in the first two passages
    multi_query       a question: so does the search for the model's rewordings alone
    requery           a question with passages that do not answer it: so does the search for the model's queries alone
    rerank            a passage with an expected text, and one found for the same question without it: the first scores
                      higher (equal counts half)
    claims            a text of several sentences: every sentence is in a claim, and no claim holds two of them
    alignment         a true and a false claim on the same passages: the true one scores higher (equal counts half)
    consistency       two texts that contradict each other and two that do not, each pair put together as one answer:
                      the second scores higher (equal counts half)

A reply that could not be read, after the repair that ships, is *unread* and counts as wrong. "without" is what ships
where no model is set, on the same cases: the question as it stands for `multi_query` and `requery`, the embedded
follow-ups, the default reranker, the sentences, the encoder, and consistency by facts, opposites and negation.
"""

import argparse
import hashlib
import json
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from cragraph.build import Parts
from cragraph.choices import RERANKERS
from cragraph.errors import CragError
from cragraph.language.sentences import sentence_spans
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.run import Assistant
from cragraph.search.questions import ChatQueries, Contextualizer, MultiQuery
from cragraph.settings import load_settings
from cragraph.turns import stand_alone
from cragraph.verification.claims import split_claims
from cragraph.verification.judges.llm import LLMClaims, LLMScores
from lab.benchmarks.model_judges import read
from lab.benchmarks.new_user.__main__ import HERE, documents
from lab.benchmarks.prompts import SETS, keeping, questions

ROOT: Final = Path(__file__).parents[2]
FIRST: Final = 2  # passages of a search that count
LOOKED: Final = 20  # passages among which one that answers is looked for
SHOWN: Final = 3  # that do not answer, before which queries are asked for
SENTENCES: Final = range(2, 6)  # of a text whose claims are asked for

Case = tuple[str, Callable[[], float], Callable[[], float]]  # its name, with the model, without: 1 right, .5 half


class Tasks:
    """The cases of each task, over a store for each set of new users' questions."""

    def __init__(self, url: str, model: str, scratch: Path) -> None:
        self.scratch = scratch
        self.settings = {"model": model, "ollama_host": url, "timeout_s": 900.0}
        self.assistants: dict[str, Assistant] = {}
        self.parts = Parts(load_settings(**self.settings))
        caller = self.parts.chat
        assert caller is not None
        given = (caller, self.parts.prompts)
        self.queries, self.rewordings, self.follow_up = ChatQueries(*given), MultiQuery(*given), Contextualizer(*given)
        self.scores, self.claims_of = LLMScores(*given), LLMClaims(*given)

    def over(self, name: str) -> Assistant:
        """The assistant over the files of a set."""
        if name not in self.assistants:
            folder = self.scratch / (name.strip(".") or "first")
            folder.mkdir()
            made = Assistant(load_settings(store=str(folder / "store"), **self.settings))
            made.ingest([documents(HERE / name, folder / "files")])
            self.assistants[name] = made
        return self.assistants[name]

    def found(self, row: dict[str, Any], queries: Sequence[str], besides: Sequence[str] = ()) -> float:
        """Whether a search brings an expected text among the first passages that are not of `besides`."""
        if not queries:
            return 0.0
        passages = self.over(row["set"]).parts.retriever(list(queries), FIRST + len(besides), Notes())
        texts = [p["text"] for p in passages if p["chunk_id"] not in besides][:FIRST]
        return float(any(holds(row, text) for text in texts))

    def contextualize(self) -> Iterator[Case]:
        """Follow-ups of new users."""
        for name in SETS:
            for row in read(HERE / name / "questions.jsonl"):
                if "before" in row and not row.get("refuse"):
                    own = row | {"set": name}
                    asked = partial(self._asked_alone, own)
                    alone = partial(lambda one: self.found(one, [stand_alone(one["question"], one["before"])]), own)
                    yield f"{name} {row['id']}", asked, alone

    def _asked_alone(self, row: dict[str, Any]) -> float:
        notes = Notes()
        messages = [{"role": "user", "content": text} for text in row["before"]]
        asked = self.follow_up(row["question"], messages, notes)
        return self.found(row, [sound(asked, notes)])

    def multi_query(self) -> Iterator[Case]:
        """Questions of new users."""
        for row in answerable():
            yield name_of(row), partial(self._reworded, row), partial(self.found, row, [row["question"]])

    def _reworded(self, row: dict[str, Any]) -> float:
        notes = Notes()
        return self.found(row, sound(self.rewordings(row["question"], notes), notes))

    def requery(self) -> Iterator[Case]:
        """The same, before passages that were found and hold no expected text."""
        for row in answerable():
            yield name_of(row), partial(self._again, row, True), partial(self._again, row, False)

    def _again(self, row: dict[str, Any], asks: bool) -> float:
        shown = [p for p in self._searched(row) if not holds(row, p["text"])][:SHOWN]
        besides = [p["chunk_id"] for p in shown]
        if not asks:
            return self.found(row, [row["question"]], besides)
        return self.found(row, self.queries(row["question"], (), [row["question"]], Notes(), shown), besides)

    def _searched(self, row: dict[str, Any]) -> list[Any]:
        return list(self.over(row["set"]).parts.retriever([row["question"]], LOOKED, Notes()))

    def rerank(self) -> Iterator[Case]:
        """A passage that answers, and the nearest one that does not."""
        for row in answerable():
            yield name_of(row), partial(self._ranked, row, True), partial(self._ranked, row, False)

    def _ranked(self, row: dict[str, Any], asks: bool) -> float:
        passages = self._searched(row)
        good = next((p for p in passages if holds(row, p["text"])), None)
        bad = next((p for p in passages if not holds(row, p["text"])), None)
        if good is None or bad is None:
            raise SkippedError
        parts = self.over(row["set"]).parts
        notes = Notes()
        rank = parts.part(RERANKERS, "llm" if asks else "nearest")
        scored = {p["chunk_id"]: p["rerank_score"] or 0.0 for p in rank(row["question"], [good, bad], notes)}
        if asks:
            sound(None, notes)
        return higher(scored[good["chunk_id"]], scored[bad["chunk_id"]])

    def claims(self) -> Iterator[Case]:
        """Passages of some sentences, as an answer."""
        texts = {passage for row in read(ROOT / "tests/verification/reworded.jsonl") for passage in row["passages"]}
        for text in mixed(texts, str):
            if len(sentence_spans(text)) in SENTENCES:
                asked = partial(self._split, text, lambda one: self.claims_of(one, Notes()))
                yield text[:40], asked, partial(self._split, text, split_claims)

    def _split(self, text: str, split: Callable[[str], Any]) -> float:
        claims = [(claim["start"], claim["end"]) for claim in split(text)]
        held = [[c for c in claims if c[0] < end and start < c[1]] for start, end in sentence_spans(text)]
        single = all(sum(claim in own for own in held) == 1 for claim in claims)
        return float(single and all(held))

    def pairs(self) -> Iterator[tuple[str, list[Any], str, str]]:
        """A true and a false claim on the same passages."""
        groups: dict[str, dict[bool, list[str]]] = defaultdict(lambda: {True: [], False: []})
        for row in read(ROOT / "tests/verification/reworded.jsonl"):
            groups["\n".join(row["passages"])][row["label"] == "supported"].append(row["answer"])
        pairs = [
            (text, true, false)
            for text, sides in groups.items()
            for true, false in zip(mixed(sides[True], str), mixed(sides[False], str), strict=False)
        ]
        for text, true, false in mixed(pairs, "".join):
            yield f"{text[:20]} {true[:20]}", as_passages(text.split("\n")), true, false

    def alignment(self) -> Iterator[Case]:
        """Scores of both claims of a pair."""
        for name, passages, true, false in self.pairs():
            yield name, partial(self._aligned, passages, true, false), partial(self._encoded, passages, true, false)

    def _aligned(self, passages: list[Any], true: str, false: str) -> float:
        return higher(*(self.scores.alignment("", claim, passages, Notes()) for claim in (true, false)))

    def _encoded(self, passages: list[Any], true: str, false: str) -> float:
        return higher(*self._supports(passages, true, false))

    def _supports(self, passages: list[Any], *claims: str) -> list[float]:
        judge = self.parts.judges["encoder"]
        return [min(v["support"] for v in judge(split_claims(claim), passages, Notes())) for claim in claims]

    def consistency(self) -> Iterator[Case]:
        """Texts of the pairs of `benchmarks.conflicts`, one that contradicts itself beside one that does not."""
        rows = read(ROOT / "lab/benchmarks/conflicts/dev.jsonl")
        split = [[row for row in rows if row["conflict"] is whether] for whether in (False, True)]
        for calm, clash in zip(*(mixed(own, lambda row: row["id"]) for own in split), strict=False):
            texts = [
                " ".join(re.sub(r"#.*", "", text).strip() for text in row["files"].values()) for row in (calm, clash)
            ]
            yield calm["id"], partial(self._consistent, texts), partial(self._consistent_without, texts)

    def _consistent(self, texts: Sequence[str]) -> float:
        return higher(*(self.scores.consistency(text, (), Notes()) for text in texts))

    def _consistent_without(self, texts: Sequence[str]) -> float:
        found = []
        for text in texts:
            checked = replace(self.parts.verifier, consistency=None)(
                "", text, as_passages([text]), Notes(), judge="encoder", policy="reliability"
            )
            found.append(checked.signals["internal_consistency"])
        return higher(*found)


class SkippedError(Exception):
    """A case that the files do not have."""


NAMES: Final = (
    "contextualize", "multi_query", "requery", "rerank", "claims", "alignment", "consistency",
)  # fmt: skip


def sound(given: Any, notes: Notes) -> Any:
    """What came, unless it was degraded: then the prompt's reply was not used."""
    if notes.sentences:
        raise CragError(notes.sentences[0])
    return given


def higher(first: float, second: float) -> float:
    """1 where the first is higher, a half where they are equal."""
    return 0.5 if abs(first - second) < 1e-9 else float(first > second)


def holds(row: dict[str, Any], text: str) -> bool:
    """Whether a passage has all that is expected of the answer."""
    return all(wanted.casefold() in text.casefold() for wanted in row["expect"])


def answerable() -> list[dict[str, Any]]:
    """Questions of new users that their files answer in one place, mixed."""
    return [row for row in questions("1/1") if not row.get("refuse")]


def name_of(row: dict[str, Any]) -> str:
    """What a question is called."""
    return f"{row['set']} {row['id']}"


def mixed(items: Any, name: Callable[[Any], str]) -> list[Any]:
    """The items in an order of no meaning."""
    return sorted(items, key=lambda one: hashlib.sha256(str(name(one)).encode()).hexdigest())


# -- the table -------------------------------------------------------------------------------------------------


def table(paths: Sequence[Path]) -> None:
    """A row for each model and prompt."""
    rows = [row for path in paths for row in read(path)]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["task"], row["model"]].append(row)
    print("| prompt | model | cases | right | without | unread | calls | tokens read | written | seconds |")
    print("| --- " * 10 + "|")
    for (task, model), own in sorted(groups.items(), key=lambda item: (NAMES.index(item[0][0]), item[0][1])):
        means = [sum(row[name] for row in own) / len(own) for name in ("right", "without")]
        unread = sum(bool(row["unread"]) for row in own)
        calls = sum(len(row["calls"]) for row in own) / len(own)
        sums = [sum(c[name] for row in own for c in row["calls"]) / len(own) for name in ("read", "wrote", "seconds")]
        print(
            f"| `{task}` | {model} | {len(own)} | {means[0]:.2f} | {means[1]:.2f} | {unread} | {calls:.1f} |",
            f"{sums[0]:.0f} | {sums[1]:.0f} | {sums[2]:.1f} |",
        )


def main() -> None:
    """Ask, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="http://127.0.0.1:11434")
    parser.add_argument("--model", default="ollama:llama3.2")
    parser.add_argument("--task", action="append", choices=NAMES)
    parser.add_argument("--cache", type=Path, default=Path("prompt-replies"))
    parser.add_argument("--out", type=Path, default=Path("tasks.jsonl"))
    parser.add_argument("--most", type=int, default=12, help="cases of a task")
    parser.add_argument("--minutes", type=float, help="begin no case after so many")
    parser.add_argument("--table", type=Path, nargs="+")
    options = parser.parse_args()
    if options.table:
        table(options.table)
        return
    done = {(row["model"], row["task"], row["id"]) for row in read(options.out)}
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch, keeping(options.server, options.cache) as (url, calls):
        tasks = Tasks(url, options.model, Path(scratch))
        names = options.task or NAMES
        left = dict.fromkeys(names, options.most)
        for turn in zip_longest(*(getattr(tasks, name)() for name in names)):
            for task, case in zip(names, turn, strict=True):
                late = options.minutes is not None and time.monotonic() - begun > 60 * options.minutes
                if case is None or late or not left[task]:
                    continue
                name, asked, without = case
                if (options.model, task, name) in done:
                    left[task] -= 1
                    continue
                calls.clear()
                unread = ""
                try:
                    other, right = without(), 0.0
                    right = asked()
                except SkippedError:
                    continue
                except CragError as error:
                    unread = str(error)
                left[task] -= 1
                found = {"model": options.model, "task": task, "id": name, "right": right, "without": other}
                with options.out.open("a", encoding="utf-8") as sink:
                    row = found | {"unread": unread, "calls": list(calls)}
                    sink.write(json.dumps(row, ensure_ascii=False) + "\n")
                print(task, name, right, other, unread[:100], flush=True)


if __name__ == "__main__":
    main()

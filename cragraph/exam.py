"""The examination of a chat model: the worth of its words when it judges, writes and declines.

Claims and questions are this project's own, true and false: in other words, with another figure, condition, direction
or person, computed, in other languages, with instructions in a passage, from tables. They go through the product's
judge and answerer, so that the figures hold for real runs. Each call is kept: an examination that was cut off goes on.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import log
from pathlib import Path
from typing import Any, Final

from cragraph.answers.chat_answerer import ChatGenerator
from cragraph.build import Parts
from cragraph.errors import DeadlineError, ModelError, ModelUnavailableError, SettingsError
from cragraph.models import examined
from cragraph.models.chat import ChatCaller
from cragraph.models.examined import BY_SIZE, LARGE, Worth
from cragraph.passages import as_passages
from cragraph.prompts import Prompts
from cragraph.protocols import Brief, Notes
from cragraph.types import IDK, Claim
from cragraph.verification.judges.llm import BATCH, LLMJudge

HOME: Final = Path(examined.__file__).with_name("exam")
SAMPLE: Final = 12  # questions by default, a third of them without an answer
HALF: Final = 0.5  # added to counts, so that a case not seen is not impossible
MOST: Final = 20.0  # largest ratio that sixty claims can show
SIZES: Final = ("half a billion parameters", "one and a half billion", "three billion", "eight billion or more")


@dataclass
class Examination:
    """A model's results so far, by the ids of claims and questions.

    A claim is `supported`, `rejected`, `partial` or `unjudged`; an answer `right`, `wrong`, `declined` or `none`.
    `controls` are the control claims, which are false: their number, and how many were supported. `exam` is the hash of
    claims, questions and prompts: if it changes the examination begins again.
    """

    model: str
    exam: str
    claims: dict[str, str] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    controls: list[int] = field(default_factory=lambda: [0, 0])

    @property
    def worth(self) -> Worth:
        """The ratios that the examination shows."""
        true, false = ([self.claims[r["id"]] for r in claims() if r["supported"] is kind and r["id"] in self.claims]
                       for kind in (True, False))  # fmt: skip
        made, passed = self.controls
        right = {kind: labels.count("supported") for kind, labels in ((True, true), (False, false))}
        against = {kind: labels.count("rejected") + labels.count("partial") / 2
                   for kind, labels in ((True, true), (False, false))}  # fmt: skip
        supports = _ratio(right[True], len(true), right[False] + passed, len(false) + made)
        rejects = _ratio(against[False] + made - passed, len(false) + made, against[True], len(true))
        rows = [
            (row["answer"] is not None, self.answers[row["id"]]) for row in questions() if row["id"] in self.answers
        ]
        wrote = [said for _, said in rows if said in ("right", "wrong")]
        good, bad = wrote.count("right"), wrote.count("wrong")
        declined = [[said == "declined" for has, said in rows if has is kind] for kind in (True, False)]
        declines = _ratio(sum(declined[0]), len(declined[0]), sum(declined[1]), len(declined[1]))
        return Worth(
            round(min(MOST, (good + HALF) / (bad + HALF)), 2),
            round(max(1.0, min(MOST, supports)), 2),
            round(max(1.0, min(MOST, rejects)), 2),
            round(min(1.0, declines), 3),
            examined.SOURCE,
        )

    @property
    def right(self) -> int:
        """The number of questions answered rightly, or rightly declined."""
        has = {row["id"]: row["answer"] is not None for row in questions()}
        return sum(said == ("right" if has[name] else "declined") for name, said in self.answers.items())

    def line(self) -> str:
        """The result in one line."""
        worth = self.worth
        rows = [row for _, row in BY_SIZE] + [LARGE]
        near = min(range(len(rows)), key=lambda n: abs(_bits(rows[n]) - _bits(worth)))
        return (
            f"{self.model} reads like a model of {SIZES[near]}: believed {worth.supports:.2g} to 1 where it says "
            f"supported, {worth.rejects:.2g} to 1 where it says not; writes {self.right} of {len(self.answers)} right"
        )

    def to_dict(self) -> dict[str, Any]:
        """The data to keep; the worth only when the examination is complete."""
        kept = {"model": self.model, "exam": self.exam, "claims": self.claims, "answers": self.answers}
        complete = len(self.claims) == len(claims()) and len(self.answers) >= SAMPLE
        return kept | {"controls": self.controls} | ({"worth": asdict(self.worth)} if complete else {})


def calls(count: int = SAMPLE) -> int:
    """The number of calls of an examination with this many questions."""
    return -(-len(claims()) // BATCH) + count


def examine(
    parts: Parts, *, count: int = SAMPLE, progress: Callable[[str, int, int], None] = lambda task, done, all: None
) -> Examination:
    """Put the claims and `count` questions to the chat model of some parts, without those already done.

    `progress` gets the next step, the calls made, and their total. Raises SettingsError without a model, and
    ModelUnavailableError if its server is gone: the results so far are kept.
    """
    caller = parts.chat
    if caller is None:
        raise SettingsError("There is no model to examine: name one, such as `cragraph exam ollama:llama3.2`.")
    path = examined.place_of(caller.model, caller.title)
    if path is None:
        raise ModelUnavailableError(
            f"The server of {caller.title} does not give the digest of the model, under which an examination is kept: "
            f"start it with `ollama serve`, and pull the model."
        )
    exam = _begun(path, caller, parts.prompts)
    judge, generator = LLMJudge(caller, parts.prompts), ChatGenerator(caller, parts.prompts, ranker=parts.ranker)
    everything = calls(count)
    for rows in _batches():
        if any(row["id"] not in exam.claims for row in rows):
            progress("claims", len(exam.claims) // BATCH + len(exam.answers), everything)
            _judge(exam, judge, rows)
            examined.write(path, exam.to_dict())
    for row in sample(count):
        if row["id"] not in exam.answers:
            progress("questions", len(exam.claims) // BATCH + len(exam.answers), everything)
            exam.answers[row["id"]] = _answered(generator, row)
            examined.write(path, exam.to_dict())
    return exam


def _begun(path: Path, caller: ChatCaller, prompts: Prompts) -> Examination:
    asked = b"".join((HOME / f"{name}.jsonl").read_bytes() for name in ("claims", "questions"))
    told = "".join(prompts[task].digest for task in ("judge", "generate", "generate_plainly"))
    exam = hashlib.sha256(asked + told.encode()).hexdigest()[:16]
    kept = examined.read(path)
    if kept.get("exam") != exam:
        return Examination(caller.title, exam)
    return Examination(caller.title, exam, kept["claims"], kept["answers"], kept["controls"])


def _judge(exam: Examination, judge: LLMJudge, rows: Sequence[Mapping[str, Any]]) -> None:
    """Judge the claims of some rows in one call, before the passages of all of them."""
    passages = as_passages([*dict.fromkeys(text for row in rows for text in row["passages"])])
    texts = [Claim(text=row["claim"], start=0, end=len(row["claim"]), type="factual") for row in rows]
    try:
        reading = judge.read(texts, passages, Notes())
    except (ModelUnavailableError, DeadlineError):
        raise
    except ModelError:  # no verdict could be read
        exam.claims |= dict.fromkeys((row["id"] for row in rows), "unjudged")
        return
    told = {"supported": "supported", "partially_supported": "partial", "unjudged": "unjudged"}
    for row, verdict in zip(rows, reading.verdicts, strict=True):
        exam.claims[row["id"]] = told.get(verdict["verdict"], "rejected")
    exam.controls[0] += 1
    exam.controls[1] += not reading.attentive


def _answered(generator: ChatGenerator, row: Mapping[str, Any]) -> str:
    try:
        answer = generator(Brief(row["question"], as_passages(row["passages"]), quiet=True), Notes())
    except (ModelUnavailableError, DeadlineError):
        raise
    except ModelError:  # it wrote nothing
        return "none"
    if answer == IDK:
        return "declined"
    return "right" if row["answer"] is not None and is_right(answer, row["answer"]) else "wrong"


def _batches() -> Iterator[list[dict[str, Any]]]:
    """The claims, `BATCH` at a time, those on the same passages together."""
    rows = sorted(claims(), key=lambda row: row["passages"])
    yield from (rows[start : start + BATCH] for start in range(0, len(rows), BATCH))


def sample(count: int) -> list[dict[str, Any]]:
    """A sample of the questions over the whole list; a third of them has no answer."""
    without = [row for row in questions() if row["answer"] is None]
    having = [row for row in questions() if row["answer"] is not None]
    few = count // 3
    return [*_spread(having, count - few), *_spread(without, few)]


def _spread(rows: Sequence[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    return [rows[place * len(rows) // count] for place in range(min(count, len(rows)))]


def claims() -> list[dict[str, Any]]:
    """The claims: `passages`, `claim`, and whether it is `supported`."""
    return _rows("claims")


def questions() -> list[dict[str, Any]]:
    """The questions: `passages`, `question`, and `answer`, lists of which a reply must have one text each."""
    return _rows("questions")


def _rows(name: str) -> list[dict[str, Any]]:
    lines = (HOME / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _ratio(first: float, of: int, second: float, of_others: int) -> float:
    """The ratio of two shares.

    Half a case of the smaller group is added to both shares, so that equal shares have a ratio of one.
    """
    least = HALF / max(1, min(of, of_others))
    return (first / max(1, of) + least) / (second / max(1, of_others) + least)


def _bits(worth: Worth) -> float:
    return log(worth.supports * worth.rejects)


# -- whether a reply is right --------------------------------------------------------------------------------------


def plain(text: str) -> str:
    """The text in lower case, on one line, without thousands separators."""
    return re.sub(r"\b(\d{1,3}),(\d{3})\b", r"\1\2", " ".join(text.casefold().split()))


def stands_in(text: str, wanted: str) -> bool:
    """Whether `wanted` begins a word of `text`, whatever the case; a figure must be the whole figure."""
    pattern = re.escape(plain(wanted) + " " * wanted.endswith(" "))
    if wanted[0].isalnum():
        pattern = r"(?<!\w)(?<!\d[.,])" + pattern
    if wanted[-1].isdigit():
        pattern += r"(?!\d|[.,]\d*[1-9])"
    return re.search(pattern, f" {plain(text)} ") is not None


def is_right(reply: str, answer: Sequence[Sequence[str]]) -> bool:
    """Whether the reply has one text of each list."""
    return all(any(stands_in(reply, one) for one in alternatives) for alternatives in answer)

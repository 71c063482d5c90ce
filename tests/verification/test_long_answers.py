"""What an answer may cost that is no answer: claims without number or end, and time."""

import subprocess
import sys
from collections.abc import Sequence

import pytest

from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.testing import FakeJudge
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.claims import LONGEST, split_claims
from cragraph.verification.judges import SLICE, JudgeChain
from cragraph.verification.judges.verdicts import verdict_of

PASSAGES = as_passages(["The river rose by ten metres in 1990."])


def claims(count: int) -> list[Claim]:
    return split_claims(" ".join(f"The river number {n} rose." for n in range(count)))


def test_of_too_many_claims_the_first_are_judged_and_it_is_said() -> None:
    judge, notes = FakeJudge({}), Notes()
    verdicts = JudgeChain([judge], most=3)(claims(5), PASSAGES, notes)
    assert [v["verdict"] == "unjudged" for v in verdicts] == [False] * 3 + [True] * 2
    [said] = notes.sentences
    assert said.startswith("Of 5 claims the first 3 were judged, the others are unjudged")
    assert verdicts[-1]["reasoning"] == "The answer has too many claims."


def test_a_claim_without_end_is_unjudged_and_it_is_said() -> None:
    text = f"The river rose{' and rose' * (LONGEST // 8)}."
    claim, notes = Claim(text=text, start=0, end=len(text), type="factual"), Notes()
    verdicts = JudgeChain([FakeJudge({})])([claim, *claims(1)], PASSAGES, notes)
    assert [v["verdict"] == "unjudged" for v in verdicts] == [True, False]
    assert any("1 claims have more than 2,000 characters and are unjudged" in said for said in notes.sentences)


class Apart:
    """A judge of claims each by itself, to which time passes while it judges."""

    name, one_by_one = "one by one", True

    def __init__(self) -> None:
        self.now = 0.0
        self.given: list[int] = []

    def clock(self) -> float:
        return self.now

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        self.given.append(len(claims))
        self.now += 50.0
        return [verdict_of(claim, "unsupported", 0.1, 0.0, None, "", self.name) for claim in claims]


def test_what_a_judge_has_judged_when_its_time_is_over_stands_and_another_goes_on() -> None:
    slow, quick, notes = Apart(), FakeJudge({}), Notes()
    chain = JudgeChain([slow, quick], timeout=90.0, clock=slow.clock)
    verdicts = chain(claims(SLICE * 3), PASSAGES, notes)
    assert slow.given == [SLICE, SLICE]
    assert [v["judge"] for v in verdicts].count("one by one") == 2 * SLICE
    assert [v["verdict"] for v in verdicts].count("unjudged") == 0
    assert notes.sentences[0] == "Judge 'one by one' was stopped (TimeoutError: no verdict within 90 s)."
    alone = JudgeChain([Apart()], timeout=0.0, clock=slow.clock)(claims(2), PASSAGES, Notes())
    assert {v["verdict"] for v in alone} == {"unjudged"}


SHAPES = """
import resource
resource.setrlimit(resource.RLIMIT_CPU, (100, 100))
from cragraph import verify
from cragraph.passages import as_passages

shapes = [
    "the river rose in 1990 and ", "It rose [1]. ", "[1]", "12, ", "- a river\\n", "| river | 12 |\\n", "河水在上涨",
    "On 5 May 1990, ", "The River Rose John Smith Met Anna ", "\\n", "1", "a", "(", '"', "#", "**", "not no never ",
    ". ", "e.g. ", "the river rose by ten metres in the year; ",
]
for shape in shapes:
    answer = "It rose. It was " + shape * (50_000 // len(shape)) + " so."
    verify(answer, ["The river rose by ten metres in 1990."], "What rose?", judge="lexical")
print("judged")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="bounds the processor time")
@pytest.mark.timeout(300)  # the process may compute for 100 seconds
def test_no_shape_of_an_answer_takes_more_than_its_length() -> None:
    done = subprocess.run([sys.executable, "-c", SHAPES], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "judged\n"), done.stderr[-500:]

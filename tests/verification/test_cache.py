import pytest

from cragraph.models.cache import LRU
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.testing import FakeJudge, quoted, verdict
from cragraph.types import Claim, Passage
from cragraph.verification.fallback import JudgeChain, relocated

PASSAGES = as_passages(["Gold shines.", "Lead is heavy."])


def claim(text: str, start: int = 0) -> Claim:
    return Claim(text=text, start=start, end=start + len(text), type="factual")


def test_a_claim_is_judged_once_for_the_same_passages() -> None:
    judge = FakeJudge({"Gold": 1.0})
    again = JudgeChain([judge], cache=LRU(10))
    first = again([claim("Gold shines.")], PASSAGES, Notes())
    second = again([claim("Gold shines.", 20), claim("Lead floats.", 40)], PASSAGES, Notes())
    assert judge.asked == ["Gold shines.", "Lead floats."]
    assert (second[0]["start"], second[0]["end"]) == (20, 32)
    assert first[0]["start"] == 0
    assert [v["verdict"] for v in second] == ["supported", "unsupported"]


@pytest.mark.parametrize(
    ("passages", "question", "type"),
    [
        (["Gold shines."], "", "factual"),
        (["Gold shines.", "Lead is heavy."], "Why?", "factual"),
        (None, "", "conditional"),
    ],
)
def test_other_passages_another_question_or_another_type_are_judged_anew(passages, question: str, type) -> None:
    judge = FakeJudge({"Gold": 1.0})
    again = JudgeChain([judge], cache=LRU(10))
    again([claim("Gold shines.")], PASSAGES, Notes())
    other = claim("Gold shines.")
    other["type"] = type
    again([other], as_passages(passages) if passages else PASSAGES, Notes(), question=question)
    assert len(judge.asked) == 2


def test_a_cached_verdict_points_at_the_chunk_by_its_present_id_and_moves_its_spans() -> None:
    old = verdict("unsupported", "Gold shines.", start=3, evidence=quoted(PASSAGES, 0))
    old["unsupported_spans"] = [(3, 7)]
    renamed: list[Passage] = [Passage(**(p | {"chunk_id": f"new-{n}"})) for n, p in enumerate(PASSAGES)]
    fresh = relocated(old, claim("Gold shines.", 10), renamed)
    assert fresh["evidence"] is not None
    assert fresh["evidence"]["chunk_id"] == "new-0"
    assert fresh["unsupported_spans"] == [(10, 14)]
    assert old["unsupported_spans"] == [(3, 7)]
    assert old["evidence"] is not None
    assert old["evidence"]["chunk_id"] == PASSAGES[0]["chunk_id"]

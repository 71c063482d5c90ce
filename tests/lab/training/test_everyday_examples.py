"""Made-up notices: what is asked and claimed of them is right as it is marked."""

from random import Random

from lab.training.judge.rows import SUPPORTED
from lab.training.reading.everyday import FRAMES, claims, notice, questions

MANY = 400


def test_every_frame_can_be_said_and_asked_in_several_ways() -> None:
    for frame in FRAMES:
        assert len(frame.says) >= 3
        assert len(frame.asks) >= 3
        assert all(("{a}" in way or "{A}" in way or "{a0}" in way) for way in (*frame.says, *frame.asks))
        assert all(way.count("{b}") + way.count("{B}") == 1 for way in frame.says)


def test_half_of_the_questions_are_answered_where_it_is_marked() -> None:
    made = list(questions(MANY, Random(1)))
    assert [e.answerable for e in made] == [True, False] * (MANY // 2)
    for example in made[::2]:
        [(start, end)], [(first, last)] = example.spans, example.evidence or ()
        assert first <= start < end <= last
        assert example.text[first:last].endswith((".", example.text[last - 1]))


def test_what_an_unanswered_question_asks_is_not_said() -> None:
    rng = Random(2)
    for _ in range(MANY):
        n = notice(rng)
        said = {(fact.frame, fact.key) for fact in n.facts}
        assert (n.main.frame, n.main.key) in said
        assert (n.main.frame, n.other) not in said
        assert (n.unsaid, n.main.key) not in said
        assert n.other.removeprefix("the ") in n.text, "whoever is asked about is spoken of"
        assert n.text[n.value : n.value + len(n.main.value)].lower() == n.main.value.lower()


def test_half_of_the_claims_hold_and_no_true_one_is_a_sentence_of_the_text() -> None:
    made = list(claims(MANY, Random(3)))
    assert [e.label == SUPPORTED for e in made] == [True, False] * (MANY // 2)
    copied = [e for e in made if e.label == SUPPORTED and e.passages[0].startswith(e.claim)]
    copied += [e for e in made if e.label == SUPPORTED and f". {e.claim}" in e.passages[0]]
    assert not copied

"""The rows that teach the judge what words mean together: who did what, plans, causes, answers to questions."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from lab.training.judge.asked import asked_examples, statement
from lab.training.judge.rows import SUPPORTED
from lab.training.judge.scenes import scene_examples
from lab.training.judge.turned import parts, turned_examples
from lab.training.judge.verbs import WORDNET, base_of, gerund, participle, past, third

needs_wordnet = pytest.mark.skipif(
    not (WORDNET / "index.verb").exists(), reason="WordNet is absent: install Debian's wordnet-base"
)


def test_forms_of_verbs() -> None:
    assert [past(v) for v in ("find", "stop", "carry", "bake", "play")] == [
        "found",
        "stopped",
        "carried",
        "baked",
        "played",
    ]
    assert [participle(v) for v in ("write", "drop", "rebuild")] == ["written", "dropped", "rebuilt"]
    assert [third(v) for v in ("go", "carry", "play", "have", "wash")] == ["goes", "carries", "plays", "has", "washes"]
    assert [gerund(v) for v in ("make", "run", "lie", "see", "read")] == [
        "making",
        "running",
        "lying",
        "seeing",
        "reading",
    ]


@needs_wordnet
def test_the_base_of_a_past_form() -> None:
    assert [base_of(p) for p in ("founded", "carried", "stopped", "sold", "table")] == [
        "found",
        "carry",
        "stop",
        "sell",
        None,
    ]


@needs_wordnet
@pytest.mark.parametrize(
    ("question", "answer", "said"),
    [
        ("When was the bridge rebuilt?", "1894", "the bridge was rebuilt in 1894"),
        ("Who wrote the first letter?", "Ada Stone", "Ada Stone wrote the first letter"),
        ("When did Ireland join the league?", "1923", "Ireland joined the league in 1923"),
        ("What does the old box contain?", "two letters", "the old box contains two letters"),
        ("How many people live in Oakham?", "4,200", "4,200 people live in Oakham"),
        ("In what city was the treaty signed?", "Ghent", "the treaty was signed in Ghent"),
        ("What is the capital of Peru?", "Lima", "the capital of Peru is Lima"),
        ("Why?", "rain", None),
    ],
)
def test_a_question_and_its_answer_become_a_statement(question: str, answer: str, said: str | None) -> None:
    assert statement(question, answer) == said


@needs_wordnet
def test_a_sentence_is_taken_apart_whichever_side_it_is_told_from() -> None:
    one = parts("John Smith founded the newspaper in 1901.")
    other = parts("The newspaper was founded by John Smith in 1901.")
    assert one is not None
    assert other is not None
    assert one[:2] == other[:2] == ("John Smith", "founded")
    assert parts("He founded the newspaper in 1901.") is None


@needs_wordnet
def test_turned_sentences_hold_and_swapped_ones_do_not() -> None:
    made = turned_examples([("Anna Stone defeated Carl Baker in the final. It rained.",)], 20, Random(3))
    true = {e.claim for e in made if e.label == SUPPORTED and "side" in e.source}
    false = {e.claim for e in made if "swapped" in e.source}
    assert any("Carl Baker was defeated by Anna Stone" in claim for claim in true)
    assert false
    assert all("Carl Baker defeated" in c or "Anna Stone was defeated" in c for c in false)


def test_made_up_documents_give_no_side_away_by_wording() -> None:
    made = scene_examples(4000, Random(5))
    words = {
        side: Counter(w for e in made if (e.label == SUPPORTED) is side for w in set(e.claim.lower().split()))
        for side in (True, False)
    }
    common = [w for w in words[True] | words[False] if words[True][w] + words[False][w] >= 60]
    assert len(common) > 20
    share = {w: words[True][w] / (words[True][w] + words[False][w]) for w in common}
    assert all(0.25 < value < 0.75 for value in share.values()), share


def test_the_marked_words_of_a_made_up_claim_lie_in_it() -> None:
    for example in scene_examples(2000, Random(7)):
        assert all(0 <= a < b <= len(example.claim) for a, b in example.spans or ())
        assert example.label == SUPPORTED or example.spans != ()


@pytest.mark.slow
@needs_wordnet
def test_questions_give_true_and_false_claims_with_the_same_words(data: Path) -> None:
    made = list(asked_examples(data / "qa" / "train", Random(3), share=0.02))
    kinds = Counter(e.source.split("/")[1] for e in made)
    assert kinds["asked"] > 100
    assert kinds["misasked"] > 100
    assert kinds["absent"] > 50
    assert all(e.label == SUPPORTED for e in made if "/asked/" in e.source)

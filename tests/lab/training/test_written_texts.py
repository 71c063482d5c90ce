"""Texts written for training: they keep to their form, are drawn as they are marked, and some are put aside."""

from pathlib import Path
from random import Random

import pytest

from lab.training.judge.rows import SUPPORTED
from lab.training.reading import written
from lab.training.reading.written import claims, enough, parsed, questions

TEXT = """## notice | a pool
The pool opens at six on weekdays. A lost key costs £12.
Mrs Ogden looks after the lockers.

+ Swimmers are let in early from Monday to Friday.
- The pool opens at six on Sundays.
~ Mrs Ogden has the keys.
? What do I owe if my key is gone? => £12
! What does a swim cost?
y Is it open at seven on a Monday? => yes
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "texts.txt"
    file.write_text(TEXT, encoding="utf-8")
    return file


def test_every_text_keeps_to_the_form_and_settles_as_many_claims_each_way() -> None:
    texts = [text for own in written.written() for text in own]
    marks = [mark for text in texts for mark, _ in text.claims]
    assert len(texts) > 400
    assert 0.8 < marks.count("+") / marks.count("-") < 1.25
    asked = [span for text in texts for _, span in text.asked]
    assert 0.8 < asked.count(None) / (len(asked) - asked.count(None)) < 1.25
    assert all(text.claims and text.asked for text in texts)


def test_a_text_is_read_as_it_is_marked(path: Path) -> None:
    [text] = parsed(path)
    assert text.text.endswith("lockers.")
    assert [mark for mark, _ in text.claims] == ["+", "-", "~"]
    [(_, span), (_, nowhere)] = text.asked
    assert text.text[slice(*(span or (0, 0)))] == "£12"
    assert nowhere is None
    assert text.polar == (("Is it open at seven on a Monday?", "yes"),)


@pytest.mark.parametrize("row", ["? Who? => Nobody there", "y Is it? => perhaps", "* A claim", "! Who? => £12"])
def test_a_row_out_of_form_is_named(path: Path, row: str) -> None:
    path.write_text(f"{TEXT}{row}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"texts\.txt, text 1 .*must be as in the form"):
        list(parsed(path))


def test_an_answer_is_found_among_other_texts(path: Path) -> None:
    files = [[*parsed(path), *parsed(path), *next(iter(written.written()))[:5]]]
    found = [e for seed in range(20) for e in questions(files, Random(seed)) if e.question.startswith("What do I owe")]
    assert len({e.text for e in found}) > 5
    assert {e.text[slice(*e.spans[0])] for e in found} == {"£12"}
    assert all("A lost key costs £12." in e.text[slice(*(e.evidence or ((0, 0),))[0])] for e in found)


def test_a_question_is_asked_of_a_part_of_its_text_too_under_what_the_text_is(path: Path) -> None:
    found = [e for seed in range(40) for e in questions([list(parsed(path))], Random(seed))]
    assert {e.heading for e in found} == {"", "notice", "a pool"}
    unanswered = {e.text for e in found if e.question == "What does a swim cost?"}
    assert len(unanswered) > 1, "it is asked of the whole text and of parts"
    assert all("A lost key costs £12." in text for text in unanswered), "the sentence that only seems to answer stays"


def test_yes_and_no_are_told_both(path: Path) -> None:
    told = {e.claim: e.label == SUPPORTED for e in claims([list(parsed(path))], Random(1))}
    asked = "Is it open at seven on a Monday?"
    assert (told[f"{asked} Yes."], told[f"{asked} No."]) == (True, False)


def test_nothing_is_learnt_of_the_texts_that_are_put_aside() -> None:
    aside = [text.text for own in written.written(aside=True) for text in own]
    drawn = "\n".join({e.text for e in enough(questions, 10**6, Random(1))})
    assert len(aside) > 40
    assert not [text for text in aside if text[:100] in drawn]

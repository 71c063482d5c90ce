"""What the reader learns from: ranges stay exact, and what no longer answers is marked so."""

from random import Random

import pytest

from lab.training.reader.made import Stock, changed, fragment, headed, negated, slipped, without_answer
from lab.training.reader.made_tables import table_example
from lab.training.reader.rows import READ, Example, elsewhere, examples_of, window

TEXT = "The Old Mill stands in Bergen. It was opened in 1904 by Anna Keller. Today it is a museum."
SPAN = (TEXT.index("1904"), TEXT.index("1904") + 4)
SENTENCE = (TEXT.index("It was"), TEXT.index(" Today"))
WHOLE = Example("When was the Old Mill opened?", TEXT, True, (SPAN,), (SENTENCE,))
STOCK = Stock({1: ["New Bridge", "Red Tower"]}, {})


def texts(example: Example) -> tuple[list[str], list[str]]:
    return (
        [example.text[a:b] for a, b in example.spans],
        [example.text[a:b] for a, b in example.evidence or ()],
    )


@pytest.mark.parametrize("seed", range(20))
def test_a_window_keeps_the_answer_and_its_sentence(seed: int) -> None:
    cut = window(WHOLE, SPAN, Random(seed))
    assert cut.text in TEXT
    assert texts(cut) == (["1904"], ["It was opened in 1904 by Anna Keller."])


@pytest.mark.parametrize("seed", range(20))
def test_a_name_changed_on_one_side_no_longer_answers_and_on_both_it_does(seed: int) -> None:
    made = changed(WHOLE, Random(seed), STOCK)
    assert made is not None
    both = made.question != WHOLE.question and made.text != WHOLE.text
    assert made.answerable is both
    spans, sentences = texts(made)
    assert spans == (["1904"] if both else [])
    assert [s.startswith("It was ") and s.endswith(" Keller.") for s in sentences] == ([True] if both else [])


def test_without_the_sentence_that_answers_nothing_does() -> None:
    made = without_answer(WHOLE, Random(0))
    assert made is not None
    assert not made.answerable
    assert "1904" not in made.text


def test_a_heading_alone_is_no_answer_and_before_one_takes_nothing_away() -> None:
    assert not fragment(WHOLE, Random(1)).answerable
    assert texts(headed(WHOLE, Random(1))) == (["1904"], ["It was opened in 1904 by Anna Keller."])


def test_a_negated_question_is_another_one() -> None:
    made = negated(WHOLE, Random(0))
    assert made is not None
    assert (made.question, made.answerable) == ("When was not the Old Mill opened?", False)


@pytest.mark.parametrize("seed", range(60))
def test_a_row_of_a_table_holds_its_answer_in_the_line_that_is_marked(seed: int) -> None:
    made = table_example(Random(seed))
    cells, lines = texts(made)
    assert bool(cells) is bool(lines) is made.answerable
    assert all(cell.strip() and cell in line for cell, line in zip(cells, lines, strict=True))


def test_a_slip_changes_one_or_two_words_and_keeps_the_others() -> None:
    said = slipped("When was the bridge opened?", Random(4)).split()
    same = sum(a == b for a, b in zip(said, ["When", "was", "the", "bridge", "opened?"], strict=True))
    assert 3 <= same < 5


def test_a_row_without_an_answer_gives_one_example_without_one() -> None:
    row = {"question": "Who owns it?", "passages": [TEXT], "answers": [], "answerable": False, "answer_start": None}
    [example] = examples_of(row, Random(0))
    assert (example.answerable, example.spans, example.evidence) == (False, (), ())


LONG = "\n".join(f"On day {n} the crew of hut {n} carried sacks of flour up to the pass." for n in range(40))
ANSWER = LONG.index("hut 20")
MARKED = (LONG.index("On day 20"), LONG.index("\nOn day 21"))
ASKED = Example("What did the crew of hut 20 carry?", LONG, True, ((ANSWER, ANSWER + 6),), (MARKED,))


@pytest.mark.parametrize("seed", range(20))
def test_what_answers_and_what_does_not_are_read_in_parts_of_the_same_lengths(seed: int) -> None:
    answered = window(ASKED, MARKED, Random(seed))
    unanswered = window(Example(ASKED.question, LONG, False), None, Random(seed))
    assert all(30 < len(part.text) <= READ for part in (answered, unanswered))


@pytest.mark.parametrize("seed", range(20))
def test_another_part_of_the_same_text_does_not_hold_the_answer(seed: int) -> None:
    other = elsewhere(ASKED, Random(seed))
    assert other is not None
    assert other.text in LONG
    assert "hut 20 " not in other.text
    assert (other.answerable, other.spans, other.evidence) == (False, (), ())


def test_a_text_that_answers_throughout_has_no_other_part() -> None:
    assert elsewhere(Example("When?", TEXT, True, (SPAN,), ((0, len(TEXT)),)), Random(0)) is None

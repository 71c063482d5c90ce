"""Sentences: what ends one and what does not, with exact offsets."""

# ruff: noqa: E501

from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cragraph.language.sentences import sentence_spans, sentences

# Each case is the list of its sentences; the text is those joined by a blank.
JOINED = {
    "two plain sentences": ["Sales rose.", "Costs fell."],
    "a country": ["The U.S. economy grew.", "It was strong."],
    "a country at the end": ["He lives in the U.S.", "He works there."],
    "a company inside": ["Apple Inc. sells phones.", "It is large."],
    "a company at the end": ["They bought Beats Inc.", "The price was high."],
    "a company with a comma": ["Alphabet Inc., Google's parent, grew.", "Its shares rose."],
    "for example": ["Use fruit, e.g. Apples or pears.", "Cook it."],
    "that is": ["The rest, i.e. Germany, agreed.", "France did not."],
    "a doctor": ["Dr. Smith met Mr. Jones.", "Mrs. Brown left."],
    "a professor with initials": ["Prof. J. R. Hill teaches.", "She is kind."],
    "a numbered thing": ["See No. 5 on the list.", "It is short."],
    "the answer no": ["No.", "The company did not pay."],
    "a figure": ["As Fig. 3 shows, it grew.", "Fig. 4 differs."],
    "a section and an item": ["Sec. 12 and Item 7A apply.", "Art. 5 does not."],
    "versus": ["Smith vs. Jones was heard.", "Jones won."],
    "and others": ["Vaswani et al. proposed it.", "BERT followed."],
    "and others with a year": ["Vaswani et al. (2017) proposed it.", "BERT followed."],
    "et cetera before a capital": ["Pens, ink, etc. are sold.", "The shop is open."],
    "a decimal": ["Pi is 3.14 or so.", "It is irrational."],
    "money": ["Revenue was $394.3 billion.", "Profit was $99.8 billion."],
    "a year at the end": ["It was founded in 1976.", "Jobs led it."],
    "initials": ["J. K. Rowling wrote it.", "George R. R. Martin did not."],
    "an initial before a surname": ["Philip K. Dick wrote Ubik.", "It sold well."],
    "an ellipsis that goes on": ["Well... perhaps it is so.", "Who knows?"],
    "an ellipsis that ends": ["He waited…", "Nobody came."],
    "a web address": ["See https://example.org/a.b?c=d.e for more.", "It is free."],
    "a web address at the end": ["See www.example.org.", "It is free."],
    "an e-mail address": ["Write to a.b@example.org today.", "We answer."],
    "a file name": ["Open setup.py and main.c now.", "Run them."],
    "a version": ["Python 3.11.4 is out.", "Node.js 20.1 too."],
    "a question": ["Did it rise?", "Yes, it did!"],
    "an exclamation with a question": ["Really?!", "Yes."],
    "a quotation kept whole": ['He said, "I came. I saw. I won." and left.', "We stayed."],
    "a quotation that ends the sentence": ['He said, "I came."', "Then he left."],
    "a curly quotation": ["“It works. I tried.” was the reply.", "Good."],
    "a question inside a quotation": ['"Is it so?" he asked.', "It was."],
    "a bracket kept whole": ["It rose (see p. 5. It is long) again.", "Then it fell."],
    "a bracketed sentence": ["It rose.", "(See the table.)", "It fell."],
    "a marker before the full stop": ["It rose [1].", "It fell [2]."],
    "a marker after the full stop": ["It rose. [1]", "It fell. [2]"],
    "a marker glued to the full stop": ["It rose.[1]", "It fell.[2][3]"],
    "several numbers in a marker": ["It rose. [1, 2]", "It fell. [3-5]"],
    "a named source as a marker": ["It rose. [Source: AAPL 10-Q]", "It fell. (Source: 2)"],
    "a raised footnote": ["It rose.¹", "It fell.²"],
    "a month cut short": ["It opened on Jan. 5 in Rome.", "It closed in Feb. 1999."],
    "a time of day": ["It opens at 9 a.m. Monday.", "It closes at 5 p.m.", "Tickets are cheap."],
    "a lower-case brand": ["Sales rose.", "iPhone sales fell.", "eBay did not."],
    "a writer without capitals": ["i do not know them.", "they were founded in 1990.", "it is old."],
    "emphasis": ["**Sales rose.**", "_Costs fell._"],
    "inline code": ["Call `a. B` first.", "Then stop."],
    "a degree": ["She holds a Ph.D. from Rome.", "He has an M.D."],
    "a saint": ["St. Paul is a city.", "Mt. Everest is not."],
    "a clause with steps": ["Steps: 1. Open it.", "2. Close it.", "Done."],
    "Chinese": ["第一句话。", "第二句话！"],
    "German ordinals": ["Am 3. Oktober 1990 war es so weit.", "Der 2. Weltkrieg war vorbei."],
    "German abbreviations": ["Es gibt z. B. Äpfel, bzw. Birnen.", "Das ist gut."],
    "German abbreviations without blanks": ["Es gibt z.B. Äpfel.", "Dr. Meier sagt das, d.h. Er weiß es."],
    "German quotation marks": ["„Es geht. Wirklich.“ sagte er.", "Gut."],
    "French": ["M. Dupont est là.", "Il est tard."],
    "French quotation marks": ["Il dit : « Je viens. Je vois. » et part.", "Bien."],
    "Hindi": ["यह पहला है।", "यह दूसरा है।"],
    "a company named with a mark": ["Yahoo! Inc. grew.", "It was sold."],
    "a roman numeral": ["See vol. II for this.", "It is long."],
    "approximately": ["It took approx. Five years.", "That is long."],
    "an estimate in brackets": ["It fell (est. 5%).", "It rose later."],
    "a ratio": ["The odds were 2.5:1.", "Nobody bet."],
}

# Texts whose line breaks matter, with their sentences.
LAID_OUT = {
    "a soft line break": ("Sales rose in the\nsecond quarter. Costs\nfell.", ["Sales rose in the\nsecond quarter.", "Costs\nfell."]),
    "a paragraph break": ("Sales rose\n\nCosts fell", ["Sales rose", "Costs fell"]),
    "a markdown heading": ("# Sales\nThey rose.", ["# Sales", "They rose."]),
    "a plain heading": ("Results of operations\nSales rose.", ["Results of operations", "Sales rose."]),
    "bullets": ("We sell:\n- pens\n* ink\n• paper", ["We sell:", "- pens", "* ink", "• paper"]),
    "a bullet of two sentences": ("- It rose. It fell.\n- It stayed.", ["- It rose.", "It fell.", "- It stayed."]),
    "a numbered list": ("1. Open it.\n2. Close it.\n10) Rest.", ["1. Open it.", "2. Close it.", "10) Rest."]),
    "lettered items": ("a) one\nb) two", ["a) one", "b) two"]),
    "an item that goes on": ("- It rose\n  in spring.\n- It fell.", ["- It rose\n  in spring.", "- It fell."]),
    "a table": ("| a | b |\n|---|---|\n| 1. | 2. X |", ["| a | b |", "|---|---|", "| 1. | 2. X |"]),
    "a table of columns": ("Net sales   394,328   365,817\nCost   223,546   212,981", ["Net sales   394,328   365,817", "Cost   223,546   212,981"]),
    "a code fence": ("Run this:\n```py\nx = 1. \nY = 2\n```\nDone.", ["Run this:", "```py\nx = 1. \nY = 2\n```", "Done."]),
    "an open code fence": ("```\nOne. Two.", ["```", "One.", "Two."]),
    "a quoted block": ("> It rose\n> again. It fell.\nSo be it.", ["> It rose\n> again.", "It fell.", "So be it."]),
    "a bold heading": ("**Sales**\nThey rose.", ["**Sales**", "They rose."]),
    "a rule": ("It rose.\n---\nIt fell.", ["It rose.", "---", "It fell."]),
    "Japanese without blanks": ("これは文です。次の文です！「はい。」終わり", ["これは文です。", "次の文です！", "「はい。」", "終わり"]),
    "no blank between sentences": ("The company grew.The end came.", ["The company grew.", "The end came."]),
    "a list of references": ("[1] A. Smith, Title. 2020.\n[2] B. Jones.", ["[1] A. Smith, Title.", "2020.", "[2] B. Jones."]),
    "carriage returns": ("It rose.\r\nIt fell.\r\n", ["It rose.", "It fell."]),
    "nothing": ("", []),
    "only blanks": (" \n\t\n ", []),
}  # fmt: skip


@pytest.mark.parametrize("expected", JOINED.values(), ids=JOINED)
def test_a_line_is_split_into_its_sentences(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


@pytest.mark.parametrize(("text", "expected"), LAID_OUT.values(), ids=LAID_OUT)
def test_a_layout_is_split_into_its_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_there_are_at_least_sixty_cases() -> None:
    assert len(JOINED) + len(LAID_OUT) >= 60


ANY_TEXT = st.text(max_size=300) | st.lists(
    st.sampled_from(
        [
            *"abXY1.!?…。()[]\"'“”„«»`*_|#->\n\t ",
            "Dr. ",
            "U.S. ",
            "[1]",
            "e.g. ",
            ". ",
            "```",
            "3.",
            " The ",
            "\n\n",
            "- ",
        ]
    ),
    max_size=60,
).map("".join)


@given(ANY_TEXT)
@settings(max_examples=400, deadline=None)
def test_spans_are_ordered_and_disjoint_and_cover_all_that_is_not_blank(text: str) -> None:
    spans = sentence_spans(text)
    at = 0
    for start, end in spans:
        assert at <= start < end <= len(text)
        assert not text[at:start].strip()
        assert text[start:end] == text[start:end].strip()
        at = end
    assert not text[at:].strip()


WORDS = st.sampled_from(
    ["Sales", "rose", "in", "the", "U.S.", "Dr.", "Smith", "[1]", "3.14", "(so)", '"Yes."', "1990", "fell"]
)
ONE_LINE = st.lists(st.lists(WORDS, min_size=2, max_size=8).map(" ".join), min_size=1, max_size=5).map(
    lambda parts: ". ".join(parts) + "."
)


@given(ONE_LINE)
@settings(max_examples=200, deadline=None)
def test_a_sentence_is_not_split_again(text: str) -> None:
    for sentence in sentences(text):
        assert sentences(sentence) == [sentence]


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["Apple Inc. sold $1.5 bn (see p. 5) in the U.S. [1]. ", "(", '"a ', "[1, ", "``", "(a (b", "1. ", "- a\n"]
)
def test_a_long_text_takes_time_in_proportion_to_its_length(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        times = []
        for _ in range(3):
            start = process_time()
            sentence_spans(text)
            times.append(process_time() - start)
        return min(times)

    # Ten times the text takes ten times the work, not a hundred times; what is too short to time is no offence.
    assert seconds(200_000) < 40 * max(seconds(20_000), 0.002)

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from cragraph.answers.extractive import ExtractiveGenerator
from cragraph.answers.ranking import AnswerRanker
from cragraph.models.cache import LRU
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.models.reader import Key, Reader
from cragraph.passages import as_passages
from cragraph.protocols import Brief, Notes
from cragraph.types import IDK, Verdict
from tests.support.cases import cases

FILING = (
    "# Apple Inc.\n\nApple designs phones.\n\n| | 2023 | 2022 |\n|---|---|---|\n| (in millions) | | |\n"
    "| Total net sales | $383,285 | $394,328 |\n| Cost of sales | 214,137 | 223,546 |\n"
)
COOK = "Tim Cook became chief executive in August 2011. He had joined Apple in 1998 from Compaq."
SALES = (
    "What do customers say about net sales? iPhone net sales fell because demand in China weakened. "
    "Net sales of services are shown below."
)
PASSAGES = as_passages([FILING, COOK, SALES])


@pytest.fixture(scope="module")
def generator() -> ExtractiveGenerator:
    return ExtractiveGenerator(AnswerRanker(Reader(threads=1), EmbeddedEncoder(threads=1)))


def ask(generator: ExtractiveGenerator, question: str, passages: Sequence[object] = PASSAGES) -> str:
    return generator(Brief(question, as_passages(passages)), Notes())


def failed(answer: str, text: str) -> Verdict:
    start = answer.index(text)
    return Verdict(
        text=text,
        start=start,
        end=start + len(text),
        type="factual",
        verdict="unsupported",
        support=0.1,
        contradiction=0.0,
        evidence=None,
        reasoning="",
        judge="fake",
    )


def test_a_second_reading_puts_the_sentence_first_that_answers_in_its_place() -> None:
    text = "The kiln is fired by Ola on Mondays. Ola and Per fire the kiln together when it is large."
    read: list[Sequence[Key]] = []

    def rereads(keys: Sequence[Key]) -> list[float]:
        read.append(keys)
        return [9.0 if "together" in claim else -9.0 for claim, _, _ in keys]

    first, failing = ({"rereads": one} for one in (rereads, lambda keys: 1 / 0))
    ranker = AnswerRanker(Reader(threads=1), EmbeddedEncoder(threads=1))
    passages = as_passages([{"text": text, "source": "kiln.md"}])
    before, after, failed = (
        replace(ranker, known=LRU(2), **more)("Who fires the kiln?", passages) for more in ({}, first, failing)
    )
    assert "together" not in before.scored[0].candidate.text
    assert "together" in after.scored[0].candidate.text
    assert [(claim.partition("? ")[2] in text, heading, around) for claim, heading, around in read[0]] == [
        (True, "kiln", text)
    ] * 2
    assert failed.scored == before.scored
    assert "second reading failed" in failed.degraded


WALK = (
    {"text": "# Programme, 3 May 2024\n\nThe walk is led by Ada Lund.", "source": "programme.md"},
    {"text": "# Report, 4 June 2024\n\nThe walk was led by Per Holm, since Ada was ill.", "source": "report.md"},
)


ADA, PER = "The walk is led by Ada Lund. [1]", "The walk was led by Per Holm, since Ada was ill. [2]"


@pytest.mark.parametrize(
    ("odds", "said"),
    [
        ({"Ada": 5.0, "Per": 6.0}, PER),  # the other is of an older document
        ({"Ada": 5.0, "Per": 4.8}, PER),  # as good, and later
        ({"Ada": 5.0, "Per": -5.0}, f"{ADA} {PER}"),  # what is later may change the answer
        ({"Ada": 1.0, "Per": 1.5}, f"{ADA} {PER}"),  # neither is sure
        ({}, f"{ADA} {PER}"),  # not read
    ],
)
def test_a_sentence_of_an_older_document_goes_where_a_later_one_surely_answers(
    odds: dict[str, float], said: str
) -> None:
    def rereads(keys: Sequence[Key]) -> list[float]:
        return [odds["Per" if "Per Holm" in claim else "Ada"] for claim, _, _ in keys]

    ranker = AnswerRanker(Reader(threads=1), EmbeddedEncoder(threads=1), rereads=rereads)
    assert ask(ExtractiveGenerator(ranker), "Who leads the walk?", WALK) == said


@pytest.mark.parametrize(("question", "answer"), cases("answers/extractive", "it quotes the sentence"))
def test_it_quotes_the_sentence_or_row_that_answers(generator: ExtractiveGenerator, question: str, answer: str) -> None:
    assert ask(generator, question) == answer


def test_every_quotation_stands_word_for_word_in_the_passage_it_cites(generator: ExtractiveGenerator) -> None:
    for question in ("What does Apple design?", "Why did iPhone net sales fall?", "What did Tim Cook become?"):
        said = ask(generator, question)
        assert said != IDK
        for line in said.splitlines():
            for part in line.split("] "):
                quote, _, number = part.removesuffix("]").rpartition(" [")
                if number:
                    assert quote in PASSAGES[int(number) - 1]["text"]


@pytest.mark.parametrize(("question", "passage", "said"), cases("answers/extractive", "the sentence behind comes"))
def test_the_sentence_behind_comes_along_where_the_first_only_names_the_thing(
    generator: ExtractiveGenerator, question: str, passage: str, said: str
) -> None:
    assert ask(generator, question, [passage]) == said


def test_a_second_pass_keeps_what_was_supported_and_cites_it_by_its_new_number(
    generator: ExtractiveGenerator,
) -> None:
    previous = "Tim Cook became chief executive in August 2011. [1] He founded Compaq. [1]"
    brief = Brief("Who is Tim Cook?", PASSAGES, previous, [failed(previous, "He founded Compaq.")])
    said = generator(brief, Notes())
    assert said.startswith("Tim Cook became chief executive in August 2011. [2]")
    assert "founded" not in said


FAQ = """# Questions we are often asked

### How do I pay?

By card or in cash at the desk. We send no invoices.

### Do you treat snakes?

No. The nearest practice for reptiles is Oakfield in Harston.
"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How can I pay?", "By card or in cash at the desk. [1] We send no invoices. [1]"),
        ("Are snakes treated here?", "No. [1] The nearest practice for reptiles is Oakfield in Harston. [1]"),
        ("Do you treat cats?", IDK),
    ],
)
@pytest.mark.parametrize("mark", ["### ", ""], ids=["headings", "lines"])
def test_a_question_in_the_text_heads_the_answer_below_it(
    generator: ExtractiveGenerator, question: str, answer: str, mark: str
) -> None:
    assert ask(generator, question, [FAQ.replace("### ", mark)]) == answer
    # Bold questions, each with its answer on the next line, are how most people write such a list.
    bold = re.sub(r"(?m)^### (.*)\n\n", r"**\1**\n", FAQ)
    assert ask(generator, question, [bold]) == answer


def test_a_list_is_quoted_with_the_line_above_it(generator: ExtractiveGenerator) -> None:
    camp = "Please bring to the camp:\n\n- a sleeping bag\n- rubber boots\n- a torch\n\nTelephones stay at home."
    said = ask(generator, "What do I have to bring to the camp?", [camp])
    assert said == "Please bring to the camp:\n- a sleeping bag\n- rubber boots\n- a torch [1]"


def test_of_two_lists_the_row_of_the_newer_one_is_quoted_unless_a_year_is_asked_for(
    generator: ExtractiveGenerator,
) -> None:
    lists = [
        {"text": f"Item: Latte | Price £: {price} | Size: regular | Remarks: {remark}", "source": f"prices-{year}.csv"}
        for year, price, remark in ((2024, "2.70", "oat milk 30p extra"), (2025, "3.10", "oat milk no extra"))
    ]
    for question, price in ("what's a latte now", "3.10"), ("what was a latte in 2024", "2.70"):
        assert price in ask(generator, question, lists)

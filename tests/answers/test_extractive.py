import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from cragraph.answers.extractive import ExtractiveGenerator
from cragraph.answers.ranking import AnswerRanker
from cragraph.language.quotes import find
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.models.reader import Reader
from cragraph.passages import as_passages
from cragraph.protocols import Brief, Notes
from cragraph.types import IDK, Verdict

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


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When did Tim Cook become chief executive?", "Tim Cook became chief executive in August 2011. [2]"),
        ("Who is the chief executive?", "Tim Cook became chief executive in August 2011. [2]"),
        ("Why did iPhone net sales fall?", "iPhone net sales fell because demand in China weakened. [3]"),
        (
            "What was the cost of sales in 2023?",
            "| | 2023 | 2022 | [1]\n| Cost of sales | 214,137 | 223,546 | [1]",
        ),
    ],
)
def test_it_quotes_the_sentence_or_row_that_answers(generator: ExtractiveGenerator, question: str, answer: str) -> None:
    assert ask(generator, question) == answer


def test_a_sentence_that_begins_with_a_pronoun_comes_with_the_one_it_points_to(
    generator: ExtractiveGenerator,
) -> None:
    said = ask(generator, "From which company did Cook join Apple in 1998?")
    assert said == "Tim Cook became chief executive in August 2011. [2] He had joined Apple in 1998 from Compaq. [2]"


@pytest.mark.parametrize(
    "question",
    ["How tall is the Eiffel Tower?", "What is the capital of France?", "Who wrote Hamlet?", "", "???"],
)
def test_it_abstains_when_nothing_answers(generator: ExtractiveGenerator, question: str) -> None:
    assert ask(generator, question) == IDK


@pytest.mark.parametrize("passages", [[], [""], ["# Heading"], ["Why is the sky blue?"]])
def test_passages_without_a_statement_answer_nothing(generator: ExtractiveGenerator, passages: list[str]) -> None:
    assert ask(generator, "Why is the sky blue?", passages) == IDK


def test_a_sentence_that_only_restates_the_question_is_not_its_answer(generator: ExtractiveGenerator) -> None:
    passages = [
        "The question is when the bridge was opened. The bridge was opened.",
        "After six years of work, the bridge was opened to traffic on 3 May 1932 by the mayor.",
    ]
    assert ask(generator, "When was the bridge opened?", passages) == f"{passages[1]} [2]"


def test_every_quotation_stands_word_for_word_in_the_passage_it_cites(generator: ExtractiveGenerator) -> None:
    for question in ("What does Apple design?", "Why did iPhone net sales fall?", "What did Tim Cook become?"):
        said = ask(generator, question)
        assert said != IDK
        for line in said.splitlines():
            for part in line.split("] "):
                quote, _, number = part.removesuffix("]").rpartition(" [")
                if number:
                    assert quote in PASSAGES[int(number) - 1]["text"]


def test_what_two_passages_share_is_said_once(generator: ExtractiveGenerator) -> None:
    assert ask(generator, "When did Tim Cook become chief executive?", [COOK, COOK]).count("August 2011") == 1


def test_no_more_sentences_than_asked_for(generator: ExtractiveGenerator) -> None:
    causes = (
        "Sales fell because of heavy rain in the harvest season. Sales fell due to new tariffs on imported steel. "
        "Sales fell since dock workers went on strike for three weeks. Sales fell because a recall closed two plants."
    )
    few = replace(generator, max_sentences=2)
    assert 1 <= ask(few, "Why did sales fall?", [causes]).count("[1]") <= 2


def test_two_passages_that_give_different_answers_are_both_quoted(generator: ExtractiveGenerator) -> None:
    passages = ["The Old Mill was opened in 1904.", "Our records say that the Old Mill was opened in 1911."]
    said = ask(generator, "When was the Old Mill opened?", passages)
    assert "1904. [1]" in said
    assert "1911. [2]" in said


def test_a_question_in_a_language_that_the_reader_does_not_know_is_answered_by_words_and_that_is_said(
    generator: ExtractiveGenerator,
) -> None:
    notes = Notes()
    passages = as_passages(
        ["Die Bäckerei öffnet um sechs Uhr. Sie ist am Sonntag geschlossen.", "Das Rathaus ist neu."]
    )
    said = generator(Brief("Wann öffnet die Bäckerei?", passages), notes)
    assert said == "Die Bäckerei öffnet um sechs Uhr. [1]"
    [sentence] = notes.sentences
    assert sentence.startswith("The question is in German, which the built-in networks do not read")


def test_a_page_in_another_language_is_not_read_beside_english_ones(generator: ExtractiveGenerator) -> None:
    german = "Die Bäckerei Bakery Hill wurde im Jahr 1931 von Karl Moser eröffnet und hat nur sonntags geschlossen."
    assert ask(generator, "Who opened the bakery Bakery Hill?", [german, "The bus stops at the church."]) == IDK


def test_a_list_is_quoted_with_the_line_above_it(generator: ExtractiveGenerator) -> None:
    camp = "Please bring to the camp:\n\n- a sleeping bag\n- rubber boots\n- a torch\n\nTelephones stay at home."
    said = ask(generator, "What do I have to bring to the camp?", [camp])
    assert said == "Please bring to the camp:\n- a sleeping bag\n- rubber boots\n- a torch [1]"


def test_a_sentence_with_a_pronoun_inside_comes_with_the_one_it_points_to(generator: ExtractiveGenerator) -> None:
    keys = "The spare keys hang in the red box. Martin has them on weekends. The coffee machine is new."
    said = ask(generator, "Who has the spare keys?", [keys])
    assert said == "The spare keys hang in the red box. [1] Martin has them on weekends. [1]"


@pytest.mark.parametrize(
    ("question", "passage", "said"),
    [
        (
            "How do I order a key?",
            "A key can be ordered all year. For this, write to the porter and name your room. Lost keys cost £20.",
            "A key can be ordered all year. [1] For this, write to the porter and name your room. [1]",
        ),
        (
            "Who drives the minibus?",
            "# Minibus\n\nThe minibus is driven by one of our volunteers. This month it is Sam Oduya. Fuel is dear.",
            "The minibus is driven by one of our volunteers. [1] This month it is Sam Oduya. [1]",
        ),
        (
            "Who drives the minibus?",
            "The minibus is driven by Sam Oduya. It is blue. Fuel is paid by the club.",
            "The minibus is driven by Sam Oduya. [1]",
        ),
    ],
)
def test_the_sentence_behind_comes_along_where_the_first_only_names_the_thing(
    generator: ExtractiveGenerator, question: str, passage: str, said: str
) -> None:
    assert ask(generator, question, [passage]) == said


def test_each_part_of_a_question_is_answered_from_its_own_file(generator: ExtractiveGenerator) -> None:
    choir, organ = "The choir meets at half past eight. Tea is served.", "The organ is played by Ruth Amery."
    said = ask(generator, "When does the choir meet and who plays the organ?", [organ, choir])
    assert said == "The choir meets at half past eight. [2] The organ is played by Ruth Amery. [1]"


def test_of_two_answers_the_newer_comes_first(generator: ExtractiveGenerator) -> None:
    old, new = (
        {"text": text, "source": source}
        for text, source in (
            ("The choir rehearses on Wednesday in the parish hall.", "faq.md"),
            ("From 1 May the choir rehearses on Thursday instead of Wednesday.", "minutes.md"),
        )
    )
    for passages, first, second in ((old, new), 2, 1), ((new, old), 1, 2):
        said = ask(generator, "On which day does the choir rehearse?", passages)
        assert said == f"{new['text']} [{first}] {old['text']} [{second}]"


def test_a_second_pass_does_not_repeat_what_failed(generator: ExtractiveGenerator) -> None:
    previous = "iPhone net sales fell because demand in China weakened. [1]"
    claim = "iPhone net sales fell because demand in China weakened."
    wider = as_passages([*PASSAGES, "iPhone net sales fell since a strike closed two plants."])
    brief = Brief("Why did iPhone net sales fall?", wider, previous, [failed(previous, claim)])
    said = generator(brief, Notes())
    assert claim not in said
    assert "a strike closed two plants. [4]" in said


def test_a_second_pass_keeps_what_was_supported_and_cites_it_by_its_new_number(
    generator: ExtractiveGenerator,
) -> None:
    previous = "Tim Cook became chief executive in August 2011. [1] He founded Compaq. [1]"
    brief = Brief("Who is Tim Cook?", PASSAGES, previous, [failed(previous, "He founded Compaq.")])
    said = generator(brief, Notes())
    assert said.startswith("Tim Cook became chief executive in August 2011. [2]")
    assert "founded" not in said


def test_what_no_passage_carries_is_not_kept(generator: ExtractiveGenerator) -> None:
    previous = "Gravity bends light. Cook is tall."
    brief = Brief("How tall is the Eiffel Tower?", PASSAGES, previous, [failed(previous, "Cook is tall.")])
    assert generator(brief, Notes()) == IDK


def test_the_same_brief_always_gets_the_same_answer(generator: ExtractiveGenerator) -> None:
    assert len({ask(generator, "How did net sales develop?") for _ in range(3)}) == 1


def test_line_breaks_inside_a_sentence_are_not_quoted_and_the_quote_is_still_found(
    generator: ExtractiveGenerator,
) -> None:
    passage = "Tim Cook became chief\nexecutive in\nAugust 2011."
    said = ask(generator, "When did Tim Cook become chief executive?", [passage])
    assert said == "Tim Cook became chief executive in August 2011. [1]"
    assert find(said.removesuffix(" [1]"), passage) == (0, len(passage))


def test_the_row_and_year_asked_for_win_over_sentences_on_shares_and_changes(generator: ExtractiveGenerator) -> None:
    passages = [
        "Total revenues increased by $19,002 million in 2021. The government made up 13% of total revenues in 2021.",
        "(MILLIONS) | 2021 | 2020\nRevenues from services | 2021: $7 | 2020: $8\nTotal revenues | 2021: $81,288 | "
        "2020: $41,651\n",
    ]
    said = ask(generator, "What were Acme's total revenues in 2021?", [f"Acme. {text}" for text in passages])
    assert "$81,288" in said
    assert "13%" not in said
    assert "19,002" not in said


def test_it_abstains_rather_than_quote_what_only_points_elsewhere(generator: ExtractiveGenerator) -> None:
    passage = "See “Item 10. Directors, Executive Officers” in Part III."
    assert ask(generator, "Where are Acme's corporate offices located?", [passage]) == IDK


FAQ = """# Questions we are often asked

### How do I pay?

By card or in cash at the desk. We send no invoices.

### Do you treat snakes?

No. The nearest practice for reptiles is Oakfield in Harston.
"""
LETTER = (
    "Could you send me the code of the new room. I would like to know whether the projector stays in the hall over "
    "the summer. We would also be glad if the blinds were repaired before the concert on 12 June.\n\n"
    "Is the heating switched off in August?\n\nThe piano was tuned on 4 May by Mr Bell."
)


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


@pytest.mark.parametrize(
    "question",
    [
        "Does the projector stay in the hall over the summer?",
        "What is the code of the new room?",
        "Is the heating switched off in August?",
    ],
)
def test_what_is_asked_in_a_letter_answers_nothing(generator: ExtractiveGenerator, question: str) -> None:
    assert ask(generator, question, [LETTER]) == IDK


def test_a_wish_answers_who_asks_for_it(generator: ExtractiveGenerator) -> None:
    assert "before the concert on 12 June" in ask(generator, "When do they want the blinds repaired?", [LETTER])

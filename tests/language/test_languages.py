import pytest

from cragraph.language.languages import UNREAD, language_of, seems_english, unread


@pytest.mark.parametrize(
    "text",
    [
        "The mill was opened by the city in 1820.",
        "Karl Seitz, Annelise van der Pol and Los Angeles",
        "Published 8:51 p.m. ET | Updated 10:25 p.m. ET",
        "$ million | 2019 | 2018 | Change (%) per share",
        "Revenue rose.",
        "12.5 %",
        "Los Angeles won.",
        "Penélope Cruz agreed.",
        "How many pieces in Les Plaisirs et les Jours?",
        "Did the man die in the war?",
        "Was Karl an admiral?",
        "Chi-Square Quantiles (Algorithm C451)",
        'She said "nicht für mich" and left.',
        "The Dome of the Rock (Arabic: قبة الصخرة) stands in the old city.",
        "for i in range(10): print(i)",
        "SELECT name FROM person WHERE id = 7",
        "Fees?",
        "",
    ],
)
def test_english_and_what_has_no_small_words_is_taken_for_english(text: str) -> None:
    assert seems_english(text)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Die Mühle wurde im Jahr 1820 von der Stadt eröffnet.", "German"),
        ("Le moulin a été ouvert par la ville en 1820 et les habitants sont venus.", "French"),
        ("El molino fue abierto por los vecinos de la ciudad.", "Spanish"),
        ("Il mulino è stato aperto dalla città nel 1820 per gli abitanti.", "Italian"),
        ("O moinho foi aberto em 1820 e não tem mais uma porta.", "Portuguese"),
        ("De molen werd in 1820 door het dorp geopend en is niet gesloten.", "Dutch"),
        ("Das Geschäft ist sonntags geschlossen.", "German"),
        ("Sie verkauft Möbel.", "German"),
        ("Les employés ont 30 jours.", "French"),
        ("물레방아는 1820년에 문을 열었다.", "Korean"),
        ("너 The Firm 읽어 봤어?", "Korean"),
        ("水車は1820年に開かれた。", "Japanese"),
        ("水磨坊于1820年开放。", "Chinese"),
        ("Мельница была открыта в 1820 году.", "a language in Cyrillic script"),
    ],
)
def test_other_languages_are_told_from_english(text: str, language: str) -> None:
    assert language_of(text) == language
    assert not seems_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "Wie alt muss man sein?",
        "In welchem Jahr starb Tesla?",
        "Was ist verboten?",
        "수강료는 얼마입니까?",
        "¿Cuánto cuesta?",
        "Quand part le train?",
    ],
)
def test_a_short_question_in_another_language_is_known_by_the_word_that_opens_it(text: str) -> None:
    assert not seems_english(text)


GERMAN = "Die Bäckerei ist am Sonntag nicht geöffnet."
ENGLISH = "The bakery is closed on Sundays."


def test_what_was_not_read_is_said_with_what_reads_it() -> None:
    said = unread("Wann öffnet die Bäckerei?", [GERMAN])
    assert said == (
        f"The question is in German, {UNREAD}: only shared words were compared. A chat model that knows German reads "
        "it: set one as `model`."
    )


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ([GERMAN], "The passages that were found are in German, "),
        ([GERMAN, ENGLISH], "1 of the 2 passages that were found is in German, "),
        ([GERMAN, ENGLISH, "El molino fue abierto por los vecinos de la ciudad."], "2 of the 3 passages that were"),
        ([ENGLISH, "12 | 13"], ""),
        ([], ""),
    ],
)
def test_to_an_english_question_the_passages_that_are_not_are_counted(texts: list[str], said: str) -> None:
    assert unread("When does the bakery open?", texts)[: len(said) or None] == said

import pytest

from cragraph.text.lexicon import seems_english


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
        "",
    ],
)
def test_english_and_what_has_no_small_words_is_taken_for_english(text: str) -> None:
    assert seems_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "Die Mühle wurde im Jahr 1820 von der Stadt eröffnet.",
        "Le moulin a été ouvert par la ville en 1820 et les habitants sont venus.",
        "El molino fue abierto por los vecinos de la ciudad.",
        "Il mulino è stato aperto dalla città nel 1820 per gli abitanti.",
        "O moinho foi aberto em 1820 e não tem mais uma porta.",
        "De molen werd in 1820 door het dorp geopend en is niet gesloten.",
        "Das Geschäft ist sonntags geschlossen.",
        "Sie verkauft Möbel.",
        "Les employés ont 30 jours.",
    ],
)
def test_other_languages_are_told_from_english(text: str) -> None:
    assert not seems_english(text)


@pytest.mark.parametrize(
    "text", ["Wie alt muss man sein?", "수강료는 얼마입니까?", "¿Cuánto cuesta?", "Quand part le train?"]
)
def test_a_short_question_in_another_language_is_known_by_the_word_that_opens_it(text: str) -> None:
    assert not seems_english(text)

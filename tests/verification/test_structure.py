"""What a claim puts together otherwise than the passages do is found, and faithful rewording is not taken for it."""

import pytest

from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.types import Claim, Verdict
from cragraph.verification.judges.lexical import LexicalJudge
from cragraph.verification.judges.structure import mismatch

OBSERVATORY = (
    "The Linden observatory was designed by Marta Kovac and built between 1958 and 1961. Its first director, "
    "Owen Price, bought the telescope from a college in Spain. The observatory intends to install an antenna next "
    "year. It is open to visitors on Fridays; only members may use the telescope. Some of the rooms have a balcony."
)
FERRIES = (
    "Two ferries serve the island. The Gannet carries 320 passengers and takes 50 minutes; the Petrel carries 180 "
    "passengers but needs only 35 minutes. Fares went up in 2023 because fuel had become dearer. In winter the Petrel "
    "does not sail, since the harbour often freezes. The council rejected a proposal by the company."
)
BAKERY = (
    "Rye bread is made with sourdough and keeps for a week; wheat bread is made with yeast and keeps for two days. The "
    "wholesaler Kemper supplies the flour, and the farm Aldous supplies the eggs. The bakery won the county prize in "
    "2018 and came second in 2020. The number of shops rose from 12 to 18. Samuel Idowu led the bakery until 2009, "
    "when he was succeeded by Grete Halvorsen."
)

MISMATCHES = [
    (OBSERVATORY, "Marta Kovac was the first director.", "of another"),
    (OBSERVATORY, "The observatory has installed an antenna.", "a plan"),
    (OBSERVATORY, "Every room has a balcony.", "goes beyond"),
    (FERRIES, "The Petrel carries more passengers than the Gannet.", "figures"),
    (FERRIES, "The Gannet is quicker than the Petrel.", "figures"),
    (FERRIES, "Fuel became dearer because fares went up.", "exchanged"),
    (FERRIES, "Fares went up because the harbour freezes.", "another cause"),
    (FERRIES, "The company rejected a proposal by the council.", "exchanged"),
    (FERRIES, "In winter the Gannet does not sail.", "of another"),
    (BAKERY, "Wheat bread is made with sourdough.", "of another"),
    (BAKERY, "The farm Aldous supplies the flour.", "of another"),
    (BAKERY, "The bakery won the county prize in 2020.", "something else"),
    (BAKERY, "Wheat bread keeps longer than rye bread.", "figures"),
    (BAKERY, "The number of shops doubled.", "1.5 times"),
    (BAKERY, "Samuel Idowu succeeded Grete Halvorsen.", "exchanged"),
    ("The club paid all of it except the deposit.", "The club paid the whole of it.", "makes an exception"),
    ("The attic may be let only if the owner consents.", "The attic may be let without consent.", "“without consent”"),
    ("Pull it out with tweezers. No oil, no glue.", "It is pulled out with oil.", "says “No oil”"),
    ("Maisie saw the leak and told Piet, who rang the plumber.", "Piet saw the leak.", "of another"),
    ("Maisie saw the leak. Piet rang the plumber.", "The leak was seen by Piet.", "of another"),
    ("Ada will lend her wooden loom, and Ben will bring his metal loom.", "Ada will lend her metal loom.", "else"),
    ("A kiosk is to open in the old mill next year.", "A kiosk has opened in the old mill.", "a plan"),
    ("The club may move to the barn if it is dry.", "The club has moved to the barn.", "what may be"),
    ("The night fan is quieter than the day fan.", "The night fan is louder than the day fan.", "turned round"),
    ("For want of pupils, the school was shut. The mill closed.", "The school was shut because the mill closed.",
     "another cause"),
    ("Let it stand for an hour so that the oil can settle.", "Let it stand for an hour so that the filter can dry.",
     "another purpose"),
    ("Cats are allowed, dogs are not.", "Dogs are allowed, cats are not.", "not the cats"),
]  # fmt: skip

FAITHFUL = [
    (OBSERVATORY, "Owen Price was the first director of the Linden observatory."),
    (OBSERVATORY, "The telescope was acquired by Owen Price from a Spanish college."),
    (OBSERVATORY, "An antenna is planned for next year."),
    (OBSERVATORY, "Only members are allowed to use the telescope."),
    (FERRIES, "The Gannet carries more passengers than the Petrel."),
    (FERRIES, "The Gannet can hold more passengers than the Petrel."),
    (FERRIES, "The Petrel is faster than the Gannet."),
    (FERRIES, "Dearer fuel led to higher fares in 2023."),
    (FERRIES, "As the harbour often freezes, the Petrel stays in port in winter."),
    (FERRIES, "The company's proposal was turned down by the council."),
    (BAKERY, "Rye bread keeps longer than wheat bread."),
    (BAKERY, "The flour is supplied by the wholesaler Kemper."),
    (BAKERY, "In 2018 the county prize was won by the bakery."),
    (BAKERY, "Grete Halvorsen took over from Samuel Idowu in 2009."),
    (BAKERY, "The bakery was runner-up in 2020."),
    ("The club paid all of it except the deposit.", "The club paid all of it apart from the deposit."),
    ("The attic may be let only if the owner consents.", "The attic may not be let without consent of the owner."),
    ("Entry is free for members; no ticket is needed.", "Entry for members is free without a ticket."),
    ("No oil, no glue.", "Neither oil nor glue may be used."),
    ("Maisie saw the leak and told Piet, who rang the plumber.", "Maisie saw the leak."),
    ("Dawn: A Poem of the Sea is a film produced by Ann Lee.", "Dawn is a film."),
    ("The course is free for members; guests pay 20 pounds.", "Members pay nothing for the course."),
    ("The night fan is quieter than the day fan.", "The day fan is louder than the night fan."),
    ("Photographs are allowed without flash.", "Pictures may be taken as long as the flash stays off."),
    ("Cats are allowed, dogs are not.", "Dogs are not allowed, cats are."),
]


@pytest.mark.parametrize(("passage", "claim", "said"), MISMATCHES)
def test_what_is_put_together_otherwise_is_named(passage: str, claim: str, said: str) -> None:
    found = mismatch(claim, [passage])
    assert found is not None
    assert said in found.said
    assert found.stated in passage


@pytest.mark.parametrize(("passage", "claim"), FAITHFUL)
def test_other_words_for_the_same_are_no_mismatch(passage: str, claim: str) -> None:
    assert mismatch(claim, [passage]) is None


FIGURES = (
    "Turnover was 40 million euros in 2021 and 50 million euros in 2022. The north plant employs 210 people, the south "
    "plant 340. Agnes Thorn led the firm from 1970 to 1998. A ticket costs 60 euros, students pay half of that."
)


def judged(claim: str) -> Verdict:
    made = Claim(text=claim, start=0, end=len(claim), type="factual")
    return LexicalJudge()([made], as_passages([FIGURES]), Notes())[0]


@pytest.mark.parametrize(
    ("claim", "formula"),
    [
        ("Turnover rose by 25 percent in 2022.", "25 percent from 40 million euros to 50 million euros"),
        ("Turnover grew by 10 million euros.", "10 million euros = 50 million euros - 40 million euros"),
        ("The north and the south plant together employ 550 people.", "550 = 210 + 340"),
        ("Agnes Thorn led the firm for 28 years.", "28 years = 1998 - 1970"),
        ("A ticket costs students 30 euros.", "30 euros = half of 60 euros"),
    ],
)
def test_a_figure_that_the_passage_gives_by_reckoning_is_reckoned(claim: str, formula: str) -> None:
    verdict = judged(claim)
    assert formula in verdict["reasoning"]
    assert verdict["verdict"] != "contradicted"
    assert "is in no passage" not in verdict["reasoning"]


@pytest.mark.parametrize(
    "claim",
    [
        "Turnover rose by 30 percent in 2022.",
        "Turnover fell by 25 percent in 2022.",
        "The north and the south plant together employ 560 people.",
        "Agnes Thorn led the firm for 27 years.",
        "A ticket costs students 20 euros.",
    ],
)
def test_a_figure_that_no_reckoning_gives_is_not_supported(claim: str) -> None:
    assert judged(claim)["verdict"] not in ("supported",)
    assert judged(claim).get("objected")


def test_a_row_of_a_table_may_say_what_a_sentence_says_of_another() -> None:
    claim = "Stamps and paper in stock at end of year were 737,877 in 2023."
    row = "Stamps and paper in stock at end of year | 2023: $737,877 | 2022: $431,560"
    other = "Stamps and paper in stock at the end of the fourth quarter of fiscal 2022 were $737.9 million."
    assert mismatch(claim, [f"{row}\n\n{other}"]) is None
    assert mismatch(claim, [f"Stamps sold in the year | 2023: $737,877\n\n{other}"])

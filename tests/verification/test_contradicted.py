"""Contradicted means that a pair of quotes shows it: what is said to conflict does, and rewording never does."""

import pytest

from cragraph.models.grounding import GroundingModel
from cragraph.passages import as_passages
from cragraph.protocols import Judge, Notes
from cragraph.types import Claim, Verdict
from cragraph.verification.judges.encoder import EncoderJudge
from cragraph.verification.judges.lexical import LexicalJudge

JUDGES: list[Judge] = [LexicalJudge(), EncoderJudge(GroundingModel(threads=1))]

CONFLICTS = [
    # passage, claim, the passage's words and the claim's as the reasoning quotes them
    ("Below 5 °C the pump switches itself off.", "Below 5 °C the pump switches itself on.", "off", "on"),
    ("Fire damaged the barn in 1954. It was sold in 1931.", "Fire damaged the barn in 1931.", "1954", "1931"),
    ("The dam cost USD 2.4 million.", "The dam cost 2,500,000 dollars.", "USD 2.4 million", "2,500,000"),
    ("Members pay 40 euros a year for parking.", "Members pay 60 euros a year for parking.", "40 euros", "60 euros"),
    ("The tower is 100 metres tall.", "The tower is 100 feet tall.", "100 metres", "100 feet"),
    ("The tank holds 500 litres of oil.", "The tank holds 500 gallons of oil.", "500 litres", "500 gallons"),
    ("The school was founded in 1904 by nuns.", "The school was founded in 1934 by nuns.", "1904", "1934"),
    ("The ferry leaves at 8:15 on weekdays.", "The ferry leaves at 9:15 on weekdays.", "8:15", "9:15"),
    ("Unemployment stood at 5.1 percent in May.", "Unemployment stood at 7.1 percent in May.", "5.1 percent", "7.1"),
    ("The exam takes place on 3 May 2024.", "The exam takes place on 13 May 2024.", "3 May 2024", "13 May 2024"),
    ("About two thirds of the members voted.", "About one third of the members voted.", "two thirds", "one third"),
    ("The pump's warranty lasts two years.", "The pump's warranty lasts six months.", "two years", "six months"),
    ("Drivers get 28 days of paid leave. Send in receipts within 30 days.", "Drivers get 30 days of paid leave.", "28",
     "30"),
    ("Prices rose sharply in the north.", "Prices fell sharply in the north.", "rose", "fell"),
    ("The older pump is louder and more expensive.", "The older pump is louder and cheap.", "expensive", "cheap"),
    ("The gallery is closed on Mondays.", "The gallery is open on Mondays.", "closed", "open"),
    ("The bridge was strengthened in 1990.", "The bridge was weakened in 1990.", "strengthened", "weakened"),
    ("The committee rejected the proposal.", "The committee accepted the proposal.", "rejected", "accepted"),
    ("The vaccine did not reduce the fever.", "The vaccine reduced the fever.", "not reduce", "reduced the fever"),
    ("Dogs are not allowed in the garden.", "Dogs are allowed in the garden.", "not allowed", "allowed in the garden"),
    ("The lift stops at floor four.", "The lift never stops at floor four.", "stops", "never stops"),
]  # fmt: skip

TRUE = [
    ("The tour takes 75 minutes.", "The tour takes an hour and a quarter."),
    ("The bread bakes for 45 minutes.", "The bread bakes for three quarters of an hour."),
    ("The guarantee on the motor lasts 24 months.", "The motor has a guarantee of two years."),
    ("The course is free for members; guests pay 20 pounds.", "Members pay nothing for the course."),
    ("The shop is open from 9 to 5 and closed on Sundays.", "The shop is shut on Sundays."),
    ("The museum is not open on Mondays.", "The museum is closed on Mondays."),
    ("Employees receive 30 days of paid leave a year.", "30 paid days off per year are granted to employees."),
    ("The project cost USD 2.4 million.", "The project cost 2,400,000 dollars."),
    ("The project cost 2.4 million dollars.", "The cost of the project was $2.4M."),
    ("The tower is 328 feet tall.", "The tower is 100 metres tall."),
    ("Drivers get 28 days of paid leave; managers get 30 days.", "Managers get 30 days of paid leave."),
    ("Revenue did not fall in 2022.", "Revenue did not decrease in 2022."),
    ("Sales were up 12 percent in March.", "In March, sales rose by 12 %."),
    ("The warranty lasts two years.", "The warranty lasts 24 months."),
    ("Half of the users pay.", "50% of the users pay."),
    ("The film is two hours long.", "The film lasts 120 minutes."),
    ("Bob was sued by Alice.", "Alice sued Bob."),
    ("Harlow acquired Fenwick.", "Fenwick was acquired by Harlow."),
    ("Alice married Bob in 2010.", "Bob married Alice in 2010."),
    ("Costs fell while sales rose.", "Sales rose while costs fell."),
    ("It is not as tall as Dunmar Tower.", "Dunmar Tower is taller."),
    ("Take no more than two tablets a day.", "Two tablets a day are the most you may take."),
    ("The price rose from 1.20 to 1.50 euros.", "The price is now 1.50 euros."),
    ("Nobody was hurt in the fire.", "The fire hurt no one."),
    ("The service is free of charge.", "The service does not cost anything."),
    ("In 2022 sales fell. In 2023 sales rose.", "Sales rose in 2023."),
    ("The board has 12 members, of whom five are women.", "A dozen people sit on the board."),
    ("The library opens late on Fridays.", "On Fridays the library does not open early."),
    ("Unit 4 was sold and Unit 5 was kept.", "Unit 5 was kept."),
    ("Not all of the pupils passed the exam.", "Some of the pupils passed the exam."),
]  # fmt: skip


def judged(judge: Judge, passage: str, text: str) -> Verdict:
    claim = Claim(text=text, start=0, end=len(text), type="factual")
    [verdict] = judge([claim], as_passages([passage, "The weather was fine all week."]), Notes())
    return verdict


@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.name)
@pytest.mark.parametrize(("passage", "text", "stated", "claimed"), CONFLICTS)
def test_a_conflict_is_shown_by_a_pair_of_quotes(
    judge: Judge, passage: str, text: str, stated: str, claimed: str
) -> None:
    verdict = judged(judge, passage, text)
    assert verdict["verdict"] == "contradicted", verdict["reasoning"]
    theirs, _, ours = verdict["reasoning"].partition(" in the passage, ")
    assert stated in theirs
    assert claimed in ours.partition(" in the claim")[0]


@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.name)
@pytest.mark.parametrize(("passage", "text"), TRUE)
def test_rewording_contradicts_nothing(judge: Judge, passage: str, text: str) -> None:
    verdict = judged(judge, passage, text)
    assert verdict["verdict"] != "contradicted", verdict["reasoning"]
    assert "is in no passage" not in verdict["reasoning"]

"""Thirty pairs that a person finds obvious: (kind, passage, claim, whether the passage supports the claim)."""

from cragraph.models.grounding import GroundingModel
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.types import Claim
from cragraph.verification.judges.encoder import EncoderJudge

COMPANY = (
    "Northwind Ltd reported revenue of $3.2 million for 2021, up 12 percent from the year before. The company opened "
    "two stores in Leeds in March 2021 and hired 45 people. Its founder, Maria Lopez, remains chief executive."
)
BRIDGE = (
    "The Hallam Bridge was designed by the engineer Peter Stone and opened in 1932. It is 410 metres long and crosses "
    "the River Tarn. The bridge was closed to lorries in 1998 because its cables were weak."
)
TRIAL = (
    "In the trial, 240 patients received the new drug and 238 received a placebo. The drug reduced the number of "
    "headaches from eight to three a month. It did not improve sleep. Nausea was the most common side effect."
)
MATCH = (
    "Riverside beat Oakfield 3-1 on Saturday evening. Anna Berg scored two goals for Riverside before half time. "
    "Oakfield's only goal came from Julia Mann in the final minute. Some 5,000 people watched the match."
)

OBVIOUS = [
    ("copied", COMPANY, "Its founder, Maria Lopez, remains chief executive.", True),
    ("shortened", COMPANY, "The company opened two stores in Leeds.", True),
    ("figure rewritten", COMPANY, "Northwind opened 2 stores in March 2021.", True),
    ("joined from two sentences", COMPANY, "Northwind reported revenue of $3.2 million and hired 45 people.", True),
    ("number", COMPANY, "Northwind Ltd reported revenue of $5.7 million for 2021.", False),
    ("number", COMPANY, "The company hired 450 people.", False),
    ("unit", COMPANY, "Northwind Ltd reported revenue of $3.2 billion for 2021.", False),
    ("date", COMPANY, "The company opened two stores in Leeds in October 2021.", False),
    ("name", COMPANY, "Its founder, Daniel Hughes, remains chief executive.", False),
    ("place", COMPANY, "The company opened two stores in Glasgow in March 2021.", False),
    ("opposite", COMPANY, "Northwind's revenue for 2021 was down 12 percent from the year before.", False),
    ("invented", COMPANY, "Northwind plans to sell its shares on the stock exchange next summer.", False),
    ("copied", BRIDGE, "The bridge was closed to lorries in 1998 because its cables were weak.", True),
    ("reworded", BRIDGE, "Peter Stone was the engineer who designed the Hallam Bridge.", True),
    ("shortened", BRIDGE, "The Hallam Bridge crosses the River Tarn.", True),
    ("year", BRIDGE, "The Hallam Bridge opened in 1952.", False),
    ("unit", BRIDGE, "The Hallam Bridge is 410 kilometres long.", False),
    ("negation", BRIDGE, "The bridge was never closed to lorries.", False),
    ("name", BRIDGE, "The Hallam Bridge was designed by the engineer Walter Gray.", False),
    ("invented", BRIDGE, "The bridge was painted red after a vote of the citizens.", False),
    ("copied", TRIAL, "Nausea was the most common side effect.", True),
    ("shortened", TRIAL, "The drug reduced the number of headaches.", True),
    ("negation kept", TRIAL, "The drug did not improve sleep.", True),
    ("negation lost", TRIAL, "The drug improved sleep.", False),
    ("opposite", TRIAL, "The drug increased the number of headaches.", False),
    ("number", TRIAL, "In the trial, 820 patients received the new drug.", False),
    ("shortened", MATCH, "Anna Berg scored two goals for Riverside.", True),
    ("figure rewritten", MATCH, "About 5000 people watched the match.", True),
    ("swapped roles", MATCH, "Oakfield beat Riverside 3-1 on Saturday evening.", False),
    ("merged facts", MATCH, "Julia Mann scored two goals before half time.", False),
]


def test_of_thirty_obvious_pairs_at_least_27_come_out_right() -> None:
    judge = EncoderJudge(GroundingModel(threads=2))
    wrong = []
    for kind, passage, text, supported in OBVIOUS:
        claim = Claim(text=text, start=0, end=len(text), type="factual")
        [verdict] = judge([claim], as_passages([passage]), Notes())
        if (verdict["verdict"] == "supported") is not supported:
            wrong.append((kind, text, verdict["verdict"], round(verdict["support"], 2)))
    assert len(OBVIOUS) == 30
    assert len(wrong) <= 3, wrong


def test_a_false_sentence_behind_many_true_ones_is_not_supported() -> None:
    text = f"{COMPANY} {BRIDGE} {TRIAL} The moon is made of green cheese and belongs to the king of Norway."
    claim = Claim(text=text, start=0, end=len(text), type="factual")
    judge = EncoderJudge(GroundingModel(threads=2))
    [verdict] = judge([claim], as_passages([COMPANY, BRIDGE, TRIAL, MATCH]), Notes())
    assert verdict["verdict"] != "supported"
    assert verdict["support"] < 0.5

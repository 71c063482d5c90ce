"""The judge with a chat model: what it says is checked, and what cannot be read never supports."""

from typing import Any

import pytest

from cragraph.errors import ModelError
from cragraph.models.chat import ChatCaller
from cragraph.models.servers import chat_model
from cragraph.passages import as_passages
from cragraph.prompts import Prompts
from cragraph.protocols import Notes
from cragraph.types import Claim, Verdict
from cragraph.verification.claims import split_claims
from cragraph.verification.judges.llm import LLMJudge, control_claim, place_of_control
from tests.support.cases import cases
from tests.support.fixtures import served
from tests.support.ollama import OllamaServer

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]

PASSAGES = as_passages(
    ["Net sales were $383 billion in 2023, down 3%.", "The company was founded in 1976 in Cupertino."]
)
ANSWER = "Net sales were $383 billion in 2023 [1]. The company was founded in 1977 [2]."
SALES, FOUNDED = "Net sales were $383 billion in 2023", "The company was founded in 1977"


def row(
    claim: str, status: str, evidence: str = "", passage: int = 0, correction: str = "", **more: Any
) -> dict[str, Any]:
    return {
        "n": 1 + (claim == FOUNDED), "claim": claim, "evidence": evidence, "passage": passage, "reasoning": "because",
        "status": status, "correction": correction, **more,
    }  # fmt: skip


GOOD = {
    "claims": [
        row(SALES, "SUPPORTED", "Net sales were $383 billion in 2023", 1),
        row(FOUNDED, "CONTRADICTED", "founded in 1976", 2, "The company was founded in 1976."),
    ]
}


server = served(GOOD)


def judge(server: OllamaServer, **options: Any) -> LLMJudge:
    return LLMJudge(ChatCaller(chat_model("ollama:llama3.2", base_url=server.url, **options), backoff_s=0.01))


def judged(server: OllamaServer, answer: str = ANSWER, notes: Notes | None = None) -> list[Verdict]:
    return judge(server)(split_claims(answer), PASSAGES, notes or Notes(), question="What were net sales?")


def claims(*texts: str) -> list[Claim]:
    return [Claim(text=text, start=0, end=len(text), type="factual") for text in texts]


def test_sentences_are_judged_in_one_call_with_offsets_evidence_and_corrections(
    server: OllamaServer,
) -> None:
    notes = Notes()
    sales, founded = judged(server, notes=notes)
    assert (notes.calls, len(server.chats)) == (1, 1)
    assert (sales["verdict"], sales["support"], sales["contradiction"], sales["judge"]) == (
        "supported",
        1.0,
        0.0,
        "llm",
    )
    assert ANSWER[sales["start"] : sales["end"]] == sales["text"] == SALES
    assert (founded["verdict"], founded["contradiction"]) == ("contradicted", 1.0)
    assert founded["reasoning"] == "because"
    assert founded["correction"] == "The company was founded in 1976."
    evidence = founded["evidence"]
    assert evidence is not None
    assert PASSAGES[1]["text"][evidence["start"] : evidence["end"]] == evidence["quote"] == "founded in 1976"
    assert notes.models == {"prompt:judge": Prompts()["judge"].digest}
    assert notes.sentences == []


@pytest.mark.parametrize(
    ("status", "verdict"),
    cases("verification/llm_judge", "statuses are read tolerantly"))  # fmt: skip
def test_statuses_are_read_tolerantly_and_what_is_none_is_unjudged(
    server: OllamaServer, status: str, verdict: str
) -> None:
    against = verdict == "contradicted"
    claim, quote = (FOUNDED, "founded in 1976") if against else (SALES, "Net sales were $383 billion")
    server.play(str({"claims": [row(claim, status, quote, 1)]}))
    assert judged(server)[against]["verdict"] == verdict


def test_a_model_that_supports_what_was_made_false_for_it_is_not_attentive(server: OllamaServer) -> None:
    given = claims(SALES)
    sure = {"status": "SUPPORTED", "evidence": ["Net sales were $383 billion in 2023"]}
    seen = []
    for status in ("SUPPORTED", "PARTIALLY_SUPPORTED", "UNSUPPORTED", "CONTRADICTED"):
        server.play({"claims": [{"n": 1, **sure}, {"n": 2, **sure, "status": status}]})
        notes = Notes()
        reading = judge(server).read(given, PASSAGES, notes, question="What were net sales?")
        seen.append(reading.attentive)
        assert any("made false to test it" in sentence for sentence in notes.sentences) is not reading.attentive
        assert len(reading.verdicts) == 1
    assert seen == [False, False, True, True]
    control = server.chats[0].prompt.partition("2. ")[2].partition("\n")[0]
    assert control not in PASSAGES[0]["text"] + PASSAGES[1]["text"]


def test_the_control_claim_is_about_the_claims_and_stands_anywhere_among_them() -> None:
    passages = as_passages(["The shop opens at nine on 14 days.", "Net sales were $383 billion in all of 2023."])
    control = control_claim(passages, [SALES])
    assert control.startswith("Net sales were $")
    assert control not in passages[1]["text"]
    for text in (
        "No shed on plots 38 to 44 at all.",
        "The cups are booked from 12/14 on.",
        "and a wash costs £9 on a Sunday.",
    ):
        assert "7341" in control_claim(as_passages([text]), [text])
    places = {place_of_control([f"claim {number}", "another"]) for number in range(40)}
    assert places == {0, 1, 2}


@pytest.mark.parametrize(
    "reply",
    [
        '{"overall_confidence": 0.9, "is_grounded": true, "claims": [{"claim": "Net sales were $383 billion in 2023", '
        '"status": "SUPPORTED", "evidence": "Net sales were $383 billion", "reasoning": "r"}, '
        '{"claim": "The company was founded in 1977", "status": "UNSUPPORTED", "evidence": null, "reasoning": "r"}], '
        '"suggested_corrections": ["", "It was founded in 1976."]}',
        '{"claims": [{"claim": "Net sales were $383 billion in 2023", "verified": true, "supporting_sources": [1], '
        '"confidence": 0.95}, {"claim": "The company was founded in 1977", "verified": false}]}',
        "[{'text': 'Net sales were $383 billion in 2023', 'verdict': 'supported', 'quote': 'sales were $383 billion'},"
        " {'text': 'The company was founded in 1977', 'verdict': 'not supported'}]",
    ],
    ids=["confidence prompt", "fact prompt", "other names"],
)
def test_replies_in_other_well_known_shapes_are_read_too(server: OllamaServer, reply: str) -> None:
    server.play(reply)
    verdicts = judged(server)
    assert [v["verdict"] for v in verdicts] == ["supported", "unsupported"]
    if "suggested" in reply:
        assert verdicts[1]["correction"] == "It was founded in 1976."


# -- what people run into with judges on small models ----------------------------------------------------------


@pytest.mark.parametrize(
    "reply", ["", "null", "{}", '{"claims": null}', '{"claims": []}', "The answer looks right to me."]
)
def test_structured_output_that_is_none_raises_and_never_supports(server: OllamaServer, reply: str) -> None:
    server.play(reply)
    with pytest.raises(ModelError):
        judged(server)
    assert len(server.chats) <= 2


# -- claims alone ----------------------------------------------------------------------------------------------


def test_a_control_claim_is_made_of_a_text_of_very_many_numbers() -> None:
    text = "The bridge is 412 metres long. " + "".join(map(str, range(300_000)))
    control = control_claim(as_passages([text]), ["The bridge is 412 metres long."])
    assert control.removeprefix("The bridge is ").partition(" ")[0] not in text

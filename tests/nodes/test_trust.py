"""A capable model is believed in proportion to what it is worth: faults that were measured, with recorded replies."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from cragraph import Context, create_graph, load_settings
from cragraph.build import Parts
from cragraph.graph.state import State
from cragraph.nodes.rerank import Rerank
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.search.rerankers import NoReranker
from cragraph.types import IDK, Attempt, Passage
from cragraph.verification.judges.verdicts import best_sentence
from tests.support.cases import cases
from tests.support.ollama import ModelInfo, OllamaServer, Request, by_fields

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]

TESTS = Path(__file__).parents[1]
Row = tuple[str, Sequence[str]]


def judging(
    told: Mapping[str, Row] = {}, *, default: Row = ("UNSUPPORTED", ()), answers: str = "ALL", **more: Any
) -> Callable[[Request], dict[str, Any]]:
    """A judge: `told` has status and quotes by the beginning of a claim; any other claim gets the `default`."""

    def reply(request: Request) -> dict[str, Any]:
        rows = []
        for number, claim in re.findall(r"^(\d+)\. (.*)", request.prompt.rpartition("<<claims")[2], re.M):
            status, quotes = next((row for start, row in told.items() if claim.startswith(start)), default)
            rows.append({"n": int(number), "evidence": [*quotes], "status": status})
        return {"claims": rows, "answers": answers, **more}

    return reply


def asked(
    question: str,
    passages: Sequence[str],
    answer: Any,
    judged: Any = None,
    *,
    size: str = "8B",
    settings: Mapping[str, Any] = {},
    **context: Any,
) -> tuple[dict[str, Any], list[Request]]:
    """The response to a question over given passages, and what the model was asked."""
    script = by_fields({"": answer, "claims": judged or judging(), "queries": {"queries": ["something else"]}})
    with OllamaServer(script, models={"strong": ModelInfo(parameter_size=size)}) as server:
        chosen = load_settings(store=None, model="ollama:strong", ollama_host=server.url, **settings)
        given = {"question": question, "passages": [*passages]}
        response = create_graph(chosen).compile().invoke(given, context=Context(show_claims=True, **context))
        return response, server.chats


CHOIR = "Der Chor wurde 2019 von Henrike Bolte gegründet."
MEMBERS = "612 members at the end of 2024, 548 a year before."
WASH = "A wash costs £2.40 from 1 September."
DRY = "The dryer is £1.00 for 40 minutes."
BUDGET = "Budget 2024 | Memberships | 14210 GBP"

RIGHT = {
    "another language": (
        "Who founded the choir, and when?", [CHOIR, "Die Proben sind am Montag."],
        "Henrike Bolte founded the choir in 2019. [1]", [CHOIR],
    ),
    "a currency in the name of a column": (
        "What does it cost to borrow the drill?", ["item: drill | loan_fee_gbp: 3 | deposit_gbp: 20", "Open Mondays."],
        "Borrowing the drill costs £3. [1]", ["item: drill | loan_fee_gbp: 3"],
    ),
    "a unit with the figure": (
        "Which drill can I borrow?", ["Tools to lend: Cordless drill 18V, jigsaw, ladder.", "Open on Mondays."],
        "You can borrow a cordless drill of 18 V. [1]", ["Cordless drill 18V"],
    ),
    "a difference": (
        "By how much did membership grow in 2024?", [MEMBERS, BUDGET],
        "Membership grew by 64 in 2024. [1]", [MEMBERS],
    ),
    "a surcharge": (
        "What does the hall cost on a Sunday?", ["The hall is £7 an hour.", "On Sundays a surcharge of 40 % is added."],
        "On a Sunday the hall costs £9.80 an hour. [1][2]", ["The hall is £7 an hour", "a surcharge of 40 % is added"],
    ),
    "two passages": (
        "What do washing and drying cost now?", [WASH, DRY],
        "A wash costs £2.40 and drying £1.00. [1][2]", [WASH, DRY],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("question", "passages", "answer", "quotes"), RIGHT.values(), ids=RIGHT)
def test_a_right_answer_that_a_capable_judge_supports_is_accepted_as_it_was_written_in_two_calls_at_most(
    question: str, passages: list[str], answer: str, quotes: list[str]
) -> None:
    judge = judging({answer.partition(" [")[0][:20]: ("SUPPORTED", quotes)})
    response, chats = asked(question, passages, answer, judge, settings={"extractive_fallback": False})
    assert response["answer"] == answer
    assert response["accepted"], (response["confidence"], response["verification"]["issues"])
    assert len(chats) <= 2
    assert len(response["attempts"]) == 1
    if len(chats) == 2:
        [claim] = response["verification"]["claims"]
        assert claim["verdict"] == "supported"
        found = [claim["evidence"], *claim.get("further", [])]
        assert [one["quote"] for one in found] == [quote.rstrip(".") for quote in quotes] or [
            one["quote"] for one in found
        ] == quotes


@pytest.mark.parametrize(
    ("answer", "lacking"),
    [("Membership grew by 77 in 2024. [1]", "77"), ("Ana Lopes led the 612 members in 2024. [1]", "Ana Lopes")],
)
def test_an_answer_with_a_figure_or_name_that_no_passage_has_is_not_accepted_on_the_word_of_the_judge(
    answer: str, lacking: str
) -> None:
    judge = judging({answer[:12]: ("SUPPORTED", [MEMBERS])})
    question = "By how much did membership grow in 2024, and who led it?"
    response, _ = asked(
        question, [MEMBERS, BUDGET], answer, judge, max_crag_attempts=0, on_low_confidence="flag",
        settings={"extractive_fallback": False},
    )  # fmt: skip
    assert not response["accepted"]
    assert any(f"in any form: {lacking}" in issue for issue in response["verification"]["issues"])


LENDING = [
    "Chainsaws are not lent to members who have held their membership for less than three months.",
    "Tools that come back late cost 70 pence a day. Members borrow tools on Saturdays.",
]


@pytest.mark.parametrize(("question", "passages"), cases("nodes/trust", "i do not know"))
def test_i_do_not_know_of_a_capable_model_stays_and_no_quotation_is_promoted(
    question: str, passages: list[str]
) -> None:
    declined = "I don't know\nSearch: loan period; how long tools may be kept"
    response, chats = asked(question, passages, declined)
    assert (response["answer"], response["abstained"], response["accepted"]) == (IDK, True, False)
    assert len(chats) <= 2
    assert all("<<claims" not in chat.prompt for chat in chats)


@pytest.mark.parametrize(("chance", "first", "again"), [(0.5, 12, True), (0.1, 30, True), (0.01, 30, False)])
def test_a_capable_model_reads_all_that_was_found_where_the_reader_doubts_and_again_only_what_may_answer(
    chance: float, first: int, again: bool
) -> None:
    found = [*as_passages([f"Rule {number}." for number in range(60)])]
    act = Rerank(NoReranker(), capable=lambda: True, likely=lambda question, passages: chance)
    state = State(question="How long?", asked="How long?", held=found[:40], searched=["How long?"])
    read = act(state, Context(), Notes())
    assert len(read["held"]) == first
    declined = cast(Attempt, {"attempt": 1, "answer": IDK, "confidence": 0.0, "accepted": False})
    for held, any_new in ([*found[40:], *read["held"]], again), ([*read["held"], *found[40:]], False):
        later = replace(state, read=read["read"], held=held, attempts=[declined], searched=["loan period"])
        assert bool(act(later, Context(), Notes())["new_passages"]) is any_new


def test_a_correction_is_told_the_words_of_the_judge_and_the_quote_and_only_what_is_at_fault() -> None:
    passages = [f"{WASH} Bring your own soap.", DRY, "Last year a wash was £2.20."]

    def reply(request: Request) -> str:
        return f"{WASH} [1] Drying takes an hour. [2]" if "Faults" not in request.prompt else f"{WASH} [1] {DRY} [2]"

    reason = {"reasoning": "the dryer runs for 40 minutes", "correction": "Drying takes 40 minutes."}

    def judge(request: Request) -> dict[str, Any]:
        rows: dict[str, Row] = {one: ("SUPPORTED", [one]) for one in (WASH, DRY)}
        told = judging(rows | {"Drying": ("CONTRADICTED", [DRY])})(request)
        for row in told["claims"]:
            row |= reason if row["status"] == "CONTRADICTED" else {}
        return told

    question = "What does a wash cost, and how long does drying take?"
    response, chats = asked(question, passages, reply, judge, judge="llm", settings={"extractive_fallback": False})
    corrections = [chat.prompt for chat in chats if "Faults that were found" in chat.prompt]
    assert len(corrections) == 1
    faults = corrections[0].partition("Faults that were found in it:\n")[2].partition("\n\n")[0]
    assert faults == (
        '- "Drying takes an hour." is contradicted; reason: the dryer runs for 40 minutes; '
        f'the passages say: "{DRY}"; correction: Drying takes 40 minutes.'
    )
    assert response["answer"] == f"{WASH} [1] {DRY} [2]"
    assert response["accepted"]


FALSE = [
    row
    for name in ("reworded", "reworded-second")
    for row in map(json.loads, (TESTS / "verification" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())
    if row["label"] != "supported"
]


def lying(passages: Sequence[Passage]) -> Callable[[Request], dict[str, Any]]:
    """A judge that calls every claim supported, and quotes the sentence that is nearest to it."""

    def reply(request: Request) -> dict[str, Any]:
        rows = []
        for number, claim in re.findall(r"^(\d+)\. (.*)", request.prompt.rpartition("<<claims")[2], re.M):
            near = best_sentence(claim, passages, share=0.0)
            rows.append({"n": int(number), "status": "SUPPORTED", "evidence": [near["quote"]] if near else []})
        return {"claims": rows, "answers": "ALL"}

    return reply


@pytest.mark.slow
def test_a_judge_that_calls_every_claim_supported_passes_no_more_false_claims_than_the_encoder() -> None:
    some = FALSE[::6]
    assert len(some) >= 10
    with OllamaServer(models={"strong": ModelInfo(parameter_size="8B")}) as server:
        verifier = Parts(load_settings(store=None, model="ollama:strong", ollama_host=server.url)).verifier
        for row in some:
            passages = as_passages(row["passages"])
            server.play(lying(passages))
            by_both, alone = (
                verifier("What is true?", row["answer"], passages, Notes(), judge=judge) for judge in ("llm", "encoder")
            )
            assert by_both.confidence == alone.confidence, row["id"]
            assert [v["verdict"] for v in by_both.claims] == [v["verdict"] for v in alone.claims], row["id"]
            assert any("made false to test it" in sentence for sentence in by_both.degraded)

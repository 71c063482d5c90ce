"""A figure over a table comes with its working through every door, and is verified by computing it once more."""

import json
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from cragraph import create_graph, load_settings
from cragraph.build import Parts
from cragraph.documents.files import BY_SUFFIX
from cragraph.graph.context import Context
from cragraph.graph.state import State
from cragraph.loop import acts_of
from cragraph.protocols import Notes
from cragraph.report import Report
from cragraph.run import Assistant
from cragraph.tables.asked import SUFFIXES
from tests.doors.conftest import Shell
from tests.support.cases import cases
from tests.support.ollama import ModelInfo, OllamaServer

MOST = 60
MEMBERS, STREETS = ("Ada Bell", "Tom Rao", "Ida Weir"), ("Mill Lane", "Canal Row")
LOANS = "loan,member,street,fee_gbp,late\n" + "".join(
    f"L-{n:03},{MEMBERS[n % 3]},{STREETS[n % 2]},{n}.10,{'no' if n % 5 else 'yes'}\n" for n in range(1, MOST + 1)
)
TOOLS = """tool,day_rate_gbp,deposit_gbp,replacement_value_gbp
Floor sander,32.00,80,920
Tile cutter,18.00,40,310
Hammer drill,9.50,25,145
"""
JOBS = """# Repairs

| Job | Price GBP |
|---|---|
| New chain | 7.00 |
| Puncture | 5.50 |

Urgent jobs cost 40 % more and are ready the same day. The library owns 214 tools.
"""
FEES = "£1,836"


@pytest.fixture(scope="module")
def assistant(tmp_path_factory: pytest.TempPathFactory) -> Assistant:
    folder = tmp_path_factory.mktemp("computed")
    for name, text in (("loans.csv", LOANS), ("tools.csv", TOOLS), ("jobs.md", JOBS)):
        (folder / "files").mkdir(exist_ok=True)
        (folder / "files" / name).write_text(text, encoding="utf-8")
    made = Assistant(load_settings(store=str(folder / "store")))
    made.ingest([folder / "files"])
    return made


def ask(assistant: Assistant, question: str, **context: Any) -> dict[str, Any]:
    *_, done = assistant.ask(question, context=context)
    return dict(done.response)


def test_a_sum_takes_every_row_of_the_store_and_shows_its_working(assistant: Assistant) -> None:
    response = ask(assistant, "What is the sum of fee_gbp over all loans?")
    computed = response["computed"]
    assert computed["query"]["operation"] == "sum"
    assert (computed["value"], computed["unit"], computed["rows"], computed["missing"]) == ("1836", "GBP", MOST, 0)
    assert response["answer"].startswith(f"The fee of the 60 loans is {FEES} in all")
    assert (response["is_grounded"], response["accepted"], response["models"]["judge"]) == (True, True, "computed")
    assert response["decision"]["confidence"] == response["confidence"] == computed["probability"]
    assert len(response["citations"]) == len(computed["cited"]) == 12
    for citation, cited in zip(response["citations"], computed["cited"], strict=True):
        assert citation["verified"]
        assert citation["quote"] == cited["quote"] == citation["text"][cited["start"] : cited["end"]]
    assert json.loads(json.dumps(response)) == response


def test_two_figures_of_a_text_and_a_table_are_both_cited(assistant: Assistant) -> None:
    response = ask(assistant, "What would an urgent new chain cost?")
    assert response["answer"].startswith("New chain, price £7, 40 % more: £9.80")
    assert {quote for c in response["citations"] for quote in c["quotes"]} == {
        "New chain | Price GBP: 7.00",
        "Urgent jobs cost 40 % more and are ready the same day.",
    }


def test_what_is_sold_out_is_what_none_is_left_of(tmp_path: Path) -> None:
    (tmp_path / "glazes.csv").write_text("code,glaze,stock_kg\nG1,Moss,0\nG2,Night Blue,8\nG3,Charcoal,0\n")
    made = Assistant(load_settings(store=str(tmp_path / "store")))
    made.ingest([tmp_path / "glazes.csv"])
    response = ask(made, "Which glazes are sold out?")
    assert response["computed"]["labels"] == ["G1, Moss", "G3, Charcoal"]
    assert response["accepted"]


def test_a_figure_that_a_text_states_is_not_computed(assistant: Assistant) -> None:
    response = ask(assistant, "How many tools does the library own?")
    assert response["computed"] is None
    assert "214" in response["answer"]


def test_the_same_is_said_by_graph_thread_and_shell(assistant: Assistant, shell: Shell) -> None:
    question = "How many loans of Ada Bell were late?"
    told = ask(assistant, question)
    graph = create_graph(assistant.settings).compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    response = graph.invoke({"question": question}, config)
    assert response["computed"] == told["computed"]
    assert response["computed"]["value"] == "4"
    assert graph.get_state(config).values["computed"] == told["computed"]
    # Another question on the thread starts clean.
    assert graph.invoke({"question": "Is work ready the same day?"}, config)["computed"] is None
    ran = shell("ask", question, "--store", str(assistant.settings.store), "--json")
    assert ran.json["computed"] == told["computed"]
    assert "loans.csv" in str(Report(told, told_passages(assistant, question)))


def told_passages(assistant: Assistant, question: str) -> Any:
    *_, done = assistant.ask(question)
    return done.passages


def drafted(assistant: Assistant, question: str) -> tuple[State, Any]:
    acts = acts_of(Parts(assistant.settings, store=assistant.parts.store))
    state = State(question=question)
    for name in ("retrieve", "rerank", "generate"):
        update = acts[name](state, Context().resolved(), Notes())
        state = State(**{**vars(state), **update})
    return state, acts


def test_a_figure_that_does_not_come_out_again_is_contradicted(assistant: Assistant) -> None:
    state, acts = drafted(assistant, "What is the sum of fee_gbp over all loans?")
    assert state.computed is not None
    wrong = state.computed["answer"].replace(FEES, "£1,900")
    state.computed = {**state.computed, "answer": wrong}
    state.drafts = [wrong]
    [attempt] = acts["verify"](state, Context().resolved(), Notes())["attempts"]
    [verdict] = attempt["verdicts"]
    assert (verdict["verdict"], verdict["judge"], attempt["is_grounded"], attempt["accepted"]) == (
        "contradicted", "computed", False, False,
    )  # fmt: skip
    assert FEES in verdict["correction"]


def test_a_query_whose_table_is_gone_supports_nothing(assistant: Assistant) -> None:
    state, acts = drafted(assistant, "What is the sum of fee_gbp over all loans?")
    assert state.computed is not None
    state.computed = {**state.computed, "query": {**state.computed["query"], "source": "/gone.csv"}}
    [attempt] = acts["verify"](state, Context().resolved(), Notes())["attempts"]
    assert (attempt["verdicts"][0]["verdict"], attempt["decision"]["outcome"]) == ("unsupported", "refused")


def test_given_passages_are_not_a_whole_table(assistant: Assistant) -> None:
    graph = create_graph(assistant.settings).compile()
    rows = ["loan: L-001 | fee_gbp: 1.10", "loan: L-002 | fee_gbp: 2.10"]
    response = graph.invoke({"question": "What is the sum of fee_gbp over all loans?", "passages": rows})
    assert response["computed"] is None


def test_a_cell_is_told_as_a_person_says_it_with_its_row_as_evidence(assistant: Assistant) -> None:
    response = ask(assistant, "What deposit do I leave for the floor sander?")
    assert response["answer"] == "Deposit for the floor sander: 80 GBP [1]"
    assert response["confidence"] > 0.6
    [citation] = response["citations"]
    row = "tool: Floor sander | day_rate_gbp: 32.00 | deposit_gbp: 80 | replacement_value_gbp: 920"
    assert citation["quote"] == row
    assert citation["text"][citation["answer_start"] : citation["answer_end"]] == "80"
    [claim] = response["verification"]["claims"]
    assert (claim["verdict"], claim["judge"], claim["support"]) == ("supported", "cell", 1.0)


@pytest.mark.parametrize("judge", ["lexical", "embedding", "encoder"])
def test_a_cell_that_says_something_else_is_judged_like_any_claim(assistant: Assistant, judge: str) -> None:
    row = {"text": "tool: Floor sander | deposit_gbp: 80 | replacement_value_gbp: 920"}
    verifier = assistant.parts.verifier
    checked = verifier("", "Deposit for the floor sander: 920 GBP", passages_of([row]), Notes(), judge=judge)
    assert "cell" not in checked.judge


def passages_of(rows: list[dict[str, str]]) -> Any:
    from cragraph.passages import as_passages

    return as_passages(rows)


def test_rows_are_found_in_a_file_moved_into_the_store_later(assistant: Assistant, tmp_path: Path) -> None:
    made = Assistant(load_settings(store=str(tmp_path / "store")))
    path = tmp_path / "tools.csv"
    path.write_text(TOOLS, encoding="utf-8")
    made.ingest([path])
    question = "What is the sum of deposit_gbp over all tools?"
    assert ask(made, question)["computed"]["value"] == "145"
    path.write_text(TOOLS + "Cement mixer,27.00,70,650\n", encoding="utf-8")
    made.ingest([path])
    assert ask(made, question)["computed"]["value"] == "215"


@pytest.mark.server
@pytest.mark.enable_socket
@pytest.mark.parametrize(("plan", "value", "accepted"), cases("doors/computed", "a capable model writes"))
def test_a_capable_model_writes_the_query_and_where_it_says_that_no_table_has_it_nothing_is_computed(
    assistant: Assistant, plan: dict[str, Any], value: str | None, accepted: bool
) -> None:
    query = {"table": 1, "operation": "sum", "column": "fee_gbp", "filters": ["member = Ada Bell"]}
    with OllamaServer(query | plan, models={"llama3.1": ModelInfo(parameter_size="8.0B")}) as server:
        settings = load_settings(store=str(assistant.settings.store), model="ollama:llama3.1", base_url=server.url)
        response = ask(
            Assistant(settings), "What did we get in fees for loans from Ada Bell in total?", max_crag_attempts=0
        )
    assert "Table 1: loans.csv" in str(server.chats[0].body["messages"])
    assert (response["computed"] and response["computed"]["value"]) == value
    assert response["accepted"] is accepted


def test_a_question_about_a_file_is_computed_over_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("name,town\nAnn,Oslo\nBob,Oslo\n")
    (tmp_path / "one.csv").write_text("name,town\nCarl,Oslo\n")
    made = Assistant(load_settings(store=str(tmp_path / "store")))
    made.ingest([tmp_path / "a.csv", tmp_path / "one.csv"])
    assert ask(made, "How many rows of a.csv have the town Oslo?")["computed"]["value"] == "2"
    assert ask(made, "How many rows of one.csv have the town Oslo?")["computed"] is None
    assert {f".{suffix}" for suffix in SUFFIXES.split()} == set(BY_SUFFIX)

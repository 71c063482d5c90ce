"""The graphs as nodes of somebody else's LangGraph graphs."""

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, Send
from pydantic import BaseModel

from cragraph import Context, create_chat, create_graph, create_verifier, load_settings
from cragraph.errors import InputError
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.passages import as_passages
from cragraph.store import Store, ingest, open_store

QUESTION = "Why is the sea salt?"
SEA = "The sea is salt because rivers carry minerals into it."
PASSAGES = [SEA, "Lakes are mostly fresh water."]
ANSWER = f"{SEA} [1]"


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Store]:
    """A store about the moons of Mars."""
    (tmp_path / "moons.md").write_text(
        "# Moons\n\nPhobos is 22 km wide. Deimos is 12 km wide.\n\nMars has two moons.\n"
    )
    with open_store(tmp_path / "store", EmbeddedEncoder()) as store:
        ingest(tmp_path / "moons.md", store)
        yield store


class Mail(TypedDict, total=False):
    mail: str
    question: str
    passages: list[str]
    answer: str
    confidence: float
    sent: bool


def loop(**options: Any) -> Any:
    return create_graph(load_settings(store=None, **options)).compile()


def mailed(node: Any = None, **compiled: Any) -> Any:
    """A graph with keys of its own, some of which the loop reads and writes."""
    graph = StateGraph(Mail)
    graph.add_node("read", lambda state: {"question": state["mail"].partition("\n")[0], "passages": PASSAGES})
    graph.add_node("crag", node or loop())
    graph.add_node("send", lambda state: {"sent": state["confidence"] > 0.5})
    graph.add_edge(START, "read").add_edge("read", "crag").add_edge("crag", "send")
    return graph.compile(**compiled)


MAIL = {"mail": f"{QUESTION}\nYours, A."}


async def test_a_parent_of_messages_gets_the_answer_appended(filled: Store) -> None:
    crag = create_graph(load_settings(), store=filled).compile()
    parent = StateGraph(MessagesState).add_node("crag", crag).add_edge(START, "crag").compile()
    asked = {"messages": [HumanMessage("How wide is Phobos?")]}
    for found in (parent.invoke(asked), await parent.ainvoke(asked)):
        first, last = found["messages"]
        assert first.content == "How wide is Phobos?"
        assert isinstance(last, AIMessage)
        assert last.content.startswith("Phobos is 22 km wide. [1]")
        assert last.additional_kwargs["answer"] == last.content
        assert last.additional_kwargs["is_grounded"]


@dataclass
class Plain:
    question: str = QUESTION
    passages: list[str] = field(default_factory=lambda: PASSAGES)
    note: str = ""
    answer: str | None = None


class Checked(BaseModel):
    question: str = QUESTION
    passages: list[str] = PASSAGES
    note: str = ""
    answer: str | None = None


@pytest.mark.parametrize("schema", [Plain, Checked])
def test_a_parent_may_keep_its_state_as_a_dataclass_or_a_model(schema: Any) -> None:
    parent = StateGraph(schema).add_node("crag", loop()).add_edge(START, "crag").compile()
    found = parent.invoke(schema(note="mine", question=QUESTION, passages=PASSAGES))
    assert (found["note"], found["answer"]) == ("mine", ANSWER)


def test_a_run_that_waits_for_a_person_waits_with_its_parent() -> None:
    saver = InMemorySaver()
    parent = mailed(loop(on_low_confidence="ask", confidence_threshold=1.0, max_crag_attempts=0), checkpointer=saver)
    thread: Any = {"configurable": {"thread_id": "1"}}
    given = {"mail": "How long is the river?"}
    waiting = parent.invoke(given, thread)
    assert waiting["__interrupt__"][0].value["question"] == "How long is the river?"
    found = parent.invoke(Command(resume="accept"), thread)
    assert found["answer"]
    assert "sent" in found


def test_each_of_several_sends_is_answered() -> None:
    class Many(TypedDict):
        questions: list[str]
        messages: Annotated[list[AnyMessage], add_messages]
        answers: Annotated[list[str], operator.add]

    def sends(state: Many) -> list[Send]:
        return [Send("crag", {"question": q, "passages": PASSAGES, "asker": "me"}) for q in state["questions"]]

    graph = StateGraph(Many).add_node("crag", loop()).add_conditional_edges(START, sends, ["crag"])
    found = graph.compile().invoke(
        {"questions": [QUESTION, "What kind of water are most lakes?"], "messages": [], "answers": []}
    )
    assert [m.content for m in found["messages"]] == [ANSWER, "Lakes are mostly fresh water. [1]"]


@dataclass
class Asker:
    user: str
    min_chunks: int = 0


@pytest.mark.parametrize(
    ("schema", "context"),
    [
        (Asker, Asker("ann", 9)),
        (Context, Context(min_chunks=9)),
        (Context, {"min_chunks": 9}),
        (dict, {"user": "ann", "min_chunks": 9}),
    ],
)
def test_of_the_context_of_a_parent_its_options_count(schema: Any, context: Any) -> None:
    graph = StateGraph(Mail, context_schema=schema).add_node("crag", loop())
    parent = graph.add_edge(START, "crag").compile()
    given: Any = {"question": QUESTION, "passages": PASSAGES}
    assert parent.invoke(given, context=context)["answer"].startswith("I don't know")


def test_the_verifier_is_a_node_as_well_and_names_what_it_lacks() -> None:
    verifier = create_verifier(load_settings(store=None)).compile()
    parent = StateGraph(Mail).add_node("verify", verifier).add_edge(START, "verify").compile()
    found = parent.invoke({"mail": "x", "answer": SEA, "passages": PASSAGES})
    assert (found["mail"], round(found["confidence"], 1)) == ("x", 1.0)
    with pytest.raises(InputError, match="lacks passages"):
        parent.invoke({"mail": "x", "answer": SEA})


async def test_a_conversation_is_remembered_by_its_checkpointer(filled: Store) -> None:
    chat = create_chat(load_settings(), store=filled).compile(checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}
    first = chat.invoke({"messages": [("user", "How wide is Phobos?")]}, thread)["messages"]
    assert first[-1].content.startswith("Phobos is 22 km wide. [1]\n\n[1] ")
    assert first[-1].additional_kwargs["answer"] == "Phobos is 22 km wide. [1]"
    later = await chat.ainvoke({"messages": [("user", "And Deimos?")]}, thread)
    assert "12 km" in later["messages"][-1].content
    assert len(later["messages"]) == 4


# -- what is taken, said and kept -----------------------------------------------------------------------------------


class Thread(MessagesState, total=False):
    question: str
    query: str
    answer: str
    passages: list[str]
    confidence: float


def threaded(saver: Any = None, **options: Any) -> Any:
    crag = create_graph(load_settings(store=None), **options).compile()
    return StateGraph(Thread).add_node("crag", crag).add_edge(START, "crag").compile(checkpointer=saver)


def test_an_answer_that_is_left_in_a_parents_state_is_not_verified_at_the_next_turn() -> None:
    graph, thread = threaded(InMemorySaver()), {"configurable": {"thread_id": "1"}}
    first = graph.invoke({"question": QUESTION, "passages": PASSAGES}, thread)
    assert first["answer"] == ANSWER
    second = graph.invoke({"question": "What are lakes?"}, thread)
    assert second["answer"] == "Lakes are mostly fresh water. [1]"
    assert second["confidence"] > 0.7


def test_the_inputs_that_a_node_takes_are_named_and_may_have_other_keys() -> None:
    taken = threaded(inputs=("question", "answer", "passages"))
    wrong = {"question": QUESTION, "answer": "The sea is sweet.", "passages": PASSAGES}
    assert taken.invoke(wrong)["messages"][-1].additional_kwargs["verification"]["crag_attempts"] > 0
    renamed = threaded(inputs={"question": "query", "passages": "passages"})
    asked = renamed.invoke({"question": "What are lakes?", "query": QUESTION, "passages": PASSAGES})
    assert asked["answer"] == ANSWER
    with pytest.raises(InputError, match="There is no input qestion: give question"):
        create_graph(load_settings(store=None), inputs=("qestion",))


def test_a_message_is_clean_and_its_doubt_stands_beside_it() -> None:
    asked = {"messages": [HumanMessage(QUESTION)], "passages": PASSAGES}
    doubts = {"configurable": {}}
    for in_text in (False, True):
        parent = StateGraph(Thread, context_schema=Context)
        crag = create_graph(load_settings(store=None), doubt_in_text=in_text).compile()
        graph = parent.add_node("crag", crag).add_edge(START, "crag").compile()
        found = graph.invoke(asked, doubts, context=Context(confidence_threshold=1.0, max_crag_attempts=0))
        [_, message] = found["messages"]
        doubt = message.additional_kwargs["doubt"]
        assert doubt.startswith("Doubtful (")
        assert message.content == (f"{doubt} {ANSWER}" if in_text else ANSWER)


async def streamed(graph: Any, subgraphs: bool) -> list[list[tuple[str, str]]]:
    """What a stream of messages brings, each message as its pieces with their node: synchronous, then asynchronous."""
    asked = {"messages": [HumanMessage("How wide is Phobos?")]}
    events = [*graph.stream(asked, stream_mode="messages", subgraphs=subgraphs)]
    events += [event async for event in graph.astream(asked, stream_mode="messages", subgraphs=subgraphs)]
    messages: dict[str, list[tuple[str, str]]] = {}
    for message, about in (event[1] if subgraphs else event for event in events):
        messages.setdefault(message.id, []).append((about["langgraph_node"], message.text))
    return [*messages.values()]


@pytest.mark.parametrize("subgraphs", [False, True])
async def test_in_a_parent_the_answer_is_streamed_once_and_word_by_word(subgraphs: bool, filled: Store) -> None:
    crag = create_graph(load_settings(), store=filled).compile()

    def calls(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        response = crag.invoke({"question": str(state["messages"][-1].content)}, config)
        return {"messages": [AIMessage(response["answer"])]}

    parent = StateGraph(MessagesState).add_node("crag", crag).add_edge(START, "crag").compile()
    chat = create_chat(load_settings(), store=filled).compile()
    for graph, node, ends in ((parent, "crag", "[1]"), (chat, "answer", "22 km wide.”")):
        said = graph.invoke({"messages": [HumanMessage("How wide is Phobos?")]})["messages"][-1].content
        once, again = await streamed(graph, subgraphs)
        assert len(once) == len(said.split()) > 5
        assert {name for name, _ in once} == {node}
        assert "".join(text for _, text in once) == "".join(text for _, text in again) == said
        assert said.endswith(ends)
    own = StateGraph(MessagesState).add_node("calls", calls).add_edge(START, "calls").compile()
    assert [[node for node, _ in message] for message in await streamed(own, subgraphs)] == [["calls"], ["calls"]]


def kept(saver: InMemorySaver) -> int:
    """The bytes of all checkpoints."""
    blobs = sum(len(value) for _, value in saver.blobs.values())
    steps = (step for spaces in saver.storage.values() for each in spaces.values() for step in each.values())
    return blobs + sum(len(checkpoint[1]) + len(about[1]) for checkpoint, about, _ in steps)


@pytest.mark.slow
@pytest.mark.parametrize("talks", [True, False], ids=["a conversation", "a node of another graph"])
def test_twelve_turns_take_less_than_a_megabyte_of_checkpoints(talks: bool, tmp_path: Path) -> None:
    with open_store(None, EmbeddedEncoder()) as store:
        texts = [f"Bridge {n} is {n + 100} metres long. {'People cross the river on it. ' * 28}" for n in range(60)]
        store.add(as_passages([{"text": text, "source": f"{n}.md"} for n, text in enumerate(texts)]))
        saver = InMemorySaver()
        if talks:
            graph: Any = create_chat(load_settings(), store=store).compile(checkpointer=saver)
        else:
            crag = create_graph(load_settings(), store=store).compile()
            graph = StateGraph(Thread).add_node("crag", crag).add_edge(START, "crag").compile(checkpointer=saver)
        for turn in range(12):
            asked = {"messages": [HumanMessage(f"How long is bridge {turn + 20}?")]}
            found = graph.invoke(asked, {"configurable": {"thread_id": "1"}})
            assert f"{turn + 120} metres" in found["messages"][-1].content
    assert len(found["messages"]) == 24
    assert kept(saver) < 1_000_000


# -- what is refused, and what is not lost --------------------------------------------------------------------------


def test_an_option_among_the_configurable_values_is_refused_by_its_name() -> None:
    asked = {"question": QUESTION, "passages": PASSAGES}
    for name, meant in (
        ("confidence_threshold", "confidence_threshold"),
        ("confidence_treshold", "confidence_threshold"),
    ):
        with pytest.raises(InputError, match=f"'{name}' came in `configurable`.*the option {meant}"):
            loop().invoke(asked, {"configurable": {name: 0.9}})
    assert loop().invoke(asked, {"configurable": {"thread_id": "1", "user_id": "me"}})["answer"] == ANSWER
    # As LangGraph's server calls it: the options of a run stand in both.
    both = {"configurable": {"show_claims": True, "__context_provided__": True}}
    assert loop().invoke(asked, both, context={"show_claims": True})["answer"] == ANSWER


def test_the_drawing_has_the_seven_nodes_and_what_decides_on_each_way() -> None:
    drawn = loop().get_graph().draw_mermaid()
    assert "error_handler" not in drawn
    assert "below the threshold" in drawn
    assert "too few passages" in drawn


async def test_as_a_node_it_reads_its_own_keys_and_leaves_the_rest() -> None:
    for found in (mailed().invoke(MAIL), await mailed().ainvoke(MAIL)):
        assert (found["mail"], found["answer"], found["sent"]) == (MAIL["mail"], ANSWER, True)


def test_called_from_within_a_node_it_still_refuses_what_it_does_not_know() -> None:
    graph = StateGraph(Mail).add_node("own", lambda state: loop().invoke({"questoin": "?"})).add_edge(START, "own")
    with pytest.raises(InputError, match="There is no input questoin"):
        graph.compile().invoke(MAIL)


async def test_an_option_of_a_conversation_that_cannot_be_used_is_named(filled: Store) -> None:
    chat = create_chat(load_settings(), store=filled).compile()
    asked: Any = {"messages": [("user", "How wide is Phobos?")]}
    with pytest.raises(InputError, match="mode came as 'x': wanted"):
        chat.invoke(asked, context={"mode": "x"})
    with pytest.raises(InputError, match="mode came as 'x': wanted"):
        await chat.ainvoke(asked, context={"mode": "x"})

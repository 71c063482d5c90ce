"""The compiled graphs that `langgraph.json` names.

Compiled without a checkpointer: the server brings its own. The store is opened by the first question.
"""

from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime

from cragraph.api import create_graph, create_verifier
from cragraph.graph.context import Context
from cragraph.passages import place_of
from cragraph.settings import context_schema, load_settings
from cragraph.types import doubt_of

_settings = load_settings()

crag = create_graph(_settings).compile(name="crag")
verify = create_verifier(_settings).compile(name="verify")


async def answer(state: MessagesState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Answer the last message with the sources below; the whole response comes with the message."""
    messages = [{"role": m.type, "content": m.additional_kwargs.get("answer", m.text)} for m in state["messages"]]
    response = await crag.ainvoke({"messages": messages}, context=runtime.context)
    said = f"{doubt_of(response['decision'])}{response['answer']}"
    text = "\n\n".join([said, *map(source, response["citations"])])
    return {"messages": [AIMessage(text, additional_kwargs=response)]}


def source(citation: dict[str, Any]) -> str:
    """Where a citation points, in one line."""
    quotes = " … ".join(f"“{' '.join(quote.split())}”" for quote in citation["quotes"] or [citation["text"]])
    return f"[{citation['number']}] {place_of(citation['metadata'])}: {quotes}"


chat = (
    StateGraph(MessagesState, context_schema=context_schema(_settings))
    .add_node("answer", answer)
    .add_edge(START, "answer")
    .compile(name="chat")
)

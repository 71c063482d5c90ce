"""A chat over your documents as a web service: every thread remembers its conversation, answers come as they are made.

pip install cragraph
CRAG_STORE=.cragraph uvicorn examples.app:app

curl -N -d '{"question": "When does the loop stop?"}' -H 'Content-Type: application/json' localhost:8000/threads/1/ask
"""

import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from cragraph import Context, create_chat, load_settings

app = FastAPI()
# In memory, so that threads end with the process; SqliteSaver or PostgresSaver keep them.
graph = create_chat(load_settings()).compile(checkpointer=InMemorySaver())


class Question(BaseModel):
    """What is asked, and how sure the answer must be."""

    question: str
    threshold: float = 0.7


@app.post("/threads/{thread}/ask")
async def ask(thread: str, body: Question) -> StreamingResponse:
    """Server-sent events: `token` as a chat model writes, `node` as each step is done, `answer` at the end."""
    return StreamingResponse(told(thread, body), media_type="text/event-stream")


async def told(thread: str, body: Question) -> AsyncIterator[str]:
    """One run of the graph as events; the checkpointer keeps what was said on the thread."""
    run = graph.astream(
        {"messages": [("user", body.question)]},
        {"configurable": {"thread_id": thread}},
        context=Context(confidence_threshold=body.threshold),
        stream_mode=["updates", "messages"],
        subgraphs=True,  # the steps are those of the graph within
    )
    async for inside, mode, what in run:
        if inside and mode == "messages":
            yield event("token", what[0].content)
        elif inside:
            yield event("node", next(iter(what)))
        elif mode == "updates":
            found = what["answer"]["messages"][-1].additional_kwargs
            yield event(
                "answer", {name: found[name] for name in ("answer", "accepted", "decision", "citations", "issues")}
            )


def event(kind: str, data: Any) -> str:
    """A server-sent event."""
    return f"event: {kind}\ndata: {json.dumps(data)}\n\n"

"""A chat over your documents as a web service: every thread remembers its conversation, answers come as they are made.

pip install cragraph
CRAG_STORE=.cragraph uvicorn examples.app:app

curl -N -d '{"question": "When does the loop stop?"}' -H 'Content-Type: application/json' localhost:8000/threads/1/ask
"""

import json
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from cragraph import Context, create_graph, load_settings

app = FastAPI()
graph = create_graph(load_settings()).compile()
threads: defaultdict[str, list[dict[str, str]]] = defaultdict(list)


class Question(BaseModel):
    """What is asked, and how sure the answer must be."""

    question: str
    threshold: float = 0.5


@app.post("/threads/{thread}/ask")
async def ask(thread: str, body: Question) -> StreamingResponse:
    """Server-sent events: `token` as a chat model writes, `node` as each step is done, `answer` at the end."""
    return StreamingResponse(told(threads[thread], body), media_type="text/event-stream")


async def told(messages: list[dict[str, str]], body: Question) -> AsyncIterator[str]:
    """One run of the graph as events; the conversation grows when it is done."""
    run = graph.astream(
        {"question": body.question, "messages": [*messages]},
        context=Context(confidence_threshold=body.threshold),
        stream_mode=["updates", "messages", "values"],
    )
    found: dict[str, Any] = {}
    async for mode, what in run:
        if mode == "messages":
            yield event("token", what[0].content)
        elif mode == "updates":
            yield event("node", next(iter(what)))
        else:
            found = what
    messages += [{"role": "user", "content": body.question}, {"role": "assistant", "content": found["answer"]}]
    yield event(
        "answer", {name: found[name] for name in ("answer", "confidence", "is_grounded", "citations", "issues")}
    )


def event(kind: str, data: Any) -> str:
    """A server-sent event."""
    return f"event: {kind}\ndata: {json.dumps(data)}\n\n"

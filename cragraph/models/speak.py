"""The decided answer as a stream of messages, for LangGraph's ``stream_mode="messages"``."""

import re
from typing import Any, Literal

from langchain_core.callbacks.manager import CallbackManagerForLLMRun
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import get_callback_manager_for_config
from langgraph.config import get_config


def speak(answer: str, config: RunnableConfig | None = None) -> str | None:
    """Stream an answer word by word into the messages of the running node, if they are being read.

    `config` is the node's; without, that of the node around the call. Returns the id of the message, None if nobody
    reads: a message of that id in the node's update is not streamed again.
    """
    try:
        config = config or get_config()
    except RuntimeError:  # outside of a graph
        return None
    callbacks, name = config.get("callbacks"), None
    handlers: Any = getattr(callbacks, "handlers", callbacks) or []
    if any(type(handler).__name__ == "StreamMessagesHandler" for handler in handlers):
        for run in get_callback_manager_for_config(config).on_chat_model_start({"name": "decided"}, [[]]):
            name = f"run-{run.run_id}"
            _stream(answer, run, name)
    return name


def _stream(answer: str, run: CallbackManagerForLLMRun, name: str) -> None:
    """Send the words as those of a chat model, without one: the import of its class takes long."""
    pieces = re.findall(r"\s*\S+", answer)
    for place, words in enumerate(pieces, start=1):
        position: Literal["last"] | None = "last" if place == len(pieces) else None
        message = AIMessageChunk(content=words, id=name, chunk_position=position)
        run.on_llm_new_token(words, chunk=ChatGenerationChunk(message=message))
    run.on_llm_end(LLMResult(generations=[[ChatGeneration(message=AIMessage(answer, id=name))]]))

"""The decided answer as a stream of messages, for LangGraph's ``stream_mode="messages"``."""

import re
from typing import Any, Literal

from langchain_core.callbacks.manager import CallbackManagerForLLMRun
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult
from langchain_core.runnables.config import get_callback_manager_for_config
from langgraph.config import get_config


def speak(answer: str) -> None:
    """Stream an answer word by word into the messages of the running graph, if they are being read."""
    try:
        config = get_config()
    except RuntimeError:  # outside of a graph
        return
    callbacks = config.get("callbacks")
    handlers: Any = getattr(callbacks, "handlers", callbacks) or []
    if any(type(handler).__name__ == "StreamMessagesHandler" for handler in handlers):
        for run in get_callback_manager_for_config(config).on_chat_model_start({"name": "decided"}, [[]]):
            _stream(answer, run)


def _stream(answer: str, run: CallbackManagerForLLMRun) -> None:
    """Send the words as those of a chat model, without one: the import of its class takes long."""
    name, pieces = f"run-{run.run_id}", re.findall(r"\s*\S+", answer)
    for place, words in enumerate(pieces, start=1):
        position: Literal["last"] | None = "last" if place == len(pieces) else None
        message = AIMessageChunk(content=words, id=name, chunk_position=position)
        run.on_llm_new_token(words, chunk=ChatGenerationChunk(message=message))
    run.on_llm_end(LLMResult(generations=[[ChatGeneration(message=AIMessage(answer, id=name))]]))

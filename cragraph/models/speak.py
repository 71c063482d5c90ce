"""The decided answer as a stream of messages, for LangGraph's ``stream_mode="messages"``."""

import re
from collections.abc import Iterator
from typing import Any

from langgraph.config import get_config


def speak(answer: str) -> None:
    """Stream an answer word by word into the messages of the running graph, if they are being read."""
    try:
        callbacks = get_config().get("callbacks")
    except RuntimeError:  # outside of a graph
        return
    handlers: Any = getattr(callbacks, "handlers", callbacks) or []
    if any(type(handler).__name__ == "StreamMessagesHandler" for handler in handlers):
        for _ in _words_of(answer):
            pass


def _words_of(answer: str) -> Iterator[Any]:
    """The answer as the output of a fake chat model, so that LangGraph streams it like any model's."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, AIMessageChunk
    from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

    class Decided(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "decided"

        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **given: Any) -> ChatResult:
            return ChatResult(generations=[ChatGeneration(message=AIMessage(answer))])

        def _stream(
            self, messages: Any, stop: Any = None, run_manager: Any = None, **given: Any
        ) -> Iterator[ChatGenerationChunk]:
            for words in re.findall(r"\s*\S+", answer):
                chunk = ChatGenerationChunk(message=AIMessageChunk(content=words))
                if run_manager is not None:
                    run_manager.on_llm_new_token(words, chunk=chunk)
                yield chunk

    return Decided().stream(answer)

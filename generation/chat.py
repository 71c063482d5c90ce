"""The generator with a chat model: writes a cited answer, corrects a faulty one, and says when it does not know."""

import re
from functools import partial
from typing import Final

from cragraph.errors import ModelError
from cragraph.generation.phrases import plain
from cragraph.models.chat import ChatPart
from cragraph.protocols import Brief, Notes
from cragraph.text.declining import declines, declining
from cragraph.text.sentences import sentence_spans
from cragraph.types import IDK, Verdict

MOST_FAILED: Final = 12  # failed claims that a correction is told about: more than a small model can attend to
ANSWER_TOKENS: Final = 512  # tokens of an answer at most: what is longer is a model that does not find its end
SECOND_TRY: Final = 0.4  # added to the temperature after an empty answer: a seeded model would write nothing again

_LABEL = re.compile(r"\A(?:\*\*)?(?:corrected |final |revised )?answer(?:\*\*)?:(?:\*\*)?\s*", re.I)
_ECHO = re.compile(
    r"^[ \t#*]*(?:code: [0-9a-f]{4,6}\b|(?:previous answer|faulty statements in it|question):).*$", re.I | re.M
)
"""Lines of our own prompt: an answer ends where it begins to repeat them."""
_MANY = re.compile(
    r"[\[【](?:passages?|sources?|p\.)?\s*#?(\d{1,3}(?:\s*(?:,|;|and|&)\s*(?:passage\s*)?#?\d{1,3})*)[\]】]", re.I
)


class ChatGenerator(ChatPart):
    """Writes with a chat model, token by token into LangGraph's message stream.

    A reply that declines becomes exactly `IDK`; an empty one is asked for once more and then is a `ModelError`.
    """

    def __call__(self, brief: Brief, notes: Notes) -> str:
        """The answer with ``[n]`` markers that count the brief's passages from 1."""
        if not brief.passages:
            return IDK
        task = "regenerate" if brief.previous and brief.failed else "generate"
        failed = "\n".join(_fault(verdict) for verdict in brief.failed[:MOST_FAILED])
        quoted = {"previous": brief.previous, "failed": failed}
        prompt = partial(
            self.messages, task, notes, quoted=quoted, most=ANSWER_TOKENS, question=brief.question, idk=IDK
        )
        messages, passages = prompt(brief.passages)
        for more in (0.0, SECOND_TRY):
            reply = self.caller(messages, notes, temperature=brief.temperature + more, quiet=False, most=ANSWER_TOKENS)
            if reply.unread and len(passages) > 1:
                messages, _ = prompt(passages[: len(passages) // 2])
                continue
            answer = tidy(reply.text)
            if answer:
                return settled(answer)
        raise ModelError(f"{self.name} wrote an empty answer twice; wanted a sentence: try another model.")


def tidy(text: str) -> str:
    """The answer without a label in front or quoted delimiters; ``[passage 1, 2]`` becomes ``[1][2]``."""
    text = re.sub(r"<<(?:passage|end|answer|claims)\b[^>\n]*>>", "", text)
    text = _ECHO.split(text, maxsplit=1)[0] if _ECHO.search(text, 1) else _ECHO.sub("", text)
    text = _LABEL.sub("", text.strip())
    return _MANY.sub(lambda match: "".join(f"[{number}]" for number in re.findall(r"\d+", match[1])), text).strip()


def _fault(verdict: Verdict) -> str:
    parts = [f'- "{verdict["text"]}" is {verdict["verdict"].replace("_", " ")}']
    if verdict["reasoning"]:
        parts.append(f"reason: {verdict['reasoning']}")
    if correction := verdict.get("correction"):
        parts.append(f"correction: {correction}")
    return "; ".join(parts)


def settled(answer: str) -> str:
    """The answer, or exactly `IDK` where all of it declines, or the first sentence and nothing is cited.

    Else only the sentence that a model was told to decline with is left out.
    """
    text = answer.replace("\u2019", "'")
    if declines(text):
        return IDK
    spans = sentence_spans(text)
    if not any(declining(text[start:end]) for start, end in spans):
        return answer
    kept = [answer[start:end] for start, end in spans if plain(text[start:end]) != plain(IDK)]
    return " ".join(kept) if len(kept) < len(spans) else answer

"""The generator with a chat model: writes a cited answer, corrects a faulty one, and says when it does not know."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from cragraph.answers.answered import denies
from cragraph.answers.excerpts import BUDGET, Excerpt, excerpts
from cragraph.answers.extractive import FLOOR, ExtractiveGenerator
from cragraph.answers.ranking import AnswerRanker
from cragraph.errors import ModelError
from cragraph.language.markers import CITED, find_markers, without_markers, without_references
from cragraph.language.questions import asks_whether, declines, declining, split_question
from cragraph.language.sentences import sentence_spans
from cragraph.language.words import content_words, normalised
from cragraph.models.budget import Messages
from cragraph.models.chat import ChatCaller, ChatPart, ChatReply
from cragraph.protocols import Brief, Notes
from cragraph.types import IDK, Passage, Verdict, judge_reason

MOST_FAILED: Final = 12  # failed claims in the prompt of a correction at most
ANSWER_TOKENS: Final = 512  # tokens of an answer at most: a model that writes more does not find its end
# Added to the temperature after an empty answer: with the same seed the model would write nothing again.
SECOND_TRY: Final = 0.4
ROOM: Final = 4_000
"""Estimated tokens of passages in a capable model's prompt: twelve whole passages and a small table."""
DECLINE: Final = "I don't know"
"""The words by which a model declines: short, and no answer begins with them."""
EXAMPLE: Final = "The bridge was rebuilt in 1894."
"""The example sentence of the prompts: a copy of it is no answer."""
POINTED: Final = 0.05
"""Least probability of a passage's best sentence, if the model only named the passage."""
MOST_QUERIES: Final = 3  # of a model that declines
LONGEST_QUERY: Final = 200  # characters of such a query
SHORT: Final = 3  # words of a reply that is a bare name or figure at most
NOTHING: Final = "no passage says what it may mean"
AGAIN: Final = (
    "That is no sentence. Answer the question in one full sentence with the words of the passages, then the number of "
    "the passage in brackets."
)

_LABEL = re.compile(r"\A(?:\*\*)?(?:corrected |final |revised )?answer(?:\*\*)?:(?:\*\*)?\s*", re.I)
_ECHO = re.compile(
    r"^[ \t#*]*(?:code: [0-9a-f]{4,6}\b|(?:this answer was checked|faults in it|question):).*$", re.I | re.M
)
"""Lines of the prompt: an answer is cut where it begins to repeat them."""
_OF_PROMPT = re.compile(r"\b(?:passages?|context)\b", re.I)
"""The prompts' words for the passages, which no document uses for itself."""
_FRAME = re.compile(
    r"(?:\A|(?<=[.!?\]]\s)|(?<=\n))(?:according to (?:the|these|this) passages?,\s+|(?:the|this|these) passages?"
    r"(?: [0-9a-f]{4}(?: \d{1,2})?(?:: [^\s:]+)?)? (?:states?|says?|mentions?|indicates?|explains?) that\s+)(?=\S)",
    re.I,
)
"""The frame that a model puts before a statement: "The passage states that"."""
_SEARCH = re.compile(r"^[ \t*]*search(?:[ \t]+for)?[ \t*]*:(?P<queries>.*)\Z", re.I | re.M | re.S)
"""The search words at the end of a reply that declines."""
_YES = re.compile(r"\W*yes\s*[,.;:!\u2013\u2014-]+\s*(?=\w)", re.I)
_EXAMPLE = re.compile(rf"{re.escape(EXAMPLE)}\s*(?:\[\d+\])*\s*")
_MANY = re.compile(
    r"[\[【](?:passages?|sources?|p\.)?\s*#?(\d{1,3}(?:\s*(?:,|;|and|&)\s*(?:passage\s*)?#?\d{1,3})*)[\]】]", re.I
)


@dataclass(frozen=True)
class ChatGenerator(ChatPart):
    """Writes the answer with a chat model; its tokens go into LangGraph's message stream unless the brief is `quiet`.

    With a `ranker` the model gets only the parts of the passages that may answer (`excerpts`), and an incomplete reply
    is completed from the passages. A reply that declines becomes exactly `IDK`, and its search words are noted. After
    an empty reply the model is asked once more; a second empty reply is a `ModelError`. The prompt of a model that is
    not `Worth.capable` has no example, because the model would copy it, and no numbers of passages. Such a model
    corrects nothing: later passes quote the passages.
    """

    ranker: AnswerRanker | None = None

    def __call__(self, brief: Brief, notes: Notes) -> str:
        """The answer with ``[n]`` markers that count the brief's passages from 1."""
        if not brief.passages:
            return IDK
        capable = self.caller.worth.capable
        if brief.previous and self.ranker is not None and not capable:
            notes.ran("corrections", "extractive")
            # Sentences that the model wrote must not be taken for sentences of the passages.
            return ExtractiveGenerator(self.ranker)(replace(brief, previous=""), notes)
        task = "generate" if capable else "generate_plainly"
        if brief.previous and brief.failed:
            task = "regenerate"
        failed = "\n".join(_fault(verdict) for verdict in brief.failed[:MOST_FAILED])
        chosen = sent(brief.question, brief.passages, self.ranker, room_of(self.caller))

        def prompt(passages: Sequence[Passage]) -> tuple[Messages, list[Passage]]:
            # The answer before is shown with the numbers that its passages have in this prompt.
            numbers = {number: place for place, number in enumerate(renumbering(chosen, passages), start=1)}
            quoted = {"previous": with_numbers(brief.previous, numbers), "failed": failed}
            return self.messages(
                task, notes, passages, quoted=quoted, most=ANSWER_TOKENS, question=brief.question, idk=DECLINE
            )

        messages, kept = prompt([one.passage for one in chosen])
        for more in (0.0, SECOND_TRY):
            reply = self._asked(messages, notes, brief, brief.temperature + more)
            if reply.unread and len(kept) > 1:
                messages, kept = prompt(kept[: len(kept) // 2])
                continue
            plainly = partial(self._plainly, kept, brief, notes)
            if answer := self._whole(reply, messages, renumbering(chosen, kept), brief, notes, plainly):
                if answer == IDK:
                    notes.search += wanted(reply.text)
                return answer
        raise ModelError(f"{self.name} wrote an empty answer twice; wanted a sentence: try another model.")

    def _asked(self, messages: Messages, notes: Notes, brief: Brief, temperature: float) -> ChatReply:
        most, quiet = ANSWER_TOKENS, brief.quiet
        return self.caller(messages, notes, temperature=temperature, quiet=quiet, most=most, logprob=True)

    def _plainly(self, passages: Sequence[Passage], brief: Brief, notes: Notes) -> ChatReply:
        """The reply to the same passages and question without an example and without markers."""
        prompt = self.messages("generate_plainly", notes, passages, most=ANSWER_TOKENS, question=brief.question)
        return self._asked(prompt[0], notes, brief, brief.temperature)

    def _whole(
        self,
        reply: ChatReply,
        messages: Messages,
        numbers: Sequence[int],
        brief: Brief,
        notes: Notes,
        plainly: Callable[[], ChatReply],
    ) -> str:
        """The reply as an answer, completed if it is incomplete; empty for an empty reply. The reply itself is
        noted."""
        text = tidy(_SEARCH.sub("", reply.text))
        if not text and EXAMPLE in reply.text:
            text, fault = reply.text, "the example of the prompt"
        else:
            fault = unfinished(text, brief.question) if text else ""
            if not fault and self.ranker is not None and (named := self._word(text, numbers, brief, notes)):
                return named
        if not fault:
            return self._own(text, numbers, reply, brief, notes) if text else ""
        shown = " ".join(text.split())
        wrote = f"{self.name} wrote {fault} (“{shown if len(shown) <= 60 else shown[:60] + '…'}”)"
        if EXAMPLE in text:
            # A small model that declines to this form of the prompt often answers another form.
            more = tidy((again := plainly()).text)
            if more and not unfinished(more, brief.question) and settled(more) != IDK:
                notes.degraded(f"{wrote}; it was asked once more, without the example.")
                return self._own(more, numbers, again, brief, notes)
            quoted = self._quoted(brief, brief.passages, notes, FLOOR)
            notes.degraded(f"{wrote}; {'the answer is what the passages say to the question' if quoted else NOTHING}.")
            return quoted or IDK
        if quoted := self._pointed_at(renumbered(text, numbers), brief, notes):
            notes.degraded(f"{wrote}; the answer is what the passage that it named says to the question.")
            return quoted
        second = [*messages, ("ai", text[:500]), ("human", AGAIN)]
        again = self._asked(second, notes, brief, brief.temperature)
        if (more := tidy(again.text)) and not unfinished(more, brief.question):
            notes.degraded(f"{wrote}; it was asked for a sentence once more.")
            return self._own(more, numbers, again, brief, notes)
        if quoted := self._quoted(brief, brief.passages, notes):
            notes.degraded(f"{wrote}, twice; the answer is what the passages say to the question.")
            return quoted
        notes.degraded(f"{wrote}, twice, and {NOTHING}.")
        return IDK

    def _own(self, text: str, numbers: Sequence[int], reply: ChatReply, brief: Brief, notes: Notes) -> str:
        answer = unframed(settled(renumbered(text, numbers)))
        if plain := without_false_yes(brief.question, answer):
            notes.degraded(f"{self.name} wrote yes before a sentence that says no: the yes was left out.")
            answer = plain
        if answer != IDK:
            notes.wrote(answer, reply.logprob)
        return answer

    def _word(self, text: str, numbers: Sequence[int], brief: Brief, notes: Notes) -> str:
        """The answering sentence of the passage that a reply of a bare yes or no names: the word alone cannot be
        verified.

        For a bare name or figure without a named passage, the only sentence of the passages with that name or figure.
        """
        bare = normalised(without_markers(text))
        if bare in ("yes", "no"):
            quoted, why = self._pointed_at(renumbered(text, numbers), brief, notes), "the passage that it named says"
        elif len(bare.split()) <= SHORT and not declines(text):
            quoted, why = _place_of(text, brief), "the one sentence that has it says"
        else:
            return ""
        if quoted:
            notes.degraded(f"{self.name} wrote {bare} alone; the answer is what {why}.")
        return quoted

    def _pointed_at(self, text: str, brief: Brief, notes: Notes) -> str:
        """The answer of the passages that a text names; empty if it names none, or they do not answer."""
        cited = dict.fromkeys(n for marker in find_markers(text) for n in marker.numbers if n <= len(brief.passages))
        words = set(content_words(without_markers(text))) - {"yes", "no", *content_words(brief.question)}
        for number in cited:
            passage = brief.passages[number - 1]
            # For a bare figure or name: the sentence of the named passage that has it.
            pieces = [passage["text"][start:end] for start, end in sentence_spans(passage["text"])]
            held = [piece for piece in pieces if words <= set(content_words(piece))]
            if words and len(held) == 1:
                return f"{' '.join(held[0].split())} [{number}]"
            if quoted := self._quoted(brief, [passage], notes):
                return quoted.replace("[1]", f"[{number}]")
        return ""

    def _quoted(self, brief: Brief, passages: Sequence[Passage], notes: Notes, floor: float = POINTED) -> str:
        """The embedded answerer's answer from some passages; empty if they do not answer."""
        if self.ranker is None or brief.failed:
            return ""
        embedded = ExtractiveGenerator(self.ranker, floor=floor)
        quoted = embedded(replace(brief, passages=passages, previous="", failed=()), notes)
        return "" if quoted == IDK else quoted


def wanted(reply: str) -> list[str]:
    """The search queries in the last line of a reply that declines."""
    match = _SEARCH.search(reply)
    pieces = re.split(r"[;\n]", match["queries"]) if match else []
    queries = (" ".join(re.sub(r"^\s*\d+[.)]\s", "", piece).split()).strip("*-•\"'“” ") for piece in pieces)
    return [query for query in queries if 2 < len(query) <= LONGEST_QUERY][:MOST_QUERIES]


def room_of(caller: ChatCaller) -> int:
    """The budget for passages in a model's prompt, in estimated tokens: larger for a capable model with a large
    context."""
    if not caller.worth.capable:
        return BUDGET
    context = caller.num_ctx
    return ROOM if context is None else max(BUDGET, min(ROOM, context // 2))


def with_numbers(answer: str, numbers: Mapping[int, int]) -> str:
    """An answer with its markers renumbered; a marker whose passage has no number is left out."""
    for marker in reversed(find_markers(answer)):
        shown = "".join(f"[{numbers[n]}]" for n in marker.numbers if n in numbers)
        start = marker.start if shown else len(answer[: marker.start].rstrip())
        answer = answer[:start] + shown + answer[marker.end :]
    return answer


def _place_of(text: str, brief: Brief) -> str:
    """The only sentence of the passages that has all words of a text, with its number; empty if there are several."""
    words = set(content_words(text)) - set(content_words(brief.question))
    held = {
        " ".join(passage["text"][start:end].split()): number
        for number, passage in enumerate(brief.passages, start=1)
        for start, end in sentence_spans(passage["text"])
        if words and words <= set(content_words(passage["text"][start:end]))
    }
    return "".join(f"{sentence} [{number}]" for sentence, number in held.items()) if len(held) == 1 else ""


def without_false_yes(question: str, answer: str) -> str:
    """The answer without a yes before a sentence that denies its question; empty for any other answer."""
    match = _YES.match(answer)
    if match is None or not asks_whether(question):
        return ""
    rest = answer[match.end() :]
    spans = sentence_spans(rest)
    return rest[:1].upper() + rest[1:] if spans and denies(question, rest[spans[0][0] : spans[0][1]]) else ""


def sent(
    question: str, passages: Sequence[Passage], ranker: AnswerRanker | None, budget: int = BUDGET
) -> list[Excerpt]:
    """The excerpts of the passages in the prompts on a question: the same for every call."""
    if ranker is None:
        chosen = [Excerpt(number, passage) for number, passage in enumerate(passages, start=1)]
    else:
        rankings = [ranker(part, passages) for part in split_question(question)]
        chosen = excerpts(question, passages, rankings, ranker.embeddings, budget=budget)
    return [Excerpt(o.number, {**o.passage, "text": without_references(o.passage["text"])}) for o in chosen]


def renumbering(chosen: Sequence[Excerpt], kept: Sequence[Passage]) -> list[int]:
    """For each passage of the prompt its number among all passages, as some did not fit."""
    left = iter(chosen)
    return [next(one.number for one in left if one.passage["chunk_id"] == passage["chunk_id"]) for passage in kept]


def renumbered(text: str, numbers: Sequence[int]) -> str:
    """A text with the markers of the prompt's numbering replaced by the passages' numbers; unknown ones are left
    out."""
    return with_numbers(text, dict(enumerate(numbers, start=1)))


def unfinished(text: str, question: str) -> str:
    """Why a reply is no complete answer, in words; empty for a complete answer.

    A bare name or figure is incomplete: it does not say what it belongs to.
    """
    bare = without_markers(text).strip(" \n.:;-–—*")
    lines = [line for line in text.splitlines() if without_markers(line).strip()]
    if not re.search(r"\w", bare):
        return "only the number of a passage" if CITED.search(text) else "no word"
    if normalised(bare) == normalised(question):
        return "the question again"
    if all(re.match(r"\s*#{1,6}\s|\s*\*\*[^*]+\*\*:?\s*(?:\[\d+\])*\s*$", line) for line in lines):
        return "a heading"
    if DECLINE.casefold() in text.replace("\u2019", "'").casefold() or declines(text):
        return ""
    return (
        "a fragment"
        if len(bare.split()) <= SHORT and CITED.search(text) and normalised(bare) not in ("yes", "no")
        else ""
    )


def tidy(text: str) -> str:
    """The answer without a label in front or quoted delimiters; ``[passage 1, 2]`` becomes ``[1][2]``."""
    text = re.sub(r"<<(?:passage|end|answer|claims)\b[^>\n]*>>", "", text)
    text = _ECHO.split(text, maxsplit=1)[0] if _ECHO.search(text, 1) else _ECHO.sub("", text)
    text = _EXAMPLE.sub("", _LABEL.sub("", text.strip()))
    return _MANY.sub(lambda match: "".join(f"[{number}]" for number in re.findall(r"\d+", match[1])), text).strip()


def unframed(answer: str) -> str:
    """The answer without "The passage states that" before its sentences, so that each can be verified."""
    text, end = "", 0
    for match in _FRAME.finditer(answer):
        text += answer[end : match.start()] + answer[match.end()].upper()
        end = match.end() + 1
    return text + answer[end:]


def _fault(verdict: Verdict) -> str:
    """A failed claim with the judge's reason, the quote against it, and the correction."""
    parts = [f'- "{verdict["text"]}" is {verdict["verdict"].replace("_", " ")}']
    if reason := judge_reason(verdict).rstrip("."):
        parts.append(f"reason: {reason}")
    if verdict["verdict"] == "contradicted" and verdict["evidence"]:
        parts.append(f'the passages say: "{verdict["evidence"]["quote"]}"')
    if correction := verdict.get("correction"):
        parts.append(f"correction: {correction}")
    return "; ".join(parts)


def settled(answer: str) -> str:
    """The answer; exactly `IDK` if all of it declines, or its first sentence does and nothing is cited.

    In any other answer only the sentence of declining from the prompt is left out.
    """
    text = answer.replace("\u2019", "'")
    bare = without_markers(text)
    if re.fullmatch(rf"\W*{DECLINE}\b[^,;:.]*\W*", bare, re.I) or declines(text):
        return IDK
    if _OF_PROMPT.search(bare) and declines(bare):  # a small model puts a number behind everything
        return IDK
    spans = sentence_spans(text)
    if not any(declining(text[start:end]) for start, end in spans):
        return answer
    kept = [
        answer[start:end]
        for start, end in spans
        if normalised(text[start:end]) not in (normalised(IDK), normalised(DECLINE))
    ]
    return " ".join(kept) if len(kept) < len(spans) else answer

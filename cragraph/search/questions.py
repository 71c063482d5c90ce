"""Sub-questions: for search, for finding unanswered parts, and for queries after failed claims.

By rules, which are English but for years; the last classes ask a chat model instead.
"""

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema

from cragraph.errors import DeadlineError, ModelError
from cragraph.language.lexicon import YEAR, words_of
from cragraph.language.markers import without_markers
from cragraph.language.questions import PERSON, THING, split_question
from cragraph.language.sentences import sentences
from cragraph.language.words import content_words, is_stopword, keywords, numbers, plain_years, terms, words
from cragraph.models.cache import unit
from cragraph.models.chat import ChatPart
from cragraph.models.replies import Lines, Text
from cragraph.passages import as_message
from cragraph.prompts import Prompt, marker_for, neutral
from cragraph.protocols import Embeddings, Notes, QueryWriter
from cragraph.turns import KINDS, SMALL_TALK, Kind, Turn, after_greetings, by_rules, last_answer, opens_with_greeting
from cragraph.types import IDK, Passage, Verdict, judge_reason

logger = logging.getLogger(__name__)

AT_MOST: Final = 6  # sub-questions at most; each costs a search
SIMILAR: Final = 0.25  # least cosine of a part and a sentence of the answer about it
TERSE: Final = 6  # an answer of fewer words, such as "308 points", need not repeat words of the question


# -- taking a question apart -------------------------------------------------------------------------------------------


def decompose(question: str) -> list[str]:
    """Sub-questions that together cover the question, in its order; none for a simple question.

    First the parts of the text; each part is then divided by several years, several names, or two properties of one
    thing, whichever applies first. Only the division by years works in languages other than English."""
    asked = split_question(question)
    parts: list[str] = []
    for clause in asked:
        if parts and len(asked) > 1 and (PERSON.search(clause) or THING.search(clause)):
            clause = f"{clause.rstrip('?')} {_subject(asked[0])}"
        ways = (split(clause) for split in (split_years, split_names, split_things))
        pieces = next((pieces for pieces in ways if len(pieces) > 1), None)
        parts += [" ".join(part.split()) for part in pieces] if pieces else [clause] if len(asked) > 1 else []
    parts = distinct(parts)
    return parts[:AT_MOST] if len(parts) > 1 else []


def distinct(parts: list[str], *known: str) -> list[str]:
    """The parts with words that differ from every earlier part and known text."""
    seen = {frozenset(content_words(text)) for text in known}
    kept: list[str] = []
    for part in parts:
        key = frozenset(content_words(part))
        if key and key not in seen:
            seen.add(key)
            kept.append(part)
    return kept


@dataclass(frozen=True)
class Decompose:
    """The embedded query expander: the sub-questions of `decompose`."""

    name: str = "decompose"

    def __call__(self, question: str, notes: Notes) -> list[str]:
        """The sub-questions of a question that differ from it; none for a simple question."""
        return distinct(decompose(plain_years(question)), question)


NO_WRITER: Final = (
    "multi_query needs a chat model, and there is none: the question was searched as it stands, and by its parts."
)


@dataclass(frozen=True)
class Unwritten:
    """The embedded expander in place of a missing chat model's, with a note."""

    expand: Decompose = field(default_factory=Decompose)
    name: str = "decompose"

    def __call__(self, question: str, notes: Notes) -> list[str]:
        """The sub-questions of a question."""
        notes.degraded(NO_WRITER)
        return self.expand(question, notes)


# -- names, things, years ----------------------------------------------------------------------------------------------

_NAME: Final = r"[A-Z][\w.&'’-]*(?:\s+(?:[A-Z][\w.&'’-]*|of(?=\s+[A-Z])))*"
_NAMES: Final = re.compile(rf"(?<!^)(?<![.?!]\s)(?:{_NAME}(?:,\s+{_NAME})*),?\s+(?:and|or)\s+{_NAME}")
_PAIR: Final = re.compile(
    r"\b(?P<lead>what|which|the|its|their|his|her|our|for|of|[a-z]+['’]s)\s+"
    r"(?P<left>(?:[a-z-]+\s+){0,2}[a-z-]+)\s+and\s+(?P<right>(?:the\s+)?(?:[a-z-]+\s+){0,2}[a-z-]+)"
    r"(?=\s+(?:of|for|in|at|by|from|during|on)\s|\s*\?|\s*$)"
)
FIXED: Final = frozenset(pair.replace("_", " ") for pair in words_of("pairs_of_one"))


def split_names(question: str) -> list[str]:
    """One question for each of several proper names in a row: ``profit of Apple and Intel``."""
    match = _NAMES.search(question)
    if not match:
        return []
    listed = re.split(r",?\s+(?:and|or)\s+|,\s+", match.group())
    return [question[: match.start()] + name + question[match.end() :] for name in listed if name]


def split_things(question: str) -> list[str]:
    """One question for each of two properties of a thing: ``the price and weight of the X``."""
    match = _PAIR.search(question)
    if not match:
        return []
    left, right = match["left"], match["right"].removeprefix("the ")
    pair = f"{left.split()[-1]} and {right.split()[0]}"
    if pair in FIXED or not all(len(keywords(side)) and side not in _EMPTY for side in (left, right)):
        return []
    start, end = match.start("left"), match.end("right")
    return [question[:start] + side + question[end:] for side in (left, right)]


_EMPTY: Final = frozenset(("more", "less", "others", "other", "so on"))


def _subject(clause: str) -> str:
    tail = clause.split(maxsplit=1)[-1]
    named = re.findall(_NAME, tail)
    return " ".join(named or keywords(tail)[-4:])


_YEARS: Final = re.compile(
    rf"(?P<open>\b(?:from|between)\s+)?(?P<first>\b{YEAR})"
    rf"(?P<rest>(?:\s*(?:,\s*and|,|/|&|-|–|—|\band\b|\bor\b|\bto\b|\bthrough\b|\bvs\.?|\bversus\b|\bund\b|\bbis\b)\s*{YEAR}\b)+)"
)
_LONGEST_RANGE: Final = 6


def split_years(question: str) -> list[str]:
    """The question once for each of several years; a range of at most six years counts as all of them."""
    if match := _YEARS.search(question):
        listed = [int(year) for year in re.findall(YEAR, match.group())]
        spans = match["open"] or re.search(r"-|–|—|\bto\b|\bthrough\b", match["rest"])
        if spans and len(listed) == 2 and 0 < listed[1] - listed[0] < _LONGEST_RANGE:
            listed = list(range(listed[0], listed[1] + 1))
        lead = "in " if match["open"] else ""
        return [f"{question[: match.start()]}{lead}{year}{question[match.end() :]}" for year in dict.fromkeys(listed)]
    named = list(dict.fromkeys(re.findall(rf"\b{YEAR}\b", question)))
    if len(named) < 2:
        return []
    other = r"\s*\b(?:in|of|for|to|from|since|during|and|than)?\s*(?:fiscal\s+)?(?:{})\b"
    return [re.sub(other.format("|".join(y for y in named if y != year)), "", question) for year in named]


# -- what an answer leaves open ----------------------------------------------------------------------------------------

_MARK: Final = re.compile(r"(?<![.?!]\s)(?<!^)\b[A-Z][\w-]*|\b\w*\d[\w-]*")


def unanswered_parts(question: str, answer: str, embeddings: Embeddings | None) -> list[str]:
    """The parts of a question that no sentence of the answer addresses, in order; all parts without an answer.

    The parts are those of `decompose`, else the question. One of several parts is addressed by an answer that has half
    of the words which only this part has, or else a sentence as near as `SIMILAR`. If half of a part's words are in all
    parts, the answer must also have one of its names or figures. A single question is addressed by an answer that is
    terse, shares half of its words, or is that near. Without embeddings, and if they
    fail, only missing names and figures count.
    """
    text = without_markers(answer)
    parts = decompose(question) or [question]
    if not text or text == IDK or not question.strip():
        return [part for part in parts if part.strip()]
    said_in = [sentence for sentence in sentences(text) if words(sentence)]
    if not said_in or (len(parts) == 1 and len(words(text)) < TERSE):
        return []
    in_answer = frozenset(terms(text))
    part_terms = [frozenset(content_words(part)) for part in parts]
    common = frozenset.intersection(*part_terms) if len(parts) > 1 else frozenset()
    # The names and figures of the question: its words with a digit, and with a capital that begins nothing.
    marked = [match.group() for match in _MARK.finditer(question) if not is_stopword(match.group())]
    marks = frozenset(content_words(" ".join(marked)))
    # If parts are alike but for names or figures, the answer must have one of those of each part.
    named = [(part - common) & marks if 2 * len(common) >= len(part) else frozenset() for part in part_terms]
    silent = {i for i, names in enumerate(named) if names and not names & in_answer}
    own = [part - common or part for part in part_terms]
    doubtful = [i for i, part in enumerate(own) if i in silent or not part or 2 * len(part & in_answer) < len(part)]
    if not doubtful or embeddings is None:
        return [parts[i] for i in doubtful if i in silent]
    texts = [*(parts[i] for i in doubtful), *said_in]
    try:
        vectors = unit(embeddings.embed_documents(texts), len(texts))
    except Exception as error:  # the model may be the caller's own; open parts are only a note beside the answer
        logger.warning("the embedding model failed (%s): open parts of the question are found by names", error)
        return unanswered_parts(question, answer, None)
    nearest = (vectors[: len(doubtful)] @ vectors[len(doubtful) :].T).max(axis=1)
    return [parts[i] for i, near in zip(doubtful, nearest, strict=True) if near < SIMILAR or i in silent]


# -- queries for a correction ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TargetedQueries:
    """One query for each part that is unanswered and each claim that failed, at most `count`, no two nearly alike.

    A query for a claim keeps its names and content words. Its figures, which failed, are left out unless the question
    names them; words of the question and of the judge's correction are added. `alike` is the share of common words from
    which on two queries count as one.
    """

    count: int = 4
    longest: int = 16
    alike: float = 0.8
    name: str = "targeted"

    def __call__(
        self,
        question: str,
        failed: Sequence[Verdict],
        unanswered: Sequence[str],
        notes: Notes,
        passages: Sequence[Passage] = (),
    ) -> list[str]:
        """The queries, for unanswered parts first; none if nothing failed and all is answered."""
        wanted = [part.strip() for part in unanswered if part.strip()]
        wanted += [self._for_claim(verdict, question) for verdict in failed if verdict["verdict"] != "unjudged"]
        kept: dict[frozenset[str], str] = {}
        for query in wanted:
            content = frozenset(content_words(query))
            if content and all(len(content & other) / len(content | other) < self.alike for other in kept):
                kept[content] = query
        return list(kept.values())[: self.count]

    def _for_claim(self, verdict: Verdict, question: str) -> str:
        figures = set(numbers(question))
        correct = verdict.get("correction", "")
        claim = _kept(verdict["text"], figures) + _kept(correct, figures | set(numbers(correct)))
        focus = _kept(question, figures)
        distinct: dict[str, str] = {}
        for word in [*claim, *focus]:
            distinct.setdefault(word.casefold(), word)
        return " ".join(list(distinct.values())[: self.longest])


def _kept(text: str, figures: set[str]) -> list[str]:
    """The content words of a text, without figures other than `figures`; a word such as ``10-K`` is no figure."""
    content = keywords(text) if any(not is_stopword(w) for w in words(text)) else []
    known = [word for word in content if set(numbers(word)) & figures]
    return [w for w in content if w in known or not w[0].isdigit() or any(character.isalpha() for character in w)]


# -- queries by a chat model ---------------------------------------------------------------------------------------

MOST_QUERIES, LAST_MESSAGES, MESSAGE_CHARS = 5, 10, 800
QUERY_CHARS: Final = 500  # a longer "query" is an answer or a lecture
REPLY_CHARS: Final = 2_000  # characters of a reply about the conversation itself
QUERY_TOKENS: Final = 256  # tokens that queries may have together
_NOTHING: Final = re.compile(r"\S*(?:https?://|www\.)\S+|[\W\d_]{1,3}")  # an address, or a marker such as [1]


class Queries(BaseModel):
    """Search queries."""

    queries: Lines


def _read_kind(value: Any) -> str:
    word = str(value if value is not None else "").strip().lower().replace("_", "-")
    return word if word in KINDS else "follow-up"


class ReadTurn(BaseModel):
    """The kind of a turn, and its question in a form that needs no conversation."""

    question: Annotated[Text, Field(max_length=QUERY_CHARS)]
    kind: Annotated[Kind, BeforeValidator(_read_kind), WithJsonSchema({"type": "string", "enum": [*KINDS]})] = (
        "follow-up"
    )
    reply: Annotated[Text, Field(max_length=REPLY_CHARS)] = ""


@dataclass(frozen=True)
class MultiQuery(ChatPart):
    """Rephrases a question in `count` ways; one call."""

    count: int = 3

    def __call__(self, question: str, notes: Notes) -> list[str]:
        """The rephrased queries, without the question itself; if the model fails none, with a note."""
        try:
            reply = self.ask(Queries, "multi_query", notes, question=question, count=self.count)
        except (ModelError, DeadlineError) as error:
            notes.degraded(f"The question was searched as it stands, because it could not be rewritten: {error}")
            return []
        queries = _usable(reply.queries, self.count, self.prompts["multi_query"], question)
        notes.ran("queries", " | ".join(queries))
        return queries


@dataclass(frozen=True)
class ChatQueries(ChatPart):
    """Turns failed claims and unanswered parts into targeted queries; one call, else the `fallback` writer.

    `excerpts` cuts the passages to the excerpts of the answering call, so that a server has read them already.
    """

    fallback: QueryWriter | None = None
    count: int = MOST_QUERIES
    excerpts: Callable[[str, Sequence[Passage]], Sequence[Passage]] | None = None

    def __call__(
        self,
        question: str,
        failed: Sequence[Verdict],
        unanswered: Sequence[str],
        notes: Notes,
        passages: Sequence[Passage] = (),
    ) -> list[str]:
        """At most `count` queries; raises `ModelError` only when there is no fallback."""
        faults = [f"- {one['text']}" + (f" ({reason})" if (reason := judge_reason(one)) else "") for one in failed]
        quoted = {"failed": faults[: 2 * self.count], "unanswered": [f"- {part}" for part in unanswered]}
        lists = {name: "\n".join(lines) or "(none)" for name, lines in quoted.items()}
        values = {"question": question or "(not known)", "count": self.count, "most": QUERY_TOKENS, "title": "query"}
        shown = passages if self.excerpts is None else self.excerpts(question, passages)
        try:
            reply = self.ask(Queries, "requery", notes, shown, lists, **values)
            queries = _usable(reply.queries, self.count, self.prompts["requery"])
            if not queries:
                raise ModelError(f"{self.name} wrote no query.")
        except (ModelError, DeadlineError) as error:
            if self.fallback is None:
                raise
            notes.degraded(f"The targeted queries were written by {self.fallback.name}, because of this: {error}")
            return self.fallback(question, failed, unanswered, notes)
        return queries


@dataclass(frozen=True)
class Contextualizer(ChatPart):
    """Reads a turn: its kind, and a follow-up such as "and in 2022?" as a question that stands alone; one call.

    For a model that is not capable the `rules` go first: if they find a reference, their result is more often what
    people write.
    """

    rules: Callable[[str, Sequence[Any], Notes], Turn] | None = None

    def __call__(self, question: str, messages: Sequence[Any], notes: Notes) -> Turn:
        """The turn; if the model fails the unchanged question, with a note.

        `messages` are the conversation before the question, in any form of `as_message`. Only the last ten count.
        """
        if found := by_rules(question, bool(last_answer(messages))):
            return found
        if self.rules is not None and not self.caller.worth.capable:
            alone = self.rules(question, messages, Notes())
            if alone.question != question:
                return alone
        lines = []
        for speaker, text in after_greetings([*map(as_message, messages[-LAST_MESSAGES:])]):
            if speaker and (line := " ".join(text.split())):
                lines.append(f"{speaker.title()}: {neutral(line, marker_for(line))[:MESSAGE_CHARS]}")
        if not lines and not (self.caller.worth.capable and opens_with_greeting(question)):
            return Turn("question", question)
        try:
            conversation = "\n".join(lines) or "(nothing)"
            read = self.ask(ReadTurn, "contextualize", notes, messages=conversation, question=question)
        except (ModelError, DeadlineError) as error:
            notes.degraded(f"The question was not read in the light of the conversation: {error}")
            return Turn("question", question)
        if read.kind == "greeting":
            return Turn("greeting", question, SMALL_TALK)
        if read.kind == "talk" and read.reply:
            if unsaid := figures_in(read.reply) - figures_in(f"{conversation} {question}"):
                figure = min(unsaid)
                notes.degraded(f"The model's reply about the conversation was left out: nobody had said {figure}.")
                return Turn("follow-up", question)
            return Turn("talk", question, read.reply)
        if not read.question:
            notes.degraded("The question was not read in the light of the conversation: the model wrote none.")
        kind = "follow-up" if read.kind == "talk" else read.kind
        return Turn(kind if read.question else "question", read.question or question)


def figures_in(text: str) -> set[str]:
    """The runs of digits in a text, without citation markers and the numbers of a list."""
    return {*re.findall(r"\d+", re.sub(r"(?m)^\s*\d+[.)]\s", "", without_markers(text)))}


def _usable(queries: Sequence[str], count: int, prompt: Prompt, besides: str = "") -> list[str]:
    """The usable queries: distinct, short, without addresses and without words of the prompt."""
    seen, kept, ours = {besides.strip().lower()}, [], " ".join(prompt.user.lower().split())
    for text in (" ".join(query.split()) for query in queries):
        known = text.lower() in seen or (text.lower() in ours and text.count(" ") > 1)
        words = re.search(r"[^\W\d_]{2}", text)  # a number of a passage is no query
        if words and not known and len(text) <= QUERY_CHARS and not _NOTHING.fullmatch(text):
            seen.add(text.lower())
            kept.append(text)
    return kept[:count]

"""What small models write instead of an answer, and what becomes of it: each reply here was written by a real one."""

import re
from typing import Any

import pytest

from cragraph.answers.chat_answerer import ROOM, ChatGenerator, settled
from cragraph.answers.excerpts import BUDGET, FRAME, excerpts
from cragraph.build import Parts
from cragraph.models.budget import estimated_tokens
from cragraph.models.chat import ChatCaller
from cragraph.models.servers import chat_model
from cragraph.passages import as_passages
from cragraph.prompts import Prompts
from cragraph.protocols import Brief, Notes
from cragraph.settings import load_settings
from cragraph.types import IDK
from cragraph.verification.claims import split_claims
from tests.support.cases import cases
from tests.support.fixtures import served
from tests.support.ollama import ModelInfo, OllamaServer, Request

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]

QUESTION = "Why did the insurance get dearer?"
WHY = "The yearly premium rises from £1,130 to £1,205 because a second kiln was added."
PASSAGES = as_passages(["The studio opens at nine and closes at six.", WHY, "The roof was repaired in May."])
EXAMPLE = "The bridge was rebuilt in 1894. [2]"


LONG = as_passages(
    [
        "The choir sings on Mondays. " * 12 + "The premium rises because of a second kiln. " + "Tea is served. " * 30,
        "The bakery sells bread. " * 40,
        "item | price\nclay | 4\nglaze | 7\n" + "\n".join(f"tool {n} | {n}" for n in range(60)),
    ]
)


@pytest.fixture(scope="module")
def ranker() -> Any:
    return Parts(load_settings(store=None)).ranker


server = served("[2]")


def written(server: OllamaServer, ranker: Any, *, question: str = QUESTION, passages: Any = PASSAGES) -> Any:
    notes = Notes()
    caller = ChatCaller(chat_model("ollama:llama3.2", base_url=server.url), "ollama:llama3.2", backoff_s=0.01)
    return ChatGenerator(caller, Prompts(), ranker)(Brief(question, passages), notes), notes


@pytest.mark.parametrize("reply", ["Yes. [2]", "No [2]"])
def test_a_yes_or_a_no_alone_becomes_what_the_passage_that_it_names_says(
    server: OllamaServer, ranker: Any, reply: str
) -> None:
    server.play(reply)
    answer, notes = written(server, ranker, question="Does the yearly premium rise?")
    assert (answer, notes.calls, notes.written) == (f"{WHY} [2]", 1, {})
    assert "alone" in notes.sentences[0]


@pytest.mark.parametrize(("reply", "answer"), cases("answers/chat_repair", "what a model says"))
def test_what_a_model_says_of_the_passage_before_what_it_says_is_left_out(
    server: OllamaServer, ranker: Any, reply: str, answer: str
) -> None:
    server.play(reply)
    given, notes = written(server, ranker)
    assert given == answer
    assert list(notes.written) == [answer]


@pytest.mark.parametrize(("reply", "answer"), [("£1,205.", f"{WHY} [2]"), ("The studio", "The studio")])
def test_a_bare_figure_that_names_no_passage_becomes_the_one_sentence_that_has_it(
    server: OllamaServer, ranker: Any, reply: str, answer: str
) -> None:
    server.play(reply)
    passages = as_passages([*(p["text"] for p in PASSAGES), "The studio was painted."])
    given, notes = written(server, ranker, question="What does the insurance cost?", passages=passages)
    assert (given, notes.calls) == (answer, 1)
    assert bool(notes.written) is (answer == reply)


def test_a_reply_that_repeats_the_example_of_the_prompt_is_asked_for_without_one(
    server: OllamaServer, ranker: Any
) -> None:
    server.play([EXAMPLE, "It rose because of a second kiln."])
    answer, notes = written(server, ranker)
    assert (answer, notes.calls) == ("It rose because of a second kiln.", 2)
    first, second = (chat.messages[-1]["content"] for chat in server.chats)
    assert "1894" in first
    assert "1894" not in second
    assert first[: first.index(QUESTION)] == second[: second.index(QUESTION)]
    assert "the example of the prompt" in notes.sentences[0]
    assert "without the example" in notes.sentences[0]
    assert answer in notes.written


@pytest.mark.parametrize(("reply", "refused"), cases("answers/chat_repair", "a refusal in other"))
def test_a_refusal_in_other_words_is_one_though_a_number_stands_behind_it(reply: str, refused: bool) -> None:
    assert (settled(reply) == IDK) is refused


@pytest.mark.parametrize(("reply", "search"), cases("answers/chat_repair", "what a capable model"))
def test_what_a_capable_model_does_not_know_stays_not_known_and_it_says_what_to_search_for(
    ranker: Any, reply: str, search: list[str]
) -> None:
    with OllamaServer(reply, models={"llama3.2": ModelInfo(parameter_size="8B")}) as server:
        answer, notes = written(server, ranker, question="What is the yearly premium?")
    assert (answer, notes.calls, notes.written, notes.sentences) == (IDK, 1, {}, [])
    assert notes.search == search


# -- what is sent ----------------------------------------------------------------------------------------------


DAYS = [f"The studio opens at nine on day {n}. It closes at six. The kettle stands in room {n}." * 4 for n in range(9)]


def played(request: Request) -> Any:
    """What a model writes to each task."""
    if "short search queries" in request.prompt:
        return {"queries": ["insurance premium kiln"]}
    if "<<claims" in request.prompt:
        return {"claims": [{"n": 1, "evidence": WHY, "status": "SUPPORTED"}]}
    if "How well does the answer fit?" in request.prompt:
        return {"reasoning": "It does.", "score": 1.0}
    return "It rises because a second kiln was added. [1]"


def test_the_calls_that_judge_score_and_search_begin_with_what_the_answering_call_read() -> None:
    passages = as_passages([f"{DAYS[0]} {WHY}", *DAYS[1:]])
    with OllamaServer(played) as server:
        parts = Parts(load_settings(store=None, model="ollama:llama3.2", ollama_host=server.url))
        answer = parts.generator(Brief(QUESTION, passages), Notes())
        [judged] = parts.judges["llm"](split_claims(answer), passages, Notes(), question=QUESTION)
        parts.query_writer(QUESTION, [{**judged, "verdict": "unsupported"}], [], Notes(), passages)
        parts.verifier.alignment(QUESTION, answer, passages, Notes())
    heads = {re.split("\n\n(?:Question:|<<claims|<<answer)", request.prompt)[0] for request in server.chats}
    assert len(server.chats) == 4
    assert len(heads) == 1
    assert estimated_tokens(heads.pop()) < ROOM
    evidence = judged["evidence"]
    assert evidence is not None
    assert passages[evidence["passage"]]["text"][evidence["start"] : evidence["end"]] == WHY


def test_what_stays_broken_is_taken_from_the_passages_and_said(server: OllamaServer, ranker: Any) -> None:
    server.play("## Insurance")
    answer, notes = written(server, ranker)
    assert WHY in answer
    assert any("twice; the answer is what the passages say" in sentence for sentence in notes.sentences)


def test_what_is_sent_holds_what_may_answer_and_little_else(ranker: Any) -> None:
    question = "Why does the premium rise?"
    chosen = excerpts(question, LONG, [ranker(question, LONG)], ranker.embeddings)
    texts = [one.passage["text"] for one in chosen]
    assert "because of a second kiln" in texts[0]
    assert sum(estimated_tokens(text) for text in texts) <= BUDGET + FRAME
    assert not any("tool 59" in text for text in texts)

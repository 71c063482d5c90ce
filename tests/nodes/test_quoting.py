"""Where a chat model's answer is not accepted, what the passages say is verified before anything is searched again."""

from collections.abc import Iterator
from typing import Any

import pytest

from cragraph import Context, create_graph, load_settings
from cragraph.build import Parts
from cragraph.graph.state import State
from cragraph.loop import acts_of
from cragraph.nodes.verify import Verify
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.types import IDK
from tests.support.ollama import ModelInfo, OllamaServer, Request

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]

QUESTION = "When does the shop open on weekdays?"
SAYS = "The shop opens at 9:30 on weekdays."
PASSAGES = [f"{SAYS} Dogs are welcome.", "Repairs take three days. A basic service costs 45 pounds."]
ONCE = Context(judge="encoder", max_crag_attempts=1, show_claims=True)


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer("[2]") as running:
        yield running


def asked(server: OllamaServer, question: str = QUESTION, context: Context = ONCE) -> dict[str, Any]:
    settings = load_settings(store=None, model="ollama:llama3.2", ollama_host=server.url)
    given = {"question": question, "passages": PASSAGES}
    response: dict[str, Any] = create_graph(settings).compile().invoke(given, context=context)
    return response


def test_a_wrong_answer_of_the_model_gives_way_to_what_the_passages_say_without_another_call(
    server: OllamaServer,
) -> None:
    server.play("The shop opens at six on weekdays. [1]")
    response = asked(server)
    assert response["answer"] == f"{SAYS} [1]"
    assert (response["accepted"], response["llm_calls"], len(response["attempts"])) == (True, 1, 1)
    candidates = [one["answer"] for one in response["attempts"][0]["candidates"]]
    assert candidates == ["The shop opens at six on weekdays. [1]", f"{SAYS} [1]"]
    assert any("this is what the passages say to the question" in sentence for sentence in response["degraded"])


def test_an_accepted_answer_stays_in_the_models_own_words(server: OllamaServer) -> None:
    server.play("On weekdays the shop opens at 9:30. [1]")
    response = asked(server)
    assert response["answer"] == "On weekdays the shop opens at 9:30. [1]"
    assert (response["accepted"], response["llm_calls"], response["degraded"]) == (True, 1, [])
    assert "candidates" not in response["attempts"][0]


def test_where_the_passages_say_nothing_that_is_accepted_either_the_models_answer_stays(server: OllamaServer) -> None:
    server.play(lambda request: {"queries": ["ceiling"]} if "queries" in request.prompt else "Ann Lee painted it. [2]")
    response = asked(
        server, "Who painted the ceiling of the chapel?", Context(judge="encoder", on_low_confidence="flag")
    )
    assert response["answer"] == "Ann Lee painted it."
    assert response["accepted"] is False


@pytest.mark.parametrize(("low", "outcome"), [("doubt", "doubtful"), ("flag", "doubtful"), ("abstain", "refused")])
def test_a_doubtful_quotation_goes_before_an_answer_of_the_model_that_is_not_accepted(
    server: OllamaServer, low: Any, outcome: str
) -> None:
    server.play("The shop opens at six on weekdays. [1]")
    strict = Context(
        judge="encoder", max_crag_attempts=0, on_low_confidence=low, confidence_threshold=0.999, show_claims=True
    )
    response = asked(server, context=strict)
    attempt = response["attempts"][0]
    assert response["decision"]["outcome"] == outcome
    assert (attempt["answer"] == f"{SAYS} [1]") is (outcome == "doubtful")


@pytest.mark.parametrize(
    ("question", "written"),
    [
        ("Can I come with my dog?", "You can bring your dog to the shop; dogs are welcome."),
        ("Are dogs allowed in the shop?", "Yes, dogs are welcome in the shop."),
    ],
)
def test_a_quotation_that_is_less_sure_than_the_models_answer_does_not_replace_it(
    server: OllamaServer, question: str, written: str
) -> None:
    server.play(f"{written} [1]")
    strict = Context(judge="encoder", max_crag_attempts=0, confidence_threshold=0.999, show_claims=True)
    response = asked(server, question, strict)
    assert response["answer"] == f"{written} [1]"
    assert response["decision"]["outcome"] == "doubtful"
    assert "candidates" not in response["attempts"][0]


@pytest.mark.parametrize(("written", "correction"), [(True, False), (False, True), (False, False)])
def test_what_is_shown_where_a_model_writes_is_more_likely_right_than_not(
    server: OllamaServer, written: bool, correction: bool
) -> None:
    parts = Parts(load_settings(store=None, model="ollama:llama3.2", ollama_host=server.url))
    outcomes = []

    def verifier(*given: Any, **options: Any) -> Any:
        verified = parts.verifier(*given, **{**options, "written": None})
        outcomes.extend(verified.changed(confidence=c).decision.outcome for c in (0.4, 0.49, 0.5))
        return verified

    draft = "A basic service costs 45 pounds. [2]"
    state = State(question="What do I pay for a service?", held=as_passages(PASSAGES), drafts=[draft])
    if written:
        state.written[draft] = -0.1
    if correction:
        state.attempts = acts_of(parts)["verify"](State(question=QUESTION, drafts=[IDK]), ONCE, Notes())["attempts"]
    Verify(verifier, quoting=parts.quoting)(state, ONCE.resolved(), Notes())  # type: ignore[arg-type]
    doubted = "refused" if written or correction else "doubtful"
    assert outcomes[:3] == [doubted, doubted, "doubtful"]


@pytest.mark.parametrize(("small", "shown"), [(False, [0.5, 0.69, 0.7]), (True, [0.7])])
def test_what_a_small_model_writes_is_shown_only_where_it_would_be_accepted(
    server: OllamaServer, small: bool, shown: list[float]
) -> None:
    parts = Parts(load_settings(store=None, model="ollama:llama3.2", ollama_host=server.url))
    decided: dict[float, str] = {}

    def verifier(*given: Any, **options: Any) -> Any:
        verified = parts.verifier(*given, **options)
        if options["written"]:
            decided.update({c: verified.changed(confidence=c).decision.outcome for c in (0.49, 0.5, 0.69, 0.7)})
        return verified

    draft = "A basic service costs 45 pounds. [2]"
    state = State(question="What do I pay for a service?", held=as_passages(PASSAGES), drafts=[draft])
    state.written[draft] = -0.1
    strict = ONCE.model_copy(update={"confidence_threshold": 0.999}).resolved()
    Verify(verifier, quoting=parts.quoting, gives_way=lambda: small)(state, strict, Notes())  # type: ignore[arg-type]
    assert [c for c, outcome in decided.items() if outcome == "doubtful"] == shown


@pytest.mark.parametrize(
    ("size", "chosen", "context", "calls"),
    [
        ("1.5B", {}, {}, 0),
        ("3B", {}, {}, 1),
        ("", {}, {}, 1),
        ("1.5B", {"extractive_fallback": False}, {}, 1),
        ("1.5B", {}, {"verify": False}, 1),
        ("1.5B", {}, {"best_of": 2}, 2),
        ("1.5B", {}, {"confidence_threshold": 0.999}, 1),
    ],
)
def test_a_small_model_is_asked_only_where_what_the_passages_say_is_not_accepted(
    size: str, chosen: dict[str, Any], context: dict[str, Any], calls: int
) -> None:
    with OllamaServer("It opens at 9:30. [1]", models={"llama3.2": ModelInfo(parameter_size=size)}) as server:
        settings = load_settings(store=None, model="ollama:llama3.2", ollama_host=server.url, **chosen)
        given = {"question": QUESTION, "passages": PASSAGES}
        once: dict[str, Any] = {"judge": "encoder", "max_crag_attempts": 0, "on_low_confidence": "flag"} | context
        response = create_graph(settings).compile().invoke(given, context=Context(**once))
        assert len(server.chats) == response["llm_calls"] == calls
        quoted = response["answer"] == f"{SAYS} [1]"
        assert quoted if not calls else response["models"]["generator"] == "ollama:llama3.2"
        if not calls:
            assert response["models"]["generator"] == "extractive"
            assert (response["accepted"], response["degraded"]) == (True, [])


@pytest.mark.parametrize(("size", "own"), [("1.5B", False), ("3B", True)])
def test_a_small_models_words_that_are_not_accepted_come_after_what_can_be_quoted(size: str, own: bool) -> None:
    written = "You can bring your dog to the shop; dogs are welcome. [1]"
    with OllamaServer(written, models={"llama3.2": ModelInfo(parameter_size=size)}) as server:
        strict = Context(judge="encoder", max_crag_attempts=0, confidence_threshold=0.999, show_claims=True)
        response = asked(server, "Can I come with my dog?", strict)
    assert response["llm_calls"] == 1
    attempt = response["attempts"][0]
    assert (attempt["answer"] == written) is own
    assert ("candidates" in attempt) is not own
    assert attempt["decision"]["outcome"] == "doubtful"


@pytest.mark.parametrize(
    ("size", "said", "beside"),
    [
        ("1.5B", "It opens at 9:30 on weekdays. [1]", [1.0, 1.0]),
        ("1.5B", "The roof was painted. [2]", [0.0, 0.0]),
        ("3B", "It opens at 9:30 on weekdays. [1]", []),
    ],
)
def test_a_quotation_is_verified_beside_what_a_small_model_answers_also_when_it_is_quoted_again(
    size: str, said: str, beside: list[float]
) -> None:
    seen: list[Any] = []
    with OllamaServer(said, models={"llama3.2": ModelInfo(parameter_size=size)}) as server:
        settings = load_settings(store=None, model="ollama:llama3.2", ollama_host=server.url)
        parts = Parts(settings)
        verifier = parts.verifier

        def noted(*given: Any, **options: Any) -> Any:
            seen.append(options["beside"])
            return verifier(*given, **options)

        parts.__dict__["verifier"] = noted
        verify, generate = acts_of(parts)["verify"], acts_of(parts)["generate"]
        strict = Context(judge="encoder", confidence_threshold=0.999).resolved()
        state = State(question=QUESTION, held=as_passages(PASSAGES))
        for _ in range(2):
            for act in (generate, verify):
                for name, value in act(state, strict, Notes()).items():
                    setattr(state, name, value)
    assert [one.shared for one in seen if one is not None] == beside


@pytest.mark.parametrize(("small", "outcome"), [(True, "doubtful"), (False, "refused")])
def test_the_quotation_of_a_correction_is_held_to_its_own_line_where_the_model_is_small(
    server: OllamaServer, small: bool, outcome: str
) -> None:
    parts = Parts(load_settings(store=None, model="ollama:llama3.2", ollama_host=server.url))
    seen = []

    def verifier(*given: Any, **options: Any) -> Any:
        seen.append(parts.verifier(*given, **options).changed(confidence=0.45))
        return seen[-1]

    state = State(question=QUESTION, held=as_passages(PASSAGES), drafts=[f"{SAYS} [1]"])
    state.attempts = acts_of(parts)["verify"](State(question=QUESTION, drafts=[IDK]), ONCE, Notes())["attempts"]
    Verify(verifier, parts.quoting, gives_way=lambda: small)(state, ONCE.resolved(), Notes())  # type: ignore[arg-type]
    assert seen[0].decision.outcome == outcome


def test_a_quotation_is_not_judged_by_the_model_unless_a_person_chose_it(server: OllamaServer) -> None:
    def reply(request: Request) -> Any:
        if "<<claims" in request.prompt:
            return {"claims": [{"n": 1, "evidence": "", "status": "UNSUPPORTED"}]}
        return "The shop opens at six on weekdays. [1]"

    server.play(reply)
    response = asked(server, context=Context(max_crag_attempts=0))
    assert (response["answer"], response["accepted"]) == (f"{SAYS} [1]", True)
    assert sum("<<claims" in request.prompt for request in server.chats) == 1


def test_what_a_person_wrote_is_not_replaced(server: OllamaServer) -> None:
    parts = Parts(load_settings(store=None, model="ollama:llama3.2", ollama_host=server.url))
    state = State(question=QUESTION, held=as_passages(PASSAGES), drafts=["It opens at six. [1]"])
    [attempt] = acts_of(parts)["verify"](state, ONCE, Notes())["attempts"]
    assert attempt["answer"] == "It opens at six. [1]"
    assert attempt["answer"] != IDK
    assert not server.chats


def test_in_a_language_that_only_the_model_reads_its_answer_stays_and_is_never_sure(server: OllamaServer) -> None:
    server.play("Der Laden öffnet um sechs Uhr. [1]")
    settings = load_settings(store=None, model="ollama:llama3.2", ollama_host=server.url)
    given = {"question": "Wann öffnet der Laden?", "passages": ["Der Laden ist ab sechs Uhr geöffnet. Hunde sind da."]}
    context = Context(judge="encoder", max_crag_attempts=0, on_low_confidence="flag")
    response = create_graph(settings).compile().invoke(given, context=context)
    first, answer = response["answer"].split("\n")
    assert first.startswith("The question is in German, which the built-in networks do not read")
    assert "let the model that wrote this judge it as well" in first
    assert answer == "Der Laden öffnet um sechs Uhr. [1]"
    assert response["confidence"] <= 0.5

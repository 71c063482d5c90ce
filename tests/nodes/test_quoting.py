"""Where a chat model's answer is not accepted, what the passages say is verified before anything is searched again."""

from typing import Any

import pytest

from cragraph import Context, create_graph, load_settings
from cragraph.answers.extractive import ExtractiveGenerator
from cragraph.build import Parts
from cragraph.graph.state import State
from cragraph.loop import acts_of
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from tests.support.cases import cases
from tests.support.fixtures import served
from tests.support.ollama import ModelInfo, OllamaServer

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]

QUESTION = "When does the shop open on weekdays?"
SAYS = "The shop opens at 9:30 on weekdays."
PASSAGES = [f"{SAYS} Dogs are welcome.", "Repairs take three days. A basic service costs 45 pounds."]
ONCE = Context(judge="encoder", max_crag_attempts=1, show_claims=True)


server = served("[2]", models={"llama3.2": ModelInfo(parameter_size="8B")})


def asked(server: OllamaServer, question: str = QUESTION, context: Context = ONCE) -> dict[str, Any]:
    settings = load_settings(store=None, model="ollama:llama3.2", ollama_host=server.url)
    given = {"question": question, "passages": PASSAGES}
    response: dict[str, Any] = create_graph(settings).compile().invoke(given, context=context)
    return response


DOGS, WELCOME = "Can I come with my dog?", "Dogs are welcome."
NO_DOGS = "No, dogs stay outside. [1]"


@pytest.mark.parametrize(("size", "question", "chosen", "context", "calls"), cases("nodes/quoting", "a quotation"))
def test_a_quotation_that_is_likelier_right_than_what_the_model_would_write_needs_no_call(
    size: str, question: str, chosen: dict[str, Any], context: dict[str, Any], calls: int
) -> None:
    with OllamaServer("It opens at 9:30. [1]", models={"llama3.2": ModelInfo(parameter_size=size)}) as server:
        settings = load_settings(store=None, model="ollama:llama3.2", ollama_host=server.url, **chosen)
        given = {"question": question, "passages": PASSAGES}
        once: dict[str, Any] = {"judge": "encoder", "max_crag_attempts": 0, "on_low_confidence": "flag"} | context
        response = create_graph(settings).compile().invoke(given, context=Context(**once))
        assert len(server.chats) == response["llm_calls"] == calls
    if calls:
        assert response["models"]["generator"] == "ollama:llama3.2"
    else:
        assert response["answer"] == f"{SAYS if question == QUESTION else WELCOME} [1]"
        assert response["models"]["generator"] == "extractive"
        assert (response["accepted"], response["degraded"]) == (True, [])


@pytest.mark.parametrize("size", ["1.5B", "3B", "8B"])
@pytest.mark.parametrize(
    ("said", "more"), [("Dogs are welcome, yes. [1]", True), (NO_DOGS, False), ("I don't know", False)]
)
def test_what_the_model_answers_is_evidence_on_the_quotation_beside_it(size: str, said: str, more: bool) -> None:
    def ratio(**chosen: Any) -> float:
        """The ratio that the quotation is verified with."""
        seen: list[float] = []
        parts = Parts(load_settings(store=None, **chosen))
        verifier = parts.verifier

        def noted(*given: Any, **options: Any) -> Any:
            seen.append(options["ratio"])
            return verifier(*given, **options)

        parts.__dict__["verifier"] = noted
        strict = Context(judge="encoder", confidence_threshold=0.999, max_crag_attempts=0).resolved()
        by = {} if chosen else {"generator": ExtractiveGenerator.name}
        state = State(question=DOGS, held=as_passages(PASSAGES), models=by)
        for name in ("generate", "verify"):
            for field, value in acts_of(parts)[name](state, strict, Notes()).items():
                setattr(state, field, value)
        return seen[-1]

    with OllamaServer(said, models={"llama3.2": ModelInfo(parameter_size=size)}) as server:
        beside = ratio(model="ollama:llama3.2", ollama_host=server.url)
    alone = ratio()
    assert (beside > alone) is more
    assert beside != alone


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


def test_a_capable_model_corrects_its_answer_before_a_quotation_takes_its_place(server: OllamaServer) -> None:
    wrong = {"n": 1, "evidence": [WELCOME], "status": "CONTRADICTED", "correction": WELCOME}
    right = {"n": 1, "evidence": [WELCOME], "status": "SUPPORTED"}
    server.play(
        [
            NO_DOGS,
            {"claims": [wrong], "answers": "NO"},
            "Yes, dogs are welcome. [2]",
            {"claims": [right], "answers": "ALL"},
        ]
    )
    response = asked(server, DOGS, context=Context(judge="llm"))
    assert response["answer"].startswith("Yes, dogs are welcome.")
    assert response["accepted"]
    assert "candidates" not in response["attempts"][0]

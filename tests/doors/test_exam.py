"""`cragraph exam`: servers that play a good, a careless and a lying model."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from cragraph import exam, load_settings, verify
from cragraph.build import Parts
from cragraph.errors import ModelUnavailableError, SettingsError
from cragraph.models import examined
from cragraph.models.examined import LARGE
from tests.support.ollama import ModelInfo, OllamaServer, Reply, Request

pytestmark = [pytest.mark.server, pytest.mark.enable_socket, pytest.mark.allow_hosts(["127.0.0.1"])]

Shell = Callable[..., Any]
CLAIMS = {row["claim"]: row for row in exam.claims()}
QUESTIONS = {row["question"]: row for row in exam.questions()}


def playing(status: Callable[[dict[str, Any] | None], str], answer: Callable[[dict[str, Any]], str]) -> Any:
    """A model that judges each claim (None: the control claim) and answers each question as it is told."""

    def reply(request: Request) -> Any:
        if "<<claims" in request.prompt:
            rows = []
            for number, text in re.findall(r"^(\d+)\. (.*)", request.prompt.rpartition("<<claims")[2], re.M):
                row = CLAIMS.get(text)
                quote = (row["passages"][0] if row else next(iter(CLAIMS.values()))["passages"][0])[:60]
                rows.append({"n": int(number), "evidence": [quote], "status": status(row)})
            return {"claims": rows}
        return answer(next(row for text, row in QUESTIONS.items() if f"Question: {text}\n" in request.prompt))

    return reply


def right(row: dict[str, Any]) -> str:
    if row["answer"] is None:
        return "I don't know"
    return f"As the notice on the board has it, it is {' and '.join(texts[0] for texts in row['answer'])}. [1]"


def nonsense(row: dict[str, Any]) -> str:
    return "It is the purple elephant who decides that on a rainy day. [1]"


GOOD = playing(lambda row: "SUPPORTED" if row and row["supported"] else "CONTRADICTED", right)
CARELESS = playing(
    lambda row: "SUPPORTED" if row and (row["supported"] or int(row["id"][1:]) % 2) else "UNSUPPORTED",
    lambda row: right(row) if row["answer"] else nonsense(row),
)
LYING = playing(lambda row: "SUPPORTED", nonsense)


def examination(server: OllamaServer, count: int = exam.SAMPLE) -> exam.Examination:
    return exam.examine(Parts(load_settings(store=None, model="ollama:strong", ollama_host=server.url)), count=count)


def server_of(script: Any) -> OllamaServer:
    return OllamaServer(script, models={"strong": ModelInfo(parameter_size="8B")})


def test_a_good_model_is_believed_and_writes_well_in_eighteen_calls() -> None:
    with server_of(GOOD) as server:
        done = examination(server)
        assert len(server.chats) == exam.calls() == 18
    assert done.worth.capable
    assert done.worth.judges
    assert (done.worth.supports, done.worth.rejects, done.worth.writes) == (20.0, 20.0, 17.0)
    assert done.worth.declines < 0.15
    assert done.line() == (
        "ollama:strong reads like a model of eight billion or more: believed 20 to 1 where it says supported, "
        "20 to 1 where it says not; writes 12 of 12 right"
    )


def test_a_model_that_calls_everything_supported_is_worth_no_more_than_the_embedded_judge() -> None:
    answer, passages = "The tower is 330 metres tall.", ["The tower is 300 metres tall.", "It stands in Paris."]
    with server_of(LYING) as server:
        done = examination(server)
        asked = len(server.chats)
        assert (done.worth.supports, done.worth.rejects, done.worth.writes) == (1.0, 1.0, 0.04)
        assert not done.worth.judges
        assert "half a billion" in done.line()
        settings = load_settings(store=None, model="ollama:strong", ollama_host=server.url)
        parts = Parts(settings)
        assert parts.chat is not None
        assert parts.chat.worth == done.worth
        by_model = verify(answer, passages, "How tall is it?", settings=settings)
        assert len(server.chats) == asked  # its word is not even asked for
    assert by_model.confidence == verify(answer, passages, "How tall is it?").confidence


def test_what_was_examined_goes_before_the_size_until_the_model_changes() -> None:
    with server_of(CARELESS) as server:

        def worth() -> Any:
            parts = Parts(load_settings(store=None, model="ollama:strong", ollama_host=server.url))
            assert parts.chat is not None
            return parts.chat.worth

        assert worth() == LARGE
        shown = examination(server).worth
        assert worth() == shown
        assert shown.source == "its examination"
        server.models = {"strong:latest": ModelInfo(parameter_size="70B"), "other": ModelInfo()}
        other = Parts(load_settings(store=None, model="ollama:other", ollama_host=server.url)).chat
        assert other is not None
        assert other.worth.source == "the size of the model"


def test_an_examination_that_is_cut_off_goes_on_where_it_was() -> None:
    calls: list[int] = []

    def breaking(request: Request) -> Any:
        calls.append(1)
        return Reply(status=503, error="busy") if len(calls) > 8 else GOOD(request)

    with server_of(breaking) as server:
        settings = load_settings(store=None, model="ollama:strong", ollama_host=server.url)
        with pytest.raises(ModelUnavailableError):
            exam.examine(Parts(settings))
        chat = Parts(settings).chat
        assert chat is not None
        assert chat.worth == LARGE  # of half an examination nothing counts
        before = len(server.chats)
        server.play(GOOD)
        told: list[tuple[str, int, int]] = []
        done = exam.examine(Parts(settings), progress=lambda *step: told.append(step))
        assert len(server.chats) - before == 18 - 8
        assert told[0] == ("questions", 8, 18)
        assert done.right == 12
        again = len(server.chats)
        assert exam.examine(Parts(settings)).worth == done.worth
        assert len(server.chats) == again


def test_without_a_model_or_its_server_the_error_says_what_to_do() -> None:
    with pytest.raises(SettingsError, match=r"cragraph exam ollama:llama3\.2"):
        exam.examine(Parts(load_settings(store=None)))
    with server_of(GOOD) as server:
        url = server.url
    with pytest.raises(ModelUnavailableError, match="ollama serve"):
        exam.examine(Parts(load_settings(store=None, model="ollama:strong", ollama_host=url)))


def test_the_shell_examines_and_the_doctor_says_what_was_not(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    with server_of(GOOD) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        checked = shell("doctor", "--model", "ollama:strong").out
        assert "not examined, so its size decides how far it is believed; `cragraph exam ollama:strong`" in checked
        assert "measures it in 18 calls" in checked
        ran = shell("exam", "ollama:strong")
        assert ran.code == 0
        assert ran.out.startswith("ollama:strong reads like")
        assert "claims: call 1 of 18" in ran.err
        kept = json.loads(shell("exam", "ollama:strong", "--json").out)
        assert kept["worth"]["supports"] == 20.0
        assert "believed 20 to 1 where it says supported" in shell("doctor", "--model", "ollama:strong").out
        chat = Parts(load_settings(store=None, model="ollama:strong", ollama_host=server.url)).chat
        assert chat is not None
        assert not examined.first_asked(chat.model, chat.title)


def test_a_kept_examination_that_cannot_be_read_counts_for_nothing() -> None:
    with server_of(GOOD) as server:
        chat = Parts(load_settings(store=None, model="ollama:strong", ollama_host=server.url)).chat
        assert chat is not None
        path = examined.place_of(chat.model, chat.title)
        assert path is not None
        for text in ("{", "[]", '{"worth": {"writes": 1}}'):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            assert examined.worth_shown(chat.model, chat.title) is None
        assert chat.worth == LARGE

"""The doctor names what is wrong and the line that mends it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cragraph.cli.doctor import Diagnosis, examine, models, package
from cragraph.run import Assistant
from cragraph.settings import Settings
from tests.doors.conftest import Shell
from tests.support.ollama import ModelInfo, OllamaServer

MODEL = "ollama:llama3.2"


@pytest.fixture
def filled(tmp_path: Path) -> Settings:
    (tmp_path / "note.md").write_text("The sea is salt.\n")
    settings = Settings(store=str(tmp_path / "store"))
    Assistant(settings).ingest([tmp_path / "note.md"])
    return settings


def test_without_a_chat_model_all_is_well(filled: Settings) -> None:
    checks = examine(filled)
    assert [c.name for c in checks] == ["python", "onnxruntime", "chromadb", "weights", "store", "models"]
    assert all(check.ok for check in checks)
    detail = f"{filled.store}: 1 document, 1 chunk"
    assert vars(checks[4]) == {"name": "store", "ok": True, "detail": detail, "fix": ""}


def test_what_was_lost_to_damage_is_remembered_until_an_ingest_has_read_it_again(
    filled: Settings, tmp_path: Path, shell: Shell
) -> None:
    (tmp_path / "tea.md").write_text("Tea is served at four.\n")
    Assistant(filled).ingest([tmp_path / "tea.md"])
    path = tmp_path / "store" / "cragraph.db"
    path.write_bytes(path.read_bytes().replace(b"Tea is served at four", b"Tea is served at nine"))
    for _ in range(2):  # also where another command was the first to open it
        said = shell("docs", "--store", str(filled.store)).err
        assert "The store was damaged: 1 of 2 passages could be read" in " ".join(said.split())
    (told,) = [check for check in examine(filled) if check.name == "store"]
    assert (told.ok, "tea.md" in told.detail + told.fix) == (False, True)
    Assistant(filled).ingest([tmp_path / "tea.md"])
    assert all(check.ok for check in examine(filled))


def test_a_part_that_fails_is_shown_with_what_to_do(tmp_path: Path) -> None:
    checks = examine(Settings(store=str(tmp_path / "nowhere")))
    assert (checks[4].name, checks[4].ok) == ("store", False)
    assert "cragraph ingest" in checks[4].fix
    assert not all(check.ok for check in checks)


def test_a_package_that_is_missing_is_named_with_its_pip_line() -> None:
    check = package("surely_not_installed")
    assert (check.ok, check.fix) == (False, "pip install --force-reinstall surely_not_installed")


@pytest.mark.server
@pytest.mark.enable_socket
class TestOllama:
    @pytest.fixture
    def server(self) -> Iterator[OllamaServer]:
        with OllamaServer() as running:
            yield running

    def checks(self, server: OllamaServer, name: str, **more: Any) -> dict[str, Diagnosis]:
        return {c.name: c for c in models(Settings(model=name, ollama_host=server.url, **more))}

    def test_a_running_server_with_the_model_is_well(self, server: OllamaServer) -> None:
        checks = self.checks(server, MODEL, embeddings="ollama:nomic-embed-text")
        assert list(checks) == [
            "ollama server", f"model {MODEL}", f"context of {MODEL}", "model ollama:nomic-embed-text",
            f"examination of {MODEL}",
        ]  # fmt: skip
        assert all(check.ok for check in checks.values())

    def test_a_running_server_without_a_model_set_is_pointed_out(self, server: OllamaServer) -> None:
        [check] = models(Settings(ollama_host=server.url))
        assert check.ok
        assert "--model ollama:llama3.2" in check.detail

    def test_a_server_that_is_down_is_started(self, server: OllamaServer) -> None:
        server.stop()
        check = self.checks(server, MODEL)["ollama server"]
        assert (check.ok, check.fix) == (False, "start it with `ollama serve`, or set OLLAMA_HOST")

    def test_a_model_that_is_not_pulled_is_pulled(self, server: OllamaServer) -> None:
        check = self.checks(server, "ollama:qwen3:4b")["model ollama:qwen3:4b"]
        assert (check.ok, check.fix) == (False, "ollama pull qwen3:4b")

    def test_a_model_that_only_embeds_cannot_chat(self, server: OllamaServer) -> None:
        server.models["llama3.2"] = ModelInfo(capabilities=("embedding",))
        check = self.checks(server, MODEL)[f"model {MODEL}"]
        assert (check.ok, check.detail) == (False, "the model 'llama3.2' can do embedding; wanted completion")

    def test_a_context_that_is_set_too_small_names_the_setting(self, server: OllamaServer) -> None:
        check = self.checks(server, MODEL, num_ctx=2048)[f"context of {MODEL}"]
        assert not check.ok
        assert check.fix.startswith("set CRAG_NUM_CTX=")

    def test_a_model_whose_own_context_is_too_small_is_told_apart(self, server: OllamaServer) -> None:
        server.models["llama3.2"] = ModelInfo(context_length=2048)
        check = self.checks(server, MODEL)[f"context of {MODEL}"]
        assert (check.ok, "longer context" in check.fix) == (False, True)

    def test_something_else_on_that_port_is_not_taken_for_ollama(self, server: OllamaServer) -> None:
        check = {c.name: c for c in models(Settings(model=MODEL, base_url=f"{server.url}/elsewhere"))}["ollama server"]
        assert (check.ok, "is not Ollama" in check.detail) == (False, True)

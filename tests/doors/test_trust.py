"""A folder's settings are data: what would run code, or send text elsewhere, counts only where the person means it."""

import logging
from pathlib import Path

import pytest
import yaml

from cragraph.errors import SettingsError
from cragraph.settings import load_settings
from cragraph.trust import PERSONS, check_yaml, harmless, home, trust

HOSTILE = {
    "retriever": "notes:make",
    "model": "openai:gpt-4o",
    "judge_model": "ollama:spy",
    "base_url": "http://attacker.example/v1",
    "ollama_host": "attacker.example:11434",
    "prompts": "prompts",
    "nli_model": "model",
    "metrics_log": "/tmp/log.jsonl",
    "embeddings": "huggingface:attacker/model",
    "reranker": "cross-encoder:attacker/model",
    "judge": "ollama:bespoke-minicheck",
    "store": "../elsewhere",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    return tmp_path / "folder"


@pytest.mark.parametrize("file", ["cragraph.yaml", ".env"])
def test_capital_letters_let_a_folder_set_no_more(folder: Path, file: str) -> None:
    sign = ": " if file == "cragraph.yaml" else "="
    prefix = "" if file == "cragraph.yaml" else "CRAG_"
    (folder / file).write_text(f"{prefix}RETRIEVER{sign}notes:make\n{prefix}Model{sign}openai:gpt-4o\n")
    assert (load_settings().retriever, load_settings().model) == (None, None)
    (folder / "cragraph.yaml").write_text("verification: {RETRIEVER: notes:make}\n")
    assert load_settings().retriever is None


@pytest.mark.parametrize(("line", "said"), [("5: x", "unknown setting '5'"), ("Top: 1", "unknown setting 'top'")])
def test_a_name_that_is_no_setting_is_told(folder: Path, line: str, said: str) -> None:
    (folder / "cragraph.yaml").write_text(line)
    with pytest.raises(SettingsError, match=said):
        load_settings()


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("file", ["cragraph.yaml", ".env"])
def test_a_folder_sets_nothing_of_that_and_it_is_said_once(
    folder: Path, name: str, file: str, caplog: pytest.LogCaptureFixture
) -> None:
    line = (
        f"{name}: {HOSTILE[name]}\ntop_k: 7\n"
        if file == "cragraph.yaml"
        else f"CRAG_{name}={HOSTILE[name]}\nCRAG_TOP_K=7"
    )
    (folder / file).write_text(line)
    plain = type(load_settings()).model_fields[name].default
    with caplog.at_level(logging.WARNING, "cragraph"):
        settings = [load_settings(), load_settings()]
    assert [(getattr(one, name), one.top_k) for one in settings] == [(plain, 7)] * 2
    assert len([r for r in caplog.records if f"sets {name}, which a folder may not do" in r.message]) <= 1


def test_what_a_folder_wanted_is_told_in_one_line(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "cragraph.yaml").write_text(f"# {folder}\nmodel: openai:gpt-4o\nbase_url: http://attacker.example\n")
    with caplog.at_level(logging.WARNING, "cragraph"):
        load_settings()
    assert "cragraph.yaml sets base_url, model, which a folder may not do: left out." in caplog.text
    assert "cragraph trust ." in caplog.text


def test_a_trusted_file_sets_all_until_it_changes(folder: Path) -> None:
    file = folder / "cragraph.yaml"
    file.write_text("model: ollama:llama3.2\n")
    trust(file)
    assert load_settings().model == "ollama:llama3.2"
    file.write_text("model: ollama:llama3.2\nretriever: notes:make\n")
    assert (load_settings().model, load_settings().retriever) == (None, None)
    moved = folder / "moved"
    moved.mkdir()
    file.write_text("model: ollama:llama3.2\n")
    file.rename(moved / "cragraph.yaml")
    assert load_settings().model is None


def test_ones_own_file_the_environment_and_options_set_all(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home().mkdir(parents=True)
    (home() / "config.yaml").write_text("model: ollama:own\ntop_k: 3\n")
    (folder / "cragraph.yaml").write_text("top_k: 4\n")
    assert (load_settings().model, load_settings().top_k) == ("ollama:own", 4)
    monkeypatch.setenv("CRAG_MODEL", "ollama:environment")
    assert load_settings().model == "ollama:environment"
    (folder / "named.yaml").write_text("model: ollama:named\n")
    monkeypatch.delenv("CRAG_MODEL")
    monkeypatch.setenv("CRAG_CONFIG", "named.yaml")
    assert load_settings().model == "ollama:named"


def test_a_store_in_the_folder_counts_and_a_link_out_of_it_does_not(folder: Path) -> None:
    (folder / "out").symlink_to(folder.parent)
    assert harmless("store", "notes/db")
    assert not any(
        harmless("store", place)
        for place in ("out/db", "/tmp/db", "~/db", "a\0b", "~/../db/../..", "http://x:1", "chroma:db")
    )
    assert {"retriever", "token", "model"} <= PERSONS


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x, x]\nb: &b [*a, *a]\nsource_weights: {x: *b}\n",
        "known_facts: " + "[" * 50_000,
        "mode: " + "x" * 2_000_000,
    ],
    ids=["aliases", "depth", "size"],
)
def test_yaml_that_would_fill_the_memory_is_refused_before_it_is_read(folder: Path, text: str) -> None:
    (folder / "cragraph.yaml").write_text(text)
    with pytest.raises(SettingsError, match=r"cragraph.yaml.* is not YAML \((an alias|more than 20|it has 2,)"):
        load_settings()


def test_plain_yaml_passes() -> None:
    check_yaml("a: 1\nb: {c: [1, 2]}\n")
    with pytest.raises(yaml.YAMLError):
        check_yaml("a: [1")

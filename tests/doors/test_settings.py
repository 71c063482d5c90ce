"""Settings: who wins, and what is said when one is wrong."""

import re
from pathlib import Path
from typing import Any

import pytest

from cragraph.errors import InputError, SettingsError
from cragraph.graph.context import GONE, Context, options_of
from cragraph.run import Assistant
from cragraph.settings import (
    ALIASES,
    GROUPS,
    Settings,
    context_schema,
    load_settings,
)
from cragraph.trust import trust
from tests.support.cases import cases

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_argument_beats_the_environment_beats_dotenv_beats_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_settings().confidence_threshold == 0.7
    (tmp_path / "cragraph.yaml").write_text("confidence_threshold: 0.1\n")
    assert load_settings().confidence_threshold == 0.1
    (tmp_path / ".env").write_text("CRAG_CONFIDENCE_THRESHOLD=0.2\n")
    assert load_settings().confidence_threshold == 0.2
    monkeypatch.setenv("CRAG_CONFIDENCE_THRESHOLD", "0.3")
    assert load_settings().confidence_threshold == 0.3
    assert load_settings(confidence_threshold=0.4).confidence_threshold == 0.4


@pytest.mark.parametrize(
    ("mode", "preset"), [("low", (1, False, 5)), ("balanced", (2, True, 8)), ("high", (3, True, 10))]
)
def test_a_mode_is_a_preset_that_an_explicit_setting_beats(mode: str, preset: tuple[int, bool, int]) -> None:
    resolved = load_settings(mode=mode).context().resolved()
    assert (resolved.min_chunks, resolved.verify, resolved.second_pass_k) == preset
    explicit = load_settings(mode=mode, min_chunks=7).context().resolved()
    assert (explicit.min_chunks, explicit.verify) == (7, preset[1])


def test_the_blocks_of_the_file_set_per_run_fields(tmp_path: Path) -> None:
    (tmp_path / "cragraph.yaml").write_text(
        "verification:\n  enabled: false\n  confidence_threshold: 0.5\n  max_crag_attempts: 1\n"
        "  show_claims: true\n  known_facts: [The lake is deep.]\ncrag:\n  enabled: false\n"
    )
    settings = load_settings()
    assert (settings.verify, settings.show_claims) == (False, True)
    assert (settings.confidence_threshold, settings.max_crag_attempts) == (0.5, 0)
    assert settings.known_facts == ("The lake is deep.",)


@pytest.mark.parametrize(("variable", "value", "said"), cases("doors/settings", "a wrong variable"))
def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch, variable: str, value: str, said: str) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError, match=said):
        load_settings()


def test_a_wrong_key_in_the_file_names_the_file_and_the_nearest_setting(tmp_path: Path) -> None:
    (tmp_path / "cragraph.yaml").write_text("confidence_treshold: 0.5\n")
    with pytest.raises(SettingsError, match=r"cragraph\.yaml.*did you mean confidence_threshold"):
        load_settings()


@pytest.mark.parametrize("name", sorted(GONE))
def test_a_setting_that_is_gone_says_what_to_do(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = re.escape(f"any more: {GONE[name]}")
    with pytest.raises(SettingsError, match=said):
        load_settings(**{name: 1})
    with pytest.raises(InputError, match=said):
        options_of({name: 1})
    (tmp_path / "cragraph.yaml").write_text(f"{name}: 1\n")
    with pytest.raises(SettingsError, match=rf"cragraph\.yaml: no setting '{name}' {said}"):
        load_settings()
    (tmp_path / "cragraph.yaml").unlink()
    monkeypatch.setenv(f"CRAG_{name.upper()}", "1")
    with pytest.raises(SettingsError, match=rf"CRAG_{name.upper()} is no setting {said}"):
        load_settings()


def test_every_setting_stands_in_one_group() -> None:
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(Settings.model_fields)


def test_a_group_in_the_file_is_told_to_go(tmp_path: Path) -> None:
    (tmp_path / "cragraph.yaml").write_text("ollama:\n  num_ctx: 4096\n")
    with pytest.raises(SettingsError, match=r"cragraph\.yaml: unknown setting 'ollama': settings have no groups"):
        load_settings()


def test_a_file_that_is_no_yaml_is_named(tmp_path: Path) -> None:
    (tmp_path / "cragraph.yaml").write_text("mode: [unclosed\n")
    with pytest.raises(SettingsError, match=r"cragraph\.yaml"):
        load_settings()


def test_variables_of_other_programs_in_dotenv_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OTHER_KEY=1\nCRAG_MODE=high\n")
    assert load_settings().mode == "high"
    (tmp_path / ".env").write_text("CRAG_MOOD=high\n")
    with pytest.raises(SettingsError, match=r"\.env.*mood"):
        load_settings()


def test_reliability_weights_must_sum_to_one() -> None:
    with pytest.raises(SettingsError, match=r"sum 1\.2"):
        load_settings(reliability_weights={"retrieval_quality": 0.5})


def test_the_form_shows_the_settings_as_defaults_and_a_run_lays_its_options_over_them() -> None:
    settings = load_settings(mode="high", top_k=3)
    schema = context_schema(settings)
    shown = schema.model_json_schema()["properties"]
    assert (shown["mode"]["default"], shown["top_k"]["default"]) == ("high", 3)
    assert all("description" in field and "default" in field for field in shown.values())
    laid = Context(top_k=9).over(settings.context())
    assert (laid.mode, laid.top_k) == ("high", 9)
    assert Context.model_fields["mode"].default == "balanced"


OTHER_NAMES = [
    ("ENABLE_VERIFICATION", "false", lambda s: s.verify, False),
    ("CONFIDENCE_THRESHOLD", "0.85", lambda s: s.confidence_threshold, 0.85),
    ("OLLAMA_HOST", "10.0.0.9:11434", lambda s: s.ollama_host, "10.0.0.9:11434"),
]


@pytest.mark.parametrize(("variable", "value", "read", "expected"), OTHER_NAMES)
def test_variables_without_our_prefix_are_read_in_the_environment_and_in_dotenv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, read: Any, expected: object
) -> None:
    assert {name for name, *_ in OTHER_NAMES} == ALIASES.keys()
    (tmp_path / ".env").write_text(f"{variable}={value}\n")
    trust(tmp_path / ".env")
    assert read(load_settings()) == expected
    (tmp_path / ".env").unlink()
    assert read(load_settings()) != expected
    monkeypatch.setenv(variable, value)
    assert read(load_settings()) == expected


def test_a_run_may_say_enable_verification_and_crag() -> None:
    assert Context(**{"enable_verification": False}).verify is False
    assert Context(**{"crag": False}).over(Context()).max_crag_attempts == 0
    assert Context(**{"crag": True}).max_crag_attempts == 2


@pytest.mark.parametrize(("wrong", "said"), cases("doors/settings", "what cannot work"))
def test_what_cannot_work_is_refused_when_it_is_loaded(wrong: Any, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        load_settings(**wrong)


def test_a_mistake_in_the_file_is_one_line_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "cragraph.yaml").write_text("mode: high\nsearch: [unclosed\n")
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert str(caught.value).startswith("cragraph.yaml, line 3 is not YAML (")
    assert "\n" not in str(caught.value)


def test_every_setting_is_read_by_the_code() -> None:
    code = "".join(
        path.read_text() for part in ("cragraph", "nodes", "graph")
        for path in (ROOT / part).rglob("*.py") if path.name not in ("settings.py", "context.py")
    )  # fmt: skip
    for name in Settings.model_fields:
        assert f".{name}" in code, f"{name} changes nothing"


ANSWER, PASSAGES = "Word has it that DE0007 rose.", [{"text": "Word has it that DE0007 rose.", "isin": "DE0007"}]


@pytest.mark.parametrize(
    ("setting", "value", "policy", "read"),
    [
        ("known_facts", ("DE0007 never rose.",), "reliability", lambda found: found.signals["knowledge_consistency"]),
        (
            "reliability_weights",
            {"retrieval_quality": 1, "source_agreement": 0, "hallucination_score": 0, "consistency_score": 0},
            "reliability",
            lambda found: found.confidence,
        ),
    ],
)
def test_a_setting_of_verification_changes_what_it_says(setting: str, value: Any, policy: Any, read: Any) -> None:
    usual = Settings(store=None, judge="lexical", policy=policy)
    changed = usual.model_copy(update={setting: value})
    one, other = (read(Assistant(settings).verify(ANSWER, PASSAGES)) for settings in (usual, changed))
    assert one != other

"""Prompts are data: shipped, replaceable one by one, checked, and known by their hash."""

from pathlib import Path

import pytest

from cragraph.errors import SettingsError
from cragraph.prompts import VARIABLES, Prompts, load, parse
from tests.support.cases import cases


@pytest.mark.parametrize("name", sorted(VARIABLES))
def test_every_shipped_prompt_is_there_and_uses_all_it_must(name: str) -> None:
    prompt = load(name)
    assert (prompt.name, len(prompt.digest)) == (name, 12)
    assert prompt.system
    assert prompt.user


def test_a_persons_own_prompt_replaces_the_shipped_one_and_only_that_one(tmp_path: Path) -> None:
    (tmp_path / "rerank.md").write_text("# system\nRate.\n# user\n{{marker}} {{passages}} {{question}}\n")
    own, shipped = Prompts(tmp_path), Prompts()
    assert own["rerank"].fill(marker="m", passages="p", question="q") == [("system", "Rate."), ("human", "m p q")]
    assert {n for n in VARIABLES if own[n].digest != shipped[n].digest} == {"rerank"}


def test_values_are_filled_in_once_so_that_braces_in_them_stay() -> None:
    prompt = parse("multi_query", '# system\n{"queries": []}\n# user\n{{question}} {{count}}\n', "x")
    filled = prompt.fill(question="what is {{count}} and {x}?", count=3)
    assert filled == [("system", '{"queries": []}'), ("human", "what is {{count}} and {x}? 3")]


@pytest.mark.parametrize(("text", "says"), cases("prompts/load", "a prompt that cannot"))
def test_a_prompt_that_cannot_work_is_refused_with_its_file(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "multi_query.md").write_text(text)
    with pytest.raises(SettingsError, match=says) as error:
        load("multi_query", tmp_path)
    assert str(tmp_path / "multi_query.md") in str(error.value)

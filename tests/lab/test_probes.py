import pytest

from lab.benchmarks.probes.__main__ import RULES, main, probes


@pytest.mark.slow
def test_no_rule_of_language_is_below_its_floor(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0, capsys.readouterr().out


def test_every_rule_has_probes() -> None:
    assert all(len(probes(name)) >= 5 for name in RULES)

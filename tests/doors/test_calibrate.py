"""Fitting to one's own labelled answers: it gains where the line is wrong, says so, and keeps the settings file."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from cragraph.api import verify
from cragraph.calibrate import Labelled, calibrate, store
from cragraph.errors import InputError
from cragraph.protocols import Notes
from cragraph.settings import load_settings
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.claims import SentenceExtractor
from cragraph.verification.judges.verdicts import verdict_of
from cragraph.verification.policies import JudgeCalibration
from cragraph.verification.verifier import Verifier, VerifierOptions
from tests.doors.conftest import Shell


class Doubtful:
    """Gives the support that stands in the claim: a judge that is right in its order and wrong in its line."""

    name = "lexical"

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        found = []
        for claim in claims:
            support = float(claim["text"].split()[-1].rstrip("."))
            label = "supported" if support >= 0.5 else "unsupported"
            found.append(verdict_of(claim, label, support, 0.0, None, "", self.name))  # type: ignore[arg-type]
        return found


def row(number: int, support: float, good: bool) -> Labelled:
    label = "supported" if good else "unsupported"
    return Labelled(f"Claim {number} says {support:.2f}.", ("The mill is old.",), label)


# Good answers have 0.25 to 0.45 here and bad ones 0.05 to 0.24: the shipped line refuses them all.
ROWS = [row(n, 0.25 + 0.004 * n, True) for n in range(50)] + [row(50 + n, 0.05 + 0.0038 * n, False) for n in range(50)]


def verifier(**own: JudgeCalibration) -> Verifier:
    options = VerifierOptions(measure=(), calibration=own)
    return Verifier({"lexical": Doubtful()}, ("lexical",), SentenceExtractor(), options=options)


def test_a_hundred_rows_move_the_line_to_where_it_belongs_and_the_gain_is_told_with_its_interval() -> None:
    found = calibrate(ROWS, verifier(), "lexical", refused=0.1)
    assert (found.rows, found.good, found.before["refused_good"]) == (100, 50, 1.0)
    assert found.after["refused_good"] <= 0.2
    assert found.least > 0.2
    assert found.least <= found.gained <= found.most
    own = JudgeCalibration(found.slope, found.bias, found.threshold)
    again = verifier(lexical=own)("", "Claim 9 says 0.40.", [], Notes(), judge="lexical")
    assert not again.is_grounded  # without a passage nothing is


def test_what_was_fitted_decides_verdict_confidence_and_threshold_together() -> None:
    found = calibrate(ROWS, verifier(), "lexical", refused=0.1)
    passages = [{"text": "The mill is old."}]
    from cragraph.passages import as_passages

    fitted = verifier(lexical=JudgeCalibration(found.slope, found.bias, found.threshold))
    for support, good in ((0.42, True), (0.10, False)):
        result = fitted("", f"Claim 1 says {support}.", as_passages(passages), Notes(), judge="lexical")
        assert result.is_grounded is result.accepted is (result.confidence >= found.threshold) is good
        assert (result.claims[0]["verdict"] == "supported") is good
        assert result.threshold == found.threshold


def test_too_few_rows_of_a_kind_are_refused() -> None:
    with pytest.raises(InputError, match="at least 20 supported and 20 others"):
        calibrate(ROWS[:60], verifier(), "lexical", refused=0.2)


def test_the_settings_file_keeps_everything_else_and_holds_one_calibration(tmp_path: Path) -> None:
    found = calibrate(ROWS, verifier(), "lexical", refused=0.1)
    file = tmp_path / "cragraph.yaml"
    file.write_text("# mine\njudge: lexical  # quick\n")
    for _ in range(2):
        store(found, file)
    text = file.read_text()
    assert text.startswith("# mine\njudge: lexical  # quick\n")
    assert text.count("calibration:") == 1
    assert yaml.safe_load(text)["calibration"]["lexical"]["threshold"] == found.threshold


def test_what_is_in_the_settings_counts_in_every_verification(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    answer, passages = "The old mill was opened in 1820.", ["The mill was opened in 1820."]
    before = verify(answer, passages, judge="lexical", settings=load_settings())
    (tmp_path / "cragraph.yaml").write_text("calibration: {lexical: {bias: -4, threshold: 0.6}}\n")
    after = verify(answer, passages, judge="lexical", settings=load_settings())
    assert after.confidence < before.confidence
    assert after.threshold == 0.6
    assert json.loads(json.dumps(after.to_dict()))["is_grounded"] is False


def labelled(tmp_path: Path) -> str:
    """Rows of which the copies are labelled as bad and the inventions as good: whatever is fitted does worse."""
    texts = [f"Wheel {n} of the mill turns at dawn." for n in range(30)]
    rows = [
        {"answer": text if copied else f"A miller painted door {n} green.", "passages": [text], "label": label}
        for n, text in enumerate(texts)
        for copied, label in ((True, "unsupported"), (False, "supported"))
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return "rows.jsonl"


def test_a_fit_that_was_measured_as_worse_is_said_and_not_written(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worse = replace(calibrate(ROWS, verifier(), "lexical", refused=0.1), gained=-0.133, least=-0.2, most=-0.05)
    monkeypatch.setattr("cragraph.calibrate.calibrate", lambda *_, **__: worse)
    rows = labelled(tmp_path)
    ran = shell("calibrate", rows, "--judge", "lexical")
    assert ran.code == 1
    assert "the fit is worse than what is in force" in ran.err
    assert not (tmp_path / "cragraph.yaml").exists()
    assert shell("calibrate", rows, "--json").json["file"] is None
    better = replace(worse, gained=0.01)
    monkeypatch.setattr("cragraph.calibrate.calibrate", lambda *_, **__: better)
    assert shell("calibrate", rows, "--judge", "lexical").code == 0
    assert "calibration" in (tmp_path / "cragraph.yaml").read_text()


def test_a_fit_is_held_against_the_calibration_that_is_in_force() -> None:
    first = calibrate(ROWS, verifier(), "lexical", refused=0.1)
    assert first.gained > 0.2
    own = {"lexical": JudgeCalibration(first.slope, first.bias, first.threshold)}
    again = calibrate(ROWS, verifier(), "lexical", refused=0.1, in_force=own)
    assert (again.slope, again.bias, again.threshold) == (first.slope, first.bias, first.threshold)
    assert again.before["balanced_accuracy"] > 0.8
    assert again.gained < 0.05

import json
from pathlib import Path
from typing import Any

import pytest

from cragraph.errors import InputError
from cragraph.protocols import Notes
from cragraph.testing import FakeJudge, verdict
from cragraph.verification.claims import SentenceExtractor
from cragraph.verification.verifier import Verifier
from lab.evals.data import read_rows
from lab.evals.grounding import count, f1, marked_by, new_words, run
from lab.evals.report import grounding_table, pooled, write_report


def row(id: str, answer: str, label: str, **more: Any) -> dict[str, Any]:
    return {
        "id": id,
        "question": None,
        "passages": ["Gold shines.", "Lead is heavy."],
        "answer": answer,
        "label": label,
        "spans": [],
        **more,
    }


def written(folder: Path, name: str, *rows: dict[str, Any]) -> Path:
    file = folder / f"{name}.jsonl"
    file.write_text("".join(json.dumps(r) + "\n" for r in rows))
    return file


def verifier(**judges: Any) -> Verifier:
    known = judges or {"good": FakeJudge({"Gold": 0.9, "Lead": 0.8, "Tin": 0.3}, "good")}
    return Verifier(judges=known, fallback=[], extractor=SentenceExtractor())


FIRST = (
    row("x:1", "Gold shines. Lead is heavy.", "supported"),
    row("x:2", "Tin bends.", "unsupported"),
    row("x:3", "Gold shines. Pigs fly.", "contradicted"),
    row("x:4", "Lead is heavy, say some.", "partial"),
)


def test_a_judge_is_measured_on_each_file_and_on_the_mean_of_those_with_both_labels(tmp_path: Path) -> None:
    files = [written(tmp_path, "first", *FIRST), written(tmp_path, "one_sided", row("y:1", "Pigs fly.", "supported"))]
    found = run(files, ["good"], verifier())["judges"]["good"]
    first, other = found["data_sets"]["first"], found["data_sets"]["one_sided"]
    assert (first["rows"], first["supported"], first["unsupported"]) == (4, 1, 3)
    assert first["balanced_accuracy"] == pytest.approx((1 + 2 / 3) / 2)  # the partial row passes as supported
    assert first["f1_unsupported"] == pytest.approx(2 * 2 / (2 + 3))
    assert first["auroc"] == 1.0  # the mean logits: 1.8 against -0.8, -1.5 and 1.4
    assert (other["auroc"], other["balanced_accuracy"], other["ece"]) == (None, None, 1.0)
    assert found["macro"]["data_sets"] == 1
    assert found["macro"]["auroc"] == first["auroc"]
    assert first["judged_by"] == {"good": 4}
    assert first["ms_p50"] > 0


def test_rows_that_say_their_kind_are_counted_by_kind(tmp_path: Path) -> None:
    rows = [
        row("k:1", "Tin bends.", "unsupported", kind="role"),
        row("k:2", "Lead is heavy.", "unsupported", kind="role"),
    ]
    file = written(tmp_path, "kinds", *rows, row("k:3", "Gold shines.", "supported", kind="reworded"))
    kinds = run([file], ["good"], verifier())["judges"]["good"]["data_sets"]["kinds"]["kinds"]
    assert kinds == {"reworded": "1 of 1", "role": "1 of 2"}


def test_the_parts_of_one_claim_count_once_by_the_best(tmp_path: Path) -> None:
    parts = [
        row("w:7-o0", "Tin bends.", "unsupported"),
        row("w:7-o1", "Gold shines.", "supported"),
        row("w:8-o0", "Pigs fly.", "partial"),
    ]
    found = run([written(tmp_path, "wice_oracle", *parts)], ["good"], verifier())["judges"]["good"]["data_sets"][
        "wice_oracle"
    ]
    assert (found["rows"], found["supported"], found["auroc"], found["balanced_accuracy"]) == (2, 1, 1.0, 1.0)


def test_generic_replies_of_begin_are_left_out(tmp_path: Path) -> None:
    file = written(tmp_path, "begin", row("begin:1", "Hm.", "partial"), row("begin:2", "Gold shines.", "supported"))
    assert [r.id for r in read_rows(file)] == ["begin:2"]


def test_a_limit_samples_a_file_evenly_and_keeps_the_parts_of_a_claim_together(tmp_path: Path) -> None:
    rows = [row(f"w:{n}-o{part}", "Gold shines.", "supported") for n in range(10) for part in range(2)]
    assert [r.id for r in read_rows(written(tmp_path, "w", *rows), 2)] == ["w:0-o0", "w:0-o1", "w:5-o0", "w:5-o1"]
    assert len(read_rows(tmp_path / "w.jsonl", 99)) == 20


def test_a_reply_without_a_statement_is_judged_as_a_whole(tmp_path: Path) -> None:
    judge = FakeJudge({"heavy": 0.9}, "good")
    found = run([written(tmp_path, "q", row("x:1", "Is lead heavy?", "supported"))], ["good"], verifier(good=judge))
    assert judge.asked == ["Is lead heavy?"]
    assert found["judges"]["good"]["data_sets"]["q"]["supported"] == 1


class Broken(FakeJudge):
    def __call__(self, claims: Any, passages: Any, notes: Notes, *, question: str = "") -> Any:
        raise TimeoutError("slow")


def test_rows_that_no_judge_could_judge_are_counted_apart(tmp_path: Path) -> None:
    found = run([written(tmp_path, "first", *FIRST)], ["bad"], verifier(bad=Broken({}, "bad")))
    figures = found["judges"]["bad"]["data_sets"]["first"]
    assert (figures["rows"], figures["unjudged"], figures["auroc"]) == (0, 4, None)
    assert any("'bad' failed" in sentence for sentence in figures["degraded"])


def test_several_judges_stand_side_by_side_and_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    judges = {"good": FakeJudge({"Gold": 0.9, "Lead": 0.8}, "good"), "none": FakeJudge({}, "none")}
    found = run(
        [written(tmp_path, "first", *FIRST)], list(judges), verifier(**judges), progress=lambda *a: told.append(a)
    )
    assert list(found["judges"]) == ["good", "none"]
    assert (told[0], told[-1]) == ((1, 8, "good: first"), (8, 8, "none: first"))
    assert json.loads(json.dumps(found)) == found


def test_data_sets_labelled_otherwise_stay_out_of_the_core(tmp_path: Path) -> None:
    files = [written(tmp_path, name, *FIRST) for name in ("first", "financebench_dev", "xnli_ko_dev")]
    found = run(files, ["good"], verifier())["judges"]["good"]
    assert (found["macro"]["data_sets"], found["macro_core"]["data_sets"]) == (3, 1)


@pytest.mark.parametrize(
    "line",
    [
        "no json",
        "[]",
        "{}",
        '{"answer": "x", "passages": "y", "label": "supported"}',
        '{"answer": 1, "passages": [], "label": "supported"}',
        '{"answer": "x", "passages": [], "label": "yes"}',
    ],
)
def test_a_row_of_another_shape_is_named_by_file_and_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(json.dumps(FIRST[0]) + "\n\n" + line + "\n")
    with pytest.raises(InputError, match=r"bad\.jsonl:3"):
        read_rows(file)


def test_a_missing_file_and_an_empty_list_are_the_callers_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_rows(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="at least one file and one judge"):
        run([], ["good"], verifier())


# -- spans -----------------------------------------------------------------------------------------------------


def test_unsupported_words_are_counted_by_overlap() -> None:
    answer = "Gold shines like tin foil."
    found = count(answer, [(12, 16), (17, 20)], [(17, 25)])  # like, tin | tin, foil
    assert (found, f1(found)) == ({"hits": 1, "found": 2, "wanted": 2}, 0.5)
    assert f1(count(answer, [], [])) is None
    assert (found + found)["wanted"] == 4


def test_a_judge_marks_its_spans_or_else_the_whole_claim() -> None:
    pointed = verdict("partially_supported", "Gold shines.") | {"unsupported_spans": [(5, 11)]}
    claims = [pointed, verdict("contradicted", "Pigs fly.", start=13), verdict("supported", "Lead.", start=23)]
    assert marked_by(claims) == [(5, 11), (13, 22)]


def test_the_baseline_marks_words_that_no_passage_has() -> None:
    assert new_words("Gold glitters, 3.5 times.", ["gold, 3.5 TIMES"]) == [(5, 13)]


def test_span_figures_stand_beside_the_baselines(tmp_path: Path) -> None:
    rows = row("x:1", "Gold shines. Pigs fly.", "partial", spans=[[13, 21]])
    found = run([written(tmp_path, "spans", rows)], ["good"], verifier())["judges"]["good"]["data_sets"]["spans"]
    assert (found["span_f1"], found["span_f1_new_words"]) == (1.0, 1.0)


# -- what is shown ---------------------------------------------------------------------------------------------


@pytest.fixture
def result(tmp_path: Path) -> dict[str, Any]:
    return run([written(tmp_path, "first", *FIRST)], ["good"], verifier(), limit=4)


def test_the_figures_are_shown_as_tables(result: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    Console(width=180).print(grounding_table(result))
    shown = capsys.readouterr().out
    for text in ("good", "first", "0.833", "macro core", "AUROC", "4 rows per file"):
        assert text in shown


def test_the_report_is_the_figures_and_a_page_with_table_and_picture(result: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the report needs the extra 'report'")
    result["judges"]["<b>[i]"] = result["judges"].pop("good")
    data, page = write_report(result, tmp_path / "report")
    assert (data.name, page.name) == ("grounding.json", "index.html")
    assert json.loads(data.read_text()) == result
    for shown in ("0.833", "&lt;b&gt;[i]", "src='data:image/png;base64,"):
        assert shown in page.read_text()


def test_reliability_is_pooled_over_the_files_with_both_labels(result: dict[str, Any]) -> None:
    sets = result["judges"]["good"]["data_sets"]
    assert sum(rows for _, _, rows in pooled(sets)) == 4
    assert pooled({"one": sets["first"] | {"unsupported": 0}}) == []

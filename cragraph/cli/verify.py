"""`cragraph verify`: check an answer against sources, one at a time or many rows."""

import json
import re
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, Final
from xml.etree import ElementTree

import typer
from rich.table import Table

from cragraph.cli.console import FAILURE, err, show, status
from cragraph.cli.console import out as out_console
from cragraph.cli.options import JsonOption, QuietOption, ReportOption, option, with_settings
from cragraph.cli.render import show_verification
from cragraph.errors import CragError, InputError
from cragraph.library import Library
from cragraph.private import check_output, output
from cragraph.report import Report, table_of


@with_settings("judge", "policy", "model", "base_url")
def verify(
    settings_of: Any,
    question: Annotated[str | None, option("Question that the answer answers.", "--question")] = None,
    answer: Annotated[str | None, option("Answer to verify; - reads it from stdin.", "--answer")] = None,
    source: Annotated[
        list[Path] | None,
        option("File or folder to verify the answer against. Repeatable.", "--source", metavar="PATH"),
    ] = None,
    jsonl: Annotated[Path | None, option("JSONL file of answers to verify; - reads stdin.", "--jsonl")] = None,
    out: Annotated[Path | None, option("File for the verdicts. Default: stdout.", "--out")] = None,
    report: ReportOption = None,
    workers: Annotated[int, option("Number of rows verified at the same time.", "--workers", min=1)] = 2,
    fail_under: Annotated[
        float | None, option("Exit with 4 if a smaller share of the answers is grounded.", "--fail-under", min=0, max=1)
    ] = None,
    summary: Annotated[str, option("Summary of many rows: table, json or none.", "--summary")] = "table",
    junit: Annotated[Path | None, option("File for a JUnit report with one test case per row.", "--junit")] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Judge each claim of an answer against sources, and quote the evidence.

    Example: `cragraph verify --answer 'Revenue was $394 billion.' --source report.pdf`

    Many rows: `cragraph verify --jsonl rows.jsonl --out verdicts.jsonl --fail-under .8 --junit report.xml`
    """
    check_output(out, report, junit)
    library = Library(settings_of())
    if jsonl is not None:
        if answer is not None or source:
            raise InputError("--jsonl came with --answer or --source; rows bring their own: leave those out.")
        if summary not in SUMMARIES:
            raise InputError(f"--summary came as {summary!r}; wanted one of {', '.join(SUMMARIES)}.")
        rows, skipped = _verify_rows(library, jsonl, out, workers, report)
        figures = figures_of(rows, skipped)
        if junit is not None:
            with output(junit, "wb") as written:
                written.write(junit_of(rows, skipped))
        if not quiet:
            status(f"{len(rows)} rows verified, {len(skipped)} skipped")
            show_summary(figures, summary, out_console() if out is not None else err())
        # An unreadable row counts as not grounded; without any row the command fails.
        share = figures["share_grounded"]
        if fail_under is not None and (share is None or share < fail_under):
            raise typer.Exit(BELOW)
        if skipped:
            raise typer.Exit(FAILURE)
        return
    if answer is None or not source:
        raise InputError("verify needs --answer TEXT (or -) and at least one --source PATH, or --jsonl FILE.")
    text = sys.stdin.read() if answer == "-" else answer
    leading_out: list[tuple[str, str]] = []
    passages = library.read(source, leading_out)
    verification = library.verify(text, passages, question)
    for path, reason in leading_out:
        status(f"skipped {path}: {reason}")
    if report is not None:
        Report(verification, files={passage["source"] for passage in passages}).save(report)
    show(json, verification.to_dict(), show_verification)
    if fail_under is not None and verification.is_grounded < fail_under:
        raise typer.Exit(BELOW)


SUMMARIES: Final = ("table", "json", "none")
BELOW: Final = 4  # exit code if the share of grounded answers is smaller than asked for

Row = dict[str, Any]
Skipped = list[tuple[int, str]]  # line numbers from 1, with the fault of each


def _verify_rows(
    library: Any, source: Path, target: Path | None, workers: int, report: Path | None
) -> tuple[list[Row], Skipped]:
    """Write the verification of each row; returns the data for the summaries, and the skipped rows."""
    kept: list[Row] = []
    skipped: Skipped = []

    def judged(lines: Iterable[str], sink: Any) -> Iterator[Row]:
        for number, row, problem in verified_rows(lines, library.verify, workers):
            if problem:
                skipped.append((number, problem))
                status(f"line {number}: {problem}")
                continue
            kept.append({name: row[name] for name in _KEPT} | {"claims": [c["verdict"] for c in row["claims"]]})
            shown = {name: value for name, value in row.items() if name not in ("answer", "question")}
            sink.write(json.dumps(shown, ensure_ascii=False) + "\n")
            sink.flush()
            yield row

    stdin = str(source) == "-"
    if not stdin and not source.is_file():
        raise InputError(f"--jsonl names {source}, which is not a file: give a file of one JSON object per line.")
    opened: Any = nullcontext(sys.stdin) if stdin else source.open(encoding="utf-8")
    written: Any = nullcontext(sys.stdout) if target is None else output(target, encoding="utf-8")
    with opened as lines, written as sink:
        if report is None:
            deque(judged(lines, sink), maxlen=0)
        else:
            with output(report, encoding="utf-8") as page:
                page.writelines(table_of(judged(lines, sink)))
    return kept, skipped


_KEPT: Final = (
    "id", "confidence", "level", "is_grounded", "accepted", "decision", "ms", "unverified_claims", "warnings",
    "degraded",
)  # fmt: skip


def verified_rows(lines: Iterable[str], verify: Callable[..., Any], workers: int) -> Iterator[tuple[int, Row, str]]:
    """For each line that is not blank, in order: its number, its row with the verification, and its fault."""
    pending: deque[Future[tuple[int, Row, str]]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for number, line in enumerate(lines, 1):
            if line.strip():
                pending.append(pool.submit(_one, number, line, verify))
                if len(pending) > workers * 4:
                    yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def _one(number: int, line: str, verify: Callable[..., Any]) -> tuple[int, Row, str]:
    try:
        row = json.loads(line)
        if not isinstance(row, dict):
            raise InputError(f"came as a {type(row).__name__}; wanted an object with answer and passages")
        for name, kind, wrong in _FIELDS:
            if not isinstance(row.get(name), kind):
                raise InputError(wrong)
        verification = verify(row["answer"], row["passages"], row.get("question")).to_dict()
    except json.JSONDecodeError as error:
        return number, {}, f"not JSON ({error.msg} at character {error.pos + 1})"
    except CragError as error:
        return number, {}, str(error)
    given = {name: row.get(name) for name in ("answer", "question")}
    return number, {"id": row.get("id", number)} | verification | given, ""


_FIELDS: Final = (
    ("answer", str, "has no text in `answer`; wanted a string"),
    ("passages", list, "has no list in `passages`; wanted strings or objects with text"),
    ("question", str | None, "has something else than text as `question`; wanted a string or nothing"),
)


def figures_of(rows: list[Row], skipped: Skipped) -> dict[str, Any]:
    """The counts, the share of grounded answers among all rows, and the mean confidence."""
    total, grounded = len(rows) + len(skipped), sum(row["is_grounded"] for row in rows)
    return {
        "rows": len(rows),
        "skipped": len(skipped),
        "grounded": grounded,
        "decisions": dict(Counter(row["decision"]["outcome"] for row in rows).most_common()),
        "share_grounded": round(grounded / total, 4) if total else None,
        "mean_confidence": round(sum(row["confidence"] for row in rows) / len(rows), 4) if rows else None,
        "claims": dict(Counter(verdict for row in rows for verdict in row["claims"]).most_common()),
        "levels": dict(Counter(row["level"] for row in rows).most_common()),
        "degraded": sum(bool(row["degraded"]) for row in rows),
    }


def show_summary(sums: dict[str, Any], form: str, console: Any) -> None:
    """Print the figures of many rows."""
    if form == "json":
        console.print(json.dumps(sums, ensure_ascii=False), soft_wrap=True)
    elif form == "table":
        table = Table("rows", "skipped", "grounded", "mean confidence", "claims", "degraded")
        share = f" ({sums['share_grounded']:.0%})" if sums["share_grounded"] is not None else ""
        claims = ", ".join(f"{count} {label.replace('_', ' ')}" for label, count in sums["claims"].items())
        mean = "-" if sums["mean_confidence"] is None else f"{sums['mean_confidence']:.2f}"
        cells = [sums["rows"], sums["skipped"], f"{sums['grounded']}{share}", mean, claims, sums["degraded"]]
        table.add_row(*map(str, cells))
        console.print(table)


_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML cannot hold


def junit_of(rows: list[Row], skipped: Skipped) -> bytes:
    """The rows as test cases: a row that is not grounded has failed, an unreadable row is an error."""
    failed = sum(not row["is_grounded"] for row in rows)
    counts = {"tests": len(rows) + len(skipped), "failures": failed, "errors": len(skipped)}
    suite = ElementTree.Element("testsuite", {"name": "cragraph verify"} | {k: str(v) for k, v in counts.items()})
    for row in rows:
        about = {"name": _XML.sub("", str(row["id"])), "time": f"{row['ms'] / 1000:.3f}"}
        case = ElementTree.SubElement(suite, "testcase", {"classname": "cragraph"} | about)
        if not row["is_grounded"]:
            why = "; ".join(row["warnings"]) if row["accepted"] else row["decision"]["why"]
            failure = ElementTree.SubElement(case, "failure", type="not grounded", message=why)
            failure.text = _XML.sub("", "\n".join([*row["warnings"], *row["unverified_claims"]]))
    for number, problem in skipped:
        case = ElementTree.SubElement(suite, "testcase", classname="cragraph", name=f"line {number}")
        ElementTree.SubElement(case, "error", type="not read", message=_XML.sub("", problem))
    written: bytes = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
    return written

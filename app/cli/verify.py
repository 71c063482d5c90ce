"""`cragraph verify`: check an answer against sources, one at a time or many rows."""

import json
import re
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final
from xml.etree import ElementTree

import typer
from rich.table import Table

from cragraph.cli.console import FAILURE, emit, err, status
from cragraph.cli.console import out as out_console
from cragraph.cli.options import (
    BaseUrlOption,
    ConfigOption,
    JsonOption,
    JudgeOption,
    ModelOption,
    PolicyOption,
    QuietOption,
    ReportOption,
    settings_from,
)
from cragraph.errors import CragError, InputError
from cragraph.passages import as_passages


def verify(
    question: Annotated[str | None, typer.Option("--question", help="The question it answers.")] = None,
    answer: Annotated[str | None, typer.Option("--answer", help="The answer; - reads it from stdin.")] = None,
    source: Annotated[
        list[Path] | None, typer.Option("--source", metavar="PATH", help="File or folder it must rest on; repeatable.")
    ] = None,
    jsonl: Annotated[Path | None, typer.Option("--jsonl", help="Rows to verify; - reads stdin.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Where the rows go; stdout if absent.")] = None,
    report: ReportOption = None,
    judge: JudgeOption = None,
    policy: PolicyOption = None,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Rows verified side by side.")] = 2,
    fail_under: Annotated[
        float | None,
        typer.Option("--fail-under", min=0, max=1, help="Exit with 4 where a smaller share of answers is grounded."),
    ] = None,
    summary: Annotated[str, typer.Option("--summary", help="Of many rows: table, json or none.")] = "table",
    junit: Annotated[Path | None, typer.Option("--junit", help="File for a JUnit report, a test case a row.")] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
    config: ConfigOption = None,
) -> None:
    """Judge every claim of an answer against sources, with exact evidence.

    Example: `cragraph verify --answer "Revenue was $394 billion." --source report.pdf`

    Many rows: `cragraph verify --jsonl rows.jsonl --out verdicts.jsonl --fail-under .8 --junit report.xml`
    """
    settings = settings_from(config, judge=judge, policy=policy, model=model, base_url=base_url)
    if jsonl is not None:
        if answer is not None or source:
            raise InputError("--jsonl came with --answer or --source; rows bring their own: leave those out.")
        if summary not in SUMMARIES:
            raise InputError(f"--summary came as {summary!r}; wanted one of {', '.join(SUMMARIES)}.")
        tally = _verify_rows(settings, jsonl, out, workers, report)
        if junit is not None:
            junit.write_bytes(tally.junit())
        if not quiet:
            status(f"{len(tally.rows)} rows verified, {len(tally.skipped)} skipped")
            tally.show(summary, out is not None)
        if fail_under is not None and not tally.reaches(fail_under):
            raise typer.Exit(BELOW)
        if tally.skipped:
            raise typer.Exit(FAILURE)
        return
    if answer is None or not source:
        raise InputError("verify wants --answer TEXT (or -) and at least one --source PATH, or --jsonl FILE.")
    from cragraph.cli.render import show_verification
    from cragraph.run import Assistant

    text = sys.stdin.read() if answer == "-" else answer
    assistant = Assistant(settings)
    verification = assistant.verify(text, assistant.read(source), question)
    if report is not None:
        from cragraph.report import Report

        Report(verification).save(report)
    found = verification.to_dict()
    if json:
        emit(found)
    else:
        show_verification(found)
    if fail_under is not None and verification.is_grounded < fail_under:
        raise typer.Exit(BELOW)


def _verify_rows(settings: Any, source: Path, target: Path | None, workers: int, report: Path | None) -> "Tally":
    from cragraph.run import Assistant

    tally = Tally()

    def judged(lines: Iterable[str], sink: Any) -> Iterator[dict[str, Any]]:
        for number, row, problem in verify_rows(lines, Assistant(settings).verify, workers):
            if problem:
                tally.skipped.append((number, problem))
                status(f"line {number}: {problem}")
            else:
                tally.add(row)
                shown = {name: value for name, value in row.items() if name not in ("answer", "question")}
                sink.write(json.dumps(shown, ensure_ascii=False) + "\n")
                sink.flush()
                yield row

    stdin = str(source) == "-"
    if not stdin and not source.is_file():
        raise InputError(f"--jsonl names {source}, which is not a file: give a file of one JSON object a line.")
    opened: Any = nullcontext(sys.stdin) if stdin else source.open(encoding="utf-8")
    written: Any = nullcontext(sys.stdout) if target is None else target.open("w", encoding="utf-8")
    with opened as lines, written as sink:
        if report is None:
            deque(judged(lines, sink), maxlen=0)
        else:
            from cragraph.report import table_of

            with report.open("w", encoding="utf-8") as page:
                page.writelines(table_of(judged(lines, sink)))
    return tally


SUMMARIES: Final = ("table", "json", "none")
BELOW: Final = 4
"""Exit code where a smaller share of the answers is grounded than was asked for."""
_KEPT: Final = ("id", "confidence", "level", "is_grounded", "threshold", "ms", "unverified_claims", "warnings")


@dataclass
class Tally:
    """What became of many rows; of each only what the summaries need."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[tuple[int, str]] = field(default_factory=list)
    claims: Counter[str] = field(default_factory=Counter)
    degraded: int = 0

    def add(self, row: dict[str, Any]) -> None:
        """Count a verified row."""
        self.rows.append({name: row[name] for name in _KEPT})
        self.claims.update(claim["verdict"] for claim in row["claims"])
        self.degraded += bool(row["degraded"])

    def figures(self) -> dict[str, Any]:
        """The counts, the share of grounded answers among all rows, and the mean confidence."""
        total, confidences = len(self.rows) + len(self.skipped), [row["confidence"] for row in self.rows]
        grounded, rows = sum(row["is_grounded"] for row in self.rows), len(self.rows)
        return {
            "rows": rows,
            "skipped": len(self.skipped),
            "grounded": grounded,
            "share_grounded": round(grounded / total, 4) if total else None,
            "mean_confidence": round(sum(confidences) / rows, 4) if rows else None,
            "claims": dict(self.claims.most_common()),
            "levels": dict(Counter(row["level"] for row in self.rows).most_common()),
            "degraded": self.degraded,
        }

    def reaches(self, share: float) -> bool:
        """Whether so many of the rows are grounded; a row that could not be read is not, and no row is no success."""
        found = self.figures()["share_grounded"]
        return found is not None and found >= share

    def show(self, form: str, rows_elsewhere: bool) -> None:
        """Print the summary: to stdout where the rows went to a file, else to stderr."""
        found = self.figures()
        console = out_console() if rows_elsewhere else err()
        if form == "json":
            console.print(json.dumps(found, ensure_ascii=False), soft_wrap=True)
        elif form == "table":
            table = Table("rows", "skipped", "grounded", "mean confidence", "claims", "degraded")
            share = f" ({found['share_grounded']:.0%})" if found["share_grounded"] is not None else ""
            said = ", ".join(f"{count} {label.replace('_', ' ')}" for label, count in found["claims"].items())
            mean = "-" if found["mean_confidence"] is None else f"{found['mean_confidence']:.2f}"
            cells = [found["rows"], found["skipped"], f"{found['grounded']}{share}", mean, said, found["degraded"]]
            table.add_row(*map(str, cells))
            console.print(table)

    def junit(self) -> bytes:
        """The rows as test cases: one that is not grounded has failed, one that could not be read is an error."""
        found = self.figures()
        counts = {"tests": found["rows"] + found["skipped"], "failures": found["rows"] - found["grounded"]}
        named = {name: str(count) for name, count in (counts | {"errors": found["skipped"]}).items()}
        suite = ElementTree.Element("testsuite", {"name": "cragraph verify", **named})
        for row in self.rows:
            seconds = f"{row['ms'] / 1000:.3f}"
            named = {"classname": "cragraph", "name": _XML.sub("", str(row["id"])), "time": seconds}
            case = ElementTree.SubElement(suite, "testcase", named)
            if not row["is_grounded"]:
                why = f"confidence {row['confidence']:.2f}, threshold {row['threshold']:.2f}"
                failure = ElementTree.SubElement(case, "failure", type="not grounded", message=why)
                failure.text = _XML.sub("", "\n".join([*row["warnings"], *row["unverified_claims"]]))
        for number, problem in self.skipped:
            case = ElementTree.SubElement(suite, "testcase", classname="cragraph", name=f"line {number}")
            ElementTree.SubElement(case, "error", type="not read", message=_XML.sub("", problem))
        written: bytes = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
        return written


_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold."""


Outcome = tuple[int, dict[str, Any], str]
"""Line number from 1, the row with what was found of it, and what was wrong with it (one of the two is empty)."""


def verify_rows(lines: Iterable[str], verify: Callable[..., Any], workers: int) -> Iterator[Outcome]:
    """Yield one outcome a non-blank line, in the order of the lines; at most a few lines are held at a time."""
    pending: deque[Future[Outcome]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            pending.append(pool.submit(_one, number, line, verify))
            if len(pending) > workers * 4:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def _one(number: int, line: str, verify: Callable[..., Any]) -> Outcome:
    try:
        row = _checked(json.loads(line))
        passages = as_passages(row["passages"])
        result = verify(row["answer"], passages, row.get("question")).to_dict()
    except json.JSONDecodeError as error:
        return number, {}, f"not JSON ({error.msg} at character {error.pos + 1})"
    except CragError as error:
        return number, {}, str(error)
    given = {name: row.get(name) for name in ("answer", "question")}
    return number, {"id": row.get("id", number)} | result | given, ""


_FIELDS: Final = (
    ("answer", str, "has no text in `answer`; wanted a string"),
    ("passages", list, "has no list in `passages`; wanted strings or objects with text"),
    ("question", str | None, "has something else than text as `question`; wanted a string or nothing"),
)


def _checked(row: Any) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise InputError(f"came as a {type(row).__name__}; wanted an object with answer and passages")
    for name, kind, wrong in _FIELDS:
        if not isinstance(row.get(name), kind):
            raise InputError(wrong)
    return row

"""`cragraph verify`: check an answer against sources, one at a time or many rows."""

import json
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from cragraph.cli.console import FAILURE, emit, status
from cragraph.cli.options import (
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
        list[Path] | None, typer.Option("--source", metavar="FILE", help="File it must rest on; repeatable.")
    ] = None,
    jsonl: Annotated[Path | None, typer.Option("--jsonl", help="Rows to verify; - reads stdin.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Where the rows go; stdout if absent.")] = None,
    report: ReportOption = None,
    judge: JudgeOption = None,
    policy: PolicyOption = None,
    model: ModelOption = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Rows verified side by side.")] = 2,
    json: JsonOption = False,
    quiet: QuietOption = False,
    config: ConfigOption = None,
) -> None:
    """Judge every claim of an answer against sources, with exact evidence.

    Example: `cragraph verify --answer "Revenue was $394 billion." --source report.pdf`

    Many rows: `cragraph verify --jsonl rows.jsonl --out verdicts.jsonl`
    """
    settings = settings_from(config, judge=judge, policy=policy, model=model)
    if jsonl is not None:
        if answer is not None or source:
            raise InputError("--jsonl came with --answer or --source; rows bring their own: leave those out.")
        _verify_rows(settings, jsonl, out, workers, report, quiet=quiet)
        return
    if answer is None or not source:
        raise InputError("verify wants --answer TEXT (or -) and at least one --source FILE, or --jsonl FILE.")
    from cragraph.api import read_passages, verifier_for
    from cragraph.cli.render import show_verification

    text = sys.stdin.read() if answer == "-" else answer
    verification = verifier_for(settings)(text, read_passages(source, settings), question)
    if report is not None:
        from cragraph.report import Report

        Report(verification).save(report)
    if json:
        emit(verification.to_dict())
    else:
        show_verification(verification.to_dict())


def _verify_rows(
    settings: Any, source: Path, target: Path | None, workers: int, report: Path | None, *, quiet: bool
) -> None:
    from cragraph.api import verifier_for

    good = bad = 0

    def judged(lines: Iterable[str], sink: Any) -> Iterator[dict[str, Any]]:
        nonlocal good, bad
        for number, row, problem in verify_rows(lines, verifier_for(settings), workers):
            if problem:
                bad += 1
                status(f"line {number}: {problem}")
            else:
                good += 1
                shown = {name: value for name, value in row.items() if name not in ("answer", "question")}
                sink.write(json.dumps(shown, ensure_ascii=False) + "\n")
                sink.flush()
                yield row

    with _reading(source) as lines, _writing(target) as sink:
        if report is None:
            deque(judged(lines, sink), maxlen=0)
        else:
            from cragraph.report import table_of

            with report.open("w", encoding="utf-8") as page:
                page.writelines(table_of(judged(lines, sink)))
    if not quiet:
        status(f"{good} rows verified, {bad} skipped")
    if bad:
        raise typer.Exit(FAILURE)


def _reading(path: Path) -> Any:
    if str(path) == "-":
        return nullcontext(sys.stdin)
    if not path.is_file():
        raise InputError(f"--jsonl names {path}, which is not a file: give a file of one JSON object a line.")
    return path.open(encoding="utf-8")


def _writing(path: Path | None) -> Any:
    return nullcontext(sys.stdout) if path is None else path.open("w", encoding="utf-8")


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
    except _BadRowError as error:
        return number, {}, str(error)
    given = {name: row.get(name) for name in ("answer", "question")}
    return number, {"id": row.get("id", number)} | result | given, ""


class _BadRowError(ValueError):
    """A row without the fields that it needs."""


def _checked(row: Any) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise _BadRowError(f"came as a {type(row).__name__}; wanted an object with answer and passages")
    if not isinstance(row.get("answer"), str):
        raise _BadRowError("has no text in `answer`; wanted a string")
    if not isinstance(row.get("passages"), list):
        raise _BadRowError("has no list in `passages`; wanted strings or objects with text")
    question = row.get("question")
    if question is not None and not isinstance(question, str):
        raise _BadRowError(f"has a {type(question).__name__} as `question`; wanted a string or nothing")
    return row

"""`cragraph log`: the questions asked, and kept questions as tests of your documents."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from cragraph.cli.console import CHANGED, FAILURE, out, progress_bar, show, status
from cragraph.cli.options import JsonOption, QuietOption, option, with_settings
from cragraph.errors import InputError, SettingsError
from cragraph.language.words import shortened
from cragraph.library import Library
from cragraph.log import STATUSES, Entry, check
from cragraph.run import Assistant

ALL = "all"


@with_settings("store", "model", "base_url", "mode", "judge")
def log(
    settings_of: Any,
    words: Annotated[
        list[str] | None, typer.Argument(help="List only entries whose question or answer has all these words.")
    ] = None,
    limit: Annotated[int, option("Largest number of entries to list.", "--limit", min=1)] = 20,
    show_one: Annotated[int | None, option("Print all of entry N.", "--show", metavar="N")] = None,
    kept: Annotated[bool, option("List only questions that are kept as tests.", "--kept")] = False,
    keep: Annotated[int | None, option("Keep question N as a test for --check.", "--keep", metavar="N")] = None,
    expect: Annotated[
        str | None, option("With --keep: text that the answer must contain.", "--expect", metavar="TEXT")
    ] = None,
    let_go: Annotated[int | None, option("Stop keeping question N as a test.", "--let-go", metavar="N")] = None,
    forget: Annotated[
        list[str] | None,
        option("Remove entry N from the log; `all` removes every entry. Repeatable.", "--forget", metavar="N"),
    ] = None,
    again: Annotated[
        bool, option("Ask the kept questions again and print which answers changed. Log nothing.", "--check")
    ] = False,
    accept: Annotated[
        bool, option("With --check: from now on compare with the new answers, except wrong ones.", "--accept")
    ] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """List the questions that were asked, newest first, with answer and decision.

    The log is one file beside the store. Only its owner can read it; CRAG_HISTORY=false keeps no log.

    --check prints for each kept question: same, changed, refused (it was answered before), wrong (the expected text is
    missing) or failed. Exit code 0: all are the same. 6: an answer changed. 1: a question could not be asked.

    Example: `cragraph log trench --limit 5`, `cragraph log --show 12`, `cragraph log --keep 12 --expect "10,935 m"`
    """
    exclusive = {"--show": show_one, "--keep": keep, "--let-go": let_go, "--forget": forget, "--check": again or None}
    chosen = [name for name, given in exclusive.items() if given is not None]
    if len(chosen) > 1 or (chosen and (words or kept)):
        raise InputError(
            f"{' and '.join([*chosen, *(['words or --kept'] if words or kept else [])])} do not go together."
        )
    if expect is not None and keep is None:
        raise InputError("--expect came without --keep: name the question to keep, with --keep N.")
    if accept and not again:
        raise InputError("--accept came without --check, which finds the answers to accept: add --check.")
    if again:
        check_kept(Assistant(settings_of()), renew=accept, as_json=json, quiet=quiet)
        return
    history = Library(settings_of()).history
    if history is None:
        raise SettingsError("No store found, so there is no log. Run: cragraph ingest FOLDER, or pass --store.")
    if forget:
        gone = history.forget(None if ALL in forget else [_number(one) for one in forget])
        show(
            json,
            {"forgotten": gone},
            lambda row: f"forgot {row['forgotten']} {'entry' if row['forgotten'] == 1 else 'entries'}",
        )
    elif keep is not None:
        entry = history.keep(keep, expect)
        wanted = f", expecting “{entry.expect}”" if entry.expect else ", expecting the same answer"
        show(json, entry.to_dict(), lambda _: f"kept question {keep}{wanted}: `cragraph log --check` asks it again")
    elif let_go is not None:
        history.let_go(let_go)
        show(json, {"let_go": let_go}, lambda _: f"question {let_go} is no longer a test; it stays in the log")
    elif show_one is not None:
        show(json, history.get(show_one).to_dict(), whole)
    else:
        found = [entry.to_dict() for entry in history.entries(limit, " ".join(words or ()), kept=kept)]
        show(json, found, listed)
        if not (found or json):
            status("No such entry is in the log." if words or kept else "The log is empty.")


def check_kept(assistant: Assistant, *, renew: bool, as_json: bool, quiet: bool) -> None:
    """Ask the kept questions again; exits with 6 if an answer changed, with 1 if a question could not be asked."""

    def ask(entry: Entry) -> Mapping[str, Any]:
        *_, last = assistant.ask(entry.question, messages=entry.messages, context=entry.narrowed)
        return last.response

    if (history := assistant.history) is None or not history.entries(1, kept=True):
        raise InputError("No question is kept: `cragraph log` lists the questions, `cragraph log --keep N` keeps one.")
    with progress_bar("questions", shown=not quiet) as progress:
        result = check(ask, history, renew=renew, progress=progress)
    show(as_json, result, check_in_words)
    if result["same"] < result["kept"]:
        raise typer.Exit(FAILURE if result["failed"] else CHANGED)


def check_in_words(result: Mapping[str, Any]) -> str:
    """The counts, and below them each changed question with both answers."""
    counts = ", ".join(f"{result[name]} {name}" for name in STATUSES if result[name])
    lines = [f"{result['kept']} kept: {counts}"]
    for row in result["rows"]:
        if row["status"] != "same":
            lines += [f"{row['status']:<8} {row['number']}. {row['question']}", f"         {row['why']}"]
            lines += [f"         expected: {row['expect']}"] if row["expect"] else []
            lines += [f"         before:   {shortened(row['before'])}", f"         now:      {shortened(row['now'])}"]
    return "\n".join(lines)


def _number(text: str) -> int:
    if not text.isdigit():
        raise InputError(f"--forget came as {text!r}; wanted the number of an entry, or all.")
    return int(text)


def listed(rows: list[dict[str, Any]]) -> None:
    """Print entries, two lines each."""
    console = out()
    for row in rows:
        console.print(Text.assemble((f"{row['number']:>4} ", "bold"), row["question"]))
        answer = shortened(" ".join(row["answer"].split()))
        places = "; ".join(dict.fromkeys(source["place"] for source in row["sources"]))
        about = " · ".join(
            filter(None, (decided(row), f"kept{': ' + row['expect'] if row['expect'] else ''}" if row["kept"] else ""))
        )
        console.print(
            Text(f"     {when(row['time'])} · {about} · {answer}{f' ({places})' if places else ''}", style="dim")
        )


def whole(row: dict[str, Any]) -> None:
    """Print one entry with all its fields."""
    console: Console = out()
    for message in row["messages"]:
        console.print(Text(f"{'>' if message['role'] == 'user' else ' '} {message['content']}", style="dim"))
    console.print(Text(row["question"], style="bold"))
    console.print(row["answer"])
    for source in row["sources"]:
        quotes = " … ".join(f"“{shortened(quote)}”" for quote in source["quotes"])
        console.print(f"  [{source['number']}] {source['place'] or source['source']}: {quotes}")
    for name in ("issues", "degraded"):
        for sentence in row[name]:
            console.print(f"{name.removesuffix('s')}: {sentence}")
    narrowed = ", ".join(f"{name} {value}" for name, value in row["narrowed"].items())
    console.print(
        Text(f"{decided(row)} · {when(row['time'])} · {row['door']} · {row['model'] or 'no generator'} · "
             f"{row['seconds']:.1f} s{f' · only {narrowed}' if narrowed else ''}", style="dim")
    )  # fmt: skip
    if row["kept"]:
        console.print("kept as a test" + (f", expecting “{row['expect']}”" if row["expect"] else ""))


def decided(row: dict[str, Any]) -> str:
    """The decision on an answer, with its confidence."""
    confidence = "" if row["confidence"] is None else f" {row['confidence']:.2f}"
    return f"{row['outcome'] or 'not verified'}{confidence}"


def when(time: str) -> str:
    """A UTC time in this machine's time zone, to the minute."""
    try:
        return datetime.fromisoformat(time).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return time

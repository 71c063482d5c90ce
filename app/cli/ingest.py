"""`cragraph ingest`: put documents into the store."""

from pathlib import Path
from typing import Annotated, Any

import typer

from cragraph.cli.console import FAILURE, emit, err, ingesting, out, status
from cragraph.cli.options import JsonOption, QuietOption, with_settings


@with_settings("store")
def ingest(
    settings_of: Any,
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.", show_default=False)],
    prune: Annotated[bool, typer.Option("--prune", help="Remove documents that have vanished.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change; change nothing.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Follow the paths until interrupted.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Read documents into the store: md, txt, rst, html, pdf, docx, pptx, xlsx, epub, eml, csv, json,
    jsonl.

    Unchanged files cost nothing; changed ones replace what was there.

    Example: `cragraph ingest docs/ report.pdf --prune`
    """
    from cragraph.run import Assistant

    assistant = Assistant(settings_of())
    with ingesting(shown=not quiet) as advance:
        report = assistant.ingest(paths, prune=prune, dry_run=dry_run, progress=advance)
    show_report(report, as_json=json, dry_run=dry_run)
    if watch and not dry_run:
        status("following; press Ctrl-C to stop")
        for change in assistant.watch(paths):
            show_report(change, as_json=json, dry_run=False)
    if report.failed:
        raise typer.Exit(FAILURE)


def show_report(report: Any, *, as_json: bool, dry_run: bool) -> None:
    """Print what an ingest did, as a sentence a group or as JSON."""
    if as_json:
        emit(report.to_dict())
        return
    console = out()
    would = "would be " if dry_run else ""
    counts = [
        (report.added, "added"),
        (report.changed, "changed"),
        (report.unchanged, "unchanged"),
        (report.removed, "removed"),
    ]
    said = ", ".join(f"{len(items)} {would}{word}" for items, word in counts if items) or "nothing to read"
    console.print(f"{said}: {report.chunks} chunks in {report.seconds:.1f} s")
    for word, items in (("skipped", report.skipped), ("partly", report.partial), ("failed", report.failed)):
        for path, reason in items:
            err().print(f"{word} {path}: {reason}")

"""`cragraph ingest`, `docs`, `forget` and `search`: the documents of the store."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from cragraph.build import Parts
from cragraph.cli.console import FAILURE, emit, err, ingesting, out, show, status, with_notes_printed
from cragraph.cli.options import JsonOption, QuietOption, option, with_settings
from cragraph.cli.render import show_passages
from cragraph.library import Library
from cragraph.types import number_of


@with_settings("store", "into")
def ingest(
    settings_of: Any,
    paths: Annotated[list[Path], typer.Argument(help="Files and folders to read.", show_default=False)],
    prune: Annotated[bool, option("Remove documents whose files are gone.", "--prune")] = False,
    dry_run: Annotated[bool, option("Print what would change. Change nothing.", "--dry-run")] = False,
    follow_links: Annotated[bool, option("Follow symbolic links that lead out of a folder.", "--follow-links")] = False,
    watch: Annotated[bool, option("Read changed files again until Ctrl-C.", "--watch")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Read documents into the store: md, txt, rst, html, pdf, docx, pptx, xlsx, xls, odt, ods, odp, rtf, epub, eml,
    mbox, ics, vcf, csv, json, jsonl, ipynb, org, srt, vtt, log.

    Unchanged files are not read again; a changed file replaces its older version. With `--collection NAME`, documents
    that are in another collection move. Scanned pages need `pip install 'cragraph[ocr]'`.

    Example: `cragraph ingest docs/ report.pdf --prune`
    """
    library = Library(settings_of())
    with ingesting(shown=not quiet) as advance:
        report = library.ingest(paths, prune=prune, dry_run=dry_run, progress=advance, follow_links=follow_links)
    show_report(report, as_json=json, dry_run=dry_run)
    if watch and not dry_run:
        status("watching the files; Ctrl-C stops")
        for change in library.watch(paths, follow_links=follow_links):
            show_report(change, as_json=json, dry_run=False)
    if report.failed:
        raise typer.Exit(FAILURE)


def show_report(report: Any, *, as_json: bool, dry_run: bool) -> None:
    """Print an ingest's report, as a sentence per group or as JSON."""
    if as_json:
        emit(report.to_dict())
        return
    console = out()
    would = "would be " if dry_run else ""
    counts = {word: len(getattr(report, word)) for word in ("added", "changed", "unchanged", "moved", "removed")}
    sentence = ", ".join(f"{count} {would}{word}" for word, count in counts.items() if count) or "nothing to read"
    console.print(f"{sentence}: {number_of(report.chunks, 'chunk')} in {report.seconds:.1f} s")
    for note in report.notes:
        status(note)
    said = {"skipped": report.skipped, "partly": report.partial, "doubtful": report.doubtful, "failed": report.failed}
    for word, items in said.items():
        for path, reason in items:
            err().print(f"{word} {path}: {reason}")


@with_settings("store", "collection")
def docs(settings_of: Any, json: JsonOption = False) -> None:
    """List the documents in the store.

    Example: `cragraph docs --json`
    """
    settings = settings_of()
    held = with_notes_printed(Parts(settings).store)
    where = settings.context().model_copy(update={"where": None}).filter
    documents = [asdict(document) for document in held.documents(where)]
    several = len(held.names()) > 1

    def line(row: dict[str, Any]) -> str:
        where = f"  in {row['collection']}" if several else ""
        notes = [
            *row["tables"],
            *([row["left_out"]] if row["left_out"] else []),
            *(f"doubtful: {doubt}" for doubt in row["doubts"]),
        ]
        return f"{row['source']}  {number_of(row['chunks'], 'chunk')}{where}" + "".join(f"\n  {note}" for note in notes)

    show(json, documents, lambda rows: "\n".join(map(line, rows)))
    if not (documents or json):
        err().print("The store has no documents.")


@with_settings("store", "collection")
def forget(
    settings_of: Any,
    path: Annotated[
        str, typer.Argument(help="File or folder as `cragraph docs` prints it, or a file's name.", show_default=False)
    ],
    json: JsonOption = False,
) -> None:
    """Remove a document, or all documents below a folder, from the store. The files stay.

    A file's name is enough if only one document has that name.

    Example: `cragraph forget old-report.pdf`
    """
    library = Library(settings_of())
    removed = library.forget(path)
    with_notes_printed(library.parts.store)
    show(json, {"removed": removed}, lambda _: "\n".join(f"removed {source}" for source in removed))


@with_settings("store", "where", "collection")
def search(
    settings_of: Any,
    query: Annotated[str, typer.Argument(help="What to search for.", show_default=False)],
    k: Annotated[int, option("Number of passages to show.", "-k", "--k", min=1, max=200)] = 5,
    json: JsonOption = False,
) -> None:
    """Search the store for passages. Write no answer.

    Example: `cragraph search "net revenue" --where year=2023 -k 3`
    """
    library = Library(settings_of())
    show(json, library.search(query, k), show_passages)
    if not library.parts.foreign:
        with_notes_printed(library.parts.store)

"""`cragraph calibrate`: fit confidence and threshold to one's own labelled answers."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from cragraph.cli.console import emit, out, status
from cragraph.cli.options import ConfigOption, JsonOption, JudgeOption, QuietOption, settings_from


def calibrate(
    rows: Annotated[Path, typer.Argument(help="JSONL file of labelled answers.", show_default=False)],
    judge: JudgeOption = None,
    refused_good: Annotated[
        float | None, typer.Option("--refused-good", min=0.05, max=0.5, help="Share of good answers to refuse at most.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Measure only; write nothing.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
    config: ConfigOption = None,
) -> None:
    """Fit what the confidence means, and where to accept, to your own labelled answers; a hundred help.

    A row is `{"answer", "passages": [text…], "label": "supported" or "unsupported"}`. The fit goes into the settings
    file. Example: `cragraph calibrate labelled.jsonl`
    """
    from dataclasses import asdict, replace

    from cragraph.build import make_verifier
    from cragraph.evals.calibrate import calibrate as fit
    from cragraph.evals.calibrate import store
    from cragraph.evals.data import read_rows
    from cragraph.settings import config_path

    settings = settings_from(config, judge=judge, refused_good=refused_good)
    file = config_path() or Path("cragraph.yaml")
    verifier = make_verifier(settings.model_copy(update={"calibration": {}}))
    verifier = replace(verifier, options=replace(verifier.options, measure=()), scorer=None)
    found = fit(read_rows(rows), verifier, settings.judge, refused=settings.refused_good, threshold=settings.threshold)
    if not dry_run:
        store(found, file)
    if json:
        emit(asdict(found) | {"file": None if dry_run else str(file)})
        return
    table = Table("of rows not fitted on", "before", "after")
    for name in found.before:
        table.add_row(name.replace("_", " "), f"{found.before[name]:.3f}", f"{found.after[name]:.3f}")
    out().print(table)
    shown = "" if found.least > 0 else ": no gain is shown, more rows would tell"
    out().print(
        f"{found.rows} rows, {found.good} good. Balanced accuracy gained: {found.gained:+.3f} "
        f"(95 %: {found.least:+.3f} to {found.most:+.3f}){shown}."
    )
    if not quiet:
        status("nothing was written" if dry_run else f"the judge {found.judge} is calibrated in {file}")

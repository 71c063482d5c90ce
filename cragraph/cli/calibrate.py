"""`cragraph calibrate`: confidence and threshold fitted to your own labelled answers."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from cragraph import calibrate as fitting
from cragraph.build import Parts
from cragraph.cli.console import FAILURE, show, status
from cragraph.cli.options import JsonOption, QuietOption, option, with_settings
from cragraph.settings import config_path
from cragraph.trust import is_trusted, trust


@with_settings("judge")
def calibrate(
    settings_of: Any,
    rows: Annotated[Path, typer.Argument(help="JSONL file of labelled answers.", show_default=False)],
    refused_good: Annotated[
        float, option("Largest share of good answers that may be refused.", "--refused-good", min=0.05, max=0.5)
    ] = 0.2,
    dry_run: Annotated[bool, option("Print the fit. Change no settings file.", "--dry-run")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Fit confidence and threshold to your own labelled answers; a hundred answers are enough.

    A row is `{"answer", "passages": [text…], "label": "supported" or "unsupported"}`. The fit is written to the
    settings file, unless it measures worse than the present settings (exit code 1).

    Example: `cragraph calibrate labelled.jsonl`
    """
    settings = settings_of()
    file = config_path() or Path("cragraph.yaml")
    trusted = is_trusted(file)
    verifier = Parts(settings.model_copy(update={"calibration": {}})).verifier
    verifier = replace(verifier, options=replace(verifier.options, measure=()), scorer=None)
    fit = fitting.calibrate(
        fitting.read_labelled(rows),
        verifier,
        settings.judge,
        refused=refused_good,
        threshold=settings.threshold,
        in_force=settings.calibration,
    )
    written = not dry_run and not fit.worse
    if written:
        fitting.store(fit, file)
        trust(*([file] if trusted else []))
    table = Table("of rows not fitted on", "before", "after")
    for name in fit.before:
        table.add_row(name.replace("_", " "), f"{fit.before[name]:.3f}", f"{fit.after[name]:.3f}")
    gain = (
        f"{fit.rows} rows, {fit.good} good. Balanced accuracy gained: {fit.gained:+.3f} "
        f"(95 %: {fit.least:+.3f} to {fit.most:+.3f})"
    )
    shown = "." if fit.least > 0 else ": no gain is shown, more rows would tell."
    show(json, asdict(fit) | {"file": str(file) if written else None}, lambda _: table, lambda _: gain + shown)
    if not quiet and not json:
        told = "nothing was written" + ": the fit is worse than what is in force" * fit.worse
        status(f"the judge {fit.judge} is calibrated in {file}" if written else told)
    if fit.worse and not dry_run:
        raise typer.Exit(FAILURE)

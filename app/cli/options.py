"""Options that several commands share, and how they become settings."""

from pathlib import Path
from typing import Annotated, Any

import typer

from cragraph.errors import SettingsError
from cragraph.tables import JUDGES

StoreOption = Annotated[str | None, typer.Option("--store", help="Folder or server URL of the store.")]
ModelOption = Annotated[str | None, typer.Option("--model", help="Chat model, e.g. ollama:llama3.2 or openai:NAME.")]
BaseUrlOption = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="Server of the chat model, e.g. http://localhost:8080/v1."),
]
JudgeOption = Annotated[str | None, typer.Option("--judge", help=f"auto, {', '.join(JUDGES)}.")]
PolicyOption = Annotated[
    str | None, typer.Option("--policy", help="auto, calibrated, claims, weighted, reliability or similarity.")
]
ThresholdOption = Annotated[
    float | None, typer.Option("--threshold", help="Accept at or above this confidence (0..1).")
]
WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        "--where", metavar="FILTER", help="Metadata filter, repeatable: year=2023, 'year>=2020', 'ticker in AAPL,MSFT'."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]
ReportOption = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="Also write an HTML page with the evidence.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No status on stderr.")]
ConfigOption = Annotated[Path | None, typer.Option("--config", help="Settings file instead of cragraph.yaml.")]


def settings_from(config: Path | None = None, **options: Any) -> Any:
    """Settings in which only the options that were given count as explicit."""
    import os

    from cragraph.settings import load_settings

    if config is not None:
        if not config.is_file():
            raise SettingsError(f"--config names {config}, which is not a file: correct the path.")
        os.environ["CRAG_CONFIG"] = str(config)
    given = {name: value for name, value in options.items() if value is not None}
    where = given.pop("where", None)
    if where:
        from cragraph.retrieval.store import parse_where

        given["where"] = parse_where(where)
    return load_settings(**given)

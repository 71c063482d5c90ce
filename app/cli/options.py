"""Options that several commands share, and how they become settings."""

import os
from collections.abc import Callable
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Final

import typer

import cragraph
from cragraph.errors import SettingsError
from cragraph.retrieval import store
from cragraph.tables import JUDGES

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]
ReportOption = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="Also write an HTML page with the evidence.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No status on stderr.")]

_SETTINGS: Final[dict[str, tuple[Any, Any]]] = {
    "store": (str, typer.Option("--store", help="Folder or server URL of the store.")),
    "model": (str, typer.Option("--model", help="Chat model, e.g. ollama:llama3.2 or openai:NAME.")),
    "base_url": (
        str,
        typer.Option("--base-url", metavar="URL", help="Server of the chat model, e.g. http://localhost:8080/v1."),
    ),
    "mode": (str, typer.Option("--mode", help="low, balanced or high.")),
    "judge": (str, typer.Option("--judge", help=f"auto, {', '.join(JUDGES)}.")),
    "policy": (
        str, typer.Option("--policy", help="auto, calibrated, claims, weighted, reliability or similarity.")
    ),
    "confidence_threshold": (
        float, typer.Option("--threshold", help="Accept at or above this confidence (0..1).")
    ),
    "max_crag_attempts": (int, typer.Option("--max-attempts", help="Corrections at most.")),
    "top_k": (int, typer.Option("--top-k", help="Passages to answer from.")),
    "min_chunks": (int, typer.Option("--min-chunks", help="Abstain on fewer passages.")),
    "passage_window": (
        str, typer.Option("--passage-window", help="Chunks read on each side of a passage, or section.")
    ),
    "where": (
        list[str],
        typer.Option(
            "--where",
            metavar="FILTER",
            help="Metadata filter, repeatable: year=2023, 'year>=2020', 'ticker in AAPL,MSFT'.",
        ),
    ),
    "on_low_confidence": (str, typer.Option("--on-low-confidence", help="abstain, flag or prune.")),
    "best_of": (int, typer.Option("--best-of", help="Write N answers, keep the best.")),
    "deadline_s": (float, typer.Option("--deadline", help="Seconds for the whole run.")),
    "refused_good": (
        float, typer.Option("--refused-good", min=0.05, max=0.5, help="Share of good answers to refuse at most.")
    ),
    "config": (Path, typer.Option("--config", help="Settings file instead of cragraph.yaml.")),
}  # fmt: skip
"""Settings that can be given to a command, and how."""


def with_settings(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of these settings, and `--config`.

    Its first argument is then what makes the settings of them; called with further settings, these win.
    """
    given = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, option])
        for name in (*names, "config")
        for kind, option in [_SETTINGS[name]]
    ]

    def taking(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**options: Any) -> None:
            chosen = {option.name: options.pop(option.name) for option in given}
            command(partial(_settings, chosen), **options)

        own = list(signature(command).parameters.values())[1:]
        run.__signature__ = Signature([*own, *given])  # type: ignore[attr-defined]
        run.__annotations__ = {option.name: option.annotation for option in (*own, *given)}
        return run

    return taking


def _settings(options: dict[str, Any], **more: Any) -> Any:
    """Settings in which only the options that were given count as explicit."""
    given = {name: value for name, value in (options | more).items() if value is not None}
    if config := given.pop("config", None):
        if not config.is_file():
            raise SettingsError(f"--config names {config}, which is not a file: correct the path.")
        os.environ["CRAG_CONFIG"] = str(config)
    if where := given.pop("where", None):
        given["where"] = store.parse_where(where)
    return cragraph.settings.load_settings(**given)

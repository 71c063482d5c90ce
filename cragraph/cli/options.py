"""Shared options of commands, and their settings."""

import os
from collections.abc import Callable
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from cragraph.choices import JUDGES
from cragraph.errors import SettingsError
from cragraph.settings import loaded
from cragraph.store.filters import parse_where


def option(about: str, *flags: str, **more: Any) -> Any:
    """An option of a command: its help line, its flags, and what else Typer takes, such as `metavar`."""
    return typer.Option(*flags, help=about, **more)


JsonOption = Annotated[bool, option("Print JSON.", "--json")]
ReportOption = Annotated[
    Path | None, option("Also write an HTML page with answer and evidence.", "--report", metavar="FILE")
]
TokenOption = Annotated[
    str | None,
    option("Token that every caller must send (or CRAG_TOKEN). With --host, one is made if none is set.", "--token"),
]
QuietOption = Annotated[bool, option("Print no progress.", "--quiet", "-q")]


def _option(kind: Any, flag: str, about: str, **more: Any) -> Any:
    return Annotated[kind | None, option(about, flag, **more), flag]


_SETTINGS: Final[dict[str, Any]] = {
    "store": _option(str, "--store", "Folder of the store; or chroma:FOLDER, chroma:http://host:port."),
    "model": _option(
        str,
        "--model",
        "Chat model, e.g. ollama:llama3.2; openai:NAME and others with `pip install 'cragraph[providers]'`.",
    ),
    "base_url": _option(
        str, "--base-url", "Address of the chat model's server, e.g. http://localhost:8080/v1.", metavar="URL"
    ),
    "mode": _option(str, "--mode", "How strict the check is: low, balanced or high."),
    "judge": _option(str, "--judge", f"Judge of the claims: auto, {', '.join(JUDGES)}."),
    "policy": _option(
        str, "--policy", "How confidence is computed: auto, calibrated, claims, weighted, reliability or similarity."
    ),
    "confidence_threshold": _option(
        float, "--threshold", "Smallest confidence (0 to 1) with which an answer is accepted."
    ),
    "max_crag_attempts": _option(int, "--max-attempts", "Largest number of corrections."),
    "top_k": _option(int, "--top-k", "Number of passages to answer from."),
    "min_chunks": _option(int, "--min-chunks", "Abstain if fewer passages than this are found."),
    "where": _option(
        list[str], "--where", "Metadata filter: year=2023, 'year>=2020', 'ticker in AAPL,MSFT'. Repeatable.",
        metavar="FILTER",
    ),
    "collection": _option(
        list[str], "--collection", "Use only this collection; all means every collection. Repeatable.", metavar="NAME"
    ),
    "into": _option(list[str], "--collection", "Collection to put the documents into.", metavar="NAME"),
    "on_low_confidence": _option(
        str, "--on-low-confidence", "What to return below the threshold: doubt (default), abstain, flag or prune."
    ),
    "best_of": _option(int, "--best-of", "Write N answers and keep the best."),
    "deadline_s": _option(float, "--deadline", "Seconds after which no new correction starts."),
    "config": _option(Path, "--config", "Settings file instead of cragraph.yaml."),
}  # fmt: skip
"""Settings that commands take as options, with the options."""

FLAGS: Final = {name: option.__metadata__[1] for name, option in _SETTINGS.items()}
"""The option name of each setting."""


def with_settings(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of these settings, and `--config`.

    Its first argument then makes the settings from these options; further settings given to it win.
    """
    given = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=_SETTINGS[name]) for name in (*names, "config")
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
    """Settings in which only given options count as explicit."""
    given = {name: value for name, value in (options | more).items() if value is not None}
    if config := given.pop("config", None):
        if not config.is_file():
            raise SettingsError(f"--config names {config}, which is not a file: correct the path.")
        os.environ["CRAG_CONFIG"] = str(config)
    if into := given.pop("into", None):
        given["collection"] = into
    if not given.get("collection", True):
        del given["collection"]
    if where := given.pop("where", None):
        given["where"] = parse_where(where)
    return loaded(given, FLAGS)

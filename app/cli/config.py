"""`cragraph config`: what is set, and where each value comes from."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from cragraph.cli.console import emit, out
from cragraph.cli.options import ConfigOption, JsonOption, settings_from
from cragraph.errors import mask


def config(json: JsonOption = False, config: ConfigOption = None) -> None:
    """List every setting with its value and the source that it comes from.

    Example: `cragraph config | grep model`
    """
    from cragraph.settings import source_of

    settings = settings_from(config)
    rows = [
        {
            "setting": ".".join(path),
            "value": mask(value) if isinstance(value, str) else value,
            "from": source_of(list(path)) if given else "default",
        }
        for path, value, given in values(settings)
    ]
    if json:
        emit(rows)
        return
    for row in rows:
        shown = row["value"] if row["value"] not in (None, "") else "-"
        out().print(f"{row['setting']:<38} {shown!s:<24} {row['from']}")


def values(model: BaseModel, prefix: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any, bool]]:
    """Every setting by its path, with its value as JSON has it, and whether a source gave it; groups are opened."""
    dumped = model.model_dump(mode="json")
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from values(value, (*prefix, name))
        else:
            yield (*prefix, name), dumped[name], name in model.model_fields_set

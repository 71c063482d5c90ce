"""`cragraph config`: what is set, and where each value comes from."""

from cragraph.cli.console import emit, out
from cragraph.cli.options import ConfigOption, JsonOption, settings_from
from cragraph.errors import mask


def config(json: JsonOption = False, config: ConfigOption = None) -> None:
    """List every setting with its value and the source that it comes from.

    Example: `cragraph config | grep model`
    """
    from cragraph.settings import source_of

    settings = settings_from(config)
    given = settings.model_fields_set
    rows = [
        {
            "setting": name,
            "value": mask(value) if isinstance(value, str) else value,
            "from": source_of(name) if name in given else "default",
        }
        for name, value in settings.model_dump(mode="json").items()
    ]
    if json:
        emit(rows)
        return
    for row in rows:
        shown = row["value"] if row["value"] not in (None, "") else "-"
        out().print(f"{row['setting']:<22} {shown!s:<24} {row['from']}")

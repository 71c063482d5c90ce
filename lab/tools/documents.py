"""Write the parts of the documents that come from the code; ``--check`` fails where one no longer matches.

python lab/tools/documents.py [--check | --examples FILE]
"""

import argparse
import re
import sys
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from cragraph.graph.context import Context, OneOf
from cragraph.settings import ALIASES, GROUPS, Settings

ROOT = Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- settings: written by lab/tools/documents.py -->", "<!-- /settings -->"


def main() -> int:
    """Write or check every generated part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a part is out of date")
    parser.add_argument("--examples", type=Path, help="write the Python of README and app.md here, to check its types")
    arguments = parser.parse_args()
    if arguments.examples:
        texts = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/app.md")]
        code = [block for text in texts for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL)]
        arguments.examples.write_text("\n".join(code), encoding="utf-8")
        return 0
    check = arguments.check
    stale = [path for path, text in generated().items() if not same(path, text)]
    for path in stale:
        if check:
            print(f"{path.relative_to(ROOT)} does not match the code: run `make documents`", file=sys.stderr)
        else:
            path.write_text(generated()[path], encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return 1 if check and stale else 0


def same(path: Path, text: str) -> bool:
    """Whether a file holds this text already."""
    return path.is_file() and path.read_text(encoding="utf-8") == text


def generated() -> dict[Path, str]:
    """Each generated file with the text that it should have."""
    return {
        ROOT / "docs" / "settings.md": settings_page(),
        ROOT / "cragraph.example.yaml": example_yaml(),
        ROOT / ".env.example": example_env(),
    }


def fields(group: str) -> list[tuple[str, FieldInfo, Any]]:
    """Every setting of a group with its default."""
    known = Settings.model_fields
    return [(name, known[name], known[name].get_default(call_default_factory=True)) for name in GROUPS[group]]


def limits(info: FieldInfo) -> str:
    """The range of a number, or the choices of a name, in words."""
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<", "min_length": "length ≥"}
    args = getattr(info.annotation, "__args__", ())
    # One side of "a number or a name" has its range in a field of its own.
    inner = [own for arg in args for own in getattr(arg, "__metadata__", ()) if isinstance(own, FieldInfo)]
    metadata = [m for field in (info, *inner) for m in field.metadata]
    said = [f"{sign} {getattr(m, key)}" for m in metadata for key, sign in signs.items() if hasattr(m, key)]
    choices = [str(a) for arg in (info.annotation, *args) for a in getattr(arg, "__args__", ()) if isinstance(a, str)]
    choices += [name for m in metadata if isinstance(m, OneOf) for name in m.names]
    return ", ".join([*said, *dict.fromkeys(choices)])


def settings_page() -> str:
    """The page of the settings with the table of all of them as the code has it."""
    rows = "\n".join(
        f"| **{group}** | | | |\n"
        + "\n".join(
            f"| `{name}`{mark} | {shown(default)} | {limits(info)} | {info.description}{also(name)} |"
            for name, info, default in fields(group)
            for mark in [" *" if name in Context.model_fields else ""]
        )
        for group in GROUPS
    )
    head, begun, rest = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8").partition(BEGIN)
    _, ended, tail = rest.partition(END)
    if not (begun and ended):
        raise SystemExit(f"docs/settings.md lacks the comments {BEGIN} and {END}: put them where the table belongs")
    return f"{head}{BEGIN}\n| setting | default | range | meaning |\n| --- | --- | --- | --- |\n{rows}\n{END}{tail}"


def also(name: str) -> str:
    """The variable without our prefix that is read for a setting too, where there is one."""
    return "".join(f" Also read from `{variable}`." for variable, setting in ALIASES.items() if setting == name)


def shown(default: Any) -> str:
    """A default as it is written in YAML; an empty one as a dash."""
    if default is None or default in ({}, (), ""):
        return "—"
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    return f"`{', '.join(map(str, default)) if isinstance(default, tuple) else default}`"


def example_yaml() -> str:
    """A settings file with everything commented out."""
    lines = ["# Settings of cragraph: copy to cragraph.yaml and uncomment what you change."]
    for group in GROUPS:
        lines += ["", f"# -- {group} --"]
        for name, info, default in fields(group):
            lines += ["", f"# {info.description}", f"# {name}: {yaml_value(default)}"]
    return "\n".join(lines) + "\n"


def yaml_value(default: Any) -> str:
    """A default as YAML."""
    if default is None:
        return "null"
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return f"[{', '.join(map(str, default))}]"
    return "{}" if default == {} else str(default)


def example_env() -> str:
    """The variables that people set most."""
    return """# Copy to .env and uncomment what you change. Every setting has a variable: see docs/settings.md.
# Models and servers count once you trust the folder: run `cragraph trust .` after each change.
# CRAG_STORE=.cragraph
# CRAG_MODEL=ollama:llama3.2
# OLLAMA_HOST=127.0.0.1:11434
# CRAG_MODE=balanced
# CRAG_CONFIDENCE_THRESHOLD=0.7
# CRAG_MAX_CRAG_ATTEMPTS=2
# CRAG_NUM_CTX=8192
"""


if __name__ == "__main__":
    sys.exit(main())

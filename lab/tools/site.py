"""What `mkdocs` needs to make a site of the documents: those outside of docs/, with links that hold there."""

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = {
    "index.md": "README.md",
    **{name: name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "lab/training/MODEL_CARD.md")},
}
"""Pages of the site, and the files that they are made of."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the documents that lie outside of docs/."""
    for page, source in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The text of a page with links as they are on the site."""
    up = "../" * page.file.src_uri.count("/")
    text = re.sub(r"\]\((?:\.\./)+(lab/training/)", rf"]({up}\1", markdown)
    if page.file.src_uri in OUTSIDE:
        text = re.sub(r"\]\((?:\.\./)*docs/", f"]({up}", text).replace("](README.md", "](index.md")
    # What is no page of the site (a licence, a folder, code) keeps its words and loses its link.
    return re.sub(r"(?<!!)\[([^\]]+)\]\((?!https?:|#|[^)#]+\.(?:md|svg|png)\b)[^)]*\)", r"\1", text)

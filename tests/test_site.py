"""The documents make a site whose links all hold, and that fetches nothing from elsewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)[^>]*\ssrc="(?:https?:)?//|<link[^>]*\srel="(?:stylesheet|preconnect)"""
    r"""[^>]*\shref="(?:https?:)?//|url\(["']?(?:https?:)?//|@import\s+["'](?:https?:)?//"""
)


@pytest.mark.slow
def test_every_link_of_the_site_holds_and_nothing_is_fetched_from_elsewhere(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="needs the extra: pip install 'cragraph[docs]'")
    made = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    pages = {
        path: path.read_text(encoding="utf-8")
        for path in tmp_path.rglob("*")
        if path.suffix in (".html", ".css", ".svg")
    }
    assert {"index.html", "start.html", "CHANGELOG.html"} <= {path.name for path in pages}
    assert not [path.name for path, text in pages.items() if FETCHED.search(text)]


def test_the_drawn_graph_is_that_of_the_code() -> None:
    from cragraph.api import drawn

    text = (ROOT / "docs" / "pictures" / "graph.svg").read_text(encoding="utf-8")
    titles = {title.replace("&#45;&gt;", "->") for title in re.findall(r"<title>(.*?)</title>", text)}
    found = drawn("crag")
    assert {f"{edge.source}->{edge.target}" for edge in found.edges} == {title for title in titles if "->" in title}

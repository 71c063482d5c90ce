"""Draw the pictures of the documents from real runs; needs Graphviz and Chromium.

python lab/tools/pictures.py [graph] [terminal] [report] [page]
"""

import os
import pty
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BytesIO, StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import urlopen

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from cragraph.api import drawn

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
QUESTION = "When does the loop stop?"
FILES = ROOT / "lab" / "benchmarks" / "computed" / "dev" / "files"
FIGURE = "How much did the incidents with an injury cost in total?"
WRONG = "The loop runs four times at most. It stops when the confidence reaches the threshold."


def graph(_: Path) -> None:
    """The corrective loop, as Graphviz lays it out."""
    found = drawn("crag")
    lines = [f'"{edge.source}" -> "{edge.target}"{" [style=dashed]" * edge.conditional};' for edge in found.edges]
    ends = "; ".join(f'{name} [label="{name.strip("_")}", shape=plain]' for name in ("__start__", "__end__"))
    style = 'bgcolor=transparent; rankdir=LR; node [shape=box, style="rounded,filled", fillcolor="#eef1fb"'
    font = 'color="#5f6b94", fontname="sans-serif", fontsize=11]; edge [color="#7a86ad", arrowsize=.7]'
    source = f"digraph {{ {style}, {font}; {ends}; {' '.join(sorted(lines))} }}"
    drawn_by = subprocess.run(["dot", "-Tsvg"], input=source, capture_output=True, text=True, check=True).stdout
    (PICTURES / "graph.svg").write_text(drawn_by[drawn_by.index("<svg") :], encoding="utf-8")


def terminal(store: Path) -> None:
    """A question in a terminal, as it looks there."""
    written = Text.from_ansi(in_terminal("ask", QUESTION, "--store", str(store)))
    shown = Text.assemble(("$ ", "bold green"), (f'cragraph ask "{QUESTION}"\n', "bold"), written)
    console = Console(record=True, width=100, file=StringIO())
    console.print(shown)
    picture = console.export_svg(title="cragraph", theme=MONOKAI, code_format=WITHOUT_FONTS)
    (PICTURES / "terminal.svg").write_text(picture, encoding="utf-8")


WITHOUT_FONTS = """<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<style>.{unique_id}-matrix {{font-family: monospace; font-size: {char_height}px; line-height: {line_height}px}}
.{unique_id}-title {{font-size: 18px; font-weight: bold; font-family: sans-serif}} {styles}</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
{chrome}<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g></svg>
"""
"""Rich's own picture, less the font that it would fetch."""


def in_terminal(*arguments: str) -> str:
    """What a command writes to a terminal of 100 columns."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "cragraph", *arguments],
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "COLUMNS": "98", "TERM": "xterm-256color", "COLORTERM": "truecolor"},
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        written += piece
    if process.wait() != 0:
        raise SystemExit(f"`cragraph {' '.join(arguments)}` ended with {process.returncode}")
    return written.decode().replace("\r", "").strip()


def report(store: Path) -> None:
    """The report of an answer that is wrong in one place."""
    page = store.parent / "report.html"
    source = str(ROOT / "docs" / "app.md")
    command("verify", "--answer", WRONG, "--question", QUESTION, "--source", source, "--report", str(page))
    photograph(page.as_uri(), "report", (1200, 620))


def page(store: Path) -> None:
    """The page that `serve` shows, with an answer that was computed over a table."""
    own = store.parent / "tables"
    command("ingest", str(FILES), "--store", str(own), "--quiet")
    with served(own) as address:
        photograph(address, "serve", (1200, 720), ask)


def command(*arguments: str) -> None:
    """Run a command of ours."""
    subprocess.run([sys.executable, "-m", "cragraph", *arguments], check=False, capture_output=True)


@contextmanager
def served(store: Path, port: int = 8497) -> Iterator[str]:
    """The address of `cragraph serve` on a port of its own."""
    address = f"http://127.0.0.1:{port}"
    arguments = [sys.executable, "-m", "cragraph", "serve", "--store", str(store), "--port", str(port)]
    process = subprocess.Popen(arguments, stderr=subprocess.DEVNULL)
    try:
        while process.poll() is None:
            with suppress(OSError):
                urlopen(address).close()
                yield address
                return
            time.sleep(0.5)
        raise SystemExit(f"`{' '.join(arguments[1:])}` ended with {process.returncode}")
    finally:
        process.terminate()


def photograph(address: str, name: str, size: tuple[int, int], act: Callable[[Any], None] | None = None) -> None:
    """Save what Chromium shows, in the light."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    with sync_playwright() as browsers:
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = browsers.chromium.launch(executable_path=path, args=["--no-sandbox"])
        shown = browser.new_page(viewport={"width": size[0], "height": size[1]})
        shown.goto(address)
        if act:
            act(shown)
        data = shown.screenshot()
        browser.close()
    with Image.open(BytesIO(data)) as picture:
        picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=64).save(PICTURES / f"{name}.png", optimize=True)


def ask(shown: Any) -> None:
    """Ask the page a question and wait for its answer."""
    shown.fill("#question", FIGURE)
    shown.press("#question", "Enter")
    shown.wait_for_selector(".confidence", timeout=120_000)


DRAWN = {one.__name__: one for one in (graph, terminal, report, page)}


if __name__ == "__main__":
    wanted = sys.argv[1:] or list(DRAWN)
    PICTURES.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        if wanted != ["graph"]:
            command("ingest", *map(str, (ROOT / "docs").glob("*.md")), "--store", str(store), "--quiet")
        for one in wanted:
            DRAWN[one](store)

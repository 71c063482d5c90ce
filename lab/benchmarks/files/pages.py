"""Pages: HTML, Markdown, EPUB and PDF, and figures and sentences in any text."""

from collections.abc import Callable
from pathlib import Path

from lab.benchmarks.files.case import Case, text_file


def page(name: str, body: str) -> Callable[[Path], Path]:
    """A writer of an HTML page of this body."""
    return text_file(name, f"<html><body>{body}</body></html>")


CASES: tuple[Case, ...] = (
    Case(
        "an aside: a warning in HTML",
        page(
            "manual.html",
            "<main><h1>Press manual</h1><p>Close the lid before starting.</p><aside class='admonition warning'>"
            "<p>Warning: never run the press above 85 bar.</p></aside><p>Oil it weekly.</p></main>",
        ),
        "Above which pressure must the press never run?",
        r"85 bar",
    ),
)

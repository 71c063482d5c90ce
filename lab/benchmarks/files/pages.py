"""Pages: HTML, Markdown, EPUB and PDF, and figures and sentences in any text."""

from lab.benchmarks.files.case import Case, text_file

CASES: tuple[Case, ...] = (
    Case(
        "an aside: a warning in HTML",
        text_file(
            "manual.html",
            "<html><body><main><h1>Press manual</h1><p>Close the lid before starting.</p><aside class='admonition "
            "warning'><p>Warning: never run the press above 85 bar.</p></aside><p>Oil it weekly.</p></main></body></html>",
        ),
        "Above which pressure must the press never run?",
        r"85 bar",
    ),
)

"""The HTML report: one self-contained page of an answer, its claims, and the evidence of each in its passage.

Many verified answers are one page too: a table to sort and filter, each row opening on its claims.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from importlib.resources import files
from typing import Any

from cragraph.report.page import HEAD, Report, e, mark, said, style

__all__ = ["Report", "table_of"]

COLUMNS = ("id", "confidence", "grounded", "claims held", "answer")


def table_of(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The page, piece by piece: rows are those of `verify --jsonl` with their `answer`, and `question` where given."""
    script = files("cragraph.report").joinpath("table.js").read_text(encoding="utf-8")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    yield HEAD.format(title="Verified answers", style=style(), scripts=f"'sha256-{digest}'")
    yield (
        '<main class="cragraph"><h1>Verified answers</h1><div class="filters">'
        '<label>Search <input id="find" type="search"></label>'
        '<label>Show <select id="which"><option value="">all</option><option value="no">not grounded</option>'
        '<option value="yes">grounded</option></select></label><output id="count" role="status"></output></div>'
        '<div class="tablewrap"><table class="rows"><thead><tr>'
    )
    yield "".join(f'<th scope="col"><button type="button">{name}</button></th>' for name in COLUMNS)
    yield "</tr></thead><tbody>\n"
    for number, row in enumerate(rows, 1):
        yield _row(row, f"r{number}") + "\n"
    yield f"</tbody></table></div></main><script>{script}</script></body></html>\n"


def _row(row: Mapping[str, Any], prefix: str) -> str:
    report = Report(row, prefix=prefix, pictures=False)
    held = f"{row['claims_supported']}/{row['claims_checked']}"
    grounded = "yes" if row["is_grounded"] else "no"
    share = row["claims_supported"] / (row["claims_checked"] or 1)
    claims = "".join(
        f'<li id="{prefix}e{n}"><span class="mark {e(c["verdict"])}">{mark(c)} {said(c["verdict"])}</span> '
        + e(c["text"])
        + (f' <span class="note">{e(c["reasoning"])}</span>' if c.get("reasoning") else "")
        + (f"<blockquote><mark>{e(c['evidence']['quote'])}</mark></blockquote>" if c.get("evidence") else "")
        + "</li>"
        for n, c in enumerate(row["claims"], 1)
    )
    question = f"<p><b>{e(row['question'])}</b></p>" if row.get("question") else ""
    return (
        f'<tr data-grounded="{grounded}"><td>{e(row["id"])}</td><td class="n" data-v="{row["confidence"]:.4f}">'
        f'{row["confidence"]:.2f}</td><td>{grounded}</td><td class="n" data-v="{share:.4f}">{held}</td><td>{question}'
        f"{report.text}<details><summary>Claims and evidence</summary><ol>{claims}</ol></details></td></tr>"
    )

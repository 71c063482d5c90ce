"""A response as a person reads it."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from cragraph.cli.console import err, out
from cragraph.passages import place_of
from cragraph.text.words import shortened
from cragraph.types import MARKS, groundedness

COLOURS: Final = dict(zip(MARKS, ("green", "yellow", "red", "bold red", "magenta"), strict=True))


def show_answer(response: dict[str, Any]) -> None:
    """Print an answer with its citations, claims, confidence and what ran."""
    console = out()
    console.print(Text(response["answer"], style="bold" if console.is_terminal else ""))
    section(console, "Citations", map(citation_line, response["citations"]))
    near = ((place_of(p) or p["chunk_id"], shortened(p["text"])) for p in response.get("nearest") or ())
    section(console, "Nearest passages", (Text(f"{place}: “{text}”") for place, text in near))
    if not response["abstained"]:
        section(console, "Claims", map(claim_line, (response.get("verification") or {}).get("claims") or []))
    console.print()
    console.print(Text(verdict_line(response)))
    show_faults(console, response)
    console.print(Text(ran_line(response), style="dim"))


def show_faults(console: Console, result: dict[str, Any]) -> None:
    """Print what is wrong with an answer, and what did not run as asked."""
    for name, style in (("issues", "yellow"), ("degraded", "magenta")):
        for sentence in result[name]:
            console.print(Text(f"{name.removesuffix('s')}: {sentence}", style=style))


def section(console: Console, title: str, lines: Iterable[Text]) -> None:
    """Print a titled, indented list where there is anything in it."""
    for number, line in enumerate(lines):
        if number == 0:
            console.print()
            console.print(Text(title, style="bold"))
        indented(console, line, 2)


def indented(console: Console, line: Text, by: int) -> None:
    """Print a line with a margin; wrapped within it on a terminal, as it is elsewhere."""
    if console.is_terminal:
        console.print(Padding(line, (0, 0, 0, by)))
    else:
        console.print("\n".join(" " * by + part for part in line.plain.split("\n")))


def citation_line(citation: dict[str, Any]) -> Text:
    """`[1] Report (report.pdf), page 3 › Revenue: "a quote" … "another"`, with a warning where it gives no support."""
    place = place_of(citation["metadata"]) or citation["chunk_id"]
    quotes = citation["quotes"] or [citation["text"]]
    line = Text(f"[{citation['number']}] {place}: {' … '.join(f'“{shortened(quote)}”' for quote in quotes)}")
    if not citation["verified"]:
        line.append("  not verified", style="yellow")
    return line


def claim_line(claim: dict[str, Any]) -> Text:
    """A claim with its verdict and scores; the words that lack support are underlined."""
    label = claim["verdict"]
    verdict = f"{MARKS[label]} {label.replace('_', ' ')} "
    line = Text.assemble((verdict, COLOURS[label]), (f"{claim['support']:.2f}  ", "dim"))
    text = Text(one_line(claim["text"]))
    for start, end in claim.get("unsupported_spans") or []:
        inside = (max(start - claim["start"], 0), max(end - claim["start"], 0))
        text.stylize("underline red", *inside)
    line.append_text(text)
    if claim.get("reasoning") and claim["verdict"] != "supported":
        line.append(f"  ({one_line(claim['reasoning'])})", style="dim")
    evidence = claim.get("evidence")
    if evidence and claim["verdict"] != "unjudged":
        line.append(f"\n  ← “{shortened(evidence['quote'])}”", style="dim")
    return line


def verdict_line(response: dict[str, Any]) -> str:
    """Confidence, level, groundedness and attempts in one line."""
    attempts = len(response["attempts"])
    tries = f"{attempts} attempt{'s' if attempts != 1 else ''}"
    if response["confidence"] is None:
        return f"Not verified · {tries}"
    grounded = "abstained" if response["abstained"] else groundedness(response["is_grounded"], response["issues"])
    return f"Confidence {response['confidence']:.2f} ({response['confidence_level']}) · {grounded} · {tries}"


def ran_line(response: dict[str, Any]) -> str:
    """Which parts ran, how many model calls they made and how long it took."""
    shown = {role: name for role, name in response["models"].items() if not role.startswith("prompt:")}
    ran = ", ".join(f"{role.replace('_', ' ')} {name}" for role, name in shown.items())
    tokens = ", ".join(f"{count:,} tokens {what}" for what, count in response["tokens"].items())
    calls = f" · {response['llm_calls']} model calls{f', {tokens}' * bool(tokens)}" if response["llm_calls"] else ""
    return f"Ran: {ran}{calls} · {response['timings_ms'].get('total', 0):.0f} ms"


def show_verification(result: dict[str, Any]) -> None:
    """Print the verification of one answer."""
    console = out()
    section(console, "Claims", map(claim_line, result["claims"]))
    if not result["claims"]:
        console.print("No claim was found in the answer.")
    console.print()
    grounded = groundedness(result["is_grounded"], result["issues"])
    if result["confidence"] is not None:
        below = result["confidence"] < result["threshold"] and not result["accepted"]
        below = f" · below the threshold of {result['threshold']:.2f}" if below else ""
        console.print(f"Confidence {result['confidence']:.2f} ({result['level']}) · {grounded}{below}")
    show_faults(console, result)


def show_passages(passages: Sequence[dict[str, Any]]) -> None:
    """Print search results, best first, with their scores by stage."""
    console = out()
    for number, passage in enumerate(passages, 1):
        place = place_of({**passage["metadata"], **passage, "filename": passage["source"]}) or passage["chunk_id"]
        scores = ", ".join(f"{stage} {score:.3f}" for stage, score in passage["scores"].items() if score is not None)
        console.print(Text(f"{number}. {place}", style="bold"), Text(f" {scores}", style="dim"))
        indented(console, Text(shortened(passage["text"], 300)), 3)
    if not passages:
        err().print("nothing found")


def one_line(text: str) -> str:
    """Text with every run of white space as one space."""
    return " ".join(text.split())

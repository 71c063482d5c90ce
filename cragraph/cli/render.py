"""A response as text for a person."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from cragraph.cli.console import err, out
from cragraph.language.words import shortened
from cragraph.passages import place_of, sides_of
from cragraph.types import MARKS, called, doubt_of, further, in_words, mark_of, number_of, standing

COLOURS: Final = dict(zip(MARKS, ("green", "yellow", "red", "bold red", "magenta"), strict=True)) | {"quoted": "cyan"}
"""Colours of claims by verdict; green only in an accepted answer."""
DECIDED: Final = {"accepted": "bold green", "doubtful": "bold yellow", "refused": "bold"}
"""Colours of answers by decision; unverified and refused answers are plain."""


def show_answer(response: dict[str, Any]) -> None:
    """Print an answer with its citations, claims, confidence and the parts that ran."""
    console, accepted = out(), bool(response["accepted"])
    console.print(answer_line(response))
    if computed := response.get("computed"):
        console.print(Text(f"  = {in_words(computed)}", style="dim"))
    section(console, "Citations", map(citation_line, response["citations"]))
    section(console, "The documents differ", chain(*map(conflict_lines, response.get("conflicts") or ())))
    near = ((place_of(p) or p["chunk_id"], shortened(p["text"])) for p in response.get("nearest") or ())
    section(console, "Nearest passages", (Text(f"{place}: “{text}”") for place, text in near))
    if not response["abstained"]:
        claims = (response.get("verification") or {}).get("claims") or []
        section(console, "Claims", (claim_line(claim, accepted=accepted) for claim in claims))
    console.print()
    console.print(verdict_line(response))
    show_faults(console, response)
    console.print(Text(ran_line(response), style="dim"))


def show_faults(console: Console, result: dict[str, Any]) -> None:
    """Print the issues of an answer, and the parts that did not run as asked."""
    for sentence in further(result["issues"], result.get("decision")):
        console.print(Text(f"issue: {sentence}", style="yellow"))
    for sentence in result["degraded"]:
        console.print(Text(f"degraded: {sentence}", style="magenta"))


def section(console: Console, title: str, lines: Iterable[Text]) -> None:
    """Print a titled, indented list unless it is empty."""
    for number, line in enumerate(lines):
        if number == 0:
            console.print()
            console.print(Text(title, style="bold"))
        indented(console, line, 2)


def indented(console: Console, line: Text, by: int) -> None:
    """Print a line with a margin, wrapped on a terminal only."""
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


def conflict_lines(conflict: dict[str, Any]) -> list[Text]:
    """Both sides of a conflict, and the sign that tells which is newer."""
    lines = [
        Text(f"{name}: {place}: “{shortened(one_line(quote))}”", style="yellow")
        for name, place, quote in sides_of(conflict)
    ]
    if conflict["newer_first"]:
        lines[0].append(f"  ({conflict['why']})", style="dim")
    return lines


def answer_line(response: dict[str, Any]) -> Text:
    """The answer, coloured by its decision, with a doubt in a line before it."""
    style = DECIDED[response["decision"]["outcome"]] if response["decision"] else "bold"
    return Text(f"{doubt_of(response['decision'])}{response['answer']}", style=style)


def claim_line(claim: dict[str, Any], *, accepted: bool = False) -> Text:
    """A claim with its verdict and scores; the words that lack support are underlined.

    A quoted claim has no score: standing in a passage does not mean that it answers.
    """
    sign, word = mark_of(claim)
    colour = COLOURS["quoted" if word == "quoted" else claim["verdict"]]
    colour = "" if word == "supported" and not accepted else colour
    support = "" if word == "quoted" else f"{claim['support']:.2f} "
    line = Text.assemble((f"{sign} {word} ", colour), (f"{support} ", "dim"))
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


def verdict_line(response: dict[str, Any]) -> Text:
    """Confidence, decision and attempts in one line, without the doubt, which stands before the answer."""
    attempts, decision = number_of(len(response["attempts"]), "attempt"), response["decision"]
    if doubt_of(decision):
        return Text(attempts)
    return Text.assemble((standing(decision), DECIDED[decision["outcome"]] if decision else ""), f" · {attempts}")


def ran_line(response: dict[str, Any]) -> str:
    """The parts that ran, their model calls and their time."""
    shown = {role: name for role, name in response["models"].items() if not role.startswith("prompt:")}
    ran = ", ".join(f"{role.replace('_', ' ')} {name}" for role, name in shown.items())
    calls = called(response["llm_calls"], response["tokens"])
    return " · ".join(filter(None, [f"Ran: {ran}", calls, f"{response['timings_ms'].get('total', 0):.0f} ms"]))


def show_verification(result: dict[str, Any]) -> None:
    """Print the verification of one answer."""
    console = out()
    decision = result["decision"]
    accepted = result["accepted"]
    section(console, "Claims", (claim_line(claim, accepted=accepted) for claim in result["claims"]))
    if not result["claims"]:
        console.print("No claim was found in the answer.")
    console.print()
    console.print(Text(standing(decision), style=DECIDED[decision["outcome"]]))
    for why in further([] if accepted else [decision["why"]], decision):
        console.print(Text(why, style="yellow"))
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
        err().print("No passage was found.")


def one_line(text: str) -> str:
    """Text with every run of white space as one space."""
    return " ".join(text.split())

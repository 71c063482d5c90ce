"""A model that knows 64 facts, at the speed of a small one on a laptop: what the chat benchmarks talk to.

It plays every role that a graph asks for (writing, judging, grading, re-querying) and is right about all of them but
one: its first answer to every other question has a wrong figure, so that a loop that corrects has something to do.
"""

import re
from collections import Counter
from pathlib import Path
from typing import Any, Final

from tests.support.ollama import OllamaServer, Request

TOKENS_PER_S: Final = 30.0
MS_PER_PROMPT_TOKEN: Final = 1.0

PLACES: Final = ("Freedonia", "Sylvania", "Ruritania", "Graustark", "Orsinia", "Borduria", "Syldavia", "Latveria")
THINGS: Final = (
    ("bridge", "metres long"),
    ("lighthouse", "metres high"),
    ("library", "rooms large"),
    ("railway", "stations long"),
    ("theatre", "seats large"),
    ("market", "stalls large"),
    ("reservoir", "metres deep"),
    ("orchard", "trees large"),
)
FACTS: Final = tuple(
    (f"the {place} {thing}", measure, 40 + 37 * (8 * row + column))
    for row, (thing, measure) in enumerate(THINGS)
    for column, place in enumerate(PLACES)
)
FILLER: Final = (
    "Visitors come from far away to see it in every season, and the town keeps a small office for them near the main "
    "square. A committee of citizens looks after the paths, the signs and the benches, and meets on the first Monday "
    "of each month. Schools of the region bring their pupils here in spring. Photographs from the early days hang in "
    "the town hall, where the founding charter is kept in a glass case beside the stairs. In winter the opening hours "
    "are shorter, and a guide waits for groups at the gate."
)


def question(number: int) -> str:
    """The question about one fact."""
    subject, measure, _ = FACTS[number]
    unit, kind = measure.split()
    return f"How many {unit} {kind} is {subject}?"


def statement(number: int, figure: int | None = None) -> str:
    """The sentence that answers it."""
    subject, measure, right = FACTS[number]
    return f"{subject[0].upper()}{subject[1:]} is {right if figure is None else figure} {measure}."


def write_documents(folder: Path) -> None:
    """One document a fact, of four sections that are all about its subject; one of them has the answer."""
    for number, (subject, _, _) in enumerate(FACTS):
        sections = [
            f"## {title} of {subject}\n\n{said} {FILLER}"
            for title, said in (
                ("History", f"The plan for {subject} was drawn up by three engineers."),
                ("Size", f"{statement(number)} It was opened in {1900 + number}."),
                ("Visitors", f"A visit to {subject} takes half a day."),
                ("Upkeep", f"Repairs to {subject} are paid by the region."),
            )
        ]
        text = f"# About {subject}\n\n" + "\n\n".join(sections) + "\n"
        (folder / f"fact-{number}.md").write_text(text, encoding="utf-8")


class Simulated:
    """The script of the server; `reset()` between runs, so that each run meets the same wrong first answers."""

    def __init__(self) -> None:
        self._written: Counter[int] = Counter()

    def reset(self) -> None:
        """Forget which questions were answered before."""
        self._written.clear()

    def __call__(self, request: Request) -> Any:
        """Answer a request in the role that its schema names."""
        roles = {"claims": _verdicts, "queries": _queries, "binary_score": _grade, "score": _score}
        for field, role in roles.items():
            if field in request.fields:
                return role(request)
        return self._prose(request)

    def _prose(self, request: Request) -> str:
        text = str(request.messages[-1]["content"])
        number = _asked(text)
        if "Rewrite" in text:
            return question(number)
        self._written[number] += 1
        wrong = number % 2 == 1 and self._written[number] == 1
        sentence = statement(number, FACTS[number][2] + 300 if wrong else None)
        cite = _passage_with(text, number)
        opened = f"It was opened in {1900 + number}"
        return f"{sentence[:-1]} [{cite}]. {opened} [{cite}]." if cite else f"{sentence} {opened}."


def server(play: Simulated, **options: Any) -> OllamaServer:
    """The simulated model behind Ollama's protocol, at its speed."""
    speeds = {"tokens_per_s": TOKENS_PER_S, "ms_per_prompt_token": MS_PER_PROMPT_TOKEN}
    return OllamaServer(play, **{**speeds, **options})


def _asked(text: str) -> int:
    places = [(text.rfind(question(number)), number) for number in range(len(FACTS))]
    return max(places)[1]


def _passage_with(text: str, number: int) -> int:
    blocks = re.findall(r"<<passage \S+ (\d+):[^\n]*>>\n(.*?)\n<<end", text, re.S)
    return next((int(n) for n, block in blocks if statement(number) in block), 0)


def _verdicts(request: Request) -> dict[str, Any]:
    text = str(request.messages[-1]["content"])
    number = _asked(text)
    given = text.rpartition("<<claims" if "<<claims" in text else "<<answer")[2]
    said = given.partition(">>\n")[2].partition("\n<<end")[0]
    passage = _passage_with(text, number)
    rows = []
    for n, claim in enumerate(re.findall(r"[A-Z][^\[.\n]*", said), start=1):
        row: dict[str, Any] = {"n": n, "claim": claim.strip(), "evidence": claim.strip(), "passage": passage}
        right = statement(number)
        if f"{claim.strip()}." == right or "opened" in claim:
            row["status"] = "SUPPORTED"
        else:
            row |= {"evidence": right, "status": "CONTRADICTED"}
            row |= {"reasoning": "The figure differs.", "correction": right}
        rows.append(row)
    return {"claims": rows}


def _queries(request: Request) -> dict[str, Any]:
    subject, measure, _ = FACTS[_asked(str(request.messages[-1]["content"]))]
    return {"queries": [f"{subject} {measure}", f"size of {subject}"]}


def _grade(request: Request) -> dict[str, Any]:
    text = str(request.messages[-1]["content"])
    if "Generation:" in text and "Documents:" in text:
        documents, _, generation = text.partition("Generation:")
        first = generation.strip().split(". ")[0].rstrip(".")
        return {"binary_score": "yes" if first in documents else "no"}
    if "Generation:" in text:
        return {"binary_score": "yes"}
    return {"binary_score": "yes" if FACTS[_asked(text)][0].lower() in text.partition("Question:")[0].lower() else "no"}


def _score(request: Request) -> dict[str, Any]:
    text = str(request.messages[-1]["content"])
    return {"score": 1.0 if statement(_asked(text)) in text else 0.2}

"""The HTML report: one self-contained page of an answer, its claims, and the evidence of each in its passage.

All interaction is by links within it: it works printed, and without script. Many answers are a table on one page.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, cached_property
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from cragraph.errors import printable
from cragraph.language.markers import find_markers
from cragraph.passages import about, as_passages, place_of, sides_of
from cragraph.private import output
from cragraph.report.pages import PagePictures
from cragraph.types import SETTERS, Passage, called, distinct_digits, further, in_words, mark_of, number_of

Neighbours = Callable[[Passage], Sequence[Passage]]  # the chunks beside a passage, in document order

MEANING: Final = {
    "calibrated": "of 100 answers with this confidence, about {n} can be expected to be right",
    "claims": "counted from the verdicts: the share of the claims that hold, not a probability",
}
NO_MEANING: Final = "the value of the policy {policy}, not a probability"
AROUND: Final = 300  # characters of a chunk beside a passage that are shown
FEW_ROWS: Final = 6  # rows of a computed figure that are shown without being asked for
FEW_NOTES: Final = 3  # issues that are shown without being asked for
COLUMNS: Final = ("id", "confidence", "decision", "grounded", "claims held", "answer")


@dataclass(frozen=True)
class Report:
    """A response, a verification or a correction as HTML: `str()` is the page, `save` writes it, notebooks show it.

    `result` is the result of a graph or of `verify`. A graph's response has its claims only under `show_claims`;
    `passages` are the passages that it was judged against, which add the text around each quote. `neighbours` finds the
    chunks beside a passage. Pages of PDF sources among `files`, such as `Store.files`, are shown with the quotes boxed;
    no other file is opened, whatever a passage names as its source.
    """

    result: Any
    passages: Iterable[Any] = ()
    neighbours: Neighbours | None = None
    files: Container[str] = ()
    prefix: str = ""  # set before every id, so that several answers can stand on one page

    def __str__(self) -> str:
        return str(parts().page(self))

    def _repr_html_(self) -> str:
        """The page in a separate frame, so that its style and the notebook's do not mix."""
        page = str(self).replace("<head>", '<head><base href="about:srcdoc">', 1)  # or its links lead to the notebook
        return (
            f'<iframe srcdoc="{escape(page)}" sandbox="" style="width:100%;height:34rem;border:0" '
            'title="Report of cragraph"></iframe>'
        )

    def save(self, path: str | Path) -> Path:
        """Write the page; a new file is for its owner alone. Returns its path."""
        with output(path, encoding="utf-8") as page:
            page.write(str(self))
        return Path(path)

    @cached_property
    def data(self) -> dict[str, Any]:
        """The result in one form: the fields of a response, with those of a verification under `verification`."""
        result = getattr(self.result, "response", self.result)  # a correction has its response
        if not isinstance(result, Mapping):
            given = {"question": result.question, "answer": result.answer}
            row = result.to_dict()
            quoted = [claim.get("quoted", False) for claim in row["claims"]]
            claims = [{**verdict, "quoted": said} for verdict, said in zip(result.claims, quoted, strict=True)]
            result = given | row | {"claims": claims}
        data = dict(result)
        if "attempts" not in data:
            absent = {"answer": None, "question": None, "confidence": None, "is_grounded": None, "accepted": None}
            models = {"judge": data["judge"]} if data.get("judge") else data.get("models") or {}
            shaped = {"verification": data, "confidence_level": data.get("level"), "models": models}
            data = absent | {"issues": [], "degraded": [], "attempts": []} | data | shaped
        return {"decision": None} | data | {name: data[name] or "" for name in ("answer", "question")}

    @cached_property
    def claims(self) -> list[dict[str, Any]]:
        """The claims with their verdicts; none if they were not asked for."""
        return list((self.data["verification"] or {}).get("claims") or [])

    @cached_property
    def known(self) -> list[Passage]:
        """The available passages, those to which evidence refers first."""
        passages = as_passages(self.passages or getattr(self.result, "passages", None) or ())
        ids = {passage["chunk_id"] for passage in passages}
        cited = [c | {k: c["metadata"].get(k) for k in ("page", "source")} for c in self.data.get("citations") or ()]
        return passages + [p for p in as_passages(cited) if p["chunk_id"] not in ids]

    @cached_property
    def fragment(self) -> str:
        """The report without the page around it."""
        return str(parts().fragment(self, PagePictures(self.files)))

    @cached_property
    def text(self) -> str:
        """The answer with every claim as a link to its evidence."""
        answer, places = self.data["answer"], self.places
        pieces, at = [], 0
        for number, (start, end, doubts) in sorted(places.items(), key=lambda item: item[1][:2]):
            if start < at:  # several claims on the same words: the first has the link, each its card
                continue
            claim = self.claims[number]
            pieces.append(self._cited(answer[at:start]))
            cuts = sorted({start, end, *(min(max(place, start), end) for span in doubts for place in span)})
            words = "".join(
                f"<u>{e(answer[a:b])}</u>" if any(s <= a and b <= t for s, t in doubts) else e(answer[a:b])
                for a, b in pairwise(cuts)
            )
            sign, word = mark_of(claim)
            label = f"{word}, claim {number + 1}"
            pieces.append(
                f'<a class="claim {kind(claim)}" href="#{self.prefix}e{number + 1}" '
                f'id="{self.prefix}a{number + 1}" title="{e(label)}">{words}'
                f'<sup aria-hidden="true">{sign}</sup><span class="sr"> ({e(label)})</span></a>'
            )
            at = end
        pieces.append(self._cited(answer[at:]))
        return "".join(pieces)

    @cached_property
    def places(self) -> dict[int, tuple[int, int, list[tuple[int, int]]]]:
        """The offsets of each claim and of its doubtful words in the shown answer, whose markers may differ."""
        draft = self.data["answer"]
        shown, at_shown = bare(draft)
        for attempt in self.data["attempts"]:
            judged = (attempt.get("verification") or {}).get("claims") or ()
            spans = [[(c["text"], c["start"], c["end"]) for c in claims] for claims in (judged, self.claims)]
            if spans[0] == spans[1]:
                draft = attempt.get("answer", draft)
        places, after = {}, 0
        for number, claim in enumerate(self.claims):
            first, last = claim["start"], claim["end"]
            words, at_words = bare(draft[first:last] if last > first else claim["text"])
            at = shown.find(words, after)
            at = shown.find(words) if at < 0 else at
            if not words or at < 0:
                continue
            doubts = []
            for start, end in claim.get("unsupported_spans") or ():
                inside = [i for i, offset in enumerate(at_words) if start <= first + offset < end]
                if inside:
                    doubts.append((at_shown[at + inside[0]], at_shown[at + inside[-1]] + 1))
            after = at + len(words)
            places[number] = (at_shown[at], at_shown[after - 1] + 1, doubts)
        return places

    def _cited(self, text: str) -> str:
        numbers = {str(citation["number"]) for citation in self.data.get("citations") or ()}

        def link(match: re.Match[str]) -> str:
            linked = f'<a class="cite" href="#{self.prefix}c{match[1]}">{match[0]}</a>'
            return linked if match[1] in numbers else match[0]

        return re.sub(r"\[(\d+)\]", link, e(text))

    @property
    def meaning(self) -> str:
        """What the confidence means, in a sentence."""
        checked = self.data["verification"] or {}
        policy = (checked.get("policy") or "") if checked.get("claims_checked") else ""
        value = round(self.data["confidence"] * 100)
        meaning = MEANING.get(policy, NO_MEANING).format(n=value, policy=policy) if policy else ""
        if checked.get("answered") is not None:
            meaning += (
                f"; probability that it answers the question {checked['answered']:.2f}, "
                f"that the passages support it {checked['supported']:.2f}"
            )
        return meaning[:1].upper() + meaning[1:]

    @property
    def notes(self) -> list[tuple[str, str]]:
        """The issues that the badge does not say, and the degradations, each with its class."""
        decision, issues = self.data["decision"], list(self.data["issues"])
        if decision and decision["outcome"] != "accepted" and decision["why"] not in issues:
            issues.insert(0, decision["why"])
        notes = [("issue", sentence) for sentence in further(issues, decision)]
        return notes + [("degraded", sentence) for sentence in self.data["degraded"]]

    def also_supported(self, claim: Mapping[str, Any]) -> list[Any]:
        """The further passages that support a claim: the metadata of each once, or an unknown passage's id."""
        sources = claim.get("sources") or ()
        first = (claim.get("evidence") or {}).get("chunk_id") or next(iter(sources), "")
        known = {passage["chunk_id"]: about(passage) for passage in self.known}
        named = [known.get(chunk_id, chunk_id) for chunk_id in sources if chunk_id != first]
        return list({where(source) if isinstance(source, Mapping) else source: source for source in named}.values())

    def passage_of(self, evidence: Mapping[str, Any]) -> Passage | None:
        """The passage of the evidence, by id, else by position; None if it is not available."""
        if "chunk_id" in evidence:
            return next((passage for passage in self.known if passage["chunk_id"] == evidence["chunk_id"]), None)
        counted = self.known[evidence["passage"] :][:1]
        return counted[0] if counted and evidence["quote"] in counted[0]["text"] else None

    def beside(self, passage: Passage) -> tuple[str, str]:
        """The ends of the chunks before and after a passage, without words of the passage itself: chunks may
        overlap."""
        chunks = self.neighbours(passage) if self.neighbours else self.known
        by_index = {p["chunk_index"]: p for p in chunks if p["doc_id"] == passage["doc_id"]}
        before, after = (by_index.get(passage["chunk_index"] + step) for step in (-1, 1))
        end = passage["start_index"] + len(passage["text"])
        head = before["text"][: max(passage["start_index"] - before["start_index"], 0)] if before else ""
        tail = after["text"][max(end - after["start_index"], 0) :] if after else ""
        head = f"… {head[-AROUND:].partition(' ')[2]}" if len(head) > AROUND else head
        tail = f"{tail[:AROUND].rpartition(' ')[0]} …" if len(tail) > AROUND else tail
        return head, tail

    @property
    def ran(self) -> list[str]:
        """The parts and models that ran, the calls of models and the time."""
        data = self.data
        shown = [f"{role.replace('_', ' ')} {name}" for role, name in data["models"].items() if ":" not in role]
        ms = (data.get("timings_ms") or {}).get("total") or data.get("ms")
        shown += filter(None, [called(data.get("llm_calls") or 0, data.get("tokens") or {})])
        return shown + ([f"{ms:.0f} ms"] if ms else [])


def table_of(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The page, piece by piece: rows are those of `verify --jsonl` with their `answer`, and `question` where given."""
    script = files("cragraph.report").joinpath("table.js").read_text(encoding="utf-8")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    yield str(parts().table_head(COLUMNS, digest))
    for number, row in enumerate(rows, 1):
        yield f"{parts().table_row(row, Report(row, prefix=f'r{number}'))}\n"
    yield f"</tbody></table></div></main><script>{script}</script></body></html>\n"


def bare(text: str) -> tuple[str, list[int]]:
    """A text without citation markers and white space, with the offset of each of its characters."""
    hidden = {i for marker in find_markers(text) for i in range(marker.start, marker.end)}
    offsets = [i for i, c in enumerate(text) if i not in hidden and not c.isspace()]
    return "".join(text[i] for i in offsets), offsets


def changes(before: str, after: str) -> str:
    """The second text with its deletions and insertions marked, word by word."""
    old, new = re.findall(r"\s*\S+", before), re.findall(r"\s*\S+", after)
    pieces = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            pieces.append(e("".join(new[c:d])))
            continue
        pieces += [f"<del>{e(''.join(old[a:b]))}</del>"] if b > a else []
        pieces += [f"<ins>{e(''.join(new[c:d]))}</ins>"] if d > c else []
    return "".join(pieces)


def marked(text: str, quote: str, start: int | None = None) -> str:
    """A text with a quote highlighted: at `start` if the quote stands there, else at its first place."""
    at = start if start is not None and text.startswith(quote, start) else text.find(quote)
    if not quote or at < 0:
        return e(text)
    return f"{e(text[:at])}<mark>{e(quote)}</mark>{e(text[at + len(quote) :])}"


def where(metadata: Mapping[str, Any]) -> str:
    """A source by its usual name, with its whole path as the title."""
    return str(parts().where(metadata))


def kind(claim: Mapping[str, Any]) -> str:
    """The class of a claim, which has its colour."""
    return "quoted" if claim.get("quoted") else e(claim["verdict"])


def outcome_of(data: Mapping[str, Any]) -> str:
    """The class of an answer: accepted, doubtful or refused; unverified without a decision."""
    return e(data["decision"]["outcome"]) if data["decision"] else "unverified"


def e(text: Any) -> str:
    """Text for HTML: escaped, and without what reorders or hides it."""
    return escape(printable(str(text)))


@cache
def style() -> str:
    """The style sheet of reports."""
    return files("cragraph.report").joinpath("report.css").read_text(encoding="utf-8")


@cache
def parts() -> Any:
    """The macros of the template; every text in them is escaped, and loses what reorders or hides it."""
    from jinja2 import Environment, PackageLoader

    def clean(value: Any) -> Any:
        return printable(value) if type(value) is str else value

    given = Environment(
        loader=PackageLoader("cragraph.report", ""), autoescape=True, finalize=clean, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    given.globals |= {
        "FEW_NOTES": FEW_NOTES, "FEW_ROWS": FEW_ROWS, "SETTERS": SETTERS, "about": about,
        "distinct_digits": distinct_digits,
        "changes": changes, "in_words": in_words, "kind": kind, "mark_of": mark_of, "marked": marked,
        "number_of": number_of, "outcome_of": outcome_of, "place_of": place_of, "sides_of": sides_of, "style": style(),
    }  # fmt: skip
    return given.get_template("report.html").module

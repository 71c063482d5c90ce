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
from cragraph.types import SETTERS, Passage, apart, called, further, in_words, mark_of, number_of

Neighbours = Callable[[Passage], Sequence[Passage]]  # the chunks beside a passage, in document order

HEAD: Final = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width,initial-scale=1">'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
    'img-src data:; script-src {scripts}"><title>{title}</title><style>{style}</style></head><body>\n'
)
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
        head = HEAD.format(title=e(self.data["question"] or "Verification"), style=style(), scripts="'none'")
        return f"{head}<main>{self.fragment}</main></body></html>\n"

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
        data, pictures = self.data, PagePictures(self.files)
        parts = [f"<h1>{e(data['question'])}</h1>" if data["question"] else "<h1>Verification</h1>"]
        parts.append('<div class="cols"><div class="left"><section aria-label="Answer">')
        parts.append(
            f'{self._badge()}<p class="answer">{self.text}</p>'
            f"{self._confidence()}{self._computed()}{self._conflicts()}{self._faults()}</section>"
            f"{self._attempts()}{self._ran()}</div>"
        )
        parts.append(f'<section class="right" aria-label="Evidence">{self._evidence(pictures)}</section></div>')
        if pictures.left_out:
            parts.append(f'<p class="note">{pictures.left_out} further pages are not shown as pictures.</p>')
        if pictures.failed:
            parts.append(f'<p class="note">The pages of {pictures.failed} files could not be drawn.</p>')
        return f'<article class="cragraph {outcome_of(data)}">{"".join(parts)}</article>'

    def _badge(self) -> str:
        """The decision as a badge."""
        if not (decision := self.data["decision"]):
            return ""
        outcome = e(decision["outcome"])
        sign = {"accepted": "✓", "doubtful": "?", "refused": "–"}[outcome]
        confidence, threshold = apart(decision["confidence"], decision["threshold"])
        return (
            f'<p class="badge {outcome}"><b>{sign} {outcome.capitalize()} · {confidence}</b>'
            f" · threshold {threshold}{SETTERS[decision['set_by']]}</p>"
        )

    def _computed(self) -> str:
        """The working of a figure: the query in words, and its rows."""
        if not (computed := self.data.get("computed")):
            return ""
        cited, rows = computed.get("cited") or [], computed.get("rows") or 0
        listed = "".join(f"<li><code>{e(row['quote'])}</code></li>" for row in cited)
        more = f'<p class="note">and {rows - len(cited)} more rows</p>' if rows > len(cited) else ""
        missing = computed.get("missing")
        none = "1 row has no figure there and was" if missing == 1 else f"{missing} rows have no figure there and were"
        lacks = f'<p class="note">{none} left out.</p>' if missing else ""
        unfolded = " open" if len(cited) <= FEW_ROWS else ""
        table = f'<details{unfolded}><summary>The rows</summary><ol class="said">{listed}</ol>{more}</details>'
        return (
            f'<section class="computed"><h2>Computed</h2><p><code>{e(in_words(computed))}</code></p>'
            f"{lacks}{table if listed else ''}</section>"
        )

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

    def _confidence(self) -> str:
        data, checked = self.data, self.data["verification"] or {}
        if data["confidence"] is None:
            return '<p class="note">Not verified.</p>'
        value, outcome = data["confidence"], outcome_of(data)
        policy = (checked.get("policy") or "") if checked.get("claims_checked") else ""
        meaning = MEANING.get(policy, NO_MEANING).format(n=round(value * 100), policy=policy) if policy else ""
        if checked.get("answered") is not None:
            meaning += (
                f"; probability that it answers the question {checked['answered']:.2f}, "
                f"that the passages support it {checked['supported']:.2f}"
            )
        alone = "" if data["decision"] else f"<b>Confidence {value:.2f}</b>"
        return (
            f'<p class="confidence">{alone}'
            f'<span class="bar" aria-hidden="true"><i class="{outcome}" style="width:{value:.1%}"></i></span>'
            f'<span class="note">{e(meaning[:1].upper() + meaning[1:])}</span></p>'
        )

    def _conflicts(self) -> str:
        """Passages that answer differently, side by side."""
        pairs = []
        for conflict in self.data.get("conflicts") or ():
            sides = "".join(
                f"<div><b>{e(name[:1].upper() + name[1:])}</b> {e(place)}<blockquote>{e(quote)}</blockquote></div>"
                for name, place, quote in sides_of(conflict)
            )
            why = f'<p class="note">The newer, because {e(conflict["why"])}.</p>' if conflict["newer_first"] else ""
            pairs.append(f'<div class="sides">{sides}</div>{why}')
        return f'<section class="differ"><h2>The documents differ</h2>{"".join(pairs)}</section>' if pairs else ""

    def _faults(self) -> str:
        decision, data = self.data["decision"], self.data
        issues = list(data["issues"])
        if decision and decision["outcome"] != "accepted" and decision["why"] not in issues:
            issues.insert(0, decision["why"])
        notes = [("issue", sentence) for sentence in further(issues, decision)]
        notes += [("degraded", sentence) for sentence in data["degraded"]]
        rows = [f'<li class="{kind}">{e(sentence)}</li>' for kind, sentence in notes]
        first, rest = (f'<ul class="said">{"".join(part)}</ul>' for part in (rows[:FEW_NOTES], rows[FEW_NOTES:]))
        more = f"<details><summary>{number_of(len(rows) - FEW_NOTES, 'more note')}</summary>{rest}</details>"
        return (first if rows else "") + (more if len(rows) > FEW_NOTES else "")

    def _evidence(self, pictures: PagePictures) -> str:
        cards = [self._card(number, claim, pictures) for number, claim in enumerate(self.claims)]
        cited = [
            f'<li id="{self.prefix}c{c["number"]}">[{c["number"]}] {where(c["metadata"])}'
            f"{'' if c['verified'] else ' <em>not verified</em>'}"
            + "".join(f"<blockquote>{e(quote)}</blockquote>" for quote in c["quotes"] or [c["text"]])
            + "</li>"
            for c in self.data.get("citations") or ()
        ]
        near = [f"<li>{where(p)}<blockquote>{e(p['text'])}</blockquote></li>" for p in self.data.get("nearest") or ()]
        listed = {"Sources": cited, "Nearest passages": near}
        lists = [f'<h2>{name}</h2><ol class="sources">{"".join(rows)}</ol>' for name, rows in listed.items() if rows]
        return ("<h2>Claims</h2>" + "".join(cards) if cards else "") + "".join(lists)

    def _card(self, number: int, claim: Mapping[str, Any], pictures: PagePictures) -> str:
        (sign, word), back = mark_of(claim), f"{e(claim['text'])} <em>(not in the answer that is shown)</em>"
        if number in self.places:
            back = f'<a href="#{self.prefix}a{number + 1}">{e(claim["text"])}</a>'
        support = "" if claim.get("quoted") else f" {claim['support']:.2f}"
        rows = [f'<h3><span class="mark {kind(claim)}">{sign} {e(word)}</span>{support}</h3><p>{back}</p>']
        rows += [f'<p class="note">{e(claim["reasoning"])}</p>'] if claim.get("reasoning") else []
        rows += [f"<p>Should say: {e(claim['correction'])}</p>"] if claim.get("correction") else []
        if evidence := claim.get("evidence"):
            passage = self._passage(evidence)
            if passage is None:
                rows.append(f"<blockquote><mark>{e(evidence['quote'])}</mark></blockquote>")
            else:
                before, after = self._beside(passage)
                quote = marked(passage["text"], evidence["quote"], evidence["start"])
                rows.append(f"<p>{where(about(passage))}</p>")
                rows.append(f"<blockquote>{before}{quote}{after}</blockquote>")
                if picture := pictures(passage, evidence["quote"]):
                    rows.append(f"<details><summary>The page</summary>{picture}</details>")
        else:
            rows.append('<p class="note">No evidence was found.</p>')
        first = (claim.get("evidence") or {}).get("chunk_id") or next(iter(claim.get("sources") or ()), "")
        if others := [source for source in claim.get("sources") or () if source != first]:
            names = {p["chunk_id"]: where(about(p)) for p in self.known}
            named = dict.fromkeys(names.get(chunk_id, e(chunk_id)) for chunk_id in others)
            rows.append(f'<p class="note">Also supported by {", ".join(named)}.</p>')
        return f'<div class="card {kind(claim)}" id="{self.prefix}e{number + 1}">{"".join(rows)}</div>'

    def _passage(self, evidence: Mapping[str, Any]) -> Passage | None:
        """The passage of the evidence, by id, else by position; None if it is not available."""
        if "chunk_id" in evidence:
            return next((passage for passage in self.known if passage["chunk_id"] == evidence["chunk_id"]), None)
        counted = self.known[evidence["passage"] :][:1]
        return counted[0] if counted and evidence["quote"] in counted[0]["text"] else None

    def _beside(self, passage: Passage) -> tuple[str, str]:
        """The ends of the chunks before and after a passage, without what it says itself: chunks may overlap."""
        chunks = self.neighbours(passage) if self.neighbours else self.known
        by_index = {p["chunk_index"]: p for p in chunks if p["doc_id"] == passage["doc_id"]}
        before, after = (by_index.get(passage["chunk_index"] + step) for step in (-1, 1))
        end = passage["start_index"] + len(passage["text"])
        head = before["text"][: max(passage["start_index"] - before["start_index"], 0)] if before else ""
        tail = after["text"][max(end - after["start_index"], 0) :] if after else ""
        head = f"… {head[-AROUND:].partition(' ')[2]}" if len(head) > AROUND else head
        tail = f"{tail[:AROUND].rpartition(' ')[0]} …" if len(tail) > AROUND else tail
        head, tail = (f'<span class="beside">{e(text)}</span>' if text.strip() else "" for text in (head, tail))
        return head, tail

    def _attempts(self) -> str:
        """The attempts: queries, failed claims, and changes of the answer."""
        rows, before = [], ""
        for attempt in self.data["attempts"]:
            confidence = "" if attempt["confidence"] is None else f" · confidence {attempt['confidence']:.2f}"
            head = (
                f"<b>Attempt {attempt['attempt']}</b>{confidence} · {attempt['claims_supported']} of "
                f"{attempt['claims_checked']} claims supported · {number_of(attempt['new_passages'], 'new passage')}"
            )
            searched = "".join(f"<li>searched for “{e(query)}”</li>" for query in attempt.get("queries", ()))
            failed = "".join(
                f"<li>{' '.join(mark_of(claim))}: {e(claim['text'])}</li>"
                for claim in (attempt.get("verification") or {}).get("claims") or ()
                if claim["verdict"] != "supported"
            )
            answer = attempt.get("answer", "")
            changed = f'<p class="diff">{changes(before, answer) if before else e(answer)}</p>' if answer else ""
            rows.append(f"<li>{head}<ul>{searched}</ul>{changed}<ul>{failed}</ul></li>")
            before = answer or before
        listed = f'<ol class="timeline">{"".join(rows)}</ol>'
        if len(rows) < 2:
            return f"<details><summary>The attempt</summary>{listed}</details>" if rows else ""
        return f"<section><h2>Attempts</h2>{listed}</section>"

    def _ran(self) -> str:
        data = self.data
        shown = [f"{role.replace('_', ' ')} {name}" for role, name in data["models"].items() if ":" not in role]
        ms = (data.get("timings_ms") or {}).get("total") or data.get("ms")
        shown += filter(None, [called(data.get("llm_calls") or 0, data.get("tokens") or {})])
        shown += [f"{ms:.0f} ms"] if ms else []
        return f'<footer class="note">Ran: {e(", ".join(shown))}</footer>' if shown else ""


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
    report = Report(row, prefix=prefix)
    counts = f"{row['claims_supported']}/{row['claims_checked']}"
    grounded, outcome = "yes" if row["is_grounded"] else "no", outcome_of(row)
    share = row["claims_supported"] / (row["claims_checked"] or 1)
    claims = "".join(
        f'<li id="{prefix}e{n}"><span class="mark {kind(c)}">{e(" ".join(mark_of(c)))}</span> '
        + e(c["text"])
        + (f' <span class="note">{e(c["reasoning"])}</span>' if c.get("reasoning") else "")
        + (f"<blockquote><mark>{e(c['evidence']['quote'])}</mark></blockquote>" if c.get("evidence") else "")
        + "</li>"
        for n, c in enumerate(row["claims"], 1)
    )
    question = f"<p><b>{e(row['question'])}</b></p>" if row.get("question") else ""
    return (
        f'<tr class="{outcome}" data-grounded="{grounded}"><td>{e(row["id"])}</td>'
        f'<td class="n" data-v="{row["confidence"]:.4f}">{row["confidence"]:.2f}</td>'
        f'<td><span class="decided">{outcome}</span></td><td>{grounded}</td>'
        f'<td class="n" data-v="{share:.4f}">{counts}</td><td>{question}'
        f"{report.text}<details><summary>Claims and evidence</summary><ol>{claims}</ol></details></td></tr>"
    )


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
    """A text with its quote highlighted: at `start` if it stands there, else at the first place."""
    at = start if start is not None and text.startswith(quote, start) else text.find(quote)
    if not quote or at < 0:
        return e(text)
    return f"{e(text[:at])}<mark>{e(quote)}</mark>{e(text[at + len(quote) :])}"


def where(metadata: Mapping[str, Any]) -> str:
    """A source by its usual name, with its whole path behind."""
    return f'<cite title="{e(metadata.get("source") or "")}">{e(place_of(metadata) or "given text")}</cite>'


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

"""How a chat model fares on the questions of new users: right, wrong, refused, tokens and calls, by way of asking.

    python -m lab.benchmarks.prompts --model ollama:qwen2.5-coder:1.5b --out rows.jsonl
    python -m lab.benchmarks.prompts --way two --out rows-two.jsonl
    python -m lab.benchmarks.prompts --way plain --way tutorial --out rows-others.jsonl
    python -m lab.benchmarks.prompts --table rows.jsonl rows-two.jsonl

Every reply is kept in the folder `--cache`, by model, prompt and options: a run that was cut off goes on where it was,
and a run with other thresholds needs no model. `--part 1/2` asks every second question, so that two servers share them;
`--fit` stands for the half that the confidence of written answers is fitted on, `--check` for the other. The ways:

    draft     one call, no correction, the answer shown whatever its confidence: what the confidence is fitted on
    own       one call, no correction, the model's own answer shown or withheld as by default
    none      no correction, but what the passages say, where that is likelier right than what the model would write
    one, two  at most so many corrections as well; what is not accepted is shown or withheld as by default
    alone     without a model: the embedded answerer, under its own policy
    plain     retrieve five passages, ask: what people write in an afternoon
    tutorial  the corrective graph of the tutorials (`lab/benchmarks/tutorial_graph.py`)

The ways of a question follow each other before the next question, so that a run that is cut off compares them on the
same questions; `--every tutorial=4` asks a way that is dear of every fourth question only, `--doubted` only where no
quotation is accepted (after `--way alone`), and `--table` shows beside the whole what each way did on the questions
that all of them were asked.

`--blind` asks the questions of `benchmarks.blind` in their place, which no prompt was tuned on; of some sets where they
are named.

`--dev DATA` asks questions of `qa/dev` under that folder instead, with the passages that come with them: the confidence
of written answers is fitted on these as well. One of its answers in the answer makes it right.

Two columns count answers: those that are right and cite the file that has them, and those whose first reply was no
sentence (only markers, a fragment, a heading, the question or the prompt's example again) and was made whole.

A question is right, partly, wrong or refused as `benchmarks.new_user` says; ways without citations need cite nothing.
"""

import argparse
import hashlib
import http.client
import json
import os
import re
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Final
from urllib.parse import urlsplit

import cragraph.verification.evidence
from cragraph.graph.context import options_of
from cragraph.language.markers import without_markers
from cragraph.language.words import normalised
from cragraph.protocols import Notes
from cragraph.run import Assistant
from cragraph.settings import load_settings
from cragraph.types import IDK
from cragraph.verification.evidence import features as written_features
from lab.benchmarks.blind.__main__ import FOLDERS
from lab.benchmarks.blind.__main__ import verdict as blind_verdict
from lab.benchmarks.new_user.__main__ import HERE, documents, verdict
from lab.benchmarks.tutorial_graph import ANSWER, tutorial_graph

SETS: Final = (".", "second", "third", "fourth", "fifth")
KEPT: Final = ("temperature", "num_predict", "top_k", "top_p", "seed")  # options that a reply depends on
WAYS: Final = (
    "alone", "draft", "own", "none", "one", "two", "plain", "tutorial",
)  # fmt: skip
OTHERS: Final = ("plain", "tutorial")  # not cragraph
DEV: Final = ("squad1_train_du", "squad1_train_misc", "nq_open_gold", "fairytaleqa_val", "neg_same_doc",
              "squad2_train_500", "tatqa_dev_text", "bioasq_golden")  # fmt: skip
SHORT: Final = 1500  # characters of the passages of a row of `qa/dev` at most
FOUND: Final = ("right", "partly", "wrong", "refused")
REPAIRED: Final = re.compile(r" wrote .* \(“")
"""In `degraded`, of a reply that was no answer by itself: only markers, a fragment, a heading."""
PASSAGES: Final = 5


# -- replies that are kept -------------------------------------------------------------------------------------


class Kept:
    """Replies by what was asked, in the JSON-lines files of a folder; each process appends to one of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.known: dict[str, dict[str, Any]] = {}
        for path in sorted(folder.glob("*.jsonl")):
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                self.known[row["key"]] = row
        self.own = folder / f"{os.getpid()}.jsonl"
        self.lock = Lock()

    def put(self, row: dict[str, Any]) -> None:
        """Keep a reply."""
        with self.lock:
            self.known[row["key"]] = row
            with self.own.open("a", encoding="utf-8") as sink:
                sink.write(json.dumps(row, ensure_ascii=False) + "\n")


class Proxy(BaseHTTPRequestHandler):
    """Answers from what is kept, else asks the server, with the log-probabilities of every token, and keeps that."""

    upstream = ""
    kept: Kept
    calls: list[dict[str, Any]]

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def do_GET(self) -> None:
        """Pass on."""
        self._answer("GET", b"")

    def do_POST(self) -> None:
        """Answer, or pass on."""
        self._answer("POST", self.rfile.read(int(self.headers.get("content-length") or 0)))

    def _answer(self, verb: str, body: bytes) -> None:
        asked = json.loads(body) if body else {}
        options = {name: asked.get("options", {}).get(name) for name in KEPT}
        what = [self.path, asked.get("model"), asked.get("messages"), asked.get("format"), options]
        key = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:24]
        row = self.kept.known.get(key)
        if row is None:
            row = self._fetched(verb, key, {**asked, "logprobs": True} if asked.get("messages") else asked)
        if asked.get("messages"):
            last = json.loads(row["lines"][-1])
            counts = {"read": last.get("prompt_eval_count", 0), "wrote": last.get("eval_count", 0)}
            self.calls.append(counts | {"seconds": row["seconds"], "text": said(row["lines"])})
        self.send_response(row["status"])
        self.send_header("content-type", "application/x-ndjson")
        self.end_headers()
        with suppress(OSError):  # hung up: no more is wanted
            self.wfile.write("\n".join(row["lines"]).encode() + b"\n")

    def _fetched(self, verb: str, key: str, asked: dict[str, Any]) -> dict[str, Any]:
        begun = time.perf_counter()
        connection = http.client.HTTPConnection(urlsplit(self.upstream).netloc, timeout=900)
        connection.request(verb, self.path, json.dumps(asked) if asked else None, {"content-type": "application/json"})
        answer = connection.getresponse()
        lines = answer.read().decode().splitlines()
        connection.close()
        row = {"key": key, "status": answer.status, "lines": lines, "seconds": round(time.perf_counter() - begun, 2)}
        if answer.status == 200:
            self.kept.put(row)
        return row


def said(lines: list[str]) -> str:
    """What a streamed reply says."""
    return "".join(json.loads(line).get("message", {}).get("content", "") for line in lines)


@contextmanager
def keeping(server: str, folder: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The address of a proxy before `server`, and the calls that it saw."""
    calls: list[dict[str, Any]] = []
    handler = type("Bound", (Proxy,), {"upstream": server, "kept": Kept(folder), "calls": calls})
    listener = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=listener.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.server_port}", calls
    finally:
        listener.shutdown()


# -- questions -------------------------------------------------------------------------------------------------


def home(name: str) -> Path:
    """The folder of a set of questions."""
    return FOLDERS.get(name, HERE / name)


def questions(only: str, fit: bool | None = None, sets: Iterable[str] = SETS) -> list[dict[str, Any]]:
    """The questions of some sets that need no conversation, mixed; `fit` keeps those to fit on, or to check on."""
    rows = []
    for name in sets:
        for line in (home(name) / "questions.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line) | {"set": name}
            if "before" not in row:
                rows.append(row)
    rows.sort(key=lambda row: hashlib.sha256(f"{row['set']} {row['id']}".encode()).hexdigest())
    if fit is not None:
        rows = [row for row in rows if to_fit(row) is fit]
    part, _, parts = only.partition("/")
    return rows[int(part) - 1 :: int(parts)]


def dev_questions(data: Path) -> list[dict[str, Any]]:
    """Questions of `qa/dev` with short passages, the files in turn, mixed within each by a hash."""
    files = []
    for name in DEV:
        lines = (data / "qa/dev" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        rows = [r for r in rows if sum(map(len, r["passages"])) <= SHORT and (r["answers"] or not r["answerable"])]
        rows.sort(key=lambda row: hashlib.sha256(str(row["id"]).encode()).hexdigest())
        known = {"set": "dev"}
        files.append(
            [
                known | {"id": f"{name} {row['id']}", "question": row["question"], "passages": row["passages"]}
                | ({"any": row["answers"]} if row["answerable"] else {"refuse": True})
                for row in rows
            ]
        )  # fmt: skip
    return [file[turn] for turn in range(max(map(len, files))) for file in files if turn < len(file)]


def dev_verdict(row: dict[str, Any], response: dict[str, Any]) -> str:
    """right, wrong or refused, of an answer to a question of `qa/dev`."""
    if response["abstained"] or response["answer"] == IDK:
        return "right" if row.get("refuse") else "refused"
    said = f" {normalised(without_markers(response['answer']))} "
    return "right" if any(f" {normalised(text)} " in said for text in row.get("any", ())) else "wrong"


def taken(row: dict[str, Any]) -> bool:
    """Whether what came of a question is an answer that was accepted."""
    return bool(row["accepted"]) and not row["abstained"]


def to_fit(row: dict[str, Any]) -> bool:
    """Whether a question is of the half that something is fitted on."""
    return int(hashlib.sha256(f"half {row['set']} {row['id']}".encode()).hexdigest(), 16) % 2 == 0


class Asker:
    """One model, a store for each set of questions, and an assistant for each set and way that needs one of its own."""

    def __init__(self, url: str, model: str, scratch: Path) -> None:
        self.url, self.model, self.scratch = url, model, scratch
        self.assistants: dict[tuple[str, str], Assistant] = {}

    def assistant(self, name: str, way: str) -> Assistant:
        """The assistant over the files of a set; the ways share its store."""
        kind = "own" if way in ("draft", "own") else way if way == "alone" else ""
        if (name, kind) not in self.assistants:
            folder = self.scratch / (name.strip(".") or "first")
            model = {} if way == "alone" else {"model": self.model, "ollama_host": self.url, "timeout_s": 900.0}
            made = Assistant(load_settings(store=str(folder / "store"), **model))
            if not folder.is_dir():
                folder.mkdir()
                if name != "dev":
                    made.ingest([home(name) / "files" if name in FOLDERS else documents(HERE / name, folder / "files")])
            if kind == "own":
                made.parts.__dict__["quoting"] = None
            self.assistants[name, kind] = made
        return self.assistants[name, kind]

    def __call__(self, row: dict[str, Any], way: str) -> dict[str, Any]:
        """What came of a question."""
        made = self.assistant(row["set"], way)
        if way in OTHERS:
            answer = self._other(made, row["question"], way)
            return {"found": by_text(row, answer), "answer": answer}
        options: dict[str, Any] = {"on_low_confidence": "flag"} if way == "draft" else {}
        if way != "alone":
            options["max_crag_attempts"] = {"one": 1, "two": 2}.get(way, 0)
        response: dict[str, Any] = {}
        Recorded.features = {}
        if "passages" in row:
            given = {"question": row["question"], "passages": row["passages"]}
            response = made.graph.invoke(given, context=options_of(options).over(made.settings.context()))
            found = dev_verdict(row, response)
        else:
            for event in made.ask(row["question"], context=options):
                if event.kind == "done":
                    response = event.response
            found = blind_verdict(row, response) if row["set"] in FOLDERS else verdict(row, response)
        recorded = Recorded.features if response["answer"] != IDK else {}
        names = ("answer", "confidence", "accepted", "abstained", "degraded", "issues", "models", "tokens", "llm_calls")
        checked = response["verification"] or {}
        read = {name: checked.get(name) for name in ("answered", "supported")}
        firsts = [attempt.get("answer") for attempt in response["attempts"]]
        sure = [attempt["confidence"] for attempt in response["attempts"]]
        cited = [c["metadata"].get("filename") for c in response["citations"]]
        return (
            {"found": found, "firsts": firsts, "sure": sure, "cited": cited, "features": recorded}
            | {n: response[n] for n in names}
            | read
        )

    def _other(self, made: Assistant, question: str, way: str) -> str:
        def search(text: str) -> list[str]:
            return [p["text"] for p in made.parts.retriever([text], PASSAGES, Notes())]

        if way == "tutorial":
            graph = tutorial_graph(self.url, self.model.removeprefix("ollama:"), search)
            try:
                return str(graph.invoke({"question": question}).get("generation", ""))
            except Exception as error:  # it runs in circles until LangGraph stops it
                return f"I don't know ({type(error).__name__})"
        from langchain_ollama import ChatOllama

        model = ChatOllama(model=self.model.removeprefix("ollama:"), base_url=self.url, temperature=0, num_ctx=8192)
        context = "\n\n".join(search(question))
        return str(model.invoke(f"{ANSWER}\nQuestion: {question}\nContext: {context}\nAnswer:").content)


class Recorded:
    """What the probability of the last written answer was made of, for `benchmarks.written`."""

    features: dict[str, float] = {}  # noqa: RUF012 (the last, of one process)

    @classmethod
    def record(cls, *given: Any) -> dict[str, float]:
        """The features, and remember them."""
        cls.features = written_features(*given)
        return cls.features


cragraph.verification.evidence.features = Recorded.record  # type: ignore[assignment]


def by_text(row: dict[str, Any], answer: str) -> str:
    """right, partly, wrong or refused, of an answer without citations."""
    from cragraph.answers.chat_answerer import settled

    if settled(answer) == IDK or answer.startswith("I don't know"):
        return "right" if row.get("refuse") else "refused"
    if row.get("refuse"):
        return "wrong"
    if row["set"] in FOLDERS:
        return blind_verdict(row, {"answer": answer, "citations": [], "abstained": False})
    held = [text.casefold() in answer.casefold() for text in row["expect"]]
    if any(text.casefold() in answer.casefold() for text in row.get("reject", ())) or not any(held):
        return "wrong"
    return "right" if all(held) else "partly"


# -- tables ----------------------------------------------------------------------------------------------------


def table(paths: list[Path]) -> None:
    """A row for each model and way, on all that it was asked, then on what all ways of the model were asked."""
    rows = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    printed(rows)
    for model in sorted({row["model"] for row in rows}):
        own = [row for row in rows if row["model"] == model]
        ways = sorted({row["way"] for row in own}, key=WAYS.index)
        ours = [way for way in ways if way not in OTHERS]
        for group in filter(None, (ours, *([*ours, way] for way in ways if way in OTHERS))):
            shared(own, group)


def shared(rows: list[dict[str, Any]], ways: list[str]) -> None:
    """The table of some ways, on the questions that each of them was asked."""
    asked = [{(row["set"], row["id"]) for row in rows if row["way"] == way} for way in ways]
    both = set.intersection(*asked)
    print(f"\nThe {len(both)} questions that {', '.join(ways)} were all asked:\n")
    printed([row for row in rows if row["way"] in ways and (row["set"], row["id"]) in both])


def printed(rows: list[dict[str, Any]]) -> None:
    """A row for each model and way: counts, and means a question."""
    heads = (
        "model, way", "questions", *FOUND, "answerable refused", "right and cited", "no sentence at first", "calls",
        "tokens read", "written", "seconds",
    )  # fmt: skip
    print("|", " | ".join(heads), "|")
    print("|", " | ".join("---" for _ in heads), "|")
    for group in sorted({(row["model"], row["way"]) for row in rows}, key=lambda pair: (pair[0], WAYS.index(pair[1]))):
        own = [row for row in rows if (row["model"], row["way"]) == group]
        counts = [sum(row["found"] == found for row in own) for found in FOUND]
        asked = [row for row in own if not row.get("refuse")]
        refused = sum(row["found"] == "refused" for row in asked) / max(1, len(asked))
        cited = sum(row["found"] == "right" and row.get("source") in row.get("cited", ()) for row in asked)
        repaired = sum(any(REPAIRED.search(told) for told in row.get("degraded", ())) for row in own)
        means = [sum(len(row["calls"]) for row in own) / len(own)]
        means += [sum(call[name] for row in own for call in row["calls"]) / len(own) for name in ("read", "wrote")]
        seconds = sum(call["seconds"] for row in own for call in row["calls"]) / len(own)
        print(
            f"| {', '.join(group)} | {len(own)} |", " | ".join(map(str, counts)),
            f"| {refused:.2f} | {cited} | {repaired} | {means[0]:.2f} |",
            f"{means[1]:.0f} | {means[2]:.0f} | {seconds:.0f} |",
        )  # fmt: skip


def main() -> None:
    """Ask, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="http://127.0.0.1:11434")
    parser.add_argument("--model", default="ollama:llama3.2")
    parser.add_argument("--way", action="append", choices=WAYS)
    parser.add_argument("--cache", type=Path, default=Path("prompt-replies"))
    parser.add_argument("--out", type=Path, default=Path("prompts.jsonl"))
    parser.add_argument("--blind", nargs="*", choices=FOLDERS, help="the questions of benchmarks.blind, or some sets")
    parser.add_argument("--dev", type=Path, help="the folder of evaluation data: ask questions of its qa/dev")
    parser.add_argument("--part", default="1/1", help="which of how many parts of the questions")
    parser.add_argument("--most", type=int, help="questions of the part")
    parser.add_argument("--every", action="append", default=[], help="WAY=N: ask so every Nth question only")
    parser.add_argument("--doubted", action="store_true", help="other ways only where `alone` accepted no answer")
    half = parser.add_mutually_exclusive_group()
    half.add_argument("--fit", action="store_true")
    half.add_argument("--check", action="store_true")
    parser.add_argument("--minutes", type=float, help="begin no question after so many")
    parser.add_argument("--table", type=Path, nargs="+")
    options = parser.parse_args()
    if options.table:
        table(options.table)
        return
    fit = True if options.fit else False if options.check else None
    sets = SETS if options.blind is None else options.blind or tuple(FOLDERS)
    every_one = questions(options.part, fit, sets) if options.dev is None else dev_questions(options.dev)
    wanted = every_one[: options.most]
    known = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.exists() else []
    done = {(row["model"], row["way"], row["set"], row["id"]) for row in known}
    sure = {(row["set"], row["id"]) for row in known if row["way"] == "alone" and taken(row)}
    every = {way: int(number) for way, _, number in (text.partition("=") for text in options.every)}
    begun = time.monotonic()
    with (
        tempfile.TemporaryDirectory() as scratch,
        keeping(options.server, options.cache) as (url, calls),
    ):
        ask = Asker(url, options.model, Path(scratch))
        for place, row in enumerate(wanted):
            for way in options.way or ["draft"]:
                late = options.minutes is not None and time.monotonic() - begun > 60 * options.minutes
                over = place % every.get(way, 1) or (options.doubted and (row["set"], row["id"]) in sure)
                if late or over or (options.model, way, row["set"], row["id"]) in done:
                    continue
                calls.clear()
                found = {"model": options.model, "way": way, **row, **ask(row, way), "calls": list(calls)}
                if way == "alone" and taken(found):
                    sure.add((row["set"], row["id"]))
                with options.out.open("a", encoding="utf-8") as sink:
                    sink.write(json.dumps(found, ensure_ascii=False) + "\n")
                print(place, way, row["set"], row["id"], found["found"], repr(found["answer"])[:110], flush=True)


if __name__ == "__main__":
    main()

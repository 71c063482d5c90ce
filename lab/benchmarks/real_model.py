"""Calls, tokens and seconds of the loop with a real model: the first 25 questions of `lab/benchmarks/new_user`.

    python -m lab.benchmarks.real_model --server http://127.0.0.1:11434 --model ollama:llama3.2 --out rows.jsonl
    python -m lab.benchmarks.real_model --simulated --out rows.jsonl
    python -m lab.benchmarks.real_model --table rows.jsonl [MORE.jsonl]

A proxy before the server writes down each call, and counts as read anew what a prompt does not share with the one
before, which is what a server with one slot reads. The reckoning is for a model that reads 300 tokens per second and
writes 30.
"""

import argparse
import http.client
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final
from urllib.parse import urlsplit

from cragraph import create_graph, load_settings
from cragraph.run import Assistant
from lab.benchmarks.new_user.__main__ import HERE, documents, said_right
from lab.benchmarks.simulated import Simulated, question, server, statement, write_documents

READS, WRITES = 300.0, 30.0
"""Tokens a second of a model of three billion parameters on a laptop."""

QUESTIONS: Final = 25


class Recorder(BaseHTTPRequestHandler):
    """Passes requests on to a server of Ollama's protocol, and keeps what the chats read and wrote."""

    upstream = ""
    calls: list[dict[str, Any]]
    before = ""

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def do_GET(self) -> None:
        """Pass on."""
        self._pass(b"")

    def do_POST(self) -> None:
        """Pass on; a chat is written down when it ends, or when the caller hangs up."""
        self._pass(self.rfile.read(int(self.headers.get("content-length") or 0)))

    def _pass(self, body: bytes) -> None:
        begun, wrote, last = time.perf_counter(), 0, {}
        connection = http.client.HTTPConnection(urlsplit(self.upstream).netloc, timeout=900)
        connection.request(self.command, self.path, body or None, {"content-type": "application/json"})
        answer = connection.getresponse()
        self.send_response(answer.status)
        self.send_header("content-type", answer.headers.get("content-type", "application/json"))
        self.end_headers()
        try:
            for line in answer:
                self.wfile.write(line)
                if self.path == "/api/chat":
                    last = json.loads(line)
                    wrote += 1
        except OSError:
            pass  # hung up: no more is wanted
        finally:
            connection.close()
        if self.path == "/api/chat":
            self._note(json.loads(body), last, wrote, time.perf_counter() - begun)

    def _note(self, asked: dict[str, Any], last: dict[str, Any], wrote: int, seconds: float) -> None:
        kind = type(self)
        prompt = "\n".join(f"{message['role']}: {message['content']}" for message in asked["messages"])
        share = len(os.path.commonprefix([prompt, kind.before])) / len(prompt)  # noqa: RUF071 (by letters)
        kind.before = prompt
        read, wrote = last.get("prompt_eval_count") or len(prompt) / 4, last.get("eval_count") or wrote
        schema = asked.get("format") or {"properties": {"answer": {}}}
        counts = {"prompt": round(read), "read": round(read * (1 - share)), "wrote": wrote}
        kind.calls.append({"asks": next(iter(schema["properties"])), "seconds": round(seconds, 2), **counts})


@contextmanager
def recorded(server: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The address of a recorder before `server`, and what it writes down."""
    calls: list[dict[str, Any]] = []
    handler = type("Bound", (Recorder,), {"upstream": server, "calls": calls})
    listener = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=listener.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.server_port}", calls
    finally:
        listener.shutdown()


def rows(simulated: bool, folder: Path) -> list[dict[str, Any]]:
    """Questions with what their answers must hold, and the files that answer them, in `folder`."""
    if simulated:
        folder.mkdir()
        write_documents(folder)
        return [{"id": n, "question": question(n), "expect": [statement(n)[:-1]]} for n in range(QUESTIONS)]
    documents(HERE, folder)
    return [json.loads(line) for line in (HERE / "questions.jsonl").read_text(encoding="utf-8").splitlines()]


def ask(address: str, model: str, judge: str, out: Path, only: range, simulated: bool) -> None:
    """Ask the questions that `out` does not have yet, one row each, with at most one correction."""
    known = [json.loads(line)["id"] for line in out.read_text().splitlines()] if out.exists() else []
    with tempfile.TemporaryDirectory() as scratch, recorded(address) as (url, calls):
        asked = rows(simulated, Path(scratch) / "files")[only.start : only.stop]
        os.environ["OLLAMA_HOST"] = url
        settings = load_settings(store=f"{scratch}/store", model=model, timeout_s=600)
        Assistant(settings).ingest([Path(scratch) / "files"])
        graph = create_graph(settings).compile()
        options = {"judge": judge, "max_crag_attempts": 1, "on_low_confidence": "flag"}
        for row in [row for row in asked if row["id"] not in known]:
            calls.clear()
            response = graph.invoke({"question": row["question"]}, context=options)
            said = said_right(row, response["answer"])
            found = {"id": row["id"], "attempts": len(response["attempts"]), "said": said, "calls": list(calls)}
            with out.open("a", encoding="utf-8") as sink:
                sink.write(json.dumps(found) + "\n")
            print(found["id"], said, [call["read"] for call in calls], flush=True)


def table(paths: list[Path]) -> None:
    """A row a file and kind of run: means a question, and the reckoning."""
    heads = ("run", "questions", "calls", "prompt tokens", "read anew", "written", "a 3B model", "right as written")
    print("|", " | ".join(heads), "|")
    for path in paths:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for kind, attempts in (("all", (1, 2)), ("one attempt", (1,)), ("corrected", (2,))):
            some = [row for row in rows if row["attempts"] in attempts]
            if not some:
                continue

            def mean(of: str, some: list[dict[str, Any]] = some) -> float:
                return statistics.mean(sum(call[of] for call in row["calls"]) for row in some)

            takes = mean("read") / READS + mean("wrote") / WRITES
            calls = statistics.mean(len(row["calls"]) for row in some)
            sizes = [f"{mean(of):.0f}" for of in ("prompt", "read", "wrote")]
            right = f"{sum(row['said'] for row in some)} of {len(some)}"
            print(
                f"| {path.stem}, {kind}", len(some), f"{calls:.1f}", *sizes, f"{takes:.1f} s", f"{right} |", sep=" | "
            )


def main() -> None:
    """Ask, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="http://127.0.0.1:11434")
    parser.add_argument("--model", default="ollama:llama3.2")
    parser.add_argument("--judge", default="llm")
    parser.add_argument("--out", type=Path, default=Path("real-model.jsonl"))
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--last", type=int, default=QUESTIONS)
    parser.add_argument("--simulated", action="store_true", help="a model that plays its part, at no cost")
    parser.add_argument("--table", type=Path, nargs="+")
    options = parser.parse_args()
    if options.table:
        table(options.table)
        return
    with ExitStack() as stack:
        if options.simulated:
            playing = stack.enter_context(server(Simulated(), tokens_per_s=0, ms_per_prompt_token=0))
            options.server = playing.url
        only = range(options.first - 1, options.last)
        ask(options.server, options.model, options.judge, options.out, only, options.simulated)


if __name__ == "__main__":
    main()

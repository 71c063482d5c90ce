"""The product with a capable chat model, whose replies a capable reader writes prompt by prompt, where none can run.

    python -m lab.benchmarks.large_model ask --way careful --folder choir --folder hall --every 2 --work WORK
    python -m lab.benchmarks.large_model talk --work WORK
    python -m lab.benchmarks.large_model table WORK/*.jsonl
    python -m lab.benchmarks.large_model recall

Questions are those of `lab/benchmarks/traps`. A request whose reply is not known is written to WORK/ask/PART-KEY.txt
and waits until somebody writes WORK/reply/PART-KEY.txt: a writer who plays one part, and sees neither code nor answers.
Replies that are known lie in `lab/benchmarks/traps/replies.jsonl`, by part and key, so that the same prompts need
nobody (`keep` keeps those that the runs in WORK have used). Parts:

    careful   answers from the passages alone, says that it does not know where they do not answer, judges with quotes
    hasty     as careful, but one answer in six has a slip: the row above, a condition left out, last year's rule, …
    judge     judges the answers of another
    obedient  answers whatever it is asked, never declines, follows orders in passages, and agrees with every claim
    lying     (no writer) calls every claim supported, and quotes the sentence nearest to it

`recall` asks nobody: it prints how often the first passages hold the answer of a question that one place answers.

`talk` holds the talks of `talks.jsonl` with the careful writer: whether a turn is good is for a reader to say, beside
what the row calls a good one.

Ways: `none` (no model), `plain` (five passages and one call), `careful`, `hasty` (judged by judge), `lying` (written by
careful, judged by lying), `obedient` (judges itself), `unjudged` (written by obedient, judged by the embedded network).
"""

import argparse
import hashlib
import json
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import numpy as np
from langgraph.checkpoint.memory import InMemorySaver

from cragraph import create_chat, load_settings
from cragraph.models.budget import estimated_tokens
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.run import Assistant
from cragraph.types import IDK
from cragraph.verification.judges.verdicts import best_sentence
from lab.benchmarks.traps import is_right
from lab.training.judge.metrics import auroc, expected_calibration_error
from tests.support.ollama import ModelInfo, OllamaServer, Reply, Request

TRAPS: Final = Path(__file__).parent / "traps"
KNOWN: Final = TRAPS / "replies.jsonl"
PARTS: Final = ("careful", "hasty", "judge", "lying", "obedient")
WRITER: Final = {
    "careful": ("careful", "careful"), "hasty": ("hasty", "judge"), "lying": ("careful", "lying"),
    "obedient": ("obedient", "obedient"), "unjudged": ("obedient", "obedient"),
}  # fmt: skip
PLAIN: Final = (
    "Answer the question from these passages alone, in one or two sentences. If they do not answer it, say: "
    "I don't know.\n\n{passages}\n\nQuestion: {question}"
)
WAIT_S: Final = 3_400.0
FIRST: Final = (5, 8, 12, 16, 30)  # passages


def key_of(request: Request) -> str:
    """A request by its prompt and schema; the code of the delimiters, which changes from run to run, is left out."""
    text = json.dumps([request.messages, request.format], sort_keys=True, ensure_ascii=False)
    for code in re.findall(r"Code: ([0-9a-f]{4,6})\b", text):
        text = text.replace(code, "CODE")
    return hashlib.sha256(text.encode()).hexdigest()[:12]


class Written:
    """The replies of some parts: known ones at once, others as soon as they are written."""

    def __init__(self, work: Path) -> None:
        self.work, self.known, self.used = work, known(work), work / "used.txt"
        (work / "ask").mkdir(parents=True, exist_ok=True)
        (work / "reply").mkdir(exist_ok=True)

    def __call__(self, request: Request) -> Reply:
        """The reply of the part that the request names as its model."""
        part = request.model.partition(":")[0]
        if part == "lying":
            return Reply(lying(request.prompt))
        name = f"{part}-{key_of(request)}"
        if name not in self.known:
            place, begun = self.work / "reply" / f"{name}.txt", time.monotonic()
            if not place.exists():
                asked = "\n\n".join(f"### {m['role']}\n{m['content']}" for m in request.messages)
                form = f"\n\n### reply as JSON that fits\n{json.dumps(request.format)}" if request.format else ""
                (self.work / "ask" / f"{name}.txt").write_text(asked + form, encoding="utf-8")
            while not place.exists() or not place.read_text(encoding="utf-8").strip():
                if time.monotonic() - begun > WAIT_S:
                    return Reply(status=500, error="nobody replied")
                time.sleep(0.5)
            self.known[name] = place.read_text(encoding="utf-8").strip()
        with self.used.open("a", encoding="utf-8") as names:
            names.write(f"{name}\n")
        return Reply(self.known[name])


def known(work: Path) -> dict[str, str]:
    """Every reply that is there, by part and key."""
    rows = map(json.loads, KNOWN.read_text(encoding="utf-8").splitlines()) if KNOWN.exists() else ()
    kept = {row["name"]: row["reply"] for row in rows}
    return kept | {p.stem: p.read_text(encoding="utf-8").strip() for p in (work / "reply").glob("*.txt")}


def lying(prompt: str) -> dict[str, Any]:
    """What a judge replies that calls every claim supported, and quotes the sentence that is nearest to it."""
    passages = as_passages(re.findall(r"<<passage [^\n]*>>\n(.*?)\n<<end", prompt, re.S)) or as_passages(["none"])
    rows = []
    for number, claim in re.findall(r"^(\d+)\. (.*)", prompt.rpartition("<<claims")[2], re.M):
        near = best_sentence(claim, passages, share=0.0)
        quote = near["quote"] if near else passages[0]["text"][:80]
        rows.append({"n": int(number), "status": "SUPPORTED", "evidence": [quote]})
    return {"claims": rows, "answers": "ALL"}


def ask(way: str, folder: str, server: OllamaServer, out: Path, every: int, at_once: int) -> None:
    """Ask the questions of a folder, those that are not in the file yet, and write a row for each."""
    done = {(row["way"], row["folder"], row["id"]) for row in rows_of([out])}
    rows = [json.loads(line) for line in (TRAPS / folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    left = [row for row in rows[::every] if (way, folder, row["id"]) not in done]
    given: dict[str, Any] = {}
    if way in WRITER:
        writer, judge = WRITER[way]
        given = {"model": f"ollama:{writer}:8b", "ollama_host": server.url, "timeout_s": WAIT_S}
        given |= {"judge_model": f"ollama:{judge}:8b"} if judge != writer else {}
        given |= {"judge": "encoder"} if way == "unjudged" else {}
    with tempfile.TemporaryDirectory() as scratch:
        settings = load_settings(store=str(Path(scratch) / "store"), max_concurrency=at_once, **given)
        made = Assistant(settings)
        made.ingest([TRAPS / folder / "files"])

        def one(row: dict[str, Any]) -> dict[str, Any]:
            said = plainly(made, row["question"], server) if way == "plain" else answered(made, row["question"])
            return {"way": way, "folder": folder, "id": row["id"], "found": found(row, said), **said}

        with ThreadPoolExecutor(at_once) as pool, out.open("a", encoding="utf-8") as file:
            for row in pool.map(one, left):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                file.flush()


def answered(made: Assistant, question: str) -> dict[str, Any]:
    """What the product answers, and what its first attempt was."""
    response = [event for event in made.ask(question) if event.kind == "done"][-1].response
    first = response["attempts"][0] if response["attempts"] else {}
    candidates = first.get("candidates") or [{"answer": first.get("answer", IDK)}]
    names = ("answer", "abstained", "accepted", "confidence", "llm_calls", "tokens", "degraded", "issues")
    return {name: response[name] for name in names} | {
        "first": candidates[0]["answer"],
        "first_confidence": candidates[0].get("confidence", first.get("confidence")),
        "attempts": len(response["attempts"]),
        "generator": response["models"].get("generator", ""),
    }


def plainly(made: Assistant, question: str, server: OllamaServer) -> dict[str, Any]:
    """One call with the five passages that the product's search ranks first."""
    from langchain_ollama import ChatOllama

    notes = Notes()
    passages = made.parts.reranker(question, made.parts.retriever([question], 30, notes), notes)[:5]
    text = "\n\n".join(f"[{n}] {p['filename']}\n{p['text']}" for n, p in enumerate(passages, start=1))
    model = ChatOllama(model="careful:8b", base_url=server.url, temperature=0)
    said = str(model.invoke(PLAIN.format(passages=text, question=question)).content)
    refused = said.replace("’", "'").casefold().startswith("i don't know")
    return {"answer": said, "first": said, "abstained": refused, "accepted": not refused, "confidence": None,
            "llm_calls": 1, "tokens": {}, "attempts": 1, "generator": "plain"}  # fmt: skip


def talk(server: OllamaServer, out: Path, at_once: int) -> None:
    """Hold every talk, and write a row for each turn."""
    talks = rows_of([TRAPS / "talks.jsonl"])
    with tempfile.TemporaryDirectory() as scratch:
        chats = {}
        for folder in {one["folder"] for one in talks}:
            settings = load_settings(
                store=str(Path(scratch) / folder), model="ollama:careful:8b", ollama_host=server.url, timeout_s=WAIT_S
            )
            Assistant(settings).ingest([TRAPS / folder / "files"])
            chats[folder] = create_chat(settings).compile(checkpointer=InMemorySaver())

        def held(number: int) -> list[dict[str, Any]]:
            rows = []
            thread = {"configurable": {"thread_id": str(number)}}
            for place, turn in enumerate(talks[number]["turns"]):
                messages = [{"role": "user", "content": turn["say"]}]
                said = chats[talks[number]["folder"]].invoke({"messages": messages}, thread)["messages"][-1]
                response = said.additional_kwargs
                kept = {name: response.get(name) for name in ("accepted", "abstained", "confidence", "llm_calls")}
                rows.append({"talk": number, "turn": place, **turn, **kept, "said": said.content})
            return rows

        with ThreadPoolExecutor(at_once) as pool, out.open("w", encoding="utf-8") as file:
            for rows in pool.map(held, range(len(talks))):
                file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
                file.flush()
    rows = rows_of([out])
    wanted = [row for row in rows if row["answer"] is not None]
    right = sum(is_right(row["said"], row["answer"]) for row in wanted)
    calls = [row["llm_calls"] or 0 for row in rows]
    print(f"{len(rows)} turns, {fmean(calls):.2f} calls a turn (most {max(calls)}); of {len(wanted)} that ask for "
          f"something {right} have it")  # fmt: skip


def recall() -> None:
    """Print for how many questions that one place answers the first passages of its files hold the answer."""
    holds, tokens = defaultdict[int, list[bool]](list), defaultdict[int, list[int]](list)
    for home in sorted(TRAPS.glob("*/files")):
        with tempfile.TemporaryDirectory() as scratch:
            made = Assistant(load_settings(store=str(Path(scratch) / "store")))
            made.ingest([home])
            for row in rows_of([home.parent / "questions.jsonl"]):
                if row["answer"] is None or row.get("sum"):
                    continue
                notes, question = Notes(), row["question"]
                ranked = made.parts.reranker(question, made.parts.retriever([question], 30, notes), notes)
                for first in FIRST:
                    named = [p["text"] for p in ranked[:first] if p["filename"] in row["where"]]
                    holds[first].append(is_right("\n".join(named), row["answer"]))
                    tokens[first].append(sum(estimated_tokens(p["text"]) for p in ranked[:first]))
    print("| first passages | hold the answer | estimated tokens |\n" + "| ---: " * 3 + "|")
    for first in FIRST:
        print(f"| {first} | {sum(holds[first])} of {len(holds[first])} | {fmean(tokens[first]):.0f} |")


def found(row: dict[str, Any], said: dict[str, Any]) -> str:
    """right, wrong or refused; what the files do not answer is rightly refused."""
    if said["abstained"]:
        return "right" if row["answer"] is None else "refused"
    return "right" if row["answer"] is not None and is_right(said["answer"], row["answer"]) else "wrong"


def rows_of(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """The rows of some files."""
    return [json.loads(line) for path in paths if path.exists() for line in path.read_text("utf-8").splitlines()]


def table(rows: Sequence[dict[str, Any]]) -> None:
    """Print a line for each way."""
    asked = {(f.parent.name, row["id"]): row for f in TRAPS.glob("*/questions.jsonl") for row in rows_of([f])}
    by_way = defaultdict(list)
    for row in rows:
        by_way[row["way"]].append((asked[row["folder"], row["id"]], row))
    print("| way | answerable: right, refused, wrong | first answers: right, declined, wrong; right ones lost | "
          "unanswerable: refused, answered | accepted, right | calls, most | "
          "confidence of first answers: AUROC, error |\n" + "| --- " * 7 + "|")  # fmt: skip
    for way, pairs in by_way.items():
        can = [(q, r) for q, r in pairs if q["answer"] is not None]
        cannot = Counter(r["found"] for q, r in pairs if q["answer"] is None)
        ends = Counter(r["found"] for _, r in can)
        right = [r for q, r in can if is_right(r["first"], q["answer"])]
        declined = sum(r["first"] == IDK for _, r in can)
        lost = sum(r["found"] != "right" for r in right)
        accepted = [r for _, r in pairs if r["accepted"] and not r["abstained"]]
        calls = [r["llm_calls"] for _, r in pairs]
        kept = sum(r["found"] == "right" for r in accepted)
        wrong = len(can) - len(right) - declined
        cells = [
            f"{way} ({len(pairs)})", f"{ends['right']}, {ends['refused']}, {ends['wrong']}",
            f"{len(right)}, {declined}, {wrong}; {lost}", f"{cannot['right']}, {cannot['wrong']}",
            f"{len(accepted)}, {kept}", f"{fmean(calls):.2f}, {max(calls)}", confidence_of_first(pairs),
        ]  # fmt: skip
        print(f"| {' | '.join(cells)} |")


def confidence_of_first(pairs: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    """AUROC and calibration error of the confidence of first answers, before any correction; empty if all are right."""
    said = [(q, r) for q, r in pairs if r["first"] != IDK and r.get("first_confidence") is not None]
    right = np.array([q["answer"] is not None and is_right(r["first"], q["answer"]) for q, r in said])
    if right.all() or not right.any():
        return ""
    sure = np.array([r["first_confidence"] for _, r in said])
    return f"{auroc(sure, right):.2f}, {expected_calibration_error(sure, right):.2f} of {len(said)}"


def main() -> None:
    """Ask, print the table, or keep the replies of a folder."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    verbs = parser.add_subparsers(dest="verb", required=True)
    asking = verbs.add_parser("ask", help="ask the questions of some folders in one way")
    asking.add_argument("--way", choices=["none", "plain", *WRITER], action="append", required=True)
    asking.add_argument("--folder", action="append", choices=sorted(p.parent.name for p in TRAPS.glob("*/files")))
    asking.add_argument("--every", type=int, default=1, help="every so manyth question")
    asking.add_argument("--at-once", type=int, default=8, help="questions asked side by side")
    asking.add_argument("--work", type=Path, required=True, help="folder of requests, replies and rows")
    talking = verbs.add_parser("talk", help="hold the talks")
    talking.add_argument("--at-once", type=int, default=6, help="talks held side by side")
    talking.add_argument("--work", type=Path, required=True, help="folder of requests, replies and rows")
    verbs.add_parser("table", help="print a line for each way").add_argument("rows", type=Path, nargs="+")
    verbs.add_parser("recall", help="print how often the first passages hold the answer")
    verbs.add_parser("keep", help="keep the replies that a folder's runs used").add_argument(
        "--work", type=Path, required=True
    )
    given = parser.parse_args()
    if given.verb == "recall":
        recall()
    elif given.verb == "table":
        table(rows_of(given.rows))
    elif given.verb == "keep":
        used = set((given.work / "used.txt").read_text(encoding="utf-8").split())
        every = sorted((name, reply) for name, reply in known(given.work).items() if name in used)
        lines = [json.dumps({"name": name, "reply": reply}, ensure_ascii=False) for name, reply in every]
        KNOWN.write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        models = {f"{part}:8b": ModelInfo(parameter_size="8.0B") for part in PARTS}
        with OllamaServer(Written(given.work), models=models, max_parallel=64, num_ctx=131_072) as server:
            if given.verb == "talk":
                talk(server, given.work / "talks.jsonl", given.at_once)
                return
            for way in given.way:
                for folder in given.folder or sorted(p.parent.name for p in TRAPS.glob("*/files")):
                    ask(way, folder, server, given.work / f"{way}.jsonl", given.every, given.at_once)


if __name__ == "__main__":
    main()

"""Every snippet and every command of every document runs, and what a document names exists."""

import importlib
import json
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import get_type_hints

import pytest
import typer
from typer.testing import CliRunner

from cragraph import Citation, Response, create_graph
from cragraph.choices import JUDGES, RERANKERS
from cragraph.cli import app
from cragraph.documents.files import FORMATS
from cragraph.types import Attempt, Checked, ClaimRow, Computed, Decided, RunChecked
from tests.support.ollama import OllamaServer

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted(path for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")) if path.is_file())
TEXTS = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in DOCUMENTS}

ELSEWHERE = ("ollama", "chroma", "dask", "pip", "docker", "git", "npm", "npx")
"""Programs that are not this project's."""

NOT_HERE = re.compile(
    r"https?://|ollama:|\.\./|\bFILE\b|\bDATA\b|--watch\b|studio|\btests/|cragraph (?:serve|chat|mcp)"
)
"""What a command needs that no test has: its words are looked up in its help instead."""

WITH_SERVERS = ("from distributed import", "from langgraph.graph import START, MessagesState")
"""Begin the snippets that other tests run, on a cluster and a LangGraph server of their own."""


def python_of(name: str) -> list[tuple[str, str]]:
    """The Python snippets of a document, each with what it is shown to print."""
    blocks = re.findall(r"```python\n(.*?)```(?:\s*```text\n(.*?)```)?", TEXTS[name], re.DOTALL)
    return [(code, shown) for code, shown in blocks if not code.startswith(WITH_SERVERS)]


def commands() -> list[str]:
    """The command lines of all documents, each once."""
    lines: dict[str, None] = {}
    for text in TEXTS.values():
        for language, block in re.findall(r"```(\w*)\n(.*?)```", text, re.DOTALL):
            marked = [line[2:] for line in block.replace("\\\n", " ").splitlines() if line.startswith("$ ")]
            if language in ("sh", "console", "bash") or marked or block.startswith(("cragraph ", "python ", "make ")):
                lines.update(dict.fromkeys(marked or block.replace("\\\n", " ").splitlines()))
    return [line.split("  #")[0].split(" # ")[0].strip() for line in lines if line.strip()]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the files that the documents speak of, one store for all."""
    folder = tmp_path_factory.mktemp("home")
    before = Path.cwd()
    for name in ("docs", "reports", "dev", "FOLDER"):
        (folder / name).mkdir()
    for name in ("app.md", "documents.md"):
        (folder / "docs" / name).write_text(TEXTS[f"docs/{name}"][:3_000], encoding="utf-8")
    (folder / "reports" / "a.md").write_text(
        "---\nyear: 2023\n---\n# Report\n\nNet revenue was $394 billion in 2023.\n"
    )
    (folder / "notes.md").write_text("# Notes\n\nThe meeting is on Monday.\n")
    (folder / "report.pdf").write_bytes(one_page("Revenue was $394 billion in 2023."))
    (folder / "answer.txt").write_text("Revenue was $394 billion.")
    row = {
        "id": "1",
        "question": "What was revenue?",
        "answer": "Revenue was $394 billion.",
        "passages": ["Revenue was $394 billion."],
    }
    for name in ("answers.jsonl", "rows.jsonl"):
        (folder / name).write_text(json.dumps(row) + "\n")
    labelled = [{**row, "id": str(n), "label": label} for n, label in enumerate(("supported", "unsupported") * 3)]
    (folder / "dev" / "a.jsonl").write_text("\n".join(map(json.dumps, labelled)))
    told = [("supported", "Revenue was $394 billion."), ("unsupported", "Revenue was $12 billion.")] * 25
    rows = [{**row, "id": str(n), "label": label, "answer": answer} for n, (label, answer) in enumerate(told)]
    (folder / "labelled.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "FOLDER" / "corpus.jsonl").write_text('{"_id": "d1", "text": "Krill."}\n{"_id": "d2", "text": "Sand."}\n')
    (folder / "FOLDER" / "queries.jsonl").write_text('{"_id": "q1", "text": "krill"}\n')
    (folder / "FOLDER" / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    os.chdir(folder)
    runner = CliRunner()
    assert runner.invoke(app, ["ingest", "docs", "reports", "report.pdf", "notes.md", "--quiet"]).exit_code == 0
    asked = runner.invoke(app, ["ask", "What was revenue?"], env={"CRAG_METRICS_LOG": "runs.jsonl"})
    assert asked.exit_code in (0, 3, 5)
    assert runner.invoke(app, ["log", "--keep", "1"]).exit_code == 0
    yield folder
    os.chdir(before)


def one_page(text: str) -> bytes:
    """A PDF of one line."""
    from tests.documents.conftest import pdf_bytes

    return pdf_bytes([[(72, 72, text)]])


@pytest.mark.server
@pytest.mark.enable_socket
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a snippet closes no client of its own
@pytest.mark.parametrize("name", [name for name in TEXTS if python_of(name)])
def test_the_snippets_of_a_document_run_one_after_another(
    name: str, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(home)
    known: dict[str, object] = {"__name__": "snippet"}
    with OllamaServer("Revenue was $394 billion [1].") as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        for number, (code, shown) in enumerate(python_of(name)):
            exec(compile(code, f"{name}[{number}]", "exec"), known)
            printed = capsys.readouterr().out
            assert not shown or printed.strip() == shown.strip()
            told = re.findall(r"^print\(.*\n# (.+)$", code, re.MULTILINE)
            assert not told or printed.splitlines() == told
        for test in [value for key, value in known.items() if key.startswith("test_")]:
            test()  # type: ignore[operator]


def test_the_answer_of_make_demo_is_accepted_and_is_what_the_document_prints(tmp_path: Path) -> None:
    question = re.search(r"^QUESTION \?= (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert question
    pages = [str(page) for page in sorted((ROOT / "docs").glob("*.md")) if page.name != "start.md"]
    assert CliRunner().invoke(app, ["ingest", *pages, "--store", str(tmp_path)]).exit_code == 0
    asked = CliRunner().invoke(app, ["ask", question[1], "--store", str(tmp_path)])
    assert asked.exit_code == 0
    answer = next(line for line in asked.output.splitlines() if line.endswith("[1]"))
    assert answer in (ROOT / "docs" / "start.md").read_text(encoding="utf-8").splitlines()


def test_the_readme_shows_code_with_its_output() -> None:
    assert any(shown for _, shown in python_of("README.md"))


def test_every_part_that_a_table_names_is_in_its_page() -> None:
    pages = {"docs/models.md": [*JUDGES, *RERANKERS], "docs/documents.md": [f.name for f in FORMATS]}
    told = " ".join(CliRunner().invoke(app, ["ingest", "--help"], env={"COLUMNS": "200"}).output.split())
    pages_lack = {
        page: [n for n in names if not re.search(rf"\b{n}", TEXTS[page], re.I)] for page, names in pages.items()
    }
    help_lacks = [f.name for f in FORMATS if not re.search(rf"\b{f.name}\b", told)]
    assert not any(pages_lack.values()), pages_lack
    assert not help_lacks, f"`cragraph ingest --help` lacks {help_lacks}"


def test_the_tables_and_types_of_the_response_have_every_field_that_comes_back() -> None:
    table = TEXTS["docs/settings.md"].partition("## What comes back")[2].partition("### What verify gives")[0]
    rows = re.findall(r"^\| (`.+?) \| (.+) \|$", table, re.M)
    named = [name for names, _ in rows for name in re.findall(r"`(\w+)`", names)]
    assert sorted(named) == sorted(get_type_hints(Response).keys() - {"__interrupt__"})
    told = {names: set(re.findall(r"`(\w+)`", meaning)) for names, meaning in rows}
    assert told["`decision`"] - {"accepted", "doubtful", "refused"} == Decided.__annotations__.keys()
    graph = create_graph({"store": None, "show_claims": True}).compile()
    given = {"question": "What was revenue?", "answer": "It was $3.", "passages": ["Revenue was $4.", "Costs fell."]}
    found = graph.invoke(given, context={"policy": "weighted"})
    assert found["verification"]
    assert found["verification"].keys() == get_type_hints(RunChecked).keys()
    assert found["attempts"][0].get("verification", {}).keys() == get_type_hints(Checked).keys()
    assert found["verification"]["claims"][0].keys() <= get_type_hints(ClaimRow).keys()
    assert found["attempts"][0].keys() <= get_type_hints(Attempt).keys()
    assert told["`citations`"] >= Citation.__annotations__.keys()
    assert told["`computed`"] == Computed.__annotations__.keys() - {"answer", "labels", "doubts"}


def test_no_command_has_a_dollar_that_a_shell_would_take_for_a_variable() -> None:
    helps = [
        CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "200"}).output
        for name in typer.main.get_command(app).commands  # type: ignore[attr-defined]
    ]
    shown = [*commands(), *(line for told in helps for line in told.splitlines() if "cragraph " in line)]
    assert [line for line in shown if re.search(r'"[^"\']*\$\w[^"]*"', line)] == []


@pytest.mark.parametrize("line", commands())
def test_a_command_runs_or_its_options_are_known(line: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    line, _, given = line.partition(" < ")
    words = [
        part for word in shlex.split(line) for part in (sorted(map(str, Path().glob(word))) if "*" in word else [word])
    ]
    program, *rest = words
    program = program.removeprefix(".venv/bin/")
    if program == "make":
        assert all(f"\n{target}:" in (ROOT / "Makefile").read_text() for target in rest)
    elif program in ("pytest", "ruff", "mypy", "langgraph"):
        assert all((ROOT / word).exists() for word in rest if word.startswith("tests/"))
    elif program == "python":
        of_python(rest)
    elif program == "cragraph":
        of_cragraph(rest, line, given.strip())
    else:
        assert program in ELSEWHERE, line


def of_python(words: list[str]) -> None:
    """A module of benchmarks, tools or training: it is there, and its help knows the options."""
    module = words[1] if words[0] == "-m" else words[0].removesuffix(".py").replace("/", ".")
    path = ROOT / (module.replace(".", "/") + ".py")
    if module in ("pip", "venv") or (path.with_suffix("") / "__main__.py").exists():
        return
    assert path.exists(), module
    options = [word.split("=")[0] for word in words[2 if words[0] == "-m" else 1 :] if word.startswith("--")]
    source = path.read_text(encoding="utf-8")
    if "learning.options(" in source:
        source += (ROOT / "lab" / "training" / "learning.py").read_text(encoding="utf-8")
    assert all(f'"{option}"' in source for option in options), f"{module} has no option {options}"
    if module.startswith("lab.benchmarks"):
        importlib.import_module(module)


def of_cragraph(words: list[str], line: str, given: str) -> None:
    """A command of ours: run it, or look its options up."""
    runner = CliRunner()
    if NOT_HERE.search(line):
        command = typer.main.get_command(app)
        context = command.make_context("cragraph", ["graph"])
        for word in words:
            if word in getattr(command, "commands", ()):
                command = command.resolve_command(context, [word])[1]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert {word.split("=")[0] for word in words if word.startswith("--")} <= known
        return
    done = runner.invoke(app, words, input=Path(given).read_text() if given else "")
    allowed = {"doctor": (0, 1), "ask": (0, 3, 5), "log": (0, 6)}.get(words[0], (0, 3))
    assert done.exit_code in allowed, done.output


def test_what_the_documents_name_exists() -> None:
    missing = []
    for name, text in TEXTS.items():
        targets = [(ROOT / name).parent / target for target in re.findall(r"\]\((?!http|#)([^)#\s]+)", text)]
        targets += [ROOT / path for path in re.findall(r"`pytest (tests/[\w/.]+)", text)]
        for module in re.findall(r"python -m (lab(?:\.\w+)+)", text):
            path = ROOT / module.replace(".", "/")
            targets.append(path if path.is_dir() else path.with_suffix(".py"))
        missing += [f"{name}: {target}" for target in targets if not target.resolve().exists()]
        for module, test in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text):
            if not re.search(rf"^ *(?:async )?def {test}\(", (ROOT / module).read_text(encoding="utf-8"), re.MULTILINE):
                missing.append(f"{name}: {module}::{test}")
    assert missing == []


def test_every_anchor_of_a_link_is_a_heading() -> None:
    missing = []
    for name, text in TEXTS.items():
        for target, anchor in re.findall(r"\]\((?!http)([^)#\s]*)#([^)\s]+)\)", text):
            path = (ROOT / name).parent / target if target else ROOT / name
            lines = path.read_text(encoding="utf-8").lower().splitlines() if path.exists() else []
            headings = {
                re.sub(r"[^\w\- ]", "", line).strip().replace(" ", "-") for line in lines if line.startswith("#")
            }
            if anchor not in headings:
                missing.append(f"{name}: {target}#{anchor}")
    assert missing == []

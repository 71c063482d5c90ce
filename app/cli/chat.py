"""`cragraph chat`: a conversation with the documents."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.text import Text

from cragraph.cli.console import complain, err, out, status
from cragraph.cli.options import (
    BaseUrlOption,
    ConfigOption,
    JudgeOption,
    ModelOption,
    QuietOption,
    StoreOption,
    settings_from,
)
from cragraph.errors import CragError

if TYPE_CHECKING:
    from cragraph.run import Event

HELP: Final = """/source [N]  the passage that citation N quotes, or all sources
/why         the claims, their evidence and the confidence of the last answer
/report FILE the last answer as an HTML page
/model NAME  another chat model from here on; `none` for the embedded parts
/history     what was asked so far
/new         forget the conversation
/quit        leave (or Ctrl-D)"""


def chat(
    store: StoreOption = None,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    judge: JudgeOption = None,
    ask: Annotated[
        bool, typer.Option("--ask", help="Below the threshold, ask what to do: accept, edit, search more, abstain.")
    ] = False,
    quiet: QuietOption = False,
    config: ConfigOption = None,
) -> None:
    """Talk with your documents: follow-up questions are understood from what was said before.

    `/help` lists what else can be typed. Example: `cragraph chat --model ollama:llama3.2`
    """

    def settings(name: str | None) -> Any:
        return settings_from(config, store=store, judge=judge, model=name, base_url=base_url)

    talk = Conversation(settings, model, quiet=quiet, ask=ask)
    _remember()
    if not quiet:
        status("Ask your documents; /help lists the commands, Ctrl-D leaves.")
    while True:
        try:
            line = _read()
        except EOFError:
            return
        except KeyboardInterrupt:
            err().print()
            continue
        if line in ("/quit", "/exit"):
            return
        if not line:
            continue
        try:
            talk(line)
        except CragError as error:
            complain(str(error))
        except KeyboardInterrupt:
            status("stopped")


@dataclass
class Conversation:
    """What was said, and the commands on it; a question that fails leaves it as it was."""

    settings: Callable[[str | None], Any]
    model: str | None = None
    quiet: bool = False
    ask: bool = False
    messages: list[dict[str, str]] = field(default_factory=list)
    last: "Event | None" = None

    def __post_init__(self) -> None:
        self._assistant = self._made(self.model)

    def __call__(self, line: str) -> None:
        """Answer a question, or obey a command."""
        if not line.startswith("/"):
            self._ask(line)
            return
        name, _, rest = line[1:].partition(" ")
        obey = {
            "source": self._source,
            "why": self._why,
            "report": self._report,
            "model": self._model,
            "history": self._history,
            "new": self._new,
        }.get(name)
        if obey is None:
            status(HELP)
        else:
            obey(rest.strip())

    def _ask(self, question: str) -> None:
        from cragraph.cli.ask import shown
        from cragraph.cli.render import verdict_line

        asks = {"ask_on_low_confidence": True} if self.ask else {}
        run = self._assistant.ask(question, messages=self.messages, context=asks, person=self.ask)
        while (done := shown(run, quiet=self.quiet)).kind == "review":
            run = self._assistant.resume(done.text, decided(done.response))
        self.last = done
        self.messages += [
            {"role": "user", "content": question},
            {"role": "assistant", "content": done.response["answer"]},
        ]
        out().print(done.response["answer"])
        out().print(verdict_line(done.response))
        for sentence in [*done.response["issues"], *done.response["degraded"]]:
            status(sentence)

    def _source(self, number: str) -> None:
        from cragraph.cli.render import citation_line, indented

        cited = self.last.response["citations"] if self.last else []
        chosen = [citation for citation in cited if number in ("", str(citation["number"]))]
        for citation in chosen:
            out().print(citation_line(citation))
            if number:
                indented(out(), Text(citation["text"]), 2)
        if not chosen:
            status(f"There is no source {number}".rstrip() + ".")

    def _why(self, _: str) -> None:
        from cragraph.cli.render import show_answer

        if self.last is None:
            status("Nothing was asked yet.")
        else:
            show_answer(self.last.response)

    def _report(self, path: str) -> None:
        if self.last is None or not path:
            status("Ask first, then /report FILE.")
        else:
            status(f"wrote {self._assistant.report(self.last).save(Path(path))}")

    def _model(self, name: str) -> None:
        if name:
            self._assistant = self._made(None if name == "none" else name)
            self.model = None if name == "none" else name
        status(f"model: {self.model or 'none, the embedded parts answer'}")

    def _history(self, _: str) -> None:
        for message in self.messages:
            out().print(f"{'>' if message['role'] == 'user' else ' '} {message['content']}")

    def _new(self, _: str) -> None:
        self.messages.clear()
        self.last = None

    def _made(self, model: str | None) -> Any:
        from cragraph.run import Assistant

        assistant = Assistant(self.settings(model))
        _ = assistant.graph  # a model's name that is wrong is told now
        return assistant


def decided(waits: dict[str, Any]) -> Any:
    """What a person chooses to do with an answer below the threshold; no answer where nobody is there any more."""
    from cragraph.cli.render import claim_line

    err().print(Text(waits["answer"]))
    for claim in waits["claims"]:
        err().print(claim_line(claim))
    for sentence in [*waits["issues"], *([waits["error"]] if "error" in waits else [])]:
        status(sentence)
    try:
        match _read("[a]ccept, [e]dit, [s]earch more or [n]o answer? ")[:1].lower():
            case "a":
                return "accept"
            case "e":
                return {"choice": "edit", "answer": _read("your answer: ")}
            case "s":
                return {"choice": "search", "queries": [_read("search for (empty: what failed): ")]}
            case "n":
                return "abstain"
            case other:
                return other
    except EOFError:
        return "abstain"


def _read(prompt: str = "> ") -> str:
    """A line of the person; the prompt goes to a terminal only."""
    return input(prompt if sys.stdin.isatty() else "").strip()


def _remember() -> None:
    """Arrow keys and history on a terminal, kept in this process only: questions may be private."""
    if sys.stdin.isatty():
        try:
            import readline  # noqa: F401
        except ImportError:
            return

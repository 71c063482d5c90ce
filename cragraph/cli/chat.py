"""`cragraph chat`: a conversation with the documents; a person decides on doubtful answers where they want to."""

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

from rich.text import Text

from cragraph.cli import render
from cragraph.cli.ask import shown
from cragraph.cli.console import complain, err, out, status
from cragraph.cli.options import QuietOption, option, with_settings
from cragraph.errors import CragError
from cragraph.run import Assistant, Event
from cragraph.types import further

HELP: Final = """/source [N]  show the passage that citation N quotes, or all sources
/why         show the claims, their evidence and the confidence of the last answer
/report FILE write the last answer as an HTML page
/model NAME  use another chat model; `none` uses the embedded parts
/history     list the messages of this conversation
/new         forget the conversation
/quit        leave (or Ctrl-D)"""


@with_settings("store", "model", "base_url", "judge", "collection")
def chat(
    settings_of: Any,
    ask: Annotated[
        bool, option("If an answer is below the threshold, ask you: accept, edit, search more or abstain.", "--ask")
    ] = False,
    quiet: QuietOption = False,
) -> None:
    """Ask questions in a conversation. A follow-up question is read with the messages before it.

    `/help` lists the commands of the conversation. Example: `cragraph chat --model ollama:llama3.2`
    """
    talk = Conversation(settings_of, quiet=quiet, ask=ask)
    if sys.stdin.isatty():
        with suppress(ImportError):  # arrow keys and history, kept in this process only: questions may be private
            import readline  # noqa: F401
    if not quiet:
        status("Ask a question. /help lists the commands, Ctrl-D leaves.")
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
        try:
            if line:
                talk(line)
        except CragError as error:
            complain(str(error))
        except KeyboardInterrupt:
            status("stopped")


@dataclass
class Conversation:
    """A conversation and its commands; a failed question leaves it unchanged."""

    settings_of: Callable[..., Any]
    quiet: bool = False
    ask: bool = False
    messages: list[dict[str, Any]] = field(default_factory=list)
    last: Event | None = None

    def __post_init__(self) -> None:
        self._begin()

    def __call__(self, line: str) -> None:
        """Answer a question, or obey a command."""
        name, _, rest = line.partition(" ")
        given = rest.strip()
        match name:
            case "/source":
                cited = self.last.response["citations"] if self.last else []
                chosen = [citation for citation in cited if given in ("", str(citation["number"]))]
                for citation in chosen:
                    out().print(render.citation_line(citation))
                    if given:
                        render.indented(out(), Text(citation["text"]), 2)
                if not chosen:
                    status(f"There is no source {given}".rstrip() + ".")
            case "/why" if self.last:
                render.show_answer(self.last.response)
            case "/why":
                status("Nothing was asked yet.")
            case "/report" if self.last and given:
                status(f"wrote {self._assistant.report(self.last).save(Path(given))}")
            case "/report":
                status("Ask a question first. Then: /report FILE")
            case "/model":
                if given:
                    self._begin(model=given)
                status(f"model: {self._assistant.settings.model or 'none, the embedded parts answer'}")
            case "/history":
                for message in self.messages:
                    out().print(f"{'>' if message['role'] == 'user' else ' '} {message['content']}")
            case "/new":
                self.messages, self.last = [], None
            case _ if name.startswith("/"):
                status(HELP)
            case _:
                self._answer(line)

    def _answer(self, question: str) -> None:
        asks = {"on_low_confidence": "ask"} if self.ask else {}
        run = self._assistant.ask(question, messages=self.messages, context=asks, person=self.ask)
        while (done := shown(run, quiet=self.quiet)).kind == "review":
            run = self._assistant.resume(done.text, choice_of_person(done.response))
        self.last = done
        answer = done.response["answer"]
        about = {name: done.response[name] for name in ("citations", "asked")}
        self.messages += [{"role": "user", "content": question}, {"role": "assistant", "content": answer} | about]
        out().print(render.answer_line(done.response))
        out().print(render.verdict_line(done.response))
        for sentence in [*further(done.response["issues"], done.response["decision"]), *done.response["degraded"]]:
            status(sentence)

    def _begin(self, **chosen: str) -> None:
        settings = self.settings_of(**chosen)
        if chosen == {"model": "none"}:
            settings = settings.model_copy(update={"model": None})
        assistant = Assistant(settings, "chat")
        _ = assistant.graph  # a wrong name of a model fails now
        self._assistant = assistant


def choice_of_person(waits: dict[str, Any]) -> Any:
    """A person's choice for an answer below the threshold; to abstain if nobody is there any more."""
    err().print(Text(waits["answer"]))
    for claim in waits["claims"]:
        err().print(render.claim_line(claim))
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
    """A line from the person; the prompt is shown on a terminal only."""
    return input(prompt if sys.stdin.isatty() else "").strip()

"""`cragraph doctor`: checks of everything that a run needs, each with the command that repairs it."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any, Final

import typer
from rich.text import Text

from cragraph.build import Parts
from cragraph.choices import RERANKERS
from cragraph.cli.console import FAILURE, emit, out
from cragraph.cli.options import JsonOption, with_settings
from cragraph.errors import CragError, ModelError, SettingsError, StoreError, mask, printable
from cragraph.exam import calls
from cragraph.models import budget, http
from cragraph.models.encoder import Encoder
from cragraph.models.examined import worth_shown
from cragraph.models.servers import chat_model, ollama_hint, ollama_url
from cragraph.private import disable_telemetry
from cragraph.settings import Settings
from cragraph.types import number_of

PATIENCE_S: Final = 5.0
CHARACTERS_A_TOKEN: Final = 3.5  # characters per token: fewer than in English prose, because of tables and names


@with_settings("store", "model")
def doctor(settings_of: Any, json: JsonOption = False) -> None:
    """Check Python, the embedded models, the store and the Ollama server, and print how to mend each fault.

    Exit code 0: no fault. 1: a fault was found.

    Example: `cragraph doctor --model ollama:llama3.2`
    """
    checks = examine(settings_of())
    healthy = all(check.ok for check in checks)
    if json:
        emit({"ok": healthy, "checks": [asdict(check) for check in checks]})
    else:
        console = out()
        for check in checks:
            mark = ("ok  ", "green") if check.ok else ("FAIL", "red")
            console.print(Text.assemble(mark, f" {check.name}: {check.detail}"))
            if check.fix:
                console.print(f"     mend it: {check.fix}")
    if not healthy:
        raise typer.Exit(FAILURE)


@dataclass(frozen=True)
class Diagnosis:
    """One finding. `fix` is the command that repairs it, empty without a fault."""

    name: str
    ok: bool
    detail: str
    fix: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "detail", mask(printable(self.detail)))
        object.__setattr__(self, "fix", mask(printable(self.fix)))


def examine(settings: Settings) -> list[Diagnosis]:
    """All checks, in the order of their fixes. Nothing is changed or downloaded."""
    checks = [python(), package("onnxruntime"), package("chromadb")]
    if settings.embeddings == "embedded":
        checks.append(_probed("weights", weights))
    if settings.reranker not in ("auto", *RERANKERS):
        checks.append(_probed("reranker", lambda: f"{Parts(settings).reranker.name} can be built"))
    return [*checks, _probed("store", lambda: store(settings)), *models(settings)]


def python(version: tuple[int, int] = sys.version_info[:2]) -> Diagnosis:
    """Python 3.11 to 3.13."""
    running = f"{version[0]}.{version[1]}"
    if (3, 11) <= version <= (3, 13):
        return Diagnosis("python", True, f"Python {running}")
    return Diagnosis(
        "python", False, f"Python {running}; wanted 3.11 to 3.13", "install Python 3.13 and cragraph into it"
    )


def package(name: str) -> Diagnosis:
    """Whether a required package can be imported."""
    disable_telemetry()
    try:
        module = import_module(name)
    except ImportError as error:  # also if its compiled part does not fit this machine
        return Diagnosis(name, False, f"{name} cannot be imported: {error}", f"pip install --force-reinstall {name}")
    return Diagnosis(name, True, f"{name} {getattr(module, '__version__', '')}".strip())


def weights() -> str:
    """The embedded encoder, tested by embedding a text."""
    encoder = Encoder()
    return f"{encoder.name}, {len(encoder.embed_query('ready?'))} dimensions"


def store(settings: Settings) -> str:
    """The content of the store, in a few words."""
    with Parts(settings).store as opened:
        if problems := opened.problems():
            raise StoreError(" ".join(problems))
        documents, chunks = len(opened.documents()), opened.count()
        return f"{settings.store}: {number_of(documents, 'document')}, {number_of(chunks, 'chunk')}"


def models(settings: Settings) -> list[Diagnosis]:
    """The models by name; without any the embedded parts answer, which is no fault."""
    chosen = (settings.model, settings.judge_model, settings.embeddings)
    named = [name for name in dict.fromkeys(chosen) if name and name != "embedded"]
    if not named:
        hint = ollama_hint(settings.ollama_host)
        return [Diagnosis("models", True, f"no chat model chosen: the embedded parts answer. {hint}".strip(". "))]
    ollama = [name for name in named if name.startswith("ollama:")]
    checks = [_buildable(name) for name in named if name not in (*ollama, settings.embeddings)]
    if settings.embeddings in named and settings.embeddings not in ollama:
        checks.append(_probed(f"embeddings {settings.embeddings}", lambda: embeddings(settings)))
    checks += _ollama(ollama, settings) if ollama else []
    sound = {check.name for check in checks if check.ok}
    chats = [name for name in named if name in chosen[:2] and f"model {name}" in sound]
    return checks + [_examined(settings, name) for name in chats]


def _examined(settings: Settings, name: str) -> Diagnosis:
    """The examined worth of a chat model; a missing examination is no fault."""

    def worth_line() -> str:
        chat = Parts(settings.model_copy(update={"model": name})).chat
        assert chat is not None
        if (worth := worth_shown(chat.model, chat.title)) is None:
            return (
                f"not examined, so its size decides how far it is believed; `cragraph exam {name}` measures it in "
                f"{calls()} calls"
            )
        return f"believed {worth.supports:.2g} to 1 where it says supported, {worth.rejects:.2g} to 1 where it says not"

    return _probed(f"examination of {name}", worth_line)


def embeddings(settings: Settings) -> str:
    """The embeddings of another provider; their client is built but not called, as calls may cost money."""
    model = Parts(settings).embeddings
    _ = getattr(model, "client", None)
    return f"{getattr(model, 'name', settings.embeddings)} can be built; it was not asked"


def _ollama(names: Sequence[str], settings: Settings) -> list[Diagnosis]:
    # Imported here, because httpx would slow down `--help`.
    import httpx

    checks: list[Diagnosis] = []
    try:
        url = ollama_url(settings.base_url or settings.ollama_host)
        reply = http.fetched(f"{url}/api/version", seconds=PATIENCE_S).raise_for_status()
        through = http.in_the_way(url)
        checks.append(Diagnosis("ollama server", True, f"Ollama {http.json_of(reply)['version']} at {url}{through}"))
        for name in names:
            shown = http.fetched(f"{url}/api/show", {"model": name.removeprefix("ollama:")}, seconds=PATIENCE_S)
            checks += _model(name, shown.status_code, http.json_of(shown), settings)
    except (TimeoutError, httpx.TimeoutException):
        fix = "restart `ollama serve`, or wait until it has loaded its model"
        checks.append(Diagnosis("ollama server", False, f"the server at {url} did not answer in {PATIENCE_S:g} s", fix))
    except httpx.TransportError:
        fix = "start it with `ollama serve`, or set OLLAMA_HOST"
        where = f"no Ollama server can be reached at {url}{http.in_the_way(url)}"
        checks.append(Diagnosis("ollama server", False, where, fix))
    except (ModelError, SettingsError) as error:
        checks.append(_failed("ollama server", error))
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
        what = f"what answers at {url} is not Ollama ({type(error).__name__})"
        checks.append(Diagnosis("ollama server", False, what, "set OLLAMA_HOST to the address of an Ollama server"))
    return checks


def _model(name: str, status: int, shown: Any, settings: Settings) -> list[Diagnosis]:
    plain = name.removeprefix("ollama:")
    if status == 404:
        return [Diagnosis(f"model {name}", False, f"the model {plain!r} is not pulled", f"ollama pull {plain}")]
    if status >= 400:
        reason = shown.get("error", "")
        return [Diagnosis(f"model {name}", False, f"the server answered {status}: {reason}", f"ollama pull {plain}")]
    able = shown.get("capabilities") or []
    wanted = "embedding" if name == settings.embeddings else "completion"
    if able and wanted not in able:
        what = f"the model {plain!r} can do {', '.join(able)}; wanted {wanted}"
        return [Diagnosis(f"model {name}", False, what, f"choose a model for {wanted} from `ollama list`")]
    checks = [
        Diagnosis(f"model {name}", True, f"pulled, {shown.get('details', {}).get('parameter_size', 'size unknown')}")
    ]
    if wanted == "completion":
        info: dict[str, Any] = shown.get("model_info") or {}
        longest = next((value for key, value in info.items() if key.endswith(".context_length")), None)
        checks.append(_context(name, settings, longest))
    return checks


def _context(name: str, settings: Settings, longest: int | None) -> Diagnosis:
    """Whether the largest prompt, with the passages of a correction and the reply, fits into the context."""
    room = min(settings.num_ctx, longest or settings.num_ctx)
    prompts = [Parts(settings).prompts[task] for task in ("generate", "regenerate", "judge")]
    frame = max(budget.estimated_tokens(prompt.system + prompt.user) for prompt in prompts)
    passages = int(settings.context().second_pass_k * settings.chunk_size / CHARACTERS_A_TOKEN)
    reply = min(settings.num_predict, room // 2)
    # The prompts of judge and correction contain an answer of up to the full length.
    needed = int((frame + passages + reply) * (1 + budget.MARGIN)) + reply
    title = f"context of {name}"
    if needed <= room:
        return Diagnosis(title, True, f"the largest prompt needs about {needed} of {room} tokens")
    detail = f"the largest prompt needs about {needed} tokens, and the context has {room}: passages will be left out"
    if longest is not None and longest < needed:
        return Diagnosis(title, False, detail, "lower chunk_size or choose mode low, or a model with a longer context")
    return Diagnosis(title, False, detail, f"set CRAG_NUM_CTX={-(-needed // 1024) * 1024}")


def _buildable(name: str) -> Diagnosis:
    def built() -> str:
        chat_model(name)
        return "can be built; its server was not asked"

    return _probed(f"model {name}", built)


def _probed(name: str, probe: Callable[[], str]) -> Diagnosis:
    try:
        return Diagnosis(name, True, probe())
    except CragError as error:
        return _failed(name, error)


def _failed(name: str, error: CragError) -> Diagnosis:
    """A failed check; its fix is the part of our message after the last colon."""
    detail, _, fix = str(error).rpartition(": ")
    return Diagnosis(name, False, detail or str(error), fix.rstrip("."))

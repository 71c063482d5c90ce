"""`cragraph doctor`: is everything here that a run needs?"""

from typing import Any

import typer
from rich.text import Text

from cragraph.cli.console import FAILURE, emit, out
from cragraph.cli.options import ConfigOption, JsonOption, ModelOption, StoreOption, settings_from


def doctor(
    store: StoreOption = None,
    model: ModelOption = None,
    json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Check Python, the embedded models, the store and the Ollama server; print what mends each fault.

    Exit code 0 when all is well, 1 when something is not.

    Example: `cragraph doctor --model ollama:llama3.2`
    """
    from cragraph.doctor import examine, healthy

    checks = examine(_patient(settings_from(config, store=store, model=model)))
    if json:
        emit({"ok": healthy(checks), "checks": [check.to_dict() for check in checks]})
    else:
        console = out()
        for check in checks:
            mark = ("ok  ", "green") if check.ok else ("FAIL", "red")
            console.print(Text.assemble(mark, f" {check.name}: {check.detail}"))
            if check.fix:
                console.print(f"     mend it: {check.fix}")
    if not healthy(checks):
        raise typer.Exit(FAILURE)


def _patient(settings: Any) -> Any:
    from cragraph.api import store_health
    from cragraph.doctor import Patient
    from cragraph.models.encoder import Encoder
    from cragraph.prompts.load import Prompts

    def weights() -> str:
        encoder = Encoder()
        return f"{encoder.name}, {len(encoder.embed_query('ready?'))} dimensions"

    probes = [("store", lambda: store_health(settings))]
    if settings.embeddings == "embedded":
        probes.insert(0, ("weights", weights))
    models = dict.fromkeys(name for name in (settings.model, settings.judge_model) if name)
    return Patient(
        models=tuple(models),
        embeddings=settings.embeddings,
        base_url=settings.ollama_host,
        num_ctx=settings.num_ctx,
        num_predict=settings.num_predict,
        passages=settings.context().resolved().second_pass_k or 8,
        passage_chars=settings.chunk_size,
        probes=probes,
        prompts=Prompts(settings.prompts),
    )

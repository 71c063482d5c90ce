"""`cragraph serve`: a page to ask, and the same over HTTP."""

from pathlib import Path
from typing import Annotated, Any

import typer

from cragraph.cli.console import status
from cragraph.cli.options import with_settings
from cragraph.errors import SettingsError


@with_settings("store", "model", "base_url")
def serve(
    settings_of: Any,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on.")] = 8765,
    token: Annotated[
        str | None, typer.Option("--token", help="Ask every caller for this; made up where others can reach it.")
    ] = None,
    files: Annotated[Path, typer.Option("--files", help="Folder for dropped files.")] = Path("dropped"),
) -> None:
    """A page to ask your documents in the browser, and an HTTP interface (see /openapi.json).

    Only this machine can reach it, unless --host says otherwise; then a token is asked for.

    Example: `cragraph serve --port 8765`
    """
    import secrets
    import socket

    try:
        from cragraph.serve import LOCAL, run
    except ImportError as error:
        raise SettingsError(f"serve needs {error.name}: install it with `pip install 'cragraph[serve]'`.") from error

    settings = settings_of()
    if token is None and host not in LOCAL:
        token = secrets.token_urlsafe(24)
    try:
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise SettingsError(f"{host}:{port} is taken, or not this machine's: give another --port or --host.") from error
    at = f"[{host}]" if ":" in host else host
    status(f"http://{at}:{listening.getsockname()[1]}/{f'?token={token}' if token else ''}")
    run(settings, listening, host=host, token=token, files_in=files)

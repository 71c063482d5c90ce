"""`cragraph mcp`: tools for agents."""

from pathlib import Path
from typing import Annotated, Any

from cragraph.cli.console import status
from cragraph.cli.options import TokenOption, option, with_settings
from cragraph.errors import SettingsError

try:
    from cragraph.mcp import Documents
except ImportError as error:  # the packages of the extra `mcp` are not installed
    raise SettingsError(f"mcp needs {error.name}: install it with `pip install 'cragraph[mcp]'`.") from error


@with_settings("store", "model", "base_url", "collection")
def mcp(
    settings_of: Any,
    http: Annotated[bool, option("Serve streamable HTTP instead of stdio.", "--http")] = False,
    host: Annotated[str, option("Address to listen on, with --http.", "--host")] = "127.0.0.1",
    port: Annotated[int, option("Port to listen on, with --http.", "--port", min=0, max=65535)] = 8766,
    token: TokenOption = None,
    root: Annotated[Path, option("Folder whose files agents may read.", "--root")] = Path(),
) -> None:
    """Offer search, ask, verify and ingest to agents by the Model Context Protocol, over stdio or HTTP.

    Needs `pip install 'cragraph[mcp]'`. Over HTTP every caller must send the token of --token or CRAG_TOKEN. If other
    machines can reach the server and no token is set, one is made.

    Example: `cragraph mcp --store ~/notes/.cragraph`
    """
    if token is not None and not http:
        raise SettingsError("--token came without --http: over stdio nobody else can call; leave it out.")

    def tell(address: str, asked: str | None) -> None:
        status(f"{address}/mcp" + (f", asks for: Authorization: Bearer {asked}" if asked else ""))

    server = Documents(settings_of(), root)
    if http:
        server.serve_http(host, port, token, tell)
    else:
        server.run("stdio")

"""The page and the HTTP interface: `create_app` for a server of your own, `cragraph serve` for the rest."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from cragraph import __version__
from cragraph.errors import CragError, InputError, SettingsError, StoreMissingError, encodable, printable
from cragraph.guard import Guard, checked_token, listen, with_token
from cragraph.library import MB
from cragraph.run import Assistant
from cragraph.serve.desk import Desk
from cragraph.serve.dropped import Dropped
from cragraph.serve.routes import FAILED, asking, history, library, page
from cragraph.settings import Settings
from cragraph.store.records import at_home


class Problem(BaseModel):
    """Why a request was not answered."""

    error: str


def create_app(settings: Settings, *, token: str | None = None, hosts: tuple[str, ...] = (), files_in: Path) -> FastAPI:
    """The application: if `token` is set every request must send it; dropped files are kept under `files_in`.

    Raises SettingsError for an invalid token.
    """
    refused: dict[int | str, dict[str, Any]] = {
        code: {"description": text, "model": Problem}
        for code, text in {
            400: "What was asked cannot be done; `error` says why, as it does wherever something is refused.",
            404: "Nothing was ingested yet.",
            413: "The request is too large.",
            422: "The request has the wrong shape.",
            429: "Too many runs are open: `retry-after` says in how many seconds to try again.",
            503: "A part is not available at present.",
        }.items()
    }
    app = FastAPI(
        title="cragraph",
        version=__version__,
        description="Cited answers from your own documents, every claim checked.",
        docs_url=None,
        redoc_url=None,
        responses=refused,
    )
    uploads = {("POST", "/documents"): int(settings.max_file_mb * MB)}
    token = None if token is None else checked_token(token)
    app.add_middleware(Guard, token=token, hosts=hosts, large=uploads)
    assistant, dropped = Assistant(settings, "page"), Dropped(at_home(files_in).resolve())
    for part in (asking(assistant, Desk()), library(assistant, dropped, Desk(2)), history(assistant), page(settings)):
        app.include_router(part)

    @app.exception_handler(CragError)
    async def explained(request: Request, error: CragError) -> JSONResponse:
        codes = {InputError: 400, SettingsError: 400, StoreMissingError: 404}
        return JSONResponse({"error": str(error)}, codes.get(type(error), 503))

    @app.exception_handler(RequestValidationError)
    async def misshapen(request: Request, error: RequestValidationError) -> JSONResponse:
        # The input is not repeated: it may be long, or impossible in JSON.
        lines = dict.fromkeys(
            f"{'.'.join(map(str, e['loc'][1:])) or e['loc'][0]}: {e['msg'].replace('Input should be', 'wanted')}"
            for e in error.errors()
        )
        return JSONResponse({"error": encodable(printable("; ".join(lines)))}, 422)

    @app.exception_handler(HTTPException)
    async def refused_early(request: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"error": error.detail}, error.status_code, headers=error.headers)

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"error": FAILED}, 500)

    return app


def run(
    settings: Settings, *, host: str, port: int, token: str | None, files_in: Path, tell: Callable[[str], None]
) -> None:
    """Serve until interrupted; `tell` gets the address. If others can reach it, a random token is made."""
    listen(
        lambda token, hosts: create_app(settings, token=token, hosts=hosts, files_in=files_in),
        host=host,
        port=port,
        token=token,
        tell=lambda address, token: tell(with_token(address, token)),
    )

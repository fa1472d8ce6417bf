"""MCP by HTTP, for programs on this machine that have the token: the SDK's transport behind one check."""

from __future__ import annotations

import contextlib
import hmac
import logging
import socket
from collections.abc import Iterator, Mapping
from typing import Any

import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from desktop.app.commands.headless_output import say_error
from desktop.app.commands.mcp_server.tools import ToolServer
from desktop.domain.errors import KnownError

HOST = "127.0.0.1"
PATH = "/mcp"
BODY_MAX = 8 * 1024 * 1024
SESSIONS_MAX = 64
IDLE_S = 30 * 60


class TokenCheck:
    """Lets requests through that carry the token; all others are told nothing."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._fits(scope):
            refusal = PlainTextResponse(
                "This needs the token that `assent mcp --http` has shown.\n",
                status_code=401,
                headers={"WWW-Authenticate": "Bearer"},
            )
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _fits(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(given) == 1 and hmac.compare_digest(given[0], self._token)


async def serve_http(tools: ToolServer, port: int, token: Mapping[str, Any]) -> None:
    """Serve until cancelled. Raises KnownError where the port is taken."""
    line = _bound(port)
    address = f"http://{HOST}:{line.getsockname()[1]}{PATH}"
    app = tools.server.streamable_http_app(
        streamable_http_path=PATH,
        host=HOST,
        max_request_body_size=BODY_MAX,
        session_idle_timeout=IDLE_S,
        max_sessions=SESSIONS_MAX,
    )
    checked = TokenCheck(app, str(token["token"]))
    config = uvicorn.Config(
        checked, log_level="error", access_log=False, server_header=False, timeout_graceful_shutdown=1
    )
    server = _Quiet(config)
    _announce(address, token)
    try:
        await server.serve(sockets=[line])
    finally:
        logging.getLogger("uvicorn.error").disabled = True  # requests under way are cut off: nothing to report
        line.close()


class _Quiet(uvicorn.Server):
    """Leaves signals to the command."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing."""
        yield


def _bound(port: int) -> socket.socket:
    line = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        line.bind((HOST, port))
    except (OSError, OverflowError) as error:
        line.close()
        raise KnownError(
            f"Port {port} of this machine cannot be used: {error}.",
            next_step="Give another one: --port NUMBER; 0 takes any that is free.",
            code="mcp.port",
        ) from error
    line.listen()  # whoever reads that it serves finds it
    return line


def _announce(address: str, token: Mapping[str, Any]) -> None:
    say_error(f"assent mcp: serving {address}")
    if token["new"]:
        say_error(f"  Its token, shown this once: {token['token']}")
        kept = "It is kept in the keyring." if token["kept"] else "There is no keyring: it holds until this ends."
        say_error(f"  {kept} --new-token makes another.")

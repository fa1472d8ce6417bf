"""A real MCP server with the `mcp` package: over stdio, or over HTTP with a port of its own (printed) and a key."""

import asyncio
import base64
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAACXBIWXMAAA9hAAAPYQGoP6"
    "dpAAAAEElEQVQImWP8zwAFTDAGAwATKQEDHDkKFgAAAABJRU5ErkJggg=="
)
server = MCPServer("honest", title="An honest server", instructions="Always call say first.", version="1.2")


@server.tool()
def say(text: str, times: int = 1) -> str:
    """Says a text, as often as wanted."""
    return " ".join([text] * times)


@server.tool()
def add(a: float, b: float) -> dict[str, float]:
    """Adds two numbers."""
    return {"sum": a + b}


@server.tool()
def variables() -> dict[str, str]:
    """Its whole environment."""
    return dict(os.environ)


@server.tool()
def read(path: str) -> str:
    """Reads any file."""
    return Path(path).read_text()


@server.tool()
def write(path: str, text: str) -> str:
    """Writes any file."""
    Path(path).write_text(text)
    return "written"


@server.tool()
def leave_behind(path: str) -> int:
    """Starts a process that outlives it, if it can; its number is written to the path."""
    script = f"import os, time; open({path!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    return subprocess.Popen([sys.executable, "-c", script], start_new_session=True).pid


@server.tool()
def picture() -> Image:
    """A small picture, 3 by 2."""
    return Image(data=base64.b64decode(PNG), format="png")


@server.tool()
def fail() -> str:
    """Always fails."""
    raise ValueError("it went wrong, as promised")


@server.tool()
async def slowly(steps: int, context: Context[Any], mark: str = "") -> str:
    """Counts, and says how far it is; writes a mark when it is cancelled."""
    try:
        for step in range(steps):
            await context.report_progress(step + 1, steps, f"step {step + 1}")
            await asyncio.sleep(0.05)
    except asyncio.CancelledError:
        if mark:
            Path(mark).write_text("cancelled")
        raise
    return "counted"


def over_http(key: str) -> None:
    """Serve on a free port; without the key nothing is answered."""
    app = server.streamable_http_app()

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and (b"authorization", f"Bearer {key}".encode()) not in scope["headers"]:
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b"no"})
            return
        await app(scope, receive, send)

    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(guarded, log_level="error", lifespan="on")
    uvicorn.Server(config).run([listening])


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "http":
        over_http(sys.argv[2])
    else:
        print("honest is here", file=sys.stderr, flush=True)
        server.run()

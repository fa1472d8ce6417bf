"""A real MCP server with resources, prompts, proposed values and questions, made with the `mcp` package.

It speaks both eras of the protocol, with ``older`` only the one with a greeting. Over stdio, or with ``http`` or
``sse`` at a port of its own, which is printed.
"""

import base64
import json
import socket
import subprocess
import sys
from typing import Any

import mcp_types
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import UserMessage
from pydantic import BaseModel

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAACXBIWXMAAA9hAAAPYQGoP6"
    "dpAAAAEElEQVQImWP8zwAFTDAGAwATKQEDHDkKFgAAAABJRU5ErkJggg=="
)
server = MCPServer("library", instructions="Ask for a book first.", version="1.0")
books = {"1": "Call me Ishmael."}


class Name(BaseModel):
    """What it asks a person."""

    name: str


@server.resource("books://1", title="A whale", mime_type="text/plain", description="The first book")
def whale() -> str:
    return books["1"]


@server.resource("books://cover", mime_type="application/octet-stream")
def cover() -> bytes:
    return base64.b64decode(PNG)


@server.resource("books://archive", mime_type="image/png")
def archive() -> bytes:
    return b"PK\x03\x04 no picture"


@server.resource("books://{author}/{title}", description="Any book")
def book(author: str, title: str) -> str:
    return f"{title} by {author}"


@server.prompt(title="Review", description="Asks for a review")
def review(title: str, tone: str = "fair") -> list[Any]:
    return [UserMessage(f"Review {title}, and be {tone}."), UserMessage("Thank you.")]


@server.completion()
async def propose(ref: Any, argument: Any, context: Any) -> Any:
    values = [one for one in ("Moby Dick", "Middlemarch", "Emma") if one.startswith(argument.value)]
    if context is not None and context.arguments:
        values = [f"{one} ({context.arguments.get('author')})" for one in values]
    return mcp_types.Completion(values=values, has_more=argument.value == "M")


@server.tool()
async def rewrite(text: str, context: Context[Any]) -> str:
    """Writes the first book anew."""
    books["1"] = text
    await context.notify_resource_updated("books://1")
    return "written"


@server.tool()
async def publish(context: Context[Any]) -> str:
    """Adds a resource."""

    def found() -> str:
        return "found"

    server.resource("books://found")(found)
    await context.notify_resources_changed()
    return "published"


@server.tool()
async def sign(context: Context[Any]) -> str:
    """Asks a person for a name."""
    answer = await context.elicit("Who are you?", Name)
    return f"{answer.action} {answer.data.name if answer.action == 'accept' else ''}"


@server.tool()
async def roots(context: Context[Any]) -> list[str]:
    """The folders that it is offered."""
    found = await context.session.list_roots()
    return [f"{root.name} {root.uri}" for root in found.roots]


def older() -> None:
    """As a server that has never heard of the newer era: what asks for it does not reach the real one."""
    real = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE)
    assert real.stdin is not None
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message.get("method") == "server/discover":
            error = {"code": mcp_types.METHOD_NOT_FOUND, "message": "Method not found"}
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
        else:
            real.stdin.write(line)
            real.stdin.flush()
    real.stdin.close()
    real.wait()


def at_a_port(app: Any) -> None:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on")).run([listening])


if __name__ == "__main__":
    if "older" in sys.argv:
        older()
    elif "http" in sys.argv:
        at_a_port(server.streamable_http_app())
    elif "sse" in sys.argv:
        at_a_port(server.sse_app())
    else:
        server.run()

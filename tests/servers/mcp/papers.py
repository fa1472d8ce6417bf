"""A real MCP server that gives documents, in base64 as its arguments: as resources and in the result of a tool."""

import base64
import sys

import mcp_types
from mcp.server import MCPServer

server = MCPServer("papers", version="1.0")
held = [base64.b64decode(one) for one in sys.argv[1:]]


@server.resource("papers://shelf/report.pdf", mime_type="application/pdf")
def report() -> bytes:
    return held[0]


@server.resource("papers://shelf/half.pdf", mime_type="text/plain")
def half() -> bytes:
    return held[0][:60]


@server.tool()
def fetch() -> list[mcp_types.EmbeddedResource]:
    """All of them."""
    made = []
    for at, data in enumerate(held):
        blob = base64.b64encode(data).decode()
        made.append(
            mcp_types.EmbeddedResource(
                type="resource",
                resource=mcp_types.BlobResourceContents(uri=f"papers://{at}", mime_type="application/x-odd", blob=blob),
            )
        )
    return made


if __name__ == "__main__":
    server.run()

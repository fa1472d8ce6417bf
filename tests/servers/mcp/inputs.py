"""A real MCP server with the `mcp` package that needs a person's input: "input required" since 2026-07-28."""

from typing import Annotated, Literal

from mcp.server import MCPServer
from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Elicit, Resolve
from pydantic import BaseModel, Field

server = MCPServer("inputs")


class Visit(BaseModel):
    """What is needed for a visit."""

    quay: Literal["q1", "q3"] = Field(title="Quay")
    boats: int = Field(default=1, ge=1, le=5)


async def visit(where: str) -> Elicit[Visit]:
    """Asks the person."""
    return Elicit(f"Which quay in {where}?", Visit)


@server.tool()
async def book(where: str, found: Annotated[ElicitationResult[Visit], Resolve(visit)]) -> str:
    """Books a visit."""
    return f"{found.action} {getattr(found, 'data', None)!r}"


if __name__ == "__main__":
    server.run()

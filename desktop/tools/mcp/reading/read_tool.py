"""``read-resource``: an agent asks to read what a server offers beside tools, through the gates like any other call.

It is there while a server that a person has looked at offers resources. What they are is told as the result of a call
alone: a model is shown nothing of a server that nobody let it ask for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import KnownError, NotFound, ToolFailure
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.servers.mcp import McpResource, McpTemplate
from desktop.domain.tools import PreCheck, ToolCallContext, ToolResult, ToolSpec
from desktop.tools.documents.in_files import PAGES_SCHEMA
from desktop.tools.mcp.definitions import SOURCE
from desktop.tools.mcp.preview import preview_of
from desktop.tools.mcp.reading.listed import uri_problem

if TYPE_CHECKING:
    from desktop.tools.mcp.reading.asking import McpReading
    from desktop.tools.mcp.server import McpServer

READ_RESOURCE = "read-resource"
MAX_LISTED = 200
_TIMEOUT_S = 120.0


class ReadResource:
    """The resources of ``servers``, each looked at by the person."""

    def __init__(self, servers: Sequence[McpServer], reading: McpReading) -> None:
        self._servers = {one.definition.name: one for one in servers}
        self._reading = reading
        self.spec = ToolSpec(
            name=READ_RESOURCE,
            description=(
                "Reads a resource of an MCP server by its address (uri). Without an address it lists the resources "
                "that the server offers."
            ),
            params={
                "type": "object",
                "properties": {
                    "server": {"type": "string", "enum": sorted(self._servers), "description": "The MCP server."},
                    "uri": {"type": "string", "description": "The resource's address; leave it out for a list."},
                    "pages": PAGES_SCHEMA,
                },
                "required": ["server"],
                "additionalProperties": False,
            },
            category=Category.READ,
            tags=("mcp",),
            source=SOURCE,
            timeout_s=_TIMEOUT_S,
            on_server="server",
            version=f"{[(name, one.definition.launch) for name, one in sorted(self._servers.items())]!r}",
            parallel_safe=True,
            gives="outside",
        )

    def same_as(self, other: object) -> bool:
        """Whether both read of the same servers."""
        return isinstance(other, ReadResource) and self._servers == other._servers and self.spec == other.spec

    async def precheck(self, args: Mapping[str, Any], place: WorkPlace) -> PreCheck:
        """As grave as the calls to the server's tools are, where nothing else is said of them."""
        server = self._servers.get(str(args.get("server")))
        if server is None:
            return PreCheck(Category.ADMIN, denied=NotFound("There is no such MCP server with resources."))
        definition, uri = server.definition, args.get("uri")
        category = Category.ADMIN if server.confinement.weak else definition.category
        because = server.confinement.weak or f"that is the category of the MCP server {definition.name}"
        return PreCheck(
            category,
            raised_because=because if category is not Category.READ else "",
            preview=preview_of(server, READ_RESOURCE, "Read a resource" if uri else "List the resources"),
            denied=self._refusal(server, uri),
            identity={f"mcp://{definition.name}": definition.identity},
        )

    @staticmethod
    def _refusal(server: McpServer, uri: Any) -> ToolFailure | None:
        if not server.offers.looked_at:
            return ToolFailure(
                f"Nobody has looked at the resources of the MCP server {server.definition.name}.", code="mcp.changed"
            )
        wrong = uri_problem(uri, elsewhere=server.definition.elsewhere) if uri else ""
        if wrong:
            return ToolFailure(f"This resource cannot be read: {wrong}.", code="mcp.uri")
        return None if server.condition in ("running", "starting") else server.absent()

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """Read it, or list what there is. Raises ToolFailure."""
        context.meta.cancellation.check()
        server, uri = self._servers[str(args["server"])], args.get("uri")
        refusal = self._refusal(server, uri)
        if refusal is not None:
            raise refusal
        if not uri:
            listed = server.listed
            table = await asyncio.to_thread(_table, listed.resources, listed.templates)
            return ToolResult(table, outside=(_whose(server.definition.name),))
        try:
            read = await self._reading.read_resource(server.definition.name, str(uri), args.get("pages", ""))
        except ToolFailure:
            raise
        except KnownError as error:
            raise ToolFailure(str(error), code=error.code, next_step=error.next_step) from error
        whose = _whose(server.definition.name)
        return ToolResult(read.text or "[It is empty.]", media=read.media, facts={"url": str(uri)}, outside=(whose,))


def _whose(server: str) -> str:
    return f"the MCP server {server}"


def _table(resources: Sequence[McpResource], templates: Sequence[McpTemplate]) -> str:
    """What there is, one a line."""
    rows = [
        _row(one.uri, one.title or one.name, one.media_type, one.description) for one in resources if not one.problem
    ]
    rows += [_row(one.template, one.title or one.name, one.media_type, one.description) for one in templates]
    more = [f"[{len(rows) - MAX_LISTED} more]"] if len(rows) > MAX_LISTED else []
    return "\n".join(rows[:MAX_LISTED] + more) or "[It offers no resources.]"


def _row(address: str, *words: str) -> str:
    said = " - ".join(" ".join(word.split())[:300] for word in words if word)
    return f"{address} - {said}" if said else address

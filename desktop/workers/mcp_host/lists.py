"""What a server offers, read page by page and passed on as the JSON text that came: the app judges exactly that.

A list of tools that cannot be read ends the server: nothing could be called. Any other costs itself only.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import find_invalid_x_mcp_header, mcp_param_headers, x_mcp_header_map

from desktop.workers.inside import CallError
from desktop.workers.mcp_host import limits
from desktop.workers.mcp_host.exchange import ServerExchange
from desktop.workers.mcp_host.pieces import as_json, cut, pieces
from desktop.workers.mcp_host.questions import Deliver


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of thing that servers offer: how it is asked for, and how much of it is taken."""

    name: str
    method: str
    key: str
    most: int
    longest: int
    belongs_to: str


KINDS = (
    Kind("tools", "tools/list", "tools", limits.TOOLS_MAX, limits.TOOL_MAX, "tools"),
    Kind("resources", "resources/list", "resources", limits.RESOURCES_MAX, limits.RESOURCE_MAX, "resources"),
    Kind(
        "templates",
        "resources/templates/list",
        "resourceTemplates",
        limits.TEMPLATES_MAX,
        limits.RESOURCE_MAX,
        "resources",
    ),
    Kind("prompts", "prompts/list", "prompts", limits.PROMPTS_MAX, limits.PROMPT_MAX, "prompts"),
)


@dataclass(frozen=True, slots=True)
class ToolTraits:
    """What calling a tool depends on: the headers that its arguments go into, and whether it is called as a task."""

    headers: Mapping[tuple[str, ...], str]
    as_task: bool = False


class ServerLists:
    """The lists of one server. ``due`` may be called as often as a server likes: a list is read once a while."""

    def __init__(self, exchange: ServerExchange, deliver: Deliver) -> None:
        self._exchange, self._deliver = exchange, deliver
        self._due: set[str] = set()
        self._wake = asyncio.Event()
        self._traits: dict[str, ToolTraits] = {}

    def due(self, belongs_to: str) -> None:
        """The lists of this kind have changed, or were never read."""
        self._due |= {kind.name for kind in KINDS if kind.belongs_to == belongs_to}
        self._wake.set()

    def all_due(self) -> None:
        """Read every list that the server says it has."""
        for belongs_to in {kind.belongs_to: None for kind in KINDS}:
            if belongs_to == "tools" or self._exchange.envelope.era.has(belongs_to):
                self.due(belongs_to)

    async def keep(self) -> None:
        """Read what is due, again and again. Raises MCPError and CallError for the tools alone."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            due, self._due = self._due, set()
            for kind in KINDS:
                if kind.name in due:
                    await self._read(kind)
            await asyncio.sleep(limits.LIST_PAUSE)

    async def _read(self, kind: Kind) -> None:
        if not self._exchange.envelope.era.has(kind.belongs_to):
            await self._deliver({"event": "list", "kind": kind.name, "count": 0, "note": f"It offers no {kind.name}."})
            return
        try:
            found, note = await self._pages(kind)
        except (MCPError, CallError) as error:
            if kind.name == "tools":
                raise
            unknown = isinstance(error, MCPError) and error.error.code == mcp_types.METHOD_NOT_FOUND
            found, note = [], "" if unknown else f"Its {kind.name} could not be listed: {cut(str(error), 200)}"
        if kind.name == "tools":
            self._traits = {str(tool.get("name")): _traits(tool) for tool in found if isinstance(tool, dict)}
        for number, one in enumerate(found):
            for piece in pieces(self._text(kind, one)):
                await self._deliver({"event": "item", "kind": kind.name, "number": number, "text": piece})
        await self._deliver({"event": "list", "kind": kind.name, "count": len(found), "note": note})

    async def _pages(self, kind: Kind) -> tuple[list[Any], str]:
        found: list[Any] = []
        cursors: set[str] = set()
        cursor: Any = None
        for _ in range(limits.PAGES_MAX):
            params: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
            page = await self._exchange.request(kind.method, params, limits.LIST_TIMEOUT)
            some = page.get(kind.key)
            found += some if isinstance(some, list) else []
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or cursor in cursors or len(found) > kind.most:
                break
            cursors.add(cursor)
        if len(found) > kind.most:
            return found[: kind.most], f"It offers more than {kind.most:,} {kind.name}; the others are left out."
        if isinstance(cursor, str):
            return found, f"Its list of {kind.name} does not end; what came so far is taken."
        return found, ""

    def _text(self, kind: Kind, one: Any) -> str:
        """One thing as it came; too large a one becomes its name and its size, for the app to say so."""
        text = as_json(one)
        name = cut(one.get("name"), 200) if isinstance(one, dict) else ""
        if len(text) > kind.longest:
            return json.dumps({"name": name, "tooLarge": len(text)})
        if kind.name == "tools" and self._exchange.envelope.era.modern and isinstance(one, dict):
            wrong = find_invalid_x_mcp_header(one.get("inputSchema"))
            if wrong is not None:
                return json.dumps({"name": name, "unusable": cut(wrong, 300)})
        return text

    # -- for calls ----------------------------------------------------------------------------------------------------

    def headers_of(self, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, str]:
        """The headers that arguments of a tool go into, as its schema has it."""
        traits = self._traits.get(tool)
        return mcp_param_headers(dict(traits.headers), arguments) if traits is not None and traits.headers else {}

    def as_task(self, tool: str) -> bool:
        """Whether a tool is called as a task only."""
        traits = self._traits.get(tool)
        return traits is not None and traits.as_task


def _traits(tool: Mapping[str, Any]) -> ToolTraits:
    schema, execution = tool.get("inputSchema"), tool.get("execution")
    headers = x_mcp_header_map(schema) if find_invalid_x_mcp_header(schema) is None else {}
    return ToolTraits(headers, isinstance(execution, Mapping) and execution.get("taskSupport") == "required")

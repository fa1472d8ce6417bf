"""The MCP side of ``assent mcp``: what the SDK's server is told to do, in both eras of the protocol (R-MSV-1).

Nothing is decided here: the app says what is offered, makes the calls through its gates, and tells what happens.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import warnings
from collections.abc import Mapping
from typing import Any, TypeAlias

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError

from desktop import __version__
from desktop.app.commands.mcp_server.telling import CallTelling
from desktop.app.commands.reach import HomeReach
from desktop.domain.errors import KnownError
from desktop.domain.text.words import plain_line
from desktop.services.outside.offered import NOT_OFFERED

CALLS_MAX = 32
"""Calls that are handed to the app at once; more wait here."""
WAITING_MAX = 20_000
"""Calls that wait; more are refused."""
INSTRUCTIONS = (
    "These are skills and agents of Assent, a desktop app in which a person approves what AI does. A call may wait "
    "until the person has answered in Assent's window; without a window what needs them is denied. They work in "
    "Assent's own workspace, {workspace}, where relative paths begin, and not in the folder that you work in: give "
    "whole paths. Files outside of what the person opened to agents stay closed to them."
)
NOBODY = "an MCP client without a name"
NAME_MAX = 80

log = logging.getLogger(__name__)
Context: TypeAlias = ServerRequestContext[Any, Any]


class ToolServer:
    """``server`` is the SDK's, for one client by stdio or many by HTTP; ``workspace`` is where calls work."""

    def __init__(self, reach: HomeReach, workspace: str) -> None:
        self._reach = reach
        self._numbers = itertools.count(1)
        self._calls: dict[int, CallTelling] = {}
        self._places = asyncio.Semaphore(CALLS_MAX)
        self._waiting = 0
        self._levels: dict[int, types.LoggingLevel] = {}
        self._sessions: dict[int, Any] = {}
        self._told: list[str] | None = None
        self.who = NOBODY
        """What the client calls itself that was heard last."""
        self._bus = InMemorySubscriptionBus()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # logging is of the older era, whose clients need it
            self.server: Server[Any] = Server(
                "assent",
                version=__version__,
                title="Assent",
                instructions=INSTRUCTIONS.format(workspace=workspace),
                on_list_tools=self._list_tools,
                on_call_tool=self._call_tool,
                on_set_logging_level=self._set_level,
                on_subscriptions_listen=ListenHandler(self._bus, max_subscriptions=64),
            )
        self.server.middleware[:] = [self._seen]

    def options(self) -> Any:
        """What the older era's greeting says."""
        return self.server.create_initialization_options(NotificationOptions(tools_changed=True))

    # -- what the app tells -------------------------------------------------------------------------------------------

    def hear(self, method: str, params: Mapping[str, Any]) -> None:
        """An event of the app."""
        if method == "event":
            telling = self._calls.get(params["call"]) if isinstance(params.get("call"), int) else None
            if telling is not None:
                telling.put(params)

    async def tools_changed(self) -> None:
        """Tell every client that wants to know, if what is offered is not what it was."""
        try:
            offered = await self._offered()
        except KnownError as error:
            log.info("what is offered now is not known: %s", error)
            return
        names = sorted(repr(one) for one in offered)
        if names == self._told:
            return
        self._told = names
        await self._bus.publish(ToolsListChanged())
        for session in list(self._sessions.values()):
            await session.send_tool_list_changed()

    # -- what clients ask ---------------------------------------------------------------------------------------------

    async def _seen(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Keep who is connected: the older era is told of changes on its own connection."""
        connection = ctx.session._connection
        key = id(connection)
        if key not in self._sessions and connection.has_standalone_channel:
            self._sessions[key] = ctx.session
            connection.exit_stack.callback(self._forget, key)
        self.who = _name(ctx)
        return await call_next(ctx)

    def _forget(self, key: int) -> None:
        self._sessions.pop(key, None)
        self._levels.pop(key, None)

    async def _offered(self) -> list[dict[str, Any]]:
        peer = await self._reach.peer()
        found: list[dict[str, Any]] = await peer.call("tools", {})
        return found

    async def _list_tools(self, _ctx: Context, _params: Any) -> types.ListToolsResult:
        try:
            offered = await self._offered()
        except KnownError as error:
            raise MCPError(types.INTERNAL_ERROR, error.advice) from error
        self._told = sorted(repr(one) for one in offered)
        return types.ListToolsResult(tools=[_tool(one) for one in offered])

    async def _set_level(self, ctx: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
        self._levels[id(ctx.session._connection)] = params.level
        return types.EmptyResult()

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        if self._waiting >= WAITING_MAX:
            raise MCPError(types.INTERNAL_ERROR, f"More than {WAITING_MAX:,} calls wait already.")
        self._waiting += 1
        try:
            async with self._places:
                return await self._called(ctx, params)
        finally:
            self._waiting -= 1

    async def _called(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        number = next(self._numbers)
        level: types.LoggingLevel = self._levels.get(id(ctx.session._connection), "info")
        call = {"tool": params.name, "arguments": params.arguments or {}, "call": number, "who": _name(ctx)}
        telling = self._calls[number] = CallTelling(ctx, level)
        try:
            async with telling:
                peer = await self._reach.peer()
                value = await peer.call("call", call)
        except KnownError as error:
            if error.code == NOT_OFFERED:
                raise MCPError(types.INVALID_PARAMS, error.advice) from error
            return types.CallToolResult(content=[types.TextContent(type="text", text=error.advice)], is_error=True)
        finally:
            del self._calls[number]
        return _result(value)


def _name(ctx: Context) -> str:
    """What the client calls itself: its own word, of any length."""
    known = ctx.session.client_params
    said = (known.client_info.title or known.client_info.name) if known is not None else ""
    return plain_line(said, NAME_MAX) or NOBODY


def _tool(one: Mapping[str, Any]) -> types.Tool:
    reads = one["category"] == "read"
    return types.Tool(
        name=one["name"],
        description=one["description"],
        input_schema=one["params"],
        output_schema=one["returns"],
        annotations=types.ToolAnnotations(read_only_hint=reads),
    )


def _result(value: Mapping[str, Any]) -> types.CallToolResult:
    content: list[Any] = [types.TextContent(type="text", text=value["text"])]
    for block in value["media"]:
        made = types.ImageContent if block["kind"] == "image" else types.AudioContent
        content.append(made(type=block["kind"], data=block["data"], mime_type=block["media_type"]))
    structured = value["structured"] if isinstance(value["structured"], dict) and not value["is_error"] else None
    return types.CallToolResult(content=content, structured_content=structured, is_error=value["is_error"])

"""Which revision of the protocol is spoken with a server, and what each request carries for it.

Up to 2025-11-25 a connection begins with ``initialize``; from 2026-07-28 on there is no greeting, and each request says
by itself which revision it is of, who asks and what the client can do. Which of both a server speaks is found out as
the library's client does: it is asked for ``server/discover`` first, and what is no clear yes means ``initialize``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import mcp_types
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)
from mcp_types import version as versions

from desktop.workers.inside import CallError
from desktop.workers.mcp_host import limits

CLIENT = {"name": "Assent", "version": "1"}
TASKS = "io.modelcontextprotocol/tasks"
OLDEST, NEWEST = versions.OLDEST_SUPPORTED_VERSION, versions.LATEST_HANDSHAKE_VERSION
_NAMED = {**NAME_BEARING_METHODS, **dict.fromkeys(("tasks/get", "tasks/update", "tasks/cancel"), "taskId")}
HeadersOf = Callable[[str, Mapping[str, Any]], Mapping[str, str]]
Send = Callable[[str, Mapping[str, Any] | None, Any], Awaitable[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Era:
    """What is known of a server after the first exchange with it."""

    version: str = ""
    modern: bool = False
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    info: Mapping[str, Any] = field(default_factory=dict)
    instructions: str = ""

    def has(self, *path: str) -> bool:
        """Whether it says that it has something, such as ``resources``, ``subscribe``."""
        found: Any = self.capabilities
        for name in path:
            found = found.get(name) if isinstance(found, Mapping) else None
        return found is not None and found is not False

    @property
    def tasks(self) -> bool:
        """Whether its tools can be called as tasks."""
        return self.has("extensions", TASKS) if self.modern else self.has("tasks", "requests", "tools", "call")


class RequestEnvelope:
    """Adds to each request what its revision asks for. ``headers_of`` gives the headers that arguments of a tool go
    into, too; it is set by whoever reads the list of tools."""

    def __init__(self, capabilities: Mapping[str, Any], *, is_web: bool) -> None:
        self.era = Era()
        self.log_level = "info"
        self._capabilities, self._is_web = capabilities, is_web
        self.headers_of: HeadersOf = lambda _tool, _arguments: {}

    def dressed(self, method: str, params: Mapping[str, Any], **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """(parameters, options) of one request."""
        if not self.era.modern:
            headers = {MCP_PROTOCOL_VERSION_HEADER: self.era.version} if self._is_web and self.era.version else {}
            return dict(params), {**options, **({"headers": headers} if headers else {})}
        meta = {**_meta(self.era.version, modern(self._capabilities)), **(params.get("_meta") or {})}
        if self.era.has("logging"):
            meta[mcp_types.LOG_LEVEL_META_KEY] = self.log_level
        return {**params, "_meta": meta}, {**options, "headers": self._headers(method, params)}

    def _headers(self, method: str, params: Mapping[str, Any]) -> dict[str, str]:
        if not self._is_web:
            return {}
        headers = {MCP_PROTOCOL_VERSION_HEADER: self.era.version, MCP_METHOD_HEADER: method}
        name = params.get(_NAMED.get(method, ""))
        if isinstance(name, str):
            headers[MCP_NAME_HEADER] = encode_header_value(name)
        if method == "tools/call":
            headers |= self.headers_of(str(name), params.get("arguments") or {})
        return headers


def modern(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """What the client says of itself to a server without a greeting: tasks are an extension there."""
    return {**capabilities, "extensions": {TASKS: {}}}


def _meta(version: str, capabilities: Mapping[str, Any]) -> dict[str, Any]:
    return {
        mcp_types.PROTOCOL_VERSION_META_KEY: version,
        mcp_types.CLIENT_INFO_META_KEY: CLIENT,
        mcp_types.CLIENT_CAPABILITIES_META_KEY: dict(capabilities),
    }


async def greeted(send: Send, capabilities: Mapping[str, Any]) -> Era:
    """Find out which revision a server speaks. Raises MCPError, and CallError where no revision is shared."""
    version, seconds = versions.LATEST_MODERN_VERSION, limits.PROBE_TIMEOUT
    for attempt in range(2):
        try:
            return await _discovered(send, version, capabilities, seconds) or await _initialized(send, capabilities)
        except MCPError as error:
            shared = [one for one in versions.MODERN_PROTOCOL_VERSIONS if one in _supported(error)]
            if not shared or attempt:
                raise
            version = shared[-1]  # a server that was slow to answer, or that has another revision in mind:
            seconds = limits.LIST_TIMEOUT  # it is of the newer era for sure, so it has its time
    raise AssertionError("the second attempt returns or raises")


async def _discovered(send: Send, version: str, capabilities: Mapping[str, Any], seconds: float) -> Era | None:
    """What a server without a greeting says of itself; None: it is to be greeted. Raises MCPError where it names
    revisions that are worth another attempt."""
    options = {
        "timeout": seconds,
        "cancel_on_abandon": False,
        "headers": {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: "server/discover"},
    }
    try:
        answer = await send("server/discover", {"_meta": _meta(version, modern(capabilities))}, options)
    except MCPError as error:
        named = _supported(error)
        if any(v in versions.MODERN_PROTOCOL_VERSIONS for v in named):
            raise
        if named and not any(v in versions.HANDSHAKE_PROTOCOL_VERSIONS for v in named):
            raise _unknown(", ".join(named)) from error
        return None
    told = answer.get("supportedVersions")
    shared = [one for one in versions.MODERN_PROTOCOL_VERSIONS if isinstance(told, list) and one in told]
    if not shared:
        return None
    meta = answer.get("_meta")
    info = meta.get(mcp_types.SERVER_INFO_META_KEY) if isinstance(meta, Mapping) else None
    return _era(shared[-1], answer, info, modern=True)


async def _initialized(send: Send, capabilities: Mapping[str, Any]) -> Era:
    params = {"protocolVersion": NEWEST, "capabilities": dict(capabilities), "clientInfo": CLIENT}
    answer = await send("initialize", params, {"cancel_on_abandon": False})
    version = answer.get("protocolVersion")
    if not isinstance(version, str) or not OLDEST <= version <= NEWEST:
        raise _unknown(str(version))
    return _era(version, answer, answer.get("serverInfo"), modern=False)


def _era(version: str, answer: Mapping[str, Any], info: Any, *, modern: bool) -> Era:
    capabilities, said = answer.get("capabilities"), answer.get("instructions")
    return Era(
        version,
        modern,
        capabilities if isinstance(capabilities, Mapping) else {},
        info if isinstance(info, Mapping) else {},
        said if isinstance(said, str) else "",
    )


def _supported(error: MCPError) -> list[str]:
    """The revisions that an error names."""
    data = error.error.data
    found = data.get("supported") if isinstance(data, Mapping) else None
    if error.error.code != mcp_types.UNSUPPORTED_PROTOCOL_VERSION or not isinstance(found, list):
        return []
    return [one[:20] for one in found[:20] if isinstance(one, str)]


def _unknown(version: str) -> CallError:
    return CallError("mcp.version", f"It speaks a revision of MCP that is not known: {version[:40]}.")

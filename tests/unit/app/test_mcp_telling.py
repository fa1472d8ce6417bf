"""What a client of `assent mcp` is told while its call is under way, by the SDK's own server and client."""

from __future__ import annotations

from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.server.lowlevel.server import Server

from desktop.app.commands.mcp_server.telling import CallTelling

MOST = 50


def event(number: int, kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "path": "a/b", "agent": "b", "sequence": number, "at": 1.0, "data": data}


async def heard(events: list[dict[str, Any]], mode: Any = "legacy", level: Any = None) -> tuple[list[Any], list[Any]]:
    """(log notifications, lines of progress) of a call in which all these events come at once."""
    logs: list[Any] = []
    lines: list[Any] = []

    async def call(ctx: Any, _params: Any) -> types.CallToolResult:
        async with CallTelling(ctx, "info", MOST) as telling:
            for one in events:
                telling.put(one)
        return types.CallToolResult(content=[types.TextContent(type="text", text="done")])

    async def tools(_ctx: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="any", input_schema={"type": "object"})])

    async def log(params: Any) -> None:
        logs.append(params)

    async def progressed(_progress: float, _total: float | None, message: str | None) -> None:
        lines.append(message)

    server: Server[Any] = Server("test", on_call_tool=call, on_list_tools=tools)
    async with Client(server, mode=mode, log_level=level, logging_callback=log) as client:
        await client.call_tool("any", {}, progress_callback=progressed)
    return logs, lines


@pytest.mark.spec("R-MSV-2")
async def test_each_event_is_a_log_and_a_line_of_progress_with_the_agents_path() -> None:
    events = [event(1, "agent-start"), event(2, "tool-call", tool="bash\n x"), event(3, "tool-error", tool="bash")]
    logs, lines = await heard([*events, event(4, "agent-error", error="It broke.")])
    assert [(one.level, one.logger, one.data["type"]) for one in logs] == [
        ("info", "a/b", "agent-start"),
        ("info", "a/b", "tool-call"),
        ("warning", "a/b", "tool-error"),
        ("error", "a/b", "agent-error"),
    ]
    assert lines == ["a/b: agent-start", "a/b: tool-call bash x", "a/b: tool-error bash", "a/b: agent-error It broke."]


@pytest.mark.spec("R-MSV-2")
async def test_a_client_that_stays_behind_misses_pieces_of_texts_first_and_is_told_how_many() -> None:
    deltas = [event(number, "agent-message", text="x", delta=True) for number in range(2 * MOST)]
    logs, _ = await heard([event(0, "agent-start"), *deltas, event(999, "agent-complete")])
    kinds = [one.data.get("type") for one in logs]
    assert (kinds[0], kinds[-2]) == ("agent-start", "agent-complete")
    assert logs[-1].data == {"leftOut": 2 * MOST + 2 - MOST}
    assert len(logs) == MOST + 1


@pytest.mark.spec("R-MSV-2")
@pytest.mark.parametrize(
    ("level", "told"), [(None, []), ("warning", ["tool-error"]), ("info", ["tool-call", "tool-error"])]
)
async def test_a_client_of_the_new_protocol_hears_logs_where_it_asks_for_them(level: Any, told: list[str]) -> None:
    events = [event(1, "tool-call", tool="bash"), event(2, "tool-error", tool="bash")]
    logs, lines = await heard(events, "2026-07-28", level)
    assert [one.data["type"] for one in logs] == told
    assert len(lines) == 2

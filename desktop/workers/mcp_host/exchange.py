"""One request to a server and its answer, in either era, with what the server has to ask before it answers.

Since 2026-07-28 a server that needs something answers "input required" and is asked again with it; before that it sends
requests of its own while it works. Both end in ``ServerWishes``. While a person is asked no time limit runs.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

import mcp_types
from mcp.shared.exceptions import MCPError

from desktop.workers.inside import CallError
from desktop.workers.mcp_host import limits
from desktop.workers.mcp_host.era import RequestEnvelope
from desktop.workers.mcp_host.pieces import cut
from desktop.workers.mcp_host.wishes import ServerWishes

STATE_PAUSES = (0.05, 0.1, 0.2, 0.25)
"""Seconds before a server that asks for nothing but patience is asked again."""


class ServerExchange:
    """``dispatcher`` is the library's; it is there once the connection is."""

    def __init__(self, envelope: RequestEnvelope, wishes: ServerWishes) -> None:
        self.envelope = envelope
        self.dispatcher: Any = None
        self._wishes = wishes
        self._clocks: set[asyncio.Timeout] = set()
        self._tools: list[str] = []

    async def request(
        self, method: str, params: Mapping[str, Any], seconds: float, *, on_progress: Any = None
    ) -> dict[str, Any]:
        """The result of one request. A cancelled one, or one whose time is up, is told to the server. Raises MCPError,
        and CallError for too many rounds of questions and for no answer in time."""
        tool = str(params.get("name", "")) if method == "tools/call" else ""
        self._tools += [tool] if tool else []
        try:
            async with asyncio.timeout(seconds) as clock:
                self._clocks.add(clock)
                return await self._rounds(method, params, tool, on_progress)
        except TimeoutError:
            raise CallError("mcp.timeout", f"It did not answer within {seconds:g} s.") from None
        finally:
            self._clocks.discard(clock)
            if tool:
                self._tools.remove(tool)

    async def _rounds(self, method: str, params: Mapping[str, Any], tool: str, on_progress: Any) -> dict[str, Any]:
        given, patience = dict(params), 0
        for _ in range(limits.ROUNDS_MAX):
            options = {"on_progress": on_progress} if on_progress is not None else {}
            found = await self.dispatcher.send_raw_request(method, *self.envelope.dressed(method, given, **options))
            result: dict[str, Any] = found if isinstance(found, dict) else {}
            if result.get("resultType") != "input_required":
                return result
            asked = result.get("inputRequests")
            given = {**params, "requestState": result["requestState"]} if "requestState" in result else dict(params)
            if isinstance(asked, Mapping) and asked:
                given["inputResponses"] = await self.inputs(asked, tool)
                patience = 0
            else:
                await asyncio.sleep(STATE_PAUSES[min(patience, len(STATE_PAUSES) - 1)])
                patience += 1
        raise CallError("mcp.asks_too_much", f"It asked for more {limits.ROUNDS_MAX} times and never answered.")

    async def inputs(self, asked: Mapping[str, Any], tool: str) -> dict[str, Any]:
        """What a server asked for before it answers, by its own names. Raises MCPError where a wish is refused, and
        CallError for too many at once."""
        if len(asked) > limits.QUESTIONS_MAX:
            raise CallError("mcp.asks_too_much", "It asks for more at once than can be answered.")
        found: dict[str, Any] = {}
        for key, wish in asked.items():  # one after the other: a person reads one question at a time
            wished = wish if isinstance(wish, Mapping) else {}
            found[key] = await self.wish(cut(wished.get("method"), 80), wished.get("params"), tool)
        return found

    async def wish(self, method: str, params: Any, tool: str = "") -> dict[str, Any]:
        """One wish of the server, with the clocks of its calls stopped. Raises MCPError."""
        began = time.monotonic()
        try:
            return await self._wishes.answer(method, params, tool or self._only_tool)
        finally:
            waited = time.monotonic() - began
            for clock in self._clocks:
                if (when := clock.when()) is not None and not clock.expired():
                    clock.reschedule(when + waited)

    @property
    def _only_tool(self) -> str:
        """The tool that is at work, where it is one alone: a server of the older era does not say which one asks."""
        return self._tools[0] if len(set(self._tools)) == 1 else ""


def words_of(error: BaseException, is_closed: Callable[[MCPError], bool]) -> BaseException:
    """An error of the protocol in our codes; anything else as it is."""
    if not isinstance(error, MCPError):
        return error
    code, message = error.error.code, cut(error.error.message)
    if is_closed(error):
        return CallError("mcp.ended", "The connection to the server ended.")
    if code == mcp_types.REQUEST_TIMEOUT:
        return CallError("mcp.timeout", "It did not answer in time.")
    return CallError("mcp.refused", message or f"It refused the request ({code}).", {"code": code})

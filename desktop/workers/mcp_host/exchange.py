"""One request to a server and its answer, in either era, with what the server has to ask before it answers.

Since 2026-07-28 a server that needs something answers "input required" and is asked again with it; before that it sends
requests of its own while it works. Both end in ``ServerWishes``. While a person is asked no time limit runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import mcp_types
from mcp.shared.exceptions import MCPError

from desktop.workers.inside import CallError
from desktop.workers.mcp_host import limits
from desktop.workers.mcp_host.era import RequestEnvelope
from desktop.workers.mcp_host.pieces import cut
from desktop.workers.mcp_host.under_way import RequestsUnderWay, RequestUnderWay
from desktop.workers.mcp_host.wishes import ServerWishes

STATE_PAUSES = (0.05, 0.1, 0.2, 0.25)
"""Seconds before a server that asks for nothing but patience is asked again."""


_NOT_DONE = "Its page was opened, and the person is not done there yet. Call it again when they say that they are."


class ServerExchange:
    """``dispatcher`` is the library's; it is there once the connection is."""

    def __init__(self, envelope: RequestEnvelope, wishes: ServerWishes) -> None:
        self.envelope = envelope
        self.dispatcher: Any = None
        self._wishes = wishes
        self.under_way = RequestsUnderWay()
        self._opened: dict[str, asyncio.Event] = {}

    async def request(
        self, method: str, params: Mapping[str, Any], seconds: float, *, on_progress: Any = None, key: str = ""
    ) -> dict[str, Any]:
        """The result of one request. A cancelled one, or one whose time is up, is told to the server. ``key`` is the
        app's name of a call. Raises MCPError, and CallError for too many rounds of questions and for no answer in
        time."""
        tool = str(params.get("name", "")) if method == "tools/call" else ""
        try:
            async with self.under_way.one(seconds, key, tool) as request:
                return await self._rounds(method, params, request, on_progress)
        except TimeoutError:
            raise CallError("mcp.timeout", f"It did not answer within {seconds:g} s.") from None

    async def _rounds(
        self, method: str, params: Mapping[str, Any], request: RequestUnderWay, on_progress: Any
    ) -> dict[str, Any]:
        given, patience, pages = dict(params), 0, set[str]()
        for _ in range(limits.ROUNDS_MAX):
            options = {"on_progress": on_progress} if on_progress is not None else {}
            try:
                found = await self.dispatcher.send_raw_request(method, *self.envelope.dressed(method, given, **options))
            except MCPError as error:
                if not (wanted := self._pages_in(error)):
                    raise
                await self._show(wanted, pages, request)
                continue
            result: dict[str, Any] = found if isinstance(found, dict) else {}
            if result.get("resultType") != "input_required":
                return result
            asked = result.get("inputRequests")
            given = {**params, "requestState": result["requestState"]} if "requestState" in result else dict(params)
            if isinstance(asked, Mapping) and asked:
                given["inputResponses"] = await self.inputs(asked, request)
                patience = 0
            else:
                await asyncio.sleep(STATE_PAUSES[min(patience, len(STATE_PAUSES) - 1)])
                patience += 1
        raise CallError("mcp.asks_too_much", f"It asked for more {limits.ROUNDS_MAX} times and never answered.")

    # -- pages that a person has to see first -------------------------------------------------------------------------

    def _pages_in(self, error: MCPError) -> list[Mapping[str, Any]]:
        """The pages that a server of the older era names in place of an answer; none for any other error."""
        if self.envelope.era.modern or error.error.code != mcp_types.URL_ELICITATION_REQUIRED:
            return []
        data = error.error.data
        listed = data.get("elicitations") if isinstance(data, Mapping) else None
        return [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []

    async def _show(self, wanted: list[Mapping[str, Any]], seen: set[str], request: RequestUnderWay) -> None:
        """Have a person open them, as any page that a server asks for, and wait a while until the server says that
        they are done there. Raises CallError where they do not, or did before and are not done."""
        fresh = {_page_id(one): one for one in wanted if _page_id(one) not in seen}
        if not fresh:
            raise CallError("mcp.page_open", _NOT_DONE)
        if len(fresh) > limits.QUESTIONS_MAX:
            raise CallError("mcp.asks_too_much", "It asks for more at once than can be answered.")
        done = {name: self._opened.setdefault(name, asyncio.Event()) for name in fresh}
        try:
            for one in fresh.values():
                answer = await self.wish("elicitation/create", {**one, "mode": "url"}, request)
                if answer.get("action") != "accept":
                    raise CallError("mcp.page_refused", "It wants you to see a page first, which was not opened.")
            seen.update(fresh)
            async with asyncio.timeout(min(limits.PAGE_TIMEOUT, request.left / 2)):
                for event in done.values():
                    await event.wait()
        except TimeoutError:
            pass  # not every server says so: it is asked again
        finally:
            for name in done:
                self._opened.pop(name, None)

    def page_done(self, params: Any) -> None:
        """The server says that a person is done on a page; one that nobody waits for is nothing."""
        name = params.get("elicitationId") if isinstance(params, Mapping) else None
        if isinstance(name, str) and (event := self._opened.get(name)) is not None:
            event.set()

    # -- what a server asks for ---------------------------------------------------------------------------------------

    async def inputs(self, asked: Mapping[str, Any], request: RequestUnderWay | None = None) -> dict[str, Any]:
        """What a server asked for before it answers, by its own names. Raises MCPError where a wish is refused, and
        CallError for too many at once."""
        if len(asked) > limits.QUESTIONS_MAX:
            raise CallError("mcp.asks_too_much", "It asks for more at once than can be answered.")
        found: dict[str, Any] = {}
        for key, wish in asked.items():  # one after the other: a person reads one question at a time
            wished = wish if isinstance(wish, Mapping) else {}
            found[key] = await self.wish(cut(wished.get("method"), 80), wished.get("params"), request)
        return found

    async def wish(self, method: str, params: Any, request: RequestUnderWay | None = None) -> dict[str, Any]:
        """One wish of the server, for the sake of ``request`` or, where it does not say so, of any call that is under
        way. Raises MCPError."""
        of = (request,) if request is not None else self.under_way.calls
        tools = {one.tool for one in of if one.tool}
        tool = tools.pop() if len(tools) == 1 else ""
        answer = self._wishes.answer(method, params, tool, [one.key for one in of if one.key])
        found = await self.under_way.question(answer, of)
        if found is None:
            raise MCPError(code=mcp_types.INVALID_REQUEST, message="The call that this was asked for is over.")
        return dict(found)


def _page_id(page: Mapping[str, Any]) -> str:
    return str(page.get("elicitationId") or page.get("url"))[:1_000]


def words_of(error: BaseException, is_closed: Callable[[MCPError], bool]) -> BaseException:
    """An error of the protocol in our codes; anything else as it is."""
    if not isinstance(error, MCPError):
        return error
    code, message = error.error.code, cut(error.error.message)
    if code == limits.UNAUTHORIZED and isinstance(error.error.data, Mapping):
        return CallError("mcp.unauthorized", message, error.error.data)
    if is_closed(error):
        return CallError("mcp.ended", "The connection to the server ended.")
    if code == mcp_types.REQUEST_TIMEOUT:
        return CallError("mcp.timeout", "It did not answer in time.")
    return CallError("mcp.refused", message or f"It refused the request ({code}).", {"code": code})

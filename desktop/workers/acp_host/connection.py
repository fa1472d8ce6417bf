"""One agent's connection: requests and answers in both directions, at a bounded rate.

Framing and who gets which answer are the library's (``acp.connection``). An agent is read only as fast as the app takes
what it says: what waits here is bounded, and the pipe to the agent holds the rest up.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from acp.connection import Connection
from acp.exceptions import RequestError

from desktop.domain.text.json_text import read_json
from desktop.workers.acp_host import limits
from desktop.workers.acp_host.updates import act_of, cut, event_of
from desktop.workers.inside import CallError
from desktop.workers.meter import TOO_MANY, RateMeter
from desktop.workers.stdio_process import LineTooLong, StdioProcess

CANCELLED = -32_800
_request: ContextVar[Any] = ContextVar("request", default=None)

PASSED = {
    "fs/read_text_file": ("path", "line", "limit"),
    "fs/write_text_file": ("path", "content"),
    "terminal/create": ("command", "args", "env", "cwd", "outputByteLimit"),
    "terminal/output": ("terminalId",),
    "terminal/wait_for_exit": ("terminalId",),
    "terminal/kill": ("terminalId",),
    "terminal/release": ("terminalId",),
}
"""What the app serves, with the fields of it that are passed on."""
PERMISSION = "session/request_permission"

Tell = Callable[[Mapping[str, Any]], None]


class _Transport:
    """The library's way to the agent's pipes. ``room`` waits until more may be read; ``failure`` is why reading
    ended."""

    def __init__(self, process: StdioProcess, room: Callable[[], Any]) -> None:
        self._process = process
        self._room = room
        self._meter = RateMeter(limits.BURST, limits.PER_SECOND)
        self.failure = ""
        self.turn = 0
        """Bytes since the turn began."""

    async def send(self, message: dict[str, Any]) -> None:
        await self._process.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    async def receive(self) -> dict[str, Any] | None:
        """The next message that is one; None at the end."""
        garbage = 0
        while True:
            await self._room()
            try:
                line = await self._process.line()
            except LineTooLong as error:
                self.failure = str(error)
                return None
            if not line or not self._within(len(line)):
                return None
            message = _message(line)
            if message is not None:
                _request.set(message.get("id"))
                return message
            garbage += bool(line.strip())
            if garbage > limits.GARBAGE_MAX:
                self.failure = "It writes text to its output that is no message of the protocol."
                return None

    def _within(self, size: int) -> bool:
        self.turn += size
        if not self._meter.takes():
            self.failure = TOO_MANY
        elif self.turn > limits.TURN_MAX:
            self.failure = f"It sent more than {limits.TURN_MAX // 1024 // 1024} MB in one turn."
        return not self.failure

    async def close(self) -> None:
        """Its process is ended elsewhere."""


class AgentConnection:
    """``tell`` takes what happens, in order and without waiting; ``room`` waits until there is room for more."""

    def __init__(self, process: StdioProcess, tell: Tell, room: Callable[[], Any]) -> None:
        self._tell = tell
        self._transport = _Transport(process, room)
        self._asks: dict[int, tuple[str, Any, asyncio.Future[Any]]] = {}
        self._next = 1
        self._unknown: set[str] = set()
        self._connection = Connection(self._handle, self._transport, listening=False)

    async def serve(self) -> str:
        """Read until there is no more; why it ended, or ""."""
        await self._connection.main_loop()
        return self._transport.failure

    async def close(self) -> None:
        """Answer nothing any more."""
        for _, _, answer in list(self._asks.values()):
            answer.cancel()
        await self._connection.close()

    def begin_turn(self) -> None:
        """What one turn may send is counted from here."""
        self._transport.turn = 0

    # -- to the agent -------------------------------------------------------------------------------------------------

    async def request(self, method: str, params: Mapping[str, Any], seconds: float | None) -> dict[str, Any]:
        """Ask the agent. Raises CallError: it refused, is gone, or did not answer in time."""
        try:
            async with asyncio.timeout(seconds):
                answer = await self._connection.send_request(method, dict(params))
        except TimeoutError:
            raise CallError("acp.silent", f"It did not answer {method} within {seconds:g} s.") from None
        except RequestError as error:
            raise CallError("acp.refused", _words(error), {"code": error.code}) from error
        except ConnectionError:
            raise CallError("acp.ended", self._transport.failure or "The connection to it ended.") from None
        return answer if isinstance(answer, dict) else {}

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Tell the agent something that has no answer."""
        try:
            await self._connection.send_notification(method, dict(params))
        except ConnectionError:
            return

    # -- from the agent -----------------------------------------------------------------------------------------------

    async def _handle(self, method: str, params: Any, is_notification: bool) -> Any:
        if is_notification:
            return self._heard(method, params)
        given = params if isinstance(params, Mapping) else {}
        if method == PERMISSION:
            return {"outcome": await self._ask(method, permission_of(given))}
        if method in PASSED:
            return await self._ask(method, {key: given[key] for key in PASSED[method] if given.get(key) is not None})
        self._note(method)
        raise RequestError.method_not_found(method)

    def _heard(self, method: str, params: Any) -> None:
        if method == "session/update":
            event = event_of(params)
            if event is not None and event["event"] == "unknown":
                self._note(event["kind"])
            elif event is not None:
                self._tell(event)
        elif method == "$/cancel_request" and isinstance(params, Mapping):
            self._withdrawn(params.get("requestId"))

    def _note(self, what: str) -> None:
        """Tell of something that the app does not know, once for each kind of it."""
        known = cut(what, 80)
        if known not in self._unknown and len(self._unknown) < 20:
            self._unknown.add(known)
            self._tell({"event": "note", "text": f"It sent {known}, which is not known here."})

    async def ask(self, method: str, params: Mapping[str, Any]) -> Any:
        """Ask the app for something of our own, and wait for its answer. Raises RequestError with its refusal."""
        return await self._ask(method, params)

    async def _ask(self, method: str, params: Mapping[str, Any]) -> Any:
        if len(self._asks) >= limits.ASKS_MAX:
            raise RequestError(-32_603, f"More than {limits.ASKS_MAX} requests wait for an answer.")
        number, answer = self._next, asyncio.get_running_loop().create_future()
        self._next += 1
        self._asks[number] = (method, _request.get(), answer)
        try:
            self._tell({"event": "ask", "id": number, "method": method, "params": dict(params)})
            return await answer
        finally:
            self._asks.pop(number, None)

    def answer(self, number: Any, value: Any, error: Any) -> bool:
        """The app's answer; False where the request was withdrawn meanwhile, or never made."""
        found = self._asks.get(number) if isinstance(number, int) else None
        if found is None or found[2].done():
            return False
        if isinstance(error, Mapping):
            code = error.get("code")
            message = cut(error.get("message"), limits.WORDS_MAX) or "Refused."
            found[2].set_exception(RequestError(code if isinstance(code, int) else -32_603, message))
        else:
            found[2].set_result(value)
        return True

    def _withdrawn(self, request: Any) -> None:
        """The agent takes a request back."""
        for number, (method, asked, answer) in list(self._asks.items()):
            if asked == request and request is not None and not answer.done():
                self._give_up(number, method, answer)

    def withdraw_all(self) -> None:
        """The turn is cancelled: nothing that it still waits for is answered otherwise."""
        for number, (method, _, answer) in list(self._asks.items()):
            if not answer.done():
                self._give_up(number, method, answer)

    def _give_up(self, number: int, method: str, answer: asyncio.Future[Any]) -> None:
        self._tell({"event": "withdrawn", "id": number})
        if method == PERMISSION:
            answer.set_result({"outcome": "cancelled"})
        else:
            answer.set_exception(RequestError(CANCELLED, "Request cancelled"))


def permission_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """A request for permission: what it is for, and the answers that the agent offers."""
    options = given.get("options")
    rows = [
        {"id": cut(one.get("optionId"), 200), "kind": cut(one.get("kind"), 40), "name": cut(one.get("name"), 200)}
        for one in (options[:20] if isinstance(options, list) else ())
        if isinstance(one, Mapping) and isinstance(one.get("optionId"), str)
    ]
    return {"act": act_of(given.get("toolCall")), "options": rows}


def _message(line: bytes) -> dict[str, Any] | None:
    """A message of the protocol, or None for anything else."""
    try:
        found = read_json(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("id"), int | str | None):
        return None
    method = found.get("method")
    if method is not None and not isinstance(method, str):
        return None
    error = found.get("error")
    return found if error is None or isinstance(error, dict) else None


def _words(error: RequestError) -> str:
    data = error.data
    more = data.get("details") or data.get("message") if isinstance(data, Mapping) else data
    said = cut(str(error), limits.WORDS_MAX)
    return f"{said}: {more[: limits.WORDS_MAX]}" if isinstance(more, str) and more not in said else said

"""Our tools for an agent: an MCP server inside this process, reached through named pipes in a folder of the agent's.

The agent starts ``bridge.py``, as the protocol has it for servers over stdio; the bridge lays a pair of pipes beside
the door and says so through it, with the key that only this session's agent was given. What the agent calls is asked of
the app, like everything else: it goes through every gate there.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import re
import secrets
import stat
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from desktop.domain.text.json_text import read_json
from desktop.systems import open_flags
from desktop.systems.inherited_pipes import reader_of, writer_of
from desktop.systems.named_pipes import make_pipe
from desktop.workers.acp_host import bridge, limits
from desktop.workers.meter import RateMeter

NAME = "assent"
_NAME = re.compile(r"[0-9a-f]{32}")
_OPEN_S = 5.0
_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
Call = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


class OfferedTools:
    """``folder`` is empty, and the agent's to write; ``call`` makes a call of one of ``tools`` (name, description,
    parameters) and gives ``{text, isError, structured}``."""

    def __init__(self, folder: str, tools: Sequence[Any], call: Call) -> None:
        self._folder = folder
        self._key = secrets.token_hex(16)
        self._call = call
        self._tools = _declared(tools)
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []
        self._meter = RateMeter(limits.BURST, limits.PER_SECOND)  # one for all bridges: another one is no way round it
        self.flooded = asyncio.Event()
        """Set when more was sent than can be read: nothing is read any more."""

    def declaration(self) -> dict[str, Any]:
        """The entry of ``mcpServers`` by which the agent starts the bridge."""
        return {
            "name": NAME,
            "command": sys.executable,
            "args": ["-I", "-S", str(Path(bridge.__file__)), self._folder],
            "env": [{"name": bridge.KEY, "value": self._key}],
        }

    async def offer(self, tools: Sequence[Any]) -> None:
        """Other tools from now on; the agent is told where they differ."""
        declared = _declared(tools)
        if declared == self._tools:
            return
        self._tools = declared
        for writer in list(self._writers):
            await _write(writer, {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})

    async def serve(self) -> None:
        """Take in bridges at the door until this is cancelled. Blocks nobody."""
        door = os.path.join(self._folder, bridge.DOOR)
        make_pipe(door)
        reader, transport = await reader_of(os.open(door, os.O_RDONLY | open_flags.NONBLOCK), 4_096)
        held = os.open(door, os.O_WRONLY | open_flags.NONBLOCK)  # else the first bridge that leaves would end the door
        try:
            while True:
                try:
                    line = await reader.readline()
                except ValueError:
                    continue
                key, _, name = line.decode("ascii", "replace").strip().partition(" ")
                if secrets.compare_digest(key.encode(), self._key.encode()) and _NAME.fullmatch(name):
                    self._take_in(name)
        finally:
            os.close(held)
            transport.close()
            for task in list(self._tasks):
                task.cancel()

    def _take_in(self, name: str) -> None:
        if len(self._tasks) < limits.TOOL_DOORS and not self.flooded.is_set():
            task = asyncio.ensure_future(self._talk(os.path.join(self._folder, name)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _talk(self, path: str) -> None:
        """One bridge, until it leaves."""
        inward, outward = _fifo(f"{path}.in", os.O_RDONLY), -1
        if inward < 0:
            return
        reader, transport = await reader_of(inward, limits.TOOL_LINE)
        writer = None
        try:
            async with asyncio.timeout(_OPEN_S):
                while (outward := _fifo(f"{path}.out", os.O_WRONLY)) < 0:
                    await asyncio.sleep(0.02)
            writer = await writer_of(outward)
            self._writers.append(writer)
            await self._answer_all(reader, writer)
        except (TimeoutError, ConnectionError, ValueError):
            return
        finally:
            transport.close()
            if writer is not None:
                self._writers.remove(writer)
                writer.close()

    async def _answer_all(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        calls: set[asyncio.Task[None]] = set()
        try:
            while line := await reader.readline():
                if not self._meter.takes():
                    self.flooded.set()
                    return
                message = _message(line)
                if message is None or "id" not in message or "method" not in message:
                    continue
                if len(calls) >= limits.ASKS_MAX:
                    await _write(writer, _error(message["id"], -32_603, "Too many calls at once."))
                    continue
                task = asyncio.ensure_future(self._answer(message, writer))
                calls.add(task)
                task.add_done_callback(calls.discard)
        finally:
            for task in list(calls):
                task.cancel()

    async def _answer(self, message: Mapping[str, Any], writer: asyncio.StreamWriter) -> None:
        number, method = message["id"], message["method"]
        params = message.get("params")
        given: Mapping[str, Any] = params if isinstance(params, Mapping) else {}
        if method == "initialize":
            asked = given.get("protocolVersion")
            answer: dict[str, Any] = {
                "protocolVersion": asked if asked in _VERSIONS else _VERSIONS[0],
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "Assent", "version": "1"},
            }
        elif method == "ping":
            answer = {}
        elif method == "tools/list":
            answer = {"tools": self._tools}
        elif method == "tools/call":
            answer = await self._called(given)
        else:
            await _write(writer, _error(number, -32_601, f"{str(method)[:80]} is not offered."))
            return
        await _write(writer, {"jsonrpc": "2.0", "id": number, "result": answer})

    async def _called(self, given: Mapping[str, Any]) -> dict[str, Any]:
        name, arguments = given.get("name"), given.get("arguments")
        if not isinstance(name, str) or all(tool["name"] != name for tool in self._tools):
            return {"content": [{"type": "text", "text": "There is no such tool here."}], "isError": True}
        result = await self._call(name, arguments if isinstance(arguments, Mapping) else {})
        content = [{"type": "text", "text": str(result.get("text", ""))}]
        return {"content": content, "isError": result.get("isError") is True}


def _declared(tools: Sequence[Any]) -> list[dict[str, Any]]:
    found = []
    for tool in tools:
        if isinstance(tool, Mapping) and isinstance(tool.get("name"), str):
            schema = tool.get("parameters")
            found.append(
                {
                    "name": tool["name"],
                    "description": str(tool.get("description") or ""),
                    "inputSchema": schema if isinstance(schema, Mapping) else {"type": "object"},
                }
            )
    return found


def _error(number: Any, code: int, words: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": words}}


def _message(line: bytes) -> dict[str, Any] | None:
    try:
        found = read_json(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


async def _write(writer: asyncio.StreamWriter, message: Mapping[str, Any]) -> None:
    with contextlib.suppress(ConnectionError, RuntimeError):
        writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        await writer.drain()


def _fifo(path: str, mode: int) -> int:
    """A named pipe that the agent laid, opened without waiting; -1 for anything that is none, or not there yet."""
    try:
        found = os.open(path, mode | open_flags.NONBLOCK | open_flags.NOFOLLOW | open_flags.CLOEXEC)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENXIO, errno.ELOOP, errno.EACCES):
            raise
        return -1
    if not stat.S_ISFIFO(os.fstat(found).st_mode):
        os.close(found)
        return -1
    return found

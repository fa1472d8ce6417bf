"""``assent mcp``: serves MCP by stdin and stdout, or with ``--http`` on this machine's loopback address.

The app that has the home open makes the calls; where none does, this process runs the same runtime without a window,
and what needs a person is denied. A window that opens later takes over.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from desktop.app.commands.headless_output import say_error
from desktop.app.commands.mcp_server.http import serve_http
from desktop.app.commands.mcp_server.stdio import stdio
from desktop.app.commands.mcp_server.tools import ToolServer
from desktop.app.commands.reach import HomeReach
from desktop.app.home.folder import home_path
from desktop.domain.errors import KnownError
from desktop.supervision.tasks import TaskOwner
from desktop.systems import ending_signals

DONE, REFUSED = 0, 2
PORT = 7368


def main(arguments: Sequence[str]) -> int:
    """The whole command; returns its exit code."""
    options = parser().parse_args(arguments)
    if not options.http:
        if sys.stdin is None or sys.stdout is None:
            say_error("assent: stdin or stdout is closed, and MCP goes through both")
            return REFUSED
        if sys.stdin.isatty():
            say_error("assent mcp: waiting for an MCP client, which usually starts this itself; Ctrl+C ends it")
    told = logging.StreamHandler(sys.stderr)  # all that the runtime has to say goes to the home's own log
    told.setLevel(logging.ERROR)
    logging.basicConfig(handlers=[told], format="assent mcp: %(message)s")
    try:
        return asyncio.run(_run(home_path(options.home, os.environ), options))
    except KnownError as error:
        say_error(f"assent: {error}" + (f"\n  {error.next_step}" if error.next_step else ""))
        return REFUSED
    except KeyboardInterrupt:
        return DONE


def parser() -> argparse.ArgumentParser:
    """What `assent mcp` takes."""
    made = argparse.ArgumentParser(
        prog="assent mcp", description="Offer chosen skills and agents to other programs, over MCP."
    )
    made.add_argument("--http", action="store_true", help="serve HTTP on 127.0.0.1 instead of stdin and stdout")
    made.add_argument("--port", type=int, default=PORT, help=f"its port (default: {PORT}; 0: any that is free)")
    made.add_argument("--new-token", action="store_true", help="make a new token for --http; the old one is void")
    made.add_argument("--home", metavar="DIR", help="the home folder (default: $AGENT_HOME, else ~/.agent)")
    made.add_argument("--script", type=Path, help=argparse.SUPPRESS)
    return made


class _Command:
    """One run of ``assent mcp``."""

    def __init__(self, home: Path, options: argparse.Namespace) -> None:
        self._options = options
        self._tasks = TaskOwner()
        self.reach = HomeReach(home, self._hello, _refuse, self._hear, gone=_say, script=options.script)
        self._tools = ToolServer(self.reach, str(home / "workspace"))

    def _hello(self) -> Mapping[str, Any]:
        if self._options.http:
            return {"kind": "mcp", "name": "assent mcp --http"}
        return {"kind": "mcp", "name": self._tools.who}

    def _hear(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "tools_changed":
            self._tasks.spawn(self._tools.tools_changed(), "mcp: tools changed")
        else:
            self._tools.hear(method, params)

    async def go(self) -> None:
        """Serve until the client leaves, or the process is told to end."""
        stopped = asyncio.Event()
        ending_signals.hear_interrupts(asyncio.get_running_loop(), stopped.set)
        serving = self._tasks.spawn(self._http() if self._options.http else self._stdio(), "mcp: serve")
        ending = self._tasks.spawn(stopped.wait(), "mcp: signals")
        try:
            await asyncio.wait([serving, ending], return_when=asyncio.FIRST_COMPLETED)
            if serving.done():
                serving.result()
        finally:
            await self._tasks.close()
            await self.reach.close()

    async def _stdio(self) -> None:
        async with stdio() as (reading, writing):
            await self._tools.server.run(reading, writing, self._tools.options())

    async def _http(self) -> None:
        peer = await self.reach.peer()
        token = await peer.call("token", {"new": bool(self._options.new_token)})
        await serve_http(self._tools, self._options.port, token)


async def _run(home: Path, options: argparse.Namespace) -> int:
    await _Command(home, options).go()
    return DONE


async def _refuse(_method: str, _params: Mapping[str, Any]) -> Any:
    raise KnownError("`assent mcp` answers nothing.", code="door.method")


def _say(why: str) -> None:
    if why:
        say_error(f"assent mcp: {why}")

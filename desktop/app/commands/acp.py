"""``assent acp``: an agent of the Agent Client Protocol on stdin and stdout, for an editor that starts it (R-ACP-3).

It works with the Assent that has the home open, or, where none is, with a runtime of its own. Nothing but the protocol
is written to stdout; what there is to be said beside goes to stderr. It ends with the editor.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from acp import run_agent

from desktop import __version__
from desktop.app.commands.headless_output import say_error
from desktop.app.commands.reach import HomeReach
from desktop.app.door.peer import Peer
from desktop.app.home.folder import home_path
from desktop.domain.errors import KnownError
from desktop.supervision.tasks import TaskOwner
from desktop.systems import ending_signals, inherited_pipes
from desktop.workers.acp_agent.agent import EditorAgent
from desktop.workers.acp_agent.wire import CANCEL, EditorWire

DONE, FAILED, REFUSED = 0, 1, 2
PIECE = 64 * 1024
"""Bytes that are read ahead of the protocol."""
NO_PIPE = "assent acp is started by an editor, which talks to it over a pipe."


def main(arguments: Sequence[str]) -> int:
    """The whole command; returns its exit code."""
    options = parser().parse_args(arguments)
    _log_warnings()
    try:
        return asyncio.run(_serve(EditorBridge(home_path(options.home, os.environ), options.script)))
    except KnownError as error:
        say_error(f"assent: {error.advice}")
        return REFUSED
    except KeyboardInterrupt:
        return DONE


def _log_warnings() -> None:
    """What goes wrong is in the editor's log of its agents; everything else is in Assent's own."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.WARNING)
    handler.setFormatter(logging.Formatter("assent acp: %(message)s"))
    logging.getLogger().addHandler(handler)


def parser() -> argparse.ArgumentParser:
    """What `assent acp` takes."""
    made = argparse.ArgumentParser(
        prog="assent acp", description="Be an agent of the Agent Client Protocol for the editor that starts this."
    )
    made.add_argument("--home", metavar="DIR", help="the home folder (default: $AGENT_HOME, else ~/.agent)")
    made.add_argument("--script", type=Path, help=argparse.SUPPRESS)
    return made


async def _serve(bridge: EditorBridge) -> int:
    reader, writer = await _pipes()
    ending_signals.hear_interrupts(asyncio.get_running_loop(), bridge.end)
    await bridge.serve(reader, writer)
    return DONE


class EditorBridge:
    """One editor, from its first line to its last."""

    def __init__(self, home: Path, script: Path | None) -> None:
        self._editor = ("", "")
        self._asked: dict[str, Any] = {}
        """The id of the request by which the editor was asked last about a call."""
        self._over = asyncio.Event()
        self._agent = EditorAgent(self._connected, __version__, self._too_slow)
        self._reach = HomeReach(home, self._hello, self._agent.answer, self._agent.hear, script=script)

    def end(self) -> None:
        """Leave the editor."""
        self._over.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Until the editor leaves, or is left."""
        wire = EditorWire(reader, writer, self._sent)
        self._agent.withdraws_by(lambda call: self._withdraw(wire, call))
        owner = TaskOwner()
        work = [
            owner.spawn(run_agent(self._agent, wire, use_unstable_protocol=True), "acp: listen"),
            owner.spawn(self._agent.tell(), "acp: tell"),
            owner.spawn(self._over.wait(), "acp: told to end"),
        ]
        try:
            await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await owner.close()
            await self._reach.close()

    async def _connected(self, name: str, version: str) -> Peer:
        self._editor = (name, version)
        return await self._reach.peer()

    def _hello(self) -> dict[str, str]:
        name, version = self._editor
        return {"kind": "acp", "name": name or "An editor", "version": version}

    def _too_slow(self) -> None:
        say_error("assent: the editor does not read what it is told; it is left")
        self._over.set()

    def _sent(self, message: dict[str, Any]) -> None:
        if message.get("method") == "session/request_permission":
            self._asked[message["params"]["toolCall"]["toolCallId"]] = message["id"]
        self._agent.sent(message)

    async def _withdraw(self, wire: EditorWire, call: str) -> None:
        number = self._asked.pop(call, None)
        if number is not None:
            await wire.send({"jsonrpc": "2.0", "method": CANCEL, "params": {"requestId": number}})


async def _pipes() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """The editor's pipes, as copies: whatever else is printed in this process goes to stderr."""
    if sys.stdin is None or sys.stdout is None:
        raise KnownError(NO_PIPE, code="acp.pipe")
    if sys.stdin.isatty():
        say_error(f"assent: {NO_PIPE}")
    given, taken = os.dup(sys.stdin.fileno()), os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno() if sys.stderr is not None else os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    try:
        reader, _ = await inherited_pipes.reader_of(given, PIECE)
        return reader, await inherited_pipes.writer_of(taken)
    except ValueError as error:
        raise KnownError(NO_PIPE, code="acp.pipe") from error

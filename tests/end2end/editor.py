"""An editor that works with Assent: the protocol's own SDK as a client, which writes down what it is told.

``editing`` has the bridge of ``assent acp`` in this process, over a real socket, with the runtime of a home of its own;
``editing_apart`` starts the command as an editor does.
"""

import asyncio
import contextlib
import json
import os
import socket
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from acp import PROTOCOL_VERSION, connect_to_agent, spawn_agent_process, text_block
from acp.schema import AllowedOutcome, DeniedOutcome, Implementation, RequestPermissionResponse

from desktop.app.commands.acp import EditorBridge
from tests.harness.timeouts import WAIT_S

ROOT = Path(__file__).resolve().parents[2]
Answer = Callable[[Any, list[Any]], Any]
"""(call, options) -> the id of an option, None for "cancelled", or a future of either."""


def call(tool: str, *more: Mapping[str, Any], **arguments: Any) -> list[Any]:
    return [*more, {"call": {"tool": tool, "arguments": arguments}}]


def allow(_call: Any, _options: list[Any]) -> str:
    return "allow_once"


def make_home(path: Path, *rounds: Any, repeat: bool = False) -> Path:
    """A home with a scripted model."""
    (path / "workspace").mkdir(parents=True, exist_ok=True)
    (path / "script.json").write_text(json.dumps({"rounds": list(rounds), "repeat": repeat}))
    (path / "config.yaml").write_text("models:\n  default: scripted/scripted\n")
    return path


class Editor:
    """The client's side of the protocol. ``answer`` answers questions; what it was told is in ``told``."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.asked: list[dict[str, Any]] = []
        self.news = asyncio.Event()
        self.conn: Any = None
        self.options: list[list[Any]] = []

    def on_connect(self, conn: Any) -> None:
        self.conn = conn

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.told.append((session_id, plain(update)))
        self.news.set()

    async def request_permission(self, session_id: str, tool_call: Any, options: list[Any], **meta: Any) -> Any:
        self.asked.append({"session": session_id, "call": plain(tool_call), "meta": meta})
        self.options.append(options)
        self.news.set()
        chosen = self.answer(tool_call, options)
        if asyncio.isfuture(chosen):
            chosen = await chosen
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))

    # -- what a test does ---------------------------------------------------------------------------------------------

    async def greet(self, name: str = "Zed") -> Any:
        me = Implementation(name=name.lower(), title=name, version="1.2")
        return await self.conn.initialize(protocol_version=PROTOCOL_VERSION, client_info=me)

    async def begin(self, cwd: Path) -> str:
        """Greet, and open a thread."""
        await self.greet()
        return str((await self.conn.new_session(cwd=str(cwd), mcp_servers=[])).session_id)

    async def say(self, session: str, *blocks: Any) -> str:
        given = [text_block(one) if isinstance(one, str) else one for one in blocks]
        return str((await self.conn.prompt(session_id=session, prompt=given)).stop_reason)

    async def until(self, so: Callable[[], Any]) -> None:
        async with asyncio.timeout(WAIT_S):
            while not so():
                self.news.clear()
                await self.news.wait()

    def updates(self, kind: str, session: str = "") -> list[dict[str, Any]]:
        return [one for of, one in self.told if one["sessionUpdate"] == kind and session in ("", of)]

    def said(self, kind: str = "agent_message_chunk") -> str:
        return "".join(one["content"]["text"] for one in self.updates(kind))

    def states(self, call_id: str) -> list[str]:
        """The states that a call went through."""
        found = [one.get("status") for _, one in self.told if one.get("toolCallId") == call_id]
        return [one for at, one in enumerate(found) if one and (at == 0 or found[at - 1] != one)]


def rows(home: Path, query: str) -> list[Any]:
    """What the home's database has, after its Assent has ended."""
    with contextlib.closing(sqlite3.connect(home / "data" / "assent.db")) as connection:
        return connection.execute(query).fetchall()


def plain(model: Any) -> dict[str, Any]:
    found: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)
    return found


@asynccontextmanager
async def editing(home: Path, answer: Answer = allow) -> AsyncIterator[Editor]:
    """An editor with a bridge in this process."""
    editor = Editor(answer)
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    reader, writer = await asyncio.open_unix_connection(sock=ours)
    bridge = EditorBridge(home, home / "script.json")
    serving = asyncio.create_task(bridge.serve(*await asyncio.open_unix_connection(sock=theirs)))
    connection = connect_to_agent(editor, writer, reader)
    editor.conn = connection
    try:
        yield editor
    finally:
        await connection.close()
        writer.close()
        await asyncio.wait_for(serving, WAIT_S)


def command(home: Path, words: Sequence[str] = ("acp",)) -> list[str]:
    """``assent acp`` where Qt cannot be imported."""
    hidden = "from tests.harness import hide_qt; import sys; from desktop.app.main import main; sys.exit(main())"
    return [sys.executable, "-c", hidden, *words, "--home", str(home), "--script", str(home / "script.json")]


@asynccontextmanager
async def editing_apart(
    home: Path, answer: Answer = allow, words: Sequence[str] = ("acp",)
) -> AsyncIterator[tuple[Editor, Any]]:
    """An editor that starts the command."""
    editor = Editor(answer)
    started = spawn_agent_process(
        editor, *command(home, words), cwd=ROOT, env=dict(os.environ), transport_kwargs={"stderr": None}
    )
    async with started as (connection, process):
        editor.conn = connection
        yield editor, process

"""A small agent on the protocol's own library. The person's message is its orders, one a line; what comes of an order
is said:

- ``say TEXT``, ``think TEXT``, ``plan A | B``, ``turns`` (how many it had), ``use TOKENS``, ``cost USD``
- ``read PATH``, ``write PATH TEXT``, ``run COMMAND``, ``tools``, ``tool NAME JSON``: through the client
- ``kill COMMAND``: runs it, and ends it once there is a file ``begun``; ``release COMMAND``: lets go of it at once
- ``ask-write PATH TEXT``, ``ask-part PATH OLD NEW``: asks for permission for exactly that, then writes so
- ``ask-both PATH TEXT``: asks for that, tells the client to write it, and meanwhile writes it with its own hands
- ``ask-other PATH TEXT``: asks for that, and writes something else
- ``ask KIND TITLE``: asks for something that it would do by itself; ``did KIND TITLE``: has done it
- ``self-write PATH TEXT``: writes with its own hands
- ``wait``: until it is cancelled
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path += sys.argv[1:]  # where the packages are, for an interpreter that does not know

import acp
from acp import helpers
from acp.schema import (
    AgentCapabilities,
    Cost,
    Implementation,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    SessionMode,
    SessionModeState,
    ToolCallUpdate,
    Usage,
    UsageUpdate,
)

MODES = SessionModeState(
    current_mode_id="build",
    available_modes=[SessionMode(id="build", name="Build mode"), SessionMode(id="plan", name="Plan mode")],
)
OPTIONS = [
    PermissionOption(option_id="always", name="Always allow", kind="allow_always"),
    PermissionOption(option_id="once", name="Allow", kind="allow_once"),
    PermissionOption(option_id="no", name="Reject", kind="reject_once"),
]


def _orders(text: str) -> list[str]:
    """The lines of a message, and those in the arguments that a skill was called with."""
    found = []
    for line in text.splitlines():
        found += json.loads(line)["arguments"].splitlines() if line.startswith("{") else [line]
    return found


class Bridge:
    """The MCP server that the client declared, as an agent starts it."""

    def __init__(self, declared: Any) -> None:
        self._declared = declared
        self._process: asyncio.subprocess.Process | None = None
        self._next = 1

    async def request(self, method: str, params: Any) -> Any:
        if self._process is None:
            env = {**os.environ, **{one.name: one.value for one in self._declared.env}}
            self._process = await asyncio.create_subprocess_exec(
                self._declared.command, *self._declared.args, stdin=-1, stdout=-1, env=env, limit=1 << 24
            )
            hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            await self.request("initialize", hello)
        number, self._next = self._next, self._next + 1
        line = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line.encode() + b"\n")
        while True:
            answer = json.loads(await self._process.stdout.readline())
            if answer.get("id") == number:
                return answer.get("result", answer)


class Honest(acp.Agent):
    def __init__(self) -> None:
        self._client: Any = None
        self._cwd = "."
        self._bridge: Bridge | None = None
        self._cancelled = asyncio.Event()
        self._turns = 0
        self._spent = 0.0
        self._count = 0

    def on_connect(self, conn: Any) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        return InitializeResponse(
            protocol_version=acp.PROTOCOL_VERSION,
            agent_capabilities=AgentCapabilities(load_session="--forgets" not in sys.argv),
            agent_info=Implementation(name="honest", title="Honest", version="1.2.3"),
        )

    def _opened(self, cwd: str, servers: Any) -> None:
        self._cwd = cwd
        self._bridge = Bridge(servers[0]) if servers else None

    async def new_session(self, cwd: str, mcp_servers: Any = None, **_: Any) -> NewSessionResponse:
        self._opened(cwd, mcp_servers)
        return NewSessionResponse(session_id="session-1", modes=MODES)

    async def load_session(self, cwd: str, session_id: str, mcp_servers: Any = None, **_: Any) -> LoadSessionResponse:
        self._opened(cwd, mcp_servers)
        self._turns = 100
        await self._tell(session_id, acp.update_agent_message_text("what was said before"))
        return LoadSessionResponse(modes=MODES)

    async def set_session_mode(self, mode_id: str, session_id: str, **_: Any) -> None:
        await self._tell(session_id, helpers.update_current_mode(mode_id))

    async def cancel(self, session_id: str, **_: Any) -> None:
        self._cancelled.set()

    async def _tell(self, session: str, update: Any) -> None:
        await self._client.session_update(session_id=session, update=update)

    async def prompt(self, prompt: Any, session_id: str, **_: Any) -> PromptResponse:
        self._cancelled.clear()
        self._turns += 1
        used = 0
        for line in _orders(prompt[-1].text):
            order, _, rest = line.strip().partition(" ")
            if order == "use":
                used += int(rest)
                continue
            try:
                said = await self._do(session_id, order, rest)
            except acp.RequestError as error:
                said = f"refused: {error}"
            if said:
                await self._tell(session_id, acp.update_agent_message_text(said + "\n"))
            if self._cancelled.is_set():
                return PromptResponse(stop_reason="cancelled")
        usage = Usage(total_tokens=used, input_tokens=used, output_tokens=0) if used else None
        return PromptResponse(stop_reason="end_turn", usage=usage)

    async def _do(self, session: str, order: str, rest: str) -> str:
        first, _, text = rest.partition(" ")
        found = getattr(self, "do_" + order.replace("-", "_"), None)
        answer: str | None = await found(session, first, text, rest) if found is not None else ""
        return answer or ""

    async def do_say(self, _session: str, _first: str, _text: str, rest: str) -> str:
        return rest

    async def do_turns(self, *_: str) -> str:
        return f"turn {self._turns}"

    async def do_think(self, session: str, _first: str, _text: str, rest: str) -> None:
        await self._tell(session, acp.update_agent_thought_text(rest))

    async def do_plan(self, session: str, _first: str, _text: str, rest: str) -> None:
        steps = [part.strip() for part in rest.split("|")]
        states: list[Any] = ["completed", "in_progress", *["pending"] * len(steps)]
        rows = [acp.plan_entry(step, status=state) for step, state in zip(steps, states, strict=False)]
        await self._tell(session, acp.update_plan(rows))

    async def do_read(self, session: str, first: str, *_: str) -> str:
        answer = await self._client.read_text_file(session_id=session, path=os.path.join(self._cwd, first))
        return str(answer.content)

    async def do_write(self, session: str, first: str, text: str, _rest: str) -> str:
        place = os.path.join(self._cwd, first)
        await self._client.write_text_file(session_id=session, path=place, content=text)
        return "written"

    async def do_run(self, session: str, _first: str, _text: str, rest: str) -> str:
        return await self._run(session, rest)

    async def do_kill(self, session: str, _first: str, _text: str, rest: str) -> str:
        begun = Path(self._cwd, "begun")
        terminal = await self._client.create_terminal(session_id=session, command=rest)
        while not begun.exists() and not self._cancelled.is_set():
            await asyncio.sleep(0.01)
        await self._client.kill_terminal(session_id=session, terminal_id=terminal.terminal_id)
        output = await self._client.terminal_output(session_id=session, terminal_id=terminal.terminal_id)
        ended = await self._client.wait_for_terminal_exit(session_id=session, terminal_id=terminal.terminal_id)
        await self._client.release_terminal(session_id=session, terminal_id=terminal.terminal_id)
        return f"{ended.exit_code} {ended.signal}: {output.output.strip()}"

    async def do_release(self, session: str, _first: str, _text: str, rest: str) -> str:
        terminal = await self._client.create_terminal(session_id=session, command=rest)
        await self._client.release_terminal(session_id=session, terminal_id=terminal.terminal_id)
        return "released"

    async def do_ask_write(self, session: str, first: str, text: str, _rest: str) -> str:
        return await self._ask_write(session, os.path.join(self._cwd, first), text)

    async def do_ask_part(self, session: str, first: str, text: str, _rest: str) -> str:
        old, _, new = text.partition(" ")
        return await self._ask_write(session, os.path.join(self._cwd, first), new, old)

    async def do_ask_both(self, session: str, first: str, text: str, _rest: str) -> str:
        place = os.path.join(self._cwd, first)
        content = [acp.tool_diff_content(place, text)]
        said = await self._ask(
            session, ToolCallUpdate(tool_call_id="t-both", title=place, kind="edit", content=content)
        )
        told = asyncio.create_task(self._client.write_text_file(session_id=session, path=place, content=text))
        await asyncio.sleep(0.1)  # the client has begun with it
        Path(place).write_text(text)
        await self._tell(session, acp.update_tool_call("t-both", status="completed"))
        await told
        return said

    async def do_ask_other(self, session: str, first: str, text: str, _rest: str) -> str:
        """Asks for one text, and writes another one."""
        place = os.path.join(self._cwd, first)
        content = [acp.tool_diff_content(place, text)]
        said = await self._ask(
            session, ToolCallUpdate(tool_call_id="t-other", title=place, kind="edit", content=content)
        )
        await self._client.write_text_file(session_id=session, path=place, content=f"{text}, and more")
        return said

    async def do_ask(self, session: str, first: str, text: str, _rest: str) -> str:
        self._count += 1
        kind: Any = first
        return await self._ask(session, ToolCallUpdate(tool_call_id=f"t{self._count}", title=text, kind=kind))

    async def do_self_write(self, _session: str, first: str, text: str, _rest: str) -> str:
        try:
            Path(self._cwd, first).write_text(text)
        except OSError as error:
            return f"by itself: {error.strerror}"
        return "by itself: written"

    async def do_did(self, session: str, first: str, text: str, _rest: str) -> None:
        self._count += 1
        kind: Any = first
        await self._tell(session, acp.start_tool_call(f"t{self._count}", text, kind=kind, status="in_progress"))
        await self._tell(session, acp.update_tool_call(f"t{self._count}", status="completed"))

    async def do_tool(self, _session: str, first: str, text: str, _rest: str) -> str:
        assert self._bridge is not None
        answer = await self._bridge.request("tools/call", {"name": first, "arguments": json.loads(text)})
        return str(answer["content"][0]["text"])

    async def do_tools(self, *_: str) -> str:
        assert self._bridge is not None
        found = await self._bridge.request("tools/list", {})
        return " ".join(sorted(tool["name"] for tool in found["tools"]))

    async def do_cost(self, session: str, first: str, *_: str) -> None:
        self._spent += float(first)
        cost = Cost(amount=self._spent, currency="USD")
        await self._tell(session, UsageUpdate(session_update="usage_update", used=62_000, size=200_000, cost=cost))

    async def do_wait(self, *_: str) -> None:
        await self._cancelled.wait()

    async def _run(self, session: str, command: str) -> str:
        terminal = await self._client.create_terminal(session_id=session, command=command)
        ended = await self._client.wait_for_terminal_exit(session_id=session, terminal_id=terminal.terminal_id)
        output = await self._client.terminal_output(session_id=session, terminal_id=terminal.terminal_id)
        await self._client.release_terminal(session_id=session, terminal_id=terminal.terminal_id)
        return f"exit {ended.exit_code}: {output.output.strip()}"

    async def _ask(self, session: str, about: ToolCallUpdate) -> str:
        answer = await self._client.request_permission(session_id=session, tool_call=about, options=OPTIONS)
        return f"{answer.outcome.outcome} {getattr(answer.outcome, 'option_id', '')}".strip()

    async def _ask_write(self, session: str, place: str, text: str, part: str = "") -> str:
        old = Path(place).read_text() if os.path.exists(place) else None
        whole = old.replace(part, text) if old is not None and part else text
        about = ToolCallUpdate(
            tool_call_id="t-write",
            title=f"Write {place}",
            kind="edit",
            content=[acp.tool_diff_content(place, text, part or old)],
        )
        said = await self._ask(session, about)
        if said != "selected once":
            return said
        await self._client.write_text_file(session_id=session, path=place, content=whole)
        return f"{said}, written"


if __name__ == "__main__":
    asyncio.run(acp.run_agent(Honest()))

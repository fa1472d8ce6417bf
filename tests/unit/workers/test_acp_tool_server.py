"""Our tools for an agent of another maker, called by the official MCP client through the bridge, as the agent does."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from desktop.workers.acp_host.bridge import DOOR, KEY
from desktop.workers.acp_host.tool_server import OfferedTools
from tests.harness.timeouts import WAIT_S, until

TOOL: dict[str, Any] = {
    "name": "look",
    "description": "Looks.",
    "parameters": {"type": "object", "properties": {"at": {"type": "string"}}},
}


@asynccontextmanager
async def serving(folder: Path, called: list[Any]) -> AsyncIterator[OfferedTools]:
    async def call(name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        called.append((name, dict(arguments)))
        return {"text": f"seen {arguments.get('at')}", "isError": arguments.get("at") == "nowhere"}

    made = OfferedTools(str(folder), [TOOL], call)
    task = asyncio.create_task(made.serve())
    await until((folder / DOOR).exists, "the door")
    try:
        yield made
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def client_of(made: OfferedTools, **env: str) -> StdioServerParameters:
    declared = made.declaration()
    given = {one["name"]: one["value"] for one in declared["env"]} | env
    return StdioServerParameters(command=declared["command"], args=declared["args"], env=given)


@pytest.mark.spec("R-ACP-2")
async def test_the_official_client_lists_and_calls_them_and_several_may_come(tmp_path: Path) -> None:
    called: list[Any] = []
    async with serving(tmp_path, called) as made, asyncio.timeout(WAIT_S):
        for _ in range(2):
            async with stdio_client(client_of(made)) as (read, write), ClientSession(read, write) as session:
                hello = await session.initialize()
                assert hello.server_info.name == "Assent"
                (tool,) = (await session.list_tools()).tools
                assert (tool.name, tool.input_schema) == ("look", TOOL["parameters"])
                answer = await session.call_tool("look", {"at": "home"})
                assert (answer.content[0].text, answer.is_error) == ("seen home", False)  # type: ignore[union-attr]
                wrong = await session.call_tool("look", {"at": "nowhere"})
                assert wrong.is_error
                await session.send_ping()
        assert called == [("look", {"at": "home"}), ("look", {"at": "nowhere"})] * 2
        assert sorted(os.listdir(tmp_path)) == [DOOR], "nothing of a bridge stays"


@pytest.mark.spec("R-ACP-2")
async def test_who_has_not_the_key_of_the_session_is_not_let_in(tmp_path: Path) -> None:
    called: list[Any] = []
    async with serving(tmp_path, called) as made:
        hello = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":{}}}\n'
        declared = made.declaration()
        process = await asyncio.create_subprocess_exec(
            declared["command"], *declared["args"], stdin=-1, stdout=-1, env={KEY: "0" * 32}
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(hello)
        await until(lambda: len(os.listdir(tmp_path)) == 3, "its pipes lie beside the door")
        for line in (b"\n", b"x" * 3_000 + b"\n", b"key ../../etc/passwd\n"):
            with open(tmp_path / DOOR, "wb", 0) as door:
                door.write(line)
        async with asyncio.timeout(WAIT_S), stdio_client(client_of(made)) as (read, write):
            async with ClientSession(read, write) as session:
                await session.initialize()
                await session.call_tool("look", {"at": "home"})
        assert called == [("look", {"at": "home"})], "only the one with the key was heard"
        process.kill()
        await process.wait()


@pytest.mark.spec("R-ACP-2")
async def test_who_floods_them_is_read_no_further_by_any_way(tmp_path: Path) -> None:
    called: list[Any] = []
    async with serving(tmp_path, called) as made, asyncio.timeout(WAIT_S):
        declared = made.declaration()
        env = {one["name"]: one["value"] for one in declared["env"]}

        async def bridge() -> asyncio.subprocess.Process:
            return await asyncio.create_subprocess_exec(
                declared["command"], *declared["args"], stdin=-1, stdout=-1, env=env
            )

        first = await bridge()
        assert first.stdin is not None
        first.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/x"}\n' * 200_000)
        await made.flooded.wait()
        with contextlib.suppress(ConnectionError):
            await first.stdin.drain()
        second = await bridge()
        assert second.stdin is not None
        call = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":{}}}\n'
        second.stdin.write(call)
        await until(lambda: len(os.listdir(tmp_path)) >= 3, "its pipes lie beside the door")
        for process in (first, second):
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    assert called == []

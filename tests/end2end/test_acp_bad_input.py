"""Editors that send what no editor should: each line gets its answer, nothing is half done, and the next one works."""

import asyncio
import contextlib
import json
import socket
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from desktop.app.commands.acp import EditorBridge
from desktop.app.commands.windowless import windowless
from desktop.app.door.client import connect
from desktop.app.door.host import Door
from desktop.app.guests.rooms import rooms
from desktop.app.home.folder import DATA, SOCKET, open_home
from desktop.app.wiring.services import Services
from desktop.domain.errors import KnownError
from desktop.services.definitions.book import DEFAULT_AGENT
from desktop.workers.acp_agent.wire import LINE_MAX, UNDER_WAY_MAX
from tests.end2end.editor import call, editing, make_home, rows
from tests.harness.timeouts import WAIT_S

HELLO = {"protocolVersion": 1, "clientInfo": {"name": "raw", "version": "1"}}


class Raw:
    """The editor's end of the pipe, line by line."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.others: list[dict[str, Any]] = []

    def send(self, line: bytes) -> None:
        self.writer.write(line + b"\n")

    def ask(self, number: Any, method: str, **params: Any) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode())

    async def line(self) -> dict[str, Any]:
        async with asyncio.timeout(WAIT_S):
            found: dict[str, Any] = json.loads(await self.reader.readline())
            return found

    async def answer(self, number: Any) -> dict[str, Any]:
        """The answer with this id; what comes before it is kept."""
        while True:
            found = await self.line()
            if "method" not in found and found.get("id") == number:
                return found
            self.others.append(found)


def door_of(services: Services) -> Door:
    made = rooms(services)
    return Door(lambda: made, window=False)


@asynccontextmanager
async def raw(home: Path) -> AsyncIterator[Raw]:
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    reader, writer = await asyncio.open_unix_connection(sock=ours, limit=2**26)
    bridge = EditorBridge(home, home / "script.json")
    serving = asyncio.create_task(bridge.serve(*await asyncio.open_unix_connection(sock=theirs)))
    try:
        yield Raw(reader, writer)
    finally:
        writer.close()
        await asyncio.wait_for(serving, WAIT_S)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b"42", -32600),
        (b"null", -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"initialize"}]', -32600),
        (b'{"jsonrpc":"2.0","id":[1],"method":"initialize"}', -32600),
        (b'{"jsonrpc":"2.0","id":{"a":1},"result":{}}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"initialize"}', -32600),
        (b'{"jsonrpc":"2.0"}', -32600),
        (b'{"jsonrpc":"2.0","id":5,"error":"no"}', -32600),
        (b"x" * (LINE_MAX + 1), -32600),
    ],
)
@pytest.mark.spec("R-ACP-3")
async def test_a_line_that_is_no_message_is_answered_and_the_connection_goes_on(
    tmp_path: Path, line: bytes, code: int
) -> None:
    async with raw(make_home(tmp_path / "h")) as editor:
        editor.send(line)
        assert (await editor.line())["error"]["code"] == code
        editor.ask("next", "initialize", **HELLO)
        assert (await editor.answer("next"))["result"]["protocolVersion"] == 1


async def test_answers_to_questions_that_nobody_asked_count_as_nothing(tmp_path: Path) -> None:
    async with raw(make_home(tmp_path / "h")) as editor:
        for number in (0, 17, "x", None):
            outcome = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
            editor.send(json.dumps({"jsonrpc": "2.0", "id": number, "result": outcome}).encode())
        editor.ask(1, "initialize", **HELLO)
        assert (await editor.line())["id"] == 1


@pytest.mark.expects_log("Unhandled error while handling notification", "cancel")
async def test_what_the_protocol_does_not_know_is_refused_by_its_name(tmp_path: Path) -> None:
    async with raw(make_home(tmp_path / "h")) as editor:
        editor.ask(1, "session/new", cwd="/", mcpServers=[])
        assert "initialize comes first" in json.dumps((await editor.answer(1))["error"])
        for version in (0, 2, 65_535):
            editor.ask(2, "initialize", protocolVersion=version)
            assert (await editor.answer(2))["result"]["protocolVersion"] == 1
        editor.send(b'{"jsonrpc":"2.0","id":3,"method":"initialize","params":[1]}')
        assert (await editor.answer(3))["error"]["code"] == -32602
        for method, code in (("session/none", -32601), ("_own/thing", -32601), ("session/fork", -32601)):
            editor.ask(4, method, sessionId="x", cwd="/", mcpServers=[])
            assert (await editor.answer(4))["error"]["code"] == code
        for method, params in (
            ("session/prompt", {"prompt": [{"type": "text", "text": "x"}]}),
            ("session/load", {"cwd": "/", "mcpServers": []}),
            ("session/set_mode", {"modeId": "ask"}),
            ("session/set_config_option", {"configId": "model", "value": "demo/demo"}),
            ("session/close", {}),
        ):
            editor.ask(5, method, sessionId="../../etc", **params)
            assert (await editor.answer(5))["error"]["code"] == -32002, method
        editor.ask(6, "session/prompt", sessionId="x", prompt=[{"type": "hologram"}])
        assert (await editor.answer(6))["error"]["code"] == -32602
        editor.ask(7, "authenticate", methodId="x")
        assert "no way to sign in" in (await editor.answer(7))["error"]["message"]
        editor.send(b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"none"}}')
        editor.send(b'{"jsonrpc":"2.0","method":"session/cancel","params":7}')
        editor.ask(8, "session/list", cursor="-1")
        assert "no such page" in (await editor.answer(8))["error"]["message"]


async def test_a_thread_that_no_editor_made_is_not_there_for_one(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h", [{"text": "Hello."}])
    async with editing(home) as editor:
        own = await editor.begin(home)
        await editor.say(own, "Hello")
    with contextlib.closing(sqlite3.connect(home / "data" / "assent.db")) as connection, connection:
        connection.execute("UPDATE threads SET label = ''")
    async with raw(home) as other:
        other.ask(1, "initialize", **HELLO)
        other.ask(2, "session/load", sessionId=own, cwd="/", mcpServers=[])
        assert (await other.answer(2))["error"]["code"] == -32002
        other.ask(3, "session/list")
        assert (await other.answer(3))["result"]["sessions"] == []


@pytest.mark.spec("R-ACP-3", "R-PRM-5")
async def test_a_program_at_the_door_gets_no_thread_of_the_person_by_its_id(tmp_path: Path) -> None:
    """``open`` takes an id, for a thread in which nothing was said before Assent became another process."""
    home = make_home(tmp_path / "h", call("write_file", path="a.txt", content="x\n"), [{"text": "Done."}])
    held = await asyncio.to_thread(open_home, home)
    told: list[str] = []

    async def answer(method: str, _params: Any) -> Any:
        told.append(method)
        return {"option": "allow_once"}

    async with windowless(held, door_of, script=home / "script.json") as (services, _):
        thread = await services.chats.create_thread(agent=DEFAULT_AGENT, model="scripted/scripted")
        peer, _ = await connect(home / DATA / SOCKET, {"kind": "acp", "name": "another"})
        serving = asyncio.create_task(peer.serve(answer, lambda method, _params: told.append(method)))
        for method in ("load", "again", "open"):
            with pytest.raises(KnownError, match="thread"):
                await peer.call(method, {"thread": thread.thread_id, "cwd": str(home)})
        await services.chats.send(thread.thread_id, "Write")
        assert await services.chats.wait(thread.thread_id, WAIT_S)
        peer.close()
        await serving
    held.release()
    assert told == []
    assert not (home / "workspace" / "a.txt").exists()


async def test_ten_thousand_prompts_at_once_are_answered_one_by_one_and_only_one_is_asked(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h", [{"text": "Begun"}, {"hang": True}], [{"text": "Over."}])
    async with raw(home) as editor:
        editor.ask(1, "initialize", **HELLO)
        editor.ask(2, "session/new", cwd=str(home), mcpServers=[])
        session = (await editor.answer(2))["result"]["sessionId"]
        prompt = [{"type": "text", "text": "Go"}]
        editor.ask("first", "session/prompt", sessionId=session, prompt=prompt)
        for number in range(10_000):
            editor.ask(f"more-{number}", "session/prompt", sessionId=session, prompt=prompt)
        answers: dict[str, dict[str, Any]] = {}
        while len(answers) < 10_000:
            found = await editor.line()
            if "method" not in found:
                answers[str(found["id"])] = found
        said = {answer["error"]["message"] for answer in answers.values()}
        assert said <= {
            f"{UNDER_WAY_MAX} requests are under way; wait for one of them.",
            "This thread is at work. Wait until it is done, or stop it.",
        }
        editor.send(json.dumps({"method": "session/cancel", "params": {"sessionId": session}}).encode())
        assert (await editor.answer("first"))["result"]["stopReason"] == "cancelled"
        editor.ask("last", "session/prompt", sessionId=session, prompt=prompt)
        assert (await editor.answer("last"))["result"]["stopReason"] == "end_turn"


async def test_a_prompt_that_is_taken_back_by_its_id_is_stopped_and_an_id_is_used_once(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h", [{"text": "Begun"}, {"hang": True}])
    async with raw(home) as editor:
        editor.ask(1, "initialize", **HELLO)
        editor.ask(2, "session/new", cwd=str(home), mcpServers=[])
        session = (await editor.answer(2))["result"]["sessionId"]
        editor.ask("p", "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "Go"}])
        editor.ask("p", "session/list")
        assert "under way already" in (await editor.answer("p"))["error"]["message"]
        for odd in (None, [], {"requestId": ["p"]}, {"requestId": 7}, {"requestId": "p"}):
            editor.send(json.dumps({"jsonrpc": "2.0", "method": "$/cancel_request", "params": odd}).encode())
        assert (await editor.answer("p"))["result"]["stopReason"] == "cancelled"


async def test_an_editor_that_leaves_while_it_is_asked_has_said_no_and_the_run_ends(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h", call("write_file", path="a.txt", content="x"), [{"text": "Never."}])
    async with raw(home) as editor:
        editor.ask(1, "initialize", **HELLO)
        editor.ask(2, "session/new", cwd=str(home), mcpServers=[])
        session = (await editor.answer(2))["result"]["sessionId"]
        editor.ask(3, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "Go"}])
        while (await editor.line()).get("method") != "session/request_permission":
            pass
    assert not (home / "workspace" / "a.txt").exists()
    ((reason,),) = rows(home, "SELECT end_reason FROM runs")
    assert reason in ("cancelled", "interrupted")
    assert rows(home, "SELECT line FROM audit WHERE line LIKE '%allow_%'") == []


async def test_an_editor_hears_nothing_of_a_session_before_its_id_and_everything_before_the_end(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h", [*[{"text": "word "}] * 300, {"text": "end"}])
    async with raw(home) as editor:
        editor.ask(1, "initialize", **HELLO)
        await editor.answer(1)
        editor.ask(2, "session/new", cwd=str(home), mcpServers=[])
        session = (await editor.answer(2))["result"]["sessionId"]
        assert editor.others == []
        editor.ask(3, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "Go"}])
        await editor.answer(3)
        told = [one["params"]["update"] for one in editor.others]
        said = [one["content"]["text"] for one in told if one["sessionUpdate"] == "agent_message_chunk"]
        assert "".join(said).endswith("word " * 300 + "end")
        assert "available_commands_update" in [one["sessionUpdate"] for one in told]


@pytest.mark.spec("R-ACP-3", "R-PRM-5")
async def test_of_two_answers_to_one_question_the_first_counts(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h", call("write_file", path="a.txt", content="x"), [{"text": "Done."}])
    async with raw(home) as editor:
        editor.ask(1, "initialize", **HELLO)
        editor.ask(2, "session/new", cwd=str(home), mcpServers=[])
        session = (await editor.answer(2))["result"]["sessionId"]
        editor.ask(3, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "Go"}])
        while (asked := await editor.line()).get("method") != "session/request_permission":
            pass
        for number, option in ((asked["id"] + 1, "allow_once"), (asked["id"], "deny"), (asked["id"], "allow_once")):
            outcome = {"outcome": {"outcome": "selected", "optionId": option}}
            editor.send(json.dumps({"jsonrpc": "2.0", "id": number, "result": outcome}).encode())
        assert (await editor.answer(3))["result"]["stopReason"] == "end_turn"
    assert not (home / "workspace" / "a.txt").exists()


@pytest.mark.spec("R-ACP-3", "R-PRM-6")
async def test_an_answer_that_is_none_is_a_no(tmp_path: Path) -> None:
    """Also one that the protocol's own SDK cannot read."""
    odd = [
        {"result": {}},
        {"result": None},
        {"result": {"outcome": "allow_once"}},
        {"error": {"code": "x"}},
        {"error": {}},
    ]
    rounds = [call("write_file", path=f"{number}.txt", content="x") for number in range(len(odd))]
    home = make_home(tmp_path / "h", *rounds, [{"text": "Done."}])
    async with raw(home) as editor:
        editor.ask(1, "initialize", **HELLO)
        editor.ask(2, "session/new", cwd=str(home), mcpServers=[])
        session = (await editor.answer(2))["result"]["sessionId"]
        editor.ask(3, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "Go"}])
        for answer in odd:
            while (asked := await editor.line()).get("method") != "session/request_permission":
                assert asked.get("id") != 3, "it has ended"
            editor.send(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}).encode())
        assert (await editor.answer(3))["result"]["stopReason"] == "end_turn"
    assert list((home / "workspace").iterdir()) == []

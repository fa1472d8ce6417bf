"""`assent mcp` as other programs start it: real processes, the SDK's client, and a home that changes hands."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

from desktop.app.home.folder import holder
from desktop.settings import SettingsService
from tests.harness.help_pages import samples
from tests.harness.services import KeyringDaemon
from tests.harness.timeouts import WAIT_S, until
from tests.unit.app.test_mcp_room import ADD, NOTE, WORDS

ROOT = Path(__file__).resolve().parents[2]
MODERN = "2026-07-28"
HIDDEN = "from tests.harness import hide_qt; import sys; from desktop.app.main import main; sys.exit(main())"


def made_home(home: Path, *rounds: Any, offered: str = "add, note, answer") -> Path:
    (home / "skills").mkdir(parents=True)
    for name, text in (("add.skill.py", ADD), ("note.skill.py", NOTE), ("answer.skill.md", WORDS)):
        (home / "skills" / name).write_text(text)
    (home / "config.yaml").write_text(f"models: {{default: scripted/scripted}}\nother_apps: {{offered: [{offered}]}}\n")
    (home / "script.json").write_text(json.dumps({"rounds": list(rounds)}))
    return home


def words(home: Path, *more: str) -> list[str]:
    return ["-c", HIDDEN, "mcp", "--home", str(home), "--script", str(home / "script.json"), *more]


class Heard:
    def __init__(self) -> None:
        self.logs: list[Any] = []
        self.progress: list[tuple[float, str]] = []
        self.told: list[str] = []

    async def log(self, params: Any) -> None:
        self.logs.append(params)

    async def progressed(self, progress: float, _total: float | None, message: str | None) -> None:
        self.progress.append((progress, message or ""))

    async def message(self, message: Any) -> None:
        self.told.append(type(getattr(message, "root", message)).__name__)


@asynccontextmanager
async def session(home: Path, errors: Path) -> AsyncIterator[tuple[ClientSession, Heard]]:
    heard = Heard()
    parameters = StdioServerParameters(command=sys.executable, args=words(home), cwd=ROOT, env=dict(os.environ))
    with open(errors, "a") as said:
        async with (
            stdio_client(parameters, errlog=said) as (reading, writing),
            ClientSession(reading, writing, logging_callback=heard.log, message_handler=heard.message) as client,
        ):
            await client.initialize()
            yield client, heard


@pytest.mark.spec("R-MSV-1", "R-MSV-2", "S-TRC-3")
async def test_the_sdks_client_lists_calls_and_hears_and_two_at_once_share_one_home(tmp_path: Path) -> None:
    home = made_home(tmp_path / "h", [{"text": "Hello."}], [{"text": "Hello."}])
    async with session(home, tmp_path / "said") as (client, heard):
        assert [tool.name for tool in (await client.list_tools()).tools] == ["add", "answer", "note"]
        done = await client.call_tool("add", {"a": 1, "b": 2})
        assert (done.structured_content, done.is_error) == ({"sum": 3}, False)
        async with session(home, tmp_path / "said") as (other, _):
            calls = [one.call_tool("add", {"a": 1, "b": n}) for n in range(4) for one in (client, other)]
            both = await asyncio.gather(*calls)
            assert [one.structured_content["sum"] for one in both] == [1, 1, 2, 2, 3, 3, 4, 4]
        with pytest.raises(MCPError, match="offers no tool of the name 'bash'"):
            await client.call_tool("bash", {"command": "id"})
        denied = await client.call_tool("note", {})
        assert denied.is_error
        assert "nobody is here to ask" in denied.content[0].text
        said = await client.call_tool("answer", {"message": "hi"}, progress_callback=heard.progressed)
        assert said.content[0].text == "Hello."
        await until(lambda: len(heard.logs) >= 5)
        kinds = [one.data["type"] for one in heard.logs]
        assert kinds == ["agent-start", "turn-start", "agent-message", "turn-end", "agent-complete"]
        assert {one.logger for one in heard.logs} == {"answer"}
        assert [number for number, _ in heard.progress] == [1, 2, 3, 4, 5]
        assert heard.progress[2][1] == "answer: agent-message Hello."
        with pytest.warns(MCPDeprecationWarning):  # of the older era, whose clients still ask for it
            await client.set_logging_level("warning")
        await client.call_tool("answer", {"message": "hi"}, progress_callback=heard.progressed)
        await until(lambda: len(heard.progress) == 10)
        assert len(heard.logs) == 5, "only what is at least a warning"
    assert holder(home) == 0
    assert (tmp_path / "said").read_text() == ""


@pytest.mark.spec("R-MSV-1", "R-MSV-2")
async def test_a_client_of_the_new_protocol_lists_calls_hears_and_is_told_of_changes(tmp_path: Path) -> None:
    home, heard = made_home(tmp_path / "h", [{"text": "Hello."}]), Heard()
    parameters = StdioServerParameters(command=sys.executable, args=words(home), cwd=ROOT, env=dict(os.environ))
    async with Client(parameters, mode=MODERN, log_level="info", logging_callback=heard.log) as client:
        assert sorted(tool.name for tool in (await client.list_tools()).tools) == ["add", "answer", "note"]
        assert (await client.call_tool("add", {"a": 1, "b": 2})).structured_content == {"sum": 3}
        await client.call_tool("answer", {"message": "hi"}, progress_callback=heard.progressed)
        await until(lambda: len(heard.progress) == 5)
        assert [one.data["type"] for one in heard.logs][::4] == ["agent-start", "agent-complete"]
        async with client.listen(tools_list_changed=True) as changes:
            (home / "config.yaml").write_text("models: {default: scripted/scripted}\nother_apps: {offered: [add]}\n")
            async with asyncio.timeout(WAIT_S):
                assert type(await anext(aiter(changes))).__name__ == "ToolsListChanged"
        assert [tool.name for tool in (await client.list_tools()).tools] == ["add"]


@asynccontextmanager
async def serving(home: Path, *more: str, keyring: KeyringDaemon | None = None) -> AsyncIterator[tuple[str, str]]:
    """`assent mcp --http`: its address, and its token where it shows one. Without ``keyring`` there is none."""
    command = [sys.executable, *words(home, "--http", "--port", "0", *more)]
    environment = {**os.environ, **(keyring.environment if keyring is not None else {})}
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stderr is not None
    lines = [await asyncio.to_thread(process.stderr.readline)]
    shown = keyring is None or more or not (home / "shown").exists()
    lines += [await asyncio.to_thread(process.stderr.readline) for _ in range(2 if shown else 0)]
    (home / "shown").touch()
    try:
        yield lines[0].split()[-1], lines[1].split()[-1] if shown else ""
        process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(process.wait, WAIT_S) == 0
        assert process.stderr.read() == ""
    finally:
        process.kill()
        process.wait(WAIT_S)
        process.stderr.close()


@pytest.mark.spec("R-MSV-1")
async def test_by_http_only_who_has_the_token_gets_in_and_no_page_of_the_web(tmp_path: Path) -> None:
    home = made_home(tmp_path / "h", [{"text": "Hello."}])
    hello = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    async with serving(home) as (address, token):
        assert address.startswith("http://127.0.0.1:")
        right = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
        async with httpx2.AsyncClient(headers=right, timeout=WAIT_S) as http:
            for mode in ("legacy", MODERN):
                async with Client(streamable_http_client(address, http_client=http), mode=mode) as client:
                    assert (await client.call_tool("add", {"a": 1, "b": 2})).structured_content == {"sum": 3}
            for headers, status in (
                ({"Authorization": ""}, 401),
                ({"Authorization": f"Bearer {token[:-1]}"}, 401),
                ({"Authorization": f"bearer {token}"}, 401),
                ({"Host": "evil.example"}, 421),
                ({"Host": f"127.0.0.1.evil.example:{address.split(':')[2][:5]}"}, 421),
                ({"Origin": "https://evil.example"}, 403),
                ({"Origin": "http://127.0.0.1.evil.example"}, 403),
            ):
                refused = await http.post(address, json=hello, headers=headers)
                assert refused.status_code == status, (headers, refused.text)
                assert token not in refused.text
            large = await http.post(address, content=b"x" * 9_000_000, headers={"Content-Type": "application/json"})
            assert large.status_code == 413
            assert (await http.get(address.replace("/mcp", "/"))).status_code == 404


@pytest.mark.spec("R-MSV-1")
async def test_the_token_is_shown_once_kept_in_the_keyring_and_void_when_another_is_made(
    tmp_path: Path, keyring_daemon: KeyringDaemon
) -> None:
    home, body = made_home(tmp_path / "h"), {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}

    async def status(address: str, token: str) -> int:
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
        async with httpx2.AsyncClient(headers=headers, timeout=WAIT_S) as http:
            return (await http.post(address, json=body)).status_code

    async with serving(home, keyring=keyring_daemon) as (address, first):
        assert await status(address, first) != 401
        async with serving(made_home(tmp_path / "other")) as (elsewhere, other):
            assert (await status(elsewhere, first), await status(address, other)) == (401, 401), "of another home"
    async with serving(home, keyring=keyring_daemon) as (address, shown):
        assert (shown, await status(address, first) != 401) == ("", True)
    async with serving(home, "--new-token", keyring=keyring_daemon) as (address, second):
        assert await status(address, second) != 401
        assert await status(address, first) == 401
    kept = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert not any(token.encode() in kept for token in (first, second))


@pytest.mark.spec("R-MSV-1")
async def test_what_a_client_cancels_stops_in_the_app_and_its_connection_goes_on(tmp_path: Path) -> None:
    hangs = {"when": "for ever", "steps": [{"hang": True}]}
    home = made_home(tmp_path / "h", hangs, {"when": "hi", "steps": [{"text": "Hello."}]})
    (home / "data").mkdir()
    with socket.socket(socket.AF_UNIX) as dead:  # a socket that a process left that was killed
        dead.bind(str(home / "data" / "raise.sock"))
    async with session(home, tmp_path / "said") as (client, heard):
        with anyio.CancelScope() as scope:

            async def stop_once_it_works(*_: object) -> None:
                scope.cancel()

            await client.call_tool("answer", {"message": "for ever"}, progress_callback=stop_once_it_works)
        await until(lambda: any(one.data["type"] == "agent-start" for one in heard.logs))
        done = await client.call_tool("answer", {"message": "hi"})
        assert done.content[0].text == "Hello."
    with contextlib.closing(sqlite3.connect(home / "data" / "assent.db")) as database:
        lines = [json.loads(line) for (line,) in database.execute("SELECT line FROM audit ORDER BY seq")]
    outcomes = [line["outcome"] for line in lines if line.get("tool") == "answer" and line.get("outcome")]
    assert outcomes == ["aborted", "done"], lines


@pytest.mark.spec("R-MSV-1")
async def test_bad_lines_cost_their_sender_alone_and_a_home_is_left_in_order(tmp_path: Path) -> None:
    home = made_home(tmp_path / "h")
    name = "<b>Evil\x1b[31m\u202e" + "x" * 2_000_000
    greeting = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": name, "version": "1"}}
    lines: list[bytes] = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": greeting}).encode(),
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        b"no json",
        b"[" * 5000,
        b'{"jsonrpc": "2.0", "id": 2, "method": "no/method", "params": {}}',
        b'{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": 7}}',
        b'{"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "add", "arguments": {"a": "x"}}}',
        b'{"jsonrpc": "2.0", "id": 5, "method": "tools/list"}',
    ]
    pipe = subprocess.PIPE
    command = [sys.executable, *words(home)]
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"\n".join(lines) + b"\n")
        process.stdin.flush()
        answers: dict[Any, Any] = {}
        while 5 not in answers:
            answer = json.loads(await asyncio.to_thread(process.stdout.readline))
            answers[answer.get("id")] = answer
        assert len(answers[5]["result"]["tools"]) == 3
        assert str(home / "workspace") in answers[1]["result"]["instructions"], "it says where its calls work"
        assert answers[2]["error"]["code"] == -32601
        assert answers[3]["error"]["code"] == -32602
        while 4 not in answers:
            answer = json.loads(await asyncio.to_thread(process.stdout.readline))
            answers[answer.get("id")] = answer
        assert answers[4]["result"]["isError"]
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(b"x" * 9_000_000)
        assert await asyncio.to_thread(process.wait, WAIT_S) == 0
        assert b"a message of more than 8,388,608 bytes: this client is left" in process.stderr.read()
    assert holder(home) == 0
    log = (home / "logs" / "assent.log").read_text()
    assert "\x1b" not in log
    assert "x" * 100 not in log


def test_the_samples_of_the_help_page_are_what_the_command_and_the_settings_take(tmp_path: Path) -> None:
    (offered,) = samples("other-apps", "yaml")
    (told,) = samples("other-apps", "json")
    (tmp_path / "config.yaml").write_text(offered)
    settings = SettingsService(tmp_path)
    asyncio.run(settings.load())
    assert not settings.problems
    assert settings.current.other_apps.offered == ("word-count", "researcher-agent")
    server = json.loads(told)["mcpServers"]["assent"]
    command = [sys.executable, "-c", HIDDEN, *server["args"], "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=WAIT_S, check=True)
    assert done.stdout.startswith(f"usage: {server['command']} {server['args'][0]}")


@pytest.mark.spec("R-MSV-1")
async def test_a_window_that_opens_takes_the_home_over_and_the_client_goes_on_with_it(tmp_path: Path) -> None:
    home = made_home(tmp_path / "h", [{"hang": True}])
    async with session(home, tmp_path / "said") as (client, heard):
        assert len((await client.list_tools()).tools) == 3
        before = holder(home)
        under_way = asyncio.create_task(client.call_tool("answer", {"message": "hi"}))
        await until(lambda: heard.logs)
        environment = {**os.environ, "ASSENT_SCRIPT": str(home / "script.json")}
        window = subprocess.Popen([sys.executable, "-m", "desktop", "--home", str(home)], cwd=ROOT, env=environment)
        try:
            await until(lambda: holder(home) == window.pid)
            assert before != window.pid
            ended = await under_way
            assert ended.is_error
            assert (
                ended.content[0].text
                == "Assent's window was opened and has taken over. Look there for what was under way."
            )
            done = await client.call_tool("add", {"a": 1, "b": 2})
            assert done.structured_content == {"sum": 3}
            assert "window was opened and has taken over" in (tmp_path / "said").read_text()
            window.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(window.wait, WAIT_S) == 0
            done = await client.call_tool("add", {"a": 2, "b": 2})
            assert done.structured_content == {"sum": 4}
            assert holder(home) == before
            (home / "config.yaml").write_text("models: {default: scripted/scripted}\nother_apps: {offered: [add]}\n")
            await until(lambda: "ToolListChangedNotification" in heard.told)
            assert [tool.name for tool in (await client.list_tools()).tools] == ["add"]
        finally:
            window.kill()
            window.wait(WAIT_S)

"""`assent mcp` as other programs start it: real processes, the SDK's client, and a home that changes hands."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from desktop.app.home.folder import holder
from desktop.settings import SettingsService
from tests.harness.help_pages import samples
from tests.harness.timeouts import WAIT_S
from tests.unit.app.test_mcp_room import ADD, NOTE, WORDS

ROOT = Path(__file__).resolve().parents[2]
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


class Logged:
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
async def session(home: Path, errors: Path) -> AsyncIterator[tuple[ClientSession, Logged]]:
    heard = Logged()
    parameters = StdioServerParameters(command=sys.executable, args=words(home), cwd=ROOT, env=dict(os.environ))
    with open(errors, "a") as said:
        async with (
            stdio_client(parameters, errlog=said) as (reading, writing),
            ClientSession(reading, writing, logging_callback=heard.log, message_handler=heard.message) as client,
        ):
            await client.initialize()
            yield client, heard


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not true():
            await asyncio.sleep(0.05)


@pytest.mark.spec("R-MSV-1", "R-MSV-2", "S-TRC-3")
async def test_the_sdks_client_lists_calls_and_hears_and_two_at_once_share_one_home(tmp_path: Path) -> None:
    home = made_home(tmp_path / "h", [{"text": "Hello."}])
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
    assert holder(home) == 0
    assert (tmp_path / "said").read_text() == ""


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
    home = made_home(tmp_path / "h")
    async with session(home, tmp_path / "said") as (client, heard):
        assert len((await client.list_tools()).tools) == 3
        before = holder(home)
        environment = {**os.environ, "ASSENT_SCRIPT": str(home / "script.json")}
        window = subprocess.Popen([sys.executable, "-m", "desktop", "--home", str(home)], cwd=ROOT, env=environment)
        try:
            await until(lambda: holder(home) == window.pid)
            assert before != window.pid
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

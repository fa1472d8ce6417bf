"""Real agents of other makers, from npm, as far as they start without an account.

``npm install --prefix DIR opencode-ai @google/gemini-cli @agentclientprotocol/claude-agent-acp``, then
``ASSENT_ACP_NPM=DIR`` and ``-m soak``. DIR may not lie in /tmp, of which confined processes have one of their own.
"""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.servers.fixtures import ProviderSpace, provider, provider_process  # noqa: F401
from tests.unit.agents.acp.kit import Desk, desk

pytestmark = pytest.mark.soak


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The installed agents on the PATH, and a home in which nobody is signed in."""
    prefix = os.environ.get("ASSENT_ACP_NPM")
    if not prefix:
        pytest.skip("ASSENT_ACP_NPM names no folder with agents of other makers")
    person = tmp_path / "person"
    person.mkdir()
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("PATH", f"{prefix}/node_modules/.bin{os.pathsep}{os.environ['PATH']}")
    return person


def called(tool: str, number: str = "c1", **arguments: Any) -> dict[str, Any]:
    call = {"index": 0, "id": number, "name": tool, "arguments": json.dumps(arguments)}
    return {"steps": [{"call": call}, {"finish": "tool_calls"}, {"usage": {"input": 110, "output": 30}}]}


DONE = {"steps": [{"text": "Done."}, {"finish": "stop"}, {"usage": {"input": 120, "output": 3}}]}


async def opencode(d: Desk, space: ProviderSpace, permission: Any = None, **terms: Any) -> str:
    """A chat with opencode, which asks our provider for what to do; ``permission`` is what its own settings say."""
    options = {"baseURL": space.openai_url, "apiKey": "x"}
    fake = {"npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": options, "models": {"m": {"name": "M"}}}
    settings = {
        "model": "fake/m",
        "small_model": "fake/m",
        "autoupdate": False,
        "provider": {"fake": fake},
        "agent": {"title": {"disable": True}},
        **({"permission": permission} if permission is not None else {}),
    }
    (d.workspace / "opencode.json").write_text(json.dumps(settings))
    await on(d, "opencode", **terms)
    return await d.thread("opencode")


async def on(d: Desk, name: str, **terms: Any) -> None:
    agents = d.services.others.agents
    await agents.opened()
    await agents.look()
    row = agents.row(name)
    assert row.program is not None
    await agents.agree(name, replace(row.terms, on=True, network=True, **terms), row.program.digest)


@pytest.mark.spec("R-ACP-1", "R-ACP-2")
async def test_opencode_writes_a_file_through_our_tools_and_not_by_itself(
    programs: Path,
    tmp_path: Path,
    provider: ProviderSpace,  # noqa: F811
) -> None:
    async with desk(tmp_path / "home", "allow_once") as d:
        thread = await opencode(d, provider)
        made = str(d.workspace / "own.txt")
        provider.rounds(
            called("write", filePath=made, content="x"),
            called("assent_write_file", "c2", path="ours.txt", content="hello\n"),
            DONE,
        )
        told = await d.says(thread, "Make the files.")
        assert told[-1] == "assistant: Done."
        assert not Path(made).exists(), "its own write met the confinement"
        assert (d.workspace / "ours.txt").read_text() == "hello\n"
        assert [request.tool for request in d.asked.requests] == ["write-file"]
        assert sorted(await d.log()) == ["acp-did allow_once", "write-file allow_once"]
        tools = {one["function"]["name"] for one in provider.requests()[-1]["body"]["tools"]}
        assert {"assent_read_file", "assent_write_file", "assent_bash"} <= tools


@pytest.mark.spec("R-ACP-2")
@pytest.mark.parametrize("permission", [None, {"edit": "ask"}, {"edit": "allow", "bash": "allow"}])
async def test_where_it_may_not_write_by_itself_opencode_has_our_tools_for_that_alone_and_hears_of_one_success(
    programs: Path,
    tmp_path: Path,
    provider: ProviderSpace,  # noqa: F811
    permission: Any,
) -> None:
    async with desk(tmp_path / "home", "allow_once") as d:
        thread = await opencode(d, provider, permission)
        made = d.workspace / "note.txt"
        provider.rounds(called("assent_write_file", path=str(made), content="hello\n"), DONE)
        told = await d.says(thread, "Make the file.")
        assert made.read_text() == "hello\n"
        assert told[1:] == ["calls write_file", f"done Created {made}, 6 bytes.", "assistant: Done."], "one card"
        assert [request.tool for request in d.asked.requests] == ["write-file"], "asked once"
        requests = [one["body"] for one in provider.requests()]
        tools = {one["function"]["name"] for one in requests[0]["tools"]}
        assert "assent_write_file" in tools
        assert not tools & {"write", "edit", "apply_patch", "patch", "multiedit"}, "what it could not do"
        heard = [one["content"] for one in requests[-1]["messages"] if one["role"] == "tool"]
        assert len(heard) == 1
        assert f"Created {made}, 6 bytes." in str(heard[0])


@pytest.mark.spec("R-ACP-2")
async def test_what_opencode_asks_for_is_asked_once_with_the_change_and_written_by_us(
    programs: Path,
    tmp_path: Path,
    provider: ProviderSpace,  # noqa: F811
) -> None:
    async with desk(tmp_path / "home", "allow_once") as d:
        thread = await opencode(d, provider, writes=True)
        note = d.workspace / "note.txt"
        note.write_text("one\nkept\n")
        provider.rounds(
            called("read", filePath=str(note)),
            called("edit", "c2", filePath=str(note), oldString="one", newString="two"),
            DONE,
        )
        assert (await d.says(thread, "Edit it."))[-1] == "assistant: Done."
        assert note.read_text() == "two\nkept\n"
        (request,) = d.asked.requests
        assert (request.tool, request.preview["kind"], request.preview["after"]) == ("acp-asks", "diff", "two\nkept\n")


@pytest.mark.spec("R-ACP-1")
@pytest.mark.parametrize("name", ["gemini", "claude-agent"])
async def test_one_without_an_account_says_so_and_the_chat_says_what_to_do(
    programs: Path, tmp_path: Path, name: str
) -> None:
    async with desk(tmp_path / "home") as d:
        await on(d, name)
        told = await d.says(await d.thread(name), "say hello")
        assert "is not signed in: " in told[-1]
        assert "Sign in with its own program in a terminal" in told[-1]

"""What `assent mcp` gets of the app: what is offered, calls through every gate, questions, events, and their end."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from desktop.app.door.client import greet
from desktop.app.door.host import Door
from desktop.app.door.peer import Peer
from desktop.app.guests.rooms import rooms
from desktop.app.home.instance import InstanceServer
from desktop.app.wiring.runtime import build_services
from desktop.app.wiring.services import Services
from desktop.domain.approval.audit import AuditFilter
from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.errors import KnownError
from desktop.settings import SettingsService
from tests.harness.timeouts import until

ADD = """
frontmatter = {"name": "add", "description": "Adds two numbers.", "metadata": {"category": "read",
    "params": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
               "required": ["a", "b"], "additionalProperties": False},
    "returns": {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}}}


async def run(ctx, args):
    return {"sum": args["a"] + args["b"]}
"""
NOTE = """
frontmatter = {"name": "note", "description": "Writes a note.", "allowed-tools": "write-file",
               "metadata": {"category": "read", "params": {"type": "object", "properties": {}}}}


async def run(ctx, args):
    return await ctx.manager.invoke("write-file", {"path": "note.txt", "content": "x"})
"""
PEEK = """
import os
import socket

frontmatter = {"name": "peek", "description": "Tries the door.", "metadata": {"category": "admin", "network": True,
    "params": {"type": "object", "properties": {"path": {"type": "string"}}}}}


def tried(to):
    try:
        line = socket.socket(socket.AF_UNIX)
        line.connect(to)
        return "came in"
    except OSError as error:
        return type(error).__name__


async def run(ctx, args):
    path = args["path"]
    os.chdir(os.environ["TMPDIR"])
    return [tried(path), tried(os.path.relpath(path))]
"""
WORDS = "---\nname: answer\ndescription: Answers.\n---\nAnswer shortly.\n"
AGENT = "name: scribe\nsideA: {prompt: answer}\nexposeAsTool: true\ntoolDescription: Writes answers.\n"


class Person:
    """Answers each request with ``choice``; without one, not at all."""

    def __init__(self, choice: str = "allow_once") -> None:
        self.choice = choice
        self.asked: list[PermissionRequest] = []
        self.cancelled: list[str] = []

    async def ask(self, request: PermissionRequest) -> Decision:
        self.asked.append(request)
        if not self.choice:
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled.append(request.tool)
        return Decision(self.choice, request.digest)  # type: ignore[arg-type]


class Client:
    """`assent mcp`, as the app sees it."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.events: list[Mapping[str, Any]] = []
        self.changes = 0
        self.serving = asyncio.create_task(peer.serve(self.answer, self.hear))

    async def answer(self, _method: str, _params: Mapping[str, Any]) -> Any:
        raise AssertionError("nothing is asked of it")

    def hear(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "event":
            self.events.append(params)
        else:
            self.changes += 1

    async def call(self, tool: str, who: str = "Claude Code", **arguments: Any) -> dict[str, Any]:
        params = {"tool": tool, "arguments": arguments, "call": 7, "who": who}
        found: dict[str, Any] = await self.peer.call("call", params)
        return found

    async def names(self) -> list[str]:
        return [one["name"] for one in await self.peer.call("tools", {})]


class House:
    def __init__(self, home: Path, services: Services, door: Door) -> None:
        self.home, self.services, self.door = home, services, door

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_unix_connection(sock=theirs)
        received = asyncio.create_task(self.door.receive(reader, writer))
        peer, _ = await greet(ours, {"kind": "mcp", "name": "Claude Code"})
        client = Client(peer)
        try:
            yield client
        finally:
            peer.close()
            await client.serving
            await received

    async def lines(self) -> list[tuple[str, str, str, str]]:
        await self.services.store.audit.choices()  # answered once all of it is written
        page = await self.services.store.audit.page(AuditFilter(), limit=50)
        return [(one.tool, one.decision, one.by, one.chain[0]) for one in (row.entry for row in page.rows) if one.tool]


@asynccontextmanager
async def house(
    home: Path, person: Person | None, *rounds: Any, offered: str = "add, note, answer, scribe"
) -> AsyncIterator[House]:
    (home / "data").mkdir(parents=True)
    (home / "workspace").mkdir()
    for folder, name, text in (
        ("skills", "add.skill.py", ADD),
        ("skills", "note.skill.py", NOTE),
        ("skills", "peek.skill.py", PEEK),
        ("skills", "answer.skill.md", WORDS),
        ("agents", "scribe.yaml", AGENT),
    ):
        (home / folder).mkdir(exist_ok=True)
        (home / folder / name).write_text(text)
    (home / "config.yaml").write_text(
        f"models: {{default: scripted/scripted}}\nother_apps: {{offered: [{offered}]}}\nchat: {{agent_threads: run}}\n"
    )
    script = home / "script.json"
    script.write_text(json.dumps({"rounds": list(rounds)}))
    settings = SettingsService(home)
    await settings.load()
    services = await build_services(home, settings, person, windows=lambda _ref: None, script=script)
    for current in (services.skills.fabric.refresh, services.agent_services.refresh):
        await asyncio.to_thread(current)
    door = Door(lambda: rooms(services), window=person is not None)
    try:
        yield House(home, services, door)
    finally:
        await door.close("over")
        await services.debates.close()
        await services.chats.close()
        await services.stop_children()
        await services.close()


@pytest.mark.spec("R-MSV-1")
async def test_only_what_a_person_chose_is_there_and_a_skill_answers_with_what_it_returns(tmp_path: Path) -> None:
    async with house(tmp_path, Person(), offered="add") as at, at.client() as client:
        (tool,) = await client.peer.call("tools", {})
        assert (tool["name"], tool["description"], tool["category"]) == ("add", "Adds two numbers.", "read")
        assert tool["params"]["required"] == ["a", "b"]
        assert tool["returns"]["required"] == ["sum"]
        done = await client.call("add", a=1, b=2)
        assert (done["structured"], done["is_error"], done["state"]) == ({"sum": 3}, False, "done")
        for name in ("note", "read-file", "bash", "nothing", "/etc/passwd", "x" * 5000):
            with pytest.raises(KnownError) as refused:
                await client.call(name)
            assert refused.value.code == "outside.not_offered"


@pytest.mark.spec("R-MSV-1")
async def test_arguments_against_the_schema_are_refused_and_it_stands_in_the_log_whose_call_it_was(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, Person()) as at, at.client() as client:
        done = await client.call("add", a="one", who="Zed\x1b[2J\u202e<b>")
        assert done["is_error"]
        assert '"b" is a required property' in done["text"]
        who = "A program that calls itself “Zed [2J <b>”, by MCP"
        assert await at.lines() == [("add", "refused", "schema", who)]


@pytest.mark.spec("R-MSV-1")
async def test_a_question_names_the_program_and_goes_to_the_window(tmp_path: Path) -> None:
    person = Person()
    async with house(tmp_path, person) as at, at.client() as client:
        done = await client.call("note")
        assert not done["is_error"], done
        (asked,) = person.asked
        assert asked.chain[0] == "A program that calls itself “Claude Code”, by MCP"
        assert asked.follows.startswith("text of a program that calls itself “Claude Code” was read")
        assert (at.home / "workspace" / "note.txt").read_text() == "x"
        person.choice = "deny"
        denied = await client.call("note")
        assert denied["is_error"]


@pytest.mark.spec("R-MSV-1", "R-PRM-6")
async def test_without_a_window_what_needs_a_person_is_denied_in_words(tmp_path: Path) -> None:
    async with house(tmp_path, None) as at, at.client() as client:
        done = await client.call("note")
        assert done["is_error"]
        assert "nobody is here to ask" in done["text"]
        assert not (at.home / "workspace" / "note.txt").exists()
        assert not (await client.call("add", a=1, b=2))["is_error"]


@pytest.mark.spec("R-MSV-1")
async def test_a_program_that_leaves_while_a_question_is_open_closes_it_and_nothing_is_done(tmp_path: Path) -> None:
    person = Person("")
    async with house(tmp_path, person) as at:
        async with at.client() as client:
            call = asyncio.create_task(client.call("note"))
            await until(lambda: person.asked)
        with pytest.raises(KnownError):
            await call
        assert person.cancelled, "all of it has ended once the program counts as gone"
        assert not at.services.outside._running
        assert not (at.home / "workspace" / "note.txt").exists()
        async with at.client() as again:
            assert not (await again.call("add", a=1, b=2))["is_error"]


@pytest.mark.spec("R-MSV-1")
async def test_what_is_switched_off_is_gone_at_once_and_its_calls_end(tmp_path: Path) -> None:
    person = Person("")
    async with house(tmp_path, person) as at, at.client() as client:
        call = asyncio.create_task(client.call("note"))
        await until(lambda: person.asked)
        before = client.changes
        await at.services.settings.update("other_apps.offered", ("add",))
        ended = await call
        assert (ended["is_error"], ended["state"]) == (True, "aborted")
        await until(lambda: client.changes > before)
        assert await client.names() == ["add"]
        with pytest.raises(KnownError):
            await client.call("note")


@pytest.mark.spec("R-MSV-1")
async def test_a_call_of_an_agent_leaves_a_thread_that_a_person_can_open(tmp_path: Path) -> None:
    async with house(tmp_path, Person(), [{"text": "As I see it."}]) as at, at.client() as client:
        done = await client.call("scribe", message="What is it?")
        assert (done["text"], done["is_error"]) == ("As I see it.", False)
        (thread,) = [row for row in await at.services.chats.threads() if row.thread_id == done["thread"]]
        assert (thread.agent, thread.title) == ("scribe", "What is it?")


@pytest.mark.spec("R-MSV-2", "S-TRC-3")
async def test_the_events_of_an_agent_come_in_order_with_its_path_and_before_the_result(tmp_path: Path) -> None:
    rounds = (
        [{"text": "I look. "}, {"call": {"tool": "list_directory", "arguments": {"path": "."}}}],
        [{"call": {"tool": "read_file", "arguments": {"path": "missing"}}}],
        [{"text": "Done."}],
    )
    for tool, arguments in (("scribe", {"message": "look"}), ("answer", {"message": "look"})):
        async with house(tmp_path / tool, Person(), *rounds) as at, at.client() as client:
            done = await client.call(tool, **arguments)
            assert "Done." in done["text"]
            kinds = [event["type"] for event in client.events]
            assert kinds[:3] == ["agent-start", "turn-start", "agent-message"]
            calls = [one for one in kinds if one.startswith("tool")]
            assert calls == ["tool-call", "tool-result", "tool-call", "tool-error"]
            assert kinds[-2:] == ["turn-end", "agent-complete"]
            assert kinds.count("agent-start") == kinds.count("agent-complete") == 1
            assert [event["sequence"] for event in client.events] == sorted(e["sequence"] for e in client.events)
            assert {event["path"] for event in client.events} == {tool}
            assert {event["call"] for event in client.events} == {7}


@pytest.mark.spec("R-MSV-2")
@pytest.mark.parametrize(
    ("first", "tool", "below"),
    [("scribe", "source_reader_agent", "source_reader_agent"), ("answer", "scribe", "scribe")],
)
async def test_an_agent_that_another_one_calls_is_heard_with_the_path_that_leads_to_it(
    tmp_path: Path, first: str, tool: str, below: str
) -> None:
    call = {"call": {"tool": tool, "arguments": {"message": "look"}}}
    async with (
        house(tmp_path, Person(), [call], [{"text": "Below."}], [{"text": "Above."}]) as at,
        at.client() as client,
    ):
        done = await client.call(first, message="go")
        assert done["text"] == "Above."
        started = [event["path"] for event in client.events if event["type"] == "agent-start"]
        ended = [event["path"] for event in client.events if event["type"] == "agent-complete"]
        assert started == [first, f"{first}/{below}"]
        assert ended == [f"{first}/{below}", first]


@pytest.mark.spec("R-MSV-2")
async def test_no_secret_of_the_keyring_is_in_an_event_or_a_result(tmp_path: Path) -> None:
    secret = "tango-whisky-4711-foxtrot"
    async with house(tmp_path, Person(), [{"text": f"It is {secret}."}]) as at, at.client() as client:
        at.services.redactor.remember(secret)
        done = await client.call("answer", message="say it")
        assert secret not in json.dumps([done, *client.events])
        assert "It is" in done["text"]


@pytest.mark.spec("R-MSV-1")
async def test_code_that_a_program_has_run_cannot_come_in_by_the_door_itself(tmp_path: Path) -> None:
    home = Path(tempfile.mkdtemp(prefix="as-")) / "h"  # the path of a socket is short
    async with house(home, Person(), offered="peek") as at, at.client() as client:
        address = home / "data" / "raise.sock"
        server = InstanceServer(address, None, at.services.inboxes.post, receive=at.door.receive)
        await server.start()
        try:
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(str(address))  # it can be reached from here
            done = await client.call("peek", path=str(address))
            assert not done["is_error"], done
            assert "came in" not in done["text"]
            assert len(json.loads(done["text"])) == 2
            assert len(at.door.guests) == 1
        finally:
            await server.stop()
    shutil.rmtree(home.parent)

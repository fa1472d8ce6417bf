"""Agents that a person writes in Python: each has a place in the tree of the run, and does all by calls of its own."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import AuditEntry, Decision, PermissionRequest
from desktop.domain.messages import ToolCallBlock, ToolResultBlock, Usage
from desktop.domain.models import Finished, ModelRequest, StreamItem, TextDelta
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.tree import NodeState
from desktop.domain.safety import SafetySettings
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.pipeline.skills.python_worker import MAX_UNDER_WAY, PythonWorker
from desktop.safety.confinement.select import SystemConfinement
from desktop.safety.permission.gate import PermissionGate
from desktop.services.chats.tree_actions import RunTreeService
from desktop.services.rules.trust import TrustRules
from tests.harness.help_pages import samples
from tests.harness.timeouts import WAIT_S, until
from tests.unit.agents.script import Hang, Script
from tests.unit.agents.script import says as speaks
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.safety.world import World as SafetyWorld
from tests.unit.services.delegation.test_one_tree import told
from tests.unit.services.delegation.test_tools import BOSS, HELPER, House, asks, house, one
from tests.unit.supervision.kit import FREE

HEAD = """
frontmatter = {
    "name": "clerk",
    "description": "Does the books.",
    "allowed-tools": "look write-file helper-agent sub",
    "metadata": {"role": "agent", "category": "read"},
}
"""
CLASS = """
class Clerk:
    async def run(self, ctx, inbox):
        plan = await ctx.llm(inbox[0]["text"], system="Be brief.")
        seen = await ctx.tool("look", {"path": plan["text"]})
        done = await ctx.tool("write-file", {"path": "b"})
        return [plan["text"], seen.value, done.ok, ctx.agent_id.split("/")[0]]
"""
CALL = ToolCallBlock("1", "clerk", {"message": "count"}, '{"message": "count"}')


@pytest.fixture
def confinement(tmp_path: Path) -> Iterator[SystemConfinement]:
    place = SafetyWorld(tmp_path / "world")
    made = SystemConfinement(place.policy, lambda: place.settings)
    if made.probe().kind == "none":
        pytest.skip("nothing can confine a process here")
    yield made
    made.close()


@asynccontextmanager
async def office(
    tmp_path: Path, confinement: SystemConfinement, model: Any, code: str, *, head: str = HEAD, **options: Any
) -> AsyncIterator[House]:
    """A boss that may call the clerk, which is ``code``, in a confined process."""
    listed = options.pop("boss", "look write-file helper-agent clerk sub")
    name, at_once = options.pop("name", "clerk"), options.pop("at_once", MAX_UNDER_WAY)
    skills = {"boss": f"allowed-tools: {listed}", "helper": "", "sub": "allowed-tools: look"}
    tools = (FakeTool("look", body=lambda *_: "42"), FakeTool("write-file", Category.WRITE, FREE))
    agents = (one(BOSS, "boss", exposed=False), one(HELPER, "helper"), one("wrong_agent", "clerk", exposed=False))
    async with house(tmp_path, model, *agents, tools=tools, skills=skills, **options) as h:
        path = tmp_path / "skills" / f"{name}.skill.py"
        path.write_text(head + code)
        h.world.skills.fabric.invalidate_file(str(path), by_person=True)
        workspace = str(confinement.profile().writable[0])
        h.world.skills.runs.python = PythonWorker(
            confinement, lambda: workspace, lambda definition: Path(definition.path).read_text("utf-8"), at_once=at_once
        )
        yield h


def value(results: list[ToolResultBlock]) -> Any:
    assert not results[-1].is_error, results[-1].text
    return json.loads(results[-1].text)


@pytest.mark.spec("R-SUP-15", "R-JRN-1")
async def test_it_asks_the_model_calls_tools_and_stands_in_the_tree_of_the_run(
    tmp_path: Path, confinement: SystemConfinement
) -> None:
    person = Person("allow_once")
    model = ScriptedModel([calls("clerk", {"message": "count"}), says("a plan"), says("done")])
    head = HEAD.replace('"name"', '"entry": "Clerk", "name"')
    async with office(tmp_path, confinement, model, CLASS, head=head, person=person) as h:
        _, results = await h.ask()
        assert value(results) == ["a plan", "42", True, "clerk"]
        assert [request.tool for request in person.asked] == ["write-file"], "what it does is asked about, call by call"
        assert (model.requests[1].system, model.requests[1].messages[0].text) == ("Be brief.", "count")
        nodes = told(h.world)
        assert (nodes["0.1"].agent, nodes["0.1"].state, nodes["0.1"].rounds) == ("clerk", NodeState.COMPLETED, 1)
        assert nodes["0.1"].tool_calls == 2
        assert nodes["0"].rounds == 3


@pytest.mark.spec("R-SUP-15", "R-SUP-16", "R-JRN-3")
async def test_the_agent_that_the_page_shows_works(tmp_path: Path, confinement: SystemConfinement) -> None:
    code = samples("skills", "python")[1].replace("optimist", "helper-agent").replace("pessimist", "sub")
    model = Answers(
        {"Please.": ToolCallBlock("1", "two-opinions", {"message": "tea?"}), "Say who is right.": "The helper."}, "Yes."
    )
    person = Person(*["allow_once"] * 3)
    listed = "look write-file helper-agent two-opinions sub"
    async with office(
        tmp_path, confinement, model, code, head="", name="two-opinions", boss=listed, person=person
    ) as h:
        _, results = await h.ask()
        assert results[-1].text == "The helper."
        (asked,) = [request for request in person.asked if request.tool == "write-file"]
        assert dict(asked.arguments) == {"path": "verdict.md", "content": "The helper."}
        nodes = told(h.world)
        assert {nodes[path].agent for path in ("0.1", "0.1.1", "0.1.2")} == {"two-opinions", HELPER, "sub"}
        assert "Yes." in model.heard["Say who is right."]


@pytest.mark.spec("R-AG-5", "R-JRN-1")
async def test_it_may_call_what_both_its_own_list_and_its_callers_allow_and_its_effects_are_always_there(
    tmp_path: Path, confinement: SystemConfinement
) -> None:
    code = """
async def run(ctx, inbox):
    answers = [await ctx.tool(name, {"path": "a"}) for name in ("look", "write-file", "list-directory", "clerk")]
    await ctx.emit("books", {"n": 1})
    now, later = await ctx.now(), await ctx.now()
    chance = await ctx.random()
    return [[one.ok, one.code] for one in answers] + [now <= later, len(await ctx.uuid()) > 10, 0 <= chance < 1]
"""
    model = ScriptedModel([calls("clerk", {"message": "count"}), says("done")])
    async with office(tmp_path, confinement, model, code, boss="look clerk", person=Person()) as h:
        _, results = await h.ask()
        found = value(results)
        assert found[0] == [True, ""]
        assert [ok for ok, _ in found[1:4]] == [False, False, False]
        assert found[1][1].startswith("denied"), "its caller may not write, so it may not"
        assert found[4:] == [True, True, True]


@pytest.mark.spec("R-SK-14", "R-JRN-1")
async def test_its_process_writes_nothing_and_has_no_network_whatever_it_asks_for(
    tmp_path: Path, confinement: SystemConfinement
) -> None:
    code = """
import socket

async def run(ctx, inbox):
    found = []
    path, port = inbox[0]["text"].split()
    try:
        open(path, "w").write("x")
        found.append("written")
    except OSError:
        found.append("kept out")
    try:
        socket.create_connection(("127.0.0.1", int(port)), 2)
        found.append("the network is there")
    except OSError:
        found.append("no network")
    return found
"""
    head = HEAD.replace('"role"', '"network": True, "role"').replace('"read"', '"write"')
    target = Path(confinement.profile().writable[0]) / "made"
    with socket.create_server(("127.0.0.1", 0)) as server:
        model = ScriptedModel([calls("clerk", {"message": f"{target} {server.getsockname()[1]}"}), says("done")])
        async with office(tmp_path, confinement, model, code, head=head, person=Person("allow_once")) as h:
            _, results = await h.ask()
            assert value(results) == ["kept out", "no network"]
            assert not target.exists()


@pytest.mark.spec("R-CAN-10", "R-SUP-6")
async def test_stopping_it_alone_ends_its_process_and_its_children_and_its_caller_goes_on(
    tmp_path: Path, confinement: SystemConfinement
) -> None:
    code = """
import asyncio, time

async def run(ctx, inbox):
    await ctx.spawn("sub", "hang")
    while True:
        time.sleep(0.01)
        await asyncio.sleep(0.01)
"""
    model = Script(asks(CALL), [Hang()], speaks("on my own then"))
    async with office(tmp_path, confinement, model, code) as h:
        thread = await h.world.thread(agent=BOSS)
        sent = await h.world.service.send(thread, "Please.")
        await until(lambda: "0.1.1" in told(h.world) and told(h.world)["0.1.1"].state is NodeState.THINKING)
        RunTreeService(h.world.live, h.world.store.run_agents).cancel(sent.run_id, "0.1")
        path = await h.world.settled(thread)
        nodes = told(h.world)
        assert [nodes[at].state for at in ("0", "0.1", "0.1.1")] == [
            NodeState.COMPLETED,
            NodeState.CANCELLED,
            NodeState.CANCELLED,
        ]
        (result,) = [b for m in path for b in m.blocks if isinstance(b, ToolResultBlock)]
        assert (result.is_error, result.facts["code"]) == (True, "agent.stopped")
        assert path[-1].text == "on my own then"


@pytest.mark.spec("R-SUP-8", "R-JRN-3")
async def test_a_childs_budget_is_tighter_than_its_own_and_what_it_does_not_wait_for_ends_with_it(
    tmp_path: Path, confinement: SystemConfinement
) -> None:
    code = """
async def run(ctx, inbox):
    bounded = await ctx.join(await ctx.spawn("sub", "look twice", budget={"max_rounds": 1}))
    await ctx.spawn("helper-agent", "hang")
    return [bounded.status, bounded.detail]
"""
    looks = ToolCallBlock("l", "look", {"path": "a"})
    model = Answers({"Please.": CALL, "look twice": looks}, "never", hang="hang")
    async with office(tmp_path, confinement, model, code) as h:
        _, results = await h.ask()
        status, detail = value(results)
        assert status == "limit"
        assert "max_rounds 1" in detail
        assert all(node.state.over for node in told(h.world).values()), "what it did not wait for ended with it"


class Answerer:
    """A person who allows a skill in words for the run, with its message changed the first time."""

    def __init__(self) -> None:
        self.asked: list[PermissionRequest] = []

    async def ask(self, request: PermissionRequest) -> Decision:
        self.asked.append(request)
        edited = {"message": "sort one"} if request.arguments["message"] == "burn one" else None
        return Decision("allow_once" if edited else "allow_run", request.digest, edited_arguments=edited)


@pytest.mark.spec("R-PRM-2", "R-PRM-5", "R-JRN-3")
async def test_a_person_sees_and_allows_what_it_says_to_a_skill_in_words(
    tmp_path: Path, confinement: SystemConfinement
) -> None:
    code = """
async def run(ctx, inbox):
    return [(await ctx.join(await ctx.spawn("sub", word))).status for word in ("burn one", "two", "two")]
"""
    entries: list[AuditEntry] = []

    async def audit(entry: AuditEntry) -> int:
        entries.append(entry)
        return len(entries)

    person = Answerer()
    gate = PermissionGate(person, TrustRules(), audit, lambda: SafetySettings(str(tmp_path)))
    model = Answers({"Please.": CALL}, "done")
    async with office(tmp_path, confinement, model, code, person=gate) as h:
        path = tmp_path / "skills" / "sub.skill.md"
        path.write_text(path.read_text("utf-8").replace("---\n", "---\nmetadata: {category: write}\n", 1))
        h.world.skills.fabric.invalidate_file(str(path), by_person=True)
        _, results = await h.ask()
        assert value(results) == ["completed"] * 3
    asked = [one for one in person.asked if one.tool == "sub"]
    assert [dict(one.arguments) for one in asked] == [
        {"message": "burn one"},
        {"message": "sort one"},
        {"message": "two"},
    ], "what is allowed for the run is one message, and no other"
    assert len({one.digest for one in asked}) == 3
    assert {"sort one", "two"} <= set(model.heard)
    assert "burn one" not in model.heard
    logged = " ".join(str(entry) for entry in entries if entry.tool == "sub")
    assert all(word in logged for word in ("sort one", "two"))


@pytest.mark.spec("R-SUP-5", "R-JRN-3")
@pytest.mark.parametrize(
    "left",
    [
        'for n in range(17): await ctx.spawn("helper-agent", f"hang {n}")',
        "tasks = [asyncio.ensure_future(ctx.sleep_until(253370764800.0 + n)) for n in range(17)]",
    ],
)
async def test_however_much_it_waits_for_it_goes_on_and_what_it_leaves_ends_with_it(
    tmp_path: Path, confinement: SystemConfinement, left: str
) -> None:
    code = f"""
import asyncio

async def run(ctx, inbox):
    {left}
    await asyncio.sleep(0.1)
    return [(await ctx.tool("look", {{"path": "a"}})).value, len(await ctx.uuid()) > 10]
"""
    model = Answers({"Please.": CALL}, "done", hang="hang")
    async with office(tmp_path, confinement, model, code) as h, asyncio.timeout(WAIT_S):
        _, results = await h.ask()
        assert value(results) == ["42", True]
        ended = {at: node.state for at, node in told(h.world).items() if at not in ("0", "0.1")}
        assert set(ended.values()) <= {NodeState.CANCELLED}
        assert told(h.world)["0.1"].state is NodeState.COMPLETED


@pytest.mark.spec("R-SUP-15", "R-SK-14")
async def test_one_that_asks_for_ever_more_without_waiting_is_ended(
    tmp_path: Path, confinement: SystemConfinement
) -> None:
    code = """
import asyncio

async def run(ctx, inbox):
    tasks = [asyncio.ensure_future(ctx.sleep_until(253370764800.0 + n)) for n in range(30)]
    await asyncio.sleep(3600)
"""
    model = ScriptedModel([calls("clerk", {"message": "count"}), says("done")])
    async with office(tmp_path, confinement, model, code, at_once=20) as h, asyncio.timeout(WAIT_S):
        _, results = await h.ask()
        assert (results[-1].is_error, results[-1].facts["code"]) == (True, "denied.limit")
        assert "more than 20 answers at once" in results[-1].text
        assert all(node.state.over for node in told(h.world).values())


@pytest.mark.spec("R-SUP-15", "R-PRV-11")
@pytest.mark.parametrize("what", ["another's", "none", "a wrong kind", "no values"])
async def test_a_forged_effect_is_no_effect(tmp_path: Path, confinement: SystemConfinement, what: str) -> None:
    asked = {
        "another's": '"agent-ctx-00000000", {"kind": "now", "given": {}}',
        "none": 'ctx._ref, {"kind": "bash", "given": {"command": "id"}}',
        "a wrong kind": 'ctx._ref, {"kind": "sleep_until", "given": {"until": "soon"}}',
        "no values": 'ctx._ref, {"kind": "llm", "given": 7}',
    }[what]
    code = f"""
async def run(ctx, inbox):
    try:
        return ["gave", await ctx.skill.manager.invoke({asked})]
    except Exception as error:
        return ["refused", error.code]
"""
    model = ScriptedModel([calls("clerk", {"message": "count"}), says("done")])
    async with office(tmp_path, confinement, model, code, person=Person()) as h:
        _, results = await h.ask()
        assert value(results)[0] == "refused"


@pytest.mark.spec("R-SUP-15", "R-SK-5")
async def test_one_that_declares_nothing_takes_a_message_and_is_no_prompt_of_an_agent(
    tmp_path: Path, confinement: SystemConfinement
) -> None:
    code = """
async def run(ctx, inbox):
    return [inbox[0]["text"]]
"""
    model = ScriptedModel([calls("clerk", {}), calls("clerk", {"message": "count"}), says("done")])
    async with office(tmp_path, confinement, model, code) as h:
        definition = await h.world.skills.find("clerk")
        assert definition is not None
        assert definition.params is not None
        assert list(definition.params["properties"]) == ["message"]
        _, results = await h.ask()
        assert [block.is_error for block in results] == [True, False]
        assert value(results) == ["count"]
        await h.ask("Again.", agent="wrong_agent")
        assert "is code" in h.world.ends()[-1].detail
        assert "not there" not in h.world.ends()[-1].detail


class Answers:
    """A model that answers what begins or instructs a request: a text, a call the first time and ``otherwise`` after
    its result. A request that says ``hang`` is never answered."""

    def __init__(self, known: dict[str, Any], otherwise: str, hang: str = "-") -> None:
        self.known, self.otherwise, self.hang = known, otherwise, hang
        self.heard: dict[str, str] = {}

    async def stream(self, request: ModelRequest, meta: RunMeta) -> AsyncGenerator[StreamItem, None]:
        first = request.messages[0].text.partition("\n")[0]
        key = request.system if request.system in self.known else first
        self.heard[key] = request.messages[-1].text
        if self.hang in first:
            await asyncio.sleep(3600)
        answer = self.known.get(key, self.otherwise)
        if isinstance(answer, ToolCallBlock) and request.messages[-1].role == "user":
            yield Finished("tool_calls", (answer,), Usage(10, 5), "m")
            return
        yield TextDelta(answer if isinstance(answer, str) else self.otherwise)
        yield Finished("end", (), Usage(10, 5), "m")

"""Agents as tools: threads of their own, results, permissions, bounds, failures, handing over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import Decision
from desktop.domain.definitions import AgentDefinition, SideDefinition
from desktop.domain.errors import ModelServerError
from desktop.domain.messages import NoticeBlock, ToolResultBlock
from desktop.domain.models import ModelClient
from desktop.domain.runs.events import RunEnded, RunTreeChanged, TextArrived
from desktop.domain.runs.supervision import Priority, SpawnBudget
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.pipeline.context import CallContext
from desktop.services.definitions.book import AgentBook
from desktop.services.delegation.calls import AgentCalls
from desktop.services.delegation.retention import CHILD, CLOSING, forget_children
from desktop.services.delegation.tools import AgentTools
from desktop.skills.catalogue.roots import SearchRoot
from desktop.tools.registry import ToolRegistry
from tests.harness.timeouts import WAIT_S
from tests.unit.agents.script import Hang, Script, call
from tests.unit.agents.script import calls as asks
from tests.unit.agents.script import says as speaks
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.services.kit import ROOT, World, world

BOSS, HELPER, OTHER = "boss_agent", "helper_agent", "other_agent"


def one(name: str, prompt: str, *, exposed: bool = True, handoff: Any = "call", **side: Any) -> AgentDefinition:
    return AgentDefinition(
        name, SideDefinition(prompt, **side), expose_as_tool=exposed, tool_description=f"Ask {name}.", handoff=handoff
    )


def prompts(folder: Path, **texts: str) -> SearchRoot:
    """Skills of the person: ``name="frontmatter lines"``; ``_`` in a name stands for ``-``."""
    folder.mkdir(exist_ok=True)
    for key, head in texts.items():
        name = key.replace("_", "-")
        body = f"---\nname: {name}\ndescription: The prompt {name}.\n{head}\n---\nYou are {name}.\n"
        (folder / f"{name}.skill.md").write_text(body)
    return SearchRoot(str(folder), "mine")


class Chains(Person):
    """Somebody who allows everything and remembers who asked."""

    def __init__(self) -> None:
        super().__init__()
        self.chains: list[tuple[str, ...]] = []

    async def decide(self, call: CallContext, asking: Any) -> Decision:
        if call.category is not Category.READ:
            self.chains.append((*call.request.caller.chain, call.tool))
        return Decision("allow_once", "", by="user")


class House:
    """A world in which agents are tools."""

    def __init__(self, made: World, registry: ToolRegistry, calls: AgentCalls, tools: AgentTools) -> None:
        self.world = made
        self.registry = registry
        self.calls = calls
        self.tools = tools

    async def ask(self, text: str = "Please.", agent: str = BOSS) -> tuple[str, list[ToolResultBlock]]:
        """The thread, and the results of the calls that its agent made."""
        thread = await self.world.thread(agent=agent)
        shown = await self.world.ask(thread, text)
        return thread, [block for m in shown for block in m.blocks if isinstance(block, ToolResultBlock)]

    async def children(self) -> list[Any]:
        found = await self.world.store.threads.list_all(deleted=True)
        return sorted((one for one in found if one.label == CHILD), key=lambda one: one.created_at)


@asynccontextmanager
async def house(
    tmp_path: Path,
    client: ModelClient,
    *agents: AgentDefinition,
    tools: tuple[FakeTool, ...] = (),
    skills: Mapping[str, str] | None = None,
    **options: Any,
) -> AsyncIterator[House]:
    registry = ToolRegistry(tools)
    root = prompts(tmp_path / "skills", **(skills or {"boss": "", "helper": "", "other": ""}))
    roots = (root, SearchRoot(str(ROOT / "skills"), "library"))
    book = AgentBook({agent.name: agent for agent in agents})
    options.setdefault("person", Chains())
    options.setdefault("supervised", True)
    kept = options.pop("kept", CLOSING)
    async with world(tmp_path, client, registered=registry, roots=roots, agents=book, **options) as made:
        carried = AgentCalls(lambda: made.runtime, made.owner, handover=made.service.hand_over, kept=lambda: kept)
        at = AgentTools(book, made.skills, registry, carried.carry)
        await asyncio.to_thread(at.refresh)
        yield House(made, registry, carried, at)


@pytest.mark.spec("R-AAT-1")
async def test_an_exposed_agent_is_a_tool_with_its_name_its_description_and_its_parameters(tmp_path: Path) -> None:
    params = "metadata:\n  params:\n    type: object\n    properties: {city: {type: string}}\n    required: [city]"
    skills = {"boss": "", "helper": params, "other": ""}
    agents = (one(BOSS, "boss", exposed=False), one(HELPER, "helper"), one(OTHER, "other"))
    model = ScriptedModel([calls("helper_agent", {"city": "Oslo"}), says("Rain."), says("It rains.")])
    async with house(tmp_path, model, *agents, skills=skills) as h:
        assert h.registry.find("boss-agent") is None
        tool = h.registry.find("other-agent")
        assert tool is not None
        assert tool is h.registry.find("other_agent")
        assert (tool.spec.alias, tool.spec.description) == ("other_agent", "Ask other_agent.")
        assert tool.spec.params["required"] == ["message"]
        own = h.registry.find("helper-agent")
        assert own is not None
        assert list(own.spec.params["properties"]) == ["city"]
        _, results = await h.ask()
        assert results[0].text == "Rain."
        assert '"city": "Oslo"' in model.requests[1].messages[0].text


@pytest.mark.spec("R-SUP-14")
async def test_a_called_agent_counts_as_much_as_its_caller_unless_its_definition_says_otherwise(tmp_path: Path) -> None:
    model = ScriptedModel(
        [
            calls("helper_agent", {"message": "a"}),
            says("A."),
            calls("other_agent", {"message": "b"}),
            says("B."),
            says("."),
        ]
    )
    agents = (
        replace(one(BOSS, "boss"), priority=Priority.LOW),
        one(HELPER, "helper"),
        replace(one(OTHER, "other"), priority=Priority.HIGH),
    )
    async with house(tmp_path, model, *agents) as h:
        await h.ask()
        trees = [event for event in h.world.events if isinstance(event, RunTreeChanged)]
        found = {facts.agent: facts.priority for event in trees for facts in event.nodes}
        assert found == {BOSS: Priority.LOW, HELPER: Priority.LOW, OTHER: Priority.HIGH}


@pytest.mark.spec("R-AAT-2", "R-AAT-3", "R-AAT-4", "R-AAT-6")
async def test_a_call_makes_a_thread_of_its_own_and_its_last_text_comes_back(tmp_path: Path) -> None:
    model = ScriptedModel(
        [
            calls("helper_agent", {"message": "Look at the tides."}),
            [*calls("look", {"path": "a"}, text="I look."), {"usage": {"input": 50, "output": 5, "cost": 0.5}}],
            says("High at noon."),
            says("The helper says: noon."),
        ]
    )
    seen: list[str] = []
    look = FakeTool("look", body=lambda _args, context: seen.append(context.meta.run_id) or "12:00")
    async with house(tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper"), tools=(look,)) as h:
        thread, (result,) = await h.ask("When is high tide?")
        assert (result.text, result.is_error) == ("High at noon.", False)
        (child,) = await h.children()
        assert result.facts["thread_id"] == child.thread_id
        assert (child.agent, child.model, child.title) == (HELPER, "test/scripted", "Look at the tides.")
        assert [one.thread_id for one in await h.world.service.threads()] == [thread]  # the child is in no list
        path = await h.world.service.path(child.thread_id)
        assert [m.role for m in path] == ["user", "assistant", "tool", "assistant"]
        assert [m.text for m in model.requests[1].messages] == ["Look at the tides."]  # nothing of the caller's history
        assert "You are helper." in model.requests[1].system
        shown = await h.world.service.path(thread)
        assert shown[-1].text == "The helper says: noon."
        assert seen == [shown[-1].run_id]  # the run's id is inherited
        whole = await h.world.service.thread(thread)
        assert whole.usage.cost_usd == pytest.approx(0.5)  # what it used counts for who called it
        ends = [event for event in h.world.events if isinstance(event, RunEnded)]
        assert [event.thread_id for event in ends] == [child.thread_id, thread]
        assert await forget_children(h.world.runtime) == 1  # the next start
        assert await h.children() == []


@pytest.mark.spec("R-AAT-6")
async def test_who_goes_on_in_the_thread_of_a_called_agent_keeps_it(tmp_path: Path) -> None:
    model = ScriptedModel([calls("helper_agent", {"message": "Go."}), says("Done."), says("Good."), says("More.")])
    async with house(tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper")) as h:
        await h.ask()
        (child,) = await h.children()
        shown = await h.world.ask(child.thread_id, "And then?")
        assert [m.text for m in shown] == ["Go.", "Done.", "And then?", "More."]
        assert await forget_children(h.world.runtime) == 0
        assert child.thread_id in [one.thread_id for one in await h.world.service.threads()]


RETURNS = (
    "metadata:\n  returns:\n    type: object\n    properties: {winner: {enum: [a, b]}}\n    required: [winner]\n"
    "    additionalProperties: false"
)


@pytest.mark.spec("R-AAT-3", "R-SES-9", "R-SES-10")
async def test_the_property_of_a_stop_tool_comes_before_any_text(tmp_path: Path) -> None:
    helper = one(HELPER, "helper", stop_tool="classify", stop_property="intent")
    model = ScriptedModel(
        [
            calls("helper_agent", {"message": "It crashes!"}),
            calls(
                "skill_invoke", {"ref": "classify", "args": {"intent": "problem", "confidence": 0.9}}, text="I think"
            ),
            says("A problem."),
        ]
    )
    async with house(tmp_path, model, one(BOSS, "boss"), helper) as h:
        _, (result,) = await h.ask()
        assert (result.text, result.structured, result.facts["end_reason"]) == ("problem", "problem", "stop_tool")


@pytest.mark.spec("R-AAT-3", "R-RET-2", "R-RET-3", "R-RET-5")
async def test_a_promised_value_comes_before_the_text_and_is_asked_for_until_it_fits(tmp_path: Path) -> None:
    skills = {"boss": "", "helper": RETURNS}
    model = ScriptedModel(
        [
            calls("helper_agent", {"message": "Who won?"}),
            says("A won, I think."),
            calls("finish", {"winner": "c"}),
            calls("finish", {"winner": "a"}),
            says("A."),
        ]
    )
    async with house(tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper"), skills=skills) as h:
        _, (result,) = await h.ask()
        assert (result.structured, result.is_error) == ({"winner": "a"}, False)
        assert "finish" in [tool["name"] for tool in model.requests[1].tools]
        assert "There is no result yet" in model.requests[2].messages[-1].text
        (child,) = await h.children()
        blocks = [b for m in await h.world.service.path(child.thread_id) for b in m.blocks]
        assert [b.is_error for b in blocks if isinstance(b, ToolResultBlock)] == [True, False]


@pytest.mark.spec("R-AAT-3", "R-AAT-5", "R-RET-4")
async def test_a_promise_that_is_not_kept_is_an_error_and_never_free_text(tmp_path: Path) -> None:
    skills = {"boss": "", "helper": RETURNS}
    rounds = [calls("helper_agent", {"message": "Who won?"}), *[says("A.")] * 4, says("Nobody knows.")]
    async with house(tmp_path, ScriptedModel(rounds), one(BOSS, "boss"), one(HELPER, "helper"), skills=skills) as h:
        _, (result,) = await h.ask()
        assert result.is_error
        assert "There is no valid result" in result.text


@pytest.mark.spec("R-AAT-4", "R-AG-5")
async def test_a_called_agent_may_do_only_what_its_caller_may_too(tmp_path: Path) -> None:
    skills = {"boss": "allowed-tools: helper-agent look", "helper": "allowed-tools: look change"}
    look, change = FakeTool("look"), FakeTool("change", category=Category.WRITE)
    model = ScriptedModel(
        [
            calls("helper_agent", {"message": "Change it."}),
            calls("change", {"path": "a"}, unoffered=True),
            calls("look", {"path": "a"}),
            says("I could only look."),
            says("It could not."),
        ]
    )
    async with house(
        tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper"), tools=(look, change), skills=skills
    ) as h:
        await h.ask()
        (child,) = await h.children()
        results = [b for m in await h.world.service.path(child.thread_id) for b in m.blocks if b.kind == "tool_result"]
        assert [(b.tool, b.is_error) for b in results] == [("change", True), ("look", False)]
        assert change.calls == []
        assert [tool["name"] for tool in model.requests[1].tools] == ["look"]


@pytest.mark.spec("R-AAT-9", "R-AAT-7")
async def test_a_request_from_below_shows_everybody_between_the_person_and_the_tool(tmp_path: Path) -> None:
    person, change = Chains(), FakeTool("change", category=Category.WRITE)
    model = ScriptedModel(
        [
            calls("helper_agent", {"message": "Do."}),
            calls("other_agent", {"message": "You do."}),
            calls("change", {"path": "a"}),
            says("Done."),
            says("Done."),
            says("Done."),
        ]
    )
    skills = {"boss": "", "helper": "", "other": "allowed-tools: change"}
    agents = (one(BOSS, "boss"), one(HELPER, "helper"), one(OTHER, "other"))
    async with house(tmp_path, model, *agents, tools=(change,), skills=skills, person=person) as h:
        await h.ask()
    above = (BOSS, "boss", HELPER, "helper", OTHER, "other")
    assert person.chains == [above[:2] + ("helper-agent",), above[:4] + ("other-agent",), (*above, "change")]


@pytest.mark.spec("R-AAT-7")
async def test_the_category_of_an_agent_is_the_highest_of_what_it_may_call_unless_its_prompt_says(
    tmp_path: Path,
) -> None:
    tools = (FakeTool("look"), FakeTool("change", category=Category.WRITE), FakeTool("rule", category=Category.ADMIN))
    skills = {
        "reads": "allowed-tools: look",
        "writes": "allowed-tools: look change",
        "rules": "",
        "through": "allowed-tools: writes-agent",
        "declared": "allowed-tools: rule\nmetadata: {category: write}",
        "around": "allowed-tools: around-two-agent",
        "around-two": "allowed-tools: around-agent writes-agent",
    }
    agents = [one(f"{name.replace('-', '_')}_agent", name) for name in skills]
    lost = one("lost_agent", "nowhere")
    async with house(tmp_path, ScriptedModel([]), *agents, lost, tools=tools, skills=skills) as h:
        found = {
            tool.spec.alias: tool.spec.category.value for tool in h.registry.tools() if tool.spec.source == "agent"
        }
        assert found == {
            "reads_agent": "read",
            "writes_agent": "write",
            "rules_agent": "admin",
            "through_agent": "write",
            "declared_agent": "write",
            "around_agent": "write",
            "around_two_agent": "write",
            "lost_agent": "admin",
        }
        known = h.registry.find("reads-agent")
        await asyncio.to_thread(h.tools.refresh)
        assert h.registry.find("reads-agent") is known  # an approval stays one of the same tool
        (tmp_path / "skills" / "reads.skill.md").write_text(
            "---\nname: reads\ndescription: d\nallowed-tools: change\n---\nYou.\n"
        )
        await asyncio.to_thread(h.world.skills.fabric.refresh)
        await asyncio.to_thread(h.tools.refresh)
        changed = h.registry.find("reads-agent")
        assert changed is not None
        assert changed.spec.category is Category.WRITE


@pytest.mark.spec("R-AAT-7")
async def test_an_agent_is_offered_only_where_the_list_of_allowed_tools_has_it(tmp_path: Path) -> None:
    skills = {"boss": "allowed-tools: other-agent", "helper": "", "other": ""}
    model = ScriptedModel([calls("helper_agent", {"message": "Hello."}, unoffered=True), says("No.")])
    agents = (one(BOSS, "boss"), one(HELPER, "helper"), one(OTHER, "other"))
    async with house(tmp_path, model, *agents, skills=skills) as h:
        _, (result,) = await h.ask()
        assert result.is_error
        assert result.facts["code"] == "denied.allowed_tools"
        assert [tool["name"] for tool in model.requests[0].tools] == ["other_agent"]
        assert await h.children() == []


@pytest.mark.spec("R-DEF-17", "R-AAT-1")
async def test_an_agent_never_takes_the_place_of_a_tool(tmp_path: Path) -> None:
    look = FakeTool("look")
    async with house(tmp_path, ScriptedModel([]), one("look", "boss"), one(OTHER, "other"), tools=(look,)) as h:
        assert h.registry.find("look") is look
        assert h.tools.problems["look"].code == "tool.taken"
        assert h.registry.find("other-agent") is not None


@pytest.mark.spec("R-AAT-5")
async def test_a_child_that_fails_is_an_error_result_and_its_caller_goes_on(tmp_path: Path) -> None:
    model = Script(
        asks(call("1", "helper_agent", message="Go.")),
        [ModelServerError("The server is away.")],
        speaks("I go on alone."),
    )
    async with house(tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper")) as h:
        thread, (result,) = await h.ask()
        assert (result.is_error, result.facts["code"]) == (True, "model.server_error")
        assert "The server is away." in result.text
        assert (await h.world.service.path(thread))[-1].text == "I go on alone."
        assert [event.reason for event in h.world.ends()] == ["error", "response"]


@pytest.mark.spec("R-AAT-5", "R-DEF-11", "R-DEF-13")
@pytest.mark.parametrize(
    ("side", "said"),
    [
        ({"prompt": "gone"}, "sideA.prompt"),
        ({"prompt": "helper", "stop_tool": "gone", "stop_property": "x"}, "sideA.stopTool: there is no tool gone"),
        ({"prompt": "helper", "end_session_tool": "change"}, "sideA.endSessionTool: change is not among the tools"),
    ],
)
async def test_a_missing_piece_is_an_error_before_any_model_is_asked(tmp_path: Path, side: Any, said: str) -> None:
    skills = {"boss": "", "helper": "allowed-tools: look"}
    model = ScriptedModel([calls("helper_agent", {"message": "Go."}), says("It cannot.")])
    helper = replace(one(HELPER, "helper"), side_a=SideDefinition(**side))
    tools = (FakeTool("look"), FakeTool("change"))
    async with house(tmp_path, model, one(BOSS, "boss"), helper, tools=tools, skills=skills) as h:
        _, (result,) = await h.ask()
        assert result.is_error
        assert said in result.text
        assert len(model.requests) == 2  # both are the caller's


@pytest.mark.spec("R-AAT-4", "R-AAT-5", "R-CAN-10")
async def test_stopping_the_caller_stops_the_child_and_its_end_is_stored(tmp_path: Path) -> None:
    model = Script(asks(call("1", "helper_agent", message="Go.")), [*speaks("Half an answer")[:1], Hang()])
    async with house(tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper")) as h:
        thread = await h.world.thread(agent=BOSS)
        await h.world.service.send(thread, "Please.")
        await h.world.until(TextArrived)
        assert await h.world.service.stop(thread)
        await h.world.settled(thread)
        await h.world.until(RunEnded, 2)
        (child,) = await h.children()
        assert {(event.thread_id, event.reason) for event in h.world.ends()} == {
            (child.thread_id, "cancelled"),
            (thread, "cancelled"),
        }
        async with asyncio.timeout(WAIT_S):
            while h.world.live._trees:
                await asyncio.sleep(0.01)


@pytest.mark.spec("R-AAT-5")
async def test_a_child_that_takes_too_long_is_an_error_result(tmp_path: Path) -> None:
    model = Script(asks(call("1", "helper_agent", message="Go.")), [Hang()], speaks("Too slow."))
    async with house(tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper")) as h:
        tool = h.registry.find("helper-agent")
        assert tool is not None
        tool.spec = replace(tool.spec, timeout_s=0.05)  # type: ignore[misc]  # an hour else
        thread, (result,) = await h.ask()
        assert result.is_error
        assert "time limit" in result.text
        assert (await h.world.service.path(thread))[-1].text == "Too slow."


@pytest.mark.spec("R-AAT-8")
async def test_two_agents_may_call_each_other_until_they_are_eight_deep(tmp_path: Path) -> None:
    turns = [calls(HELPER if at % 2 == 0 else BOSS, {"message": f"Level {at + 1}."}) for at in range(8)]
    model = ScriptedModel([*turns, *[says("Enough.")] * 8])
    async with house(tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper")) as h:
        await h.ask()
        children = await h.children()
        assert [child.agent for child in children] == [HELPER, BOSS, HELPER, BOSS, HELPER, BOSS, HELPER]
        assert len(model.requests) == 16, "each of the eight asked twice"
        deepest = await h.world.service.path(children[-1].thread_id)
        refused = [b for m in deepest for b in m.blocks if isinstance(b, ToolResultBlock)]
        assert [b.facts["code"] for b in refused] == ["denied.limit"]
        assert (h.world.live._trees, h.world.live._below) == ({}, {})


@pytest.mark.spec("R-AAT-4", "R-AAT-8", "R-SUP-5")
async def test_no_more_agents_start_than_the_run_may_have_and_places_come_back(tmp_path: Path) -> None:
    model = ScriptedModel(
        [
            calls("helper_agent", {"message": "1"}),
            calls("other_agent", {"message": "2"}),
            says("Refused."),
            calls("other_agent", {"message": "3"}),
            says("Three."),
            says("Done."),
        ]
    )
    agents = (one(BOSS, "boss"), one(HELPER, "helper"), one(OTHER, "other"))
    budget = SpawnBudget(max_agents=2)
    async with house(tmp_path, model, *agents, spawn_budget=budget) as h:
        _, results = await h.ask()
        assert [result.is_error for result in results] == [False, False]
        helper, other = await h.children()
        nested = [b for m in await h.world.service.path(helper.thread_id) for b in m.blocks if b.kind == "tool_result"]
        assert "max_agents 2" in nested[0].text
        assert other.title == "3"


@pytest.mark.spec("R-AAT-2", "S-AAT-1")
async def test_a_conversation_can_be_handed_over_for_good_with_its_history(tmp_path: Path) -> None:
    helper = one(HELPER, "helper", handoff="transfer")
    model = ScriptedModel(
        [
            calls("helper_agent", {"message": "Tides, please."}, text="One moment."),
            says("Noon."),
            says("And at midnight."),
        ]
    )
    async with house(tmp_path, model, one(BOSS, "boss"), helper) as h:
        thread, (result,) = await h.ask("When is high tide?")
        await h.world.until(RunEnded, 2)
        shown = await h.world.settled(thread)
        assert result.facts["handoff"] == "transfer"
        assert (await h.world.service.thread(thread)).agent == HELPER
        notices = [b for m in shown for b in m.blocks if isinstance(b, NoticeBlock)]
        assert [(b.code, "choose Boss agent again" in b.next_step) for b in notices] == [("agent.handoff", True)]
        assert shown[-1].text == "Noon."
        assert "You are helper." in model.requests[1].system
        assert model.requests[1].messages[0].text == "When is high tide?"
        again = await h.world.ask(thread, "And the next?")
        assert again[-1].text == "And at midnight."
        assert await h.children() == []


@pytest.mark.spec("R-AAT-2", "S-AAT-1")
async def test_an_agent_below_another_cannot_give_the_persons_conversation_away(tmp_path: Path) -> None:
    other = one(OTHER, "other", handoff="transfer")
    model = ScriptedModel(
        [
            calls("helper_agent", {"message": "1"}),
            calls("other_agent", {"message": "2"}),
            says("Two."),
            says("One."),
            says("Done."),
        ]
    )
    async with house(tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper"), other) as h:
        thread, (result,) = await h.ask()
        assert result.text == "One."
        assert (await h.world.service.thread(thread)).agent == BOSS
        assert len(await h.children()) == 2


async def test_agents_that_can_come_to_call_themselves_are_known_with_the_way(tmp_path: Path) -> None:
    agents = (one(BOSS, "boss"), one(HELPER, "helper"), one(OTHER, "other"), one("alone_agent", "alone"))
    skills = {
        "boss": "allowed-tools: helper-agent",
        "helper": "allowed-tools: way",
        "way": "allowed-tools: boss-agent",
        "other": "allowed-tools: boss-agent *",
        "alone": "allowed-tools: alone-agent",
    }
    async with house(tmp_path, ScriptedModel([]), *agents, skills=skills) as at:
        assert dict(at.tools.cycles) == {
            BOSS: ("helper-agent", "way"),
            HELPER: ("boss-agent", "way"),
            "alone_agent": ("alone-agent",),
        }

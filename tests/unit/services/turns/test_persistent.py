"""A chat whose agent is persistent stays at work after its answer, and hears what is said to it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.errors import ToolFailure
from desktop.domain.inboxes import MAX_WAITING
from desktop.domain.runs.events import AgentListening, RunWaiting
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.domain.runs.tree import NodeState
from desktop.models.scripted import ScriptedModel, calls, fails, says
from desktop.skills.catalogue.roots import SearchRoot
from desktop.supervision.tasks import RunSlots
from tests.harness.timeouts import WAIT_S
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.kit import ROOT, World, agent, world
from tests.unit.services.turns.test_own_provider import PROVIDER, opened, said

HEAD = "---\nname: {}\ndescription: x\nallowed-tools: {}\nmetadata:\n  model: {}\n---\nHelp.\n"
PERSISTENT = "{persistent: true}"


def roots(folder: Path, model: str = PERSISTENT, tools: str = "look event-emit", **more: str) -> Sequence[SearchRoot]:
    """A person's folder beside the library; ``more`` are files of skills in words by name."""
    folder.mkdir(exist_ok=True)
    (folder / "keeper.skill.md").write_text(HEAD.format("keeper", tools, model))
    for name, text in more.items():
        (folder / f"{name}.skill.md").write_text(text)
    return SearchRoot(str(folder), "mine"), SearchRoot(str(ROOT / "skills"), "library")


@asynccontextmanager
async def kept(
    tmp_path: Path, model: ScriptedModel, settings: str = PERSISTENT, **options: Any
) -> AsyncIterator[World]:
    if "roots" not in options:
        options["roots"] = roots(tmp_path / "mine", settings)
    found = {"agents": agent(prompt="keeper"), "supervised": True} | options
    async with world(tmp_path, model, FakeTool("look", body=lambda *_: "seen"), **found) as w:
        yield w


async def idle(w: World, times: int = 1) -> None:
    """Until it has waited for a message so often."""
    async with asyncio.timeout(WAIT_S):
        while sum(isinstance(event, AgentListening) and event.waiting for event in w.events) < times:
            await asyncio.sleep(0.002)


@pytest.mark.spec("D-10", "R-PER-1", "R-PER-6")
async def test_it_waits_after_its_answer_and_answers_the_next_message_in_the_same_run(tmp_path: Path) -> None:
    model = ScriptedModel([calls("look", {"path": "a"}), says("One."), says("Two.")])
    async with kept(tmp_path, model) as w:
        thread = await w.thread()
        await w.service.send(thread, "first")
        await idle(w)
        assert w.service.running() == (thread,)
        assert len(model.requests) == 2, "no model is asked meanwhile"
        (run_id,) = {event.run_id for event in w.events if isinstance(event, AgentListening)}
        (place,) = w.runtime.live.facts(run_id)
        assert (place.state, place.doing) == (NodeState.SLEEPING, "waiting for a message")
        waits = [event.why for event in w.events if isinstance(event, RunWaiting) and event.waiting]
        assert waits == ["waiting for a message"]
        await w.service.send(thread, "second")
        await idle(w, 2)
        assert said(await w.service.path(thread))[-3:] == ["assistant: One.", "user: second", "assistant: Two."]
        assert w.ends() == []
        assert model.requests[2].messages[-1].text == "second"


@pytest.mark.spec("R-PER-4")
async def test_a_stop_ends_it_while_it_waits_and_the_thread_is_free(tmp_path: Path) -> None:
    async with kept(tmp_path, ScriptedModel([says("One."), says("Two.")])) as w:
        thread = await w.thread()
        await w.service.send(thread, "first")
        await idle(w)
        await w.service.stop(thread)
        records = await w.settled(thread)
        assert [end.reason for end in w.ends()] == ["cancelled"]
        assert said(records) == ["user: first", "assistant: One."]
        assert not w.skills.topics.is_heard(f"inbox.{thread}")
        await w.service.send(thread, "again")
        await idle(w, 2)
        assert said(await w.service.path(thread))[-1] == "assistant: Two."


@pytest.mark.spec("D-10", "R-PER-6", "R-AG-6")
async def test_the_agent_of_another_chat_posts_to_its_inbox_and_nobody_takes_it_for_the_person(tmp_path: Path) -> None:
    model = ScriptedModel([says("One."), says("Heard.")])
    async with kept(tmp_path, model) as w:
        thread = await w.thread()
        await w.service.send(thread, "first")
        await idle(w)
        await w.skills.topics.post(f"inbox.{thread}", {"note": "done"})
        await idle(w, 2)
        shown = said(await w.service.path(thread))
        assert shown[-2] == 'user: From this chat\'s inbox, posted by an agent or a program:\n\n{"note": "done"}'
        assert shown[-1] == "assistant: Heard."


@pytest.mark.spec("R-PER-6")
async def test_an_inbox_takes_no_more_than_it_keeps_so_that_nothing_that_was_posted_is_lost(tmp_path: Path) -> None:
    begun, goes_on = asyncio.Event(), asyncio.Event()

    async def busy(*_: Any) -> str:
        begun.set()
        await goes_on.wait()
        return "seen"

    model = ScriptedModel([calls("look", {"path": "a"}), says("One."), says("Heard."), says("Heard more.")])
    found = {"agents": agent(prompt="keeper"), "supervised": True, "roots": roots(tmp_path / "mine")}
    async with world(tmp_path, model, FakeTool("look", body=busy), **found) as w:
        thread, topics = await w.thread(), w.skills.topics
        await w.service.send(thread, "first")
        await begun.wait()
        for number in range(MAX_WAITING):
            await topics.post(f"inbox.{thread}", f"note {number}")
        with pytest.raises(ToolFailure, match="messages wait at inbox"):
            await topics.post(f"inbox.{thread}", "one too many")
        goes_on.set()
        await idle(w)
        await topics.post(f"inbox.{thread}", "there is room again")
        await idle(w, 2)
        posted = [line.rpartition("\n")[2] for line in said(await w.service.path(thread)) if "posted by" in line]
        assert posted == [*(f"note {number}" for number in range(MAX_WAITING)), "there is room again"]


@pytest.mark.spec("R-PER-3")
async def test_errors_that_may_pass_are_waited_out_and_the_answer_stands_once(tmp_path: Path) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    down = fails("model.unreachable", "down")
    model = ScriptedModel([down, down, says("Up again."), down, says("And again.")])
    async with kept(tmp_path, model, sleep=sleep) as w:
        thread = await w.thread()
        await w.service.send(thread, "first")
        await idle(w)
        await w.service.send(thread, "more")
        await idle(w, 2)
        assert slept == [1, 2, 1]
        assert said(await w.service.path(thread)) == [
            "user: first",
            "assistant: Up again.",
            "user: more",
            "assistant: And again.",
        ]
        assert [message.text for message in model.requests[2].messages] == ["first"]


@pytest.mark.spec("R-PER-5")
async def test_an_error_that_cannot_pass_ends_it(tmp_path: Path) -> None:
    async with kept(tmp_path, ScriptedModel([fails("model.key_refused", "No.")])) as w:
        await w.ask(await w.thread(), "first")
        (end,) = w.ends()
        assert (end.reason, end.code) == ("error", "model.key_refused")


@pytest.mark.spec("R-PER-2", "R-PER-4")
async def test_it_has_more_rounds_than_other_chats_and_the_budget_of_the_run_holds(tmp_path: Path) -> None:
    model = ScriptedModel([calls("look", {"path": str(n)}) for n in range(60)])
    async with kept(tmp_path, model, budget=ExecutionBudget(max_rounds=40)) as w:
        await w.ask(await w.thread(), "first")
        (end,) = w.ends()
        assert (len(model.requests), end.reason) == (40, "global_limit")


@pytest.mark.spec("D-10")
async def test_while_it_waits_another_chat_may_work_in_its_place(tmp_path: Path) -> None:
    model = ScriptedModel([says("One."), says("Other."), says("Two.")])
    async with kept(tmp_path, model, slots=RunSlots(1)) as w:
        first, second = await w.thread(), await w.thread()
        await w.service.send(first, "first")
        await idle(w)
        await w.service.send(second, "second")
        await idle(w, 2)
        assert said(await w.service.path(second)) == ["user: second", "assistant: Other."]
        await w.service.send(first, "third")
        await idle(w, 3)
        assert said(await w.service.path(first))[-1] == "assistant: Two."


@pytest.mark.spec("R-RET-7", "D-10")
async def test_persistent_and_returns_exclude_each_other_in_a_chat_too(tmp_path: Path) -> None:
    model = ScriptedModel([says("never")])
    settings = "{persistent: true}\n  returns: {type: object}"
    async with kept(tmp_path, model, settings) as w:
        await w.ask(await w.thread(), "go")
        (end,) = w.ends()
        assert "persistent and returns" in end.detail
        assert model.requests == []


@pytest.mark.spec("R-SES-19", "D-10")
async def test_the_end_of_the_app_ends_it_and_what_was_said_last_is_answered_after_the_next_start(
    tmp_path: Path,
) -> None:
    async with kept(tmp_path, ScriptedModel([says("One.")])) as w:
        thread = await w.thread()
        await w.service.send(thread, "first")
        await idle(w)
    assert [end.reason for end in w.ends()] == ["interrupted"]
    model = ScriptedModel([says("Two.")])
    async with kept(tmp_path, model) as w:
        await w.service.send(thread, "second")
        await idle(w)
        assert said(await w.service.path(thread))[-3:] == ["assistant: One.", "user: second", "assistant: Two."]


OWN = """
    said, number = args["userMessage"], 0
    while True:
        number += 1
        await tell(type="turn-start", turnNumber=number)
        await tell(type="message", text="I heard " + said)
        answer = await tell(type="turn-end", result="I heard " + said, turnNumber=number, toolCalls=0)
        if not answer.get("continue"):
            return "over"
        said = answer["message"]
"""


@pytest.mark.spec("D-10", "R-AG-3", "R-PER-1")
async def test_a_provider_of_ones_own_is_told_to_go_on_with_what_comes(tmp_path: Path, confinement: Any) -> None:
    found = roots(tmp_path / "mine", "{persistent: true, agent: agent-mine}", "look agent-mine")
    (tmp_path / "mine" / "agent-mine.skill.py").write_text(PROVIDER.replace("BODY", OWN))
    async with opened(tmp_path, confinement, ScriptedModel([]), found, agents=agent(prompt="keeper")) as w:
        thread = await w.thread()
        await w.service.send(thread, "one")
        await idle(w)
        await w.service.send(thread, "two")
        await idle(w, 2)
        assert said(await w.service.path(thread)) == [
            "user: one",
            "assistant: I heard one",
            "user: two",
            "assistant: I heard two",
        ]


@pytest.mark.spec("D-10")
async def test_a_skill_in_words_whose_project_says_persistent_is_so_in_a_chat(tmp_path: Path) -> None:
    """What a prompt inherits holds as its own (the cascade)."""
    above = "---\nname: above\ndescription: x\nmetadata:\n  model: {persistent: true}\n---\nAbove.\n"
    folder = tmp_path / "mine"
    found = roots(folder, above=above)
    (folder / "keeper.skill.md").write_text(
        "---\nname: keeper\ndescription: x\nallowed-tools: look\nmetadata:\n  $inherit: above\n---\nHelp.\n"
    )
    async with kept(tmp_path, ScriptedModel([says("One.")]), roots=found) as w:
        await w.service.send(await w.thread(), "first")
        await idle(w)


async def test_a_wrong_memory_is_said_before_any_model_is_asked(tmp_path: Path) -> None:
    model = ScriptedModel([says("never")])
    async with kept(tmp_path, model, "{memory: 7}") as w:
        await w.ask(await w.thread(), "go")
        assert "model.memory" in w.ends()[0].detail
        assert model.requests == []

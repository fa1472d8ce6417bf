"""A person reaches a persistent agent by its address, wherever it works, and nobody else is reached that way."""

import asyncio
from pathlib import Path

import pytest

from desktop.domain.errors import KnownError, NotFound
from desktop.domain.runs.events import AgentListening
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.services.chats.inboxes import LONGEST, Inboxes
from tests.harness.timeouts import WAIT_S
from tests.unit.services.debates.kit import debate_world, prompt, setup
from tests.unit.services.delegation.test_tools import BOSS, HELPER, house, one
from tests.unit.services.kit import World
from tests.unit.services.turns.test_own_provider import said
from tests.unit.services.turns.test_persistent import HEAD, PERSISTENT, idle, kept, roots


def waiting(w: World) -> str:
    """The address of the agent that began to wait last."""
    return [event.context_id for event in w.events if isinstance(event, AgentListening) and event.waiting][-1]


@pytest.mark.spec("D-10", "R-PER-6")
async def test_the_agent_of_a_chat_hears_by_the_beginning_of_its_address_and_begins_if_it_is_not_at_work(
    tmp_path: Path,
) -> None:
    async with kept(tmp_path, ScriptedModel([says("One."), says("Two."), says("Three.")])) as w:
        inboxes, thread = Inboxes(w.service, w.runtime), await w.thread()
        await inboxes.post(thread, "first")
        await idle(w)
        await inboxes.post(thread[:8], "second")
        await idle(w, 2)
        await w.service.stop(thread)
        await w.settled(thread)
        with pytest.raises(NotFound, match="No persistent agent has the address"):
            await inboxes.post(thread[:8], "it is not at work, so its address is meant whole")
        await inboxes.post(thread, "third")
        await idle(w, 3)
        assert [line for line in said(await w.service.path(thread)) if line.startswith("user")] == [
            "user: first",
            "user: second",
            "user: third",
        ]


@pytest.mark.spec("D-10")
async def test_a_chat_whose_agent_is_not_persistent_has_no_inbox(tmp_path: Path) -> None:
    async with kept(tmp_path, ScriptedModel([says("never")]), "{}") as w:
        thread = await w.thread()
        with pytest.raises(NotFound, match="not persistent"):
            await Inboxes(w.service, w.runtime).post(thread, "hello")
        assert await w.service.path(thread) == []


@pytest.mark.parametrize("text", ["", " \n", "x" * (LONGEST + 1)])
async def test_what_is_no_message_is_refused(tmp_path: Path, text: str) -> None:
    async with kept(tmp_path, ScriptedModel([])) as w:
        with pytest.raises(KnownError, match="A message has"):
            await Inboxes(w.service, w.runtime).post(await w.thread(), text)


@pytest.mark.spec("D-10", "R-PER-6")
async def test_an_agent_that_works_on_a_skill_in_a_chat_has_an_address_of_its_own(tmp_path: Path) -> None:
    watcher = HEAD.format("watcher", "look", PERSISTENT)
    found = roots(tmp_path / "mine", "{}", "watcher", watcher=watcher)
    model = ScriptedModel([calls("watcher", {}), says("I watch."), says("I heard.")])
    async with kept(tmp_path, model, roots=found) as w:
        thread = await w.thread()
        await w.service.send(thread, "go")
        await idle(w)
        address = waiting(w)
        assert address != thread
        await Inboxes(w.service, w.runtime).post(address, "Look left.")
        await idle(w, 2)
        assert model.requests[2].messages[-1].text == "Look left."


@pytest.mark.spec("D-10", "R-AAT-4")
async def test_a_called_agent_that_is_persistent_hears_what_is_written_in_its_own_chat(tmp_path: Path) -> None:
    found = {"boss": "", "helper": "metadata: {model: {persistent: true}}"}
    asked = calls("helper_agent", {"message": "Keep watch."})
    model = ScriptedModel([asked, says("I watch."), says("I heard.")])
    async with house(tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper"), skills=found) as h:
        w = h.world
        thread = await w.thread(agent=BOSS)
        await w.service.send(thread, "go")
        await idle(w)
        below = waiting(w)
        sent = await w.service.send(below, "Look left.")
        assert sent.queue_id, "it waits for the agent at work there: no second run begins beside it"
        await idle(w, 2)
        assert said(await w.service.path(below)) == [
            "user: Keep watch.",
            "assistant: I watch.",
            "user: Look left.",
            "assistant: I heard.",
        ]
        await w.service.stop(thread)
        await w.settled(thread)


@pytest.mark.spec("D-10", "R-SES-3")
async def test_a_side_of_a_debate_that_says_persistent_is_refused_before_a_model_is_asked(tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    path = prompt(folder, "pro")
    path.write_text(path.read_text().replace("metadata:\n", "metadata:\n  model: {persistent: true}\n"))
    model = ScriptedModel([says("never")])
    async with debate_world(tmp_path, model) as w:
        async with asyncio.timeout(WAIT_S):
            _, state = await w.run(setup())
        assert "a side of a debate has to end its turn" in state.end_detail
        assert model.requests == []

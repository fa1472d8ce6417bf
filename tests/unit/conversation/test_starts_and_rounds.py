"""Every start counts, whoever makes it, and the rounds of a chat are bounded whatever runs they are of."""

import asyncio
from pathlib import Path

import pytest

from desktop.conversation.job_policy import terms_of
from desktop.domain.events import RunWaiting
from desktop.domain.jobs import JobPolicy
from desktop.domain.limits import Limit
from desktop.domain.messages import ToolResultBlock
from desktop.domain.supervision import ExecutionBudget
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.skills.patterns.paths import Where
from desktop.skills.resolution.roots import SearchRoot
from desktop.supervision.start_rate import StartRate
from tests.unit.conversation.kit import ROOT, world
from tests.unit.conversation.test_agent_tools import BOSS, HELPER, house, one

SKILL = "---\nname: worker\ndescription: x\n---\nWork.\n"


async def test_what_a_person_starts_counts_for_the_models_and_is_never_refused(tmp_path: Path) -> None:
    starts = StartRate(lambda: 2)
    model = ScriptedModel([says("1"), says("2"), says("3"), calls("helper_agent", {"message": "go"}), says("done")])
    async with house(tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper"), starts=starts) as h:
        for _ in range(3):
            await h.ask(agent=HELPER)
        _, (result,) = await h.ask()
        assert "starts a minute 2 (set by the settings)" in result.text
        assert [end.reason for end in h.world.ends()] == ["response"] * 4


async def test_a_skill_that_an_agent_works_on_is_started_so_often_a_minute(tmp_path: Path) -> None:
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "worker.skill.md").write_text(SKILL)
    roots = (SearchRoot(str(tmp_path / "skills"), "mine"), SearchRoot(str(ROOT / "skills"), "library"))
    work = calls("skill_invoke", {"ref": "worker"})
    model = ScriptedModel([work, says("worked"), work, says("done")])
    async with world(tmp_path, model, roots=roots, starts=StartRate(most_skills=lambda: 1)) as w:
        thread = await w.thread()
        shown = await w.ask(thread, "go")
        found = [block for record in shown for block in record.blocks if isinstance(block, ToolResultBlock)]
        assert found[0].text == "worked"
        assert "worker was started 1 times within a minute: starts a minute 1 (set by the settings)" in found[1].text
        assert shown[-1].text == "done"


@pytest.mark.spec("R-CRON-1")
async def test_a_job_waits_for_its_turn_shows_that_and_can_be_stopped(tmp_path: Path) -> None:
    async def never(_seconds: float) -> None:
        await asyncio.Event().wait()

    terms = terms_of(JobPolicy(), ExecutionBudget(), lambda: False, Where("/w", "/h"), "nightly")
    model, starts = ScriptedModel([says("one"), says("two")]), StartRate(lambda: 1, sleep=never)
    async with world(tmp_path, model, starts=starts) as w:
        first, second = await w.thread(), await w.thread()
        await w.service.run_job(first, "go", terms)
        assert (await w.settled(first))[-1].text == "one"
        await w.service.run_job(second, "go", terms)
        await w.until(RunWaiting)
        assert await w.service.stop(second)
        await w.settled(second)
        assert [end.reason for end in w.ends()] == ["response", "cancelled"]


@pytest.mark.spec("R-SES-15", "R-LIM-5")
async def test_the_rounds_of_a_chat_are_bounded_over_all_of_its_runs_and_branches(tmp_path: Path) -> None:
    bound = Limit("rounds of a chat", 4, "Settings, Chats")
    model = ScriptedModel([says("1"), says("2"), calls("skill_list", {}), calls("skill_list", {}), says("never")])
    async with world(tmp_path, model, thread_rounds=lambda: bound) as w:
        thread = await w.thread()
        asked = (await w.ask(thread, "one"))[0]
        await w.service.regenerate(asked.message_id)
        await w.settled(thread)
        await w.ask(thread, "two")
        assert len(model.requests) == 4
        assert "rounds left of the 4 of this chat, 2 (set by Settings, Chats)" in w.ends()[-1].detail
        await w.ask(thread, "three")
        assert (len(model.requests), w.ends()[-1].code) == (4, "limit.rounds")
        assert "All rounds of this chat are used up: rounds of a chat 4 (set by" in w.ends()[-1].detail
        await w.ask(await w.thread(), "another chat has its own")
        assert len(model.requests) == 5

"""Every start counts, whoever makes it, and the rounds of a chat are bounded whatever runs they are of."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest

from desktop.agents.middleware.start_limits import Starts
from desktop.domain.errors import CancellationError
from desktop.domain.jobs import JobPolicy
from desktop.domain.models import ModelRef
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.events import RunWaiting
from desktop.domain.runs.limits import Limit
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.middleware import AgentContext, Start, StartedBy
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.services.debates.setup import DEBATE
from desktop.services.skills.editing import SkillService
from desktop.services.turns.runtime import host_of
from desktop.services.turns.unattended import terms_of
from desktop.settings.groups.middleware import MiddlewareSettings, RateLimit
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.patterns.paths import Where
from tests.unit.services.debates.kit import debate_world, setup
from tests.unit.services.delegation.test_tools import BOSS, HELPER, house, one
from tests.unit.services.kit import ROOT, World, world

SKILL = "---\nname: worker\ndescription: x\n---\nWork.\n"


@asynccontextmanager
async def working(folder: Path, model: ScriptedModel, middleware: MiddlewareSettings) -> AsyncIterator[World]:
    """A chat that may call the skill ``worker``."""
    (folder / "skills").mkdir()
    (folder / "skills" / "worker.skill.md").write_text(SKILL)
    roots = (SearchRoot(str(folder / "skills"), "mine"), SearchRoot(str(ROOT / "skills"), "library"))
    async with world(folder, model, roots=roots, middleware=middleware) as w:
        yield w


def limit(agents: int = 100, skills: int = 100, **more: Any) -> MiddlewareSettings:
    return MiddlewareSettings(rate_limit=RateLimit(per_minute=agents, skills_per_minute=skills), **more)


def waits(w: World) -> list[tuple[str, str]]:
    """Which thread waited for its turn, and why."""
    return [(one.thread_id, one.why) for one in w.events if isinstance(one, RunWaiting) and one.waiting and one.why]


@pytest.mark.spec("S-DEF-1")
async def test_what_a_person_starts_counts_and_never_waits_and_a_model_waits_and_can_be_stopped(tmp_path: Path) -> None:
    model = ScriptedModel([says("1"), says("2"), says("3"), calls("helper_agent", {"message": "go"}), says("never")])
    async with house(tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper"), middleware=limit(2)) as h:
        for _ in range(3):
            await h.ask(agent=HELPER)
        assert waits(h.world) == []
        thread = await h.world.thread(agent=BOSS)
        await h.world.service.send(thread, "go")
        await h.world.until(RunWaiting, 2)
        (child, _), (caller, why) = waits(h.world)
        assert (child, caller) == ((await h.children())[0].thread_id, thread), "both say it"
        assert "helper_agent was started 2 times within a minute; it goes on in" in why
        assert await h.world.service.stop(thread)
        await h.world.settled(thread)
        assert [end.reason for end in h.world.ends() if end.thread_id != child] == ["response"] * 3 + ["cancelled"]
        assert len(model.requests) == 4


async def test_a_skill_that_an_agent_works_on_starts_so_often_a_minute_and_then_waits(tmp_path: Path) -> None:
    work = calls("skill_invoke", {"ref": "worker"})
    model = ScriptedModel([work, says("worked"), work, says("never")])
    async with working(tmp_path, model, limit(skills=1)) as w:
        thread = await w.thread()
        await w.service.send(thread, "go")
        await w.until(RunWaiting)
        ((where, why),) = waits(w)
        assert (where, why.startswith("worker was started once within a minute; it goes on in")) == (thread, True)
        assert await w.service.stop(thread)
        await w.settled(thread)
        assert (len(model.requests), w.ends()[-1].reason) == (3, "cancelled")


async def test_a_skill_that_a_person_calls_never_waits(tmp_path: Path) -> None:
    model = ScriptedModel([says("worked"), says("worked")])
    async with working(tmp_path, model, limit(skills=1)) as w:
        ref = ModelRef("test", "scripted")
        service = SkillService(
            w.skills,
            w.runtime.pipeline,
            w.runtime.agents,
            mine=tmp_path / "skills",
            trash=tmp_path / "t",
            host=lambda _own: host_of(w.runtime, ref, w.runtime.tracker(), by="person"),
        )
        for _ in range(2):
            outcome = await service.try_it("worker", {}, lambda _event: None).work
            assert outcome.result.text == "worked"
        assert waits(w) == []


async def test_switched_off_it_bounds_no_start_of_any_kind(tmp_path: Path) -> None:
    work = calls("skill_invoke", {"ref": "worker"})
    model = ScriptedModel([work, says("worked"), work, says("worked"), says("done")])
    async with working(tmp_path, model, limit(1, 1, switched_off=("rate-limit",))) as w:
        assert (await w.ask(await w.thread(), "go"))[-1].text == "done"
        assert waits(w) == []


async def test_the_turns_of_a_debate_are_no_starts_and_the_debate_is_one(tmp_path: Path) -> None:
    model = ScriptedModel([says(str(number)) for number in range(8)])
    async with debate_world(tmp_path, model, middleware=limit(1)) as w:
        for _ in range(2):
            assert (await w.run(setup(max_turns=4)))[1].turn == 4
        assert waits(w) == []
        said, token = list[str](), CancellationToken()

        def heard(why: str) -> None:
            said.append(why)
            token.cancel("it was heard")

        called = AgentContext(RunMeta("run", token, "thread"), waits=heard, start=Start(DEBATE, "model"))
        with pytest.raises(CancellationError):
            await w.skills.levels.begins(called)
        assert said[0].startswith("debate was started once within a minute")


@pytest.mark.spec("R-CRON-1")
async def test_a_job_waits_for_its_turn_says_why_and_can_be_stopped(tmp_path: Path) -> None:
    terms = terms_of(JobPolicy(), ExecutionBudget(), lambda: False, Where("/w", "/h"), "nightly")
    model = ScriptedModel([says("one"), says("two")])
    async with world(tmp_path, model, middleware=limit(1)) as w:
        first, second = await w.thread(), await w.thread()
        await w.service.run_job(first, "go", terms)
        assert (await w.settled(first))[-1].text == "one"
        await w.service.run_job(second, "go", terms)
        await w.until(RunWaiting)
        assert [where for where, _ in waits(w)] == [second]
        assert await w.service.stop(second)
        await w.settled(second)
        assert [end.reason for end in w.ends()] == ["response", "cancelled"]


async def test_the_next_starts_when_the_first_of_the_same_kind_and_name_is_a_minute_old() -> None:
    now, said = [100.0], list[str]()
    starts = Starts(clock=lambda: now[0])

    def begin(name: str = "helper", by: StartedBy = "model", kind: Literal["agent", "skill"] = "agent") -> AgentContext:
        meta = RunMeta("run", CancellationToken(), "thread")
        return AgentContext(meta, agent=name, waits=said.append, start=Start(name, by, kind))

    for _ in range(2):
        await starts.turn(2, begin())
        now[0] += 1
    for context in (begin("other"), begin(kind="skill"), begin(by="person")):
        await starts.turn(2, context)
    assert said == []
    held = begin(by="job")
    task = asyncio.create_task(starts.turn(2, held))
    while not said:
        await asyncio.sleep(0)
    assert said == ["helper was started 2 times within a minute; it goes on in 59 s (Settings, Middleware)"]
    held.meta.cancellation.cancel("enough")
    with pytest.raises(CancellationError):
        await task
    assert said[1:] == [""]
    now[0] = 161.0
    await starts.turn(2, begin())
    assert said[1:] == [""], "two of the three are a minute old"


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

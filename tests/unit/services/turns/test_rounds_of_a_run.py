"""Every request of every agent of a run counts for one bound, which each run has, and which is named where it ends."""

from pathlib import Path
from typing import Any

import pytest

from desktop.domain.jobs import JobPolicy
from desktop.domain.models import ModelRef
from desktop.domain.runs.supervision import RUN_ROUNDS, ExecutionBudget
from desktop.domain.runs.tree import BY_HAND
from desktop.domain.threads import MessageRecord
from desktop.models.scripted import ScriptedModel, calls
from desktop.services.skills.editing import SkillService
from desktop.services.turns.runtime import host_of
from desktop.services.turns.unattended import terms_of
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.patterns.paths import Where
from desktop.supervision.budgets import BudgetTracker
from tests.unit.services.debates.kit import debate_world, setup
from tests.unit.services.delegation.test_tools import BOSS, HELPER, house, one
from tests.unit.services.kit import ROOT, World, agent, world

SKILL = "---\nname: {}\ndescription: x\nmetadata:\n  model:\n    maxTurns: 1000\n    maxSteps: 1000\n---\nWork.\n"
DEFAULT = f"max_rounds {RUN_ROUNDS} (set by the default of a run)"
CHOSEN = "max_rounds 7 (set by the run's budget)"


def roots(folder: Path) -> tuple[SearchRoot, ...]:
    """Two skills that call each other."""
    folder.mkdir(exist_ok=True)
    for name in ("outer", "inner"):
        (folder / f"{name}.skill.md").write_text(SKILL.format(name))
    return SearchRoot(str(folder), "mine"), SearchRoot(str(ROOT / "skills"), "library")


def asking(ref: str) -> ScriptedModel:
    """A model that never comes to an end: whoever asks it calls a skill."""
    return ScriptedModel([calls("skill_invoke", {"ref": ref})], repeat=True)


def end_of(w: World) -> Any:
    return w.ends()[-1]


async def asked(w: World) -> list[MessageRecord]:
    """A chat, to the end of its run."""
    thread = await w.thread()
    await w.service.send(thread, "go")
    assert await w.service.wait(thread, 120)
    return await w.service.path(thread)


@pytest.mark.spec("R-LIM-1", "R-LIM-5", "R-LIM-6", "R-SES-18")
@pytest.mark.parametrize(
    ("options", "maximum", "named"), [({}, RUN_ROUNDS, DEFAULT), ({"budget": ExecutionBudget(max_rounds=7)}, 7, CHOSEN)]
)
async def test_a_chat_whose_skills_go_on_for_ever_ends_at_the_bound_of_the_run(
    tmp_path: Path, options: dict[str, Any], maximum: int, named: str
) -> None:
    model = asking("inner")
    async with world(tmp_path, model, roots=roots(tmp_path / "s"), supervised=True, **options) as w:
        shown = await asked(w)
        assert len(model.requests) == maximum
        assert (end_of(w).reason, end_of(w).limit) == ("global_limit", named)
        assert named in [block.text for block in shown[-1].blocks if block.kind == "notice"][-1]


@pytest.mark.spec("R-LIM-5", "R-SUP-8")
async def test_called_agents_count_and_their_callers_end_there_too(tmp_path: Path) -> None:
    model = ScriptedModel([calls("helper_agent", {"message": "Go on."})], repeat=True)
    agents = (one(BOSS, "boss"), one(HELPER, "helper"))
    async with house(tmp_path, model, *agents, budget=ExecutionBudget(max_rounds=7)) as h:
        await h.ask()
        assert len(model.requests) == 7
        assert {(end.reason, end.limit) for end in h.world.ends()} == {("global_limit", CHOSEN)}


@pytest.mark.spec("R-LIM-5", "R-SES-15", "R-SES-18")
async def test_a_debate_counts_what_its_sides_call(tmp_path: Path) -> None:
    model = asking("inner")
    root = roots(tmp_path / "prompts")
    budget = ExecutionBudget(max_rounds=7)
    async with debate_world(tmp_path, model, allowed='"*"', budget=budget, roots=root) as w:
        thread, state = await w.run(setup())
        assert (state.status, state.end_reason, len(model.requests)) == ("ended", "global_limit", 7)
        assert CHOSEN in state.end_detail
        await w.go_on(thread)  # another run has its own
        assert len(model.requests) == 14


@pytest.mark.spec("R-LIM-5", "R-CRON-1")
async def test_a_job_has_the_bound_of_the_app_where_its_own_is_wider(tmp_path: Path) -> None:
    model = asking("inner")
    async with world(tmp_path, model, roots=roots(tmp_path / "s"), supervised=True) as w:
        policy = JobPolicy(max_rounds=1_000)
        thread = await w.thread()
        await w.service.run_job(thread, "go", terms_of(policy, ExecutionBudget(max_rounds=7), lambda: False, Where()))
        await w.settled(thread)
        assert (len(model.requests), end_of(w).reason) == (7, "global_limit")


@pytest.mark.spec("R-LIM-5")
async def test_a_skill_that_a_person_calls_is_bound_like_a_run(tmp_path: Path) -> None:
    model = asking("inner")
    async with world(tmp_path, model, roots=roots(tmp_path / "s")) as w:
        runtime = w.runtime
        service = SkillService(
            w.skills,
            runtime.pipeline,
            runtime.agents,
            mine=tmp_path / "s",
            trash=tmp_path / "t",
            host=lambda _own: host_of(runtime, ModelRef("test", "scripted"), runtime.tracker()),
        )
        outcome = await service.try_it("outer", {}, lambda _event: None).work
        assert outcome.result.is_error
        assert (DEFAULT in outcome.result.text, len(model.requests)) == (True, RUN_ROUNDS)


def test_no_tree_is_without_a_bound_and_one_below_has_only_its_own() -> None:
    root = BudgetTracker(ExecutionBudget(max_tokens=10), where="you")
    below = root.child(ExecutionBudget(), "the agent")
    assert str(root.rounds_left()) == DEFAULT
    assert below.budget == ExecutionBudget()
    root.change(ExecutionBudget(max_rounds=900), BY_HAND)
    assert root.budget.max_rounds == 900
    root.change(ExecutionBudget(), BY_HAND)
    assert str(root.rounds_left()) == DEFAULT


async def test_an_agent_with_a_longer_answer_of_its_own_gets_no_more_than_the_run(tmp_path: Path) -> None:
    model = asking("nothing-like-that")
    async with world(tmp_path, model, agents=agent(max_rounds=1_000), supervised=True) as w:
        await asked(w)
        assert (len(model.requests), end_of(w).limit) == (RUN_ROUNDS, DEFAULT)

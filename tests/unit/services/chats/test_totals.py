"""What agents below a run use counts for the run, its thread and its budget."""

import os
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.runs.supervision import ExecutionBudget
from desktop.models.scripted import ScriptedModel
from desktop.skills.catalogue.roots import SearchRoot
from tests.unit.services.kit import ROOT, world

SKILL = "---\nname: {name}\ndescription: x\nallowed-tools: {tools}\nmetadata:\n  category: read\n---\nWork.\n"


def round_of(input_tokens: int, output_tokens: int, cost: float | None, **call: Any) -> list[Any]:
    used: dict[str, Any] = {"input": input_tokens, "output": output_tokens}
    used |= {"cost": cost} if cost is not None else {}
    made = {"call": {"tool": "skill_invoke", "arguments": call}} if call else {"text": "Done."}
    return [made, {"usage": used}]


def roots_of(folder: Path) -> tuple[SearchRoot, ...]:
    mine = folder / "mine"
    os.mkdir(mine)
    (mine / "outer.skill.md").write_text(SKILL.format(name="outer", tools='"*"'))
    (mine / "inner.skill.md").write_text(SKILL.format(name="inner", tools="skill-list"))
    return SearchRoot(str(mine), "mine"), SearchRoot(str(ROOT / "skills"), "library")


@pytest.mark.spec("R-LOOP-15", "R-SUP-8")
@pytest.mark.parametrize("cost", [0.5, None])
async def test_agents_below_a_run_count_for_it_and_its_thread(tmp_path: Path, cost: float | None) -> None:
    model = ScriptedModel(
        [
            round_of(100, 10, 0.25, ref="outer", args={}),
            round_of(20, 2, 0.125, ref="inner", args={}),
            round_of(3, 1, cost),
            round_of(20, 2, 0.125),
            round_of(100, 10, 0.25),
        ]
    )
    async with world(tmp_path, model, roots=roots_of(tmp_path)) as w:
        thread = await w.thread()
        await w.ask(thread, "go")
        whole, total = (await w.service.thread(thread)).usage, (None if cost is None else 1.25)
        assert (whole.input_tokens, whole.output_tokens, whole.cost_usd) == (243, 25, total)
        assert w.ends()[0].usage == whole
        (run,) = await w.store.runs.of_thread(thread_id=thread, limit=5)
        assert run.usage == whole


@pytest.mark.spec("R-SUP-8", "R-LIM-5")
async def test_agents_below_a_run_use_up_its_budget_and_what_they_used_is_told(tmp_path: Path) -> None:
    model = ScriptedModel([round_of(100, 10, 0.0, ref="inner", args={}), round_of(500, 5, 0.0), round_of(1, 1, 0.0)])
    async with world(tmp_path, model, roots=roots_of(tmp_path), budget=ExecutionBudget(max_tokens=600)) as w:
        thread = await w.thread()
        await w.ask(thread, "go")
        (end,) = w.ends()
        assert (end.reason, end.limit) == ("budget", "max_tokens 600 (set by the run's budget)")
        assert (end.usage.input_tokens, (await w.service.thread(thread)).usage.input_tokens) == (600, 600)
        assert len(model.requests) == 2

"""Code that called an agent reads the agent's trace, in this process and in one of its own (R-TRC-2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from desktop.models.scripted import calls, says
from desktop.pipeline.skills.python_worker import PythonWorker
from desktop.safety.confinement.select import SystemConfinement
from tests.unit.library.test_policy import bench_of
from tests.unit.pipeline.skill_kit import SkillBench, file_skill, skill
from tests.unit.safety.world import World


@pytest.mark.spec("R-TRC-2")
async def test_code_that_calls_an_agent_by_itself_reads_its_trace(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, calls("look", {"path": "a"}, text="Hm."), says("Done."))

    async def asks(ctx: Any, _args: Any) -> Any:
        answer = await ctx.manager.invoke("agent", {"prompt": "Look.", "name": "looker"})
        return [answer, [entry["type"] for entry in ctx.locals["agent"]["trace"]]]

    bench.register("asks", asks)
    answer, kinds = (await bench.call("asks")).result.structured
    assert answer.endswith("Done.")
    assert kinds[:4] == ["turn-start", "message", "tool-call", "tool-result"]
    assert kinds[-1] == "turn-end"


@pytest.mark.spec("R-TRC-2")
async def test_code_in_a_process_of_its_own_reads_it_too(tmp_path: Path) -> None:
    async def agent(ctx: Any, args: Any) -> str:
        ctx.call.invocation.parent.view.locals["agent"] = {"trace": [{"type": "turn-start"}]}  # as the library's does
        return "done"

    world = World(tmp_path)
    confinement = SystemConfinement(world.policy, lambda: world.settings)
    if confinement.probe().kind == "none":
        pytest.skip("nothing can confine a process here")
    path = world.home / "skills" / "mine.skill.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        "async def run(ctx, args):\n"
        "    before = ctx.locals.get('agent')\n"
        "    said = await ctx.manager.invoke('agent', {})\n"
        "    return [before, said, ctx.locals['agent']['trace']]\n"
    )
    worker = PythonWorker(confinement, lambda: world.settings.workspace, lambda one: Path(one.path).read_text())
    mine = file_skill(path, skill("mine", kind="python", category="read"))
    bench = SkillBench(mine, skill("agent", agent), runs={"python": worker})
    assert (await bench.call("mine")).result.structured == [None, "done", [{"type": "turn-start"}]]
    confinement.close()

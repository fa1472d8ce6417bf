"""Code that a model wrote waits for a person as long as it takes; its own time is only what it uses itself."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.code import CodeLimits
from desktop.pipeline.names import Caller, ExactTools
from desktop.pipeline.skills.code_mode import CodeTool
from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.workers.js_code.engine import JsEngine, WorkerSpec
from tests.unit.pipeline.kit import Bench, FakeTool, Person, Table

WALL = 2.0


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[JsEngine]:
    (tmp_path / "empty").mkdir()
    found = JsEngine(lambda: WorkerSpec(str(tmp_path / "empty"), *code_sandbox_profile()), CodeLimits(cpu_s=20))
    yield found
    await found.close()


def bench_of(engine: JsEngine, person: Person, limits: CodeLimits) -> tuple[Bench, Any]:
    writer = FakeTool("write-file", Category.WRITE)
    bench = Bench(writer, person=person)
    caller = Caller("code", ("agent",), ExactTools(("write-file",)))

    async def finish(_value: Any) -> None:
        raise AssertionError("nobody finishes here")

    code = CodeTool("run-code", engine.session(False), bench.pipeline, caller, finish, limits=limits)
    bench.pipeline.table = Table(writer, code)  # type: ignore[arg-type]
    return bench, writer


@pytest.mark.spec("R-PRM-10", "R-COD-14")
async def test_a_person_who_takes_longer_than_code_may_run_costs_the_code_nothing(engine: JsEngine) -> None:
    person = Person("allow_once", "allow_once", wait=WALL + 0.3)
    bench, writer = bench_of(engine, person, CodeLimits(wall_s=WALL))
    code = "for (const path of ['a', 'b']) { await ctx.manager.invoke('write-file', {path}); } return 'both'"
    caller = Caller("skill", ("agent",), ExactTools(None))
    outcome = await bench.call("run-code", {"code": code}, caller=caller)
    assert outcome.state == "done", outcome.result.text
    assert [call["path"] for call in writer.calls] == ["a", "b"]


@pytest.mark.spec("R-PRM-10", "R-COD-14")
async def test_code_that_itself_takes_longer_is_ended_after_a_wait_too(engine: JsEngine) -> None:
    person = Person("allow_once", wait=WALL + 0.3)
    bench, writer = bench_of(engine, person, CodeLimits(wall_s=WALL))

    async def never(_args: object, _context: object) -> str:
        await asyncio.sleep(3600)
        return "late"

    writer.body = never
    caller = Caller("skill", ("agent",), ExactTools(None))
    outcome = await bench.call(
        "run-code", {"code": "await ctx.manager.invoke('write-file', {path: 'a'})"}, caller=caller
    )
    assert outcome.result.is_error
    assert "limit" in outcome.result.text
    await bench.owner.close()

"""Hostile code against the gates: tests/data/hostile_code/gates.js through agent, pipeline and worker (R-COD-6)."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import Decision
from desktop.domain.code import CodeLimits, CodeSession
from desktop.domain.tools import ToolResult
from desktop.models.scripted import ScriptedModel, says
from desktop.pipeline.names import Caller, ExactTools
from desktop.pipeline.skills.code_mode import CodeTool
from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.workers.js_code.engine import JsEngine, WorkerSpec
from tests.unit.library.kit import LibraryBench
from tests.unit.library.test_code_mode import HEAD, runs, told
from tests.unit.pipeline.kit import Bench, FakeTool, Person
from tests.unit.workers.hostile_code import LATE_MS, Count, Heart, Host, Program, programs, steady


class Never(Person):
    """Says no to everything."""

    async def decide(self, call: Any, asking: Any) -> Decision:
        self.answers.append("deny")
        return await super().decide(call, asking)


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[JsEngine]:
    (tmp_path / "empty").mkdir()
    found = JsEngine(lambda: WorkerSpec(str(tmp_path / "empty"), *code_sandbox_profile()), CodeLimits(cpu_s=5))
    yield found
    await found.close()


def world(tmp_path: Path, engine: JsEngine, person: Person) -> LibraryBench:
    async def stuck(*_: Any) -> Any:
        await asyncio.sleep(3600)

    tools = (
        FakeTool("look", body=lambda args, _c: f"saw {args['path']}"),
        FakeTool("write-file", Category.WRITE),
        FakeTool("secret-tool", visibility="hidden"),
        FakeTool("other-tool"),
        FakeTool("stuck", body=stuck, timeout_s=0.05),
        FakeTool("huge", body=lambda *_: ToolResult("x", structured={"all": "x" * 1_000_000})),
    )
    bench = LibraryBench(tmp_path, *tools, person=person)
    bench.lent = {"code": engine}
    more = 'allowed-tools: "look write-file stuck huge"\n'
    bench.write("task.skill.md", HEAD.format(mode="code", more=more, metadata=""))
    return bench


def tool(bench: LibraryBench, name: str) -> FakeTool:
    found = bench.world.table.find(name)
    assert isinstance(found, FakeTool)
    return found


async def judged(bench: LibraryBench, person: Person, program: Program) -> list[str]:
    """What is wrong with what became of it."""
    piece, problems = program.pieces[0], []
    bench.model = ScriptedModel([runs(piece.code), says("end")])
    person.asked.clear()
    for fake in [tool(bench, name) for name in ("look", "write-file", "secret-tool", "other-tool")]:
        fake.calls.clear()
    await bench.call("task", allowed="*")
    if len(bench.model.requests) > 1:
        got = told(bench)
        if piece.sign == "=" and got.get("value") != piece.expected:
            problems.append(f"expected {piece.expected}, got {str(got)[:300]}")
        if piece.sign == "!" and got["ok"]:
            problems.append(f"expected a failure, got {str(got)[:300]}")
        if str(Path(__file__).parents[3]) in json.dumps(got):
            problems.append("it tells a path")
    elif piece.sign == "=" and "finish" not in piece.code:
        problems.append("the model was not told")
    for mark in piece.marks:
        what, *rest = mark.split()
        if what == "asked" and len(person.asked) != int(rest[0]):
            problems.append(f"asked {len(person.asked)} times")
        if what == "did" and len(tool(bench, rest[0]).calls) != int(rest[1]):
            problems.append(f"{rest[0]} ran {len(tool(bench, rest[0]).calls)} times")
    return [f"{program.name}: {problem}" for problem in problems]


async def run_gates(bench: LibraryBench, person: Never, heart: Heart | None = None) -> Count:
    """All programs of gates.js, one after another, in the ``world`` of that person."""
    count = Count("gates", heart=heart or Heart())
    beat = asyncio.ensure_future(count.heart.beat())
    for program in programs("gates"):
        count.tried += 1
        count.problems += await judged(bench, person, program)
        ran = [name for name in ("secret-tool", "other-tool", "write-file") if tool(bench, name).calls]
        count.problems += [f"{program.name}: {name} ran" for name in ran]
    beat.cancel()
    await bench.owner.close()
    return count


@pytest.mark.spec("R-COD-6", "R-COD-7", "R-COD-13", "R-COD-14", "R-COD-15", "R-INV-2", "R-INV-15")
async def test_no_hostile_code_gets_a_call_past_a_gate(tmp_path: Path, engine: JsEngine) -> None:
    numbers = itertools.count()

    async def run() -> Count:
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        person = Never()
        return await run_gates(world(folder, engine, person), person)

    count = await steady(run)
    assert not count.problems
    assert count.held == count.tried >= 70
    assert count.heart.worst_cpu_ms < LATE_MS


# -- one call of the code tool, without an agent around it ------------------------------------------------------------


class CodeBench:
    """The code tool in a pipeline with these tools."""

    def __init__(
        self,
        engine: JsEngine,
        limits: CodeLimits,
        *tools: FakeTool,
        person: Person | None = None,
        session: CodeSession | None = None,
    ) -> None:
        self.session = session or engine.session()
        self.bench = Bench(*tools, person=person)
        self.finished: list[Any] = []
        caller = Caller("code", ("agent",), ExactTools(None))
        self.tool = CodeTool("agent-code", self.session, self.bench.pipeline, caller, self.finish, limits=limits)
        self.bench = Bench(self.tool, *tools, person=person)  # type: ignore[arg-type]
        self.tool._pipeline = self.bench.pipeline

    async def finish(self, value: Any) -> None:
        self.finished.append(value)

    async def run(self, code: str) -> Any:
        return await self.bench.call("agent-code", {"code": code}, caller=Caller("skill", (), ExactTools(None)))


async def _forever(*_: Any) -> Any:
    await asyncio.sleep(3600)


async def _for_a_while(*_: Any) -> str:
    await asyncio.sleep(0.6)
    return "at last"


@pytest.mark.spec("R-COD-15")
async def test_a_nested_call_has_sixty_seconds_where_the_tool_has_no_limit_of_its_own(engine: JsEngine) -> None:
    assert (CodeLimits().nested_s, CodeLimits().wall_s, CodeLimits().calls) == (60, 300, 50)
    tools = (FakeTool("stuck", body=_forever), FakeTool("slow", body=_for_a_while, timeout_s=30))
    bench = CodeBench(engine, CodeLimits(nested_s=0.2), *tools)
    code = (
        "const out = []; for (const name of ['stuck', 'slow'])"
        "try { out.push(await ctx.manager.invoke(name, {path: 'x'})) } catch (e) { out.push(e.code) } return out"
    )
    assert (await bench.run(code)).result.structured["value"] == ["tool.timeout", "at last"]
    await bench.session.close()


@pytest.mark.spec("R-COD-15", "R-COD-16")
async def test_a_piece_of_code_has_so_much_time_and_its_process_ends_with_it(engine: JsEngine) -> None:
    bench = CodeBench(engine, CodeLimits())
    await bench.run("memory.x = 1")  # its process is there now, however long that took
    brief = CodeBench(engine, CodeLimits(wall_s=0.3), FakeTool("stuck", body=_forever), session=bench.session)
    outcome = await brief.run("return await ctx.manager.invoke('stuck', {path: 'x'})")
    assert outcome.result.code == "tool.timeout"
    while engine._live:
        await asyncio.sleep(0.005)
    after = (await bench.run("return typeof memory.x")).result.structured
    assert after["value"] == "undefined"
    assert "memory is gone" in after["note"]
    await bench.session.close()


@pytest.mark.spec("R-COD-15", "R-PRM-10")
async def test_the_time_in_which_a_person_is_asked_does_not_count(engine: JsEngine) -> None:
    person = Person("allow_once", wait=3.0)
    first = CodeBench(engine, CodeLimits())
    await first.run("memory.x = 1")
    writer = FakeTool("write-file", Category.WRITE)
    bench = CodeBench(engine, CodeLimits(wall_s=2.0), writer, person=person, session=first.session)
    outcome = await bench.run("return await ctx.manager.invoke('write-file', {path: 'x'})")
    assert outcome.result.structured["value"] == "did write-file"
    await bench.session.close()


class Waiting(Person):
    """Asks until ``answer`` is set."""

    def __init__(self) -> None:
        super().__init__("allow_once")
        self.answer, self.withdrawn = asyncio.Event(), 0

    async def decide(self, call: Any, asking: Any) -> Decision:
        decision = await super().decide(call, asking)
        if call.category is not Category.READ:
            try:
                await self.answer.wait()
            except asyncio.CancelledError:
                self.withdrawn += 1
                raise
        return decision


@pytest.mark.spec("R-COD-6", "R-COD-17")
async def test_while_a_person_is_asked_other_calls_go_on_and_reads_are_not_held_up(engine: JsEngine) -> None:
    person = Waiting()
    look = FakeTool("look")
    bench = CodeBench(engine, CodeLimits(), look, FakeTool("write-file", Category.WRITE), person=person)
    code = (
        "const write = ctx.manager.invoke('write-file', {path: 'x'});"
        "for (let i = 0; i < 10; i++) await ctx.manager.invoke('look', {path: 'a' + i}); return await write"
    )
    running = asyncio.ensure_future(bench.run(code))
    while len(look.calls) < 10:
        await asyncio.sleep(0.005)
    assert not running.done()
    person.answer.set()
    assert (await running).result.structured["value"] == "did write-file"
    await bench.session.close()


@pytest.mark.spec("R-COD-6")
async def test_a_question_that_the_code_does_not_wait_for_is_withdrawn_with_it(engine: JsEngine) -> None:
    person, write = Waiting(), FakeTool("write-file", Category.WRITE)
    bench = CodeBench(engine, CodeLimits(), FakeTool("look"), write, person=person)
    code = "ctx.manager.invoke('write-file', {path: 'x'}); await ctx.manager.invoke('look', {path: 'a'}); return 1"
    assert (await bench.run(code)).result.structured["value"] == 1
    await bench.bench.owner.close()
    assert (len(person.asked), person.withdrawn, write.calls) == (1, 1, [])
    await bench.session.close()


@pytest.mark.spec("R-COD-6", "R-COD-16")
@pytest.mark.parametrize("how", ["the session is closed", "the run is stopped"])
async def test_what_ends_while_a_person_is_asked_does_nothing_more(engine: JsEngine, how: str) -> None:
    person, write = Waiting(), FakeTool("write-file", Category.WRITE)
    bench = CodeBench(engine, CodeLimits(), write, person=person)
    running = asyncio.ensure_future(bench.run("return await ctx.manager.invoke('write-file', {path: 'x'})"))
    while not person.asked:
        await asyncio.sleep(0.005)
    if how == "the session is closed":
        await bench.session.close()
    else:
        bench.bench.token.cancel("stop")
    outcome = await running
    person.answer.set()
    await bench.bench.owner.close()
    assert outcome.result.is_error
    assert not write.calls
    assert not engine._live
    await bench.session.close()


@pytest.mark.spec("R-COD-13")
async def test_of_results_given_at_the_same_time_one_counts(engine: JsEngine) -> None:
    bench = CodeBench(engine, CodeLimits())
    given: list[Any] = []

    async def slowly(value: Any) -> None:
        await asyncio.sleep(0.02)
        given.append(value)

    bench.tool._finish = slowly
    code = "return (await Promise.allSettled([1, 2, 3].map(n => ctx.manager.finish(n)))).map(r => r.status[0])"
    assert (await bench.run(code)).result.structured["value"] == ["f", "r", "r"]
    assert given == [1]
    await bench.session.close()


@pytest.mark.spec("R-COD-12", "R-COD-18")
async def test_output_is_cut_like_that_of_tools_and_says_so(engine: JsEngine) -> None:
    bench = CodeBench(engine, CodeLimits())
    shown = (await bench.run("for (let i = 0; i < 3000; i++) console.log('ä'.repeat(99)); return 1")).result
    assert "Output cut" in json.loads(shown.text)["stdout"]
    assert 150_000 < len(shown.text.encode()) <= 200_000
    await bench.session.close()


@pytest.mark.spec("R-COD-5", "R-COD-6")
async def test_a_line_that_a_person_is_shown_is_the_one_that_asks(engine: JsEngine) -> None:
    person = Person("deny", "deny")
    bench = CodeBench(engine, CodeLimits(), FakeTool("write-file", Category.WRITE), person=person)
    seen: list[Any] = []
    original = person.decide

    async def noted(call: Any, asking: Any) -> Decision:
        seen.append(call.request.place and (call.request.place.line, call.place))
        return await original(call, asking)

    person.decide = noted  # type: ignore[method-assign]
    code = (
        "const a = '\x0b\x0c\x1e'; // reads only\n"
        "const f = (g) => g('write-file', {path: 'x'}).catch(() => 0)\n"
        "await f(ctx.manager.invoke)\n"
        "await Function('m', '\\n'.repeat(40) + 'return m(\"write-file\", {path: \"y\"})')(ctx.manager.invoke)"
    )
    await bench.run(code)
    asked = [place for place in seen if place is not None]
    shown = "line 2: const f = (g) => g('write-file', {path: 'x'}).catch(() => 0)"
    assert asked == [(2, shown), (0, "made while it ran")]
    await bench.session.close()


PROBING = r"""await ctx.manager.invoke('look', {path: 'x'})
// the person would be shown THIS line 2: it reads
let hit = 0
const N = 33000, parts = ['[']
for (let i = 0; i < N; i++) parts.push('()=>{throw new Error()},')
const all = (0, eval)(parts.join('\n') + ']')
const found = (e) => e.stack.startsWith('    at line 2\n')
for (let i = 0; i < N; i++) try { all[i]() } catch (e) { if (found(e)) { hit = i + 1; break } }
await (0, eval)('\n'.repeat(hit) + 'ctx.manager.invoke("write-file", {path: "x"}).catch(() => 0)')
return hit"""


@pytest.mark.spec("R-COD-5", "R-COD-6")
async def test_code_that_looks_for_its_own_lines_in_stacks_shows_no_other_line_for_its_call(engine: JsEngine) -> None:
    person, places = Person("deny"), []
    bench = CodeBench(engine, CodeLimits(), FakeTool("look"), FakeTool("write-file", Category.WRITE), person=person)
    serve = bench.tool._server

    def noted(call: Any, code: str) -> Any:
        inner = serve(call, code)

        async def answer(asked: Any) -> Any:
            places.append((asked.ref, asked.line))
            return await inner(asked)

        return answer

    bench.tool._server = noted  # type: ignore[method-assign]
    shown = (await bench.run(PROBING)).result.structured
    assert (shown["value"], places) == (0, [("look", 1), ("write-file", 0)])
    await bench.session.close()


@pytest.mark.spec("R-COD-5", "R-COD-10")
async def test_what_was_kept_from_an_earlier_piece_never_shows_a_line_of_a_later_one(engine: JsEngine) -> None:
    host, session = Host(), engine.session()
    await session.run("\n\nmemory.f = () => ctx.manager.invoke('a', {})", host)
    for lines in (0, 5, 30_000, 200_000):
        await session.run("\n" * lines + "await memory.f(); await ctx.manager.invoke('b', {})", host)
    assert [(call.ref, call.line) for call in host.calls] == [
        one for lines in (0, 5, 30_000, 200_000) for one in (("a", 0), ("b", lines + 1))
    ]
    late = "\n" * 250_000 + "await ctx.manager.invoke('late', {})"
    for _ in range(9):  # where lines have run out there are none
        await session.run(late, host)
    assert [call.line for call in host.calls[-9:]] == [250_001] * 7 + [0] * 2
    await session.close()

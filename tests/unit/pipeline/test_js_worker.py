"""JavaScript skills: in the code sandbox, bound to what was approved, gated (R-SK-14, C-1)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.permission import Decision
from desktop.domain.code import CodeLimits
from desktop.domain.skills import SkillDef
from desktop.domain.text.places import FormatError
from desktop.pipeline.context import CallResult
from desktop.pipeline.names import ExactTools
from desktop.pipeline.skills.js_worker import JavaScriptWorker
from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.skills.formats import load_skills_from_file
from desktop.skills.formats.js_module import runnable
from desktop.workers.js_code.engine import JsEngine, WorkerSpec
from tests.harness.timeouts import WAIT_S, until
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.pipeline.skill_kit import WRITE, SkillBench, file_skill, middleware, skill

pytestmark = pytest.mark.spec("C-1")

HEAD = "export const frontmatter = { name: 'mine', description: 'Mine.' }\n"


def _text(definition: SkillDef) -> str:
    return Path(definition.path).read_text("utf-8")


class Place:
    """One skill file, and a pipeline that runs it in the sandbox."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "mine.skill.js"
        (folder / "empty").mkdir()
        self.engine = JsEngine(
            lambda: WorkerSpec(str(folder / "empty"), *code_sandbox_profile()), CodeLimits(cpu_s=0.5)
        )
        self.worker = JavaScriptWorker(self.engine, _text)

    async def run(self, text: str, args: Any = None, *, person: Person | None = None, **values: Any) -> CallResult:
        self.path.write_text(HEAD + text, "utf-8")
        entry = load_skills_from_file(str(self.path), source="mine", root=str(self.path.parent)).definitions[0].entry
        others = values.pop("others", ())
        given = {"kind": "javascript", "category": "read", "entry": entry, **values}
        self.tools = (FakeTool("look"), FakeTool("write-file", WRITE))
        self.bench = SkillBench(
            file_skill(self.path, skill("mine", **given)),
            *others,
            tools=self.tools,
            person=person,
            runs={"javascript": self.worker},
        )
        return await self.bench.call("mine", args or {})


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    made = Place(tmp_path)
    yield made
    assert not made.engine._live
    await made.engine.close()


@pytest.mark.spec("R-SK-14", "R-SK-7", "R-COD-5")
async def test_it_runs_in_the_sandbox_and_returns_its_value(place: Place) -> None:
    outcome = await place.run(
        "const twice = n => n * 2\nexport default async function run(ctx, args) {\n"
        "  return { twice: twice(args.n), again: ctx.args.n, name: ctx.run.tool.name, middleware: ctx.isMiddleware,\n"
        "    self: ctx.envelope.target === ctx, things: [typeof process, typeof require, typeof fetch] }\n}\n",
        {"n": 21},
    )
    assert outcome.result.structured == {
        "twice": 42,
        "again": 21,
        "name": "mine",
        "middleware": False,
        "self": True,
        "things": ["undefined"] * 3,
    }


@pytest.mark.spec("R-SK-14", "R-SK-6")
@pytest.mark.parametrize(
    "source",
    [
        "export default async (ctx, args) => args.n",
        "export default (ctx, args) => args.n;",
        "export default function (ctx, args) { return args.n }",
        "export default async function(ctx, args) { return args.n }",
        "export default function run(ctx, args) { return args.n }\nconst other = () => run",
        "export async function run(ctx, args) { return args.n }",
        "export const run = (ctx, args) => args.n",
        "const f = (ctx, args) => args.n\nexport {\n  f as default,\n}",
        "function run(ctx, { n }) { return n }\nexport { run }",
        "export class Q { static go(ctx, args) { return args.n } }\nexport let z = 1, y = 2\nexport default Q.go",
        "export const { a, b } = { a: 1, b: 2 }\nexport default (ctx, args) => args.n + a - 1",
        "const args = 5, ctx = 6, memory = 7, console = 8\nexport default (c, a) => a.n",
        "const t = `export default ${'import x'}`, r = /import 'x'/\nexport default (ctx, args) => args.n",
        "const wait = await Promise.resolve(1)\nexport default (ctx, args) => args.n * wait",
        "export default (ctx, args) => args.n // the end",
    ],
)
async def test_whatever_way_it_exports_its_entry_is_called(place: Place, source: str) -> None:
    assert (await place.run(source, {"n": 7})).result.structured == 7


@pytest.mark.spec("R-SK-8", "R-SK-14")
async def test_of_several_skills_in_one_file_each_has_its_own_entry(place: Place) -> None:
    source = "export function one() { return 1 }\nexport const two = () => 2\n"
    assert (await place.run(source, entry="two")).result.structured == 2
    assert (await place.run(source, entry="one")).result.structured == 1


@pytest.mark.spec("R-COD-4")
@pytest.mark.parametrize(
    ("line", "text"),
    [
        (2, "import fs from 'fs'\nexport default () => 1"),
        (3, "\nimport { a,\n b } from './b.js'\nexport default () => 1"),
        (2, "import 'x'\nexport default () => 1"),
        (2, "import * as x from 'x'\nexport default () => 1"),
        (3, "export default () => 1\nexport * from 'x'"),
        (3, "export default () => 1\nexport { a } from 'x'"),
    ],
)
async def test_an_import_is_a_clear_error_at_its_line(place: Place, line: int, text: str) -> None:
    outcome = await place.run(text, entry="default")
    assert outcome.result.code == "skill.raised"
    assert f"line {line}: a skill is one file" in outcome.result.text


def test_every_line_stays_where_it_is() -> None:
    text = HEAD + "export {\n a,\n b as c\n}\nexport default class extends X {}\n// é\u2028x\nexport function d() {}\n"
    made = runnable(text)
    assert made.body.count("\n") == text.count("\n")
    assert made.body.split("\n").index("// é\u2028x") == text.split("\n").index("// é\u2028x")
    assert made.exports == {"frontmatter": "frontmatter", "a": "a", "c": "b", "default": "$exported", "d": "d"}
    assert "export" not in made.body.replace("$exported", "")
    with pytest.raises(FormatError):
        runnable("import x from 'y'")


@pytest.mark.spec("R-SK-14", "R-INV-2", "R-INV-3", "R-PRM-5")
async def test_its_calls_pass_every_gate(place: Place) -> None:
    source = (
        "export default async (ctx) => {\n  const seen = [await ctx.manager.invoke('look', { path: 'a' })]\n"
        "  for (const [name, args] of [['write-file', { path: 'b' }], ['look', { path: 3 }], ['look', { $x: 1 }]])\n"
        "    try { seen.push(await ctx.manager.invoke(name, args)) } catch (e) { seen.push(e.code) }\n"
        "  return seen\n}\n"
    )
    outcome = await place.run(source, person=Person("deny"))
    assert outcome.result.structured == ["did look", "denied.permission", "tool.validation", "denied.untrusted_ref"]
    assert not place.tools[1].calls


@pytest.mark.spec("R-INV-3")
async def test_its_own_list_governs_its_calls(place: Place) -> None:
    place.path.write_text(
        HEAD + "export default async (ctx) => { try { return await ctx.manager.invoke('look', {path: 'a'}) }"
        " catch (e) { return e.code } }"
    )
    mine = file_skill(place.path, skill("mine", kind="javascript", category="read", entry="default"))
    for listed, value in (("other", "denied.allowed_tools"), ("look", "did look")):
        only = ExactTools((listed,))
        runs = {"javascript": place.worker, "allowed_of": lambda _definition, only=only: only}
        bench = SkillBench(mine, tools=(FakeTool("look"),), runs=runs)
        assert (await bench.call("mine", {})).result.text == value


@pytest.mark.spec("R-SK-14", "R-COD-17")
async def test_calls_side_by_side_are_answered_each_to_its_own(place: Place) -> None:
    source = (
        "export default async (ctx) => (await Promise.all(Array.from({ length: 40 }, (_, n) =>\n"
        "  ctx.manager.invoke('echo', { n })))).map(value => value.n)\n"
    )

    async def echo(_ctx: Any, args: Any) -> Any:
        await asyncio.sleep(0.001 * (args["n"] % 3))
        return {"n": args["n"]}

    outcome = await place.run(source, others=(skill("echo", echo),))
    assert outcome.result.structured == list(range(40))


@pytest.mark.spec("R-PRM-5")
async def test_only_the_source_that_was_approved_runs(place: Place) -> None:
    def change(_request: Any) -> Decision:
        place.path.write_text(HEAD + "export default () => 'another thing'\n")
        return Decision("allow_once", "digest")

    person = Person(change, "deny")
    outcome = await place.run("export default () => 'one'\n", person=person, category="admin")
    assert outcome.result.code == "denied.permission"
    assert person.asked[1].stale


@pytest.mark.spec("R-SK-7", "R-INV-9", "R-COD-12")
@pytest.mark.parametrize(
    ("source", "code", "words"),
    [
        ("export default () => {\n  null.x\n}", "skill.raised", "TypeError: cannot read property 'x' of null (line 3)"),
        ("throw new Error('at load')\nexport default 1", "skill.raised", "at load (line 2)"),
        ("export const x = 1", "skill.raised", "no exported function"),
        ("export default 5", "skill.raised", "no exported function"),
        ("export default () => () => 1", "skill.raised", "no JSON"),
        ("export default () => Symbol('x')", "skill.raised", "no JSON"),
        ("export default () => { const o = {}; o.o = o; return o }", "skill.raised", "circular"),
        ("export default () => 7n", "skill.raised", "BigInt"),
        ("export default () => 'x'.repeat(300000)", "skill.raised", "larger than 262144"),
        ("export default (ctx) => ctx.manager.fail('on purpose')", "skill.failed", "on purpose"),
        (
            "export default async (ctx) => { try { await ctx.manager.fail('on purpose') } catch {} return 1 }",
            "skill.failed",
            "on purpose",
        ),
        ("export default () => { for (;;) {} }", "tool.timeout", "computed for more than"),
        ("export default () => { const a = []; for (;;) a.push(new ArrayBuffer(1 << 20)) }", "skill.raised", "memory"),
        ("export default () => new Promise(() => {})", "skill.raised", "never comes"),
        ("export default () => undeclared", "skill.raised", "undeclared is not defined (line 2)"),
        ("export default () => {\n  let = ;\n}", "skill.raised", "SyntaxError"),
        ("x = 1\nexport default () => x", "skill.raised", "x is not defined"),
    ],
)
async def test_whatever_the_code_does_wrong_is_content(place: Place, source: str, code: str, words: str) -> None:
    outcome = await place.run(source, entry="default")
    assert outcome.result.code == code
    assert words in outcome.result.text
    assert str(place.path.parent) not in outcome.result.text


@pytest.mark.spec("R-SK-7")
@pytest.mark.parametrize("source", ["export default () => {}", "export default () => null"])
async def test_returning_nothing_sets_no_result(place: Place, source: str) -> None:
    assert (await place.run(source)).result.structured is None


@pytest.mark.spec("R-INV-9")
@pytest.mark.parametrize("wait", ["await ", ""])
async def test_finish_wins_over_what_is_returned(place: Place, wait: str) -> None:
    source = f"export default async (ctx) => {{ {wait}ctx.manager.finish([1, 2]); return 'ignored' }}\n"
    assert (await place.run(source)).result.structured == [1, 2]


@pytest.mark.spec("R-INV-7")
async def test_its_nonlocals_reach_its_children_and_the_apps_own_are_out_of_its_reach(place: Place) -> None:
    source = (
        "export default async (ctx) => {\n  ctx.nonlocals.mine = 1; ctx.nonlocals.host = 'evil'\n"
        "  ctx.locals.internals = 'evil'; ctx.locals.kept = 2\n  return await ctx.manager.invoke('inner')\n}\n"
    )

    async def inner(ctx: Any, _args: Any) -> Any:
        return [ctx.nonlocals.get("mine"), ctx.nonlocals.get("host")]

    assert (await place.run(source, others=(skill("inner", inner),))).result.structured == [1, None]


@pytest.mark.spec("R-INV-4", "R-INV-6", "R-AG-13")
async def test_it_can_be_middleware(place: Place) -> None:
    place.path.write_text(
        HEAD + "export default async (ctx) => {\n  const value = await ctx.manager.next(); let twice = ''\n"
        "  try { await ctx.manager.next() } catch (e) { twice = e.code }\n"
        "  return [ctx.isMiddleware, ctx.envelope.target.args.n, ctx.locals.config, value, twice]\n}\n"
    )

    async def work(_ctx: Any, _args: Any) -> str:
        return "core"

    around = file_skill(
        place.path,
        skill("mine", kind="javascript", category="read", role="middleware", entry="default", metadata={"params": {}}),
    )
    bench = SkillBench(skill("work", work, metadata={"mine": "x"}), around, runs={"javascript": place.worker})
    assert (await bench.call("work", {"n": 5})).result.structured == [True, 5, "x", "core", "skill.next_twice"]


@pytest.mark.spec("R-SK-14")
async def test_middleware_of_the_library_stands_around_it_as_around_any_other(place: Place) -> None:
    seen = []

    async def note(ctx: Any, _args: Any) -> Any:
        seen.append(ctx.envelope.target.run.tool.name)
        return await ctx.manager.next()

    outcome = await place.run("export default () => 'x'", metadata={"note": 1}, others=(middleware("note", note),))
    assert outcome.result.text == "x"
    assert seen == ["mine"]


@pytest.mark.spec("R-COD-15")
async def test_its_calls_are_limited_as_those_of_code(place: Place) -> None:
    source = (
        "export default async (ctx) => {\n  let n = 0, last = ''\n  try { for (;;) { await ctx.manager.invoke('look', "
        "{ path: 'x' }); n++ } } catch (e) { last = e.code }\n  return [n, last]\n}\n"
    )
    assert (await place.run(source)).result.structured == [50, "denied.limit"]


@pytest.mark.spec("R-SK-14", "R-COD-7")
async def test_it_may_call_by_reference_as_other_skills_of_files_do(place: Place) -> None:
    source = (
        "export default async (ctx) => { try { return await ctx.manager.invoke('./no.skill.md') }"
        " catch (e) { return e.code } }"
    )
    assert (await place.run(source)).result.text == "not_found"


@pytest.mark.spec("R-SK-14", "R-PRM-1")
@pytest.mark.parametrize(("origin", "asked"), [("mine", 0), ("shared", 1), ("project", 1)])
async def test_from_elsewhere_it_never_starts_without_a_person(place: Place, origin: str, asked: int) -> None:
    person = Person("allow_once")
    outcome = await place.run("export default () => 1", person=person, source=origin)
    assert outcome.result.structured == 1
    assert len(person.asked) == asked


@pytest.mark.spec("R-TMO-2", "R-CAN-8", "R-COD-16")
async def test_a_stopped_run_ends_its_process(place: Place) -> None:
    async def slow(_ctx: Any, _args: Any) -> Any:
        await asyncio.sleep(3600)

    task = asyncio.ensure_future(
        place.run("export default (ctx) => ctx.manager.invoke('slow')", others=(skill("slow", slow),))
    )
    async with asyncio.timeout(WAIT_S):
        while not place.engine._live:
            await asyncio.sleep(0.005)
    pid = next(iter(place.engine._live)).pid
    place.bench.token.cancel("stop")
    assert (await task).state == "aborted"
    await place.bench.owner.close()
    await until(lambda: not place.engine._live, "its end")
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.spec("R-SK-14")
async def test_two_calls_of_it_share_nothing(place: Place) -> None:
    source = "globalThis.n = (globalThis.n ?? 0) + 1\nexport default () => [globalThis.n, Object.keys(memory).length]"
    for _ in range(2):
        assert (await place.run(source)).result.structured == [1, 0]


@pytest.mark.spec("R-SK-14")
async def test_where_there_is_no_sandbox_it_does_not_run(place: Place) -> None:
    place.path.write_text(HEAD + "export default () => 1")
    bench = SkillBench(file_skill(place.path, skill("mine", kind="javascript", category="read", entry="default")))
    assert "cannot be run here" in (await bench.call("mine", {})).result.text


@pytest.mark.spec("R-TRC-2")
async def test_it_reads_the_trace_of_an_agent_that_it_called(place: Place) -> None:
    async def asked(ctx: Any, args: Any) -> str:
        ctx.call.invocation.parent.view.locals["agent"] = {"trace": [{"type": "turn-start"}]}  # as the library's does
        return "an answer"

    outcome = await place.run(
        "export default async function run(ctx, args) {\n"
        "  const before = ctx.locals.agent ?? null, look = await ctx.manager.invoke('look', { path: 'a' })\n"
        "  const said = await ctx.manager.invoke('asked', {})\n"
        "  return [before, typeof look, said, ctx.locals.agent.trace]\n}\n",
        others=(skill("asked", asked, category="read"),),
    )
    assert outcome.result.structured == [None, "string", "an answer", [{"type": "turn-start"}]], outcome.result.text


@pytest.mark.spec("R-TRC-2", "R-COD-14")
async def test_of_a_trace_that_is_too_long_for_a_message_it_reads_the_latest_and_the_rest_stays(place: Place) -> None:
    trace = [{"type": "message", "text": f"{number} " + "x" * 10_000} for number in range(100)]
    left: dict[str, Any] = {}

    async def asked(ctx: Any, args: Any) -> str:
        left["of"] = ctx.call.invocation.parent.view
        left["of"].locals["agent"] = {"trace": trace}
        return "an answer"

    outcome = await place.run(
        "export default async function run(ctx, args) {\n"
        "  await ctx.manager.invoke('asked', {})\n"
        "  const { trace, omitted } = ctx.locals.agent\n"
        "  return [trace.length + omitted, trace.at(-1).text.slice(0, 3)]\n}\n",
        others=(skill("asked", asked, category="read"),),
    )
    assert outcome.result.structured == [100, "99 "], outcome.result.text
    assert left["of"].locals["agent"]["trace"] is trace

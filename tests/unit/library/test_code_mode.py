"""Agents that write code: one tool, the sandbox behind it, every nested call through the gates."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.code import CodeLimits
from desktop.domain.errors import ToolFailure
from desktop.domain.runs.events import AgentTraced
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.workers.js_code.engine import JsEngine, WorkerSpec
from tests.unit.library.kit import LibraryBench
from tests.unit.pipeline.kit import FakeTool, Person

HEAD = "---\nname: task\ndescription: A task.\n{more}metadata:\n  model: {{toolMode: {mode}}}\n{metadata}---\nDo it.\n"
NUMBER = "  returns:\n    type: object\n    properties: {n: {type: number}}\n    required: [n]\n"


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[JsEngine]:
    (tmp_path / "empty").mkdir()
    found = JsEngine(lambda: WorkerSpec(str(tmp_path / "empty"), *code_sandbox_profile()), CodeLimits(cpu_s=20))
    yield found
    await found.close()


def runs(code: str) -> list[Any]:
    return calls("invoke", {"code": code})


def bench_of(
    tmp_path: Path,
    engine: JsEngine,
    *codes: Any,
    mode: str = "code",
    more: str = "",
    metadata: str = "",
    **options: Any,
) -> LibraryBench:
    tools = (
        FakeTool("look", body=lambda args, _c: f"saw {args['path']}"),
        FakeTool("write-file", Category.WRITE),
        FakeTool("secret-tool", visibility="hidden"),
    )
    tmp_path.mkdir(exist_ok=True)
    rounds = [runs(code) if isinstance(code, str) else code for code in codes]
    bench = LibraryBench(tmp_path, *tools, model=ScriptedModel([*rounds, says("end")]), **options)
    bench.lent = {"code": engine}
    bench.write("task.skill.md", HEAD.format(mode=mode, more=more, metadata=metadata))
    return bench


def told(bench: LibraryBench, at: int = 1) -> dict[str, Any]:
    """What the model read of its call in round ``at``."""
    block = bench.model.requests[at].messages[-1].blocks[0]
    found: dict[str, Any] = json.loads(block.text)
    return found


@pytest.mark.spec("R-COD-1", "R-COD-2", "R-COD-3", "R-COD-18", "R-AG-2", "R-DSC-6")
async def test_there_is_one_tool_and_it_gives_value_output_and_whether_it_finished(
    tmp_path: Path, engine: JsEngine
) -> None:
    code = "console.log('hi', {a: 1});\nconst got = await ctx.manager.invoke('look', {path: 'x'});\nreturn {got}"
    bench = bench_of(tmp_path, engine, code, more='allowed-tools: "look"\n')
    assert (await bench.call("task")).result.text == "end"
    request = bench.model.requests[0]
    assert [tool["name"] for tool in request.tools] == ["invoke"]
    assert request.tools[0]["parameters"]["required"] == ["code"]
    assert "## look\nthe tool look\nParameters: " in request.system
    assert told(bench) == {"ok": True, "value": {"got": "saw x"}, "stdout": 'hi {"a":1}\n', "finished": False}


@pytest.mark.spec("R-COD-3")
async def test_code_finds_the_arguments_of_the_task(tmp_path: Path, engine: JsEngine) -> None:
    params = "params: {type: object, properties: {city: {type: string}, days: {type: array}}}\n"
    bench = bench_of(tmp_path, engine, "return args", "args.city = 'x'; return args.days.length", more=params)
    await bench.call("task", {"city": "Ålesund", "days": [1, 2]})
    assert [told(bench, at)["value"] for at in (1, 2)] == [{"city": "Ålesund", "days": [1, 2]}, 2]


@pytest.mark.spec("R-TRC-1", "R-TRC-9")
async def test_what_code_called_stands_in_the_trace_with_its_result(tmp_path: Path, engine: JsEngine) -> None:
    code = "await ctx.manager.invoke('look', {path: 'x'})\ntry { await ctx.manager.invoke('nope', {}) } catch {}"
    bench = bench_of(tmp_path, engine, code, "return 1", more='allowed-tools: "look"\n')
    await bench.call("task")
    results = [event.data for event in bench.events if isinstance(event, AgentTraced) and event.type == "tool-result"]
    made = [[(one["tool"], one["state"]) for one in data.get("facts", {}).get("nested", ())] for data in results]
    assert made == [[("look", "done"), ("nope", "failed")], []]
    assert results[0]["facts"]["nested"][0]["args"] == "x"


@pytest.mark.spec("R-COD-12")
async def test_an_exception_is_told_with_its_line_and_ends_nothing(tmp_path: Path, engine: JsEngine) -> None:
    bench = bench_of(tmp_path, engine, "let a = 1;\nnull.x;", "let = ;", "throw {odd: 1}")
    assert (await bench.call("task")).result.text == "end"
    first, second, third = (told(bench, at) for at in (1, 2, 3))
    assert (first["ok"], first["error"]["name"], first["error"]["line"]) == (False, "TypeError", 2)
    assert (second["error"]["name"], second["error"]["line"]) == ("SyntaxError", 1)
    assert third["ok"] is False
    refused = bench_of(tmp_path / "b", engine, "const a = 1\nconst b = 2\nawait ctx.manager.invoke('nope', {})")
    await refused.call("task")
    assert told(refused)["error"]["line"] == 3
    assert "/" not in json.dumps([first, second, third]).replace("\\/", "")


@pytest.mark.spec("R-COD-6", "R-INV-2", "R-TOOL-9")
async def test_each_nested_call_is_asked_about_with_the_line_it_comes_from(tmp_path: Path, engine: JsEngine) -> None:
    person = Person("deny", "allow_once")
    code = (
        "const heard = [];\nfor (const path of ['a', 'b']) {\n  try {\n"
        "    heard.push(await ctx.manager.invoke('write-file', {path}));\n  } catch (e) { heard.push(e.message); }\n}\n"
        "return heard"
    )
    bench = bench_of(tmp_path, engine, code, person=person, more='allowed-tools: "write-file"\n')
    await bench.call("task", allowed="task write-file")
    assert [dict(request.arguments) for request in person.asked] == [{"path": "a"}, {"path": "b"}]
    refused, done = told(bench)["value"]
    assert "denied by user" in refused
    assert done == "did write-file"


@pytest.mark.spec("R-COD-7")
@pytest.mark.parametrize(
    "ref",
    [
        "inline://x,return 1",
        "file:///etc/passwd",
        "mcp://a/b",
        "../x",
        "./x.skill.md",
        "/x",
        "A",
        "a_b",
        "write_file",
        "x" * 65,
        "",
        "secret-tool",
        "agent",
        "agent-litellm",
        "task",
        "nothing-here",
    ],
)
async def test_code_names_tools_and_nothing_else(tmp_path: Path, engine: JsEngine, ref: str) -> None:
    code = f"try {{ return ['ran', await ctx.manager.invoke({json.dumps(ref)}, {{}})] }} catch (e) {{ return e.code }}"
    bench = bench_of(tmp_path, engine, code)
    await bench.call("task")
    assert told(bench)["value"] in ("denied.untrusted_ref", "denied.visibility", "not_found", "denied.allowed_tools")


@pytest.mark.spec("R-COD-8", "Q-3")
async def test_what_code_calls_may_itself_use_other_references(tmp_path: Path, engine: JsEngine) -> None:
    bench = bench_of(tmp_path, engine, "return await ctx.manager.invoke('helper', {})")
    bench.write("beside.skill.md", "---\nname: beside\ndescription: x\n---\nBeside.\n")
    seen: list[Any] = []

    async def helper(ctx: Any, _args: Any) -> Any:
        seen.append(ctx.locals.get("internals"))
        try:
            return await ctx.manager.invoke(str(bench.mine / "beside.skill.md"), {})
        except ToolFailure as failure:
            return failure.code

    bench.register("helper", helper)
    bench.model = ScriptedModel([runs("return await ctx.manager.invoke('helper', {})"), says("beside"), says("end")])
    await bench.call("task")
    assert seen == [None]
    assert told(bench, 2)["value"] == "beside"


@pytest.mark.spec("R-COD-9")
async def test_a_ref_that_code_registers_is_called_later_as_untrusted(tmp_path: Path, engine: JsEngine) -> None:
    code = "await ctx.manager.invoke('event-subscribe', {topic: 't', ref: 'file:///etc/passwd'}); return 1"
    emits = "return await ctx.manager.invoke('event-emit', {topic: 't', data: 1})"
    bench = bench_of(tmp_path, engine, code, emits)
    await bench.call("task")
    (called,) = told(bench, 2)["value"]["called"]
    assert called == {"ref": "file:///etc/passwd", "error": "'file:///etc/passwd' is not a plain tool name."}


@pytest.mark.spec("R-COD-10", "R-COD-11")
async def test_memory_lasts_from_call_to_call_and_is_each_agents_own(tmp_path: Path, engine: JsEngine) -> None:
    bench = bench_of(tmp_path, engine)
    rounds = [runs("memory.f = () => 7; memory.n = (memory.n ?? 0) + 1; return memory.n"), runs("return memory.f()")]
    bench.model = ScriptedModel([*rounds, says("one"), runs("return typeof memory.f + memory.n"), says("two")])
    args = {"prompt": "Go.", "config": {"toolMode": "code"}, "memory": {"n": 41, "deep": {"a": 1}}}

    async def start(ctx: Any, _args: Any) -> Any:
        return [await ctx.manager.invoke("agent", args), await ctx.manager.invoke("agent", args)]

    bench.register("start", start)
    assert (await bench.call("start")).result.structured == ["one", "two"]
    values = [told(bench, at)["value"] for at in (1, 2, 4)]
    assert values == [42, 7, "undefined41"]


@pytest.mark.spec("R-COD-13", "R-RET-3")
async def test_finish_is_checked_and_ends_the_agent_after_the_round(tmp_path: Path, engine: JsEngine) -> None:
    wrong = "try { await ctx.manager.finish({n: 'x'}) } catch (e) { return e.message }"
    right = "await ctx.manager.finish({n: 3}); return 'after'"
    bench = bench_of(tmp_path, engine, wrong, right, metadata=NUMBER)
    assert (await bench.call("task")).result.structured == {"n": 3}
    assert "n: " in told(bench)["value"]
    assert len(bench.model.requests) == 2
    assert "finish" not in [tool["name"] for tool in bench.model.requests[0].tools]


@pytest.mark.spec("R-COD-13")
async def test_after_finish_nothing_more_is_done(tmp_path: Path, engine: JsEngine) -> None:
    code = (
        "await ctx.manager.finish({n: 1}); const out = [];\n"
        "for (const f of [() => ctx.manager.finish({n: 2}), () => ctx.manager.invoke('look', {path: 'x'})])\n"
        "  try { out.push(await f()) } catch (e) { out.push('refused') }\nreturn out"
    )
    bench = bench_of(tmp_path, engine, code, metadata=NUMBER)
    assert (await bench.call("task")).result.structured == {"n": 1}
    assert not bench.world.table.find("look").calls  # type: ignore[union-attr]


@pytest.mark.spec("R-INV-9", "R-COD-6")
async def test_fail_ends_the_task_with_its_reason(tmp_path: Path, engine: JsEngine) -> None:
    bench = bench_of(tmp_path, engine, "await ctx.manager.fail('cannot be done'); return 1")
    outcome = await bench.call("task")
    assert outcome.result.is_error
    assert "cannot be done" in outcome.result.text
    assert len(bench.model.requests) == 1


@pytest.mark.spec("R-AG-13")
async def test_in_middleware_code_goes_on_with_the_served_call_once(tmp_path: Path, engine: JsEngine) -> None:
    code = (
        "const value = await ctx.manager.next(); let second = '';\n"
        "try { await ctx.manager.next() } catch (e) { second = e.code }\n"
        "await ctx.manager.finish(`<${value}> ${second}`); return 1"
    )
    bench = bench_of(tmp_path, engine, code)
    head = "---\nname: around\ndescription: x\nmetadata:\n  role: middleware\n  category: read\n"
    bench.write("around.skill.md", f"{head}  model: {{toolMode: code}}\n---\nGo on.\n")
    served: list[int] = []
    bench.register("inner", lambda _ctx, _args: served.append(1) or "inner value", metadata={"around": True})
    outcome = await bench.call("inner")
    assert served == [1]
    assert outcome.result.text == "<inner value> skill.next_twice"


@pytest.mark.spec("R-COD-15", "R-LIM-8")
async def test_one_piece_of_code_makes_fifty_calls(tmp_path: Path, engine: JsEngine) -> None:
    code = (
        "let n = 0, code = ''; try { for (;;) { await ctx.manager.invoke('look', {path: 'x'}); n++ } } "
        "catch (e) { code = e.code } return [n, code]"
    )
    bench = bench_of(tmp_path, engine, code)
    await bench.call("task")
    assert told(bench)["value"] == [50, "denied.limit"]


@pytest.mark.spec("R-COD-17")
async def test_calls_side_by_side_are_answered_each_to_its_own(tmp_path: Path, engine: JsEngine) -> None:
    code = "return await Promise.all(['a', 'b', 'c'].map(path => ctx.manager.invoke('write-file', {path})))"
    person = Person(*["allow_once"] * 3)
    bench = bench_of(tmp_path, engine, code, person=person, more='allowed-tools: "write-file"\n')
    await bench.call("task", allowed="task write-file")
    assert told(bench)["value"] == ["did write-file"] * 3
    assert sorted(request.arguments["path"] for request in person.asked) == ["a", "b", "c"]


@pytest.mark.spec("R-COD-16")
async def test_a_killed_worker_is_replaced_and_the_model_is_told_that_memory_is_gone(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    engine = JsEngine(lambda: WorkerSpec(str(tmp_path / "empty"), *code_sandbox_profile()), CodeLimits(cpu_s=0.3))
    bench = bench_of(tmp_path, engine, "memory.n = 1; return 1", "for (;;) {}", "return typeof memory.n", "return 2")
    await bench.call("task")
    over, after, later = (told(bench, at) for at in (2, 3, 4))
    assert over["error"]["name"] == "TimeoutError"
    assert after["value"] == "undefined"
    assert "memory is gone" in after["note"]
    assert "note" not in later
    await engine.close()


@pytest.mark.spec("R-COD-1", "R-DSC-9")
async def test_in_pure_code_mode_there_are_no_native_calls_and_in_both_there_are(
    tmp_path: Path, engine: JsEngine
) -> None:
    refused = calls("look", {"path": "x"}, unoffered=True)
    bench = bench_of(tmp_path, engine, refused, more='allowed-tools: "look"\n')
    await bench.call("task")
    assert bench.model.requests[1].messages[-1].blocks[0].is_error
    (tmp_path / "b").mkdir()
    native = calls("look", {"path": "x"})
    both = bench_of(tmp_path / "b", engine, native, "return 5", mode="both", more='allowed-tools: "look"\n')
    await both.call("task")
    assert [tool["name"] for tool in both.model.requests[0].tools] == ["look", "invoke"]
    assert both.model.requests[1].messages[-1].blocks[0].text == "saw x"
    assert told(both, 2)["value"] == 5


@pytest.mark.spec("R-DSC-7", "R-INV-15")
async def test_documented_middleware_can_be_switched_on_for_a_call_and_no_other_key(
    tmp_path: Path, engine: JsEngine
) -> None:
    code = (
        "const out = [await ctx.manager.invoke('plain', {}, {frontmatter: {mark: {how: 'x'}}})];\n"
        "for (const frontmatter of [{trust: '*'}, {'allowed-tools': '*'}, {other: 1}, {delegate: 'x'}])\n"
        "  try { await ctx.manager.invoke('plain', {}, {frontmatter}); out.push('ran') }\n"
        "  catch (e) { out.push(e.code) }\n"
        "for (const key of ['$frontmatter', '$as_caller'])\n"
        "  try { await ctx.manager.invoke('plain', {[key]: {}}); out.push('ran') } catch (e) { out.push(e.code) }\n"
        "return out"
    )
    bench = bench_of(tmp_path, engine, code)
    bench.register("plain", lambda _ctx, _args: "plain")

    async def mark(ctx: Any, _args: Any) -> Any:
        ctx.manager.finish(f"marked {ctx.locals['config']['how']} {await ctx.manager.next()}")

    params = {"type": "object", "properties": {"how": {"type": "string", "description": "In which way."}}}
    bench.register("mark", mark, role="middleware", params=params, metadata={"activatable": True})
    bench.register("other", mark, role="middleware", params=params)
    await bench.call("task")
    tools, section = bench.model.requests[0].system.split("# Middleware\n")
    assert "frontmatter: {" in section.splitlines()[2], "how it is switched on"
    entries = {entry.splitlines()[0]: entry for entry in section.split("## ")[1:]}
    assert {"mark", "retry", "timeout"} <= set(entries)
    assert "other" not in entries, "its author did not say that it may be switched on"
    assert "In which way." in entries["mark"]
    assert "## mark\n" not in tools
    assert told(bench)["value"] == ["marked x plain", *["denied.untrusted_ref"] * 6]


@pytest.mark.spec("R-AG-5", "R-COD-6")
async def test_code_gets_no_further_than_the_agents_own_list(tmp_path: Path, engine: JsEngine) -> None:
    code = "try { return await ctx.manager.invoke('write-file', {path: 'a'}) } catch (e) { return e.code }"
    bench = bench_of(tmp_path, engine, code, person=Person("allow_once"), more='allowed-tools: "look"\n')
    await bench.call("task")
    assert told(bench)["value"] == "denied.allowed_tools"

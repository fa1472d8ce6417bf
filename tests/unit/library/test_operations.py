"""Operations of ``ctx.manager`` under a list, and what a list demands of calls as the model reads it."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.code import CodeLimits
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.skills.patterns.lists import AllowedList, Intersection
from desktop.workers.js_code.engine import JsEngine, WorkerSpec
from tests.unit.agents.script import Script
from tests.unit.agents.script import call as a_call
from tests.unit.agents.script import calls as asks
from tests.unit.agents.script import says as speaks
from tests.unit.library.kit import LibraryBench
from tests.unit.library.test_code_mode import HEAD, NUMBER, runs, told
from tests.unit.pipeline.kit import FakeTool
from tests.unit.skills.patterns.tools import tool


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[JsEngine]:
    (tmp_path / "empty").mkdir()
    found = JsEngine(lambda: WorkerSpec(str(tmp_path / "empty"), *code_sandbox_profile()), CodeLimits(cpu_s=20))
    yield found
    await found.close()


def bench_of(
    tmp_path: Path,
    engine: JsEngine | None,
    *rounds: Any,
    list_: str,
    mode: str = "code",
    metadata: str = "",
    model: Any = None,
) -> LibraryBench:
    folder = tmp_path / "w"
    folder.mkdir()
    bench = LibraryBench(folder, FakeTool("look"), model=model or ScriptedModel([*rounds, *[says("end")] * 5]))
    bench.lent = {"code": engine} if engine is not None else {}
    more = f'allowed-tools: "{list_}"\n'
    bench.write("task.skill.md", HEAD.format(mode=mode, more=more, metadata=metadata))
    return bench


DIRECT = {
    "finish": "await ctx.manager.finish({n: 1})",
    "fail": "await ctx.manager.fail('no')",
    "next": "await ctx.manager.next()",
    "invoke": "await ctx.manager.invoke('look', {path: 'a'})",
}
_GIVEN = "value: {n: 1}, ref: 'look', args: {path: 'a'}"
BY_CALL = {op: f"await ctx.manager.invoke('context-manager', {{op: '{op}', {_GIVEN}}})" for op in DIRECT}


@pytest.mark.spec("R-PAT-12", "R-COD-6")
@pytest.mark.parametrize("op", DIRECT)
@pytest.mark.parametrize("how", [DIRECT, BY_CALL], ids=["by code", "by context-manager"])
async def test_an_operation_that_is_denied_is_denied_wherever_it_comes_from(
    tmp_path: Path, engine: JsEngine, op: str, how: dict[str, str]
) -> None:
    piece = f"try {{ {how[op]}; return 'done' }} catch (e) {{ return e.code }}"
    bench = bench_of(tmp_path, engine, runs(piece), list_=f"* context-manager context-manager(op={op},$deny)")
    await bench.call("task", allowed="* context-manager")
    assert told(bench)["value"] == "denied.allowed_tools"


@pytest.mark.spec("R-PAT-12")
@pytest.mark.parametrize("above", [None, "* context-manager(op=finish,$deny)"])
async def test_a_denial_above_holds_below(tmp_path: Path, engine: JsEngine, above: str | None) -> None:
    code = "try { await ctx.manager.finish(1); return 'done' } catch (e) { return e.code }"
    bench = bench_of(tmp_path, engine, runs(code), list_="*")
    outcome = await bench.call("task", allowed=above)
    if above is None:
        assert outcome.result.structured == 1
    else:
        assert told(bench)["value"] == "denied.allowed_tools"


@pytest.mark.spec("R-PAT-12", "R-RET-5")
@pytest.mark.parametrize("mode", ["direct", "both"])
async def test_a_native_finish_that_is_denied_is_not_offered_and_refused(
    tmp_path: Path, engine: JsEngine, mode: str
) -> None:
    model = Script(asks(a_call("c1", "finish", n=1)), speaks('{"n": 2}'))
    list_ = "look context-manager(op=finish,$deny)"
    bench = bench_of(tmp_path, engine, list_=list_, mode=mode, metadata=NUMBER, model=model)
    outcome = await bench.call("task")
    assert outcome.result.structured == {"n": 2}
    first, second = model.requests[:2]
    assert "finish" not in [one["name"] for one in first.tools]
    refused = second.messages[-1].blocks[0]
    assert (refused.is_error, refused.facts["code"]) == (True, "denied.allowed_tools")
    assert "as your whole answer, in JSON" in first.system


@pytest.mark.spec("R-RET-2", "R-RET-3")
async def test_where_finish_is_denied_the_last_text_is_the_value(tmp_path: Path) -> None:
    list_ = "look context-manager(op=finish,$deny)"
    rounds = (says("Well."), says('{"n": "x"}'), says('{"n": 7}'))
    bench = bench_of(tmp_path, None, *rounds, list_=list_, mode="direct", metadata=NUMBER)
    assert (await bench.call("task")).result.structured == {"n": 7}


@pytest.mark.spec("R-COD-13", "R-RET-3")
@pytest.mark.parametrize("how", [DIRECT, BY_CALL], ids=["by code", "by context-manager"])
async def test_a_called_skills_value_is_checked_however_its_code_gives_it(
    tmp_path: Path, engine: JsEngine, how: dict[str, str]
) -> None:
    wrong = how["finish"].replace("{n: 1}", "{n: 'x'}")
    code = f"try {{ {wrong}; return 'done' }} catch (e) {{ return e.code }}"
    bench = bench_of(tmp_path, engine, runs(code), runs(how["finish"]), list_="* context-manager", metadata=NUMBER)
    outcome = await bench.call("task", allowed="* context-manager")
    assert told(bench)["value"] == "tool.validation"
    assert outcome.result.structured == {"n": 1}
    assert len(bench.model.requests) == 2


@pytest.mark.spec("R-COD-13", "R-RET-3")
async def test_a_native_call_of_context_manager_is_checked_too(tmp_path: Path) -> None:
    rounds = [calls("context_manager", {"op": "finish", "value": {"n": n}}) for n in ("x", 1)]
    list_ = "context-manager"
    bench = bench_of(tmp_path, None, *rounds, list_=list_, mode="direct", metadata=NUMBER)
    outcome = await bench.call("task", allowed="task context-manager")
    refused = bench.model.requests[1].messages[-1].blocks[0]
    assert (refused.is_error, outcome.result.structured) == (True, {"n": 1})


@pytest.mark.spec("R-PAT-12", "R-RET-3")
@pytest.mark.parametrize("through", ["skill_invoke", "context_manager"])
async def test_an_operation_that_is_passed_on_acts_on_the_agent(tmp_path: Path, through: str) -> None:
    def passed(n: Any) -> Any:
        args = {"ref": "context-manager", "args": {"op": "finish", "value": {"n": n}}}
        return calls(through, args | ({"op": "invoke"} if through == "context_manager" else {}))

    list_ = "* context-manager"
    bench = bench_of(tmp_path, None, passed("x"), passed(1), list_=list_, mode="direct", metadata=NUMBER)
    outcome = await bench.call("task", allowed="* context-manager")
    assert (outcome.result.structured, len(bench.model.requests)) == ({"n": 1}, 2)
    assert bench.model.requests[1].messages[-1].blocks[0].is_error


@pytest.mark.spec("R-PAT-12")
async def test_an_operation_that_is_denied_is_denied_when_it_is_passed_on(tmp_path: Path) -> None:
    args = {"ref": "context-manager", "args": {"op": "finish", "value": 1}}
    list_ = "* context-manager context-manager(op=finish,$deny)"
    bench = bench_of(tmp_path, None, calls("skill_invoke", args), list_=list_, mode="direct")
    assert (await bench.call("task", allowed="* context-manager")).result.text == "end"
    assert "not among the tools allowed" in bench.model.requests[1].messages[-1].blocks[0].text


# -- what a list demands, told ----------------------------------------------------------------------------------------

OWN, ABOVE = "look(path=src/*) look(path=doc/*) skill-list skill-describe", "* look(path=*secret*,$deny)"
SAID = "Allowed here only as look(path=src/*) or look(path=doc/*). Refused here: look(path=*secret*,$deny)."


@pytest.mark.spec("R-DSC-5", "R-DSC-6")
@pytest.mark.parametrize("mode", ["direct", "code", "both"])
async def test_what_calls_have_to_fit_stands_in_a_tools_documentation(
    tmp_path: Path, engine: JsEngine, mode: str
) -> None:
    bench = bench_of(tmp_path, engine, list_=OWN, mode=mode)
    await bench.call("task", allowed=ABOVE)
    request = bench.model.requests[0]
    native = [one["description"] for one in request.tools if one["name"] == "look"]
    assert native == ([] if mode == "code" else [f"the tool look\n{SAID}"])
    assert (f"## look\nthe tool look\n{SAID}\nParameters: " in request.system) == (mode != "direct")


@pytest.mark.spec("R-DSC-5", "R-DSC-8")
async def test_what_calls_have_to_fit_stands_in_lists_and_descriptions(tmp_path: Path) -> None:
    rounds = (calls("skill_list", {"query": "look"}), calls("skill_describe", {"name": "look"}))
    bench = bench_of(tmp_path, None, *rounds, list_=OWN, mode="direct")
    await bench.call("task", allowed=ABOVE)
    rows, described = (json.loads(request.messages[-1].blocks[0].text) for request in bench.model.requests[1:3])
    expected = ["look(path=*secret*,$deny)", "look(path=src/*) or look(path=doc/*)"]
    assert [row.get("constraints") for row in rows if row["name"] == "look"] == [expected]
    assert described["constraints"] == expected


@pytest.mark.spec("R-DSC-5", "R-AG-5")
def test_an_intersection_demands_what_both_lists_demand() -> None:
    parent, child = AllowedList.of("look(path=src/*) * "), AllowedList.of("look(path=*.py) look(path=*.md)")
    both = Intersection(parent, child)
    assert both.constraints(tool("look")) == ("look(path=src/*)", "look(path=*.py) or look(path=*.md)")
    assert both.constraints(tool("other")) == ()
    assert AllowedList.of("look look(path=a)").constraints(tool("look")) == ()
    operations = AllowedList.of("context-manager(op=next) context-manager(op=finish,$deny)")
    assert operations.constraints(tool("context-manager")) == ("context-manager(op=finish,$deny)",)


def test_a_list_denies_what_it_takes_out_altogether() -> None:
    denied = AllowedList.of("* look($deny) other(path=a,$deny)")
    assert [denied.denies(tool(name)) for name in ("look", "other", "third")] == [True, False, False]
    assert AllowedList.of("look (").denies(tool("look"))
    assert not AllowedList.of("look").denies(tool("other"))
    assert Intersection(denied, AllowedList.of(None)).denies(tool("look"))
    assert Intersection(AllowedList.of(None), denied).denies(tool("look"))

"""Calls by skills, middleware and model-written code: one pipeline for all of them."""

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.permission import Decision
from desktop.domain.files.work_place import NOWHERE
from desktop.domain.runs.limits import Limit
from desktop.domain.skills import SkillDef
from desktop.domain.tools import PreCheck
from desktop.pipeline.context import MAX_DEPTH
from desktop.pipeline.names import ExactTools
from desktop.pipeline.skill_tool import SkillTool, category_of
from desktop.pipeline.skills.run import SkillRuns
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.skills.cascade.effective import Promotions
from tests.harness.timeouts import WAIT_S
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.pipeline.skill_kit import ADMIN, READ, WRITE, SkillBench, file_skill, middleware, skill

FREE = {"type": "object", "additionalProperties": True}


async def nothing(ctx: Any, args: Any) -> None:
    return None


@pytest.mark.spec("R-SK-7")
async def test_a_skill_returns_its_value_to_whoever_called() -> None:
    async def run(ctx: Any, args: Any) -> Any:
        return {"twice": args["number"] * 2}

    outcome = await SkillBench(skill("double", run)).call("double", {"number": 4})
    assert outcome.result.structured == {"twice": 8}
    assert outcome.result.text == '{"twice": 8}'


@pytest.mark.spec("R-SK-7")
async def test_an_ordinary_function_runs_off_the_loop() -> None:
    def run(ctx: Any, args: Any) -> Any:
        return threading.current_thread() is threading.main_thread()

    assert (await SkillBench(skill("where", run)).call("where")).result.structured is False


@pytest.mark.spec("R-SK-7")
async def test_what_a_skill_raises_is_content_for_its_caller() -> None:
    async def run(ctx: Any, args: Any) -> Any:
        raise ValueError("no such thing")

    outcome = await SkillBench(skill("broken", run)).call("broken")
    assert outcome.result.is_error
    assert "no such thing" in outcome.result.text


@pytest.mark.spec("R-INV-1", "R-INV-2")
async def test_a_call_by_a_skill_passes_schema_category_and_permission_like_a_models() -> None:
    async def run(ctx: Any, args: Any) -> Any:
        return await ctx.manager.invoke("write-file", {"path": args["path"]})

    person = Person("deny")
    tool = FakeTool("write-file", WRITE)
    bench = SkillBench(skill("writer", run), tools=(tool,), person=person)
    denied = await bench.call("writer", {"path": "a.txt"})
    assert denied.result.code == "denied.permission"
    assert [request.tool for request in person.asked] == ["write-file"]
    wrong = await bench.call("writer", {"path": 3})
    assert wrong.result.code == "tool.validation"
    assert len(person.asked) == 1
    assert not tool.calls


@pytest.mark.spec("R-INV-1")
async def test_every_way_to_a_tool_is_seen_by_a_spy_that_stands_around_the_pipeline() -> None:
    seen: list[str] = []

    class Spy:
        observe_only = True

        async def process(self, context: Any, call_next: Any) -> None:
            seen.append(context.tool)
            await call_next()

    async def outer(ctx: Any, args: Any) -> Any:
        return await ctx.manager.invoke("inner")

    async def inner(ctx: Any, args: Any) -> Any:
        return await ctx.manager.invoke("look", {"path": "x"})

    async def passing(ctx: Any, args: Any) -> Any:
        return await ctx.manager.next()

    look = FakeTool("look")
    bench = SkillBench(
        skill("outer", outer, metadata={"log": True}),
        skill("inner", inner),
        middleware("log", passing),
        tools=(look,),
        layers=(Spy(),),
    )
    await bench.call("outer")
    assert seen == ["outer", "log", "inner", "look"]
    await bench.call("look", {"path": "y"}, origin="code")
    assert seen[-1] == "look"
    assert len(look.calls) == 2


@pytest.mark.spec("R-INV-3")
async def test_the_list_consulted_is_the_invoking_skills_own() -> None:
    async def run(ctx: Any, args: Any) -> Any:
        return await ctx.manager.invoke("look", {"path": "x"})

    def allowed_of(definition: SkillDef) -> Any:
        return ExactTools(None if definition.allowed_tools is None else tuple(definition.allowed_tools.split()))

    bench = SkillBench(
        skill("free", run),
        skill("bound", run, allowed_tools="other"),
        tools=(FakeTool("look"),),
        runs={"allowed_of": allowed_of},
    )
    assert not (await bench.call("free", allowed=("free",))).result.is_error
    refused = await bench.call("bound", allowed=("bound", "look"))
    assert refused.result.code == "denied.allowed_tools"


@pytest.mark.spec("R-INV-13")
async def test_promotions_of_the_main_skill_are_in_every_call() -> None:
    async def work(ctx: Any, args: Any) -> Any:
        return ctx.locals["team"]

    bench = SkillBench(skill("work", work), promoted=Promotions({"team": "blue"}, {}))
    assert (await bench.call("work")).result.text == "blue"


@pytest.mark.spec("R-INV-15")
@pytest.mark.parametrize("key", ["trust", "params", "allowed-tools", "$inherit", "paths", "validate-args"])
async def test_no_call_sets_a_critical_key_of_the_skill_it_calls(key: str) -> None:
    async def sly(ctx: Any, args: Any) -> Any:
        return await ctx.manager.invoke("look", {"path": "a"}, {"frontmatter": {key: "x"}})

    outcome = await SkillBench(skill("sly", sly), tools=(FakeTool("look"),)).call("sly")
    assert outcome.result.code == "denied.untrusted_ref"


@pytest.mark.spec("R-INV-15")
async def test_arguments_with_a_dollar_are_options_from_trusted_code_and_refused_from_other_code() -> None:
    async def run(ctx: Any, args: Any) -> Any:
        return await ctx.manager.invoke("look", {"path": "a", "$frontmatter": {"note": 1}})

    look = FakeTool("look")
    notes = []

    async def note(ctx: Any, args: Any) -> None:
        notes.append(ctx.locals["config"])

    bench = SkillBench(
        skill("trusted", run, source="library"),
        skill("other", run, source="shared"),
        skill("own", run),
        middleware("note", note),
        tools=(look,),
    )
    assert not (await bench.call("trusted")).result.is_error
    assert notes == [1]
    assert (await bench.call("other")).result.code == "denied.untrusted_ref"
    assert (await bench.call("own")).result.code == "denied.untrusted_ref"
    assert look.calls == [{"path": "a"}]


@pytest.mark.spec("R-INV-16")
async def test_calls_nest_only_so_deep() -> None:
    depth = []

    async def again(ctx: Any, args: Any) -> Any:
        depth.append(1)
        return await ctx.manager.invoke("again")

    outcome = await SkillBench(skill("again", again)).call("again")
    assert outcome.result.code == "denied.limit"
    assert len(depth) == MAX_DEPTH


@pytest.mark.spec("R-VIS-6")
async def test_code_that_is_not_trusted_cannot_reach_a_hidden_tool() -> None:
    async def run(ctx: Any, args: Any) -> Any:
        return await ctx.manager.invoke("secret")

    bench = SkillBench(
        skill("trusted", run), skill("other", run, source="project"), skill("secret", nothing, visibility="hidden")
    )
    assert not (await bench.call("trusted")).result.is_error
    assert (await bench.call("other")).result.code == "denied.visibility"


@pytest.mark.spec("R-SK-15")
@pytest.mark.parametrize("state", ["untrusted", "changed", "broken"])
async def test_only_a_skill_that_is_ready_runs(state: Any) -> None:
    ran = []

    async def run(ctx: Any, args: Any) -> None:
        ran.append(1)

    outcome = await SkillBench(skill("new", run, state=state)).call("new")
    assert outcome.result.code == "denied.permission"
    assert not ran


@pytest.mark.spec("R-AG-1")
async def test_a_markdown_skill_is_an_ordinary_call_of_the_skill_named_agent() -> None:
    got: list[Any] = []

    async def agent(ctx: Any, args: Any) -> str:
        got.append((dict(args), ctx.envelope.target.run.tool.name))
        return "an answer"

    greet = SkillDef(
        "greet",
        "says hello",
        "markdown",
        "mine",
        allowed_tools="look",
        metadata={"params": FREE, "model": {"maxTurns": 3}},
    )
    bench = SkillBench(greet, skill("agent", agent, source="library", visibility="hidden"))
    bench.finder.bodies["greet"] = "Say hello to :arg[name]."
    outcome = await bench.call("greet", {"name": "Ada"})
    assert outcome.result.text == "an answer"
    assert got == [
        ({"prompt": "Say hello to Ada.", "name": "greet", "config": {"maxTurns": 3}, "allowedTools": "look"}, "greet")
    ]


@pytest.mark.spec("R-AG-1")
async def test_a_skill_earlier_on_the_path_that_is_named_agent_takes_its_place() -> None:
    async def mine(ctx: Any, args: Any) -> str:
        return "my own agent"

    greet = SkillDef("greet", "says hello", "markdown", "mine", metadata={"params": FREE})
    assert (await SkillBench(greet, skill("agent", mine)).call("greet")).result.text == "my own agent"


@pytest.mark.spec("R-INV-17")
async def test_nested_calls_are_quiet_until_a_person_has_to_look() -> None:
    async def run(ctx: Any, args: Any) -> Any:
        await ctx.manager.invoke("look", {"path": "a"})
        return await ctx.manager.invoke("write-file", {"path": "a"})

    person = Person("allow_once")
    bench = SkillBench(skill("work", run), tools=(FakeTool("look"), FakeTool("write-file", WRITE)), person=person)
    outcome = await bench.call("work")
    assert bench.names == [
        "ToolCallStarted",
        "ToolCallStarted",
        "ToolCallWaiting",
        "ToolCallAnswered",
        "ToolCallFinished",
        "ToolCallFinished",
    ]
    assert [call["tool"] for call in outcome.facts["nested"]] == ["look", "write-file"]


@pytest.mark.spec("R-SEC-4", "R-SEC-5")
async def test_calls_within_a_call_are_listed_with_their_arguments_in_brief_as_run_and_without_secrets() -> None:
    redactor, given = (
        SecretRedactor(),
        {"kind": "known-secret-1", "deep": [{"api_key": "abcdef0123456789abcdef"}], "n": 3},
    )
    redactor.remember("known-secret-1")

    async def run(ctx: Any, args: Any) -> Any:
        await ctx.manager.invoke("look", given)
        await ctx.manager.invoke("look", {"path": "x" * 100_000})
        for number in range(150):
            await ctx.manager.invoke("look", {"path": str(number)})

    look = FakeTool("look", params={"type": "object", "additionalProperties": True})
    outcome = await SkillBench(skill("work", run), tools=(look,), redactor=redactor).call("work")
    assert not outcome.result.is_error, outcome
    first, second, *others = (call["args"] for call in outcome.facts["nested"])
    assert first.startswith("kind: ")
    assert first.endswith(", n: 3")
    assert not any(secret in first for secret in ("known-secret", "abcdef"))
    assert second == "x" * 160 + "…"
    assert others == [str(number) for number in range(98)]


@pytest.mark.spec("R-RET-1")
async def test_a_result_that_is_not_what_the_skill_declares_is_an_error() -> None:
    async def run(ctx: Any, args: Any) -> Any:
        return {"count": "many"}

    returns = {"type": "object", "properties": {"count": {"type": "number"}}}
    outcome = await SkillBench(skill("count", run, metadata={"returns": returns})).call("count")
    assert outcome.result.code == "tool.validation"
    assert "count" in outcome.result.text


@pytest.mark.spec("R-SK-6", "R-SK-14")
async def test_a_library_file_runs_in_this_process_at_its_first_call_and_anew_when_it_changed(tmp_path: Path) -> None:
    path, loaded = tmp_path / "hello.skill.py", tmp_path / "loaded"

    def code(word: str) -> str:
        mark = f"import os\nwith open({str(loaded)!r}, 'a') as file:\n    file.write('{word} ')\n"
        return f"{mark}async def run(ctx, args):\n    return {{'said': '{word}', 'process': os.getpid()}}\n"

    path.write_text(code("one"))
    definition = skill("hello", kind="python", source="library")
    bench = SkillBench(file_skill(path, definition))
    assert [tool.spec.name for tool in bench.pipeline.table.tools()] == ["hello"]
    assert not loaded.exists(), "being listed runs nothing of it"
    for _ in range(2):
        assert (await bench.call("hello")).result.structured == {"said": "one", "process": os.getpid()}
    assert loaded.read_text() == "one ", "once for all calls"
    path.write_text(code("another"))
    bench.finder.definitions["hello"] = file_skill(path, definition)
    assert (await bench.call("hello")).result.structured == {"said": "another", "process": os.getpid()}
    assert loaded.read_text() == "one another "


@pytest.mark.spec("R-SK-14")
async def test_code_from_anywhere_else_never_runs_in_this_process(tmp_path: Path) -> None:
    path = tmp_path / "evil.skill.py"
    mark = tmp_path / "ran"
    path.write_text(f"open({str(mark)!r}, 'w').close()\nasync def run(ctx, args): return 1\n")
    bench = SkillBench(file_skill(path, skill("evil", kind="python", source="mine")))
    assert (await bench.call("evil")).result.is_error
    assert not mark.exists()


@pytest.mark.spec("R-SK-14")
async def test_a_library_file_that_raises_at_import_is_an_error_in_words(tmp_path: Path) -> None:
    path = tmp_path / "bad.skill.py"
    path.write_text("raise RuntimeError('not today')\n")
    outcome = await SkillBench(file_skill(path, skill("bad", kind="python", source="library"))).call("bad")
    assert outcome.result.is_error
    assert "not today" in outcome.result.text


@pytest.mark.spec("R-TOOL-4", "Q-2")
@pytest.mark.parametrize(
    ("kind", "source", "declared", "category"),
    [
        ("python", "mine", "", ADMIN),
        ("python", "mine", "read", READ),
        ("python", "shared", "read", WRITE),
        ("python", "project", "", ADMIN),
        ("javascript", "shared", "admin", ADMIN),
        ("markdown", "shared", "", READ),
        ("markdown", "mine", "write", WRITE),
        ("python", "library", "read", READ),
    ],
)
async def test_what_a_file_declares_never_grants_it_anything(
    kind: Any, source: Any, declared: str, category: Any
) -> None:
    assert category_of(SkillDef("one", "x", kind, source, category=declared)) is category


@pytest.mark.spec("R-PRM-5")
async def test_code_that_changed_between_assent_and_start_is_asked_about_again(tmp_path: Path) -> None:
    path = tmp_path / "mine.skill.py"
    path.write_text("async def run(ctx, args): return 1\n")

    def change_then_allow(request: Any) -> Decision:
        path.write_text("async def run(ctx, args): return 'something else entirely'\n")
        return Decision("allow_once", "digest")

    person = Person(change_then_allow, "deny")
    bench = SkillBench(file_skill(path, skill("mine", kind="python", category="")), person=person)
    outcome = await bench.call("mine")
    assert [request.stale for request in person.asked] == [False, True]
    assert outcome.result.code == "denied.permission"


@pytest.mark.spec("R-CAN-8", "R-AG-12")
async def test_a_cancelled_run_reaches_the_call_at_the_bottom() -> None:
    entered = asyncio.Event()

    async def deep(ctx: Any, args: Any) -> None:
        entered.set()
        await asyncio.sleep(60)

    async def outer(ctx: Any, args: Any) -> Any:
        return await ctx.manager.invoke("deep")

    bench = SkillBench(skill("outer", outer), skill("deep", deep))
    task = asyncio.ensure_future(bench.call("outer"))
    await entered.wait()
    bench.token.cancel("stop")
    outcome = await asyncio.wait_for(task, WAIT_S)
    assert outcome.state == "aborted"
    await bench.owner.close()


@pytest.mark.spec("R-INV-12")
async def test_the_check_of_a_call_is_shown_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.skill.py"
    path.write_text("async def run(ctx, args): return 1\n")
    made = SkillTool(file_skill(path, skill("mine", kind="python", category="")), SkillRuns())
    check: PreCheck = await made.precheck({}, NOWHERE)
    assert check.paths == (str(path),)
    assert check.preview["kind"] == "skill"


@pytest.mark.spec("R-RES-18", "R-RES-20")
async def test_a_skill_is_found_under_its_providers_name_at_the_first_call_and_read_once() -> None:
    bench = SkillBench(skill("word-count", nothing))
    assert not (await bench.call("word_count")).result.is_error
    assert not (await bench.call("word-count")).result.is_error
    assert bench.finder.looked_up == ["word-count"]
    assert (await bench.call("word_counts")).result.code == "not_found"


@pytest.mark.spec("R-RET-3")
@pytest.mark.parametrize(
    ("kind", "value", "good"),
    [("integer", "three", False), ("object", None, False), ("string", "three", True), ("null", None, True)],
)
async def test_every_value_of_a_skill_is_held_against_what_it_declares(kind: str, value: Any, good: bool) -> None:
    async def run(ctx: Any, args: Any) -> Any:
        return value

    outcome = await SkillBench(skill("one", run, metadata={"returns": {"type": kind}})).call("one")
    assert outcome.result.is_error is not good


class AtMost:
    """So many calls."""

    def __init__(self, maximum: int) -> None:
        self.maximum, self.counted = maximum, 0

    def count_call(self) -> None:
        self.counted += 1

    def refuse_call(self) -> Limit | None:
        return Limit("maxSteps", self.maximum, "a test") if self.counted > self.maximum else None


@pytest.mark.spec("R-LIM-4", "R-LIM-8")
async def test_calls_of_skills_and_of_their_middleware_count_and_the_middleware_itself_does_not() -> None:
    async def chatty(ctx: Any, args: Any) -> Any:
        for _ in range(3):
            await ctx.manager.invoke("look", {"path": "a"})
        return await ctx.manager.next()

    async def work(ctx: Any, args: Any) -> Any:
        return await ctx.manager.invoke("look", {"path": "b"})

    bench = SkillBench(skill("work", work, metadata={"chat": 1}), middleware("chat", chatty), tools=(FakeTool("look"),))
    limits = AtMost(4)
    outcome = await bench.call("work", limits=limits)
    assert outcome.result.code == "denied.limit"
    assert limits.counted == 5


@pytest.mark.spec("R-SK-15", "R-INV-10")
async def test_middleware_that_is_not_ready_is_not_in_the_chain_and_none_stands_around_middleware() -> None:
    ran: list[str] = []

    def note(name: str) -> Any:
        async def run(ctx: Any, args: Any) -> None:
            ran.append(name)

        return run

    changed = skill("off", note("off"), role="middleware", state="changed")
    inner = middleware("inner", note("inner"), outer=1)
    bench = SkillBench(
        skill("work", nothing, metadata={"off": 1, "inner": 1}), changed, inner, middleware("outer", note("outer"))
    )
    await bench.call("work")
    assert ran == ["inner"]


@pytest.mark.spec("R-INV-3")
async def test_only_the_library_calls_in_anothers_name() -> None:
    async def sly(ctx: Any, args: Any) -> Any:
        return await ctx.manager.invoke("look", {"path": "a"}, {args["how"]: True})

    bench = SkillBench(skill("sly", sly), tools=(FakeTool("look"),))
    for how in ("as_caller", "as_served", "in_name_of"):
        assert (await bench.call("sly", {"how": how})).result.code == "denied.untrusted_ref"

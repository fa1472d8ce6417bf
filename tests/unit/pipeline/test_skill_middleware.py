"""Middleware skills around a call: order, short circuits, hooks, and what they cannot do (R-INV-4 … R-INV-11)."""

from typing import Any

import pytest

from desktop.domain.errors import ToolFailure
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.pipeline.skill_kit import WRITE, SkillBench, middleware, skill


async def nothing(ctx: Any, args: Any) -> None:
    return None


@pytest.mark.spec("R-INV-4")
async def test_middleware_is_an_onion_in_a_fixed_order() -> None:
    order: list[str] = []

    def layer(name: str) -> Any:
        async def run(ctx: Any, args: Any) -> None:
            order.append(f"{name} in")
            await ctx.manager.next()
            order.append(f"{name} out")

        return run

    async def core(ctx: Any, args: Any) -> str:
        order.append("core")
        return "done"

    bench = SkillBench(
        skill("work", core, metadata={"alpha": 1, "beta": 2}),
        middleware("alpha", layer("alpha"), order={"after": ["beta"]}),
        middleware("beta", layer("beta")),
    )
    outcome = await bench.call("work")
    assert order == ["beta in", "alpha in", "core", "alpha out", "beta out"]
    assert outcome.result.text == "done"


@pytest.mark.spec("R-INV-4")
async def test_middleware_that_returns_a_value_without_going_on_ends_the_call_there() -> None:
    ran = []

    async def core(ctx: Any, args: Any) -> None:
        ran.append(1)

    async def known(ctx: Any, args: Any) -> str:
        return "from memory"

    bench = SkillBench(skill("work", core, metadata={"remember": True}), middleware("remember", known))
    assert (await bench.call("work")).result.text == "from memory"
    assert not ran


@pytest.mark.spec("R-SK-7")
async def test_middleware_that_returns_nothing_lets_the_call_go_on() -> None:
    async def core(ctx: Any, args: Any) -> str:
        return "core"

    bench = SkillBench(skill("work", core, metadata={"note": True}), middleware("note", nothing))
    assert (await bench.call("work")).result.text == "core"


@pytest.mark.spec("R-INV-5", "R-MW-5")
async def test_going_on_twice_is_an_error_but_for_a_retry_layer_of_the_library() -> None:
    tries = []

    async def core(ctx: Any, args: Any) -> str:
        tries.append(1)
        return "core"

    async def twice(ctx: Any, args: Any) -> Any:
        await ctx.manager.next()
        return await ctx.manager.next()

    bench = SkillBench(
        skill("work", core, metadata={"twice": 1}),
        skill("again", core, metadata={"retry": 1}),
        skill("foreign", core, metadata={"sly": 1}),
        middleware("twice", twice),
        middleware("retry", twice, retries=True),
        skill("sly", twice, role="middleware", metadata={"retries": True}),
    )
    assert (await bench.call("work")).result.code == "skill.next_twice"
    assert (await bench.call("again")).result.text == "core"
    assert (await bench.call("foreign")).result.code == "skill.next_twice"
    assert len(tries) == 4


@pytest.mark.spec("R-PRM-5", "R-INV-2")
async def test_a_write_that_a_retry_layer_repeats_is_asked_about_again() -> None:
    async def twice(ctx: Any, args: Any) -> Any:
        await ctx.manager.next()
        return await ctx.manager.next()

    person = Person("allow_once", "deny")
    tool = FakeTool("write-file", WRITE)
    bench = SkillBench(middleware("retry", twice, retries=True), tools=(tool,), person=person)
    outcome = await bench.call("write-file", {"path": "a"}, origin="skill", overrides={"retry": {}})
    assert len(tool.calls) == 1
    assert len(person.asked) == 2
    assert outcome.result.code == "denied.permission"


@pytest.mark.spec("R-INV-6")
async def test_middleware_reads_the_served_context_and_other_code_has_none() -> None:
    read: list[Any] = []

    async def watch(ctx: Any, args: Any) -> None:
        target = ctx.envelope.target
        read.append((target.args["n"], target.run.frontmatter["watch"], ctx.locals["config"], ctx.is_middleware))

    async def plain(ctx: Any, args: Any) -> Any:
        return [ctx.is_middleware, await ctx.manager.next()]

    bench = SkillBench(
        skill("work", nothing, metadata={"watch": "x"}), middleware("watch", watch), skill("plain", plain)
    )
    await bench.call("work", {"n": 1})
    assert read == [(1, "x", "x", True)]
    assert (await bench.call("plain")).result.code == "skill.not_middleware"


@pytest.mark.spec("R-INV-7")
async def test_locals_stay_nonlocals_go_down_and_globals_are_shared() -> None:
    seen: list[Any] = []

    async def outer(ctx: Any, args: Any) -> None:
        ctx.locals["a"] = 1
        ctx.nonlocals["b"] = 2
        ctx.globals["c"] = 3
        await ctx.manager.invoke("inner")
        seen.append((ctx.nonlocals["b"], ctx.globals["c"], "d" in ctx.nonlocals))

    async def inner(ctx: Any, args: Any) -> None:
        seen.append((ctx.locals.get("a"), ctx.nonlocals["b"], ctx.globals["c"]))
        ctx.nonlocals["b"] = 20
        ctx.nonlocals["d"] = 1
        ctx.globals["c"] = 30

    await SkillBench(skill("outer", outer), skill("inner", inner)).call("outer")
    assert seen == [(None, 2, 3), (2, 30, False)]


@pytest.mark.spec("R-INV-8")
async def test_middleware_cannot_change_the_arguments_that_were_checked() -> None:
    got: list[Any] = []

    async def core(ctx: Any, args: Any) -> None:
        got.append(dict(args))

    async def meddle(ctx: Any, args: Any) -> None:
        try:
            ctx.envelope.target.args["path"] = "evil"
        except TypeError:
            got.append("refused")

    await SkillBench(skill("work", core, metadata={"meddle": 1}), middleware("meddle", meddle)).call(
        "work", {"path": "a"}
    )
    assert got == ["refused", {"path": "a"}]


@pytest.mark.spec("R-INV-9")
async def test_finish_wins_over_what_is_returned_and_fail_aborts() -> None:
    async def done(ctx: Any, args: Any) -> str:
        ctx.manager.finish({"ok": True})
        return "ignored"

    async def failing(ctx: Any, args: Any) -> None:
        ctx.manager.fail("it cannot be done")

    async def outer(ctx: Any, args: Any) -> Any:
        try:
            await ctx.manager.invoke("failing")
        except Exception as error:
            return [str(error), ctx.envelope.signal.cancelled]

    bench = SkillBench(skill("done", done), skill("failing", failing), skill("outer", outer))
    assert (await bench.call("done")).result.structured == {"ok": True}
    failed = await bench.call("failing")
    assert (failed.result.code, failed.result.text) == ("skill.failed", "it cannot be done")
    assert (await bench.call("outer")).result.structured == ["it cannot be done", False]
    assert not bench.token.cancelled


@pytest.mark.spec("R-INV-9")
async def test_middleware_finishes_the_served_call() -> None:
    async def end(ctx: Any, args: Any) -> None:
        ctx.manager.finish("early")

    bench = SkillBench(skill("work", nothing, metadata={"end": 1}), middleware("end", end))
    assert (await bench.call("work")).result.text == "early"


@pytest.mark.spec("R-INV-10")
async def test_an_order_in_a_circle_is_an_error_that_names_it() -> None:
    bench = SkillBench(
        skill("work", nothing, metadata={"a": 1, "b": 1}),
        middleware("a", nothing, order={"after": ["b"]}),
        middleware("b", nothing, order={"after": ["a"]}),
    )
    outcome = await bench.call("work")
    assert outcome.result.is_error
    assert "a before b before a" in outcome.result.text


@pytest.mark.spec("R-MW-7", "R-INV-10")
async def test_no_middleware_gets_before_the_gates() -> None:
    ran: list[str] = []

    async def early(ctx: Any, args: Any) -> None:
        ran.append("early")

    person = Person("deny")
    bench = SkillBench(
        skill("work", nothing, category="write", metadata={"early": 1}), middleware("early", early), person=person
    )
    assert (await bench.call("work")).result.code == "denied.permission"
    assert not ran
    sly = SkillBench(skill("work", nothing, metadata={"sly": 1}), middleware("sly", early, order={"before": ["trust"]}))
    assert "circle" in (await sly.call("work")).result.text


@pytest.mark.spec("R-INV-11")
async def test_a_next_hook_wraps_each_following_entry_and_knows_which() -> None:
    seen: list[str] = []

    async def hook(ctx: Any, args: Any) -> Any:
        seen.append(f"{ctx.trigger} {ctx.wraps} in")
        value = await ctx.manager.next()
        seen.append(f"{ctx.wraps} out")
        return value

    async def layer(ctx: Any, args: Any) -> Any:
        seen.append("layer")
        return await ctx.manager.next()

    async def core(ctx: Any, args: Any) -> str:
        seen.append("core")
        return "v"

    bench = SkillBench(
        skill("work", core, metadata={"measure": 1, "layer": 1}),
        middleware("measure", hook, hook="$next"),
        middleware("layer", layer),
    )
    assert (await bench.call("work")).result.text == "v"
    assert seen == ["$next layer in", "layer", "$next $execute in", "core", "$execute out", "layer out"]


@pytest.mark.spec("R-INV-11")
async def test_an_invoke_hook_wraps_each_call_that_the_skill_makes() -> None:
    seen: list[str] = []

    async def hook(ctx: Any, args: Any) -> Any:
        seen.append(f"{ctx.trigger} {ctx.wraps}")
        return await ctx.manager.next()

    async def work(ctx: Any, args: Any) -> Any:
        return [await ctx.manager.invoke("look", {"path": "a"}), await ctx.manager.invoke("look", {"path": "b"})]

    bench = SkillBench(
        skill("work", work, metadata={"spy": 1}), middleware("spy", hook, hook="$invoke"), tools=(FakeTool("look"),)
    )
    assert (await bench.call("work")).result.structured == ["did look", "did look"]
    assert seen == ["$invoke look", "$invoke look"]


async def _fails(manager: Any) -> None:
    raise ToolFailure("not now", code="tool.failed")


async def _answers(manager: Any) -> None:
    manager.finish("its own")


async def _changes(manager: Any) -> str:
    return f"{await manager.next()}, it says"


async def _looks_on(manager: Any) -> None:
    await manager.next()


async def _does_nothing(manager: Any) -> None:
    return None


@pytest.mark.spec("R-INV-11")
@pytest.mark.parametrize(
    ("act", "given", "made"),
    [
        (_fails, "not now", 0),
        (_answers, "its own", 0),
        (_changes, "did look, it says", 1),
        (_looks_on, "did look", 1),
        (_does_nothing, "did look", 1),
    ],
)
async def test_an_invoke_hook_that_fails_or_gives_a_value_answers_and_otherwise_the_call_does(
    act: Any, given: str, made: int
) -> None:
    async def hook(ctx: Any, args: Any) -> Any:
        return await act(ctx.manager)

    async def work(ctx: Any, args: Any) -> str:
        try:
            return str(await ctx.manager.invoke("look", {"path": "a"}))
        except ToolFailure as error:
            return str(error)

    look = FakeTool("look")
    bench = SkillBench(skill("work", work, metadata={"spy": 1}), middleware("spy", hook, hook="$invoke"), tools=(look,))
    assert ((await bench.call("work")).result.text, len(look.calls)) == (given, made)

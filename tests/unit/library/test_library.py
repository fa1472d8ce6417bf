"""The skills that the app ships: what they are, and what they do."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import Decision
from desktop.domain.errors import ToolFailure
from desktop.skills.formats import load_skills_from_file
from tests.unit.library.kit import LIBRARY, LibraryBench
from tests.unit.pipeline.kit import FakeTool, Person

RESERVED = {
    "meta-internal",
    "meta-middleware",
    "meta-metadata",
    "meta-directive-inline",
    "meta-directive-block",
    "meta-runnable",
    "meta-action",
    "meta-action-text",
    "meta-action-code",
}


def library() -> Iterator[Any]:
    for path in sorted(LIBRARY.rglob("*")):
        if path.name == "SKILL.md" or path.name.endswith((".skill.md", ".skill.py")):
            yield load_skills_from_file(str(path), source="library", root=str(LIBRARY))


@pytest.fixture
def bench(tmp_path: Path) -> LibraryBench:
    return LibraryBench(tmp_path, FakeTool("look"), FakeTool("write-file", Category.WRITE))


@pytest.mark.spec("R-VIS-5", "R-SK-2", "R-SK-3", "R-SK-4")
def test_every_file_of_the_library_loads_without_a_problem_and_carries_reserved_tags_and_a_category() -> None:
    loaded = list(library())
    assert len(loaded) > 25
    for file in loaded:
        assert not file.problems, file.problems
        for definition in file.definitions:
            assert "meta-internal" in definition.tags
            assert {tag for tag in definition.tags if tag.startswith("meta-")} <= RESERVED
            assert definition.category in ("read", "write", "admin")
            assert definition.description
            assert (definition.role == "middleware") == ("meta-middleware" in definition.tags)


@pytest.mark.spec("R-VIS-5")
def test_the_library_holds_what_it_has_to() -> None:
    names = {definition.name for file in library() for definition in file.definitions}
    assert names >= {
        "agent",
        "assistant",
        "default",
        "skill-list",
        "skill-describe",
        "context-manager",
        "session",
        "delegate",
        "retry",
        "cache",
        "timeout",
        "event-emit",
        "event-subscribe",
        "event-wait",
        "trust",
        "validate-args",
        "validate-allowed-tools",
        "directives",
        "cwd",
        "workspace",
        "paths",
        "params",
        "returns",
        "model",
        "mcp",
        "include",
        "role",
        "tags",
        "visibility",
    }


# -- listing ----------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-VIS-4", "R-VIS-1", "R-VIS-2")
async def test_skill_list_filters_by_tags_words_and_visibility(bench: LibraryBench) -> None:
    bench.register("alpha", None, tags=["Slow Api", "x"], description="fetches things")
    bench.register("beta", None, tags=["x"], params=None)
    bench.register("gamma", None, visibility="hidden", tags=["x"])
    rows = (await bench.call("skill-list", {"tags": ["x"]})).result.structured
    assert [row["name"] for row in rows] == ["alpha", "beta"]
    assert rows[0]["tags"] == ["slow-api", "x"]
    assert [r["name"] for r in (await bench.call("skill-list", {"tags": ["X", "slow api"]})).result.structured] == [
        "alpha"
    ]
    assert [r["name"] for r in (await bench.call("skill-list", {"query": "FETCHES"})).result.structured] == ["alpha"]
    hidden = (await bench.call("skill-list", {"tags": ["x"], "includeHidden": True})).result.structured
    assert [row["name"] for row in hidden] == ["alpha", "beta", "gamma"]


@pytest.mark.spec("R-DSC-8", "R-DSC-5", "R-AG-7")
async def test_what_an_agent_may_not_call_is_neither_listed_nor_described_to_it(bench: LibraryBench) -> None:
    allowed = "* #danger($deny) look(path=src/*)"
    bench.register("bomb", None, tags=["danger"])
    hidden = {"includeHidden": True}
    refused = ("bomb", "agent", "agent-litellm")
    rows = {row["name"]: row for row in (await bench.call("skill-list", hidden, allowed=allowed)).result.structured}
    assert rows["look"]["constraints"] == ["look(path=src/*)"]
    assert not set(refused) & set(rows)
    described = (await bench.call("skill-describe", {"name": "look"}, allowed=allowed)).result.structured
    assert described["constraints"] == ["look(path=src/*)"]
    for name in refused:
        told = (await bench.call("skill-describe", {"name": name}, allowed=allowed)).result
        assert (told.is_error, "There is no tool named" in told.text) == (True, True), name
    for name in refused:
        allowed = f"skill-list skill-describe {name}"
        rows = (await bench.call("skill-list", hidden, allowed=allowed)).result.structured
        assert name in {row["name"] for row in rows}
        assert (await bench.call("skill-describe", {"name": name}, allowed=allowed)).result.structured["name"] == name


@pytest.mark.spec("R-VIS-4")
async def test_skill_describe_tells_everything_a_caller_needs(bench: LibraryBench) -> None:
    async def described(name: str) -> Any:
        return (await bench.call("skill-describe", {"name": name})).result

    returns = {"type": "number"}
    bench.register("sum", None, tags=["math"], params={"type": "object", "properties": {"a": {}}}, returns=returns)
    found = (await described("sum")).structured
    assert found["params"]["properties"] == {"a": {}}
    assert (found["returns"], found["tags"], found["visibility"], found["source"]) == (
        returns,
        ["math"],
        "shown",
        "program",
    )
    more = "metadata: {visibility: hidden, tags: [Net Work, slow], category: write, params: {type: object}}"
    bench.write("mail.skill.md", f"---\nname: mail\ndescription: Sends a letter.\n{more}\n---\nSend it.\n")
    found = (await described("mail")).structured
    assert (found["description"], found["tags"]) == ("Sends a letter.", ["net-work", "slow"])
    assert (found["returns"], found["visibility"], found["source"]) == (None, "hidden", "mine")
    assert (found["category"], found["params"]["type"]) == ("write", "object")
    bench.write("broken.skill.md", "nothing")
    for name in ("none", "broken"):
        assert "no tool named" in (await described(name)).text, name


@pytest.mark.spec("R-DSC-9", "R-INV-3")
async def test_skill_invoke_calls_in_the_name_of_its_caller(bench: LibraryBench) -> None:
    assert (await bench.call("skill-invoke", {"ref": "look", "args": {"path": "a"}})).result.text == "did look"
    refused = await bench.call("skill-invoke", {"ref": "look", "args": {"path": "a"}}, allowed="skill-invoke")
    assert refused.result.code == "denied.allowed_tools"
    bench.register("secret", None, visibility="hidden")
    assert (await bench.call("skill-invoke", {"ref": "secret"})).result.code == "denied.visibility"
    path = str(LIBRARY / "agent" / "agent.skill.py")
    assert (await bench.call("skill-invoke", {"ref": path})).result.is_error


# -- middleware -------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-MW-5", "R-INV-5")
async def test_retry_tries_again_what_may_pass_and_not_what_was_refused(bench: LibraryBench) -> None:
    tries: list[int] = []

    async def shaky(ctx: Any, args: Any) -> Any:
        tries.append(1)
        if len(tries) < 3:
            raise ToolFailure("busy")
        return {"tries": len(tries)}

    bench.register("shaky", shaky, metadata={"retry": {"attempts": 4, "delay": 0}})
    assert (await bench.call("shaky")).result.structured == {"tries": 3}

    async def never(ctx: Any, args: Any) -> Any:
        tries.append(1)
        return await ctx.manager.invoke("write-file", {"path": "a"})

    tries.clear()
    bench.register("never", never, metadata={"retry": {"attempts": 4, "delay": 0}})
    assert (await bench.call("never")).result.code == "denied.permission"
    assert len(tries) == 1


async def test_timeout_ends_a_call_that_takes_too_long_and_names_the_limit(bench: LibraryBench) -> None:
    async def slow(ctx: Any, args: Any) -> None:
        await asyncio.sleep(60)

    bench.register("slow", slow, metadata={"timeout": 0.05})
    outcome = await bench.call("slow")
    assert outcome.result.code == "tool.timeout"
    assert "0.05 s" in outcome.result.text
    await bench.owner.close()


@pytest.mark.spec("R-PRM-10")
async def test_time_in_which_a_person_is_asked_is_no_time_of_the_call(tmp_path: Path) -> None:
    person = Person("allow_once", wait=0.4)
    bench = LibraryBench(tmp_path, FakeTool("write-file", Category.WRITE), person=person)

    async def writes(ctx: Any, args: Any) -> Any:
        return await ctx.manager.invoke("write-file", {"path": "a"})

    bench.register("writes", writes, metadata={"timeout": 0.3})
    assert (await bench.call("writes")).result.text == "did write-file"


async def test_cache_remembers_by_arguments_and_refuses_to_remember_effects(tmp_path: Path) -> None:
    bench = LibraryBench(tmp_path, person=Person("allow_once"))
    ran: list[Any] = []

    async def look_up(ctx: Any, args: Any) -> Any:
        ran.append(args["q"])
        return {"answer": len(ran)}

    bench.register("look-up", look_up, metadata={"cache": 60})
    answers = [(await bench.call("look-up", {"q": q})).result.structured["answer"] for q in ("a", "b", "a")]
    assert answers == [1, 2, 1]
    bench.register("send", look_up, category="write", metadata={"cache": 60})
    assert (await bench.call("send", {"q": "a"})).result.code == "skill.configuration"
    assert ran == ["a", "b"]


@pytest.mark.spec("R-INV-2", "R-INV-3")
async def test_delegate_calls_the_other_skill_in_the_served_skills_name(bench: LibraryBench) -> None:
    bench.register("mine", None, metadata={"delegate": "look"})
    assert (await bench.call("mine", {"path": "a"})).result.text == "did look"
    bench.register("bound", None, metadata={"delegate": "look"}, allowed_tools="other")
    assert (await bench.call("bound", {"path": "a"})).result.code == "denied.allowed_tools"
    invalid = await bench.call("mine", {"path": 3})
    assert invalid.result.code == "tool.validation"


@pytest.mark.parametrize("store", ["memory", "file"])
async def test_session_remembers_over_calls_by_key(bench: LibraryBench, store: str) -> None:
    async def talk(ctx: Any, args: Any) -> Any:
        return [entry["args"]["say"] for entry in ctx.locals["session"]]

    config = {"key": "${args.who}", "capture": ["$args"], "maxEntries": 2, "store": store}
    bench.register("talk", talk, metadata={"session": config})
    said = [
        (await bench.call("talk", {"who": who, "say": n})).result.structured
        for who, n in (("ada", 1), ("ada", 2), ("bob", 3), ("ada", 4), ("ada", 5))
    ]
    assert said == [[], [1], [], [1, 2], [2, 4]]


@pytest.mark.spec("R-INV-12")
async def test_a_key_of_the_standard_pipeline_says_what_holds_and_who_set_it(bench: LibraryBench) -> None:
    bench.write("greet.skill.md", "---\nname: greet\ndescription: hi\nmetadata:\n  model:\n    maxTurns: 3\n---\nHi\n")
    found = (await bench.call("model", {"name": "greet"}, allowed="model")).result.structured
    assert found == {"skill": "greet", "key": "model", "value": {"maxTurns": 3}, "from": "greet"}


# -- events -----------------------------------------------------------------------------------------------------------


@pytest.mark.spec("S-BLT-3")
async def test_an_event_reaches_who_waits_and_the_subscribed_skill_is_gated(bench: LibraryBench) -> None:
    got: list[Any] = []

    async def note(ctx: Any, args: Any) -> str:
        got.append(args["data"])
        return "noted"

    bench.register("note", note)
    subscribed = await bench.call("event-subscribe", {"topic": "news", "ref": "note"})
    own = (await bench.call("event-subscribe", {"topic": "news"})).result.structured["subscription"]
    assert subscribed.result.structured["subscription"]
    emitted = await bench.call("event-emit", {"topic": "news", "data": {"n": 1}})
    assert emitted.result.structured["called"] == [{"ref": "note", "result": "noted"}]
    assert got == [{"n": 1}]
    again = await bench.call("event-wait", {"subscription": own, "timeout": 1})
    assert again.result.structured["event"]["data"] == {"n": 1}
    other = await bench.call("event-emit", {"topic": "news"}, run_id="another")
    assert other.result.structured["called"] == []


async def test_a_subscribed_skill_is_called_in_the_name_of_who_subscribed_it(bench: LibraryBench) -> None:
    """Whoever emits may have a longer list, and lends it to nobody."""
    bench.register("note", lambda _ctx, _args: "noted")
    bench.register("secret", lambda _ctx, _args: "told", visibility="hidden")
    for ref, allowed in (("note", "event-subscribe"), ("secret", "*"), ("note", "event-subscribe note")):
        await bench.call("event-subscribe", {"topic": "news", "ref": ref}, allowed=allowed)
    emitted = await bench.call("event-emit", {"topic": "news"}, allowed="* note secret")
    assert [(one["ref"], one.get("result")) for one in emitted.result.structured["called"]] == [
        ("note", None),
        ("secret", None),
        ("note", "noted"),
    ]
    assert ["error" in one for one in emitted.result.structured["called"]] == [True, True, False]


async def test_who_waits_for_a_topic_without_a_subscription_gets_what_comes_from_then_on(bench: LibraryBench) -> None:
    await bench.call("event-emit", {"topic": "news", "data": "before"})
    waiting = asyncio.ensure_future(bench.call("event-wait", {"topic": "news", "timeout": 100}))
    sent = [n async for n in until_done(waiting, lambda n: bench.call("event-emit", {"topic": "news", "data": n}))]
    assert (await waiting).result.structured["event"]["data"] in sent


async def until_done(waiting: asyncio.Future[Any], emit: Callable[[int], Awaitable[Any]]) -> AsyncIterator[int]:
    """Emits until somebody has heard it: nobody can say from outside when the other one began to wait."""
    number = 0
    while not waiting.done():
        await emit(number)
        yield number
        number += 1


@pytest.mark.spec("R-PAT-12")
async def test_context_manager_acts_on_the_call_it_was_made_in(bench: LibraryBench) -> None:
    async def work(ctx: Any, args: Any) -> str:
        await ctx.manager.invoke("context-manager", {"op": "finish", "value": {"done": True}})
        return "ignored"

    async def failing(ctx: Any, args: Any) -> str:
        await ctx.manager.invoke("context-manager", {"op": "fail", "reason": "cannot"})
        return "ignored"

    async def through(ctx: Any, args: Any) -> str:
        given = {"ref": "context-manager", "args": {"op": "finish", "value": "through another"}}
        await ctx.manager.invoke(args["by"], {"op": "invoke", **given} if args["by"] == "context-manager" else given)
        return "ignored"

    async def catching(ctx: Any, args: Any) -> str:
        with contextlib.suppress(ToolFailure):
            await ctx.manager.invoke("context-manager", {"op": "fail", "reason": "cannot"})
        return "ignored"

    async def around(ctx: Any, args: Any) -> str:
        return f"around {await ctx.manager.invoke('context-manager', {'op': 'next'})}"

    async def denied(ctx: Any, args: Any) -> str:
        await ctx.manager.invoke("context-manager", {"op": "finish", "value": 1})
        return "never"

    bench.register("work", work, allowed_tools="look")
    bench.register("failing", failing)
    bench.register("through", through)
    bench.register("catching", catching)
    bench.register("around", around, role="middleware")
    bench.register("wrapped", lambda _ctx, _args: "this", metadata={"around": True})
    bench.register("denied", denied, allowed_tools="context-manager(op=finish,$deny)")
    assert (await bench.call("work")).result.structured == {"done": True}
    failed = (await bench.call("failing")).result
    assert (failed.is_error, failed.text) == (True, "cannot")
    for by in ("skill-invoke", "context-manager"):
        assert (await bench.call("through", {"by": by})).result.text == "through another", by
    caught = (await bench.call("catching")).result
    assert (caught.is_error, caught.text) == (True, "cannot")
    assert (await bench.call("wrapped")).result.text == "around this"
    assert (await bench.call("denied")).result.code == "denied.allowed_tools"
    alone = (await bench.call("context-manager", {"op": "finish"}, allowed="context-manager")).result
    assert (alone.is_error, "no call here to act on" in alone.text) == (True, True)


@pytest.mark.spec("R-VIS-6", "R-INV-3")
async def test_a_subscribed_skill_is_called_in_the_name_of_whoever_subscribed(bench: LibraryBench) -> None:
    async def note(ctx: Any, args: Any) -> str:
        return "noted"

    async def emits(ctx: Any, args: Any) -> Any:
        return await ctx.manager.invoke("event-emit", {"topic": "news"})

    bench.register("note", note, visibility="hidden")
    bench.register("emits", emits)
    await bench.call("event-subscribe", {"topic": "news", "ref": "note"})
    await bench.call("event-subscribe", {"topic": "news", "ref": "emits"}, allowed="event-subscribe")
    called = (await bench.call("emits")).result.structured["called"]
    assert [("hidden" in one.get("error", ""), "not among" in one.get("error", "")) for one in called] == [
        (True, False),
        (False, True),
    ]


@pytest.fixture
def near() -> Iterator[Path]:
    """A folder with a path that is short enough for the name of a tool."""
    with TemporaryDirectory(prefix="q", dir="/tmp") as folder:
        yield Path(folder)


@pytest.mark.spec("R-RES-4", "R-INV-15", "Q-3")
async def test_a_model_loads_nothing_by_path_not_even_what_somebody_else_has_loaded(near: Path) -> None:
    bench = LibraryBench(near)
    head = "---\nname: x\ndescription: x\nmetadata:\n  role: context\n---\nhello\n"
    bench.write("x.skill.md", head)
    path = str(bench.mine / "x.skill.md")
    refs = (path, f"file://{path}", "mcp://one/talk")
    assert max(map(len, refs)) < 64

    async def trusted(ctx: Any, args: Any) -> Any:
        return [str(await ctx.manager.invoke(ref, {})).strip() for ref in refs]

    bench.register("trusted", trusted)
    bench.register("talk", lambda _ctx, _args: "talked", src=refs[2])
    assert (await bench.call("skill-describe", {"name": path})).result.is_error
    for loaded in (False, True):
        for ref in refs:
            assert (await bench.call(ref)).result.code == "not_found", (ref, loaded)
            assert (await bench.call("skill-invoke", {"ref": ref})).result.code == "not_found", (ref, loaded)
        assert [bench.world.table.find(ref) is not None for ref in refs] == [loaded, loaded, True]
        assert (await bench.call("trusted")).result.structured == ["hello", "hello", "talked"]


@pytest.mark.spec("S-RES-3", "Q-3")
async def test_a_further_name_of_a_tool_is_found_by_skills_and_by_no_model(bench: LibraryBench) -> None:
    async def trusted(ctx: Any, args: Any) -> Any:
        return await ctx.manager.invoke("read_it_all", {})

    bench.register("read", lambda _ctx, _args: "read it", aliases=("read_it_all",))
    bench.register("trusted", trusted)
    assert (await bench.call("trusted")).result.text == "read it"
    assert (await bench.call("read")).result.text == "read it"
    for ref in ("read_it_all", "read-it-all"):
        assert (await bench.call(ref)).result.code == "not_found", ref
        assert (await bench.call("skill-invoke", {"ref": ref})).result.code == "not_found", ref


@pytest.mark.spec("R-RES-12", "R-VIS-1")
async def test_a_callback_is_called_by_those_whose_list_names_it_and_is_listed_to_nobody_else(
    bench: LibraryBench,
) -> None:
    ref = bench.fabric.create_callback_ref("on-done", lambda _ctx, _args: "called back")
    for allowed in (None, "*", f"* {ref}($deny)"):
        refused = (await bench.call(ref, allowed=allowed)).result
        assert (refused.is_error, refused.code) == (True, "denied.visibility"), allowed
        listed = (await bench.call("skill-list", allowed=allowed)).result.structured
        assert ref not in {row["name"] for row in listed}, allowed
    assert (await bench.call(ref, allowed=f"look {ref}")).result.text == "called back"
    assert bench.fabric.unregister_tool(ref)
    assert (await bench.call(ref, allowed=f"look {ref}")).result.code == "not_found"


@pytest.mark.spec("R-INV-15", "R-INV-3")
async def test_options_smuggled_through_arguments_steer_nothing(bench: LibraryBench) -> None:
    ran: list[str] = []

    async def passes(ctx: Any, args: Any) -> Any:
        return await ctx.manager.invoke("inner", args.get("payload") or dict(args))

    async def inner(ctx: Any, args: Any) -> str:
        return "inner"

    async def secret(ctx: Any, args: Any) -> str:
        ran.append("secret")
        return "secret"

    bench.register("passes", passes, allowed_tools="inner")
    bench.register("inner", inner)
    bench.register("secret", secret)
    sly = {"$frontmatter": {"delegate": "secret"}}
    assert (await bench.call("passes", sly)).result.code == "denied.untrusted_ref"
    assert (await bench.call("passes", {"payload": sly})).result.code == "denied.untrusted_ref"
    assert (await bench.call("passes", {"payload": {"$as_caller": True}})).result.code == "denied.untrusted_ref"
    assert (await bench.call("skill-invoke", {"ref": "inner", "args": sly})).result.code == "denied.untrusted_ref"
    assert not ran


@pytest.mark.spec("R-INV-3", "R-INV-15")
async def test_a_delegate_for_one_call_does_not_widen_the_callers_list(bench: LibraryBench) -> None:
    async def sly(ctx: Any, args: Any) -> Any:
        return await ctx.manager.invoke("inner", {}, {"frontmatter": {"delegate": "look"}})

    async def inner(ctx: Any, args: Any) -> str:
        return "inner"

    bench.register("sly", sly, allowed_tools="inner")
    bench.register("inner", inner)
    assert (await bench.call("sly")).result.code == "denied.untrusted_ref"


@pytest.mark.spec("R-INV-14", "R-PRM-5")
async def test_what_a_person_edits_counts_for_the_frontmatter_too(tmp_path: Path) -> None:
    ran: list[str] = []
    person = Person(
        lambda request: Decision("allow_edited", "digest", edited_arguments={"which": "second"}), "allow_once"
    )
    bench = LibraryBench(tmp_path, person=person)

    def named(name: str) -> Any:
        async def run(ctx: Any, args: Any) -> str:
            ran.append(name)
            return name

        return run

    bench.register("first", named("first"))
    bench.register("second", named("second"))
    bench.register("pick", None, category="write", metadata={"delegate": "${args.which}"})
    outcome = await bench.call("pick", {"which": "first"})
    assert ran == ["second"], outcome

"""The three levels of middleware as a person has them (D-7): listed, switched, and at work around real runs."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.messages import NoticeBlock
from desktop.domain.runs.events import RunWaiting, TextArrived
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.pipeline.skills.python_worker import PythonWorker
from desktop.safety.confinement.select import SystemConfinement
from desktop.services.skills.levels import switched
from desktop.services.skills.world import SkillWorld
from desktop.settings.groups.middleware import ContentFilterSettings, MiddlewareSettings, RateLimit
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.resolution.programmatic import RegisterToolOptions
from tests.harness.skills import open_fabric
from tests.harness.timeouts import WAIT_S
from tests.unit.pipeline.kit import FakeTool, Table
from tests.unit.pipeline.skill_kit import WRITE
from tests.unit.safety.world import World as BoundaryWorld
from tests.unit.services.kit import ROOT, World, world
from tests.unit.skills.resolution.kit import MemoryStore

pytestmark = pytest.mark.spec("D-7")

PLAIN = "def run(ctx, args):\n    return None\n"


class Levelled:
    """A world whose runs stand inside the levels; ``choice`` is what the settings say, to be changed at any time."""

    def __init__(self, folder: Path, model: ScriptedModel, **choice: Any) -> None:
        self.mine = folder / "mine"
        self.mine.mkdir(parents=True, exist_ok=True)
        self.choice = MiddlewareSettings(**choice)
        self.model = model
        self.folder = folder
        self.account: str | None = "the account"
        self.programs: list[RegisterToolOptions] = []
        self.pinned = False
        self.python: PythonWorker | None = None

    async def _account(self, _model: Any) -> str | None:
        return self.account

    def write(self, name: str, metadata: str, code: str = PLAIN) -> Path:
        path = self.mine / f"{name}.skill.py"
        path.write_text(
            f"frontmatter = {{'name': {name!r}, 'description': 'Mine.', 'metadata': {{'category': 'read', "
            f"'role': 'middleware', {metadata}}}}}\n\n{code}"
        )
        return path

    def skills(self) -> SkillWorld:
        mine = SearchRoot(str(self.mine), "shared" if self.pinned else "mine")
        roots = (mine, SearchRoot(str(ROOT / "skills"), "library"))
        fabric = open_fabric(roots, pin_store=MemoryStore() if self.pinned else None)
        fabric.refresh()
        for program in self.programs:
            fabric.register_tool(program)
        made = SkillWorld(
            fabric,
            Table(FakeTool("write-file", WRITE)),
            python=self.python,
            middleware=lambda: self.choice,
            account=self._account,
            mask=lambda text: text.replace("hunter2", "***"),
        )
        made.levels.refresh()
        return made

    def worlds(self) -> Any:
        return world(self.folder, self.model, levels=self)


def row(levels: Any, level: str, title: str) -> Any:
    return next(one for one in levels.rows(level) if one.title == title)


def notices(path: list[Any]) -> list[str]:
    return [block.code for message in path for block in message.blocks if isinstance(block, NoticeBlock)]


def streamed(w: World) -> str:
    return "".join(event.text for event in w.events if isinstance(event, TextArrived))


# -- the lists --------------------------------------------------------------------------------------------------------


@pytest.mark.spec("S-MW-1")
def test_each_level_lists_its_chain_in_order_with_what_is_shipped_and_what_is_needed(tmp_path: Path) -> None:
    levels = Levelled(tmp_path, ScriptedModel([])).skills().levels
    shown = {level: [(one.title, one.state) for one in levels.rows(level)] for level in ("agent", "chat", "call")}
    assert shown["agent"][:2] == [("rate-limit", "on"), ("run-log", "on")]
    assert shown["chat"][1:3] == [("content-filter", "off"), ("response-cache", "off")]
    own = [title for title, state in shown["call"] if state == "on"]
    assert set(own) == {"retry", "timeout", "cache", "session", "delegate"}
    assert own.index("cache") < own.index("retry") < own.index("timeout") < own.index("delegate")
    for chain in shown.values():
        assert any(state == "needed" for _, state in chain)
    assert all(one.key == "" for level in shown for one in levels.rows(level) if one.state == "needed")


def test_middleware_of_ones_own_stands_in_its_level_and_is_off_until_switched_on(tmp_path: Path) -> None:
    bench = Levelled(tmp_path, ScriptedModel([]))
    path = bench.write("watch", "'level': 'chat', 'order': {'before': ['content-filter']}")
    bench.write("around-calls", "'level': 'call'")
    levels = bench.skills().levels
    assert [one.title for one in levels.rows("chat")][1:3] == ["watch", "content-filter"]
    found = row(levels, "chat", "watch")
    assert (found.state, found.key, found.source) == ("off", f"{path}#run", "mine")
    assert row(levels, "call", "around-calls").state == "on"
    on, off = switched(bench.choice, found.key, on=True)
    bench.choice = replace(bench.choice, switched_on=on, switched_off=off)
    assert row(levels, "chat", "watch").state == "on"
    on, off = switched(bench.choice, found.key, on=False)
    bench.choice = replace(bench.choice, switched_on=on, switched_off=off)
    assert row(levels, "chat", "watch").state == "off"


@pytest.mark.parametrize("level", ["'level': 'run'", "'level': ['chat']", "'level': 3", "'level': ''"])
def test_a_level_that_there_is_not_is_a_problem_and_the_skill_runs_as_no_other(tmp_path: Path, level: str) -> None:
    bench = Levelled(tmp_path, ScriptedModel([]))
    bench.write("odd", level)
    skills = bench.skills()
    found = skills.fabric.find_tool("odd")
    assert found is not None
    assert [problem.code for problem in found.problems] == ["level.invalid"]
    assert (found.state, found.level) == ("broken", None)
    assert "odd" not in [one.title for each in ("agent", "chat", "call") for one in skills.levels.rows(each)]


def test_a_level_says_where_it_does_nothing(tmp_path: Path) -> None:
    bench = Levelled(tmp_path, ScriptedModel([]))
    (bench.mine / "plain.skill.md").write_text("---\nname: plain\ndescription: x\nmetadata:\n  level: chat\n---\nHello")
    (bench.mine / "text.skill.md").write_text(
        "---\nname: text\ndescription: x\nmetadata:\n  role: middleware\n  level: chat\n---\nHello"
    )
    fabric = bench.skills().fabric
    plain, text = fabric.find_tool("plain"), fabric.find_tool("text")
    assert plain is not None
    assert text is not None
    assert [(one.code, one.severity) for one in plain.problems] == [("level.useless", "warning")]
    assert [(one.code, text.state) for one in text.problems] == [("level.invalid", "broken")]


def test_what_stands_around_requests_never_stands_around_calls(tmp_path: Path) -> None:
    bench = Levelled(tmp_path, ScriptedModel([]))
    bench.write("watch", "'level': 'chat'")
    (bench.mine / "served.skill.py").write_text(
        "frontmatter = {'name': 'served', 'description': 'x', 'metadata': {'watch': True, 'retry': 2}}\n" + PLAIN
    )
    skills = bench.skills()
    served = skills.fabric.find_tool("served")
    assert served is not None
    assert [one.name for one in skills.cascades.of(served, {}).chain] == ["retry"]
    bench.choice = replace(bench.choice, switched_off=("retry",))
    assert skills.cascades.of(served, {}).chain == ()


# -- around requests --------------------------------------------------------------------------------------------------


FILTER: dict[str, Any] = {"switched_on": ("content-filter",)}


@pytest.mark.spec("R-MW-2")
async def test_a_skill_called_as_the_content_filter_does_not_take_its_place(tmp_path: Path) -> None:
    chosen = ContentFilterSettings(patterns=("titan",))
    bench = Levelled(tmp_path, ScriptedModel([says("the titan is on")]), **FILTER, content_filter=chosen)
    text = "---\nname: content-filter\ndescription: Nice.\n---\nBe nice.\n"
    (bench.mine / "content-filter.skill.md").write_text(text)
    async with bench.worlds() as w:
        assert (await w.ask(await w.thread(), "hello"))[-1].text == "the [removed] is on"
        assert row(w.skills.levels, "chat", "content-filter").state == "on"


async def test_ones_own_middleware_may_be_called_as_the_librarys_and_both_are_listed(tmp_path: Path) -> None:
    bench = Levelled(tmp_path, ScriptedModel([]), **FILTER)
    path = bench.write("content-filter", "'level': 'chat'")
    found = [one for one in bench.skills().levels.rows("chat") if one.title == "content-filter"]
    assert [(one.key, one.state) for one in found] == [("content-filter", "on"), (f"{path}#run", "off")]


@pytest.mark.spec("R-MW-2")
@pytest.mark.parametrize(
    ("lost", "why"), [("shadowed", "comes before it"), ("doubled", "problems"), ("gone", "gone"), ("plain", "no such")]
)
async def test_what_is_switched_on_and_cannot_be_found_ends_the_run_and_can_be_switched_off(
    tmp_path: Path, lost: str, why: str
) -> None:
    bench = Levelled(tmp_path, ScriptedModel([says("hello"), says("again")]))
    path = bench.write("watch", "'level': 'chat'")
    key = f"{path}#run"
    bench.choice = replace(bench.choice, switched_on=(key,))
    if lost == "shadowed":
        bench.programs.append(RegisterToolOptions("watch", lambda _ctx, _args: None, description="Nice."))
    elif lost == "doubled":
        (bench.mine / "a.skill.md").write_text("---\nname: watch\ndescription: Nice.\n---\nBe nice.\n")
    elif lost == "gone":
        path.unlink()
    else:
        path.write_text("frontmatter = {'name': 'watch', 'description': 'x'}\n" + PLAIN)
    async with bench.worlds() as w:
        await w.ask(await w.thread(), "hello")
        assert w.ends()[0].reason == "terminated"
        assert why in w.ends()[0].detail
        found = next(one for level in ("agent", "chat") for one in w.skills.levels.rows(level) if one.key == key)
        assert (found.title, found.state) == ("watch", "on")
        assert why in found.problem
        on, off = switched(bench.choice, found.key, on=False)
        bench.choice = replace(bench.choice, switched_on=on, switched_off=off)
        assert (await w.ask(await w.thread(), "again"))[-1].text == "hello"


async def test_middleware_of_a_project_that_is_closed_has_no_part_elsewhere(tmp_path: Path) -> None:
    elsewhere = (str(tmp_path / "project" / "watch.skill.py") + "#run",)
    bench = Levelled(tmp_path, ScriptedModel([says("hello")]), switched_on=elsewhere)
    async with bench.worlds() as w:
        assert (await w.ask(await w.thread(), "hello"))[-1].text == "hello"


async def test_an_expression_that_takes_for_ever_ends_the_answer_and_nothing_else(tmp_path: Path) -> None:
    chosen = ContentFilterSettings(patterns=("(a|aa)+$",))
    script = ScriptedModel([says("a" * 80 + "b" + "c" * 5)])
    async with Levelled(tmp_path, script, **FILTER, content_filter=chosen).worlds() as w:
        await w.ask(await w.thread(), "hello")
        assert w.ends()[0].reason == "terminated"
        assert "takes too long" in w.ends()[0].detail
        assert streamed(w) == ""


CACHE: dict[str, Any] = {"switched_on": ("response-cache",)}


async def test_the_same_request_is_answered_from_memory_at_no_cost_and_says_so(tmp_path: Path) -> None:
    model = ScriptedModel([says("the answer"), says("another")])
    bench = Levelled(tmp_path, model, **CACHE)
    async with bench.worlds() as w:
        await w.ask(await w.thread(), "hello")
        path = await w.ask(await w.thread(), "hello")
        assert (path[-1].text, notices(path)) == ("the answer", ["answer.cached"])
        assert path[-1].usage is not None
        assert (path[-1].usage.cost_usd, path[-1].usage.input_tokens) == (0.0, 0)
        other = await w.ask(await w.thread(model="test/other"), "hello")
        assert (other[-1].text, notices(other)) == ("another", [])
        assert len(model.requests) == 2


async def test_nothing_is_answered_from_another_account_nor_where_none_is_known(tmp_path: Path) -> None:
    model = ScriptedModel([says(str(number)) for number in range(4)])
    bench = Levelled(tmp_path, model, **CACHE)
    async with bench.worlds() as w:
        said = []
        for account in ("one", "two", None, None):
            bench.account = account
            said.append((await w.ask(await w.thread(), "hello"))[-1].text)
        assert said == ["0", "1", "2", "3"]


async def test_a_failed_answer_is_not_kept(tmp_path: Path) -> None:
    model = ScriptedModel([says("half", finish="length"), says("whole")])
    async with Levelled(tmp_path, model, **CACHE).worlds() as w:
        await w.ask(await w.thread(), "hello")
        assert (await w.ask(await w.thread(), "hello"))[-1].text == "whole"


# -- around agents ----------------------------------------------------------------------------------------------------


async def test_the_rate_limit_holds_no_person_whatever_its_number(tmp_path: Path) -> None:
    model = ScriptedModel([says("first"), says("second")])
    async with Levelled(tmp_path, model, rate_limit=RateLimit(per_minute=1)).worlds() as w:
        for _ in range(2):
            await w.ask(await w.thread(), "hello")
        assert [end.reason for end in w.ends()] == ["response"] * 2
        assert not [event for event in w.events if isinstance(event, RunWaiting)]


async def test_the_log_says_when_an_agent_begins_and_ends_without_secrets(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    code = "def run(ctx, args):\n    ctx.manager.fail('the password is hunter2')\n"
    bench = Levelled(tmp_path, ScriptedModel([says("hello")]))
    path = bench.write("stops", "'level': 'chat'", code)
    bench.choice = replace(bench.choice, switched_on=())
    async with bench.worlds() as w:
        await w.ask(await w.thread(), "hello")
        lines = [record.message for record in caplog.records if record.message.startswith("run ")]
        assert any("assistant begins in thread" in line for line in lines)
        assert any("ended after" in line and "response" in line for line in lines)
    assert path.exists()


# -- of one's own, called through every gate ---------------------------------------------------------------------------


def registered(bench: Levelled, name: str, level: str, code: Any) -> None:
    """Middleware of one's own, switched on."""
    bench.programs.append(
        RegisterToolOptions(name, code, description=name, category="read", role="middleware", metadata={"level": level})
    )
    bench.choice = replace(bench.choice, switched_on=(*bench.choice.switched_on, name))


async def test_middleware_of_ones_own_sees_the_request_and_makes_another_text_of_the_answer(tmp_path: Path) -> None:
    seen: list[Any] = []

    async def shouts(ctx: Any, args: Any) -> Any:
        answer = await ctx.manager.next()
        seen.extend([dict(ctx.envelope.target.args), answer])
        return answer["text"].upper()

    bench = Levelled(tmp_path, ScriptedModel([says("hello")]))
    registered(bench, "shouts", "chat", shouts)
    async with bench.worlds() as w:
        path = await w.ask(await w.thread(), "good day")
        assert path[-1].text == "HELLO"
        assert seen[0]["messages"][-1] == {"role": "user", "text": "good day", "calls": []}
        assert (seen[0]["model"], seen[1]["text"], seen[1]["stopReason"]) == ("test/scripted", "hello", "end")


async def test_middleware_of_ones_own_answers_in_the_place_of_the_model_and_of_the_agent(tmp_path: Path) -> None:
    async def closed(ctx: Any, args: Any) -> Any:
        return "We are closed."

    for level in ("chat", "agent"):
        model = ScriptedModel([says("never")])
        bench = Levelled(tmp_path / level, model)
        registered(bench, "closed", level, closed)
        async with bench.worlds() as w:
            path = await w.ask(await w.thread(), "hello")
            assert (path[-1].text, w.ends()[0].reason, model.requests) == ("We are closed.", "response", [])


async def test_middleware_that_fails_or_cannot_work_ends_the_run_before_anything_is_asked(tmp_path: Path) -> None:
    async def fails(ctx: Any, args: Any) -> Any:
        ctx.manager.fail("not on Sundays")

    model = ScriptedModel([says("never")])
    bench = Levelled(tmp_path / "fails", model)
    registered(bench, "fails", "chat", fails)
    async with bench.worlds() as w:
        await w.ask(await w.thread(), "hello")
        assert (w.ends()[0].reason, model.requests) == ("terminated", [])
        assert "not on Sundays" in w.ends()[0].detail
    broken = Levelled(tmp_path / "broken", model)
    path = broken.write("broken", "'level': 'agent', 'params': 3")
    broken.choice = replace(broken.choice, switched_on=(f"{path}#run",))
    async with broken.worlds() as w:
        await w.ask(await w.thread(), "hello")
        assert (w.ends()[0].reason, model.requests) == ("terminated", [])
        assert "cannot work: it has problems" in w.ends()[0].detail


@pytest.mark.spec("R-MW-6")
async def test_around_an_agent_it_sees_how_the_run_ended_also_when_it_was_stopped(tmp_path: Path) -> None:
    seen: list[Any] = []

    async def watches(ctx: Any, args: Any) -> Any:
        seen.append((ctx.envelope.target.args["agent"], await ctx.manager.next()))

    bench = Levelled(tmp_path, ScriptedModel([says("hello"), [{"text": "one"}, {"wait": 60}]]))
    registered(bench, "watches", "agent", watches)
    async with bench.worlds() as w:
        thread = await w.thread()
        await w.ask(thread, "hello")
        await w.service.send(thread, "more")
        await w.until(TextArrived, 2)
        await w.service.stop(thread)
        path = await w.settled(thread)
        assert [end.reason for end in w.ends()] == ["response", "cancelled"]
        assert path[-1].text == "one"
    assert seen[0] == ("assistant", {"ended": "response", "detail": ""})


async def test_what_a_person_has_not_seen_stands_around_nothing(tmp_path: Path) -> None:
    """A changed file of a pinned folder, as with other skills; what it was to keep out does not go on without it."""
    model = ScriptedModel([says("never")])
    bench = Levelled(tmp_path, model)
    path = bench.write("guards", "'level': 'chat'")
    bench.choice = replace(bench.choice, switched_on=(f"{path}#run",))
    bench.pinned = True
    async with bench.worlds() as w:
        assert row(w.skills.levels, "chat", "guards").problem == ""
        bench.write("guards", "'level': 'chat'", "def run(ctx, args):\n    return 'anything'\n")
        w.skills.fabric.invalidate_file(str(path))
        assert "changed since it was looked at" in row(w.skills.levels, "chat", "guards").problem
        await w.ask(await w.thread(), "hello")
        assert (w.ends()[0].reason, model.requests) == ("terminated", [])


async def test_a_middleware_that_is_switched_off_is_not_added_to_a_call_in_silence(tmp_path: Path) -> None:
    async def asks(ctx: Any, args: Any) -> Any:
        return await ctx.manager.invoke("look", {}, {"frontmatter": {"retry": 2}})

    async def look(ctx: Any, args: Any) -> Any:
        return "seen"

    bench = Levelled(tmp_path, ScriptedModel([calls("skill_invoke", {"ref": "asks"}), says("x")] * 2))
    bench.programs += [
        RegisterToolOptions(name, code, description=name, category="read", params={"type": "object"})
        for name, code in (("asks", asks), ("look", look))
    ]
    async with bench.worlds() as w:
        thread = await w.thread()
        for off, said in (((), "seen"), (("retry",), "retry is switched off in Settings, Middleware.")):
            bench.choice = replace(bench.choice, switched_off=off)
            path = await w.ask(thread, "go")
            assert said in next(message for message in reversed(path) if message.role == "tool").blocks[0].text


async def test_a_file_of_ones_own_works_in_its_process_around_each_request(tmp_path: Path) -> None:
    """The real sandbox, the real pipe."""
    place = BoundaryWorld(tmp_path)
    confinement = SystemConfinement(place.policy, lambda: place.settings)
    if confinement.probe().kind == "none":
        pytest.skip("nothing can confine a process here")
    bench = Levelled(tmp_path / "app", ScriptedModel([says("hello")]))
    code = (
        "async def run(ctx, args):\n"
        "    asked = ctx.envelope.target.args['messages'][-1]['text']\n"
        "    answer = await ctx.manager.next()\n"
        "    return {'text': f\"{answer['text']} to {asked}\"}\n"
    )
    path = bench.write("echo", "'level': 'chat'", code)
    bench.choice = replace(bench.choice, switched_on=(f"{path}#run",))
    bench.python = PythonWorker(confinement, lambda: place.settings.workspace, lambda one: Path(one.path).read_text())
    async with bench.worlds() as w:
        path_shown = await w.ask(await w.thread(), "the world")
        assert (w.ends()[0].reason, w.ends()[0].detail) == ("response", "")
        assert path_shown[-1].text == "hello to the world"
    confinement.close()


async def test_what_a_refused_answer_used_is_counted(tmp_path: Path) -> None:
    chosen = ContentFilterSettings(patterns=("titan",), action="refuse")
    used = {"usage": {"input": 10, "output": 5, "cost": 0.5}}
    script = ScriptedModel([[{"text": "this is titan"}, used, {"finish": "end"}]])
    async with Levelled(tmp_path, script, **FILTER, content_filter=chosen).worlds() as w:
        path = await w.ask(await w.thread(), "hello")
        assert (w.ends()[0].reason, w.ends()[0].usage.cost_usd) == ("terminated", 0.5)
        assert path[-1].text == streamed(w) == "this is "


async def test_stop_ends_middleware_that_does_not_come_to_an_end(tmp_path: Path) -> None:
    began = asyncio.Event()

    async def lingers(ctx: Any, args: Any) -> None:
        await ctx.manager.next()
        began.set()
        await asyncio.Event().wait()

    bench = Levelled(tmp_path, ScriptedModel([says("hello")]))
    registered(bench, "lingers", "chat", lingers)
    async with bench.worlds() as w:
        thread = await w.thread()
        await w.service.send(thread, "hello")
        async with asyncio.timeout(WAIT_S):
            await began.wait()
            await w.service.stop(thread)
            await w.settled(thread)
        assert w.ends()[0].reason == "cancelled"

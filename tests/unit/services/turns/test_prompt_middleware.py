"""The middleware keys of a prompt stand around the turn of its agent, however that is started."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.definitions import AgentDefinition, SideDefinition
from desktop.domain.jobs import JobPolicy
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.domain.tools import ToolResult
from desktop.models.scripted import ScriptedModel, calls, fails, says
from desktop.services.definitions.book import AgentBook
from desktop.services.turns.unattended import terms_of
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.patterns.paths import Where
from desktop.skills.resolution.programmatic import RegisterToolOptions
from tests.harness.timeouts import WAIT_S
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.services.debates.kit import FREE, DebateWorld, setup
from tests.unit.services.delegation.test_tools import BOSS, HELPER, house, one
from tests.unit.services.kit import ROOT, World, agent, world
from tests.unit.services.turns.test_chat_topics import register
from tests.unit.services.turns.test_own_provider import said

HEAD = "---\nname: helper\ndescription: x\nallowed-tools: {tools}\nmetadata:\n{keys}\n---\n{body}\n"
WATCH = "watch"


def prompt(folder: Path, keys: str, body: str = "Help.", tools: str = "look slow other") -> tuple[SearchRoot, ...]:
    """A person's folder with the prompt ``helper``, beside the library."""
    folder.mkdir(exist_ok=True)
    lines = "\n".join(f"  {line}" for line in keys.splitlines())
    (folder / "helper.skill.md").write_text(HEAD.format(tools=tools, keys=lines, body=body))
    return SearchRoot(str(folder), "mine"), SearchRoot(str(ROOT / "skills"), "library")


@asynccontextmanager
async def chat(
    tmp_path: Path, model: ScriptedModel, keys: str, *tools: FakeTool, body: str = "Help.", **options: Any
) -> AsyncIterator[World]:
    roots = prompt(tmp_path / "mine", keys, body)
    found = tools or (FakeTool("look", body=lambda *_: "seen"),)
    options = {"agents": agent(prompt="helper"), "supervised": True, **options}
    async with world(tmp_path, model, *found, roots=roots, **options) as w:
        yield w


def watched(w: World, fn: Any = None) -> list[Any]:
    """A middleware of the name ``watch``; what it hears."""
    heard: list[Any] = []

    async def run(ctx: Any, args: Any) -> Any:
        target = ctx.envelope.target
        heard.append(("before", target.run.tool.name, dict(target.args)))
        value = await ctx.manager.next() if fn is None else await fn(ctx)
        heard.append(("after", value))
        return value

    w.skills.fabric.register_tool(RegisterToolOptions(WATCH, run, WATCH, role="middleware", category="read"))
    return heard


STARTS = ["chat", "job", "called agent", "side of a debate"]


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.spec("D-10")
async def test_a_key_stands_once_around_all_rounds_of_a_turn_however_it_is_started(tmp_path: Path, start: str) -> None:
    answers = [calls("look", {"path": "a"}), says("It is seen.")]
    model = ScriptedModel(answers)
    look = FakeTool("look", body=lambda *_: "seen")
    message = "go"
    if start == "called agent":
        model = ScriptedModel([calls(HELPER, {"message": "go"}), *answers, says("Boss done.")])
        boss, helper = one(BOSS, "boss"), one(HELPER, "helper")
        found = {"boss": "", "helper": "allowed-tools: look\nmetadata:\n  watch: true"}
        async with house(tmp_path, model, boss, helper, tools=(look,), skills=found) as h:
            heard = watched(h.world)
            await h.ask()
    elif start == "side of a debate":
        made = DebateWorld(tmp_path, model, (look,), {}, "look")
        (made.prompts / "pro.skill.md").write_text(
            HEAD.format(tools="look", keys="  watch: true", body="x").replace("helper", "pro")
        )
        await made.store.open()
        heard = watched(made)
        await made.run(setup(max_turns=1))
        await made.service.close()
        await made.store.close()
        message = heard[0][2]["message"]
        assert "Tea or coffee?" in str(model.requests[0])
    else:
        async with chat(tmp_path, model, "watch: true", look) as w:
            heard, thread = watched(w), await w.thread()
            if start == "job":
                listed = terms_of(JobPolicy(allowed_tools=("look",)), ExecutionBudget(), lambda: False, Where())
                await w.service.run_job(thread, "go", listed)
                await w.settled(thread)
            else:
                await w.ask(thread, "go")
    name = "pro" if start == "side of a debate" else "helper"
    assert heard == [("before", name, {"message": message}), ("after", "It is seen.")]


@pytest.mark.spec("D-10", "R-TRC-2")
async def test_a_prompt_reads_what_its_session_has_kept_of_the_turns_before(tmp_path: Path) -> None:
    model = ScriptedModel([calls("look", {"path": "a"}), says("One."), says("Two.")])
    body = "Before: :context[session]."
    async with chat(tmp_path, model, "session: notes", body=body) as w:
        await w.ask(await w.thread(), "first")
        await w.ask(await w.thread(), "second")
        assert "One." not in model.requests[0].system
        assert "One." in model.requests[2].system
        assert "first" in model.requests[2].system
        assert '"tool-call"' in model.requests[2].system, "the trace of the agent is kept, too"


@pytest.mark.spec("D-10")
async def test_a_turn_that_is_tried_again_goes_on_where_it_failed_and_does_nothing_twice(tmp_path: Path) -> None:
    down = fails("model.unreachable", "down")
    model = ScriptedModel([calls("look", {"path": "a"}), down, down, says("Seen after all.")])
    look = FakeTool("look", Category.READ, body=lambda *_: "seen")
    async with chat(tmp_path, model, "retry: {attempts: 3, delay: 0}", look) as w:
        records = await w.ask(await w.thread(), "go")
        assert [end.reason for end in w.ends()] == ["response"]
        assert len(look.calls) == 1
        assert said(records)[-1] == "assistant: Seen after all."
        assert [message.role for message in model.requests[3].messages] == ["user", "assistant", "tool"]


@pytest.mark.spec("D-10")
async def test_a_turn_that_fails_each_time_ends_as_it_would_by_itself(tmp_path: Path) -> None:
    down = fails("model.unreachable", "The network is down.")
    async with chat(tmp_path, ScriptedModel([down, down]), "retry: {attempts: 2, delay: 0}") as w:
        await w.ask(await w.thread(), "go")
        (end,) = w.ends()
        assert (end.reason, end.code) == ("error", "model.unreachable")
        assert "The network is down." in end.detail


@pytest.mark.spec("D-10")
async def test_a_time_limit_of_the_prompt_ends_the_turn_and_what_was_said_stays(tmp_path: Path) -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def hangs(*_: Any) -> str:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    model = ScriptedModel([calls("slow", {"path": "a"}, text="I look."), says("never asked")])
    async with chat(tmp_path, model, "timeout: 0.2", FakeTool("slow", body=hangs)) as w:
        thread = await w.thread()
        records = await w.ask(thread, "go")
        (end,) = w.ends()
        assert (end.reason, end.code) == ("error", "tool.timeout")
        assert "helper was stopped after 0.2 s (metadata.timeout)" in end.detail
        assert began.is_set()
        assert ended.is_set()
        assert "assistant: I look." in said(records)
        assert len(model.requests) == 1
        assert w.service.running() == ()


@pytest.mark.spec("D-10", "R-AG-5")
async def test_a_cache_answers_the_same_conversation_and_no_other_one(tmp_path: Path) -> None:
    model = ScriptedModel([says("One."), says("Two."), says("Three.")])
    async with chat(tmp_path, model, "cache: 60") as w:
        first, second = await w.thread(), await w.thread()
        await w.ask(first, "What is it?")
        records = await w.ask(second, "What is it?")
        assert said(records) == ["user: What is it?", "assistant: One."]
        assert len(model.requests) == 1
        await w.ask(first, "What is it?")
        assert len(model.requests) == 2, "the same words after others are another question"


@pytest.mark.spec("D-10", "R-INV-4")
async def test_what_a_layer_gives_in_the_place_of_a_turn_is_the_answer_in_the_thread(tmp_path: Path) -> None:
    async def instead(_ctx: Any) -> str:
        return "Closed today."

    model = ScriptedModel([])
    async with chat(tmp_path, model, "watch: true") as w:
        watched(w, instead)
        records = await w.ask(await w.thread(), "go")
        assert said(records) == ["user: go", "assistant: Closed today."]
        assert [end.reason for end in w.ends()] == ["response"]
        assert model.requests == []


@pytest.mark.spec("D-10", "R-INV-4")
async def test_what_a_layer_makes_of_an_answer_is_what_the_caller_gets(tmp_path: Path) -> None:
    async def louder(ctx: Any) -> str:
        return str(await ctx.manager.next()).upper()

    model = ScriptedModel([calls(HELPER, {"message": "go"}), says("quiet"), says("Boss done.")])
    boss, helper = one(BOSS, "boss"), one(HELPER, "helper")
    found = {"boss": "", "helper": "metadata:\n  watch: true"}
    async with house(tmp_path, model, boss, helper, skills=found) as h:
        watched(h.world, louder)
        _, (result,) = await h.ask()
        assert result.text == "QUIET"


@pytest.mark.spec("D-10")
async def test_a_layer_that_fails_ends_the_run_with_its_reason(tmp_path: Path) -> None:
    model = ScriptedModel([says("never asked")])
    async with chat(tmp_path, model, "session: {store: nowhere}") as w:
        await w.ask(await w.thread(), "go")
        (end,) = w.ends()
        assert end.reason == "error"
        assert "metadata.session.store" in end.detail
        assert model.requests == []


@pytest.mark.parametrize("listed", ["other", "other($deny)"])
@pytest.mark.spec("D-10", "R-AG-5")
async def test_what_a_prompt_is_delegated_to_gets_no_more_than_its_agent_may_call(tmp_path: Path, listed: str) -> None:
    other = FakeTool("other", params=FREE, body=lambda *_: "done elsewhere")
    terms = terms_of(JobPolicy(allowed_tools=(listed,)), ExecutionBudget(), lambda: False, Where())
    async with chat(tmp_path, ScriptedModel([]), "delegate: other", other) as w:
        thread = await w.thread()
        await w.service.run_job(thread, "go", terms)
        records = await w.settled(thread)
        may = listed == "other"
        assert [end.reason for end in w.ends()] == ["response" if may else "error"]
        assert (said(records)[-1] == "assistant: done elsewhere") is may
        assert len(other.calls) == may


@pytest.mark.spec("D-10", "R-CAN-10")
async def test_a_stop_ends_a_turn_within_its_layers(tmp_path: Path) -> None:
    began = asyncio.Event()

    async def hangs(*_: Any) -> str:
        began.set()
        await asyncio.Event().wait()
        return ""

    model = ScriptedModel([calls("slow", {"path": "a"}), says("never asked")])
    async with chat(tmp_path, model, "watch: true\nretry: 3", FakeTool("slow", body=hangs)) as w:
        heard, thread = watched(w), await w.thread()
        await w.service.send(thread, "go")
        async with asyncio.timeout(WAIT_S):
            await began.wait()
        await w.service.stop(thread)
        await w.settled(thread)
        assert [end.reason for end in w.ends()] == ["cancelled"]
        assert [one[0] for one in heard] == ["before"]
        assert len(model.requests) == 1


@pytest.mark.parametrize("called", [False, True])
@pytest.mark.spec("D-10", "R-PER-1")
async def test_no_time_limit_of_its_layers_ends_a_persistent_agent(tmp_path: Path, called: bool) -> None:
    counted: list[bool] = []
    around: list[Any] = []

    async def works(*_: Any) -> str:
        counted.extend(clock.counts for clock in around[0].more_clocks)
        await w.service.stop(thread)
        return "seen"

    async def looks(ctx: Any) -> Any:
        around.append(ctx.envelope.target.call.invocation)
        counted.extend(clock.counts for clock in around[0].more_clocks)
        return await ctx.manager.next()

    roots = prompt(tmp_path / "mine", "watch: true\nmodel: {persistent: true}")
    definition = SideDefinition("", prompt_text="Call it.", allowed_tools="helper look")
    top = AgentBook({"assistant": AgentDefinition("assistant", definition)})
    model = ScriptedModel([*([calls("helper", {})] if called else []), calls("look", {"path": "a"})])
    async with world(
        tmp_path,
        model,
        FakeTool("look", body=works),
        roots=roots,
        supervised=True,
        agents=top if called else agent(prompt="helper"),
    ) as w:
        watched(w, looks)
        thread = await w.thread()
        await w.ask(thread, "go")
    before, *within = counted
    assert before
    assert within
    assert not any(within)


@pytest.mark.spec("D-10", "R-JRN-2")
async def test_an_answer_that_was_cut_off_goes_on_within_its_layers(tmp_path: Path) -> None:
    began, keys = asyncio.Event(), "watch: true\nsession: notes"

    async def hangs(*_: Any) -> str:
        began.set()
        await asyncio.Event().wait()
        return ""

    async with chat(tmp_path, ScriptedModel([calls("slow", {"path": "a"})]), keys, FakeTool("slow", body=hangs)) as w:
        first, thread = watched(w), await w.thread()
        await w.service.send(thread, "go")
        async with asyncio.timeout(WAIT_S):
            await began.wait()
        await w.service.close()
        assert [end.reason for end in w.ends()] == ["interrupted"]
    model, slow = ScriptedModel([says("Done.")]), FakeTool("slow", body=lambda *_: "seen")
    async with chat(tmp_path, model, keys, slow) as w:
        heard = watched(w)
        await w.service.continue_answer(thread)
        records = await w.settled(thread)
        assert said(records) == ["user: go", "calls slow", "result seen", "assistant: Done."]
        assert [end.reason for end in w.ends()] == ["response"]
        assert len(slow.calls) == 1
        assert [one[0] for one in (*first, *heard)] == ["before", "before", "after"]


@pytest.mark.parametrize("text", ["", "Part one."])
@pytest.mark.spec("D-10", "R-LIM-5")
async def test_a_layer_that_changes_the_text_does_not_hide_that_a_limit_ended_the_turn(
    tmp_path: Path, text: str
) -> None:
    async def louder(ctx: Any) -> str:
        return f"{await ctx.manager.next() or 'nothing'}!".upper()

    model = ScriptedModel([calls("look", {"path": "a"}, text=text), says("never asked")])
    async with chat(tmp_path, model, "model: {maxTurns: 1}\nwatch: true") as w:
        watched(w, louder)
        records = await w.ask(await w.thread(), "go")
        (end,) = w.ends()
        assert end.code == "limit.rounds"
        assert "maxTurns" in end.detail
        assert said(records)[-1].endswith(f"assistant: {(text or 'nothing').upper()}!")


@pytest.mark.spec("D-10", "R-TMO-4")
async def test_a_layer_that_hangs_by_itself_ends_at_its_own_limit_which_the_turn_does_not_use_up(
    tmp_path: Path,
) -> None:
    async def hangs(_args: Any, context: Any) -> ToolResult:
        served = context.scope.request.serves
        await served.advance()
        heard.append("the turn is over")
        await asyncio.Event().wait()
        return ToolResult("")

    async def takes_longer(*_: Any) -> str:
        await asyncio.sleep(0.6)
        return "seen"

    heard: list[str] = []
    model = ScriptedModel([calls("look", {"path": "a"}), says("Done.")])
    async with chat(tmp_path, model, "watch: true", FakeTool("look", body=takes_longer)) as w:
        layer = FakeTool(WATCH, params=FREE, body=hangs, timeout_s=0.3)
        w.skills.fabric.register_tool(RegisterToolOptions(WATCH, description=WATCH, role="middleware", tool=layer))
        await w.ask(await w.thread(), "go")
        (end,) = w.ends()
        assert (end.reason, end.code) == ("error", "tool.timeout")
        assert "0.3 s (set by watch)" in end.detail
        assert heard == ["the turn is over"]


@pytest.mark.spec("D-10", "R-PRM-10")
async def test_time_in_which_a_person_is_asked_inside_a_turn_costs_its_layers_none(tmp_path: Path) -> None:
    counted: list[bool] = []
    around: list[Any] = []

    class Watching(Person):
        async def decide(self, call: Any, asking: Any) -> Any:
            decision = await super().decide(call, asking)
            if call.tool == "look":
                counted.extend(clock.counts for clock in around[0].more_clocks)
            return decision

    async def looks(ctx: Any) -> Any:
        around.append(ctx.envelope.target.call.invocation)
        return await ctx.manager.next()

    look = FakeTool("look", Category.WRITE, body=lambda *_: "written")
    model = ScriptedModel([calls("look", {"path": "a"}), says("Done.")])
    async with chat(tmp_path, model, "timeout: 30\nwatch: true", look, person=Watching("allow_once")) as w:
        watched(w, looks)
        await w.ask(await w.thread(), "go")
        assert [end.reason for end in w.ends()] == ["response"]
    assert counted
    assert not any(counted)


@pytest.mark.spec("D-10", "R-INV-7")
async def test_nonlocals_that_a_layer_sets_go_down_into_the_calls_of_the_turn(tmp_path: Path) -> None:
    seen: list[Any] = []

    async def marks(ctx: Any) -> Any:
        ctx.envelope.target.nonlocals["mark"] = "M"
        return await ctx.manager.next()

    async def probe(ctx: Any, _args: Any) -> str:
        seen.append(ctx.nonlocals.get("mark"))
        return "p"

    roots = prompt(tmp_path / "mine", "watch: true", tools="probe")
    model = ScriptedModel([calls("probe", {}), says("Done.")])
    async with world(tmp_path, model, roots=roots, supervised=True, agents=agent(prompt="helper")) as w:
        watched(w, marks)
        register(w, "probe", probe)
        await w.ask(await w.thread(), "go")
    assert seen == ["M"]


class CutOff:
    """A chat whose process ends in the middle of a turn, and is gone on with in the next: a layer writes first."""

    def __init__(self, tmp_path: Path, keys: str = "watch: true") -> None:
        self.path, self.keys, self.thread = tmp_path, keys, ""
        self.person = Person(*["allow_once"] * 9)
        self.written: list[dict[str, Any]] = []

    @asynccontextmanager
    async def life(self, *answers: Any, look: Any = None, write: Any = None, layer: Any = None) -> AsyncIterator[World]:
        async def writes(args: Any, _context: Any) -> str:
            self.written.append(dict(args))
            if write is not None:
                await write()
            return "written"

        async def mid(ctx: Any) -> Any:
            await ctx.manager.invoke("other", {"path": "diary"})
            return await ctx.manager.next()

        other = FakeTool("other", Category.WRITE, body=writes)
        slow = FakeTool("slow", Category.WRITE, body=look or (lambda *_: "seen"))
        async with chat(self.path, ScriptedModel(list(answers)), self.keys, other, slow, person=self.person) as w:
            watched(w, layer or mid)
            self.thread = self.thread or await w.thread()
            yield w

    async def cut(self, w: World, begun: asyncio.Event, *, first: bool = False) -> None:
        """Start or go on, and close the app once the work has begun."""
        await (w.service.send(self.thread, "go") if first else w.service.continue_answer(self.thread))
        async with asyncio.timeout(WAIT_S):
            await begun.wait()
        await w.service.close()


def endless() -> tuple[asyncio.Event, Any]:
    begun = asyncio.Event()

    async def hangs(*_: Any) -> str:
        begun.set()
        await asyncio.Event().wait()
        return ""

    return begun, hangs


@pytest.mark.spec("D-10", "R-JRN-2")
async def test_what_a_layer_had_written_is_not_written_again_however_often_a_turn_goes_on(tmp_path: Path) -> None:
    cut = CutOff(tmp_path)
    for number in range(3):
        begun, hangs = endless()
        settled = [calls("slow", {"path": str(number)})]
        async with cut.life(*settled, look=_after(number, hangs)) as w:
            await cut.cut(w, begun, first=number == 0)
    async with cut.life(says("Done."), calls("slow", {"path": "x"}), says("Again.")) as w:
        await w.service.continue_answer(cut.thread)
        assert said(await w.settled(cut.thread))[-1] == "assistant: Done."
        assert cut.written == [{"path": "diary"}]
        await w.ask(cut.thread, "once more")
        assert len(cut.written) == 2, "the layers of another turn write for themselves"


def _after(number: int, hangs: Any) -> Any:
    """Work that is gone on with in this life first, and then hangs."""
    left = [None] * (1 if number else 0)

    async def works(*args: Any) -> str:
        if left:
            left.pop()
            return "seen"
        return str(await hangs(*args))

    return works


@pytest.mark.spec("D-10", "R-JRN-2")
async def test_a_write_of_a_layer_that_may_have_been_done_is_asked_about(tmp_path: Path) -> None:
    cut, (begun, hangs), (again, hangs_again) = CutOff(tmp_path), endless(), endless()
    async with cut.life(calls("slow", {"path": "a"}), look=hangs) as w:
        await cut.cut(w, begun, first=True)

    async def late(ctx: Any) -> Any:
        await ctx.manager.invoke("other", {"path": "late"})
        return await ctx.manager.next()

    async with cut.life(write=hangs_again, layer=late) as w:
        await cut.cut(w, again)
    cut.person.asked.clear()
    async with cut.life(says("Done."), layer=late) as w:
        await w.service.continue_answer(cut.thread)
        await w.settled(cut.thread)
        assert [bool(one.unknown) for one in cut.person.asked if one.tool == "other"] == [True]


@pytest.mark.spec("D-10", "R-JRN-2", "R-INV-4")
async def test_a_layer_that_answers_in_place_of_a_turn_leaves_no_call_of_it_open(tmp_path: Path) -> None:
    async def instead(_ctx: Any) -> str:
        return "Closed today."

    cut, (begun, hangs) = CutOff(tmp_path), endless()
    async with cut.life(calls("slow", {"path": "a"}), look=hangs) as w:
        await cut.cut(w, begun, first=True)
    async with cut.life(layer=instead) as w:
        await w.service.continue_answer(cut.thread)
        records = await w.settled(cut.thread)
        assert said(records) == ["user: go", "calls slow", "result seen", "assistant: Closed today."]
        assert [one.tool for one in cut.person.asked if one.unknown] == ["slow"]

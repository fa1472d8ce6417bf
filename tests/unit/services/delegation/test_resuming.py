"""What works inside a call goes on where it stood when the process ended: agents with a thread of their own, agents of
skills in words, code. Nothing that was done is done again; each write that may have been is asked about by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.ids import new_id
from desktop.domain.messages import ToolCallBlock, ToolResultBlock
from desktop.domain.runs.events import RunEnded
from desktop.domain.tools import ToolCallContext
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.pipeline.context import CallRequest
from desktop.recovery.resume import conclude_settled
from desktop.recovery.words import ANOTHER_WAY, MADE_BEFORE, NOBODY_KNOWS, SAID_DONE
from desktop.services.debates.calls import CalledDebates
from desktop.services.delegation.calls import AgentCalls
from desktop.services.delegation.retention import CLOSING, forget_children
from desktop.services.delegation.tools import AgentTools
from desktop.tools.registry import ToolRegistry
from tests.harness.store import copy_database
from tests.harness.timeouts import until
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.services.debates.kit import DebateWorld, debate_world, prompt
from tests.unit.services.debates.test_calls import options
from tests.unit.services.delegation.test_tools import BOSS, HELPER, OTHER, House, house, one
from tests.unit.services.kit import MODEL

AGENTS = (one(BOSS, "boss", exposed=False), one(HELPER, "helper"))
SKILLS = {"boss": "", "helper": "", "noting": 'allowed-tools: "*"'}
ASKS_HELPER = calls("helper_agent", {"message": "Write both."})
ASKS_NOTING = calls("skill_invoke", {"ref": "noting"})


class Pen:
    """Writes down what it is to write; at ``stuck`` it does not come back, having written or not."""

    def __init__(self, stuck: str = "", *, written: bool = False) -> None:
        self.stuck, self._written = stuck, written
        self.paper: list[str] = []
        self.tool = FakeTool("write-file", Category.WRITE, body=self._write)

    async def _write(self, args: dict[str, Any], _context: ToolCallContext) -> str:
        word = args["path"]
        if word != self.stuck or self._written:
            self.paper.append(word)
        if word == self.stuck:
            await asyncio.sleep(60)
        return f"wrote {word}"

    def reached(self) -> bool:
        return any(one["path"] == self.stuck for one in self.tool.calls)


def write(word: str) -> list[Any]:
    return calls("write_file", {"path": word})


class EffectRequest(Person):
    """Allows what is ordinary; ``answer`` to what may have been done."""

    def __init__(self, answer: str = "allow_once") -> None:
        super().__init__()
        self.unknown: list[PermissionRequest] = []
        self._answer = answer
        self.answers = [self._say] * 50

    def _say(self, request: PermissionRequest) -> Decision:
        if request.unknown:
            self.unknown.append(request)
        choice: Any = self._answer if request.unknown else "allow_once"
        return Decision(choice, request.digest)

    @property
    def words(self) -> list[str]:
        return [str(request.arguments.get("path")) for request in self.unknown]


async def begin(h: House, pen: Pen) -> str:
    """A chat that comes to where the pen is stuck; the app is closed there."""
    thread = await h.world.thread(agent=BOSS)
    await h.world.service.send(thread, "Please.")
    await until(pen.reached)
    return thread


async def go_on(h: House, thread: str) -> list[str]:
    """Continue; what the calls of the chat gave."""
    await h.world.service.continue_answer(thread)
    path = await h.world.settled(thread)
    return [block.text for m in path for block in m.blocks if isinstance(block, ToolResultBlock)]


@pytest.mark.spec("R-JRN-2", "R-AAT-2", "R-AAT-3")
@pytest.mark.parametrize("kept", ["none", "run", "closing", "permanent"])
async def test_a_called_agent_goes_on_in_its_thread_and_its_caller_gets_its_answer(tmp_path: Path, kept: str) -> None:
    first, model = Pen("h2"), ScriptedModel([ASKS_HELPER, write("h1"), write("h2")])
    async with house(tmp_path, model, *AGENTS, tools=(first.tool,), skills=SKILLS, kept=kept) as h:
        thread = await begin(h, first)
    pen, person = Pen(), EffectRequest("allow_once")
    model = ScriptedModel([says("helped"), says("done")])
    async with house(tmp_path, model, *AGENTS, tools=(pen.tool,), skills=SKILLS, kept=kept, person=person) as h:
        store = h.world.store
        assert await conclude_settled(store) == await store.effects.unfinished() != []
        await forget_children(h.world.runtime)
        assert await go_on(h, thread) == ["helped"]
        assert (first.paper, pen.paper, person.words) == (["h1"], ["h2"], ["h2"])
        assert NOBODY_KNOWS in person.unknown[0].unknown
        assert [m.text for m in model.requests[0].messages][:1] == ["Write both."]
        assert await store.effects.unfinished() == []
        await asyncio.sleep(0)
        await forget_children(h.world.runtime)
        assert (await h.children(), len(await store.threads.list_all())) == ([], 1 + (kept == "permanent"))


@pytest.mark.spec("R-JRN-2", "R-AAT-8")
async def test_an_agent_below_an_agent_goes_on_too_also_after_a_second_end(tmp_path: Path) -> None:
    agents = (*AGENTS, one(OTHER, "other"))
    skills = {**SKILLS, "other": ""}
    first, ask = Pen("w1", written=True), calls("other_agent", {"message": "Deeper."})
    async with house(
        tmp_path, ScriptedModel([ASKS_HELPER, ask, write("w1")]), *agents, tools=(first.tool,), skills=skills
    ) as h:
        thread = await begin(h, first)
    second, person = Pen("w2"), EffectRequest("done")
    model = ScriptedModel([write("w2")])
    async with house(tmp_path, model, *agents, tools=(second.tool,), skills=skills, person=person) as h:
        await h.world.service.continue_answer(thread)
        await until(second.reached)
        assert person.words == ["w1"]
    pen, person, model = Pen(), EffectRequest(), ScriptedModel([says("deep"), says("helped"), says("done")])
    async with house(tmp_path, model, *agents, tools=(pen.tool,), skills=skills, person=person) as h:
        assert await go_on(h, thread) == ["helped"]
        assert (first.paper, second.paper, pen.paper, person.words) == (["w1"], [], ["w2"], ["w2"])
        told = [b.text for m in model.requests[1].messages for b in m.blocks if isinstance(b, ToolResultBlock)]
        assert told == ["deep"], "and its caller reads that"


@pytest.mark.spec("R-JRN-2")
async def test_an_answer_that_its_caller_had_not_heard_yet_is_not_asked_for_again(tmp_path: Path) -> None:
    """The agent is over; what comes of the call is not in the log yet."""
    (tmp_path / "cut").mkdir()
    copies: list[asyncio.Future[None]] = []
    first, model = Pen(), ScriptedModel([ASKS_HELPER, write("h1"), says("helped"), says("done")])
    async with house(tmp_path, model, *AGENTS, tools=(first.tool,), skills=SKILLS) as h:
        thread = await h.world.thread(agent=BOSS)

        def ended(event: Any) -> None:
            if isinstance(event, RunEnded) and event.thread_id != thread:
                copies.append(asyncio.ensure_future(copy_database(h.world.store, tmp_path / "cut" / "assent.db")))

        h.world.bus.listen(ended)
        await h.world.ask(thread, "Please.")
        await asyncio.gather(*copies)
    pen, person, model = Pen(), EffectRequest(), ScriptedModel([says("done")])
    async with house(tmp_path / "cut", model, *AGENTS, tools=(pen.tool,), skills=SKILLS, person=person) as h:
        assert len(h.world.recovery.runs) == 1, "the agent's own run was over"
        assert await go_on(h, thread) == ["helped"]
        assert (first.paper, pen.paper, person.unknown, len(model.requests)) == (["h1"], [], [], 1)


@pytest.mark.spec("R-JRN-2", "R-SUP-7")
async def test_the_agent_of_a_skill_goes_the_same_way_and_its_model_is_asked_only_what_is_new(tmp_path: Path) -> None:
    first, model = Pen("n2", written=True), ScriptedModel([ASKS_NOTING, write("n1"), write("n2")])
    async with house(tmp_path, model, *AGENTS, tools=(first.tool,), skills=SKILLS) as h:
        thread = await begin(h, first)
    pen, person = Pen(), EffectRequest("done")
    model = ScriptedModel([write("n3"), says("noted"), says("done")])
    async with house(tmp_path, model, *AGENTS, tools=(pen.tool,), skills=SKILLS, person=person) as h:
        assert await go_on(h, thread) == ["noted"]
        assert (first.paper, pen.paper, person.words) == (["n1", "n2"], ["n3"], ["n2"])
        told = [b.text for m in model.requests[0].messages for b in m.blocks if isinstance(b, ToolResultBlock)]
        assert told == ["wrote n1", SAID_DONE]


@pytest.mark.spec("R-JRN-2", "R-PRM-4")
async def test_what_a_person_said_of_a_call_inside_holds_after_the_next_end_of_the_process(tmp_path: Path) -> None:
    first, model = Pen("n1", written=True), ScriptedModel([ASKS_NOTING, write("n1")])
    async with house(tmp_path, model, *AGENTS, tools=(first.tool,), skills=SKILLS) as h:
        thread = await begin(h, first)
    second, model = Pen("n2"), ScriptedModel([write("n2")])
    async with house(tmp_path, model, *AGENTS, tools=(second.tool,), skills=SKILLS, person=EffectRequest("done")) as h:
        await h.world.service.continue_answer(thread)
        await until(second.reached)
    pen, person, model = Pen(), EffectRequest("allow_once"), ScriptedModel([says("noted"), says("done")])
    async with house(tmp_path, model, *AGENTS, tools=(pen.tool,), skills=SKILLS, person=person) as h:
        assert await go_on(h, thread) == ["noted"]
        assert (first.paper, second.paper, pen.paper, person.words) == (["n1"], [], ["n2"], ["n2"])


@pytest.mark.spec("R-JRN-2", "R-PRM-2")
@pytest.mark.parametrize("written", [True, False])
async def test_inside_a_call_too_it_counts_what_a_person_had_made_of_a_write(tmp_path: Path, written: bool) -> None:
    stuck = "mine" if not written else "n2"
    first, model = Pen(stuck), ScriptedModel([ASKS_NOTING, write("n1"), write("n2")])

    def edits(request: PermissionRequest) -> Decision:
        return Decision("allow_edited", request.digest, edited_arguments={"path": "mine"})

    editor = EffectRequest()
    editor.answers[:1] = [edits]
    async with house(tmp_path, model, *AGENTS, tools=(first.tool,), skills=SKILLS, person=editor) as h:
        thread = await begin(h, first)
    pen, person, model = Pen(), EffectRequest(), ScriptedModel([says("noted"), says("done")])
    async with house(tmp_path, model, *AGENTS, tools=(pen.tool,), skills=SKILLS, person=person) as h:
        assert await go_on(h, thread) == ["noted"]
        assert [*first.paper, *pen.paper] == (["mine", "n2"] if written else ["mine"])
        assert person.words == [stuck]
        told = [b.text for m in model.requests[0].messages for b in m.blocks if isinstance(b, ToolResultBlock)]
        assert told[0].startswith("[The person changed the arguments before allowing this call to: ")
        assert told[0].endswith("wrote mine")


@pytest.mark.spec("R-JRN-2", "R-CAN-7")
@pytest.mark.parametrize("way", ["agent", "skill"])
async def test_who_ends_the_run_instead_of_saying_what_became_of_a_write_is_asked_again(
    tmp_path: Path, way: str
) -> None:
    ask = ASKS_HELPER if way == "agent" else ASKS_NOTING
    first, model = Pen("h2"), ScriptedModel([ask, write("h1"), write("h2")])
    async with house(tmp_path, model, *AGENTS, tools=(first.tool,), skills=SKILLS, kept="run") as h:
        thread = await begin(h, first)
    pen, model = Pen(), ScriptedModel([])
    async with house(
        tmp_path, model, *AGENTS, tools=(pen.tool,), skills=SKILLS, kept="run", person=EffectRequest("stop")
    ) as h:
        assert await go_on(h, thread) == []
        assert h.world.ends()[-1].reason == "cancelled"
        assert (pen.paper, model.requests) == ([], [])
    person, model = EffectRequest("allow_once"), ScriptedModel([says("helped"), says("done")])
    async with house(tmp_path, model, *AGENTS, tools=(pen.tool,), skills=SKILLS, kept="run", person=person) as h:
        await forget_children(h.world.runtime)
        assert await go_on(h, thread) == ["helped"]
        assert (first.paper, pen.paper, person.words) == (["h1"], ["h2"], ["h2"])


def batch(words: list[str], *, category: Category = Category.WRITE) -> FakeTool:
    """Code that does something itself, and calls the pen for each word."""

    async def body(_args: Any, context: ToolCallContext) -> str:
        call = context.scope
        for word in words:
            block, request = ToolCallBlock(new_id(), "write-file", {"path": word}), call.request
            outcome = await PIPELINE[-1].invoke(
                CallRequest(block, request.caller, call.invocation, request.sink, request.message_id)
            )
            if outcome.result.is_error:
                return outcome.result.text
        return "all written"

    return FakeTool("batch", category, body=body)


PIPELINE: list[Any] = []
"""What calls go through now."""


async def cut_batch(tmp_path: Path, category: Category = Category.WRITE) -> tuple[str, Pen]:
    """Two of three words are written when the app is closed."""
    pen, model = Pen("b2", written=True), ScriptedModel([calls("batch", {"path": "x"})])
    tools = (pen.tool, batch(["b1", "b2", "b3"], category=category))
    async with house(tmp_path, model, *AGENTS, tools=tools, skills=SKILLS) as h:
        PIPELINE.append(h.world.skills.runs.pipeline)
        return await begin(h, pen), pen


@pytest.mark.spec("R-JRN-2", "R-PRM-4")
async def test_of_code_that_does_something_itself_each_call_inside_is_told_and_those_done_stay_done(
    tmp_path: Path,
) -> None:
    thread, first = await cut_batch(tmp_path)
    pen, person, model = Pen(), EffectRequest(), ScriptedModel([says("done")])
    tools = (pen.tool, batch(["b1", "b2", "b3"]))
    async with house(tmp_path, model, *AGENTS, tools=tools, skills=SKILLS, person=person) as h:
        PIPELINE.append(h.world.skills.runs.pipeline)
        person.answers = [
            lambda r: [person.unknown.append(r), Decision("allow_once", r.digest)][1],
            lambda r: [person.unknown.append(r), Decision("done", r.digest)][1],
            lambda r: Decision("allow_once", r.digest),
        ]
        assert await go_on(h, thread) == ["all written"]
        assert (first.paper, pen.paper) == (["b1", "b2"], ["b3"])
        whole, inner = person.unknown
        assert whole.unknown == (
            f"{NOBODY_KNOWS} Inside it: write-file {{'path': 'b1'}} (done); "
            "write-file {'path': 'b2'} (nobody knows whether it was done)."
        )
        assert (whole.tool, inner.tool, inner.unknown) == ("batch", "write-file", NOBODY_KNOWS)


@pytest.mark.spec("R-JRN-2", "R-PRM-4")
async def test_code_that_goes_another_way_is_asked_about_before_it_writes_anew(tmp_path: Path) -> None:
    thread, first = await cut_batch(tmp_path, Category.READ)
    pen, person, model = Pen(), EffectRequest("deny"), ScriptedModel([says("done")])
    tools = (pen.tool, batch(["b1", "b2 in other words"], category=Category.READ))
    async with house(tmp_path, model, *AGENTS, tools=tools, skills=SKILLS, person=person) as h:
        PIPELINE.append(h.world.skills.runs.pipeline)
        (told,) = await go_on(h, thread)
        assert (first.paper, pen.paper) == (["b1", "b2"], [])
        (asked,) = person.unknown
        assert asked.unknown.startswith(ANOTHER_WAY)
        assert "write-file {'path': 'b2'} (nobody knows whether it was done)" in asked.unknown
        assert "'b1'" not in asked.unknown
        assert told.startswith(f"[{MADE_BEFORE} write-file {{'path': 'b2'}}"), "the model hears of it too"


@pytest.mark.spec("R-JRN-2")
async def test_a_call_that_may_not_be_gone_on_with_says_what_was_done_in_it(tmp_path: Path) -> None:
    first, model = Pen("h2"), ScriptedModel([ASKS_HELPER, write("h1"), write("h2")])
    async with house(tmp_path, model, *AGENTS, tools=(first.tool,), skills=SKILLS) as h:
        thread = await begin(h, first)
    pen, model = Pen(), ScriptedModel([says("done")])
    skills = {**SKILLS, "boss": 'allowed-tools: "write-file"'}
    async with house(tmp_path, model, *AGENTS, tools=(pen.tool,), skills=skills, person=EffectRequest()) as h:
        (told,) = await go_on(h, thread)
        assert "write-file {'path': 'h1'} (done)" in told
        assert "write-file {'path': 'h2'} (nobody knows whether it was done)" in told
        assert "not among the tools allowed here" in told
        assert pen.paper == []


@pytest.mark.spec("R-JRN-2", "R-AAT-6")
async def test_a_kept_agent_that_is_gone_on_with_in_its_own_thread_knows_what_it_had_done(tmp_path: Path) -> None:
    first, model = Pen("h1", written=True), ScriptedModel([ASKS_HELPER, write("h1")])
    async with house(tmp_path, model, *AGENTS, tools=(first.tool,), skills=SKILLS, kept="permanent") as h:
        thread = await begin(h, first)
    pen, person, model = Pen(), EffectRequest("done"), ScriptedModel([says("helped"), says("done")])
    async with house(tmp_path, model, *AGENTS, tools=(pen.tool,), skills=SKILLS, kept="permanent", person=person) as h:
        (own,) = [one.thread_id for one in await h.world.service.threads() if one.thread_id != thread]
        assert await go_on(h, own) == [SAID_DONE]
        assert person.words == ["h1"]
        assert await go_on(h, thread) == ["helped"], "its caller hears what it said since"
        assert (first.paper, pen.paper, len(person.unknown)) == (["h1"], [], 1)


@pytest.mark.spec("R-JRN-2", "R-AAT-3", "R-SES-2")
async def test_a_called_debate_goes_on_in_the_turn_that_was_cut(tmp_path: Path) -> None:
    script = [calls("two_agent", {"message": "Tea?"}), write("a1"), says("A"), write("b1"), write("b2")]
    first = Pen("b2", written=True)
    async with debate(tmp_path, ScriptedModel(script), first, EffectRequest()) as (w, thread):
        await w.service.send(thread, "Please.")
        await until(first.reached)
    pen, person, model = (
        Pen(),
        EffectRequest("done"),
        ScriptedModel([says("B"), write("a2"), says("A again"), says("done")]),
    )
    async with debate(tmp_path, model, pen, person) as (w, thread):
        await forget_children(w.runtime)
        await w.service.continue_answer(thread)
        path = await w.settled(thread)
        (gave,) = [block.text for m in path for block in m.blocks if isinstance(block, ToolResultBlock)]
        assert gave == "A again\n[ended by: max_session_turns]"
        assert (first.paper, pen.paper, person.words) == (["a1", "b1", "b2"], ["a2"], ["b2"])
        assert await w.store.effects.unfinished() == []


@asynccontextmanager
async def debate(
    tmp_path: Path, model: ScriptedModel, pen: Pen, person: Person
) -> AsyncIterator[tuple[DebateWorld, str]]:
    """A chat whose agent may call one of two sides; the same one each time."""
    registry = ToolRegistry([pen.tool])
    more = {**options(registry), "person": person}
    async with debate_world(tmp_path, model, allowed="write-file", **more) as w:
        prompt(w.prompts, "boss", '"*-agent write-file"')
        made = AgentCalls(lambda: w.runtime, w.owner, two_sides=CalledDebates(lambda: w.runtime), kept=lambda: CLOSING)
        tools = AgentTools(w.runtime.agents, w.skills, registry, made.carry)
        await asyncio.to_thread(tools.refresh)
        known = await w.service.threads()
        thread = known[0] if known else await w.service.create_thread(agent="boss_agent", model=MODEL)
        yield w, thread.thread_id


@pytest.mark.spec("R-JRN-2", "R-AAT-3")
@pytest.mark.parametrize("way", ["send", "regenerate"])
async def test_what_a_person_had_answered_in_an_agents_thread_is_not_what_its_caller_gets(
    tmp_path: Path, way: str
) -> None:
    first, model = Pen("h2", written=True), ScriptedModel([ASKS_HELPER, write("h1"), write("h2")])
    async with house(tmp_path, model, *AGENTS, tools=(first.tool,), skills=SKILLS, kept="permanent") as h:
        thread = await begin(h, first)
    pen, person = Pen(), EffectRequest("done")
    model = ScriptedModel([says("It is noon."), says("helped"), says("done")])
    async with house(tmp_path, model, *AGENTS, tools=(pen.tool,), skills=SKILLS, kept="permanent", person=person) as h:
        (child,) = [one.thread_id for one in await h.world.store.threads.list_all() if one.thread_id != thread]
        service = h.world.service
        if way == "send":
            await service.send(child, "What is the time?")
        else:
            await service.regenerate((await service.path(child))[-1].message_id)
        assert (await h.world.settled(child))[-1].text == "It is noon."
        assert await go_on(h, thread) == ["helped"]
        assert (first.paper, pen.paper) == (["h1", "h2"], [])
        assert "noon" not in "".join(m.text for m in model.requests[1].messages)

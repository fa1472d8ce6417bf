"""An agent in code and the journal of its run: written before it is done, done once, given back after a restart."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter, UserDict
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

import pytest

from desktop.domain.approval.permission import AuditEntry, Decision, PermissionRequest
from desktop.domain.errors import BugError, KnownError, ModelRateLimited, StoreFull, ToolAborted, ToolFailure
from desktop.domain.ids import new_id
from desktop.domain.messages import ChatMessage, TextBlock, ToolCallBlock, Usage
from desktop.domain.model_settings import ModelSettings
from desktop.domain.models import ModelRef, ModelRequest
from desktop.domain.runs.agent import AgentOutcome
from desktop.domain.runs.meta import RunMeta
from desktop.domain.safety import SafetySettings
from desktop.domain.tools import ToolResult
from desktop.recovery.effect_journal import EffectJournal
from desktop.recovery.effect_values import (
    MAX_SEEN,
    RequestDigests,
    digest_of,
    error_from_plain,
    error_to_plain,
    message_from_plain,
    message_to_plain,
    to_text,
)
from desktop.safety.permission.gate import PermissionGate
from desktop.services.rules.trust import TrustRules
from tests.unit.pipeline.kit import Person
from tests.unit.supervision.kit import Bench, MemoryLog, ask, said, unfinished


def dying(log: MemoryLog, after: int) -> MemoryLog:
    """What the log holds after so many lines: the journal of a process that was killed there."""
    found = MemoryLog()
    found.records = log.records[:after]
    return found


async def everything(ctx, inbox):
    """All kinds of effects, with a child."""
    seen = [(await ctx.now()).timestamp(), await ctx.uuid(), await ctx.random()]
    seen += [inbox[0]["text"], (await ctx.llm("one"))["text"], (await ctx.tool("write", {"of": "a"})).value]
    below = await ctx.spawn("child-agent", "do")
    await ctx.emit("news", {"n": 1})
    await ctx.sleep_until(1.0)
    joined = await ctx.join(below)
    return [*seen, joined.status, joined.value]


async def child(ctx, inbox):
    await ctx.tool("write", {"of": "b"})
    return (await ctx.tool("read", {"of": "c"})).value + inbox[0]["text"]


@pytest.mark.spec("R-JRN-1", "R-JRN-2", "R-JRN-3", "R-JRN-4", "R-JRN-5")
async def test_each_effect_is_written_before_it_is_done_and_the_run_ends_once():
    heard: list[str] = []

    async def act(name: str, arguments: Mapping[str, Any], _meta: RunMeta) -> ToolResult:
        last = [f"{r.name} {r.phase}" for r in bench.log.records if r.name == name][-1]
        heard.append(f"{last} while {name} {arguments['of']} is done")
        return ToolResult(f"{name} done")

    bench = Bench(act=act)
    outcome = await bench.run(everything, child=child)
    assert (outcome.status, outcome.value[-1], outcome.value[3:5]) == ("completed", "read donedo", ["go", "re one"])
    assert heard[:2] == ["write begun while write a is done", "write begun while write b is done"]
    phases = Counter((r.name, r.phase) for r in bench.log.records if r.kind in ("tool", "llm"))
    done = {"write": 2, "child-agent": 1, "event-emit": 1, "agent-effect": 4, "model-ask": 1, "m/m": 1, "read": 1}
    assert {name: count for (name, phase), count in phases.items() if phase == "completed" and name in done} == done
    assert [(r.agent, r.kind) for r in bench.log.records if r.kind in ("return", "end")] == [
        ("0.1.1", "return"),
        ("0.1", "return"),
        ("", "end"),
    ]
    assert [r.sequence for r in bench.log.records] == list(range(1, len(bench.log.records) + 1))
    assert bench.world.topics.listeners("news", "run") == []


@pytest.mark.spec("R-JRN-2", "S-JRN-1")
async def test_a_run_cut_off_at_any_line_goes_on_without_doing_again_what_is_done():
    whole = Bench()
    first = await whole.run(everything, child=child)
    lines = unfinished(whole.log.records)
    assert len(lines) > 20
    for cut in range(len(lines)):
        person = Person(*["allow_once"] * 9)
        again = Bench(log=dying(whole.log, 0), person=person)
        again.log.records = lines[:cut]
        finished = {(r.agent, r.name) for r in again.log.records if r.phase == "completed" and r.kind == "tool"}
        begun = {(r.agent, r.name) for r in again.log.records if r.phase == "begun" and r.kind == "tool"}
        open_writes = [one for one in begun - finished if one[1] == "write"]
        outcome = await again.run(everything, child=child)
        assert (outcome.status, outcome.value[3:]) == ("completed", first.value[3:]), cut
        names = Counter(name for _, name in finished)
        asked_before = Counter(word.split()[0] for word in again.done)
        assert asked_before["write"] == 2 - names["write"], cut
        assert asked_before["llm"] == 1 - max(names["model-ask"], sum(r.name == "m/m" for r in lines[:cut]) // 2), cut
        assert sum(bool(one.unknown) for one in person.asked) == len(open_writes), cut
        kept = names["agent-effect"]
        assert outcome.value[: min(kept, 3)] == first.value[: min(kept, 3)], "time, ids and chance are as before"


@pytest.mark.spec("R-JRN-2")
@pytest.mark.parametrize(
    ("said_so", "done", "ok"),
    [("allow_once", ["write a"], True), ("done", [], True), ("deny", [], False), ("stop", [], None)],
)
async def test_a_write_whose_outcome_nobody_knows_is_asked_about_and_the_answer_is_kept(said_so, done, ok):
    async def body(ctx, _inbox):
        return [(await ctx.tool("write", {"of": "a"})).ok]

    whole = Bench()
    await whole.run(body)
    begun = next(at for at, r in enumerate(whole.log.records) if r.name == "write")
    person = Person(said_so)
    bench = Bench(log=dying(whole.log, begun + 1), person=person)
    outcome = await bench.run(body)
    assert [bool(one.unknown) for one in person.asked] == [True]
    assert (bench.done, outcome.status) == (done, "cancelled" if ok is None else "completed")
    if ok is not None:
        assert outcome.value == [ok]
        bench.log.records = unfinished(bench.log.records)
        nobody = bench.person = Person()
        assert (await bench.run(body)).value == [ok]
        assert nobody.asked == [], "nobody is asked a second time"


class Editor:
    """A person who changes the message of a call the first time that they are asked, and agrees to what came of it."""

    def __init__(self) -> None:
        self.asked: list[PermissionRequest] = []

    async def ask(self, request: PermissionRequest) -> Decision:
        self.asked.append(request)
        edited = {**request.arguments, "message": "sort"} if len(self.asked) == 1 else None
        return Decision("allow_once", request.digest, edited_arguments=edited)


@pytest.mark.spec("R-PRM-2", "R-PRM-5", "R-JRN-2")
async def test_what_a_person_made_of_a_message_to_a_skill_in_words_is_what_goes_on(tmp_path: Path):
    (tmp_path / "sub.skill.md").write_text("---\nname: sub\ndescription: d\nmetadata: {category: write}\n---\nDo.\n")

    async def body(ctx, _inbox):
        return (await ctx.join(await ctx.spawn("sub", "burn"))).value

    async def audit(_entry: AuditEntry) -> int:
        return 1

    person = Editor()
    gate = PermissionGate(person, TrustRules(), audit, lambda: SafetySettings(str(tmp_path)))
    bench = Bench(person=gate, folder=str(tmp_path))
    outcome = await bench.run(body)
    first, second = person.asked
    assert (first.original, second.original, second.arguments) == (None, {"message": "burn"}, {"message": "sort"})
    assert outcome.value.endswith('before allowing this call to: {"message": "sort"}]\nre sort')
    lines, begun = bench.log.records, next(at for at, r in enumerate(bench.log.records) if r.name == "sub")
    for cut in range(begun + 1, len(unfinished(lines)) + 1):
        bench.log.records, bench.done = unfinished(lines)[:cut], []
        assert (await bench.run(body)).value == outcome.value, cut
        assert set(bench.done) <= {"llm sort"}, cut
    assert len(person.asked) == 2, "they have agreed, and to nothing else"


@pytest.mark.spec("R-JRN-2")
async def test_an_agent_that_takes_another_course_than_before_asks_before_it_does_something_in_the_others_place():
    course = ["a"]

    async def body(ctx, _inbox):
        return [(await ctx.tool("write", {"of": of})).ok for of in course]

    bench = Bench()
    await bench.run(body)
    bench.log.records = unfinished(bench.log.records)
    course[:], bench.person = ["b"], Person("deny")
    assert (await bench.run(body)).value == [False]
    (asked,) = bench.person.asked
    assert "write" in asked.unknown
    assert bench.done == ["write a"]


@pytest.mark.spec("R-JRN-3", "R-LOOP-14")
async def test_an_error_is_an_outcome_and_the_same_error_after_a_restart():
    async def body(ctx, _inbox):
        try:
            await ctx.llm("hi")
        except ToolFailure as error:
            return [str(error), error.code]

    async def refuse(_request):
        raise ModelRateLimited("Too many.", retry_after=7.5, next_step="Wait.")

    bench = Bench(answer=refuse)
    first = await bench.run(body)
    bench.log.records = unfinished(bench.log.records)
    again = await bench.run(body)
    assert first.value == again.value == ["Too many. Wait.", "model.rate_limited"]
    assert len(bench.done) == 1


def test_errors_and_messages_survive_the_journal():
    class Mine(ToolFailure):
        code = "mine"

    kept = error_from_plain(error_to_plain(Mine("no", next_step="try")))
    assert (type(kept), str(kept), kept.code, kept.next_step) == (ToolFailure, "no", "mine", "try")
    assert type(error_from_plain({"error": "Later", "text": "x"})) is KnownError
    message = said("text", Usage(1, 2, 3, 4, None))
    assert message_from_plain(message_to_plain(message)) == message


@pytest.mark.spec("R-JRN-6")
async def test_no_secret_reaches_the_journal():
    async def leak(name, arguments, meta):
        if name == "read":
            raise ToolFailure("it said s3cret")
        return ToolResult("key s3cret", structured={"k": ("s3cret", 1)})

    async def body(ctx, _inbox):
        await ctx.tool("write", {"of": "s3cret"})
        return [(await ctx.tool("read", {"of": "s3cret"})).code]

    bench = Bench(act=leak, mask=lambda text: text.replace("s3cret", "[REDACTED]"))
    assert (await bench.run(body)).value == ["tool.failed"]
    assert "s3cret" not in repr(bench.log.records)
    assert "[REDACTED]" in repr(bench.log.records)


@pytest.mark.spec("R-JRN-2")
async def test_what_cannot_be_written_is_not_done():
    bench = Bench()

    async def body(ctx, _inbox):
        await ctx.tool("write", {"of": "a"})
        bench.log.broken = StoreFull("The disk is full.")
        return [(await ctx.tool("write", {"of": "b"})).code]

    with pytest.raises(StoreFull):
        await bench.run(body)
    assert bench.done == ["write a"]


@pytest.mark.spec("R-JRN-4", "R-CAN-10", "R-JRN-5")
async def test_a_cancelled_sleep_ends_at_once_and_the_run_has_its_terminal_entry():
    bench = Bench()

    async def body(ctx, _inbox):
        asyncio.get_running_loop().call_later(0.01, bench.token.cancel, "enough")
        await ctx.sleep_until(time.time() + 3600)

    assert (await bench.run(body)).status == "cancelled"
    assert bench.log.told()[-1] == ".0 end cancelled"


@pytest.mark.spec("R-CAN-9", "R-JRN-4")
async def test_a_time_without_a_zone_is_refused_and_one_that_is_over_does_not_wait():
    async def body(ctx, _inbox):
        await ctx.sleep_until(datetime(2020, 1, 1, tzinfo=UTC))
        with pytest.raises(ValueError, match="zone"):
            await ctx.sleep_until(datetime(2020, 1, 1))
        return [(await ctx.now()).tzinfo is UTC]

    assert (await Bench().run(body)).value == [True]


@pytest.mark.spec("R-CAN-11")
async def test_a_run_that_the_closing_app_cut_off_stays_open_and_is_gone_on_with():
    bench, lives = Bench(), []

    async def body(ctx, _inbox):
        lives.append(1)
        below = await ctx.spawn("child-agent", "x")
        await ctx.tool("write", {"of": "a"})
        if len(lives) == 1:
            bench.token.cancel("closing")
            await asyncio.sleep(3600)
        return [(await ctx.join(below)).value]

    async def patient(ctx, _inbox):
        await ctx.tool("read", {"of": "x"})
        return "child"

    assert (await bench.run(body, child=patient, leave_open=True)).status == "cancelled"
    assert not [line for line in bench.log.told() if " end" in line]
    outcome = await bench.run(body, child=patient)
    assert (outcome.status, outcome.value) == ("completed", ["child"])
    assert bench.done.count("write a") == 1


@pytest.mark.spec("R-JRN-2")
def test_a_request_is_digested_message_by_message():
    digests = RequestDigests()
    one, two = ask("one"), ask("two")
    ref = ModelRef("m", "m")
    first = digests.of(ModelRequest(ref, (one,)))
    assert digests.of(ModelRequest(ref, (one, two))) != first
    assert digests.of(ModelRequest(ref, (ask("one"),))) == first
    assert digests.of(ModelRequest(ref, (one,), "system")) != first
    assert digests.of(ModelRequest(ModelRef("m", "n"), (one,))) != first
    settings = (ModelSettings(seed=1, top_k=2), ModelSettings(top_k=2, seed=1), ModelSettings(seed=1))
    assert len({RequestDigests().of(ModelRequest(ref, (one,), settings=each)) for each in settings}) == 2
    call = ask("x").__class__("assistant", (ToolCallBlock("c", "t", {"b": 1, "a": 2}),))
    same = ask("x").__class__("assistant", (ToolCallBlock("c", "t", {"a": 2, "b": 1}),))
    assert digests.of(ModelRequest(ref, (call,))) == digests.of(ModelRequest(ref, (same,)))
    for number in range(MAX_SEEN):
        digests.of(ModelRequest(ref, (ask(str(number)),)))
    assert len(digests._seen) <= MAX_SEEN + 1


@pytest.mark.spec("R-JRN-2")
def test_what_an_earlier_request_had_too_is_not_turned_into_text_again():
    class Counted(UserDict):
        looked_at = 0

        def __iter__(self):
            self.looked_at += 1
            return super().__iter__()

    tool, digests = Counted({"name": "a"}), RequestDigests()
    tools = (tool,)
    for number in range(10):
        digests.of(ModelRequest(ModelRef("m", "m"), (ask(str(number)),), tools=tools))
    assert tool.looked_at == 1


@pytest.mark.spec("R-JRN-5")
async def test_a_journal_that_has_ended_takes_nothing_more():
    journal = EffectJournal("r", MemoryLog())
    await journal.load()
    await journal.end("completed")
    with pytest.raises(BugError):
        await journal.end("failed")
    with pytest.raises(BugError):
        journal.end_agent("0", AgentOutcome("completed"))


@pytest.mark.spec("R-JRN-2", "R-CAN-11")
@pytest.mark.parametrize("how", ["raised", "result"])
async def test_a_call_that_was_cut_off_has_no_outcome(how):
    async def act(name, arguments, meta):
        bench.token.cancel("closing")
        if how == "raised":
            raise ToolAborted("Operation aborted")
        return ToolResult("Operation aborted", is_error=True, code="tool.aborted")

    async def body(ctx, _inbox):
        await ctx.tool("write", {"of": "a"})

    bench = Bench(act=act)
    assert (await bench.run(body, leave_open=True)).status == "cancelled"
    assert {r.phase for r in bench.log.records if r.name == "write"} <= {"begun", "cancelled"}


@pytest.mark.spec("R-JRN-2")
def test_a_digest_tells_requests_apart_by_every_message_and_by_what_is_shown_of_it():
    def of(*texts: str, system: str = "", stored: str = "") -> str:
        said = tuple(ChatMessage("user", (TextBlock(text),), source_id=stored) for text in texts)
        return RequestDigests(stored=True).of(ModelRequest(ModelRef("m", "m"), said, system))

    assert of("a", "b") == of("a", "b")
    assert of("a", "b", stored="1") == of("c", "d", stored="1"), "what the store has under an id never changes"
    asked = [("a", "b"), ("ab",), ("a",), ("b", "a"), ("a", "b", "c")]
    found = {of(*texts) for texts in asked} | {of("a", "b", system="s"), of("a", stored="1"), of("short", stored="1")}
    assert len(found) == len(asked) + 3


@pytest.mark.spec("R-JRN-2")
def test_what_json_does_not_know_is_kept_the_same_way_each_time():
    """Also after a restart, when a set has its members in another order; what has no form in JSON is kept as text."""
    value = MappingProxyType({"of": frozenset({"b", "a", "c"}), "at": PurePosixPath("/a")})
    assert to_text(value) == ('{"of":["a","b","c"],"at":"/a"}', False)
    assert digest_of({"b", "a", "c"}) == digest_of(["a", "b", "c"]) != digest_of(["a", "b"])


@pytest.mark.spec("R-JRN-2")
def test_a_digest_tells_how_texts_are_split_and_how_long_they_are():
    """Of a very long text only the ends are looked at, and how long it is."""

    def of(*texts: str) -> str:
        message = ChatMessage("assistant", tuple(TextBlock(text) for text in texts))
        return RequestDigests().of(ModelRequest(ModelRef("m", "m"), (message,)))

    long = "a" * 1_000_000
    assert of(long) == of(long)
    assert len({of(long), of(long + "a"), of("a", "b"), of("atextb"), of("ab")}) == 5


SPEEDS = (lambda of: 30 if of[0] == "a" else 1, lambda of: 30 if of[0] == "b" else 1, lambda _of: 3)
WRITES = Counter(["first", "last", *(f"{name}{at}" for name in "ab" for at in range(1, 7))])


async def branches(ctx, _inbox):
    """Two branches with ids of their own, limits of time, requests that are alike, a child, and a third level."""

    async def branch(name: str) -> str:
        await ctx.tool("write", {"of": f"{name}1"})
        text = (await ctx.llm("the same"))["text"]
        await asyncio.wait_for(ctx.tool("write", {"of": f"{name}2", "text": text[:2]}), 30)
        await asyncio.gather(*(ctx.tool("write", {"of": f"{name}{at}"}) for at in (3, 4)))
        below = await ctx.spawn("child-agent", name)
        return str((await ctx.join(below)).value)

    await ctx.tool("write", {"of": "first"})
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(branch(name)) for name in "ab"]
    await asyncio.wait_for(ctx.tool("write", {"of": "last"}), 30)
    return [task.result() for task in tasks]


async def named(ctx, inbox):
    name = inbox[0]["text"]
    await asyncio.gather(*(ctx.tool("write", {"of": f"{name}{at}"}) for at in (5, 6)))
    return name


def finished_writes(log: MemoryLog) -> Counter[str]:
    """The writes that it knows to be done."""
    done = [r for r in log.records if r.name == "write" and r.phase == "completed"]
    return Counter(json.loads(r.value)["text"] for r in done)


async def goes_on(log: MemoryLog, speed: Any) -> MemoryLog:
    """The run of this log goes on to its end; each write is done once, in one life or the other."""

    async def act(_name: str, arguments: Mapping[str, Any], _meta: RunMeta) -> ToolResult:
        for _ in range(speed(arguments["of"])):
            await asyncio.sleep(0)
        return ToolResult(arguments["of"])

    async def answer(_request: object) -> ChatMessage:
        await asyncio.sleep(0)
        return said(new_id())

    before, after = finished_writes(log), len(log.records)
    again = Bench(log=log, act=act, answer=answer)
    outcome = await again.run(branches, child=named)
    assert (outcome.status, outcome.detail, outcome.value) == ("completed", "", ["a", "b"]), after
    made = Counter(words.removeprefix("write ") for words in again.done if words.startswith("write"))
    assert before + made == WRITES == finished_writes(log), after
    return log


@pytest.mark.spec("R-JRN-1", "R-JRN-2")
@pytest.mark.parametrize("then", range(len(SPEEDS)))
async def test_branches_that_are_cut_at_any_line_go_on_whoever_is_faster_then(then: int) -> None:
    whole = await goes_on(MemoryLog(), SPEEDS[0])
    lines = unfinished(whole.records)
    for after in range(then, len(lines), len(SPEEDS)):
        log = MemoryLog()
        log.records = lines[:after]
        await goes_on(log, SPEEDS[then])

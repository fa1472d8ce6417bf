"""The run context and its journal: written before it is done, done once, given back after a restart."""

from __future__ import annotations

import asyncio
import time
from collections import UserDict
from datetime import UTC, datetime
from pathlib import PurePosixPath
from types import MappingProxyType

import pytest

from desktop.domain.agent import AgentOutcome
from desktop.domain.effects import EffectRecord
from desktop.domain.errors import BugError, KnownError, ModelRateLimited, StoreFull, ToolAborted, ToolFailure
from desktop.domain.messages import ChatMessage, TextBlock, ToolCallBlock, Usage
from desktop.domain.models import ModelRef, ModelRequest
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
from tests.unit.supervision.kit import Bench, MemoryLog, ask, request, said


class Died(BaseException):
    """The process is gone, as far as the run can tell."""


def dying(log: MemoryLog, after: int) -> MemoryLog:
    """What the log holds after so many lines: the journal of a process that was killed there."""
    found = MemoryLog()
    found.records = log.records[:after]
    return found


async def everything(ctx, inbox):
    """All kinds of effects, with a child."""
    seen = [inbox[0].text, (await ctx.llm(request("one"))).text, str(await ctx.now()), await ctx.uuid()]
    seen.append(await ctx.random())
    seen.append((await ctx.tool("write", {"of": "a"})).text)
    child = await ctx.spawn("child", [ask("do")])
    await ctx.emit("news", {"n": 1})
    await ctx.sleep_until(1.0)
    joined = await ctx.join(child)
    return [*seen, joined.status, joined.value]


DONE = (("0", 1), ("0", 5), ("0", 7), ("0.6", 1), ("0.6", 2))
"""The places of ``everything`` at which something is really done."""


async def child(ctx, inbox):
    await ctx.tool("write", {"of": "b"})
    return (await ctx.tool("read", {"of": "c"})).text + inbox[0].text


@pytest.mark.spec("R-JRN-1", "R-JRN-2", "R-JRN-3", "R-JRN-4", "R-JRN-5")
async def test_each_effect_is_written_before_it_is_done_and_the_run_ends_once():
    bench = Bench()
    outcome = await bench.run(everything, child=child)
    assert outcome.status == "completed"
    assert outcome.value[-1] == "read donedo"
    log = bench.log.told()
    assert [line for line in log if line.startswith("0.") and "0.6." not in line.split(" ")[0]][:2] == [
        "0.1 llm m/m begun",
        "0.1 llm m/m completed",
    ]
    assert {
        "0.5 tool write begun",
        "0.6 spawn child begun",
        "0.7 emit news begun",
        "0.8 sleep_until begun",
        "0.9 join 0.6 begun",
        "0.6.1 tool write begun",
        "0.6.2 tool read completed",
    } <= set(log)
    assert [line for line in log if " return" in line or " end" in line] == [
        "0.6.0 return completed",
        "0.0 return completed",
        ".0 end completed",
    ]
    assert [r.sequence for r in bench.log.records] == list(range(1, len(log) + 1))
    with pytest.raises(BugError, match="over"):
        await bench.run(everything, child=child)


@pytest.mark.spec("R-JRN-2", "S-JRN-1")
async def test_a_run_cut_off_at_any_line_goes_on_without_doing_again_what_is_done():
    whole = Bench()
    first = await whole.run(everything, child=child)
    lines = len(whole.log.records)
    assert lines > 20
    for cut in range(lines):
        asked: list[EffectRecord] = []

        async def answer(record, asked=asked):
            asked.append(record)
            return "repeat"

        again = Bench(log=dying(whole.log, cut), options={"ask_unknown": answer})
        recorded = {(r.agent, r.step) for r in again.log.records if r.phase == "completed"}
        outcome = await again.run(everything, child=child)
        assert (outcome.status, outcome.usage, outcome.rounds) == ("completed", first.usage, first.rounds)
        assert len(again.done) == 5 - sum(place in recorded for place in DONE)
        unknown = [r for r in dying(whole.log, cut).records if r.name == "write" and (r.agent, r.step) not in recorded]
        assert [(r.agent, r.step) for r in asked] == [(r.agent, r.step) for r in unknown], cut
        kept = [step for step in (2, 3, 4) if ("0", step) in recorded]
        assert [outcome.value[v] for v in kept] == [first.value[v] for v in kept], "time, ids and chance are as before"


@pytest.mark.spec("R-JRN-2")
@pytest.mark.parametrize(
    ("said_so", "done", "status", "text"),
    [
        ("repeat", ["write a"], "completed", "write done"),
        ("done", [], "completed", "This was done before"),
        ("skip", [], "completed", "This was not done"),
        ("stop", [], "failed", ""),
    ],
)
async def test_a_write_whose_outcome_nobody_knows_is_asked_about_and_the_answer_is_kept(said_so, done, status, text):
    async def body(ctx, inbox):
        return (await ctx.tool("write", {"of": "a"})).text

    whole = Bench()
    await whole.run(body)
    log, asked = dying(whole.log, 1), []

    async def answer(record):
        asked.append(record.summary)
        return said_so

    bench = Bench(log=log, options={"ask_unknown": answer})
    outcome = await bench.run(body)
    assert (bench.done, outcome.status, asked) == (done, status, ["write {'of': 'a'}"])
    assert str(outcome.value or "").startswith(text)
    if status == "completed":
        bench.log.records = [r for r in bench.log.records if r.kind not in ("return", "end")]
        bench.options = {}
        assert (await bench.run(body)).value == outcome.value, "nobody is asked a second time"


@pytest.mark.spec("R-JRN-2")
async def test_without_anybody_to_ask_an_unknown_write_ends_the_run_and_a_read_is_repeated():
    async def reads(ctx, inbox):
        return (await ctx.tool("read", {})).text

    async def writes(ctx, inbox):
        return (await ctx.tool("write", {})).text

    for body, status in ((reads, "completed"), (writes, "failed")):
        bench = Bench()
        await bench.run(body)
        bench.log = dying(bench.log, 1)
        bench.done.clear()
        outcome = await bench.run(body)
        assert (outcome.status, len(bench.done)) == (status, status == "completed")


@pytest.mark.spec("R-JRN-2")
@pytest.mark.parametrize("changed", ["tool", "arguments", "kind"])
async def test_a_run_that_takes_another_course_than_before_is_a_clear_error(changed):
    async def body(ctx, inbox):
        await ctx.tool("write", {"of": "a"})

    async def other(ctx, inbox):
        if changed == "kind":
            await ctx.llm(request())
        await ctx.tool("remove" if changed == "tool" else "write", {"of": "b"})

    bench = Bench()
    await bench.run(body)
    bench.log = dying(bench.log, 2)
    outcome = await bench.run(other)
    assert (outcome.status, outcome.code) == ("failed", "run.changed")
    assert "step 1 of its agent 0 was tool write" in outcome.detail
    assert len(bench.done) == 1


@pytest.mark.spec("R-JRN-3", "R-LOOP-14")
async def test_an_error_is_an_outcome_and_the_same_error_after_a_restart():
    async def body(ctx, inbox):
        try:
            await ctx.llm(request())
        except ModelRateLimited as error:
            return [str(error), error.retry_after, error.code, error.next_step]

    async def refuse(_request):
        raise ModelRateLimited("Too many.", retry_after=7.5, next_step="Wait.")

    bench = Bench(answer=refuse)
    first = await bench.run(body)
    bench.log = dying(bench.log, 2)
    again = await bench.run(body)
    assert first.value == again.value == ["Too many.", 7.5, "model.rate_limited", "Wait."]
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
async def test_no_secret_reaches_the_journal_and_the_agent_sees_what_the_journal_holds():
    async def leak(name, arguments, meta):
        if name == "read":
            raise ToolFailure("it said s3cret")
        return ToolResult("key s3cret", structured={"k": ("s3cret", 1)})

    def mask(value):
        if isinstance(value, str):
            return value.replace("s3cret", "[REDACTED]")
        if isinstance(value, dict):
            return {key: mask(item) for key, item in value.items()}
        return [mask(item) for item in value] if isinstance(value, (list, tuple)) else value

    async def body(ctx, inbox):
        given = await ctx.tool("write", {"of": "s3cret"})
        with pytest.raises(ToolFailure) as caught:
            await ctx.tool("read", {"of": "s3cret"})
        return [given.text, given.structured, str(caught.value)]

    bench = Bench(act=leak, journal={"mask": mask, "redact": mask})
    outcome = await bench.run(body)
    assert outcome.value == ["key [REDACTED]", {"k": ["[REDACTED]", 1]}, "it said [REDACTED]"]
    assert "s3cret" not in repr(bench.log.records)
    bench.log = dying(bench.log, 4)
    assert (await bench.run(body)).value == outcome.value


@pytest.mark.spec("R-JRN-2")
async def test_what_cannot_be_written_is_not_done():
    bench = Bench()

    async def body(ctx, inbox):
        await ctx.tool("write", {"of": "a"})
        bench.log.broken = StoreFull("The disk is full.")
        await ctx.tool("write", {"of": "b"})

    with pytest.raises(StoreFull):
        await bench.run(body)
    assert bench.done == ["write a"]


@pytest.mark.spec("R-JRN-4", "R-CAN-10", "R-JRN-5")
async def test_a_cancelled_sleep_ends_at_once_and_the_run_has_its_terminal_entry():
    bench = Bench()

    async def body(ctx, inbox):
        asyncio.get_running_loop().call_later(0.01, ctx.meta.cancellation.cancel, "enough")
        await ctx.sleep_until(time.time() + 3600)

    outcome = await bench.run(body)
    assert (outcome.status, outcome.detail) == ("cancelled", "enough")
    assert bench.log.told()[-1] == ".0 end cancelled"


@pytest.mark.spec("R-CAN-9", "R-JRN-4")
async def test_a_time_without_a_zone_is_refused_and_one_that_is_over_does_not_wait():
    async def body(ctx, inbox):
        await ctx.sleep_until(datetime(2020, 1, 1, tzinfo=UTC))
        with pytest.raises(ValueError, match="zone"):
            await ctx.sleep_until(datetime(2020, 1, 1))
        return (await ctx.now()).tzinfo is UTC

    assert (await Bench().run(body)).value is True


@pytest.mark.spec("R-CAN-11")
async def test_a_run_that_the_closing_app_cut_off_stays_open_and_is_gone_on_with():
    bench, lives = Bench(options={"leave_open": frozenset({"closing"})}), []

    async def body(ctx, inbox):
        lives.append(1)
        child = await ctx.spawn("child", [])
        await ctx.tool("write", {"of": "a"})
        if len(lives) == 1:
            ctx.meta.cancellation.cancel("closing")
        return (await ctx.join(child)).value

    async def patient(ctx, inbox):
        await ctx.tool("read", {"of": "x"})
        return "child"

    assert (await bench.run(body, child=patient)).status == "cancelled"
    assert not [line for line in bench.log.told() if " end" in line or " return cancelled" in line]
    outcome = await bench.run(body, child=patient)
    assert (outcome.status, outcome.value) == ("completed", "child")
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
    options = ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1})
    assert len({RequestDigests().of(ModelRequest(ref, (one,), options=each)) for each in options}) == 2
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

    options, digests = Counted({"seed": 1}), RequestDigests()
    for number in range(10):
        digests.of(ModelRequest(ModelRef("m", "m"), (ask(str(number)),), options=options))
    assert options.looked_at == 1


@pytest.mark.spec("R-JRN-2")
async def test_the_end_of_one_call_and_the_beginning_of_the_next_are_written_together():
    bench = Bench()

    async def body(ctx, inbox):
        for number in range(10):
            await ctx.tool("write", {"of": str(number)})

    await bench.run(body)
    assert bench.log.batches <= 13
    assert len(bench.log.records) == 22


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
        meta.cancellation.cancel("closing")
        if how == "raised":
            raise ToolAborted("Operation aborted")
        return ToolResult("Operation aborted", is_error=True, code="tool.aborted")

    async def body(ctx, inbox):
        await ctx.tool("write", {"of": "a"})

    bench = Bench(act=act, options={"leave_open": frozenset({"closing"})})
    assert (await bench.run(body)).status == "cancelled"
    assert bench.log.told() == ["0.1 tool write begun"]


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

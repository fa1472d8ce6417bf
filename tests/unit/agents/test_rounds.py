"""The round loop from the first text to a Stop, and what goes wrong with models."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import pytest

from desktop.agents.loop.rounds import STOPPED, STOPPED_EVENT, RoundVerdict
from desktop.domain.errors import (
    CancellationError,
    ModelKeyRefused,
    ModelRateLimited,
    ModelServerError,
    ModelStreamBroken,
    ModelUnreachable,
)
from desktop.domain.messages import ChatMessage, ToolCallBlock, ToolResultBlock, user_message
from desktop.domain.models import Finished, ModelRequest, ReasoningDelta, TextDelta, ToolCallProgress
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.middleware import CallNext, ChatContext, MiddlewareTermination
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.supervision.budgets import BudgetTracker
from tests.harness.timeouts import FOREVER_S, HELD_S, WAIT_S, Beat
from tests.unit.agents.kit import REF, Play, Tools, results
from tests.unit.agents.script import Hang, Script, call, calls, says


def valid(messages) -> bool:
    """Every call is answered right behind its message, in order, and nothing else is."""
    expected: list[str] = []
    for message in messages:
        if message.role == "tool":
            if not expected or message.blocks[0].call_id != expected.pop(0):
                return False
        elif expected:
            return False
        expected.extend(c.call_id for c in message.tool_calls)
    return not expected


@pytest.mark.spec("R-LOOP-1", "R-LOOP-9", "R-LIM-3", "R-SES-7")
async def test_s5_1_a_text_without_calls_ends_the_loop_even_on_the_last_permitted_round() -> None:
    play = Play(Script(says("Hello there.")), rounds=1)
    result = await play.run()
    assert (result.end, result.rounds, result.limit) == ("response", 1, None)
    assert [m.text for m in result.messages] == ["hello", "Hello there."]
    assert "LoopError" not in play.kinds()


@pytest.mark.spec("R-LOOP-1", "R-LOOP-4", "R-LOOP-7")
async def test_s5_2_a_tool_result_is_appended_and_a_second_round_answers() -> None:
    given = user_message("read it")
    play = Play(Script(calls(call("c1")), says("It says hi.")))
    result = await play.run(given)
    assert [m.role for m in result.messages] == ["user", "assistant", "tool", "assistant"]
    assert results(result) == [ToolResultBlock("c1", "read_file", "result of c1")]
    assert play.script.requests[1].messages == tuple(result.messages[:3])
    assert play.kinds().count("ResultDone") == 1
    assert play.ledger.lines == [
        "round 1",
        "message tool_calls ''",
        "result c1 executed",
        "round 2",
        "message end 'It says hi.'",
    ]


@pytest.mark.spec("C-27", "S-LOOP-2")
async def test_each_request_is_what_the_callers_function_makes_of_the_list_which_stays_as_it_was() -> None:
    play = Play(Script(calls(call("c1")), says("It says hi.")))
    given, seen = [user_message("old"), user_message("read it")], list[int]()

    async def last_only(messages: Sequence[ChatMessage]) -> ModelRequest:
        seen.append(len(messages))
        return ModelRequest(REF, tuple(messages[-1:]))

    result = await play.loop.run(given, last_only, RunMeta("run", play.token, "thread"))
    assert seen == [2, 4], "asked anew before each round"
    assert [request.messages for request in play.script.requests] == [(given[1],), (result.messages[3],)]
    assert [m.role for m in result.messages] == ["user", "user", "assistant", "tool", "assistant"]
    assert given == result.messages[:2]
    assert result.messages is not given


@pytest.mark.spec("R-LOOP-12")
async def test_s5_3_several_calls_run_one_after_another_and_are_answered_together() -> None:
    async def slow_first(block: ToolCallBlock) -> str:
        await asyncio.sleep(0.02 if block.call_id == "c1" else 0)
        return block.call_id

    play = Play(Script(calls(call("c1"), call("c2"), call("c3")), says("done")), Tools(slow_first))
    result = await play.run()
    assert [r.call_id for r in results(result)] == ["c1", "c2", "c3"]
    assert play.tools.order == ["start c1", "end c1", "start c2", "end c2", "start c3", "end c3"]
    assert len(play.script.requests) == 2


@pytest.mark.spec("R-LOOP-12")
async def test_safe_reading_calls_run_side_by_side_and_keep_their_order() -> None:
    async def slow_first(block: ToolCallBlock) -> str:
        await asyncio.sleep(0.03 if block.call_id == "c1" else 0)
        return block.call_id

    play = Play(Script(calls(call("c1"), call("c2")), says("done")), Tools(slow_first, parallel=True))
    result = await play.run()
    assert play.tools.order == ["start c1", "start c2", "end c2", "end c1"]
    assert [r.call_id for r in results(result)] == ["c1", "c2"]


@pytest.mark.spec("R-LOOP-3")
async def test_s5_4_a_failing_tool_is_content_and_the_model_goes_on() -> None:
    failed = ToolResultBlock("c1", "read_file", "no such file", is_error=True)
    play = Play(Script(calls(call("c1")), says("I could not read it.")), Tools(lambda _: failed))
    result = await play.run()
    assert results(result)[0].is_error
    assert result.end == "response"
    assert play.script.requests[1].messages[-1].blocks == (failed,)


@pytest.mark.spec("R-LOOP-6", "R-LOOP-10")
async def test_s5_5_an_abort_in_the_middle_of_the_stream_keeps_the_text_and_returns_at_once() -> None:
    play = Play(Script([TextDelta("half an ans"), Hang()]))
    asyncio.get_running_loop().call_later(0.03, play.token.cancel, "stopped by the person")
    async with asyncio.timeout(WAIT_S):  # the model itself never goes on
        result = await play.run()
    assert result.end == "aborted"
    assert (result.messages[-1].text, result.messages[-1].stop_reason) == ("half an ans", "aborted")
    assert valid(result.messages)
    assert isinstance(result.error, CancellationError)


@pytest.mark.spec("R-LOOP-2")
async def test_s5_6_tool_and_model_alternate_until_a_text_whatever_the_provider_calls_the_reason() -> None:
    lying = calls(call("c1"), reason="end")
    play = Play(Script(lying, calls(call("c2")), calls(call("c3")), says("finally")))
    result = await play.run()
    assert (result.end, result.rounds) == ("response", 4)
    assert [r.call_id for r in results(result)] == ["c1", "c2", "c3"]


@pytest.mark.spec("R-SES-8")
async def test_a_text_beside_calls_does_not_end_the_loop() -> None:
    play = Play(Script(calls(call("c1"), text="Let me look."), says("Here.")))
    assert (await play.run()).rounds == 2


@pytest.mark.spec("R-LOOP-8", "R-LIM-5")
async def test_s5_7_beyond_the_round_limit_there_is_one_closing_message_and_one_error_event() -> None:
    play = Play(Script(last=calls(call("again"))), rounds=3)
    result = await play.run()
    assert (result.end, result.rounds) == ("limit", 3)
    assert [m.text for m in result.messages].count(STOPPED) == 1
    assert result.messages[-1].text == STOPPED
    assert [e.text for e in play.events if type(e).__name__ == "LoopError"] == [STOPPED_EVENT]
    assert str(result.limit) == "maxIterations 3 (set by the test)"
    assert len(play.script.requests) == 3
    assert valid(result.messages)


@pytest.mark.spec("R-LOOP-6")
async def test_s5_8_one_signal_reaches_the_stream_and_the_tools() -> None:
    play = Play(Script([TextDelta("x"), Hang()]))
    asyncio.get_running_loop().call_later(0.02, play.token.cancel)
    await play.run()
    assert play.script.cancelled == 1

    async def waits_for_signal(_: ToolCallBlock) -> str:
        await play.token.wait()
        return "ended by the signal"

    play = Play(Script(calls(call("c1"), call("c2"), call("c3"))), Tools(waits_for_signal))
    asyncio.get_running_loop().call_later(0.02, play.token.cancel)
    result = await play.run()
    assert result.end == "aborted"
    assert [r.text for r in results(result)] == ["ended by the signal", "Operation aborted", "Operation aborted"]
    assert play.ledger.lines[-3:] == ["result c1 executed", "result c2 refused", "result c3 refused"]
    assert valid(result.messages)
    assert len(play.script.requests) == 1


@pytest.mark.spec("R-LOOP-6", "R-CAN-2")
async def test_a_run_that_is_cancelled_before_it_begins_asks_nothing() -> None:
    play = Play(Script(says("never")))
    play.token.cancel()
    assert (await play.run()).end == "aborted"
    assert play.script.requests == []


@pytest.mark.spec("R-CAN-9", "R-CAN-2")
async def test_a_deadline_ends_the_stream() -> None:
    play = Play(Script([TextDelta("a"), Hang()]))
    play.token = CancellationToken(deadline=time.monotonic() + 0.03)
    result = await play.run()
    assert (result.end, result.messages[-1].text) == ("aborted", "a")


@pytest.mark.spec("R-LOOP-11")
async def test_calls_of_an_answer_that_was_cut_at_the_output_limit_are_not_made() -> None:
    play = Play(Script(calls(call("c1"), call("c2"), reason="length"), says("again then")))
    result = await play.run()
    assert play.tools.order == []
    assert all(r.is_error and "Issue the call again" in r.text for r in results(result))
    assert valid(result.messages)


async def test_ten_thousand_calls_in_one_message_each_get_an_honest_answer_and_few_are_made() -> None:
    many = [call(f"c{n}") for n in range(10_000)]
    play = Play(Script(calls(*many), says("sorry")))
    beat = Beat()
    async with asyncio.TaskGroup() as group:
        heart = group.create_task(beat.run())
        result = await play.run()
        heart.cancel()
    assert beat.longest < HELD_S, "the loop's thread was held up"
    assert len(results(result)) == 10_000
    assert sum(not r.is_error for r in results(result)) == 64
    assert "at most 64 calls" in results(result)[-1].text
    assert valid(result.messages)
    assert len(play.script.requests[1].messages) == 66
    assert valid(play.script.requests[1].messages)


async def test_a_model_that_never_stops_writing_is_stopped() -> None:
    def endless(_: object):
        while True:
            yield TextDelta("x" * 1000)

    play = Play(Script(endless), max_characters=50_000)
    result = await play.run()
    assert result.end == "limit"
    assert result.error.code == "limit.answer_length"
    assert 50_000 < len(result.messages[-1].text) <= 52_000


async def test_an_empty_answer_is_a_response_and_adds_no_message() -> None:
    play = Play(Script([Finished("end")]))
    result = await play.run()
    assert (result.end, len(result.messages)) == ("response", 1)


async def test_call_ids_that_are_missing_or_doubled_and_odd_names_are_made_usable() -> None:
    odd = calls(call(""), call("same"), call("same"), call("c4", "rm -rf / ; é" * 20), call("c5", ""))
    play = Play(Script(odd, says("ok")))
    result = await play.run()
    blocks = result.messages[1].tool_calls
    assert len({b.call_id for b in blocks}) == 5
    assert all(b.call_id for b in blocks)
    assert all(b.tool and len(b.tool) <= 64 and b.tool.replace("_", "a").replace("-", "a").isalnum() for b in blocks)
    assert valid(result.messages)


@pytest.mark.spec("R-LOOP-14", "R-LIM-6")
async def test_a_transient_failure_is_tried_three_times_more_with_doubling_waits_and_one_event_each() -> None:
    play = Play(Script([ModelServerError("500")], [ModelUnreachable("down")], [ModelServerError("503")], says("ok")))
    result = await play.run()
    assert (result.end, result.rounds) == ("response", 1)
    assert play.slept == [1.0, 2.0, 4.0]
    assert [e.attempt for e in play.events if type(e).__name__ == "Retrying"] == [2, 3, 4]
    assert play.ledger.lines[0] == "round 1"
    assert play.ledger.lines.count("round 1") == 1


@pytest.mark.spec("R-LOOP-14")
async def test_after_three_retries_and_for_lasting_failures_the_loop_ends_with_the_error() -> None:
    play = Play(Script(last=[ModelServerError("still down")]))
    result = await play.run()
    assert (result.end, str(result.error), len(play.script.requests)) == ("error", "still down", 4)
    play = Play(Script([ModelKeyRefused("wrong key")]))
    result = await play.run()
    assert (result.end, play.slept, len(play.script.requests)) == ("error", [], 1)


@pytest.mark.spec("R-LOOP-14")
async def test_retry_after_is_honoured_and_when_it_is_long_the_person_decides() -> None:
    play = Play(Script([ModelRateLimited("slow down", retry_after=7.5)], says("ok")))
    await play.run()
    assert play.slept == [7.5]
    play = Play(Script([ModelRateLimited("tomorrow", retry_after=3600)]))
    result = await play.run()
    assert (result.end, play.slept, result.error.retry_after) == ("error", [], 3600)


@pytest.mark.spec("R-LOOP-14", "R-CAN-10")
async def test_waiting_for_a_retry_ends_at_once_with_an_abort() -> None:
    play = Play(Script(last=[ModelServerError("500")]), sleep=lambda _: asyncio.sleep(FOREVER_S))
    asyncio.get_running_loop().call_later(0.03, play.token.cancel)
    async with asyncio.timeout(WAIT_S):
        assert (await play.run()).end == "aborted"


async def test_a_stream_that_breaks_after_its_first_words_keeps_them_and_is_not_repeated() -> None:
    play = Play(Script([TextDelta("The answer is"), ModelStreamBroken("cut")]))
    result = await play.run()
    assert (result.end, len(play.script.requests)) == ("error", 1)
    assert (result.messages[-1].text, result.messages[-1].stop_reason) == ("The answer is", "cut")


async def test_a_stream_without_its_end_is_cut_and_before_the_first_word_tried_again() -> None:
    play = Play(Script([], says("second try")))
    assert (await play.run()).messages[-1].text == "second try"
    play = Play(Script([TextDelta("no end")]))
    assert isinstance((await play.run()).error, ModelStreamBroken)


@pytest.mark.spec("R-LOOP-5", "R-CTX-10")
async def test_deltas_are_forwarded_as_they_come_and_thinking_is_not_sent_back() -> None:
    end = Finished("tool_calls", (call("c"),))
    items = [ReasoningDelta("hm"), TextDelta("a"), ToolCallProgress(0, "read_file", 3), end]
    play = Play(Script(items, says("ok")))
    result = await play.run()
    assert play.events[1:5] == items
    assert [b.kind for b in result.messages[1].blocks] == ["reasoning", "text", "tool_call"]
    assert [b.kind for b in play.script.requests[1].messages[1].blocks] == ["text", "tool_call"]


@pytest.mark.spec("R-LOOP-16")
@pytest.mark.expects_log("a listener of the round loop failed")
async def test_a_listener_that_raises_does_not_affect_the_loop() -> None:
    def broken(_: object) -> None:
        raise RuntimeError("listener")

    play = Play(Script(calls(call("c1")), says("fine")), listener=broken)
    assert (await play.run()).messages[-1].text == "fine"


async def test_a_client_that_raises_something_else_ends_the_round_not_the_app() -> None:
    result = await Play(Script([TextDelta("a"), ZeroDivisionError("bug")])).run()
    assert (result.end, result.messages[-1].text) == ("error", "a")
    assert isinstance(result.error, ZeroDivisionError)


@pytest.mark.spec("R-LOOP-15", "R-SUP-7", "R-SUP-11")
async def test_a_budget_stops_before_the_next_request_and_keeps_what_was_said() -> None:
    tracker = BudgetTracker(ExecutionBudget(max_tokens=150))
    play = Play(Script(last=calls(call("c"))), budget=tracker)
    result = await play.run()
    assert (result.end, result.rounds) == ("budget", 2)
    assert "max_tokens 150" in str(result.error)
    assert valid(result.messages)
    assert tracker.used.input_tokens == 200


@pytest.mark.spec("S-LOOP-1")
async def test_messages_typed_meanwhile_come_in_before_the_next_round() -> None:
    async def typed() -> list[ChatMessage]:
        return [user_message("stop after this")]

    play = Play(Script(calls(call("c1")), says("as you say")), steering=typed)
    result = await play.run()
    assert [m.role for m in result.messages] == ["user", "assistant", "tool", "user", "assistant"]


@pytest.mark.spec("R-SES-20")
async def test_a_verdict_may_ask_for_another_round_or_end_the_loop() -> None:
    verdicts = [RoundVerdict(nudge="Continue."), RoundVerdict(stop=True)]
    play = Play(Script(says("one"), says("two")), after_round=lambda *_: verdicts.pop(0))
    result = await play.run()
    assert [m.text for m in result.messages] == ["hello", "one", "Continue.", "two"]
    assert result.end == "stopped"


@pytest.mark.spec("R-MW-6", "R-MW-4")
async def test_chat_layers_wrap_every_request_and_a_termination_ends_the_run() -> None:
    seen: list[int] = []

    class Counts:
        async def process(self, context: ChatContext, call_next: CallNext) -> None:
            seen.append(len(context.request.messages))
            await call_next()
            if len(seen) == 2:
                raise MiddlewareTermination("enough for today")

    play = Play(Script(calls(call("c1")), says("unseen")), layers=[Counts()])
    result = await play.run()
    assert seen == [1, 3]
    assert (result.end, str(result.error)) == ("terminated", "enough for today")

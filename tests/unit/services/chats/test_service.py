"""Sending, stopping, editing, continuing: what a person sees and what the database keeps."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import KnownError
from desktop.domain.messages import FileBlock, ImageBlock, NoticeBlock, TextBlock, ToolResultBlock
from desktop.domain.models import TextDelta
from desktop.domain.runs.effects import is_digest
from desktop.domain.runs.events import (
    ContextMeasured,
    MessageClosed,
    MessageOpened,
    RunEnded,
    RunStarted,
    TextArrived,
    ToolCallFinished,
    ToolCallStarted,
    ToolCallWaiting,
    UserMessageDelivered,
    UserMessageQueued,
)
from desktop.models.scripted import ScriptedModel, calls, fails, says
from desktop.supervision.tasks import RunSlots
from tests.harness.store import copy_database
from tests.harness.timeouts import FOREVER_S, WAIT_S, until
from tests.unit.agents.script import Hang, Script, call
from tests.unit.agents.script import calls as many_calls
from tests.unit.agents.script import says as speaks
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.services.kit import MODEL, agent, world


def shown(messages) -> list[tuple[str, str]]:
    return [(m.role, m.text) for m in messages]


def notices(messages) -> list[NoticeBlock]:
    return [b for m in messages for b in m.blocks if isinstance(b, NoticeBlock)]


@pytest.mark.spec("R-SES-1", "R-SES-2", "R-SES-7", "R-SES-18", "R-LOOP-5", "R-UI-1")
async def test_a_message_is_answered_stored_and_told(tmp_path: Path) -> None:
    async with world(tmp_path, ScriptedModel([says("Good morning.", pieces=3)])) as w:
        thread = await w.thread()
        sent = await w.service.send(thread, "hello")
        messages = await w.settled(thread)
        assert shown(messages) == [("user", "hello"), ("assistant", "Good morning.")]
        assert [m.status for m in messages] == ["complete", "complete"]
        assert messages[1].parent_id == sent.message_id
        assert w.kinds()[-8:] == [
            "RunStarted",
            "ContextMeasured",
            "MessageOpened",
            "TextArrived",
            "TextArrived",
            "TextArrived",
            "MessageClosed",
            "RunEnded",
        ]
        assert w.ends()[0].reason == "response"
        run = await w.store.runs.get(run_id=sent.run_id)
        assert (run.end_reason, run.agent, run.model) == ("response", "assistant", MODEL)
        assert len(thread) == 32


async def test_the_message_is_on_the_disk_before_the_model_is_asked(tmp_path: Path) -> None:
    class Looks:
        def __init__(self) -> None:
            self.seen: list[str] = []

        async def stream(self, request, meta):
            self.seen = [m.text for m in await w.service.path(meta.thread_id)]
            for item in speaks("ok"):
                yield item

    model = Looks()
    async with world(tmp_path, model) as w:
        await w.ask(await w.thread(), "remember this")
    assert model.seen[0] == "remember this"


@pytest.mark.spec("R-LOOP-4", "R-JRN-2", "R-JRN-5", "R-CTX-11")
async def test_every_round_is_a_message_and_every_result_too(tmp_path: Path) -> None:
    model = ScriptedModel([calls("read_file", {"path": "a.txt"}, text="Let me look."), says("It says hi.")])
    async with world(tmp_path, model, FakeTool(body=lambda *_: "hi"), supervised=True) as w:
        thread = await w.thread()
        sent = await w.service.send(thread, "what does it say?")
        messages = await w.settled(thread)
        assert [m.role for m in messages] == ["user", "assistant", "tool", "assistant"]
        assert [m.round_number for m in messages] == [0, 1, 1, 2]
        result = messages[2].blocks[0]
        assert isinstance(result, ToolResultBlock)
        assert (result.text, result.tool, result.facts["category"]) == ("hi", "read_file", "read")
        finished = next(e for e in w.events if isinstance(e, ToolCallFinished))
        assert finished.result_message_id == messages[2].message_id
        assert finished.message_id == messages[1].message_id
        log = await w.store.effects.load(sent.run_id)
        assert [(one.kind, one.phase) for one in log] == [
            *((kind, phase) for kind in ("llm", "tool", "llm") for phase in ("begun", "completed")),
            ("end", "completed"),
        ]
        assert [one.sequence for one in log] == list(range(1, 8))
        assert all(one.digest for one in log[:6])
        assert all(is_digest(one.value) for one in log if one.phase == "completed" and one.kind != "end")


@pytest.mark.spec("R-SES-2", "R-CTX-9")
async def test_the_next_message_is_asked_with_everything_before_it_and_the_skill_as_system_text(tmp_path: Path) -> None:
    model = ScriptedModel([says("one"), says("two")])
    async with world(tmp_path, model, FakeTool()) as w:
        thread = await w.thread()
        await w.ask(thread, "first")
        await w.ask(thread, "second")
        assert [m.text for m in model.requests[1].messages] == ["first", "one", "second"]
        assert "You are Assent" in model.requests[0].system
        assert "read_file (runs at once)" in model.requests[0].system
        shown = [tool["name"] for tool in model.requests[0].tools]
        assert shown == ["read_file", "skill_list", "skill_describe", "skill_invoke"]
        assert isinstance(next(e for e in w.events if isinstance(e, ContextMeasured)).used, int)


@pytest.mark.spec("R-CAN-10", "R-LOOP-10")
async def test_stop_is_at_the_surface_at_once_and_keeps_the_text(tmp_path: Path) -> None:
    async with world(tmp_path, Script([TextDelta("half an "), TextDelta("answer"), Hang()])) as w:
        thread = await w.thread()
        await w.service.send(thread, "go")
        await w.until(TextArrived, 2)
        assert await w.service.stop(thread)
        await w.until(RunEnded)  # the model itself never goes on
        messages = await w.settled(thread)
        assert (messages[-1].text, messages[-1].stop_reason) == ("half an answer", "aborted")
        assert w.ends()[0].reason == "cancelled"
        assert not await w.service.stop(thread)


@pytest.mark.spec("R-CAN-10", "R-PRM-9")
async def test_stop_while_a_tool_runs_ends_it_and_leaves_a_valid_transcript(tmp_path: Path) -> None:
    async def slow(*_: object) -> str:
        await asyncio.sleep(FOREVER_S)
        return "never"

    model = ScriptedModel([calls("read_file", {"path": "a"}), says("after")])
    async with world(tmp_path, model, FakeTool(body=slow)) as w:
        thread = await w.thread()
        await w.service.send(thread, "go")
        await w.until(MessageClosed)
        await w.service.stop(thread)
        await w.until(RunEnded)
        messages = await w.settled(thread)
        assert messages[-1].blocks[0].text == "Operation aborted"
        await w.ask(thread, "and now?")
        assert [m.role for m in model.requests[-1].messages] == ["user", "assistant", "tool", "user"]


@pytest.mark.spec("R-PRM-1", "R-PRM-4", "R-SUP-10")
async def test_a_denied_write_is_read_by_the_model_and_the_run_goes_on(tmp_path: Path) -> None:
    tool = FakeTool("write-file", Category.WRITE)
    model = ScriptedModel([calls("write_file", {"path": "a"}), says("I did not write it.")])
    async with world(tmp_path, model, tool, person=Person("deny")) as w:
        messages = await w.ask(await w.thread(), "write it")
        assert messages[2].blocks[0].text.startswith("Permission denied by user")
        assert messages[-1].text == "I did not write it."
        assert any(isinstance(event, ToolCallWaiting) for event in w.events)
        assert tool.calls == []


@pytest.mark.spec("R-SES-19", "R-UI-1")
async def test_messages_sent_during_a_run_wait_in_order_and_survive_a_restart(tmp_path: Path) -> None:
    async with world(tmp_path, Script([TextDelta("working"), Hang()])) as w:
        thread = await w.thread()
        await w.service.send(thread, "first")
        await w.until(TextArrived)
        queued = [await w.service.send(thread, text) for text in ("second", "third", "fourth")]
        assert [q.run_id for q in queued] == ["", "", ""]
        assert [e.text for e in w.events if isinstance(e, UserMessageQueued)] == ["second", "third", "fourth"]
        assert await w.service.remove_queued(thread, queued[1].queue_id)
    model = ScriptedModel([says("to second"), says("to fourth")])
    async with world(tmp_path, model) as w:
        assert [text for _, text in await w.service.queued(thread)] == ["second", "fourth"]
        await w.service.release_queue(thread)
        await w.until(RunEnded, 2)
        assert await w.service.queued(thread) == []
        assert shown(await w.settled(thread))[-4:] == [
            ("user", "second"),
            ("assistant", "to second"),
            ("user", "fourth"),
            ("assistant", "to fourth"),
        ]
        assert [m.text for m in model.requests[0].messages] == ["first", "working", "second"]


@pytest.mark.spec("R-SES-19")
async def test_what_is_typed_during_a_run_is_read_by_the_model_before_its_next_round(tmp_path: Path) -> None:
    go = asyncio.Event()

    async def slow(*_: Any) -> str:
        await go.wait()
        return "looked"

    model = ScriptedModel([calls("look", {"path": "a"}), says("Then I stop.")])
    async with world(tmp_path, model, FakeTool("look", body=slow)) as w:
        thread = await w.thread()
        await w.service.send(thread, "look at it all")
        await w.until(ToolCallStarted)
        first = await w.service.send(thread, "only the first")
        second = await w.service.send(thread, "and be brief")
        back = await w.service.send(thread, "never mind")
        assert await w.service.remove_queued(thread, back.queue_id)
        go.set()
        await w.until(RunEnded)
        assert shown(await w.settled(thread)) == [
            ("user", "look at it all"),
            ("assistant", ""),
            ("tool", ""),
            ("user", "only the first"),
            ("user", "and be brief"),
            ("assistant", "Then I stop."),
        ]
        assert await w.service.queued(thread) == []
        asked = model.requests[1].messages
        assert [(m.role, m.text) for m in asked[-2:]] == [("user", "only the first"), ("user", "and be brief")]
        taken = [e.queue_id for e in w.events if isinstance(e, UserMessageDelivered)]
        assert taken == [first.queue_id, second.queue_id]


async def test_two_sends_at_once_start_one_run_and_queue_the_other(tmp_path: Path) -> None:
    async with world(tmp_path, ScriptedModel([says("1"), says("2")])) as w:
        thread = await w.thread()
        sent = await asyncio.gather(w.service.send(thread, "a"), w.service.send(thread, "b"))
        assert sorted(bool(s.queue_id) for s in sent) == [False, True]
        await w.until(RunEnded, 2)
        assert [role for role, _ in shown(await w.settled(thread))] == ["user", "assistant"] * 2


@pytest.mark.spec("R-LOOP-10")
@pytest.mark.parametrize(
    "code", ["model.unreachable", "model.key_refused", "model.rate_limited", "model.context_too_long", "model.unknown"]
)
async def test_a_failure_is_a_notice_in_the_thread_and_can_be_retried(tmp_path: Path, code: str) -> None:
    model = ScriptedModel([fails(code, "It did not work.", retry_after=90), says("now it does")])
    async with world(tmp_path, model) as w:
        thread = await w.thread()
        messages = await w.ask(thread, "try")
        assert [(n.text, n.code, n.severity) for n in notices(messages)] == [("It did not work.", code, "error")]
        end = w.ends()[0]
        assert (end.reason, end.code, end.detail) == ("error", code, "It did not work.")
        assert end.retry_after == (90 if code == "model.rate_limited" else None)
        await w.service.retry(thread)
        assert shown(await w.settled(thread)) == [("user", "try"), ("assistant", "now it does")]
        assert [m.text for m in model.requests[1].messages] == ["try"]
        started = [event for event in w.events if isinstance(event, RunStarted)]
        assert started[-1].user_message_id == messages[0].message_id


async def test_a_stream_that_breaks_keeps_its_text_and_can_be_continued(tmp_path: Path) -> None:
    model = ScriptedModel([[{"text": "The first half"}, {"cut": True}], says(" and the second.")])
    async with world(tmp_path, model) as w:
        thread = await w.thread()
        messages = await w.ask(thread, "tell me")
        assert (messages[-1].text, messages[-1].stop_reason) == ("The first half", "cut")
        assert notices(messages)[0].code == "model.stream_cut"
        await w.service.continue_answer(messages[-1].message_id)
        messages = await w.settled(thread)
        assert [m.text for m in messages] == ["tell me", "The first half", " and the second."]
        assert [m.text for m in model.requests[1].messages] == ["tell me", "The first half", "Continue."]


@pytest.mark.spec("R-CAN-10", "R-UI-8")
async def test_closing_the_app_keeps_the_answer_as_interrupted_and_the_next_start_goes_on(tmp_path: Path) -> None:
    async with world(tmp_path, Script([TextDelta("I was about to"), Hang()])) as w:
        thread = await w.thread()
        await w.service.send(thread, "go")
        await w.until(TextArrived)
        assert await w.service.close() == []
        assert w.ends()[0].reason == "interrupted"
    async with world(tmp_path, ScriptedModel([says(" say this.")])) as w:
        messages = await w.service.path(thread)
        assert (messages[-1].status, messages[-1].text) == ("interrupted", "I was about to")
        assert (await w.service.thread(thread)).state == "interrupted"
        await w.service.continue_answer(thread)
        assert (await w.settled(thread))[-1].text == " say this."


@pytest.mark.spec("R-LOOP-10")
async def test_a_run_that_died_with_its_process_is_closed_at_the_next_start(tmp_path: Path) -> None:
    async with world(tmp_path, Script([TextDelta("partial"), Hang()])) as w:
        thread = await w.thread()
        sent = await w.service.send(thread, "go")
        await w.until(TextArrived)
        await asyncio.sleep(0.25)
        copy = tmp_path / "crash"
        copy.mkdir()
        await copy_database(w.store, copy / "assent.db")  # what the disk holds while the run is under way
    async with world(copy, ScriptedModel([])) as w:
        assert [run.run_id for run in w.recovery.runs] == [sent.run_id]
        messages = await w.service.path(thread)
        assert (messages[-1].status, messages[-1].text) == ("interrupted", "partial")


async def test_an_edit_is_a_sibling_with_its_attachments_and_a_new_answer(tmp_path: Path) -> None:
    async with world(tmp_path, ScriptedModel([says("A"), says("B")])) as w:
        thread = await w.thread()
        first = await w.ask(thread, "old words", FileBlock("notes.txt", "content"))
        await w.service.edit(first[0].message_id, "new words")
        second = await w.settled(thread)
        assert second[0].blocks == (TextBlock("new words"), FileBlock("notes.txt", "content"))
        assert shown(second)[1] == ("assistant", "B")
        places = await w.service.sibling_places([second[0].message_id])
        assert places[second[0].message_id] == (2, 2)
        assert await w.service.go_sibling(second[0].message_id, -1) == first[0].message_id
        assert [m.message_id for m in await w.service.path(thread)] == [m.message_id for m in first]
        assert await w.service.go_sibling(first[0].message_id, -1) == first[0].message_id


async def test_regenerate_answers_beside_the_answer_even_when_that_had_several_rounds(tmp_path: Path) -> None:
    model = ScriptedModel([calls("read_file", {"path": "a"}), says("first"), says("second"), says("more")])
    async with world(tmp_path, model, FakeTool()) as w:
        thread = await w.thread()
        first = await w.ask(thread, "question")
        await w.service.regenerate(first[-1].message_id)
        again = await w.settled(thread)
        assert shown(again) == [("user", "question"), ("assistant", "second")]
        assert (await w.service.sibling_places([again[1].message_id]))[again[1].message_id] == (2, 2)
        await w.service.go_sibling(again[1].message_id, -1)
        assert (await w.service.branch_from(first[1].message_id)) == first[-1].message_id
        assert [m.text for m in await w.ask(thread, "go on")][-1] == "more"


async def test_changing_a_thread_that_is_being_answered_is_refused_in_words(tmp_path: Path) -> None:
    async with world(tmp_path, Script([TextDelta("x"), Hang()])) as w:
        thread = await w.thread()
        sent = await w.service.send(thread, "go")
        await w.until(TextArrived)
        service = w.service
        for action in (service.edit(sent.message_id, "y"), service.regenerate(sent.message_id), service.retry(thread)):
            with pytest.raises(KnownError, match="still being answered"):
                await action


@pytest.mark.spec("R-SES-13", "R-SES-15", "R-LIM-1", "R-LIM-5", "R-SES-18")
async def test_a_side_that_reaches_its_rounds_is_stopped_and_says_which_limit(tmp_path: Path) -> None:
    model = ScriptedModel([calls("read_file", {"path": "a"})], repeat=True)
    async with world(tmp_path, model, FakeTool(), agents=agent(max_rounds=2)) as w:
        thread = await w.thread()
        messages = await w.ask(thread, "loop")
        end = w.ends()[0]
        assert (end.reason, end.code) == ("max_steps", "limit.rounds")
        assert end.limit == "maxSteps 2 (set by the agent assistant)"
        assert messages[-1].text == "Stopped: maximum iteration limit reached."
        assert end.limit in notices(messages)[0].text
        assert len(model.requests) == 2
    async with world(tmp_path, model, FakeTool()) as w:
        await w.ask(await w.thread(), "loop")
        assert (w.ends()[0].reason, w.ends()[0].limit) == ("limit", "maxIterations 20 (set by the loop's default)")


@pytest.mark.spec("R-SES-20", "R-SES-13")
async def test_without_stop_on_response_a_text_is_followed_by_another_round(tmp_path: Path) -> None:
    model = ScriptedModel([says("one"), says("two"), says("three")])
    async with world(tmp_path, model, agents=agent(stop_on_response=False, max_rounds=3)) as w:
        messages = await w.ask(await w.thread(), "go")
        assert [m.text for m in messages[:4]] == ["go", "one", "two", "three"]
        assert [m.text for m in model.requests[2].messages] == ["go", "one", "Continue.", "two", "Continue."]
        assert w.ends()[0].reason == "max_steps"


async def test_an_empty_answer_says_so(tmp_path: Path) -> None:
    async with world(tmp_path, ScriptedModel([says("")])) as w:
        messages = await w.ask(await w.thread(), "hm?")
        assert notices(messages)[0].code == "model.empty"
        assert w.ends()[0].reason == "response"


@pytest.mark.spec("R-LOOP-12", "R-LIM-8")
async def test_ten_thousand_calls_are_stored_answered_and_the_thread_goes_on(tmp_path: Path) -> None:
    many = [many_calls(*(call(f"c{n}") for n in range(10_000))), speaks("done")]
    async with world(tmp_path, Script(*many), FakeTool()) as w:
        thread = await w.thread()
        messages = await w.ask(thread, "go wild")
        assert messages[-1].text == "done"
        answered = [b for m in messages for b in m.blocks if isinstance(b, ToolResultBlock)]
        assert len(answered) == 10_000
        assert sum(isinstance(e, ToolCallFinished) for e in w.events) == 10_000


@pytest.mark.spec("R-DEF-11")
async def test_a_missing_prompt_model_or_agent_is_an_error_before_any_request(tmp_path: Path) -> None:
    model = ScriptedModel([])
    async with world(tmp_path, model, roots=()) as w:
        assert "sideA.prompt" in notices(await w.ask(await w.thread(), "x"))[0].text
    async with world(tmp_path, model) as w:
        assert notices(await w.ask(await w.thread(model=""), "x"))[0].code == "model.none"
        assert notices(await w.ask(await w.thread(agent="nobody"), "x"))[0].code == "not_found"
    assert model.requests == []


@pytest.mark.spec("R-LIM-1")
async def test_more_runs_than_slots_wait_for_their_turn_and_can_be_stopped_while_they_wait(tmp_path: Path) -> None:
    script = Script([TextDelta("x"), Hang()], last=speaks("ok"))
    async with world(tmp_path, script, slots=RunSlots(1)) as w:
        first, second, third = [await w.thread() for _ in range(3)]
        await w.service.send(first, "holds the slot")
        await w.until(TextArrived)
        await w.service.send(second, "waits")
        await w.service.send(third, "waits too")
        await until(lambda: w.slots.waiting == 2, "both in the queue")
        assert len(script.requests) == 1
        await w.service.stop(second)
        await w.until(RunEnded)
        assert w.ends()[0].thread_id == second
        await w.service.stop(first)
        assert shown(await w.settled(third))[-1] == ("assistant", "ok")


@pytest.mark.expects_log("the model client failed")
async def test_a_bug_in_the_model_client_costs_one_run_and_shows_no_internals(tmp_path: Path) -> None:
    async with world(tmp_path, Script([TextDelta("a"), ZeroDivisionError("/home/me/secret")], speaks("fine"))) as w:
        thread = await w.thread()
        messages = await w.ask(thread, "go")
        assert notices(messages)[0].code == "bug"
        assert "secret" not in notices(messages)[0].text
        assert (await w.ask(thread, "again"))[-1].text == "fine"


@pytest.mark.spec("R-LOOP-15")
async def test_usage_is_summed_for_the_run_and_the_thread(tmp_path: Path) -> None:
    async with world(tmp_path, Script(speaks("a"), speaks("b"))) as w:
        thread = await w.thread()
        await w.ask(thread, "1")
        await w.ask(thread, "2")
        usage = (await w.service.thread(thread)).usage
        assert (usage.input_tokens, usage.output_tokens, round(usage.cost_usd, 6)) == (200, 20, 0.002)
        assert w.ends()[1].usage.input_tokens == 100


async def test_partial_text_is_on_the_disk_while_the_answer_goes_on(tmp_path: Path) -> None:
    async with world(tmp_path, Script([TextDelta("seen on screen"), Hang()])) as w:
        thread = await w.thread()
        await w.service.send(thread, "go")
        await w.until(TextArrived)
        async with asyncio.timeout(WAIT_S):
            while (await w.service.path(thread))[-1].text != "seen on screen":
                await asyncio.sleep(0.01)
        assert isinstance(next(e for e in w.events if isinstance(e, MessageOpened)).message_id, str)


async def test_attachments_travel_with_the_message(tmp_path: Path) -> None:
    model = ScriptedModel([says("nice")])
    async with world(tmp_path, model) as w:
        await w.ask(await w.thread(), "look", ImageBlock("image/png", "aGk=", "cat.png"))
        assert [b.kind for b in model.requests[0].messages[0].blocks] == ["text", "image"]


async def test_a_message_without_words_is_titled_by_its_answer(tmp_path: Path) -> None:
    async with world(tmp_path, ScriptedModel([says("A cat on a mat.")])) as w:
        thread = await w.thread()
        await w.ask(thread, "", ImageBlock("image/png", "aGk=", "cat.png"))
        assert (await w.service.thread(thread)).title == "A cat on a mat"


@pytest.mark.expects_log
async def test_a_store_that_refuses_ends_the_run_in_words_and_the_service_lives_on(tmp_path: Path) -> None:
    script = Script([TextDelta("x"), Hang()], speaks("still here"))
    async with world(tmp_path, script) as w:
        thread, other = await w.thread(), await w.thread()
        await w.service.send(thread, "go")
        await w.until(TextArrived)
        await w.store.threads.delete(thread_id=thread, at=1.0)
        await w.store.threads.purge(thread_id=thread)  # nothing of the thread is left to write to
        await w.service.stop(thread)
        await w.until(RunEnded)
        assert w.ends()[0].reason == "error"
        assert w.service.running() == ()
        assert (await w.ask(other, "and you?"))[-1].text == "still here"

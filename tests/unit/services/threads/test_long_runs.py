"""A run whose own rounds no longer fit: they are summarised while it is at work, once, and nothing is lost."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.agents.loop.window import SUMMARY_HEAD, TASK_FOLLOWS
from desktop.domain.errors import ModelContextTooLong, ModelServerError
from desktop.domain.messages import ChatMessage, TextBlock, ToolCallBlock, ToolResultBlock
from desktop.domain.models import ModelRequest
from desktop.domain.runs.events import RunTreeChanged
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.domain.threads import MessageRecord, RunRecord
from desktop.services.threads.context import ContextService
from desktop.services.threads.history import RECENT
from tests.harness.store import add_all
from tests.harness.timeouts import until
from tests.unit.agents.script import Hang, Script, call, calls, says
from tests.unit.agents.test_rounds import valid
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.delegation.test_tools import BOSS, HELPER, house, one
from tests.unit.services.kit import MODEL, agent
from tests.unit.services.threads.test_context import Chat, chat, is_summary

ROUNDS = 30
TASK = "Count the boats in every harbour."
DONE = "All counted."


def reads(size: int = 3_000) -> FakeTool:
    return FakeTool("read-file", body=lambda args, _: f"harbour {args['path']}: " + "b" * size)


class Work:
    """A model that reads a file in each of so many rounds; ``summary`` answers the requests for a summary."""

    def __init__(self, summary: Callable[[], Any] = lambda: says("Harbours were read."), rounds: int = ROUNDS) -> None:
        self.summary, self.left, self.round = summary, rounds, 0

    def __call__(self, request: ModelRequest) -> Any:
        if is_summary(request):
            return self.summary()
        self.round += 1
        if self.round > self.left:
            return says(DONE)
        return calls(call(f"c{self.round}", path=f"p{self.round}"))


def texts(request: ModelRequest) -> str:
    return "".join(block.text for m in request.messages for block in m.blocks if hasattr(block, "text"))


def unknown(messages: Sequence[ChatMessage], path: Sequence[MessageRecord]) -> list[ChatMessage]:
    """Messages that are not known to be those of the thread: none of them could be pinned or summarised."""
    stored = {record.message_id for record in path}
    return [message for message in messages if message.source_id not in stored]


def tasks(requests: Sequence[ModelRequest]) -> set[int]:
    return {sum(m.text == TASK for m in request.messages) for request in requests}


def long(path: Path, work: Work, **options: Any) -> Any:
    book = agent(max_rounds=ROUNDS * 2)
    return chat(path, work, options.pop("tool", reads()), agents=book, supervised=True, **options)


@pytest.mark.spec("R-CTX-3", "R-CTX-5", "R-CTX-6", "R-CTX-9")
async def test_older_rounds_of_a_run_at_work_are_summarised_and_the_task_stays_word_for_word(tmp_path: Path) -> None:
    async with long(tmp_path, Work()) as c:
        thread_id = await c.world.thread()
        path = await c.world.ask(thread_id, TASK)
        assert c.world.ends()[-1].reason == "response"
        assert 2 <= len(c.summaries) <= ROUNDS // 4
        assert "harbour p1:" in texts(c.summaries[0])
        assert "Harbours were read." in texts(c.summaries[-1])
        assert tasks(c.asked) == {1}
        assert all(valid(request.messages) for request in c.asked)
        last = c.asked[-1].messages
        assert last[0].text.startswith(f"{SUMMARY_HEAD}\n{TASK_FOLLOWS}")
        assert f"harbour p{ROUNDS}:" in texts(c.asked[-1])
        results = [block for m in path for block in m.blocks if isinstance(block, ToolResultBlock)]
        assert (len(results), path[-1].text) == (ROUNDS, DONE)
        assert c.account.dropped == 0
        assert c.account.summarised + c.account.kept == len(path) - 1
        assert "Harbours were read." in (await c.context.overlay(thread_id)).summary
        assert unknown(last[1:], path) == []
        nodes = [node for event in c.world.events if isinstance(event, RunTreeChanged) for node in event.nodes]
        assert nodes[-1].rounds == len(c.asked)


@pytest.mark.spec("R-CTX-9", "R-JRN-2")
async def test_a_run_that_was_killed_goes_on_with_the_summary_it_had_and_makes_none_again(tmp_path: Path) -> None:
    killed, again = tmp_path / "killed", tmp_path / "again"
    killed.mkdir()
    again.mkdir()
    begun = asyncio.Event()

    async def reading(args: Any, context: Any) -> str:
        if args["path"] == "p14":
            begun.set()
            await context.meta.cancellation.wait()
        return f"harbour {args['path']}: " + "b" * 3_000

    async with long(killed, Work(), tool=FakeTool("read-file", body=reading, timeout_s=60)) as c:
        thread_id = await c.world.thread()
        await c.service.send(thread_id, TASK)
        await until(begun.is_set)
        made = len(c.summaries)
        for file in killed.glob("assent.db*"):  # what the disk has at this moment
            shutil.copy(file, again / file.name)
        await c.service.stop(thread_id)
        await c.world.settled(thread_id)
    assert made >= 1
    async with long(again, Work(rounds=0)) as c:
        await c.service.continue_answer(thread_id)
        path = await c.world.settled(thread_id)
        assert path[-1].text == DONE
        assert c.summaries == []
        assert c.asked[0].messages[0].text.startswith(SUMMARY_HEAD)
        assert tasks(c.asked) == {1}
        assert valid(c.asked[0].messages)
        assert "harbour p14:" in texts(c.asked[0])
        assert unknown(c.asked[0].messages[1:], path) == []


@pytest.mark.spec("R-CTX-7")
async def test_where_no_summary_of_its_rounds_can_be_made_the_run_goes_on_without_the_oldest(tmp_path: Path) -> None:
    async with long(tmp_path, Work(lambda: [ModelServerError("The server is away.")])) as c:
        await c.world.ask(await c.world.thread(), TASK)
        assert c.world.ends()[-1].reason == "response"
        assert 1 <= len(c.summaries) <= 2
        assert c.account.dropped > 0
        assert tasks(c.asked) == {1}
        assert all(valid(request.messages) for request in c.asked)


@pytest.mark.spec("R-CAN-10", "R-CTX-6")
async def test_a_run_that_is_stopped_while_it_summarises_ends_and_keeps_no_half_summary(tmp_path: Path) -> None:
    async with long(tmp_path, Work(lambda: [Hang()])) as c:
        thread_id = await c.world.thread()
        await c.service.send(thread_id, TASK)
        await until(lambda: bool(c.summaries))
        rounds = len(c.asked)
        await c.service.stop(thread_id)
        await c.world.settled(thread_id)
        assert (c.world.ends()[-1].reason, len(c.asked), c.script.cancelled) == ("cancelled", rounds, 1)
        assert c.world.kinds().count("MessageOpened") == rounds
        assert (await c.context.overlay(thread_id)).summary == ""


@pytest.mark.spec("R-SUP-7", "R-SUP-14", "R-JRN-2")
async def test_a_summary_passes_the_queue_counts_in_the_budget_and_is_in_the_runs_journal(tmp_path: Path) -> None:
    passed: list[ModelRequest] = []

    class Watch:
        name = "watch"

        async def process(self, context: Any, call_next: Any) -> None:
            passed.append(context.request)
            await call_next()

    budget = ExecutionBudget(max_tokens=110 * 12)
    async with long(tmp_path, Work(), budget=budget) as c:
        gate = c.world.live.models
        c.service._runtime = replace(c.service._runtime, chat_layers=(gate, Watch()))
        thread_id = await c.world.thread()
        sent = await c.service.send(thread_id, TASK)
        await c.world.settled(thread_id)
        assert [is_summary(request) for request in passed].count(True) == len(c.summaries) >= 1
        assert len(c.script.requests) == 12  # 110 tokens each, summaries among them
        assert c.world.ends()[-1].reason == "budget"
        log = await c.world.store.effects.load(sent.run_id)
        assert sum(one.kind == "llm" and one.phase == "completed" for one in log) == 12


@pytest.mark.spec("R-CTX-5", "R-CTX-6")
async def test_a_message_of_the_run_can_be_pinned_and_its_summary_taken_back_while_it_works(tmp_path: Path) -> None:
    goes_on = asyncio.Event()

    async def reading(args: Any, _context: Any) -> str:
        if args["path"] == "p20":
            await goes_on.wait()
        return f"harbour {args['path']}: " + "b" * 3_000

    async with long(tmp_path, Work(), tool=FakeTool("read-file", body=reading, timeout_s=60)) as c:
        thread_id = await c.world.thread()
        await c.service.send(thread_id, TASK)
        await until(lambda: len(c.asked) == 20)
        assert TASK_FOLLOWS in texts(c.asked[-1])
        path = await c.service.path(thread_id)
        second = next(m for m in path if any(getattr(b, "call_id", "") == "c2" for b in m.blocks))
        await c.context.pin(thread_id, second.message_id, True)
        await c.context.undo_summary(thread_id)
        made = len(c.summaries)
        goes_on.set()
        await c.world.settled(thread_id)
        later = c.asked[20:]
        assert len(c.summaries) == made
        assert all("harbour p2:" in texts(request) for request in later)
        assert not any(SUMMARY_HEAD in texts(request) for request in later)
        assert all(valid(request.messages) for request in later)
        assert (c.account.pinned, c.account.summarised) == (1, 0)


@pytest.mark.spec("R-CTX-5")
async def test_what_a_person_adds_during_the_run_does_not_push_out_what_began_it(tmp_path: Path) -> None:
    async with long(tmp_path, Work(), allowed=False) as c:
        thread_id = await c.world.thread()
        await c.service.send(thread_id, TASK)
        await until(lambda: len(c.asked) >= 2)
        await c.service.send(thread_id, "Leave out the dinghies.")
        await c.world.settled(thread_id)
        assert tasks(c.asked) == {1}
        assert "Leave out the dinghies." in texts(c.asked[-1])
        assert c.account.dropped > 0
        assert unknown(c.asked[-1].messages, await c.service.path(thread_id)) == []


def sized(c: Chat, window: int) -> None:
    c.service._runtime = replace(c.service._runtime, context_window=lambda _ref: window)


@pytest.mark.spec("R-CTX-7")
@pytest.mark.parametrize(
    ("window", "text", "says_why"),
    [(12_000, "word " * 20_000, "last messages do not fit"), (300, "Hello", "instructions and tools alone")],
)
@pytest.mark.parametrize("allowed", [True, False])
async def test_what_cannot_fit_ends_the_run_with_its_reason_before_any_model_is_asked(
    tmp_path: Path, window: int, text: str, says_why: str, allowed: bool
) -> None:
    async with long(tmp_path, Work(), allowed=allowed) as c:
        sized(c, window)
        path = await c.world.ask(await c.world.thread(), text)
        end = c.world.ends()[-1]
        assert c.script.requests == []
        assert (end.reason, end.code) == ("error", ModelContextTooLong.code)
        assert says_why in end.detail
        assert "larger window" in end.next_step
        assert path[0].text == text


@pytest.mark.spec("R-CTX-6", "R-CTX-7")
@pytest.mark.parametrize("allowed", [True, False])
async def test_a_result_larger_than_the_window_is_read_shortened_and_so_many_that_even_that_is_too_much_end_the_run(
    tmp_path: Path, allowed: bool
) -> None:
    many = tuple(call(f"c{n}", path=f"p{n}") for n in range(60))
    script = iter([calls(call("c", path="p")), says("Read."), calls(*many)])
    async with long(tmp_path, lambda _request: next(script), tool=reads(90_000), allowed=allowed) as c:  # type: ignore[arg-type]
        sized(c, 8_000)
        thread_id = await c.world.thread()
        await c.world.ask(thread_id, TASK)
        assert c.world.ends()[-1].reason == "response"
        assert "characters left out" in texts(c.asked[1])
        assert (c.account.shrunk, c.account.dropped) == (1, 0)
        await c.world.ask(thread_id, "And now sixty.")
        end = c.world.ends()[-1]
        assert len(c.script.requests) == 3
        assert (end.reason, end.code) == ("error", ModelContextTooLong.code)
        results = [b for m in await c.service.path(thread_id) for b in m.blocks if isinstance(b, ToolResultBlock)]
        assert len(results) == 61
        assert max(len(block.text) for block in results) > 20_000


@pytest.mark.spec("R-AAT-4", "R-CTX-5", "R-CTX-9", "R-SUP-8")
async def test_a_called_agent_has_a_summary_of_its_own_rounds_in_its_own_thread_and_its_caller_none(
    tmp_path: Path,
) -> None:
    work, first = Work(), [calls(call("b1", HELPER, message=TASK))]

    def answer(request: ModelRequest) -> Any:
        if "You are helper" in request.system or is_summary(request):
            return work(request)
        return first.pop() if first else says("Thanks.")

    agents = (one(BOSS, "boss"), one(HELPER, "helper", max_rounds=ROUNDS * 2))
    async with house(tmp_path, Script(last=answer), *agents, tools=(reads(),)) as h:
        w = h.world
        context = ContextService(w.store)
        w.runtime = replace(w.runtime, context=context, summaries=lambda: True, context_window=lambda _ref: 12_000)
        w.service._runtime = w.runtime
        thread_id, results = await h.ask()
        assert [block.text for block in results] == [DONE]
        (child,) = await h.children()
        assert "Harbours were read." in (await context.overlay(child.thread_id)).summary
        assert (await context.overlay(thread_id)).summary == ""
        used = (await w.service.thread(thread_id)).usage
        assert used.input_tokens == 100 * len(w.runtime.client.requests)  # type: ignore[attr-defined]
        assert max(len(request.messages) for request in w.runtime.client.requests) < ROUNDS  # type: ignore[attr-defined]


@pytest.mark.spec("R-CTX-5", "R-CTX-9")
async def test_an_answer_longer_than_what_is_read_of_a_thread_goes_on_with_the_task_that_began_it(
    tmp_path: Path,
) -> None:
    async with long(tmp_path, Work(rounds=0), allowed=False) as c:
        store, thread_id = c.world.store, await c.world.thread()
        await store.runs.start(record=RunRecord("run", thread_id, 1.0, "assistant", MODEL))
        records = [MessageRecord("task", thread_id, None, "user", (TextBlock(TASK),), 1.0)]
        for n in range(RECENT // 2 + 5):
            asked = (ToolCallBlock(f"c{n}", "read-file", {"path": f"p{n}"}),)
            records.append(
                MessageRecord(
                    f"m{n}",
                    thread_id,
                    records[-1].message_id,
                    "assistant",
                    asked,
                    2.0 + n,
                    stop_reason="tool_calls",
                    run_id="run",
                )
            )
            done = (ToolResultBlock(f"c{n}", "read-file", f"harbour {n}"),)
            records.append(MessageRecord(f"r{n}", thread_id, f"m{n}", "tool", done, 2.5 + n, run_id="run"))
            if n == 100:
                steered = (TextBlock("Leave out the dinghies."),)
                records.append(MessageRecord("more", thread_id, f"r{n}", "user", steered, 2.6 + n, run_id="run"))
        await add_all(store.messages, records)
        await store.runs.end(run_id="run", reason="interrupted", at=900.0)
        await c.service.continue_answer(thread_id)
        path = await c.world.settled(thread_id)
        assert path[-1].text == DONE
        assert [m.text for m in c.asked[0].messages if m.role == "user"] == [TASK, "Leave out the dinghies."]
        assert valid(c.asked[0].messages)
        assert c.account.kept + c.account.dropped == 1 + 2 * (RECENT // 2 + 5) + 1

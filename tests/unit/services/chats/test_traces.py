"""What of a trace is kept beside the messages, without ever being in a run's way; and a run put together again."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from desktop.domain.errors import StoreFull
from desktop.domain.messages import NoticeBlock, TextBlock, ToolCallBlock, ToolResultBlock, Usage
from desktop.domain.runs.events import (
    AgentTraced,
    RetryScheduled,
    RunEnded,
    RunStarted,
    TextArrived,
    ToolCallFinished,
    ToolCallStarted,
)
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.domain.threads import MessageRecord, RunRecord
from desktop.services.chats.traces import BATCH, KEPT_OF_A_RUN, TraceKeeper, TraceService, assembled
from desktop.supervision.budgets import BudgetTracker
from tests.harness.definitions import load_agents
from tests.harness.timeouts import WAIT_S
from tests.unit.services.kit import ROOT

WHERE: dict[str, Any] = {"thread_id": "t", "run_id": "r"}
STARTED = RunStarted(**WHERE, agent="assistant", model="m/x", user_message_id="u")


class Written:
    """In the store's place."""

    def __init__(self, error: Exception | None = None) -> None:
        self.batches: list[tuple[str, int, Sequence[Mapping[str, Any]]]] = []
        self._error = error

    def add(self, *, run_id: str, sequence: int, entries: Sequence[Mapping[str, Any]]) -> asyncio.Future[None]:
        self.batches.append((run_id, sequence, entries))
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._error is not None:
            future.set_exception(self._error)
        else:
            future.set_result(None)
        return future

    @property
    def entries(self) -> list[Mapping[str, Any]]:
        return [entry for _, _, batch in self.batches for entry in batch]


def traced(kind: str, sequence: int = 1, **data: Any) -> AgentTraced:
    return AgentTraced(
        **WHERE,
        context_id="c",
        ancestor_context_id="",
        call_id="k",
        agent="helper",
        sequence=sequence,
        type=kind,
        at=10.0 + sequence,
        data=data,
    )


@pytest.mark.spec("R-TRC-7", "S-TRC-2", "Q-14")
async def test_what_the_messages_do_not_say_is_written_in_batches_with_its_texts_joined() -> None:
    written = Written()
    keeper = TraceKeeper(written)
    keeper.take(STARTED)
    keeper.take(TextArrived(**WHERE, message_id="m", text="stands in a message"))
    for number in range(500):
        keeper.take(traced("message", number, text="word ", delta=True))
    keeper.take(RetryScheduled(**WHERE, attempt=1, delay_s=2.0, code="model.rate_limited", detail="too many"))
    assert written.batches == []
    keeper.take(RunEnded(**WHERE, reason="response"))
    ((run_id, sequence, entries),) = written.batches
    assert (run_id, sequence, [entry["type"] for entry in entries]) == ("r", 1, ["message", "retry"])
    assert entries[0]["data"]["text"] == "word " * 500
    assert entries[1]["data"]["delayMs"] == 2000


@pytest.mark.spec("R-TRC-7")
async def test_a_batch_is_written_once_it_is_large_or_a_moment_old() -> None:
    written = Written()
    keeper = TraceKeeper(written)
    keeper.take(STARTED)
    keeper.take(traced("message", 1, text="x" * (BATCH + 1)))
    assert len(written.batches) == 1
    keeper.take(traced("message", 2, text="y"))
    async with asyncio.timeout(WAIT_S):
        while len(written.batches) < 2:
            await asyncio.sleep(0.01)
    keeper.take(RunEnded(**WHERE, reason="response"))
    assert [sequence for _, sequence, _ in written.batches] == [1, 2]


@pytest.mark.spec("R-TRC-7", "R-TRC-9")
async def test_a_run_that_tells_no_end_of_things_is_kept_in_outline() -> None:
    written = Written()
    keeper = TraceKeeper(written)
    keeper.take(STARTED)
    for number in range(300):
        keeper.take(traced("tool-result", number, tool="look", callId=str(number), result="z" * 30_000))
    keeper.take(RunEnded(**WHERE, reason="response"))
    assert len(written.entries) == 300
    assert sum(len(str(entry)) for entry in written.entries) < 1.2 * KEPT_OF_A_RUN
    assert written.entries[-1]["data"] == {"tool": "look", "callId": "299", "omitted": 30_000}


@pytest.mark.expects_log("the trace of run r is not kept to its end")
@pytest.mark.spec("R-TRC-7")
async def test_a_full_disk_is_told_once_and_the_run_goes_on() -> None:
    written = Written(StoreFull("The disk is full."))
    keeper = TraceKeeper(written)
    keeper.take(STARTED)
    for number in range(5):
        keeper.take(traced("message", number, text="x" * (BATCH + 1)))
        await asyncio.sleep(0)
    keeper.take(RunEnded(**WHERE, reason="response"))
    assert len(written.batches) < 5


@pytest.mark.spec("R-TRC-9", "R-SEC-4")
async def test_a_call_within_a_call_that_was_asked_about_is_kept_without_secrets() -> None:
    written = Written()
    keeper = TraceKeeper(written, lambda data: {k: "[REDACTED]" if v == "secret" else v for k, v in data.items()})
    keeper.take(STARTED)
    for call_id, parent in (("own", ""), ("nested", "own")):
        keeper.take(
            ToolCallStarted(
                **WHERE,
                message_id="m",
                call_id=call_id,
                tool="write_file",
                arguments={},
                category="write",
                parent_call_id=parent,
            )
        )
        keeper.take(
            ToolCallFinished(
                **WHERE,
                message_id="m",
                call_id=call_id,
                tool="write_file",
                state="done",
                text="secret",
                is_error=False,
                code="",
                elapsed_ms=3,
            )
        )
    keeper.take(RunEnded(**WHERE, reason="response"))
    assert [(e["type"], e["data"]["callId"]) for e in written.entries] == [
        ("tool-call", "nested"),
        ("tool-result", "nested"),
    ]
    assert written.entries[1]["data"]["result"] == "[REDACTED]"


async def test_what_belongs_to_no_run_that_began_here_is_not_kept() -> None:
    written = Written()
    keeper = TraceKeeper(written)
    keeper.take(traced("agent-start"))
    keeper.take(RunEnded(**WHERE, reason="response"))
    assert written.batches == []


# -- put together again -----------------------------------------------------------------------------------------------


def said(
    message_id: str, at: float, *blocks: Any, role: str = "assistant", number: int = 1, **more: Any
) -> MessageRecord:
    return MessageRecord(
        message_id,
        "t",
        None,
        role,
        tuple(blocks),
        at,
        run_id="r",
        round_number=number,
        **more,  # type: ignore[arg-type]
    )


RUN = RunRecord("r", "t", 100.0, "assistant", "m/x", 140.0, "limit", "Stopped after 2 rounds: maxSteps 2 (set by x).")


@pytest.mark.spec("R-LIM-5")
def test_a_run_is_put_together_from_its_messages_and_what_was_kept_besides() -> None:
    facts = {"elapsed_ms": 1_000, "waited_ms": 20_000, "decision": "allow_once", "by": "user", "category": "write"}
    messages = [
        said(
            "m1",
            100.5,
            TextBlock("Hm."),
            ToolCallBlock("k", "helper", {"a": 1}),
            elapsed_ms=2_000,
            stop_reason="tool_calls",
            usage=Usage(7, 3),
            model="m/x",
        ),
        said("m2", 124.0, ToolResultBlock("k", "helper", "result", facts=facts), role="tool"),
        said("m3", 124.5, NoticeBlock("Stopped."), number=2, status="interrupted"),
    ]
    kept = [
        {"type": "agent-start", "at": 110.0, "context": "c", "agent": "helper", "call": "k", "data": {}},
        "nonsense",
        {"type": "agent-complete", "at": 111.0, "context": "c", "agent": "helper", "call": "k", "data": {}},
    ]
    entries = assembled(RUN, messages, kept)
    assert [(entry.type, round(entry.at - 100, 3)) for entry in entries] == [
        ("agent-start", 0),
        ("turn-start", 0.5),
        ("message", 2.5),
        ("turn-end", 2.5),
        ("tool-call", 3.0),
        ("tool-waiting", 3.0),
        ("agent-start", 10),
        ("agent-complete", 11),
        ("tool-answered", 23.0),
        ("tool-result", 24),
        ("turn-start", 24.5),
        ("turn-end", 24.5),
        ("agent-complete", 40),
    ]
    assert entries[3].value("usage")["inputTokens"] == 7
    assert entries[4].value("args") == {"a": 1}
    assert entries[-2].data["stopReason"] == "aborted"
    assert entries[-2].value("notices") == ["Stopped."]
    assert entries[-1].data == {"status": "limit", "detail": RUN.detail}


def test_a_call_without_an_answer_and_a_run_without_an_end_are_left_open() -> None:
    run = RunRecord("r", "t", 100.0, "assistant", "m/x")
    entries = assembled(run, [said("m1", 101.0, ToolCallBlock("k", "bash", None, "{half"), elapsed_ms=10)], [])
    assert [entry.type for entry in entries] == ["agent-start", "turn-start", "turn-end", "tool-call"]


@pytest.mark.spec("R-LIM-1", "R-LIM-5")
def test_the_limits_of_a_run_say_who_set_them() -> None:
    agents = load_agents(ROOT / "resources/agents")
    bounds = BudgetTracker(ExecutionBudget(max_tokens=1000, max_cost_usd=0.5))
    service = TraceService(None, agents, lambda: bounds)  # type: ignore[arg-type]
    assert [str(limit) for limit in service.limits("assistant")] == [
        "maxIterations 20 (set by the loop's default)",
        "max_tokens 1000 (set by the run's budget)",
        "max_cost_usd 0.5 (set by the run's budget)",
    ]
    assert [limit.name for limit in service.limits("nobody")] == ["max_tokens", "max_cost_usd"]

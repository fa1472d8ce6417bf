"""Which run of the thread is shown, when it is followed, and what its events say."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.errors import StoreError
from desktop.domain.runs.events import (
    AgentTraced,
    Event,
    MessageClosed,
    MessageOpened,
    RunEnded,
    RunStarted,
    TextArrived,
    ToolCallFinished,
    ToolCallStarted,
)
from desktop.domain.runs.limits import Limit
from desktop.domain.runs.traces import TraceEntry
from desktop.domain.threads import RunRecord
from desktop.presenter.events.backlog import EventBacklog
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.trace.panel import KEPT, TraceViewModel
from tests.harness.timeouts import WAIT_S


class Stored:
    """In the store's place."""

    def __init__(self) -> None:
        self.kept: dict[str, list[TraceEntry]] = {}
        self.read: list[str] = []
        self.error: Exception | None = None
        self.gate: asyncio.Event | None = None

    async def runs(self, thread_id: str) -> list[RunRecord]:
        if self.gate is not None:
            await self.gate.wait()
        if self.error is not None:
            raise self.error
        names = [name for name in reversed(self.kept) if name.startswith(thread_id)]
        return [RunRecord(name, thread_id, 1.0, "assistant", "m/x", 2.0, "response") for name in names]

    async def entries(self, run_id: str) -> list[TraceEntry]:
        self.read.append(run_id)
        return self.kept[run_id]

    async def run_of(self, message_id: str) -> str:
        return message_id.partition(":")[0]

    def limits(self, agent: str) -> tuple[Limit, ...]:
        return (Limit("maxIterations", 20, "the loop's default"),)


@pytest.fixture
async def stored() -> AsyncIterator[tuple[Stored, Bridge, TraceViewModel]]:
    source, bridge = Stored(), Bridge()
    trace = TraceViewModel(source, bridge, redacted, {"assistant": "Workbench"})
    yield source, bridge, trace
    trace.watch(False)
    assert await bridge.shutdown(2.0) == ()


def redacted(value: Any) -> Any:
    return json.loads(json.dumps(value).replace("secret", "[REDACTED]"))


def run(run_id: str, thread: str = "t", *, text: str = "hi", over: bool = True) -> tuple[Event, ...]:
    where: dict[str, Any] = {"thread_id": thread, "run_id": run_id}
    found: list[Event] = [
        RunStarted(**where, agent="assistant", model="m/x", user_message_id="u"),
        MessageOpened(**where, message_id="m", parent_id=None, side="a", author="a", round_number=1),
        TextArrived(**where, message_id="m", text=text),
        MessageClosed(**where, message_id="m", stop_reason="tool_calls", elapsed_ms=5),
        ToolCallStarted(
            **where, message_id="m", call_id="c", tool="bash", arguments={"command": "ls"}, category="write"
        ),
        ToolCallFinished(
            **where,
            message_id="m",
            call_id="c",
            tool="bash",
            state="failed",
            text="no",
            is_error=True,
            code="tool.exit",
            elapsed_ms=7,
        ),
    ]
    return (*found, RunEnded(**where, reason="response")) if over else tuple(found)


def plain(run_id: str) -> list[TraceEntry]:
    return [TraceEntry(1.0, "agent-start", run_id, {}, "assistant"), TraceEntry(2.0, "agent-complete", run_id, {})]


async def at_rest(bridge: Bridge) -> None:
    async with asyncio.timeout(WAIT_S):
        while bridge.task_names:
            await asyncio.sleep(0.001)


def told(signal: Any) -> list[Any]:
    found: list[Any] = []
    signal.connect(lambda *values: found.append(values))
    return found


async def test_nothing_is_read_or_told_while_nobody_watches(stored: Any) -> None:
    source, bridge, trace = stored
    source.kept["t1"] = plain("t1")
    shown, moved = told(trace.shown), told(trace.moved)
    trace.open_thread("t")
    before = len(shown)
    trace.take(run("t2"))
    await asyncio.sleep(0.2)
    await at_rest(bridge)
    assert (trace.tree, source.read, len(shown), moved) == (None, [], before, [])
    trace.watch(True)
    await at_rest(bridge)
    assert trace.run_id == "t1"  # what is stored; the other was never written in this test


async def test_the_latest_run_shows_and_the_next_one_follows_unless_another_was_chosen(stored: Any) -> None:
    source, bridge, trace = stored
    source.kept |= {"t1": plain("t1"), "t2": plain("t2"), "other": plain("other")}
    trace.watch(True)
    trace.open_thread("t")
    await at_rest(bridge)
    assert (trace.run_id, [choice.run_id for choice in trace.runs]) == ("t2", ["t2", "t1"])
    trace.take(run("t3", over=False))
    assert (trace.run_id, trace.live, trace.runs[0].run_id) == ("t3", True, "t3")
    trace.choose("t1")
    source.kept["t3"] = plain("t3")
    await at_rest(bridge)
    assert trace.run_id == "t1"
    trace.take(run("t4"))
    assert trace.run_id == "t1"
    trace.choose_message("t2:m")
    await at_rest(bridge)
    assert trace.run_id == "t2"
    trace.choose_message("")
    await at_rest(bridge)
    assert trace.run_id == "t2"


async def test_a_run_of_another_thread_changes_nothing_here(stored: Any) -> None:
    _, bridge, trace = stored
    trace.watch(True)
    trace.open_thread("t")
    await at_rest(bridge)
    trace.take(run("else1", "else"))
    assert (trace.tree, trace.runs) == (None, ())


async def test_who_looks_again_finds_the_same_tree_with_what_came_meanwhile(stored: Any) -> None:
    _, bridge, trace = stored
    trace.watch(True)
    trace.open_thread("t")
    await at_rest(bridge)
    events = run("t1")
    trace.take(events[:4])
    tree = trace.tree
    trace.watch(False)
    trace.take(events[4:])
    trace.watch(True)
    await at_rest(bridge)
    assert trace.tree is tree
    assert len(trace.events) == len(events)


async def test_a_trace_that_came_too_late_is_not_shown(stored: Any) -> None:
    source, bridge, trace = stored
    source.kept |= {"t1": plain("t1"), "u1": plain("u1")}
    source.gate = asyncio.Event()
    trace.watch(True)
    trace.open_thread("t")
    assert trace.loading
    trace.open_thread("u")
    source.gate.set()
    await at_rest(bridge)
    assert trace.run_id == "u1"


async def test_what_cannot_be_read_is_said(stored: Any) -> None:
    source, bridge, trace = stored
    source.error = StoreError("The database is damaged.", next_step="Restart Assent.")
    trace.watch(True)
    trace.open_thread("t")
    await at_rest(bridge)
    assert (trace.problem, trace.loading) == ("The database is damaged. Restart Assent.", False)


async def test_only_some_ended_runs_stay_in_memory(stored: Any) -> None:
    _, _, trace = stored
    for number in range(30):
        trace.take(run(f"t{number}"))
    assert (len(trace._kept), len(trace._live)) == (KEPT, 0)


@pytest.mark.spec("R-TRC-7")
async def test_many_pieces_are_told_together(stored: Any) -> None:
    _, bridge, trace = stored
    trace.watch(True)
    trace.open_thread("t")
    await at_rest(bridge)
    trace.take(run("t1", over=False)[:2])
    moved = told(trace.moved)
    for _ in range(1_000):
        trace.take((TextArrived(thread_id="t", run_id="t1", message_id="m", text="x"),))
    async with asyncio.timeout(WAIT_S):
        while not moved:
            await asyncio.sleep(0.01)
    assert len(moved) == 1
    assert trace.tree.log.entries[-1].data["text"] == "x" * 1_000


async def test_events_are_filtered_by_text_and_type_also_while_they_come(stored: Any) -> None:
    _, bridge, trace = stored
    trace.watch(True)
    trace.open_thread("t")
    await at_rest(bridge)
    events = run("t1", text="Nothing HERE")
    trace.take(events[:4])
    trace.filter_events(text="nothing here")
    await at_rest(bridge)
    assert [entry.type for entry in trace.events] == ["message"]
    trace.filter_events(text="")
    trace.filter_events(kind="tool-result")
    assert trace.events == []
    changed = told(trace.events_changed)
    trace.take(events[4:])
    async with asyncio.timeout(WAIT_S):
        while not changed:
            await asyncio.sleep(0.01)
    assert [entry.type for entry in trace.events] == ["tool-result"]


async def test_a_search_finds_nodes_by_name_arguments_texts_and_results(stored: Any) -> None:
    _, bridge, trace = stored
    trace.watch(True)
    trace.open_thread("t")
    await at_rest(bridge)
    trace.take(run("t1", text="Where are the keys?"))
    matched = told(trace.matched)
    for text in ("BASH", "the keys", "tool.exit", "nowhere", " "):
        trace.search(text)
        await at_rest(bridge)
    assert [[node.title for node in found] for (found,) in matched] == [["bash"], ["round 1"], ["bash"], [], []]


@pytest.mark.spec("R-TRC-5", "R-TRC-9", "R-SEC-4")
async def test_copies_and_the_export_are_json_lines_without_secrets(stored: Any, tmp_path: Path) -> None:
    _, bridge, trace = stored
    trace.watch(True)
    trace.open_thread("t")
    await at_rest(bridge)
    trace.take(run("t1", text="a secret \u202e\nline"))
    copied, said = told(trace.copied), told(trace.said)  # two copies are made in threads: either may be first
    trace.copy(trace.tree.log.entries, "7 events")
    trace.copy_node(trace.tree.root.children[0])
    trace.export(str(tmp_path / "trace.jsonl"))
    trace.export(str(tmp_path / "nowhere" / "trace.jsonl"))
    await at_rest(bridge)
    written = (tmp_path / "trace.jsonl").read_text()
    texts = {label: text for text, label in copied}
    assert texts["7 events"] == written
    lines = [json.loads(line) for line in written.splitlines()]
    assert [line["type"] for line in lines][:3] == ["agent-start", "turn-start", "message"]
    assert lines[2]["data"]["text"] == "a [REDACTED] \u202e\nline"
    assert "\u202e" not in written
    assert {"timestamp", "sequence", "runId", "contextId", "ancestorContextId", "agent"} <= set(lines[0])
    assert len(texts["round 1"].splitlines()) == 3
    assert sorted(words for (words,) in said) == [
        "7 events written to trace.jsonl",
        "“trace.jsonl” could not be written: No such file or directory.",
    ]
    assert list(tmp_path.iterdir()) == [tmp_path / "trace.jsonl"]


@pytest.mark.spec("R-TRC-7")
def test_pieces_of_an_agents_text_wait_for_the_next_picture_and_are_put_together() -> None:
    backlog = EventBacklog()

    def piece(text: str, context: str = "c", kind: str = "message", **data: Any) -> AgentTraced:
        return AgentTraced(
            thread_id="t",
            run_id="r",
            context_id=context,
            ancestor_context_id="",
            call_id="",
            agent="a",
            sequence=1,
            type=kind,
            at=1.0,
            data={"text": text, "delta": True, **data},
        )

    for text in "abc":
        assert not backlog.put(piece(text))
    assert not backlog.put(piece("x", "other"))
    assert not backlog.put(piece("d"))
    assert backlog.put(piece("", kind="turn-end", delta=False))
    batch = backlog.take()
    assert [(event.context_id, event.type, event.data["text"]) for event in batch] == [  # type: ignore[union-attr]
        ("c", "message", "abc"),
        ("other", "message", "x"),
        ("c", "message", "d"),
        ("c", "turn-end", ""),
    ]

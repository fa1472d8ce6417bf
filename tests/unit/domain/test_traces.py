"""Entries of a trace: joined, bounded, read back from anywhere."""

import gc
import json
import sys
from typing import Any

import pytest

from desktop.domain.messages import Usage
from desktop.domain.runs.events import AgentTraced, MessageClosed, RunEnded, RunStarted, TextArrived, ToolCallStarted
from desktop.domain.runs.traces import KEPT_TEXT, TraceEntry, TraceLog, bounded, entry_of

WHERE: dict[str, Any] = {"thread_id": "t", "run_id": "r"}


def piece(text: str, context: str = "c", kind: str = "message", message: str = "m") -> TraceEntry:
    return TraceEntry(1.0, kind, context, {"text": text, "delta": True, "messageId": message})


@pytest.mark.spec("R-TRC-1", "R-TRC-9")
def test_pieces_of_one_text_are_one_entry_and_those_of_another_agent_or_message_are_not() -> None:
    log = TraceLog()
    for entry in (
        piece("a"),
        piece("b"),
        piece("x", "other"),
        piece("c"),
        piece("r", kind="reasoning"),
        piece("d"),
        piece("e", message="n"),
    ):
        log.add(entry)
    assert [(e.context, e.type, e.data["text"]) for e in log.entries] == [
        ("c", "message", "abc"),
        ("other", "message", "x"),
        ("c", "reasoning", "r"),
        ("c", "message", "d"),
        ("c", "message", "e"),
    ]


@pytest.mark.spec("R-TRC-9")
def test_a_text_is_kept_up_to_its_limit_and_what_is_left_out_is_counted() -> None:
    log = TraceLog()
    for _ in range(4):
        log.add(piece("x" * 30_000))
    (entry,) = log.entries
    assert (len(entry.data["text"]), entry.data["omitted"]) == (KEPT_TEXT, 120_000 - KEPT_TEXT)
    log.add(TraceEntry(2.0, "tool-result", "c", {"result": "y" * 100_000}))
    assert (len(log.entries[1].data["result"]), log.entries[1].data["omitted"]) == (KEPT_TEXT, 100_000 - KEPT_TEXT)


@pytest.mark.spec("R-TRC-9")
def test_a_run_without_end_fills_no_memory_and_its_end_is_still_noted() -> None:
    log = TraceLog(maximum=50, characters=1_000)
    for number in range(200):
        log.add(TraceEntry(1.0, "tool-call", "c", {"callId": str(number), "args": {"text": "z" * 5_000}}))
        log.add(TraceEntry(1.0, "tool-result", "c", {"callId": str(number), "result": "z" * 5_000}))
    log.add(TraceEntry(2.0, "agent-complete", "c", {}))
    assert (len(log.entries), log.dropped, log.entries[-1].type) == (51, 350, "agent-complete")
    assert sum(len(json.dumps(entry.data)) for entry in log.entries[10:]) < 40_000


@pytest.mark.spec("R-TRC-9")
def test_a_snapshot_is_bounded_has_no_cycle_and_no_live_object() -> None:
    endless: dict[str, Any] = {"text": "x" * 100_000, "list": list(range(100_000))}
    endless["self"] = endless
    endless["object"] = object()
    shown = json.dumps(bounded(endless, 1_000))
    assert len(shown) < 2_000
    assert "more characters" in shown


@pytest.mark.parametrize(
    "plain",
    [
        None,
        3,
        [],
        {},
        {"type": "message"},
        {"type": "message", "at": "now", "data": {}},
        {"type": "rm -rf", "at": 1, "data": {}},
        {"type": "message", "at": 1, "data": "text"},
    ],
)
def test_what_is_no_entry_is_none(plain: Any) -> None:
    assert TraceEntry.from_plain(plain) is None


def test_an_entry_comes_back_as_it_was_written() -> None:
    entry = TraceEntry(1.5, "agent-start", "c", {"skill": "s"}, "agent", "above", "call")
    back = TraceEntry.from_plain(json.loads(json.dumps(entry.to_plain())))
    assert back is not None
    assert back.to_plain() == entry.to_plain()


@pytest.mark.spec("R-TRC-1", "R-TRC-4", "R-TRC-5")
def test_events_of_the_run_and_of_agents_in_it_speak_one_vocabulary() -> None:
    usage = Usage(10, 2, 1, 5, None)
    traced = AgentTraced(
        **WHERE,
        context_id="c",
        ancestor_context_id="a",
        call_id="k",
        agent="helper",
        sequence=3,
        type="turn-end",
        at=7.0,
        data={"result": "all that was said", "turnNumber": 1},
    )
    found = [
        entry_of(event, 5.0)
        for event in (
            RunStarted(**WHERE, agent="assistant", model="m/x", user_message_id="u"),
            TextArrived(**WHERE, message_id="m", text="hi"),
            ToolCallStarted(**WHERE, message_id="m", call_id="1", tool="bash", arguments={}, category="write"),
            MessageClosed(**WHERE, message_id="m", stop_reason="end", usage=usage, elapsed_ms=12),
            traced,
            RunEnded(**WHERE, reason="limit", limit="maxSteps 3 (set by the agent x)"),
        )
    ]
    entries = [entry for entry in found if entry is not None]
    assert [entry.type for entry in entries] == [
        "agent-start",
        "message",
        "tool-call",
        "turn-end",
        "turn-end",
        "agent-complete",
    ]
    assert {entry.context for entry in entries} == {"r", "c"}
    assert entries[3].value("usage") == {
        "inputTokens": 10,
        "outputTokens": 2,
        "reasoningTokens": 1,
        "cachedTokens": 5,
        "writtenTokens": 0,
        "savedUsd": 0.0,
        "costUsd": None,
    }
    assert (entries[4].at, entries[4].ancestor, entries[4].call, entries[4].data) == (7.0, "a", "k", {"turnNumber": 1})
    assert entries[5].data == {"status": "limit", "limit": "maxSteps 3 (set by the agent x)"}


@pytest.mark.spec("R-TRC-9")
def test_what_is_made_of_parts_is_kept_as_text_and_comes_back_whole() -> None:
    event = ToolCallStarted(
        **WHERE,
        message_id="m",
        call_id="1",
        tool="bash",
        arguments={"command": "ls \u202e", "n": [1, {"a": None}]},
        category="write",
    )
    entry = entry_of(event, 5.0)
    assert entry is not None
    if sys.version_info < (3, 14):  # from there on the collector looks at every dict
        assert not gc.is_tracked(entry.data)
    assert entry.value("args") == {"command": "ls \u202e", "n": [1, {"a": None}]}
    assert entry.plain() == {"tool": "bash", "callId": "1", "args": entry.value("args"), "category": "write"}
    back = TraceEntry.from_plain(json.loads(json.dumps(entry.to_plain())))
    assert back is not None
    assert back.plain() == entry.plain()

"""Threads as kill -9 leaves them: an answer with calls, of some the results, and the lines of the run's journal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from desktop.domain.approval.judgement import Category
from desktop.domain.messages import StopReason, TextBlock, ToolCallBlock, ToolResultBlock
from desktop.domain.runs.effects import EffectRecord, call_key
from desktop.domain.threads import MessageRecord, RunRecord
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.kit import MODEL, World

ANSWER, RUN = "answer", "run-0"
WRITE, READ = "write-file", "read-file"


def tools() -> tuple[FakeTool, FakeTool]:
    return FakeTool(WRITE, Category.WRITE), FakeTool(READ, Category.READ)


def line(
    number: int, call: str, tool: str, phase: str, *, run: str = RUN, text: str = "", value: str = ""
) -> EffectRecord:
    value = value or (json.dumps({"text": text}) if phase == "completed" else "")
    summary = f"{tool} p" if phase == "begun" and tool == WRITE else ""
    return EffectRecord(run, number, call_key(ANSWER, call), 1, "tool", tool, "d", phase, 1.0, value, summary)  # type: ignore[arg-type]


async def cut_off(
    w: World,
    calls: Sequence[tuple[str, str]],
    lines: Sequence[EffectRecord],
    done: str = "",
    reason: StopReason = "tool_calls",
    arguments: Mapping[str, Any] | None = None,
    end: str = "interrupted",
) -> str:
    """A thread as kill -9 leaves it: a message with calls, at most one result, the run's journal without an end."""
    thread = await w.thread()
    add = w.store.messages.add
    await w.store.runs.start(record=RunRecord(RUN, thread, 1.0, "assistant", MODEL))
    await add(record=MessageRecord("asked", thread, None, "user", (TextBlock("go"),), 1.0))
    blocks = tuple(ToolCallBlock(call, tool, arguments or {"path": call}) for call, tool in calls)
    await add(record=MessageRecord(ANSWER, thread, "asked", "assistant", blocks, 2.0, stop_reason=reason, run_id=RUN))
    if done:
        result = ToolResultBlock(done, WRITE, "stored before")
        await add(record=MessageRecord("result", thread, ANSWER, "tool", (result,), 3.0, run_id=RUN))
    await w.store.effects.append(lines)
    await w.store.runs.end(run_id=RUN, reason=end, at=4.0)
    return thread


async def cut_off_before_a_word(w: World, lines: Sequence[EffectRecord]) -> str:
    """The same of a run whose model had said nothing yet."""
    thread = await w.thread()
    await w.store.messages.add(record=MessageRecord("asked", thread, None, "user", (TextBlock("go"),), 1.0))
    place = {"below": "asked", "goes_on": False}
    await w.store.runs.start(record=RunRecord(RUN, thread, 1.0, "assistant", MODEL, extra=place))
    await w.store.effects.append(lines)
    await w.store.runs.end(run_id=RUN, reason="interrupted", at=4.0)
    return thread


def results(path: Sequence[MessageRecord]) -> dict[str, str]:
    return {b.call_id: b.text for m in path for b in m.blocks if isinstance(b, ToolResultBlock)}

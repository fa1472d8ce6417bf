"""Sample calls of code for the pictures of the chat page: folded, open, failed, at work with a call that waits."""

from __future__ import annotations

import time
from dataclasses import replace

from desktop.domain.model_settings import ModelTraits
from desktop.presenter.chat.agent_choices import EffortViewModel
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.transcript.items import CodeText, NestedCall, TextPart, ToolPart, TranscriptItem
from shots.samples import new_file_request


class SampleThreadModes:
    """Chats that ask each time, but for one."""

    def __init__(self, edge: str = "") -> None:
        self._edge = edge

    def mode(self, thread_id: str) -> str:
        """At the edge, if it is that one."""
        return "edge" if self._edge and thread_id == self._edge else "ask"

    async def set(self, thread_id: str, mode: str) -> None:
        """Keeps nothing."""


class SampleModes:
    """Of an agent that was set to code, or to nothing."""

    def __init__(self, mode: str = "") -> None:
        self._mode = mode

    def of(self, agent: str) -> str:
        """The same for every agent."""
        del agent
        return self._mode

    async def choose(self, agent: str, mode: str) -> None:
        """Keeps it."""
        del agent
        self._mode = mode


async def says_direct(agent: str) -> str:
    """What the sample agent's skill says."""
    del agent
    return "direct"


SOURCE = """// Which stations have gaps, and how many
const names = await ctx.manager.invoke("glob", {pattern: "data/gauge-*/2026-03.csv"});
let holes = 0;
for (const name of names) {
  const text = await ctx.manager.invoke("read-file", {path: name});
  holes += text.split("\\n").filter((line) => /,,/.test(line)).length;   // an empty level
}
memory.holes = holes;
console.log(`${names.length} files`);
return {files: names.length, holes};"""
WRITE = """const text = `gaps: ${memory.holes}`;
if (memory.holes > 0) {
  await ctx.manager.invoke("write-file", {path: "data/gauge-07/2026-03.clean.csv", content: text});
}"""
OPENED = ("k2", "k3")
"""Cards that the pictures show open."""


def code_items() -> tuple[TranscriptItem, ...]:
    """One question, four pieces of code."""
    line = 'const names = await ctx.manager.invoke("glob", {pattern: "data/gauge-*/2026-03.csv"});'
    calls = (
        NestedCall("glob", "done", 12, "data/**/*.csv"),
        NestedCall("read-file", "done", 40, "data/gauge-07/2026-03.csv"),
        NestedCall("read-file", "denied", 3, "/etc/shadow"),
    )
    done = ToolPart(
        "k1",
        "k1",
        "invoke",
        line,
        "read",
        "done",
        elapsed_ms=1900,
        nested=calls,
        code=CodeText(SOURCE, '{\n  "files": 12,\n  "holes": 63\n}', stdout="12 files"),
    )
    failed = replace(
        done,
        part_id="k3",
        call_id="k3",
        state="failed",
        nested=calls[:1],
        code=CodeText(
            SOURCE,
            error="TypeError: text.split is not a function",
            line=6,
            stdout="",
            note="The process that ran your code before was ended: what it kept in memory is gone.",
        ),
    )
    work = ToolPart(
        "k4",
        "k4",
        "invoke",
        "const text = `gaps: ${memory.holes}`;",
        "read",
        "running",
        started_at=time.time(),
        code=CodeText(WRITE),
    )
    place = 'line 3: await ctx.manager.invoke("write-file", {path: "data/gauge-07/2026-03.clean.csv", content: text});'
    write = ToolPart(
        "k5",
        "k5",
        "write-file",
        "data/gauge-07/2026-03.clean.csv",
        "write",
        "waiting",
        request=replace(new_file_request(), place=place),
        chain=("Workbench", "write-file"),
        parent="k4",
    )
    opened = replace(done, part_id="k2", call_id="k2")
    parts = (done, opened, failed, TextPart("t1", "That is a list of lines here. Now the file:"), work, write)
    question = TranscriptItem("u1", "human", "You", "14:01", (TextPart("t0", "How many gaps are there in March?"),))
    return (question, TranscriptItem("a1", "a", "Workbench", "14:02", parts, live=True))


def sample_effort(bridge: Bridge) -> EffortViewModel:
    """Of an agent whose model thinks hard."""
    return EffortViewModel(SampleModes("high"), lambda _: ModelTraits({}, ("low", "medium", "high")), bridge)

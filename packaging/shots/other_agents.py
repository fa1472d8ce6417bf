"""Settings, Other agents, with samples: for the pictures and the tests of the page."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import PermissionRequest
from desktop.presenter.chat.other_agent import ChoiceRow, OtherAgentShown, PlanRow
from desktop.presenter.settings.other_agents import OtherAgentRow, RegistryRow
from desktop.presenter.transcript.items import TextPart, ToolPart, TranscriptItem
from shots.samples import new_file_request

_OPENCODE = OtherAgentRow(
    name="opencode",
    title="opencode",
    version="1.18.33",
    command="opencode acp",
    standing="on",
    on=True,
    said="on, looked at 12 November",
    problem="",
    digest="a",
    writes=False,
    network=True,
    confined=True,
    folders=True,
    places="~/.config/opencode, ~/.local/share/opencode",
    tools=("tide-levels", "csv-clean", "release-notes", "deploy", "harbour-log"),
    folder="~/harbour-sensors",
    added=False,
    signs_in=False,
    log=("server ready", "session opened"),
)


class SampleOtherAgents(QObject):
    """A view-model over rows; ``calls`` is what was wanted."""

    changed = Signal()
    refused = Signal(str)
    added = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, ...]] = []
        self.looked = "looked along the PATH at 14:58, nothing was started"
        off = replace(_OPENCODE, on=False, tools=(), folder="", log=())
        self.rows: tuple[OtherAgentRow, ...] = (
            _OPENCODE,
            replace(
                off,
                name="gemini",
                title="Gemini CLI",
                version="0.61.0",
                command="gemini --experimental-acp",
                standing="new",
                said="new: off until you switch it on",
                places="~/.gemini",
            ),
            replace(
                off,
                name="goose",
                title="goose",
                version="1.31.0",
                command="goose acp",
                standing="changed",
                said="program changed, off again",
                places="~/.config/goose",
            ),
            replace(
                off,
                name="kiro",
                title="Kiro",
                version="",
                command="kiro-cli acp",
                standing="off",
                said="off, looked at 2 November",
                problem="Kiro did not start: It needs a newer libstdc++ than this computer has.",
                places="~/.kiro",
                log=("kiro-cli: /lib/libstdc++.so.6: version GLIBCXX_3.4.32 not found",),
            ),
        )
        self.registry: tuple[RegistryRow, ...] = (
            RegistryRow(
                "claude-code-acp",
                "Claude Code",
                "npx -y claude-code-acp@0.16.2",
                "Fetches a package at its first start.",
                False,
            ),
            RegistryRow(
                "codex-acp",
                "Codex CLI",
                "codex-acp",
                "Its maker says how to install it; nothing is fetched from here.",
                False,
            ),
        )
        self.registry_words = ("agents.json", "14 agents, nothing is fetched from here")

    def _called(self, *what: Any) -> None:
        self.calls.append(what)

    def look(self) -> None:
        """Count."""
        self._called("look")

    def switch(self, row: OtherAgentRow, on: bool) -> None:
        """Keep and tell."""
        self._called("switch", row.name, on)
        word = "on" if on else "off"
        changed = replace(row, on=on, standing=word, said=word)
        self.rows = tuple(changed if one.name == row.name else one for one in self.rows)
        self.changed.emit()

    def agree(self, row: OtherAgentRow, **terms: Any) -> None:
        """Keep and tell."""
        self._called("agree", row.name, terms)
        self.rows = tuple(replace(one, **terms) if one.name == row.name else one for one in self.rows)
        self.changed.emit()

    def offer(self, row: OtherAgentRow, text: str) -> None:
        """Keep."""
        self._called("offer", row.name, text)

    def work_in(self, row: OtherAgentRow, folder: str) -> None:
        """Keep."""
        self._called("work_in", row.name, folder)

    def add(self, name: str, line: str, places: str = "") -> None:
        """Keep, or refuse as the page's own view-model does."""
        self._called("add", name, line, places)
        if not name:
            self.refused.emit("A name is made of small letters, digits and hyphens, such as my-agent.")

    def add_from_registry(self, name: str) -> None:
        """Keep."""
        self._called("add_from_registry", name)

    def remove(self, name: str) -> None:
        """Keep."""
        self._called("remove", name)

    def choose_registry(self, path: str) -> None:
        """Keep."""
        self._called("choose_registry", path)


SHOWN = OtherAgentShown(
    "opencode",
    "opencode",
    "its files and commands, and what it asks for",
    "works by itself in harbour-sensors, confined; its writes ask; reaches any address",
    "Build mode",
    "its own model",
    (
        PlanRow("Read the job and its tests", "done"),
        PlanRow("Find where rows are appended", "done"),
        PlanRow("Merge by station and time", "now"),
        PlanRow("Run the tests", "next"),
    ),
    "2 of 4 done",
)


class SampleOther(QObject):
    """What is shown of the agent of a chat; ``calls`` is what was chosen."""

    changed = Signal()
    refused = Signal(str)

    def __init__(self, shown: OtherAgentShown | None = None) -> None:
        super().__init__()
        self.shown = shown
        self.calls: list[tuple[str, str]] = []

    def choices(self, kind: str) -> tuple[ChoiceRow, ...]:
        """Two of each."""
        return (ChoiceRow("build", f"Build {kind}", "Does it.", True), ChoiceRow("plan", f"Plan {kind}", "", False))

    def choose(self, kind: str, value: str) -> None:
        """Keep."""
        self.calls.append((kind, value))


def other_items() -> tuple[TranscriptItem, ...]:
    """A chat with an agent of another maker."""
    read = ToolPart("p1", "c1", "read-file", "ingest/nightly.py", "read", "done", facts=("4.1 KB",), elapsed_ms=10)
    grep = ToolPart(
        "p2",
        "c2",
        "acp-did",
        "Grep append( in ingest",
        "read",
        "done",
        result="opencode says that it is done.",
        facts=("by itself, confined",),
        title="Search",
        own_words=True,
    )
    request = replace(new_file_request(), chain=("opencode",))
    write = ToolPart(
        "p3", "c3", "write-file", "ingest/nightly.py", "write", "waiting", request=request, chain=("opencode",)
    )
    question = "The nightly job doubles rows after a restart. Make it merge by station and time."
    said = TextPart("t1", "The job appends whatever it reads. I will merge by station and time.")
    return (
        TranscriptItem("u1", "human", "You", "15:03", (TextPart("t0", question),)),
        TranscriptItem("a1", "a", "opencode", "15:04", (read, grep, said, write), live=True),
    )


def asks_request(kind: str = "diff") -> PermissionRequest:
    """What opencode asks for before it edits a file, or before it does something that only it knows."""
    says, path = "Merge by station and time", "/home/ida/harbour-sensors/ingest/nightly.py"
    diff = {
        "kind": "diff",
        "path": path,
        "before": "rows = read_day(station, day)\nlevels.append(rows)\nlevels.save()\n",
        "after": 'rows = read_day(station, day)\nlevels.merge(rows, on=["station", "time"])\nlevels.save()\n',
        "new": False,
        "notes": [],
        "size": 96,
    }
    return PermissionRequest(
        request_id="r9",
        run_id="run1",
        thread_id="t1",
        call_id="c9",
        tool="acp-asks",
        description="Asks a person whether an agent of another maker may do by itself what it says.",
        category=Category.WRITE if kind == "diff" else Category.ADMIN,
        raised_because="an agent of another maker would do it by itself",
        chain=("acp_opencode",),
        arguments={"agent": "opencode", "says": says, "kind": "edit" if kind == "diff" else "other", "request": "s-1"},
        paths=(path,),
        judgements=(),
        preview={**(diff if kind == "diff" else {"kind": "said"}), "said_by": "opencode"},
        digest="d9",
        asked_at=time.time() - 9,
        only_once=True,
    )

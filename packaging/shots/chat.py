"""Pictures of the chat page for ``dev.py shots``: real widgets and view-models, sample data, nothing that runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, cast

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from desktop.domain.context import Account, Overlay, PinnedText
from desktop.domain.messages import ThinkingFacts, Usage
from desktop.domain.threads import ThreadJob, ThreadRecord
from desktop.presenter.approvals.inbox import ApprovalsViewModel
from desktop.presenter.chat.agent_choices import ToolModesViewModel
from desktop.presenter.chat.attaching import AttachingViewModel
from desktop.presenter.chat.context import ContextViewModel
from desktop.presenter.chat.edge import EdgeViewModel
from desktop.presenter.chat.offers import OffersViewModel
from desktop.presenter.chat.other_agent import OtherAgentShown, OtherAgentViewModel
from desktop.presenter.chat.page import ChatViewModel
from desktop.presenter.chat.state import Meters, QueuedMessage, RunState
from desktop.presenter.chat.thread_lines import ARCHIVED, arrange
from desktop.presenter.chat.thread_variables import ChatVariables, ThreadVariables
from desktop.presenter.chat.threads import ThreadsViewModel
from desktop.presenter.documents.viewer import DocumentViewModel
from desktop.presenter.events.bridge import Bridge, single_shot
from desktop.presenter.results.models import result_models
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.presenter.transcript.items import (
    CallsPart,
    NestedCall,
    NoticeAction,
    NoticePart,
    ReasoningPart,
    TextPart,
    ToolPart,
    TranscriptItem,
)
from desktop.presenter.transcript.live_threads import LiveThreads
from desktop.ui.chat.models import ChatModels
from desktop.ui.chat.page import ChatPage
from desktop.ui.chat.variables_dialog import VariablesDialog
from desktop.ui.run_panel.panel import RunPanel
from desktop.ui.trace.panel import TracePanel
from shots import changes as change_shots
from shots import composer, documents, projects, results
from shots import run_panel as run_shots
from shots import trace as trace_shots
from shots.chat_code import OPENED, SampleModes, SampleThreadModes, code_items, sample_effort, says_direct
from shots.other_agents import SHOWN, SampleOther, other_items
from shots.samples import SampleApprovals, SampleSetup, new_file_request, sample_shell

TABLE = """There are **three gaps**, 63 samples in all. I looked for any step longer than the nominal six minutes:

```python
def gaps(t: pd.Series, step="6min") -> pd.DataFrame:
    late = t.diff() > pd.Timedelta(step)     # a hole ends here
    return pd.DataFrame({"from": t.shift()[late], "to": t[late]})
```

| Gap | From | To | Missing samples | Maintenance log |
|---|---|---|---:|---|
| 1 | 04 Mar 09:12 | 04 Mar 11:48 | 25 | sensor swap, 09:00 to 12:00 |
| 2 | 17 Mar 22:00 | 18 Mar 01:36 | 35 | no entry |
| 3 | 26 Mar 06:18 | 26 Mar 06:42 | 3 | battery, 06:15 |
"""
DAY = 86_400.0
TITLES = (
    ("Tide gauges: March clean-up", 0.1, True),
    ("Weekly report template", 0.2, True),
    ("Gaps in the March tide data", 0.0, False),
    ("Why does the nightly job double rows?", 0.1, False),
    ("Grant report, section 3", 0.2, False),
    ("Rename the ingest module", 0.3, False),
    ("Explain the Doodson filter", 1.0, False),
    ("Licence check before release", 1.1, False),
    ("Station metadata: sources that disagree with each other", 3.0, False),
    ("Plot styles for print", 4.0, False),
    ("Read the new CF conventions", 4.5, False),
    ("Translate the field manual", 6.0, False),
)


class StillBridge(QObject):
    """In a bridge's place: starts nothing, because pictures are of what is said by hand."""

    def spawn(self, work: Coroutine[Any, Any, Any], *, name: str, on_error: object = None) -> None:
        """Close what would have run."""
        work.close()

    def later(self, owner: QObject, call: Callable[[], object], after_ms: int) -> QTimer:
        """A timer as the bridge makes them."""
        return single_shot(owner, call, after_ms)


def sample_items() -> tuple[TranscriptItem, ...]:
    """The sample exchange."""
    request = new_file_request()
    read = ToolPart(
        "p1",
        "c1",
        "read-file",
        "data/gauge-07/2026-03.csv",
        "read",
        "done",
        facts=("241 KB",),
        elapsed_ms=40,
        arguments='{"path": "data/gauge-07/2026-03.csv"}',
        result="time,level_m\n",
    )
    write = ToolPart(
        "p2",
        "c2",
        "write-file",
        "data/gauge-07/2026-03.clean.csv",
        "write",
        "waiting",
        request=request,
        chain=("Workbench",),
    )
    looking = "The file may have gaps where the step between two rows is longer than six minutes. I read it first."
    thought = ReasoningPart("p0", looking, facts=ThinkingFacts(12.0, 1_900, "mistral-large"))
    question = "Find the gaps in gauge 7’s March file, check the maintenance log, and write a cleaned copy."
    return (
        TranscriptItem("u1", "human", "You", "14:01", (TextPart("t0", question),)),
        TranscriptItem("a1", "a", "Workbench", "14:02", (thought, read, TextPart("t1", TABLE), write), live=True),
    )


def many_calls() -> tuple[TranscriptItem, ...]:
    """A long run: its older calls folded, a skill whose own write waits, and one that tells what it called."""
    reads = [
        ToolPart(f"r{n}", f"r{n}", "read-file", f"data/gauge-{n:02}.csv", "read", "failed" if n == 7 else "done")
        for n in range(64)
    ]
    skill = ToolPart("s", "s", "march-cleanup", "gauge 7", "agent", "running", started_at=time.time())
    name = "data/gauge-07/invoice\u202efdp.exe"
    write = ToolPart(
        "w",
        "w",
        "write-file",
        name,
        "write",
        "waiting",
        request=new_file_request(),
        chain=("Workbench", "march-cleanup"),
        parent="s",
    )
    queued = ToolPart("q", "q", "write-file", "data/gauge-08/2026-03.clean.csv", "", "writing")
    done = ToolPart(
        "d",
        "d",
        "station-list",
        "harbour",
        "agent",
        "done",
        '{"area": "harbour"}',
        "14 stations",
        elapsed_ms=900,
        nested=(NestedCall("read-file", "done", 40, "notes.md"), NestedCall("bash", "denied", 12, "rm -r old")),
    )
    parts = (CallsPart("f", tuple(reads)), done, TextPart("t", "Now the clean-up:"), skill, write, queued)
    question = TranscriptItem("u1", "human", "You", "14:01", (TextPart("t0", "Clean up all gauges, please."),))
    return (question, TranscriptItem("a1", "a", "Workbench", "14:02", parts, live=True))


def _opened(page: ChatPage, key: str) -> ChatPage:
    """With one card open."""
    page.pane.transcript.page.messages[-1].opened.add(key)
    page.pane.transcript.relayout()
    return page


def failed_items() -> tuple[TranscriptItem, ...]:
    """A wrong key, said in words."""
    actions = (NoticeAction("Open the key", "open-models"), NoticeAction("Try again", "retry"))
    words = "OpenAI does not accept the key (401). Check that it was copied whole and not revoked."
    return (
        TranscriptItem("u1", "human", "You", "14:01", (TextPart("t0", "Summarise the log, please."),)),
        TranscriptItem("a1", "a", "Assistant", "14:02", (NoticePart("n1", words, "error", actions),)),
    )


def _context(bridge: Bridge) -> ContextViewModel:
    """A long thread of which the older part is told by a summary."""
    made = ContextViewModel(cast(Any, None), bridge, lambda: True)
    made.thread_id = "t"
    made._accounts["t"] = Account(kept=38, shrunk=2, summarised=112, pinned=1)
    made.overlay = Overlay(
        "The person looks after nine tide gauges and wants the March gaps explained. Gauge 7 lost 63 samples on the "
        "14th; gauge 3 stood 9 cm high from the 3rd to the 9th. Nothing has been changed yet.\n\nFiles read: "
        "logs/march.csv, docs/gauges.md",
        "m9",
        frozenset({"m1"}),
        False,
        112,
    )
    made.pinned = (PinnedText("m1", "Never change a sample that is there; write the result beside the source."),)
    return made


def _context_card() -> QWidget:
    page = _page(sample_items())
    page.resize(1280, 800)
    page.show()
    used = Usage(335_000, 11_000, cached_tokens=228_000, cost_usd=0.33, written_tokens=31_000, saved_usd=0.41)
    page._models.chat._record = ThreadRecord("t2", "Gaps in the March tide data", 0.0, 0.0, usage=used)
    page.show_context()
    return page


def _page(
    items: tuple[TranscriptItem, ...],
    *,
    running: bool = False,
    queue: tuple[QueuedMessage, ...] = (),
    trace: str = "empty",
    agents: str = "empty",
    changes: str = "empty",
    mode: str = "",
    other: OtherAgentShown | None = None,
) -> ChatPage:
    bridge, board = cast(Bridge, StillBridge()), LiveThreads()
    nothing = cast(Any, None)
    chat, threads = ChatViewModel(nothing, bridge, board), ThreadsViewModel(nothing, bridge, board)
    page = ChatPage(
        ChatModels(
            chat=chat,
            threads=threads,
            approvals=cast(ApprovalsViewModel, SampleApprovals()),
            shell=sample_shell(),
            setup=cast(ModelSetupViewModel, SampleSetup()),
            offers=OffersViewModel(bridge, {}),
            servers=composer.sample_servers(bridge),
            attaching=AttachingViewModel(bridge, nothing, lambda: 0, nothing, nothing),
            document=DocumentViewModel(nothing, bridge, lambda: ""),
            results=result_models(nothing, lambda _: None, bridge),
            agents=(("assistant", "Workbench"),),
            trace=trace_shots.SAMPLES[trace](),
            modes=ToolModesViewModel(SampleModes(mode), says_direct, bridge),
            effort=sample_effort(bridge),
            context=_context(bridge),
            run_tree=run_shots.SAMPLES[agents](),
            changes=change_shots.sample(changes, bridge),
            variables=ThreadVariables(nothing, bridge),
            projects=projects.sample_projects(chat),
            edge=EdgeViewModel(cast(Any, SampleThreadModes()), chat, bridge),
            other=cast(OtherAgentViewModel, SampleOther(other)),
        )
    )
    threads.model().show(arrange(_records()))
    board.state("t2").waiting_calls.add("c2")
    board.state("t3").running = True
    threads.rearranged.emit()
    page.threads.select("t2" if items else "")
    chat.items_reset.emit(items)
    chat.title_changed.emit("Gaps in the March tide data" if items else "New chat")
    chat.meters_changed.emit(
        Meters("assistant", "Workbench", "m/x", "mistral-large", 44_600 if items else 0, 131_000, 61_300, 0.087)
    )
    chat.state_changed.emit(RunState(running=running, can_send=True))
    chat.queue_changed.emit(queue)
    if other is not None:
        chat.title_changed.emit("Merge instead of append")
        chat.meters_changed.emit(Meters("acp_opencode", "opencode", "", "", 62_000, 200_000, 0, 0.0))
        page._models.other.changed.emit()
    return page


def _records() -> list[ThreadRecord]:
    now = time.time()
    return [
        ThreadRecord(f"t{n}", title, now, now - days * DAY, pinned=pinned)
        for n, (title, days, pinned) in enumerate(TITLES)
    ]


def _held() -> ChatPage:
    """Stopped, with messages that wait for the person."""
    waiting = ("then plot gauge 7 against gauge 8 for that night", "and write two sentences about what the gap means")
    return _page(sample_items(), queue=tuple(QueuedMessage(f"q{n}", text, True) for n, text in enumerate(waiting)))


def _archived() -> ChatPage:
    """With the archive open below the list."""
    page = _page(sample_items())
    threads, now = page._models.threads, time.time()
    records = [ThreadRecord(f"t{n}", title, now, now - days * DAY) for n, (title, days, _) in enumerate(TITLES)]
    records[2:5] = [replace(record, archived=True) for record in records[2:5]]
    threads._threads = {record.thread_id: record for record in records}
    threads.unfold(ARCHIVED, True)
    page.threads.select("t2")
    return page


def _in_project() -> ChatPage:
    """Chats in folders, of which one is gone."""
    page = _page(sample_items(), running=True)
    page.resize(1280, 800)
    threads, chat = page._models.threads, page._models.chat
    records = projects.records(time.time())
    threads._threads = {record.thread_id: record for record in records}
    threads.closed = projects.CLOSED
    chat._thread_id, chat._record = "t2", threads._threads["t2"]
    threads.unfold("", True)
    page.threads.select("t2")
    chat.project_changed.emit(chat.project)
    page._models.projects.files_changed.emit()
    return page


def _variables() -> ChatPage:
    """The dialog of a chat's variables."""
    page = _page(sample_items())
    page.resize(1280, 800)
    page.show()
    variables = ChatVariables("t2", {"CITY": "Oslo", "UNIT": "metre"}, {"FOLDER": "notes", "CITY": "Bergen"})
    VariablesDialog(page, variables).open()
    return page


SIZES = ("", "-960", "-200")


def _shown() -> ChatPage:
    """A page as large as its picture, for what opens over the composer."""
    page = _page(sample_items())
    page.resize(1280, 800)
    return page


def _job_page(status: str) -> ChatPage:
    """A job's thread, with its other runs in the list."""
    page = _page(sample_items(), running=status == "running")
    chat, threads, now = page._models.chat, page._models.threads, time.time()
    ends = (status, "done", "failed", "limit", "done", "stopped")
    records = [
        ThreadRecord(
            f"j{at}",
            f"Surge report, {21 - at} Nov 06:30",
            now,
            now - at * DAY,
            label="job",
            job=ThreadJob("1", "Surge report", end),
        )
        for at, end in enumerate(ends)
    ]
    other = ThreadJob("2", "Compare all gauges with their neighbours, every night", "failed")
    records += [ThreadRecord("k", f"{other.name}, 21 Nov 01:30", now, now - DAY, label="job", job=other)]
    records += [ThreadRecord(f"t{n}", title, now, now - days * DAY) for n, (title, days, _) in enumerate(TITLES)]
    threads._threads = {record.thread_id: record for record in records}
    chat._thread_id = "j0"
    threads.unfold("1", True)
    page.threads.select("j0")
    chat.title_changed.emit("Surge report, 21 Nov 06:30")
    return page


def pictures() -> dict[str, Callable[[], QWidget]]:
    """Name -> how to build it."""
    queued = (QueuedMessage("q", "then plot gauge 7 against gauge 8 for that night"),)
    return {
        "context": _context_card,
        "context-200": _context_card,
        "01-chat": lambda: _page(sample_items(), running=True, queue=queued),
        "01-chat-200": lambda: _page(sample_items(), running=True, queue=queued),
        "01-chat-code": lambda: _opened(_page(code_items(), running=True, mode="code"), OPENED[1]),
        "01-chat-code-200": lambda: _opened(_page(code_items(), running=True, mode="both"), OPENED[1]),
        "01-chat-empty": lambda: _page(()),
        **{
            f"chat-other-agent{size}": lambda: _page(other_items(), running=True, other=SHOWN)
            for size in ("", "-200", "-960")
        },
        "chat-job": lambda: _job_page("failed"),
        "chat-job-200": lambda: _job_page("done"),
        "chat-job-960": lambda: _job_page("running"),
        "01-chat-calls": lambda: _opened(_page(many_calls(), running=True), "d"),
        "01-chat-failed": lambda: _page(failed_items()),
        **{f"01-chat-held{size}": _held for size in ("", "-200", "-960")},
        **{f"01-chat-archived{size}": _archived for size in ("", "-200")},
        **{f"20-project{size}": _in_project for size in SIZES},
        **{f"21-project-choose{size}": lambda: projects.choosing(_in_project()) for size in SIZES},
        **{f"20-project-look{size}": lambda: projects.looking(_in_project()) for size in SIZES},
        "21-project-choose-closed": lambda: projects.choosing(_in_project(), "gauge"),
        **{f"01-chat-variables{size}": _variables for size in ("", "-200", "-960")},
        **{f"33-composer-resources{size}": lambda: composer.resources(_shown()) for size in SIZES},
        **{f"33-composer-inside{size}": lambda: composer.inside(_shown()) for size in SIZES},
        **{f"33-composer-prompts{size}": lambda: composer.prompts(_shown()) for size in SIZES},
        **{f"25-grants{size}": lambda: composer.grants(_shown()) for size in SIZES},
        "33-composer-prompt-list": lambda: composer.prompts(_shown(), filled=False),
        **trace_pictures(),
        **agent_pictures(),
        **change_pictures(),
        **documents.pictures(_page, SIZES),
        **results.pictures(_page, SIZES),
    }


def change_pictures() -> dict[str, Callable[[], QWidget]]:
    """What was changed beside a thread, and an undo before it is done."""
    return {
        **{f"24-changes{size}": lambda: _changed("c2") for size in SIZES},
        "24-changes-file": lambda: _changed("", file=2),
        "24-changes-undone": lambda: _changed("u1"),
        **{f"24-changes-told{size}": _told for size in SIZES},
        "24-changes-empty": lambda: _changed("", "empty"),
        **{f"24-changes-undo{size}": _undoing for size in ("", "-200")},
    }


def _changed(chosen: str, sample: str = "some", *, file: int = -1) -> ChatPage:
    page = _page(sample_items(), changes=sample)
    page.show_side("changes")
    panel = page.side.changes
    assert panel is not None
    panel.files.select(file)
    rows = [row.change_id for row in panel.calls.rows.lines]
    panel.calls.select(rows.index(chosen) if chosen else -1)
    if chosen == "c2":
        words = page._models.changes.words_of(change_shots.preview())
        page._models.changes.conflict_found.emit("c2", words)
    return page


def _told() -> ChatPage:
    """After a person allowed a write."""
    page = _page(sample_items())
    page.resize(1280, 800)
    page.show()
    page._models.changes.told.emit("2026-03.clean.csv written.", "c1")
    return page


def _undoing() -> ChatPage:
    page = _changed("c2")
    page.resize(1280, 800)
    page.show()
    page._changes.ask(change_shots.preview())
    return page


def _traced(name: str, act: Callable[[TracePanel], None] = lambda _: None) -> Callable[[], QWidget]:
    def build() -> QWidget:
        page = _page(sample_items(), running=True, trace=name)
        page.show_trace(True)
        assert page.trace is not None
        act(page.trace)
        return page

    return build


def trace_pictures() -> dict[str, Callable[[], QWidget]]:
    """The trace panel beside the thread, or over it."""
    call = _traced("live", lambda panel: panel.rows.setCurrentIndex(panel.model.index(4)))
    last = _traced("live", lambda panel: panel.rows.setCurrentIndex(panel.model.index(panel.model.rowCount() - 1)))
    return {
        "10-trace": call,
        "10-trace-200": call,
        "10-trace-960": call,
        "10-trace-round": last,
        "10-trace-done": _traced("done"),
        "10-trace-failed": _traced("failed", lambda panel: panel.rows.setCurrentIndex(panel.model.index(4))),
        "10-trace-denied": _traced("failed", lambda panel: panel.rows.setCurrentIndex(panel.model.index(2))),
        "10-trace-deep": _traced("deep"),
        "10-trace-events": _traced("failed", lambda panel: panel.show_view("events")),
        "10-trace-event": _traced("failed", _an_event),
        "10-trace-text": _traced("failed", _a_text),
        "10-trace-find": _traced("live", _a_search),
        "10-trace-empty": _traced("empty"),
    }


def _beside(name: str, row: int = 0, act: Callable[[RunPanel], None] = lambda _: None) -> Callable[[], QWidget]:
    def build() -> QWidget:
        page = _page(sample_items(), running=True, agents=name)
        page.show_side("agents")
        panel = page.side.agents
        assert panel is not None
        panel.rows.setCurrentIndex(panel.model.index(row))
        act(panel)
        return page

    return build


def agent_pictures() -> dict[str, Callable[[], QWidget]]:
    """The Run panel beside the thread, or over it."""
    return {
        "12-agents": _beside("live"),
        "12-agents-200": _beside("live"),
        "12-agents-960": _beside("live"),
        "12-agents-waiting": _beside("live", 4),
        "12-agents-limit": _beside("live", 3),
        "12-agents-budget": _beside("live", 4, _a_budget),
        "12-agents-cancel": _beside("live", 0, lambda panel: panel.ask_cancel("0")),
        "12-agents-over": _beside("over"),
        "12-agents-stopping": _beside("stopping"),
        "12-agents-interrupted": _beside("interrupted"),
        "12-agents-debate": _beside("debate", 1),
        "12-agents-long": _beside("long"),
        "12-agents-long-200": _beside("long"),
        "12-agents-many": _beside("many", 3),
        "12-agents-empty": _beside("empty"),
    }


def _a_budget(panel: RunPanel) -> None:
    """Two limits that cannot be."""
    for name, text in (("max_rounds", "1"), ("deadline_s", "90"), ("max_cost_usd", "$0.20")):
        panel.budget.fields[name].setText(text)
    panel.budget._follow_buttons()
    panel.budget.apply.click()


def _an_event(panel: TracePanel) -> None:
    panel.show_view("events")
    panel.events.list.setCurrentIndex(panel.events.model.index(4))


def _a_text(panel: TracePanel) -> None:
    panel.rows.setCurrentIndex(panel.model.index(2))
    panel.detail.arguments.click()


def _a_search(panel: TracePanel) -> None:
    panel.begin_find()
    panel.find_bar.field.setText("plot")
    panel.find_bar.wanted.emit("plot", True)

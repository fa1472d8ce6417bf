"""The trace of the open thread: which run of it shows, live or from the store; search, events, copies, export.

While nobody watches, events of running threads only go into their bounded trees; nothing is loaded and nothing told.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.domain.errors import AssentError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.events import Event, RunEnded, RunStarted
from desktop.domain.runs.limits import Limit
from desktop.domain.runs.traces import TraceEntry, entry_of
from desktop.domain.threads import RunRecord
from desktop.presenter.common.exporting import write_whole
from desktop.presenter.common.words import clock
from desktop.presenter.trace.node import TraceNode
from desktop.presenter.trace.tree import TraceTree
from desktop.presenter.trace.words import searchable

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.chats.traces import TraceService

TELL_AFTER = 100
"""Milliseconds in which what comes is told once."""
KEPT = 8
"""Trees of runs that are over that stay in memory."""
SHORT = 4
Redact = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class RunChoice:
    """A run that can be shown; ``words`` for the picker."""

    run_id: str
    words: str


class TraceViewModel(QObject):
    """The view-model of the trace panel.

    ``shown``: another run, or none, or how loading went; ``moved``: the same run has more; ``events_changed``: the
    filtered events; ``matched`` (nodes): what a search found; ``copied`` (text) and ``said`` a sentence.
    """

    shown = Signal()
    moved = Signal()
    runs_changed = Signal()
    events_changed = Signal()
    matched = Signal(object)
    copied = Signal(str, str)
    said = Signal(str)

    def __init__(self, source: TraceService, bridge: Bridge, redact: Redact, titles: Mapping[str, str]) -> None:
        super().__init__()
        self._source, self._bridge, self._redact, self._titles = source, bridge, redact, titles
        self._live: dict[str, TraceTree] = {}
        self._kept: OrderedDict[str, TraceTree] = OrderedDict()
        self._thread_id = ""
        self._agent = ""
        self._watching = self._stale = False
        self._chosen = ""
        self._opening = 0
        self.tree: TraceTree | None = None
        self.runs: tuple[RunChoice, ...] = ()
        self.loading = False
        self.problem = ""
        self.limits: tuple[Limit, ...] = ()
        self.events: list[TraceEntry] = []
        self._text = self._type = ""
        self._seen = self._told = 0
        self._searching = 0
        self._later = QTimer(self, singleShot=True, interval=TELL_AFTER)
        self._later.timeout.connect(self._tell)

    # -- events of the runtime ----------------------------------------------------------------------------------------

    def take(self, events: tuple[Event, ...]) -> None:
        """Take in a batch of events from the bridge."""
        now = time.time()
        for event in events:
            if isinstance(event, RunStarted):
                self._live[event.run_id] = TraceTree(event.run_id, self._titles)
            tree = self._live.get(event.run_id)
            if tree is None:
                continue
            entry = entry_of(event, now)
            if entry is not None:
                tree.add(entry)
            if isinstance(event, RunStarted) and event.thread_id == self._thread_id:
                self._run_began(event)
            if isinstance(event, RunEnded):
                self._keep(self._live.pop(event.run_id))
        if self._watching and self.tree is not None and self.tree.changes != self._told and not self._later.isActive():
            self._later.start()

    def _keep(self, tree: TraceTree) -> None:
        self._kept[tree.run_id] = tree
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def _run_began(self, event: RunStarted) -> None:
        if not self._watching:
            self._stale = True
            return
        words = f"{event.run_id[:SHORT]}  {clock(time.time())}  running"
        self.runs = (RunChoice(event.run_id, words), *self.runs)
        self.runs_changed.emit()
        if not self._chosen:
            self._opening += 1
            self._show(self._live[event.run_id], event.agent)

    def _tell(self) -> None:
        if self._watching and self.tree is not None:
            self._told = self.tree.changes
            self._grow_events()
            self.moved.emit()

    # -- which run ----------------------------------------------------------------------------------------------------

    @property
    def run_id(self) -> str:
        """The run that shows, or ""."""
        return self.tree.run_id if self.tree is not None else ""

    @property
    def live(self) -> bool:
        """Whether the run that shows is under way."""
        return self.run_id in self._live

    def open_thread(self, thread_id: str) -> None:
        """Show the latest run of the thread."""
        if thread_id != self._thread_id:
            self._thread_id, self._chosen, self.runs = thread_id, "", ()
            self._load()

    def watch(self, watching: bool) -> None:
        """Somebody looks, or no longer; who looks again finds the same run, with what has come meanwhile."""
        self._watching = watching
        if watching and self._stale:
            self._load()
        elif watching:
            self._tell()
        else:
            self._later.stop()

    def choose(self, run_id: str) -> None:
        """Show a run of the thread; the latest one follows what is begun next."""
        latest = self.runs[0].run_id if self.runs else ""
        self._chosen = "" if run_id == latest else run_id
        self._load()

    def choose_message(self, message_id: str) -> None:
        """Show the run that wrote a message; a question has none of its own, then nothing changes."""

        async def work() -> None:
            run_id = await self._source.run_of(message_id)
            if run_id and run_id != self.run_id:
                self.choose(run_id)

        self._spawn(work(), "find run", lambda _: None)

    def _load(self) -> None:
        self._opening += 1
        self._stale = not self._watching
        if self._stale or not self._thread_id:
            self.runs_changed.emit()
            self._show(None)
        else:
            self.loading, self.problem = True, ""
            self.shown.emit()
            opening = self._opening
            self._spawn(self._open(self._thread_id, opening), "open trace", lambda error: self._failed(error, opening))

    async def _open(self, thread_id: str, opening: int) -> None:
        runs = await self._source.runs(thread_id)
        if opening != self._opening:
            return
        self.runs = tuple(RunChoice(run.run_id, run_words(run, run.run_id in self._live)) for run in runs)
        self.runs_changed.emit()
        run = next((run for run in runs if run.run_id == self._chosen), runs[0] if runs else None)
        if run is None:
            self._show(None)
            return
        tree = self._live.get(run.run_id) or self._kept.get(run.run_id)
        if tree is None:
            entries = await self._source.entries(run.run_id)
            tree = await self._bridge.in_thread(grown, run.run_id, entries, self._titles)
        if opening == self._opening:
            self._keep(tree) if run.run_id not in self._live else None
            self._show(tree, run.agent)

    def _show(self, tree: TraceTree | None, agent: str = "") -> None:
        self.tree, self.loading, self.problem = tree, False, ""
        self.limits = self._source.limits(agent) if tree is not None else ()
        self._told = tree.changes if tree is not None else 0
        self._searching += 1
        self.shown.emit()
        self._filter()

    def _failed(self, error: AssentError, opening: int) -> None:
        if opening == self._opening:
            self.tree, self.loading = None, False
            self.problem = error.advice
            self.shown.emit()

    # -- search and events --------------------------------------------------------------------------------------------

    def search(self, text: str) -> None:
        """Look through all nodes and their texts; ``matched`` has those that hold it, from the top."""
        self._searching += 1
        number, tree, wanted = self._searching, self.tree, text.strip().casefold()
        if tree is None or not wanted:
            self.matched.emit([])
            return

        async def work() -> None:
            found = await self._bridge.in_thread(matching, tree, wanted)
            if number == self._searching:
                self.matched.emit(found)

        self._spawn(work(), "search trace")

    def filter_events(self, *, text: str | None = None, kind: str | None = None) -> None:
        """Filter the events by a text in them and by type."""
        self._text = self._text if text is None else text.strip().casefold()
        self._type = self._type if kind is None else kind
        self._filter()

    def _filter(self) -> None:
        self.events, self._seen = [], 0
        self._grow_events()

    def _grow_events(self) -> None:
        """Show the events that came since; they are searched in a thread where there is a text to find."""
        entries = self.tree.log.entries if self.tree is not None else []
        fresh, self._seen = entries[self._seen :], len(entries)
        if self._type:
            fresh = [entry for entry in fresh if entry.type == self._type]
        if not self._text or not fresh:
            self.events.extend(fresh)
            self.events_changed.emit()
            return
        into, wanted = self.events, self._text

        async def work() -> None:
            found = await self._bridge.in_thread(lambda: [entry for entry in fresh if wanted in searchable(entry)])
            if into is self.events:
                into.extend(found)
                self.events_changed.emit()

        self._spawn(work(), "search events")

    # -- copies and export --------------------------------------------------------------------------------------------

    def copy(self, entries: Sequence[TraceEntry], what: str) -> None:
        """Copy entries as JSON Lines without secrets; ``copied`` has the text and says ``what`` it is."""
        run_id, some = self.run_id, list(entries)

        async def work() -> None:
            self.copied.emit(await self._bridge.in_thread(json_lines, self._redact, run_id, some), what)

        self._spawn(work(), "copy trace")

    def copy_node(self, node: TraceNode) -> None:
        """Copy what happened to one node, in the form in which a whole trace is copied."""
        self.copy(node.entries, node.title)

    def export(self, path: str) -> None:
        """The whole trace to a file that the person chose: JSON Lines, whole or not at all."""
        tree = self.tree
        if tree is None:
            return
        entries = list(tree.log.entries)

        async def work() -> None:
            text = await self._bridge.in_thread(json_lines, self._redact, tree.run_id, entries)
            await self._bridge.in_thread(write_whole, path, text.encode("utf-8", "replace"))
            self.said.emit(f"{len(entries):,} events written to {path.rpartition('/')[2]}")

        self._spawn(work(), "export trace", lambda error: self.said.emit(str(error)))

    def _spawn(
        self, work: Coroutine[Any, Any, None], name: str, on_error: Callable[[AssentError], None] | None = None
    ) -> None:
        self._bridge.spawn(work, name=name, on_error=on_error)


def run_words(run: RunRecord, live: bool) -> str:
    """``7f3a  14:02  done``."""
    state = run.end_reason if run.ended_at is not None else "running" if live else "unfinished"
    words = {"response": "done", "cancelled": "stopped", "error": "failed"}.get(state, state.replace("_", " "))
    return f"{run.run_id[:SHORT]}  {clock(run.started_at)}  {words}"


def json_lines(redact: Redact, run_id: str, entries: Sequence[TraceEntry]) -> str:
    """A line an entry. Runs in a thread; copies each entry, for its text may still grow."""
    lines = (redact(line_data(run_id, number, entry)) for number, entry in enumerate(entries, 1))
    return "".join(f"{json.dumps(line, ensure_ascii=True, default=str)}\n" for line in lines)


def grown(run_id: str, entries: Sequence[TraceEntry], titles: Mapping[str, str]) -> TraceTree:
    """A tree of entries that are all there. Runs in any thread."""
    tree = TraceTree(run_id, titles)
    for entry in entries:
        tree.add(entry)
    return tree


def matching(tree: TraceTree, wanted: str) -> list[TraceNode]:
    """The nodes that hold a text, which is in small letters. Runs in any thread while the tree grows."""
    if tree.root is None:
        return []
    return [
        node
        for node in tree.root.walk()
        if wanted in f"{node.title} {node.summary}".casefold() or any(wanted in searchable(e) for e in node.entries)
    ]


def line_data(run_id: str, number: int, entry: TraceEntry) -> dict[str, Any]:
    """A line of an export, with the identity that published events carry (R-TRC-5)."""
    return {
        "type": entry.type,
        "timestamp": entry.at,
        "sequence": number,
        "runId": run_id,
        "contextId": entry.context,
        "ancestorContextId": entry.ancestor,
        "agent": entry.agent,
        "callId": entry.call,
        "data": entry.plain(),
    }

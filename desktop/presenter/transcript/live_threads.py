"""What every thread is doing right now, fed by the bridge; the thread list and the chat page both read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from PySide6.QtCore import QObject, Signal

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.events import (
    AgentListening,
    ContextMeasured,
    ContextSummarising,
    Event,
    RetryScheduled,
    RunEnded,
    RunStarted,
    RunWaiting,
    ToolCallAnswered,
    ToolCallFinished,
    ToolCallStarted,
    ToolCallWaiting,
    UserMessageDelivered,
)
from desktop.presenter.transcript.items import ListeningAgent
from desktop.presenter.transcript.live_answer import Change, Delta, LiveAnswer

SUMMARISING = "summarising older messages"


@dataclass(slots=True)
class ThreadState:
    """One thread's live state."""

    answer: LiveAnswer | None = None
    """The answer under way; None when no run was seen since the app started."""
    run_id: str = ""
    """The run."""
    running: bool = False
    """Whether one is under way."""
    stopping: bool = False
    """Whether it is being stopped."""
    waiting_calls: set[str] = field(default_factory=set)
    """The calls that wait for a person."""
    phase: str = ""
    """What it is doing."""
    context_used: int = 0
    """Tokens that the last request used."""
    context_window: int | None = None
    """Tokens of the model's window; None: unknown."""
    compacted: bool = False
    """Whether the last request lacked older messages, or had a summary in their place."""
    dropped: bool = False
    """Whether messages were left out of it."""
    last_reason: str = ""
    """Why the last run ended."""
    listening: dict[str, ListeningAgent] = field(default_factory=dict)
    """Persistent agents that wait for a message, by their address."""

    @property
    def mark(self) -> str:
        """The list's state glyph: ``waiting``, ``running``, ``failed`` or nothing."""
        if self.waiting_calls:
            return "waiting"
        if self.running and not any(agent.is_own for agent in self.listening.values()):
            return "running"
        return "failed" if self.last_reason == "error" else ""


class LiveThreads(QObject):
    """Keeps a ``ThreadState`` for each thread that ran. Signals carry ids, readers fetch the state."""

    answer_changed = Signal(str)
    answer_grew = Signal(str, object)
    state_changed = Signal(str)
    run_ended = Signal(str, object)
    answer_parted = Signal(str, object)
    """thread id, TranscriptItem: the answer so far stands as it is; what follows answers a message typed meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self._threads: dict[str, ThreadState] = {}
        self.titles: dict[str, str] = {}
        self._answers: set[str] = set()
        self._states: set[str] = set()
        self._reactions: dict[type, Callable[..., None]] = {
            RunStarted: self._run_started,
            RunEnded: self._run_ended,
            RunWaiting: self._run_waiting,
            AgentListening: self._listening,
            ToolCallStarted: self._call_started,
            ToolCallWaiting: self._call_waiting,
            ToolCallAnswered: self._call_over,
            ToolCallFinished: self._call_over,
            RetryScheduled: self._retrying,
            ContextMeasured: self._context,
            ContextSummarising: self._summarising,
        }

    def state(self, thread_id: str) -> ThreadState:
        """The live state of a thread; made empty when first asked for."""
        return self._threads.setdefault(thread_id, ThreadState())

    def mark_of(self, thread_ids: Sequence[str]) -> str:
        """The mark of what stands in one line of a list, the newest first: what waits for a person, else what runs,
        else that of the newest."""
        marks = [state.mark if (state := self._threads.get(one)) else "" for one in thread_ids]
        return next((mark for mark in ("waiting", "running") if mark in marks), marks[0] if marks else "")

    def forget(self, thread_id: str) -> None:
        """A deleted thread has no live state."""
        self._threads.pop(thread_id, None)

    @property
    def running_threads(self) -> tuple[str, ...]:
        """Threads with a run under way."""
        return tuple(key for key, state in self._threads.items() if state.running)

    def take(self, events: tuple[Event, ...]) -> None:
        """Apply a batch from the bridge, in order; deltas of one part in a row were merged by the bridge."""
        for event in events:
            thread_id = event.thread_id
            if isinstance(event, RunStarted):
                self._tell()  # of the run before
            state = self.state(thread_id)
            if isinstance(event, UserMessageDelivered) and state.answer is not None:
                self._part(thread_id, state, state.answer)
            reaction = self._reactions.get(type(event))
            if reaction is not None:
                reaction(state, event)
                self._states.add(thread_id)
            if state.answer is not None:
                self._answer(thread_id, *state.answer.apply(event))
            if isinstance(event, RunEnded):
                self._tell()
                self.run_ended.emit(thread_id, event)
        self._tell()

    def _part(self, thread_id: str, state: ThreadState, answer: LiveAnswer) -> None:
        self._tell()
        answer.ended = True
        if answer.message_id:
            self.answer_parted.emit(thread_id, answer.item())
        state.answer = LiveAnswer(answer.author, answer.model, titles=self.titles)

    def _answer(self, thread_id: str, changed: bool, how: Change) -> None:
        if isinstance(how, Delta) and thread_id not in self._answers:
            self.answer_grew.emit(thread_id, how)
        elif changed:  # drawn anew at the end of the batch, with the text that came meanwhile
            self._answers.add(thread_id)

    def _tell(self) -> None:
        """What changed in a batch, once: an answer of hundreds of parts is not drawn for each of its events."""
        answers, self._answers = self._answers, set()
        states, self._states = self._states, set()
        for thread_id in answers:
            self.answer_changed.emit(thread_id)
        for thread_id in states:
            self.state_changed.emit(thread_id)

    def mark_stopping(self, thread_id: str) -> None:
        """The person pressed Stop: shown at once, before the run has ended."""
        state = self.state(thread_id)
        if state.running:
            state.stopping = True
            self.state_changed.emit(thread_id)

    def _run_started(self, state: ThreadState, event: RunStarted) -> None:
        author = self.titles.get(event.agent, event.agent)
        state.answer = LiveAnswer(author, event.model, continues=event.continues, titles=self.titles)
        state.run_id = event.run_id
        state.running, state.stopping = True, False
        state.waiting_calls.clear()
        state.listening.clear()
        state.phase, state.last_reason = "thinking", ""

    def _run_ended(self, state: ThreadState, event: RunEnded) -> None:
        state.running = state.stopping = False
        state.waiting_calls.clear()
        state.listening.clear()
        state.phase, state.last_reason = "", event.reason

    def _run_waiting(self, state: ThreadState, event: RunWaiting) -> None:
        if state.running:
            state.phase = (event.why or "waiting for other runs to end") if event.waiting else "thinking"

    def _listening(self, state: ThreadState, event: AgentListening) -> None:
        state.listening.pop(event.context_id, None)
        if event.waiting:
            title, is_own = self.titles.get(event.agent, event.agent), event.context_id == event.thread_id
            state.listening[event.context_id] = ListeningAgent(event.context_id, title, is_own)

    def _call_started(self, state: ThreadState, event: ToolCallStarted) -> None:
        state.phase = f"running {event.tool}"

    def _call_waiting(self, state: ThreadState, event: ToolCallWaiting) -> None:
        state.waiting_calls.add(event.call_id)
        state.phase = "waiting for you"

    def _call_over(self, state: ThreadState, event: ToolCallAnswered | ToolCallFinished) -> None:
        state.waiting_calls.discard(event.call_id)
        state.phase = "waiting for you" if state.waiting_calls else "thinking"

    def _retrying(self, state: ThreadState, event: RetryScheduled) -> None:
        state.phase = "waiting to try again"

    def _summarising(self, state: ThreadState, event: ContextSummarising) -> None:
        state.phase = SUMMARISING

    def _context(self, state: ThreadState, event: ContextMeasured) -> None:
        if state.phase == SUMMARISING:
            state.phase = "thinking"
        state.dropped = bool(event.account.dropped)
        state.context_used, state.context_window = event.used, event.window
        account = event.account
        only_shorter = account.shrunk and not (account.dropped or account.summarised)
        state.compacted = event.compacted and not only_shorter  # long results were shortened, all messages are there

"""What is shown of an agent of another maker in the open chat: what is seen of it, its plan, its mode and model."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.services.definitions.others import OWN_MODEL, name_of

if TYPE_CHECKING:
    from desktop.presenter.chat.page import ChatViewModel
    from desktop.presenter.events.bridge import Bridge
    from desktop.tools.acp.session_state import AcpChoice, SessionState
    from desktop.tools.acp.sessions import AcpSessions

WORKSPACE = "the workspace"


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A step of its plan: ``done``, ``now`` or ``next``."""

    text: str
    state: str


@dataclass(frozen=True, slots=True)
class ChoiceRow:
    """One of the values of a choice: what is set, its name, what it is about, and whether it is set now."""

    value: str
    name: str
    about: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class OtherAgentShown:
    """An agent of another maker, as the chat shows it."""

    name: str
    """What it is kept under."""
    title: str
    """What a person reads."""
    seen: str
    """What Assent sees of its work."""
    not_seen: str
    """What it does not see."""
    mode: str = ""
    """Its mode, or ""."""
    model: str = OWN_MODEL
    """Its model, as it calls it."""
    plan: tuple[PlanRow, ...] = ()
    """The steps that it has written down."""
    plan_words: str = ""
    """How far they are."""


class OtherAgentViewModel(QObject):
    """``changed`` when what is shown of the open chat's agent is another thing; ``refused`` with a reason."""

    changed = Signal()
    refused = Signal(str)

    def __init__(self, sessions: AcpSessions, chat: ChatViewModel, bridge: Bridge) -> None:
        super().__init__()
        self._sessions, self._chat, self._bridge = sessions, chat, bridge
        self._known: OtherAgentShown | None = None
        chat.meters_changed.connect(lambda _: self._look())
        ends = [sessions.on_change(self._session_changed), sessions.agents.on_change(self._look)]
        self.destroyed.connect(lambda: [end() for end in ends])

    @property
    def shown(self) -> OtherAgentShown | None:
        """What there is to show; None: the agent of the open chat is one of Assent's own."""
        return self._known

    def choices(self, kind: str) -> tuple[ChoiceRow, ...]:
        """What can be chosen (``mode``, ``model``) while it runs."""
        found = self._choice(kind)
        options = found.options if found is not None else ()
        current = found.current if found is not None else ""
        return tuple(ChoiceRow(one.value, one.name, one.about, one.value == current) for one in options)

    def choose(self, kind: str, value: str) -> None:
        """Set its mode or its model."""
        session, found = self._sessions.session(self._chat.thread_id), self._choice(kind)
        if session is None or found is None:
            return
        option = found.id

        async def work() -> None:
            try:
                await session.choose(option, value)
            except (KnownError, TimeoutError) as error:
                self.refused.emit(error.advice if isinstance(error, KnownError) else "It does not answer.")

        self._bridge.spawn(work(), name=f"choose the {kind} of another agent")

    def _choice(self, kind: str) -> AcpChoice | None:
        state = self._sessions.state(self._chat.thread_id)
        return state.choice(kind) if state is not None else None

    def _session_changed(self, place: str) -> None:
        if place == self._chat.thread_id:
            self._look()

    def _look(self) -> None:
        now = self._shown_now()
        if now != self._known:
            self._known = now
            self.changed.emit()

    def _shown_now(self) -> OtherAgentShown | None:
        agent = self._chat.meters.agent
        row = next((one for one in self._sessions.agents.rows if name_of(one.agent.name) == agent), None)
        if row is None:
            return None
        state = self._sessions.state(self._chat.thread_id) if self._chat.thread_id else None
        if state is not None and state.agent != row.agent.name:
            state = None
        folder = os.path.basename(row.terms.folder.rstrip(os.sep)) or WORKSPACE
        writes = "its own writes do not ask" if row.terms.writes else "its writes ask"
        network = "reaches any address" if row.terms.network else "no network"
        session = self._sessions.session(self._chat.thread_id) if state is not None else None
        held = "confined" if session is None or session.launch.confined else "not confined, nothing here can"
        return OtherAgentShown(
            row.agent.name,
            row.agent.title,
            "its files and commands, and what it asks for",
            f"works by itself in {folder}, {held}; {writes}; {network}",
            *(_of(state, at_work=session is not None and session.at_work) if state is not None else ()),
        )


def _of(state: SessionState, *, at_work: bool) -> tuple[str, str, tuple[PlanRow, ...], str]:
    """Its plan is shown here while it works; after that it stands in the chat."""
    mode, model, plan = state.choice("mode"), state.choice("model"), state.plan
    words = {"completed": "done", "in_progress": "now"}
    rows = tuple(PlanRow(one.text, words.get(one.status, "next")) for one in plan.entries) if at_work else ()
    said = plan.said if rows else ""
    return mode.shown if mode is not None else "", model.shown if model is not None else OWN_MODEL, rows, said


def follow_usage(sessions: AcpSessions, measured: Callable[[str, int, int | None], None]) -> None:
    """Tell how full an agent says that its context is: chat, tokens, window."""

    def changed(place: str) -> None:
        state = sessions.state(place)
        if state is not None and state.used:
            measured(place, state.used, state.size or None)

    sessions.on_change(changed)

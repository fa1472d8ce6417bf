"""Model servers that can be started from here: what would run, what runs, what became of it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import KnownError
from desktop.domain.servers.starting import ModelFile, ServerState, StartChoice, StartKind, StartPlan

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge


class StartingServers(Protocol):
    """The service behind it."""

    @property
    def states(self) -> tuple[ServerState, ...]:
        """How each goes."""
        ...

    def on_change(self, listener: Callable[[], object]) -> None:
        """Call it after each change."""
        ...

    def choice(self, kind: StartKind) -> StartChoice:
        """What was chosen last."""
        ...

    def look(self) -> Coroutine[Any, Any, None]:
        """Find out which programs are here."""
        ...

    def describe(self, path: str) -> Coroutine[Any, Any, ModelFile]:
        """What a model's file says of itself."""
        ...

    def plan(self, choice: StartChoice) -> Coroutine[Any, Any, StartPlan]:
        """What would be run."""
        ...

    def start(self, plan: StartPlan) -> Coroutine[Any, Any, None]:
        """Run it."""
        ...

    def stop(self, kind: StartKind) -> Coroutine[Any, Any, None]:
        """End it."""
        ...

    def log(self, kind: StartKind) -> Coroutine[Any, Any, str]:
        """The end of what it wrote."""
        ...


class LocalStartsViewModel(QObject):
    """``changed``: another state. ``planned``: the form's plan, file or problem is another. ``said``: a log was read.
    ``answering``: a server that was started answers now, or does no longer."""

    changed = Signal()
    planned = Signal()
    said = Signal(str)
    answering = Signal()

    def __init__(self, starts: StartingServers, bridge: Bridge) -> None:
        super().__init__()
        self._starts, self._bridge = starts, bridge
        self._running: set[StartKind] = set()
        self._asked = 0
        self.form: StartChoice | None = None
        """What the open form says."""
        self.file: ModelFile | None = None
        """The file that it names."""
        self.plan: StartPlan | None = None
        """What would be run by it."""
        self.problem = ""
        """Why nothing can be run by it."""
        starts.on_change(self._changed)

    # -- reading ----------------------------------------------------------------------------------------------------

    def state(self, kind: str) -> ServerState | None:
        """How a server goes that can be started here; None for one that is not installed or cannot be."""
        return next((state for state in self._starts.states if state.kind == kind and state.program), None)

    @property
    def states(self) -> tuple[ServerState, ...]:
        """Of those that are installed."""
        return tuple(state for state in self._starts.states if state.program)

    # -- acting -----------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Find out which programs are here."""
        self._bridge.spawn(self._starts.look(), name="look for programs of model servers")

    def open(self, kind: StartKind) -> None:
        """A form for it, with what was chosen last."""
        self.file, self.plan, self.problem = None, None, ""
        self._form(self._starts.choice(kind))

    def choose(self, **values: Any) -> None:
        """Something else in the form: file, context, leave_running or with_app."""
        if self.form is not None:
            self._form(replace(self.form, **values))

    def start(self) -> bool:
        """Run what the form shows, to the letter. False: it shows nothing to run."""
        plan = self.plan
        if plan is None:
            return False
        self._bridge.spawn(self._start(plan), name="start a model server")
        return True

    def stop(self, kind: StartKind) -> None:
        """End it."""
        self._bridge.spawn(self._starts.stop(kind), name="stop a model server")

    def read_log(self, kind: StartKind) -> None:
        """``said`` tells the end of what it wrote."""

        async def work() -> None:
            self.said.emit(await self._starts.log(kind))

        self._bridge.spawn(work(), name="read a log")

    # -- within -----------------------------------------------------------------------------------------------------

    def _form(self, choice: StartChoice) -> None:
        self.form, self.plan = choice, None
        self._asked += 1
        self.planned.emit()
        self._bridge.spawn(self._plan(choice, self._asked), name="plan a start")

    async def _plan(self, choice: StartChoice, asked: int) -> None:
        file, plan, problem = None, None, ""
        try:
            if choice.file:
                file = await self._starts.describe(choice.file)
            plan = await self._starts.plan(choice)
        except KnownError as error:
            problem = str(error)
        if asked == self._asked:  # else something else was chosen meanwhile
            self.file, self.plan, self.problem = file, plan, problem
            self.planned.emit()

    async def _start(self, plan: StartPlan) -> None:
        try:
            await self._starts.start(plan)
        except KnownError as error:
            self.problem = str(error)
            self.planned.emit()

    def _changed(self) -> None:
        running = {state.kind for state in self._starts.states if state.phase == "running"}
        if running != self._running:
            self._running = running
            self.answering.emit()
        self.changed.emit()

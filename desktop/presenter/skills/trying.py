"""Trying a skill: one call as a person makes it, through every gate, with its events and its result."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import AssentError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.cancellation import STOPPED, CancellationToken
from desktop.domain.runs.events import (
    Event,
    ToolCallAnswered,
    ToolCallFinished,
    ToolCallOutput,
    ToolCallStarted,
    ToolCallWaiting,
)
from desktop.domain.skills import SkillDef
from desktop.presenter.common.exporting import write_bytes
from desktop.presenter.transcript.items import MediaPart
from desktop.presenter.transcript.media_parts import media_parts
from desktop.presenter.transcript.nested_calls import nested_calls

if TYPE_CHECKING:
    from desktop.pipeline.context import CallResult
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.skills.editing import SkillService

OUTPUT_LIMIT = 200_000
"""Characters of live output and of a result that are kept for showing."""
MAX_CALLS = 200


@dataclass(frozen=True, slots=True)
class TriedCall:
    """A call that the skill made: ``state`` is running | waiting | done | failed | denied | aborted."""

    call_id: str
    tool: str
    state: str
    elapsed_ms: int = 0


@dataclass(frozen=True, slots=True)
class SkillTry:
    """One try of a skill."""

    name: str
    """Name of the skill."""
    state: str = "running"
    """running | waiting | done | failed | denied | aborted."""
    text: str = ""
    """What came back."""
    is_json: bool = False
    """``text`` is a value as JSON."""
    code: str = ""
    """Why it failed, as a code."""
    output: str = ""
    """What the skill printed."""
    elapsed_ms: int = 0
    """How long it took."""
    started_at: float = 0.0
    """When it began."""
    calls: tuple[TriedCall, ...] = field(default=())
    """The calls that the skill made."""
    media: tuple[MediaPart, ...] = field(default=())
    """Images and sounds of the result."""

    @property
    def over(self) -> bool:
        """Whether the try has ended."""
        return self.state not in ("running", "waiting", "stopping")


class SkillTrials(QObject):
    """One try at a time; ``changed`` after each step. ``model`` is the title of the model that markdown skills are
    worked on with, or ""."""

    changed = Signal()
    _heard = Signal(object)

    def __init__(self, service: SkillService, bridge: Bridge, model: Callable[[], str] = str) -> None:
        super().__init__()
        self._service, self._bridge = service, bridge
        self.model = model
        self.trial: SkillTry | None = None
        self._token: CancellationToken | None = None
        self._run_id = ""
        self._heard.connect(self._take)

    @property
    def running(self) -> bool:
        """Whether a try is under way."""
        return self.trial is not None and not self.trial.over

    @staticmethod
    def needs_model(definition: SkillDef) -> bool:
        """Whether it is text that a model works on."""
        return definition.kind in ("markdown", "folder")

    def run(self, name: str, args: Mapping[str, Any]) -> None:
        """Call the skill; refused while another try is under way."""
        if self.running:
            return
        self.trial = SkillTry(name, started_at=time.monotonic())
        call = self._service.try_it(name, args, self._heard.emit)
        self._run_id, self._token = call.run_id, call.token
        self._bridge.spawn(self._tried(call.work), name=f"try {name}", on_error=self._broke)
        self.changed.emit()

    def stop(self) -> None:
        """Cancel the try; it ends as stopped."""
        if self._token is not None and self.trial is not None and self.running:
            self._set(state="stopping")
            self._token.cancel(STOPPED)

    def forget(self) -> None:
        """Drop the last try, because another skill is shown."""
        if self.trial is not None and self.trial.over:
            self.trial = None
            self.changed.emit()

    async def _tried(self, work: Any) -> None:
        try:
            outcome: CallResult = await work
        except asyncio.CancelledError:
            self._set(state="aborted")
            raise
        text, is_json = shown_result(outcome)
        code = outcome.result.code if outcome.result.is_error else ""
        media = media_parts(self._run_id, outcome.result.media)
        self._set(
            state=outcome.state, text=text, is_json=is_json, code=code, elapsed_ms=outcome.elapsed_ms, media=media
        )
        inner = nested_calls(outcome.facts)
        if inner:  # all of them, also those that nobody was asked about
            calls = tuple(TriedCall(str(at), one.tool, one.state, one.elapsed_ms or 0) for at, one in enumerate(inner))
            self._set(calls=calls)

    def save_file(self, path: str, make: Callable[[], bytes]) -> None:
        """Write what a tool gave where the person chose: whole or not at all. ``make`` is called in a thread."""
        saving = self._bridge.in_thread(write_bytes, path, make)
        self._bridge.spawn(saving, name="save a file", on_error=self._broke)

    def _broke(self, error: AssentError) -> None:
        self._set(state="failed", text=error.advice, code=getattr(error, "code", ""))

    def _set(self, **changes: Any) -> None:
        if self.trial is not None:
            self.trial = replace(self.trial, **changes)
            self.changed.emit()

    def _take(self, event: Event) -> None:
        """Take an event of the try: calls, questions, output."""
        trial = self.trial
        if trial is None or trial.over or getattr(event, "run_id", "") != self._run_id:
            return
        match event:
            case ToolCallStarted():
                self._call(TriedCall(event.call_id, event.tool, "running"))
            case ToolCallWaiting():
                self._state_of(event.call_id, "waiting")
            case ToolCallAnswered():
                self._state_of(event.call_id, "running")
            case ToolCallFinished():
                self._call(TriedCall(event.call_id, event.tool, event.state, event.elapsed_ms))
            case ToolCallOutput():
                self._set(output=(trial.output + event.text)[-OUTPUT_LIMIT:])

    def _call(self, call: TriedCall) -> None:
        assert self.trial is not None
        calls = self.trial.calls
        known = [other.call_id for other in calls]
        if call.call_id in known:
            at = known.index(call.call_id)
            calls = (*calls[:at], call, *calls[at + 1 :])
        elif len(calls) < MAX_CALLS:
            calls = (*calls, call)
        waiting = any(one.state == "waiting" for one in calls)
        state = self.trial.state if self.trial.state == "stopping" else "waiting" if waiting else "running"
        self._set(calls=calls, state=state)

    def _state_of(self, call_id: str, state: str) -> None:
        assert self.trial is not None
        known = next((call for call in self.trial.calls if call.call_id == call_id), None)
        if known is not None:
            self._call(replace(known, state=state))
        elif self.trial.state != "stopping":
            self._set(state=state)


def shown_result(outcome: CallResult) -> tuple[str, bool]:
    """A result as text, and whether it is a JSON value laid out."""
    result = outcome.result
    if result.structured is not None and not result.is_error:
        try:
            return json.dumps(result.structured, ensure_ascii=False, indent=2, default=str)[:OUTPUT_LIMIT], True
        except (TypeError, ValueError, RecursionError):
            pass
    return result.text[:OUTPUT_LIMIT], False

"""The settings page of tools.yaml or mcp.yaml: what the file declares is in force, and what is wrong in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import Signal

from desktop.domain.skills import SkillProblem
from desktop.presenter.common.unsaved import UnsavedTexts
from desktop.presenter.settings.yaml_file import FileService, YamlFileViewModel

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.presenter.skills.trying import SkillTrials


class DeclaredService(FileService, Protocol):
    """What holds the file and puts it in force. ``state`` has ``problems``, and ``kept`` for a broken file."""

    readings: int

    @property
    def state(self) -> Any: ...

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]: ...


class DeclaredViewModel(YamlFileViewModel):
    """``changed`` after what is in force or its problems changed, ``requests_wanted`` when the person wants to see what
    waits for an answer; the text is its base's."""

    changed = Signal()
    requests_wanted = Signal()
    _told = Signal()

    def __init__(
        self,
        service: DeclaredService,
        trials: SkillTrials,
        bridge: Bridge,
        *,
        example: str,
        holds: str,
        texts: UnsavedTexts | None = None,
    ) -> None:
        super().__init__(service, bridge, example=example, holds=holds, texts=texts)
        self._declared = service
        self.trials = trials
        self._state, self._readings = service.state, service.readings
        self._told.connect(self._take)
        service.on_change(self._told.emit)

    @property
    def file_problems(self) -> tuple[SkillProblem, ...]:
        """What is wrong in the file on disk."""
        problems: tuple[SkillProblem, ...] = self._state.problems
        return problems

    @property
    def keeps_last_good(self) -> bool:
        """Whether the file is broken and what was declared before stays in force."""
        return bool(self._state.kept)

    def _take(self) -> None:
        before, self._readings = self._readings, self._declared.readings
        self._state = self._declared.state
        self.changed.emit()
        if self._readings != before:
            self._reopen()

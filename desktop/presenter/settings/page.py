"""Settings for their pages: read at once, changed through tasks, problems of config.yaml named by line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import KnownError
from desktop.settings.schema import schema as setting_schema
from desktop.settings.spec import Setting as SettingSpec

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.settings import Settings, SettingsService

__all__ = ["SettingSpec", "SettingsViewModel"]

RISKS = {
    "security.auto_approve_workspace_writes": "Agents write in the workspace without asking you.",
    "security.auto_approve_reading_commands": "Commands read what is in the allowed folders without asking you.",
    "tools.bash.network": "What a command reads can leave this computer.",
}
"""What opens something while it is on, or always."""


class SettingsViewModel(QObject):
    """``changed(key)`` follows every change, whoever made it; ``refused`` says why a value was not kept."""

    changed = Signal(str)
    problems_changed = Signal()
    refused = Signal(str, str)

    def __init__(self, service: SettingsService, bridge: Bridge) -> None:
        super().__init__()
        self._service = service
        self._bridge = bridge
        service.subscribe(self._told)

    def get(self, key: str) -> Any:
        """The value in force. Raises KeyError for an unknown key."""
        return self._service.current.value(key)

    def default(self, key: str) -> Any:
        """What holds when nothing was set."""
        return self._service.default(key)

    def schema(self) -> tuple[SettingSpec, ...]:
        """Every setting, in the order of the file."""
        return tuple(setting_schema().values())

    @property
    def problems(self) -> tuple[str, ...]:
        """Mistakes in config.yaml, with line and column; the last good values stay in force."""
        return tuple(f"{problem} {problem.next_step}".strip() for problem in self._service.problems)

    def warning(self, key: str) -> str:
        """What a person should know of the value in force, or "" (R-ENV-9, C-28)."""
        said = [problem.message for problem in self._service.problems if problem.key == key]
        if self.get(key) in (True, "always") and key in RISKS:
            said.append(RISKS[key])
        return " ".join(said)

    @property
    def path(self) -> str:
        """Where the file is."""
        return str(self._service.path)

    def set(self, key: str, value: Any) -> None:
        """Change and save one value; a refusal leaves the old one in force and says why."""

        async def work() -> None:
            try:
                await self._service.update(key, value)
            except KnownError as error:
                self.refused.emit(key, error.advice)

        self._bridge.spawn(work(), name=f"set {key}")

    def reset(self, key: str) -> None:
        """Set one value back to its default."""

        async def work() -> None:
            try:
                await self._service.reset(key)
            except KnownError as error:
                self.refused.emit(key, error.advice)

        self._bridge.spawn(work(), name=f"reset {key}")

    def look_at_file(self) -> None:
        """Take over what somebody else changed in the file."""
        self._bridge.spawn(self._service.reload_if_changed(), name="reload settings")

    def _told(self, _settings: Settings, keys: frozenset[str]) -> None:
        for key in sorted(keys):
            self.changed.emit(key)
        self.problems_changed.emit()

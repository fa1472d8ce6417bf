"""Project folders whose skills are listed, and which of them the person trusts (R-SK-15)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import AssentError

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.settings import SettingsService

PROJECTS, TRUSTED = "skills.projects", "skills.trusted_projects"


class SkillProjects(QObject):
    """Over the two settings; what they change is followed by the app."""

    failed = Signal(str)
    said = Signal(str)

    def __init__(self, settings: SettingsService, bridge: Bridge) -> None:
        super().__init__()
        self._settings, self._bridge = settings, bridge

    @property
    def folders(self) -> tuple[tuple[str, bool], ...]:
        """(folder, trusted), each once."""
        at = self._settings.current.skills
        trusted = {os.path.expanduser(path) for path in at.trusted_projects}
        named = dict.fromkeys(map(os.path.expanduser, (*at.projects, *at.trusted_projects)))
        return tuple((path, path in trusted) for path in named)

    def project_of(self, path: str) -> str:
        """The innermost project folder that a file lies in, or ""."""
        holding = [folder for folder, _ in self.folders if path.startswith(folder.rstrip(os.sep) + os.sep)]
        return max(holding, key=len, default="")

    def add(self, folder: str) -> None:
        """List the skills of a project folder; they stay off until it is trusted."""
        if folder and os.path.expanduser(folder) not in dict(self.folders):
            self._update(PROJECTS, (*self._settings.current.skills.projects, folder), f"{folder} is listed")

    def trust(self, folder: str) -> None:
        """Offer its skills to agents and let them run."""
        trusted = self._settings.current.skills.trusted_projects
        if folder and os.path.expanduser(folder) not in set(map(os.path.expanduser, trusted)):
            self._update(TRUSTED, (*trusted, folder), f"{folder} is trusted")

    def _update(self, key: str, value: Sequence[str], sentence: str) -> None:
        async def work() -> None:
            await self._settings.update(key, tuple(value))
            self.said.emit(sentence)

        self._bridge.spawn(work(), name=f"set {key}", on_error=self._told)

    def _told(self, error: AssentError) -> None:
        self.failed.emit(error.advice)

"""The Settings page over samples, with the rows of the app's own table."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from PySide6.QtWidgets import QWidget
from shots.starts import sample_starts

from desktop.app.wiring.settings_pages import SETTINGS_PAGES, SettingsModels
from desktop.domain.safety import ConfinementReport
from desktop.presenter.settings.confinement import ConfinementViewModel
from desktop.ui.settings.boundaries.page import BoundariesPage
from desktop.ui.settings.page import SettingsPage
from desktop.ui.settings.page_row import PageRow, SettingsFrame

NEEDS = {
    "CLI tools": "cli",
    "Keyring": "keys",
    "Web search": "searches",
    "MCP servers": "mcp",
    "Agents": "agents_editor",
    "Other agents": "other_agents",
    "Other apps": "other_apps",
    "About": "about",
    "Help": "help",
    "Updates": "updates",
}
"""Pages that are shown only over a sample of their own."""


def settings_page(settings: Any, confinement: ConfinementReport | None, **views: Any) -> SettingsPage:
    """``views``: view-models by their names in ``ViewModels``."""
    rows = [_without_reach(row) if row.name == "Filesystem" and "reach" not in views else row for row in SETTINGS_PAGES]
    rows = [row for row in rows if NEEDS.get(row.name, "setup") in views]
    if "grants" not in views:
        rows = [replace(row, below=None) for row in rows]
    models: Any = SimpleNamespace(**{"starts": sample_starts()[0], **views})
    return SettingsPage(settings, rows, SettingsModels(models, ConfinementViewModel(confinement)))


def _without_reach(row: PageRow[SettingsModels]) -> PageRow[SettingsModels]:
    def build(m: SettingsModels, frame: SettingsFrame) -> QWidget:
        return BoundariesPage(frame.settings, m.views.boundaries, m.confinement, frame.offer, None)

    return replace(row, build=build)

"""Settings, Assent for other apps, with samples: for the pictures and the tests of the page."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from desktop.presenter.settings.other_apps import ASKS, GONE, ConfigSnippet, OfferedRow

_ZED = """{
  "context_servers": {
    "assent": {"command": "assent", "args": ["mcp"]}
  }
}"""


class SampleOtherApps(QObject):
    """A view-model over rows; ``calls`` are the switches that were used."""

    changed = Signal()
    refused = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, bool]] = []
        self.looked = 0
        self.rows: tuple[OfferedRow, ...] | None = (
            OfferedRow("researcher-agent", "Agents", "Finds sources and says how far they go.", ASKS["read"], True),
            OfferedRow("harbour-agent", "Agents", "Reads sensors and writes the runbook.", ASKS["write"], False),
            OfferedRow("release-notes", "Your skills", "Writes notes from commits.", ASKS["read"], True),
            OfferedRow("deploy", "Your skills", "Puts a build on the test machine.", ASKS["admin"], False),
            OfferedRow("fact-checker", "Skills of the library", "Checks claims one by one.", ASKS["read"], False),
            OfferedRow("tide-table", "Not there", "", GONE, True, True),
        )
        self.snippets = (
            ConfigSnippet("Claude Code", "Run this in a terminal:", "claude mcp add assent -- assent mcp"),
            ConfigSnippet("VS Code", "In .vscode/mcp.json, or by “MCP: Add Server”:", _ZED),
            ConfigSnippet("Zed", "In settings.json:", _ZED),
            ConfigSnippet("Cursor", "In ~/.cursor/mcp.json:", _ZED),
        )
        self.connected: tuple[tuple[str, str], ...] = (
            ("Claude Code", "version 2.1.4, by MCP, process 4711, since 13:40"),
            ("Zed", "by ACP, process 4802, since 13:58"),
        )
        self.lines: tuple[tuple[str, str, str], ...] = (
            ("14:02", "Claude Code", "researcher-agent: done"),
            ("13:58", "Zed", "connected"),
            ("13:41", "Claude Code", "release-notes: denied"),
            ("13:40", "Claude Code", "connected"),
        )

    def look(self) -> None:
        """Count."""
        self.looked += 1

    def switch(self, name: str, on: bool) -> None:
        """Keep and tell."""
        self.calls.append((name, on))
        self.rows = tuple(replace(row, on=on) if row.name == name else row for row in self.rows or ())
        self.changed.emit()

"""Sample chains of middleware for the pictures and the tests of their page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from desktop.domain.skills import Level
from desktop.presenter.settings.middleware import MiddlewareRow

_NEEDED = "Needed by Assent: it cannot be switched off."
_MINE = "/home/ida/.agent/skills/office-hours.skill.py"
_CHANGED = (
    "It cannot work: it is new or has changed since it was looked at. What it stands around does not begin until you "
    "look at it or switch it off."
)


def _needed(title: str, about: str) -> MiddlewareRow:
    return MiddlewareRow(title, about, _NEEDED, "", True, False)


def _shipped(name: str, about: str, *, on: bool = True, settings: str = "") -> MiddlewareRow:
    return MiddlewareRow(name, about, "", name, on, True, settings=settings)


def sample_chains() -> dict[Level, tuple[MiddlewareRow, ...]]:
    """As in the app, with two of a person's own."""
    return {
        "agent": (
            _shipped(
                "rate-limit",
                "Bounds how often a minute one agent starts. What you start never waits.",
                settings="rate_limit",
            ),
            _shipped("run-log", "Notes in Assent's log when an agent begins and how it ends; what it says is masked."),
            MiddlewareRow("office-hours", "Nothing begins before eight.", _MINE, f"{_MINE}#run", False, True),
            _needed("A place to work", "At most so many runs at once; the limit is in Settings, Chats."),
        ),
        "chat": (
            _needed("Budget, pause and log", "No request goes out beyond the run's budget, or while it is paused."),
            _shipped(
                "content-filter",
                "Replaces or refuses what fits your expressions, before it is shown.",
                settings="content_filter",
            ),
            MiddlewareRow(
                "customer-names",
                "Keeps names of customers out.",
                _CHANGED,
                "/s/c.skill.py#run",
                True,
                True,
                problem=True,
            ),
            _shipped(
                "response-cache",
                "Gives the same answer to the same request, and says so.",
                on=False,
                settings="response_cache",
            ),
            _needed("Known secrets", "What is in the keyring is masked in answers before anything else sees them."),
        ),
        "call": (
            _needed("Allowed tools", "Who calls may call this tool, with these arguments."),
            _needed("Approval", "Rules, then you."),
            _shipped("retry", "Tries a failed call again. metadata.retry: how often."),
            _shipped("timeout", "Ends a call that takes too long. metadata.timeout: seconds."),
        ),
    }


class SampleMiddleware(QObject):
    """A view-model over rows; ``calls`` are the switches that were used."""

    changed = Signal()
    refused = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.chains = sample_chains()
        self.calls: list[tuple[str, bool]] = []

    def rows(self, level: Level) -> Sequence[MiddlewareRow]:
        """Those of a level."""
        return self.chains[level]

    def switch(self, key: str, on: bool) -> None:
        """Keep and tell."""
        self.calls.append((key, on))
        for level, rows in self.chains.items():
            self.chains[level] = tuple(replace(row, on=on) if row.key == key else row for row in rows)
        self.changed.emit()

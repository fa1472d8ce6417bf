"""Which page of help belongs to a page of the app, and which commands a page of help may lead to."""

from __future__ import annotations

from collections.abc import Mapping

FIRST = "first-steps"
"""What is read where nothing else fits."""
HELP_OF: Mapping[str, str] = {
    "chats": "chats",
    "debates": "debates",
    "skills": "skills",
    "approvals": "approvals",
    "schedules": "schedules",
    "settings": FIRST,
    "first_run": FIRST,
}
"""By page of the app."""
LEADING = ("page:", "settings:")
"""How commands begin that only show a place."""
SHOWING = frozenset({"rules", "find", "search-threads", "trace", "agents", "changes", "choose-model", "choose-project"})
"""Those that open a place or a list by another name."""


def only_shows(command: str) -> bool:
    """Whether a command does nothing but show a place, so that help may lead there."""
    return command.startswith(LEADING) or command in SHOWING

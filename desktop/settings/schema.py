"""The settings' schema: a setting is a field of a class in ``groups``, and its key is the field's place.

To add a setting, add a field. Paths may begin with ``~``; ``{home}`` in a default stands for the app's home folder,
``~/.agent`` unless AGENT_HOME or ``--home`` says otherwise.
"""

from __future__ import annotations

import functools
from dataclasses import field
from pathlib import Path
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.settings.groups.appearance import Appearance
from desktop.settings.groups.changes import ChangeSettings
from desktop.settings.groups.chat import Chat
from desktop.settings.groups.limits import Limits
from desktop.settings.groups.middleware import MiddlewareSettings
from desktop.settings.groups.models import ModelsSettings
from desktop.settings.groups.notifications import Notifications
from desktop.settings.groups.other_apps import OtherApps
from desktop.settings.groups.security import DENIED_HERE, Security
from desktop.settings.groups.skills import Skills
from desktop.settings.groups.tools import ENVIRONMENT_WINDOWS, ToolSettings
from desktop.settings.groups.updates import UpdateSettings
from desktop.settings.groups.web import WebSettings
from desktop.settings.spec import Setting, build, flat, settings_of
from desktop.systems import current


@dataclass(frozen=True, slots=True)
class Settings:
    """An immutable snapshot of all settings; a change makes a new one."""

    appearance: Appearance = field(default_factory=Appearance)
    """How the app looks."""
    models: ModelsSettings = field(default_factory=ModelsSettings)
    """Which model is asked."""
    tools: ToolSettings = field(default_factory=ToolSettings)
    """What holds for tools."""
    web: WebSettings = field(default_factory=WebSettings)
    """What agents search the web with."""
    security: Security = field(default_factory=Security)
    """What holds for approvals."""
    chat: Chat = field(default_factory=Chat)
    """How chats behave."""
    limits: Limits = field(default_factory=Limits)
    """What runs may use."""
    changes: ChangeSettings = field(default_factory=ChangeSettings)
    """What is kept of changed files."""
    skills: Skills = field(default_factory=Skills)
    """Where skills are searched."""
    middleware: MiddlewareSettings = field(default_factory=MiddlewareSettings)
    """Settings of the library's middleware."""
    notifications: Notifications = field(default_factory=Notifications)
    """How Assent calls a person who looks elsewhere."""
    other_apps: OtherApps = field(default_factory=OtherApps)
    """What other programs may use."""
    updates: UpdateSettings = field(default_factory=UpdateSettings)
    """Whether new versions are looked for."""

    def value(self, key: str) -> Any:
        """By full key, for pages made from the schema. Raises KeyError."""
        return flat(self)[key]


@functools.cache
def schema() -> dict[str, Setting]:
    """Every setting by key, in the order of the file."""
    return {item.key: item for item in settings_of(Settings)}


def pages() -> dict[str, list[Setting]]:
    """The settings of each page, in order."""
    found: dict[str, list[Setting]] = {}
    for item in schema().values():
        found.setdefault(item.page, []).append(item)
    return found


def default_values(home: Path) -> dict[str, Any]:
    """What holds where the file says nothing."""
    return {key: _here(item, home_text(home)) for key, item in schema().items()}


def defaults(home: Path) -> Settings:
    """The snapshot of an empty file."""
    return snapshot(default_values(home))


def snapshot(values: dict[str, Any]) -> Settings:
    """The snapshot that values by full key come to."""
    made: Settings = build(Settings, values)
    return made


def home_text(home: Path) -> str:
    """The home as a person would write it: ``~/.agent`` rather than ``/home/ann/.agent``."""
    try:
        return "~/" + home.expanduser().relative_to(Path.home()).as_posix()
    except (ValueError, RuntimeError):
        return home.as_posix()


def _here(item: Setting, home: str) -> Any:
    """The default on this system with this home."""
    value = item.default
    if item.key == "security.denied_paths":
        value = value + DENIED_HERE.get(current.PLATFORM, ())
    if item.key == "tools.env_allowlist" and current.WINDOWS:
        value = value + ENVIRONMENT_WINDOWS
    if isinstance(value, tuple):
        return tuple(v.replace("{home}", home) if isinstance(v, str) else v for v in value)
    return value

"""The pages of Settings: the one table of them, and how the command palette finds each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from desktop.presenter.settings.page import SettingSpec
from desktop.presenter.shell.window import PaletteRow

MODELS, KEYRING, AGENTS, APPROVALS = "Models and keys", "Keyring", "Agents", "Approvals"
CLI, MCP, MIDDLEWARE, FILESYSTEM = "CLI tools", "MCP servers", "Middleware", "Filesystem"


@dataclass(frozen=True, slots=True)
class SettingsPlace:
    """One page. ``name`` is its name in the schema; ``words`` are what a person may look for and the page does not
    say in its title or in those of its settings."""

    name: str
    title: str
    icon: str
    words: tuple[str, ...] = ()


SETTINGS_PAGES = (
    SettingsPlace(
        MODELS,
        "Models and keys",
        "key",
        (
            "API key",
            "token",
            "provider",
            "server",
            "connection",
            "endpoint",
            "address",
            "Ollama",
            "LM Studio",
            "OpenAI",
            "Anthropic",
            "local model",
        ),
    ),
    SettingsPlace(KEYRING, "Keyring", "lock", ("API key", "secret", "password", "credential", "token")),
    SettingsPlace(
        "Appearance",
        "Appearance",
        "appearance",
        ("dark mode", "light mode", "color", "colour", "font", "zoom", "animation", "accessibility"),
    ),
    SettingsPlace("Chats", "Chats", "chats", ("rounds", "history", "send with Enter", "limits")),
    SettingsPlace(AGENTS, "Agents", "agent", ("prompt", "definition", "debate agent", "system text")),
    SettingsPlace(APPROVALS, "Approvals", "approvals", ("permission", "ask", "blocklist", "request", "grant", "allow")),
    SettingsPlace(
        "Tools",
        "Tools and limits",
        "terminal",
        ("shell", "command", "network", "timeout", "memory limit", "env", "sandbox"),
    ),
    SettingsPlace(CLI, "Tools from tools.yaml", "file", ("CLI tools", "command line tools", "program")),
    SettingsPlace(MCP, "MCP servers", "server", ("mcp.yaml", "model context protocol", "plugin", "extension")),
    SettingsPlace("Skills", "Skills", "skills", ("SKILL.md", "folder of skills")),
    SettingsPlace(MIDDLEWARE, "Middleware", "filter", ("retry", "cache", "filter", "layer")),
    SettingsPlace(
        FILESYSTEM,
        "Filesystem boundaries",
        "folder",
        ("folder", "path", "directory", "workspace", "boundary", "sandbox", "file access", "denied"),
    ),
)
"""In the order in which they stand."""


def settings_rows(schema: Iterable[SettingSpec]) -> Iterator[PaletteRow]:
    """A line of the palette for each page, found by the settings on it as well."""
    titles: dict[str, list[str]] = {}
    for setting in schema:
        titles.setdefault(setting.page, []).append(setting.title)
    for place in SETTINGS_PAGES:
        also = (*titles.get(place.name, ()), *place.words)
        yield PaletteRow(f"settings:{place.name}", f"Settings: {place.title}", "", "Settings", place.icon, also=also)

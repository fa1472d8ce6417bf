"""Sample data for the pictures of the keyring page: a stand-in with the view-model's signals. Never in the app."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal

from desktop.domain.keyring import KeyringEntry
from desktop.presenter.settings.keys import TOKEN, OwnSecretRow, ProviderKeyRow, ToolSecretRow, Use

GITHUB = KeyringEntry("assent", "github")
LOGIN = KeyringEntry("login", "ida@example.org")
STOLEN = KeyringEntry("assent", "connection/mistral")
WEATHER = KeyringEntry("assent", "weather-station")

PROVIDERS = (
    ProviderKeyRow("mistral", "Mistral", ("key",), "kept"),
    ProviderKeyRow("bedrock", "Amazon Bedrock", ("secret_access_key", "access_key_id", "session_token"), "session"),
)
TOOLS = (
    ToolSecretRow(LOGIN, (Use("deploy-app", "DEPLOY_TOKEN", LOGIN),), "not_agreed", True, ("deploy-app",)),
    ToolSecretRow(WEATHER, (Use("read-gauges", "STATION_KEY", WEATHER),), "missing", False),
    ToolSecretRow(STOLEN, (Use("fast-search", "KEY", STOLEN),), "never", False),
    ToolSecretRow(GITHUB, (Use("gh-issues", "GH_TOKEN", GITHUB), Use("gh-pulls", "GH_TOKEN", GITHUB)), "kept", False),
)


class SampleKeys(QObject):
    """Two providers and four entries of tools, one in each state; remembers what it was asked."""

    changed = Signal()
    told = Signal(str, bool, str)

    def __init__(self) -> None:
        super().__init__()
        self.note = ""
        self.providers = PROVIDERS
        self.tools = TOOLS
        words = "The token of `assent mcp --http`: a program that has it calls what you offer to other apps."
        self.own = (OwnSecretRow(TOKEN, words, "kept"),)
        self.calls: list[tuple[Any, ...]] = []

    def refusal(self, entry: KeyringEntry) -> str:
        """As the real one."""
        return f"{entry.problem[:1].upper()}{entry.problem[1:]}." if entry.problem else ""

    def __getattr__(self, name: str) -> Any:
        """Every act is remembered."""
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *arguments: self.calls.append((name, *arguments))

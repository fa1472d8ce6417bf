"""Settings, Assent for other apps: what is offered, how another program is told of it, and who is connected."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.presenter.common.words import clock

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.outside.calls import OutsideCalls
    from desktop.settings import Settings, SettingsService

KEY = "other_apps.offered"
GONE = "It is not there any more, so nobody can call it."
ASKS = {
    "read": "It only reads: it runs without asking, and its own calls are judged one by one.",
    "write": "You are asked about each call, unless a rule allows it.",
    "admin": "You are asked about each call, each time.",
}
LINES = 30


class Visitor(Protocol):
    """A program that is connected, as the door knows it."""

    @property
    def kind(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def pid(self) -> int: ...

    @property
    def since(self) -> float: ...


class DoorWatch(Protocol):
    """Who is connected now."""

    @property
    def guests(self) -> Sequence[Visitor]: ...

    def on_change(self, changed: Callable[[], None]) -> Callable[[], None]: ...


@dataclass(frozen=True, slots=True)
class StartCommand:
    """How another program starts `assent mcp` for this home."""

    words: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class OfferedRow:
    """Something that can be offered, with its switch."""

    name: str
    """What it is called by."""
    group: str
    """The heading that it stands under."""
    about: str
    """What it says of itself."""
    note: str
    """What a call of it means for the person."""
    on: bool
    """Whether it is offered."""
    problem: bool = False
    """Whether ``note`` says what is wrong."""


@dataclass(frozen=True, slots=True)
class ConfigSnippet:
    """A text to paste: for which program, and where it belongs."""

    program: str
    where: str
    text: str


class OtherAppsViewModel(QObject):
    """``changed`` when anything of it did; ``refused`` with the reason why a switch was not kept."""

    changed = Signal()
    refused = Signal(str)
    _again = Signal()

    def __init__(
        self,
        outside: OutsideCalls,
        settings: SettingsService,
        bridge: Bridge,
        door: DoorWatch,
        command: StartCommand,
        on_skills: Callable[[Callable[[object], None]], Callable[[], None]] | None = None,
    ) -> None:
        super().__init__()
        self._outside, self._settings, self._bridge, self._door = outside, settings, bridge, door
        self._command = command
        self._one_by_one = asyncio.Lock()
        self.rows: tuple[OfferedRow, ...] | None = None
        """None: not looked at yet."""
        self._again.connect(self.look)
        settings.subscribe(self._told)
        outside.on_line(self.changed.emit)
        ends = [door.on_change(self.changed.emit)]
        if on_skills is not None:  # in the thread that saw the change; the signal is queued from there
            ends.append(on_skills(lambda _changes: self._again.emit()))
        self.destroyed.connect(lambda: [end() for end in ends])

    def look(self) -> None:
        """Find out what can be offered."""

        async def work() -> None:
            offered = tuple(self._settings.current.other_apps.offered)
            found = await self._outside.tools.offerable()
            rows = [
                OfferedRow(
                    one.name, _group(one.kind, one.source), one.description, ASKS[one.category], one.name in offered
                )
                for one in found
            ]
            there = {one.name for one in found}
            gone = [OfferedRow(name, "Not there", "", GONE, True, True) for name in offered if name not in there]
            self.rows = (*rows, *gone)
            self.changed.emit()

        self._bridge.spawn(work(), name="what can be offered to other programs")

    def switch(self, name: str, on: bool) -> None:
        """Offer it, or no longer; calls that are under way then end."""

        async def work() -> None:
            try:
                async with self._one_by_one:  # each is a change of what the one before has made
                    now = [one for one in self._settings.current.other_apps.offered if one != name]
                    await self._settings.update(KEY, (*now, name) if on else tuple(now))
            except KnownError as error:
                self.refused.emit(error.advice)
                self.look()

        self._bridge.spawn(work(), name=f"offer {name}")

    @property
    def snippets(self) -> tuple[ConfigSnippet, ...]:
        """What to paste, for each program that is known here."""
        command, *words = self._command.words
        environment = dict(self._command.environment)
        own = {"command": command, "args": words, **({"env": environment} if environment else {})}
        given = "".join(f" -e {shlex.quote(f'{name}={value}')}" for name, value in environment.items())
        return (
            ConfigSnippet(
                "Claude Code",
                "Run this in a terminal:",
                f"claude mcp add assent{given} -- {shlex.join(self._command.words)}",
            ),
            ConfigSnippet(
                "VS Code", "In .vscode/mcp.json, or by “MCP: Add Server”:", _json("servers", {"type": "stdio", **own})
            ),
            ConfigSnippet("Zed", "In settings.json:", _json("context_servers", own)),
            ConfigSnippet("Cursor", "In ~/.cursor/mcp.json:", _json("mcpServers", own)),
        )

    @property
    def connected(self) -> tuple[tuple[str, str], ...]:
        """(name; version, protocol, process and time in words) of each program that is connected."""
        return tuple((one.name, _since(one)) for one in self._door.guests)

    @property
    def lines(self) -> tuple[tuple[str, str, str], ...]:
        """(time, who, what) of the latest things that programs did, the last first."""
        return tuple((clock(one.at), one.who, one.what) for one in self._outside.lines[:LINES])

    def _told(self, _settings: Settings, keys: frozenset[str]) -> None:
        if KEY in keys:
            self.look()


def _since(one: Visitor) -> str:
    version = f"version {one.version}, " if one.version else ""
    return f"{version}by {one.kind.upper()}, process {one.pid}, since {clock(one.since)}"


def _group(kind: str, source: str) -> str:
    if kind == "agent":
        return "Agents"
    return "Skills of the library" if source == "library" else "Your skills"


def _json(key: str, server: Mapping[str, object]) -> str:
    inner = json.dumps(server, ensure_ascii=False)
    return f'{{\n  "{key}": {{\n    "assent": {inner}\n  }}\n}}'

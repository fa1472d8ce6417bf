"""What is known of an agent's session: what it calls itself, its plan, its modes and models, what it has used.

All of it is the agent's own word, capped and cleaned; it is shown as such and decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass

Clean = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class AcpOption:
    """One of the values that can be chosen."""

    value: str
    name: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class AcpChoice:
    """What can be chosen in a session: a mode, a model, something else. ``by`` is how the agent wants to be told."""

    id: str
    kind: str
    by: str
    name: str
    current: str
    options: tuple[AcpOption, ...]

    @property
    def shown(self) -> str:
        """The name of what is chosen now."""
        return next((one.name for one in self.options if one.value == self.current), self.current)


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """A step of an agent's plan: ``pending``, ``in_progress`` or ``completed``."""

    text: str
    status: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan as the agent wrote it last; ``more`` entries are not shown."""

    entries: tuple[PlanEntry, ...] = ()
    more: int = 0

    @property
    def done(self) -> int:
        """How many steps it says are done."""
        return sum(one.status == "completed" for one in self.entries)

    @property
    def said(self) -> str:
        """How far they are, in words."""
        more = f", {self.more} more not shown" if self.more else ""
        return f"{self.done} of {len(self.entries)} done{more}"


class SessionState:
    """What one agent says of its session."""

    def __init__(self, name: str, title: str, folder: str, writes: bool) -> None:
        self.agent, self.title, self.folder, self.writes = name, title, folder, writes
        self.version = ""
        self.session = ""
        self.ready = self.resumed = self.keeps = self.images = False
        self.plan = Plan()
        self.choices: tuple[AcpChoice, ...] = ()
        self.commands: tuple[tuple[str, str], ...] = ()
        self.used = self.size = 0
        self.usd: float | None = None

    def begins(self, event: Mapping[str, Any], clean: Clean) -> None:
        """The session is open."""
        self.version = clean(_text(event.get("version"), 100))
        self.session = _text(event.get("session"), 500)
        self.resumed, self.keeps = event.get("resumed") is True, event.get("keeps") is True
        self.images = event.get("images") is True
        self.choices = choices_from(event.get("choices"), clean)
        self.ready = True

    def new_turn(self) -> None:
        """Its plan is one of a turn."""
        self.plan = Plan()

    def take(self, event: Mapping[str, Any], clean: Clean) -> bool:
        """What it tells of itself; False: it is about something else."""
        match event.get("event"):
            case "plan":
                self.plan = plan_from(event, clean)
            case "choices":
                self._merge(choices_from(event.get("choices"), clean))
            case "mode":
                self._set("mode", _text(event.get("id"), 300))
            case "usage":
                self.used, self.size = _count(event.get("used")), _count(event.get("size"))
                usd = event.get("usd")
                priced = isinstance(usd, int | float) and not isinstance(usd, bool) and 0 <= usd < 1e9
                self.usd = float(usd) if priced and usd is not None else self.usd
            case "commands":
                rows = event.get("commands")
                self.commands = tuple(
                    (clean(_text(one.get("name"), 100)), clean(_text(one.get("about"), 300)))
                    for one in (rows if isinstance(rows, list) else ())
                    if isinstance(one, Mapping)
                )
            case _:
                return False
        return True

    def choice(self, option: str) -> AcpChoice | None:
        """What can be chosen under an id or a kind."""
        return next((one for one in self.choices if option in (one.id, one.kind)), None)

    def chosen(self, option: str, value: str, answer: Any, clean: Clean) -> None:
        """It was set, and the agent has said what can be chosen now, or nothing."""
        self._set(option, value)
        if isinstance(answer, Mapping):
            self._merge(choices_from(answer.get("choices"), clean))

    def _merge(self, told: tuple[AcpChoice, ...]) -> None:
        by_id = {one.id: one for one in self.choices} | {one.id: one for one in told}
        self.choices = tuple(by_id.values())

    def _set(self, option: str, value: str) -> None:
        self.choices = tuple(
            AcpChoice(one.id, one.kind, one.by, one.name, value, one.options) if option in (one.id, one.kind) else one
            for one in self.choices
        )


def plan_from(event: Mapping[str, Any], clean: Clean) -> Plan:
    """A plan as it was told."""
    rows = event.get("entries")
    entries = tuple(
        PlanEntry(" ".join(clean(_text(one.get("text"), 400)).split()), _text(one.get("status"), 20))
        for one in (rows if isinstance(rows, list) else ())
        if isinstance(one, Mapping)
    )
    return Plan(entries, _count(event.get("more")))


def choices_from(rows: Any, clean: Clean) -> tuple[AcpChoice, ...]:
    """What can be chosen, as it was told."""
    found = []
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, Mapping) or row.get("by") not in ("mode", "model", "option"):
            continue
        options = row.get("options")
        listed = tuple(
            AcpOption(_text(one.get("value"), 300), _line(one.get("name"), clean), _line(one.get("about"), clean))
            for one in (options if isinstance(options, list) else ())
            if isinstance(one, Mapping)
        )
        kind, current = _text(row.get("kind"), 20), _text(row.get("current"), 300)
        found.append(
            AcpChoice(_text(row.get("id"), 200), kind, row["by"], _line(row.get("name"), clean), current, listed)
        )
    return tuple(found)


def _line(value: Any, clean: Clean) -> str:
    return " ".join(clean(_text(value, 300)).split())


def _text(value: Any, size: int) -> str:
    return value[:size] if isinstance(value, str) else ""


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12 else 0

"""What a person chose for each agent: how it calls its tools (C-10), and how much its model thinks (R-MOD-5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import KnownError
from desktop.domain.model_settings import EFFORTS, ModelTraits

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge

MODES: tuple[tuple[str, str], ...] = (
    ("", "As its skill says"),
    ("direct", "One call at a time"),
    ("code", "In code"),
    ("both", "Both: calls and code"),
)
"""(mode, words), in the order in which they are offered."""

MODES_EXPLAINED = (
    "In code, the agent writes JavaScript that makes its calls. Every write in it still asks you. "
    "What you choose here holds from the next run on."
)


class Modes(Protocol):
    """What this page needs of ``services.turns.agent_choices.ToolModes``."""

    def of(self, agent: str) -> str: ...

    def choose(self, agent: str, mode: str) -> Awaitable[None]: ...


class ToolModesViewModel(QObject):
    """``changed`` after a choice was kept or a skill was looked at; ``refused`` says why a choice was not kept."""

    changed = Signal()
    refused = Signal(str)

    def __init__(self, modes: Modes, declared: Callable[[str], Awaitable[str]], bridge: Bridge) -> None:
        super().__init__()
        self._modes = modes
        self._declared = declared
        self._bridge = bridge
        self._said: dict[str, str] = {}

    def chosen(self, agent: str) -> str:
        """``direct``, ``code``, ``both``, or "" where the agent's skill decides."""
        return self._modes.of(agent)

    def said(self, agent: str) -> str:
        """What the agent's skill says, as it was last looked at; "" while that is not known."""
        return self._said.get(agent, "")

    def in_code(self, agent: str) -> bool:
        """Whether the agent's next run may write code."""
        return (self.chosen(agent) or self.said(agent)) in ("code", "both")

    def words(self, agent: str) -> str:
        """How its next run calls its tools, in words; "" while that is not known."""
        mode = self.chosen(agent) or self.said(agent)
        return dict(MODES)[mode] if mode else ""

    def look(self, agent: str) -> None:
        """See what the agent's skill says; ``changed`` follows if that is news."""

        async def work() -> None:
            said = await self._declared(agent)
            if said != self._said.get(agent):
                self._said[agent] = said
                self.changed.emit()

        self._bridge.spawn(work(), name="tool mode of the skill")

    def choose(self, agent: str, mode: str) -> None:
        """Store a choice; "" leaves it to the skill."""

        async def work() -> None:
            try:
                await self._modes.choose(agent, mode)
            except KnownError as error:
                self.refused.emit(error.advice)
            self.changed.emit()

        self._bridge.spawn(work(), name="keep the tool mode")


NO_EFFORT = "effort"
"""What stands there while nothing is chosen."""
AS_EVER = "As the model does by itself"
_ON_OFF = {"none", "medium"}
EFFORT_EXPLAINED = (
    "More effort takes longer and costs more tokens. It is kept for the agent and holds from the next run on."
)


class EffortChoices(Protocol):
    """What this page needs of ``services.turns.agent_choices.Efforts``."""

    def of(self, agent: str) -> str: ...

    def choose(self, agent: str, value: str) -> Awaitable[None]: ...


def effort_words(level: str, levels: Sequence[str] = EFFORTS) -> str:
    """A level as a person reads it: of a model that thinks or does not, on and off."""
    if set(levels) == _ON_OFF:
        return "off" if level == "none" else "on"
    return {"none": "off", "xhigh": "extra high"}.get(level, level)


class EffortViewModel(QObject):
    """``changed`` after a choice was kept; ``refused`` says why one was not. ``traits`` is what is known of a model."""

    changed = Signal()
    refused = Signal(str)

    def __init__(self, efforts: EffortChoices, traits: Callable[[str], ModelTraits], bridge: Bridge) -> None:
        super().__init__()
        self._efforts = efforts
        self._traits = traits
        self._bridge = bridge

    def levels(self, model: str) -> tuple[str, ...]:
        """The levels that a model is known to have; (): none, or nothing is known."""
        return self._traits(model).efforts or ()

    def chosen(self, agent: str) -> str:
        """The level that was chosen for an agent; "" for none."""
        return self._efforts.of(agent)

    def words(self, agent: str, model: str) -> str:
        """What stands beside the model; "" where there is nothing to choose, and nothing was chosen."""
        levels, chosen = self.levels(model), self.chosen(agent)
        if self._traits(model).efforts == () or not (levels or chosen):
            return ""
        return effort_words(chosen, levels or EFFORTS) if chosen else NO_EFFORT

    def rows(self, model: str) -> list[tuple[str, str]]:
        """(level, words) to choose from, the first of which leaves it to the model."""
        levels = self.levels(model)
        return [("", AS_EVER), *((level, effort_words(level, levels)) for level in levels)]

    def choose(self, agent: str, level: str) -> None:
        """Store a choice; "" leaves it to the agent's prompt and the model."""

        async def work() -> None:
            try:
                await self._efforts.choose(agent, level)
            except KnownError as error:
                self.refused.emit(error.advice)
            self.changed.emit()

        self._bridge.spawn(work(), name="keep the effort")

"""How the agents call their tools: what a person chose for each, and what its skill says where nobody chose (C-10)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import KnownError

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge

MODES: tuple[tuple[str, str], ...] = (
    ("", "As its skill says"),
    ("direct", "One call at a time"),
    ("code", "In code"),
    ("both", "Both: calls and code"),
)
"""(mode, words), in the order in which they are offered."""

EXPLAINED = (
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

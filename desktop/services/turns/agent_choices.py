"""What a person chose in the app for each agent: how it calls its tools (C-10), and how much it thinks."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Protocol, Self

from desktop.agents.skill.settings import MODES
from desktop.domain.errors import ConfigurationError
from desktop.domain.model_settings import EFFORTS


class State(Protocol):
    """The part of ``store.StateRepository`` that is used."""

    def get(self, *, key: str, default: Any = None) -> Awaitable[Any]: ...

    def put(self, *, key: str, value: Any) -> Awaitable[None]: ...


class AgentChoices:
    """One of some values for each agent, where a person chose one; kept over restarts. Used on the loop; a change holds
    from an agent's next run on."""

    key = ""
    """Under which they are kept."""
    values: Sequence[str] = ()
    """What can be chosen."""
    what = ""
    """What is chosen, in words."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._chosen: dict[str, str] = {}

    @classmethod
    async def opened(cls, state: State) -> Self:
        """With what was chosen before. Raises what the store raises."""
        made = cls(state)
        await made.load()
        return made

    async def load(self) -> None:
        """Read what was chosen. Raises what the store raises."""
        kept = await self._state.get(key=self.key, default={})
        if isinstance(kept, Mapping):
            self._chosen = {str(name): value for name, value in kept.items() if value in self.values}

    def of(self, agent: str) -> str:
        """What was chosen for an agent; "" where nothing was, so that its prompt decides."""
        return self._chosen.get(agent, "")

    async def choose(self, agent: str, value: str) -> None:
        """Store a choice; "" removes it. Raises ConfigurationError for what is none, and what the store raises."""
        if value and value not in self.values:
            raise ConfigurationError(f"{self.what} has to be one of {', '.join(self.values)}, not {value!r:.40}.")
        chosen = {name: kept for name, kept in self._chosen.items() if name != agent}
        chosen |= {agent: value} if value else {}
        await self._state.put(key=self.key, value=chosen)
        self._chosen = chosen


class ToolModes(AgentChoices):
    """How each agent calls its tools: one by one, in code, or both ways."""

    key = "tool_modes"
    values = MODES
    what = "How an agent calls its tools"


class Efforts(AgentChoices):
    """How much the model of each agent thinks (R-MOD-5)."""

    key = "efforts"
    values = EFFORTS
    what = "How much an agent's model thinks"

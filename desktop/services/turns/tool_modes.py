"""How each agent calls its tools, as a person chose it in the app (C-10): one by one, in code, or both ways."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any, Protocol

from desktop.agents.skill.settings import MODES
from desktop.domain.errors import ConfigurationError

KEY = "tool_modes"


class State(Protocol):
    """The part of ``store.StateRepository`` that is used."""

    def get(self, *, key: str, default: Any = None) -> Awaitable[Any]: ...

    def put(self, *, key: str, value: Any) -> Awaitable[None]: ...


class ToolModes:
    """How each agent calls its tools, where a person chose it; kept over restarts. Used on the loop; a change holds
    from an agent's next run on."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._chosen: dict[str, str] = {}

    @classmethod
    async def opened(cls, state: State) -> ToolModes:
        """With what was chosen before. Raises what the store raises."""
        made = cls(state)
        await made.load()
        return made

    async def load(self) -> None:
        """Read what was chosen. Raises what the store raises."""
        kept = await self._state.get(key=KEY, default={})
        if isinstance(kept, Mapping):
            self._chosen = {str(name): mode for name, mode in kept.items() if mode in MODES}

    def of(self, agent: str) -> str:
        """``direct``, ``code``, ``both``, or "" where the agent's prompt decides."""
        return self._chosen.get(agent, "")

    async def choose(self, agent: str, mode: str) -> None:
        """Store a choice; "" removes it. Raises ConfigurationError for what is none, and what the store raises."""
        if mode and mode not in MODES:
            words = f"How an agent calls its tools has to be one of {', '.join(MODES)}, not {mode!r:.40}."
            raise ConfigurationError(words)
        chosen = {name: kept for name, kept in self._chosen.items() if name != agent} | ({agent: mode} if mode else {})
        await self._state.put(key=KEY, value=chosen)
        self._chosen = chosen

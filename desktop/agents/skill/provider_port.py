"""What a provider that is a skill reaches an agent by, and how far: the same whichever agent it works for, that of a
called skill (``policy.py``) or that of a thread (``provider_turn.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from contextlib import ExitStack
from typing import Any

from desktop.agents.skill.settings import PROVIDER
from desktop.domain.errors import ConfigurationError, LimitReached, NotFound
from desktop.domain.messages import Usage
from desktop.domain.runs.limits import Limit
from desktop.pipeline.context import CallContext, Invocation
from desktop.pipeline.names import AllowedTools, ToolTable
from desktop.pipeline.skill_context import Context
from desktop.skills.resolution.fabric import SkillFabric

TRIES = 10
"""Times the rounds that a provider may ask the model in vain: repetitions are no rounds (R-LIM-6)."""

LIBRARY = "library"
"""The source of skills that the app brings along."""

Callback = Callable[[Context, Mapping[str, Any]], Coroutine[Any, Any, Any]]


class ProviderRounds:
    """Counts the rounds of an agent, whatever its provider tells of them: those that it says it begins or ends, and
    those in which it asks the run's model. ``limit`` is asked with the rounds made; ``begun`` of them were made before.
    ``over``: it has no more, or was told to stop; ``stopped_by`` is the limit that ended it, and ``at_end`` is called
    when it does."""

    def __init__(
        self, limit: Callable[[int], Limit], begun: int = 0, at_end: Callable[[Limit], None] = lambda _limit: None
    ) -> None:
        self._limit = limit
        self._at_end = at_end
        self._begun = self._ended = self._asked = begun
        self._tried = 0
        self._counted = False
        self.over = False
        self.stopped_by: Limit | None = None

    @property
    def made(self) -> int:
        """The number of rounds that can be seen; a provider may leave some events out."""
        return max(self._begun, self._ended, self._asked)

    @property
    def limit(self) -> Limit:
        """The limit as of now."""
        return self._limit(self.made)

    @property
    def used_up(self) -> bool:
        """Whether no further round is allowed."""
        return self.made >= self.limit.value

    def begin(self) -> None:
        """One more. Raises LimitReached for a provider that does not heed what it was told, or has none left."""
        if self.over or self._begun >= self.limit.value:
            raise self.refused()
        self._begun += 1

    def end(self) -> None:
        """Count the round under way as ended."""
        self._ended, self._counted = self._ended + 1, False

    def stop(self, limit: Limit | None = None) -> None:
        """The provider is told to stop, where a limit ended the agent because of that."""
        self.over, self.stopped_by = True, limit or self.stopped_by

    def asks(self, answered: bool) -> None:
        """The provider asks the run's model by ``model-ask``: False before, True when there is an answer. These are
        rounds, too. Raises LimitReached."""
        if answered:
            self._asked, self._counted = self._asked + 1, True
            return
        self._tried += 1
        maximum = self.limit.value
        if self.over or self._asked >= maximum or self._tried > TRIES * maximum:
            raise self.refused()

    def refused(self) -> LimitReached:
        """What a provider hears that goes on all the same; from now on it is over."""
        if not self.over:
            self.over, self.stopped_by = True, self.limit
            self._at_end(self.stopped_by)
        why = str(self.stopped_by or "it was told to stop")
        return LimitReached(f"This agent is over: {why}. Nothing more is asked.", limit=why)

    def used(self, event: Mapping[str, Any]) -> Usage | None:
        """What a provider says that the round used. None: nothing, or what was asked of the run's model, which is
        counted there."""
        told = event.get("usage")
        if not isinstance(told, Mapping) or event.get("counted") is True or self._counted:
            return None
        return Usage.reported(told.get("inputTokens"), told.get("outputTokens"), cost=told.get("costUsd"))


def is_bundled(table: ToolTable, name: str) -> bool:
    """Whether the app's own round loop works under this name, and no skill of a person in its place (R-AG-3)."""
    found = table.find(name)
    return name == PROVIDER and (found is None or found.spec.source == LIBRARY)


def provider_problem(table: ToolTable, name: str, listed: AllowedTools, serving: str) -> ConfigurationError | None:
    """Why a skill cannot be the provider of the agent that works by ``serving``; None: it can."""
    found = table.find(name)
    if found is None:
        return ConfigurationError(
            f"There is no agent provider named {name} (model.agent) for the skill {serving}.",
            next_step="Name one that exists, or leave model.agent out for the bundled one.",
        )
    if not listed.permits(found.spec, {}):
        return ConfigurationError(
            f"{serving} is to be worked on by {name} (model.agent), which its list of allowed tools does not allow.",
            next_step=f"Name {name} in its allowed-tools, or leave model.agent out for the bundled one.",
        )
    return None


def callback_ref(
    fabric: SkillFabric, held: ExitStack, label: str, own: Callable[[], Invocation], serve: Callback
) -> str:
    """A ref that only the provider below this very invocation can use, as long as it is at work (R-PRV-11, R-AG-9)."""

    async def guarded(ctx: Context, args: Mapping[str, Any]) -> Any:
        if not isinstance(ctx.call, CallContext) or ctx.call.invocation.parent is not own():
            raise NotFound("There is no such tool here.")
        return await serve(ctx, args)

    ref: str = fabric.hand_out(label, guarded)
    held.callback(fabric.take_back, ref)
    return ref


PROVIDERS_KNOW = ("notice", "next_line", "cut_bytes", "exit_code")
"""Of the facts of a result what a provider is told: what of a text is no part of the file, how a command ended."""


def known_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """``{facts}`` of a result for a provider; empty where there are none that it is told."""
    found = {name: facts[name] for name in PROVIDERS_KNOW if name in facts}
    return {"facts": found} if found else {}


ENDED = ("It was ended before it began.", "tool.ended")
"""The refusal of a call that its provider did not want any more."""


def refusal(text: str, code: str) -> dict[str, Any]:
    """What ``invokeRef`` says of a call that is not made."""
    return {"ok": False, "text": text, "code": code, "state": "denied", "structured": None, "finished": False}

"""``ctx``: what a skill's code sees of one invocation (R-INV-6, R-INV-7, R-INV-9).

A thin view of the call's ``Invocation``: ``locals``, ``nonlocals`` and ``globals`` are the same mappings, so that what
code writes is what its children inherit, or do not.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from desktop.domain.errors import BugError, ToolFailure
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.skills import SkillDef
from desktop.domain.tools import ToolSpec
from desktop.pipeline.names import AllowedTools


class NotMiddleware(ToolFailure):
    """Code asked for the served context, or for ``next``, where it serves none (R-INV-6)."""

    code = "skill.not_middleware"


class SkillFailed(ToolFailure):
    """``ctx.manager.fail(reason)``."""

    code = "skill.failed"


@dataclass(slots=True)
class Envelope:
    """The identity of one invocation. ``target`` is the context itself, or in middleware the context that it serves."""

    id: str
    target: Context
    parent: Context | None
    signal: CancellationToken


@dataclass(frozen=True, slots=True)
class RunInfo:
    """The skill or tool that runs: ``origin`` is its definition's URI, ``frontmatter`` its effective metadata after the
    cascade."""

    tool: ToolSpec
    definition: SkillDef | None
    origin: str
    frontmatter: Mapping[str, Any]


class ManagerLike(Protocol):
    """What a skill can do through ``ctx.manager`` (R-INV-9)."""

    async def invoke(
        self, ref: str, args: Mapping[str, Any] | None = None, options: Mapping[str, Any] | None = None
    ) -> Any:
        """Call a tool through the whole pipeline; its structured value, or its text. Raises ToolFailure."""
        ...

    def calls_back(self, ref: str) -> bool:
        """Whether a reference is a callback of the runtime."""
        ...

    def finish(self, value: Any = None) -> None:
        """Record the served result; it wins over what the code returns."""
        ...

    async def conclude(self, value: Any = None) -> None:
        """``finish`` where somebody may judge the value first, as an agent's promise does. Raises ToolFailure."""
        ...

    def fail(self, reason: str) -> None:
        """End the served call with failure and abort its agent. Raises SkillFailed."""
        ...

    async def next(self) -> Any:
        """Middleware only: go on with the served call, and return what it came to."""
        ...


@dataclass(slots=True)
class Context:
    """One invocation as code sees it."""

    args: Mapping[str, Any]
    """The arguments."""
    run: RunInfo
    """What runs."""
    locals: MutableMapping[str, Any]
    """The call's own values."""
    nonlocals: MutableMapping[str, Any]
    """The agent's values, which calls below inherit."""
    globals: MutableMapping[str, Any]
    """The process's values."""
    _envelope: Envelope | None = None
    _manager: ManagerLike | None = None
    trigger: str = ""
    """``$next`` or ``$invoke``, for hooks (R-INV-11)."""
    wraps: str = ""
    """The name of what is wrapped, for hooks."""
    call: Any = None
    """The pipeline's record of the call, for library code; a worker's ``ctx`` does not have it."""
    hosted: HostedAgent | None = None
    """Set for code that works as an agent."""
    accept: Callable[[Any], Awaitable[None]] | None = None
    """Takes what an agent finishes with, in the agent's own context and in that of its code."""

    @property
    def envelope(self) -> Envelope:
        if self._envelope is None:
            raise BugError("a context without an envelope")
        return self._envelope

    @property
    def manager(self) -> ManagerLike:
        if self._manager is None:
            raise BugError("a context without a manager")
        return self._manager

    @property
    def is_middleware(self) -> bool:
        """Whether it serves another context."""
        return self.envelope.target is not self

    def bind(self, envelope: Envelope, manager: ManagerLike) -> None:
        """Set the context's envelope and manager; called once, by the pipeline."""
        self._envelope, self._manager = envelope, manager


@dataclass(frozen=True, slots=True)
class HostedAgent:
    """What code gets that works as an agent of its own (R-SUP-15)."""

    agent_id: str
    """Its address, ``name/key``."""
    ref: str
    """The reference by which its effects are made."""
    inbox: Sequence[Mapping[str, Any]]
    """What waits for it: ``{role, text}``, oldest first."""
    allowed: AllowedTools
    """What it may call: what both its own list and its caller's allow (R-AG-5)."""
    made: Callable[[Any], None]
    """Told what came of each call that it made (``CallResult``)."""


Advance = Callable[[], Awaitable[Any]]


@dataclass(slots=True)
class ServedContext:
    """What a middleware invocation serves: the context, and the way onward."""

    context: Context
    """The context that is served."""
    advance: Advance
    """Goes on with the served call."""
    value: Any = None
    """What its frontmatter key says."""
    trigger: str = ""
    """``$next`` or ``$invoke``."""
    wraps: str = ""
    """The name of what is wrapped."""
    retries: bool = False
    """Whether it may go on more than once."""
    advanced: int = 0
    """How often it went on."""
    finished: bool = field(default=False)
    """Whether the middleware gave a result of its own."""
    result: Any = None
    """That result."""

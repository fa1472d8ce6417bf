"""One middleware shape for three levels: agent, chat, function."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import field
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from desktop.domain.errors import AssentError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.models import ModelRequest
from desktop.domain.runs.meta import RunMeta
from desktop.domain.tools import ToolResult

CallNext = Callable[[], Awaitable[None]]

Rest = Callable[[Callable[[], Awaitable[None]]], Awaitable[None]]
"""Awaits what it is given, holding no place that others wait for (R-SUP-14). Raises what asking anew may raise."""


class MiddlewareTermination(AssentError):
    """Halts the chain: an error result at function level, run status ``terminated`` at the others (R-MW-4)."""


@dataclass(slots=True)
class MiddlewareContext:
    """Mutable payload of one wrapped operation; results travel through it (R-MW-9)."""

    level: ClassVar[str] = ""
    meta: RunMeta
    metadata: MutableMapping[str, Any] = field(default_factory=dict)


StartedBy = Literal["person", "job", "model"]


@dataclass(frozen=True, slots=True)
class Start:
    """An agent, or a skill that one works on, begins anew; ``by`` whom decides whether it may have to wait."""

    name: str
    by: StartedBy
    kind: Literal["agent", "skill"] = "agent"


@dataclass(slots=True)
class AgentContext(MiddlewareContext):
    """Around one ``agent.run``. ``waits`` says to the person what a layer waits for, and "" when it goes on. Without a
    ``start`` it goes on with what has begun before, as a turn of a debate does."""

    level: ClassVar[str] = "agent"
    agent: str = ""
    inbox: Any = None
    result: Any = None
    waits: Callable[[str], None] = lambda _why: None
    start: Start | None = None


@dataclass(slots=True)
class ChatContext(MiddlewareContext):
    """Around one model request. ``rest`` is how to wait before another attempt, where places are shared; ``tell`` is
    told of what streams in, and a layer that holds it back puts its own in that place."""

    level: ClassVar[str] = "chat"
    request: ModelRequest | None = None
    response: Any = None
    rest: Rest | None = None
    tell: Callable[[Any], None] = lambda _event: None


@dataclass(slots=True)
class FunctionContext(MiddlewareContext):
    """Around one tool execution."""

    level: ClassVar[str] = "function"
    tool: str = ""
    arguments: Any = None
    definition: Any = None
    result: ToolResult | None = None


ContextT = TypeVar("ContextT", bound=MiddlewareContext, contravariant=True)


class Middleware(Protocol[ContextT]):
    """The one shape (R-MW-1). Call ``call_next()`` once to go on, or set the result and return (R-MW-3)."""

    async def process(self, context: ContextT, call_next: CallNext) -> None:
        """Do something around one operation; ``call_next`` runs the rest of the chain."""
        ...

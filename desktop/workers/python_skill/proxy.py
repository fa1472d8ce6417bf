"""``ctx`` inside the worker: data as it was when the call began, and a manager whose every call goes to the app."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


class SkillError(Exception):
    """A nested call failed; ``code`` is its machine code."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


@dataclass
class ProxyEnvelope:
    """The identity of the invocation; ``target`` is the served context in middleware, else the context itself."""

    id: str
    target: Any = None
    parent: Any = None


@dataclass
class Run:
    """The tool or skill that runs, with its origin and frontmatter."""

    tool: Mapping[str, Any]
    origin: str
    frontmatter: Mapping[str, Any]


@dataclass
class ProxyContext:
    """One invocation as code in its own process sees it: the same names as in the app."""

    args: Mapping[str, Any]
    """The arguments."""
    run: Run
    """What runs."""
    locals: dict[str, Any]
    """The call's own values."""
    nonlocals: dict[str, Any]
    """The agent's values."""
    envelope: ProxyEnvelope
    """The identity of the invocation."""
    globals: dict[str, Any] = field(default_factory=dict)
    """Empty: the process's own things do not leave the app."""
    manager: Any = None
    """Calls tools, finishes, fails."""
    trigger: str = ""
    """``$next`` or ``$invoke``."""
    wraps: str = ""
    """The name of what is wrapped."""

    @property
    def is_middleware(self) -> bool:
        return self.envelope.target is not self


class ProxyManager:
    """``ctx.manager``: each operation is a message to the app, which answers through the whole pipeline."""

    def __init__(
        self,
        send: Callable[[Mapping[str, Any]], Awaitable[None]],
        nonlocals: Mapping[str, Any],
        own: dict[str, Any] | None = None,
    ) -> None:
        self._send = send
        self.locals = {} if own is None else own
        self._nonlocals = nonlocals
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self.finished = False
        self.value: Any = None
        self.failed: str | None = None

    async def invoke(
        self, ref: str, args: Mapping[str, Any] | None = None, options: Mapping[str, Any] | None = None
    ) -> Any:
        """Call a tool and return its value. Raises SkillError."""
        return await self._ask("invoke", ref=ref, args=dict(args or {}), options=dict(options or {}))

    async def next(self) -> Any:
        """Middleware only: run the served call and return its result."""
        return await self._ask("next")

    def finish(self, value: Any = None) -> None:
        """Record the result; it wins over what is returned."""
        self.finished, self.value = True, value

    def fail(self, reason: str) -> None:
        """End the skill with a failure: raises SkillError."""
        self.failed = str(reason)
        raise SkillError(self.failed, "skill.failed")

    async def _ask(self, operation: str, **values: Any) -> Any:
        number = next(self._numbers)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            await self._send({"number": number, "op": operation, **values, "nonlocals": dict(self._nonlocals)})
            return await future
        finally:
            del self._waiting[number]

    def answered(self, number: int, value: Any, error: str, code: str) -> None:
        """The app's answer to one message."""
        future = self._waiting.get(number)
        if future is None or future.done():
            return
        if error:
            future.set_exception(SkillError(error, code))
        else:
            future.set_result(value)

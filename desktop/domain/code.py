"""Model-written code: what the sandbox promises, and what code may ask of the app.

``workers`` runs the code in a process that can reach nothing; ``pipeline`` gives it the one way out, through every
gate. The two rooms meet here. Everything that crosses is JSON.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, Protocol

from desktop.domain.loading.lazy_dataclass import dataclass

LINE_END = re.compile("\r\n|[\n\r\u2028\u2029]")
"""What ends a line of JavaScript. Python's own ``splitlines`` ends lines in more places."""

CodeOp = Literal["invoke", "finish", "fail", "next"]
"""What code may ask for (R-COD-6); ``log`` is collected in the worker and comes back as ``stdout``."""


@dataclass(frozen=True, slots=True)
class CodeLimits:
    """What one piece of code may use (R-COD-14, R-COD-15). Times in seconds, sizes in bytes."""

    wall_s: float = 300.0
    """Time from start to end, without waiting for a person: the call's own clock in the pipeline keeps it
    (R-PRM-10)."""
    cpu_s: float = 60.0
    """Time that the process computes."""
    calls: int = 50
    """Nested calls."""
    nested_s: float = 60.0
    """Time of a nested call whose tool has no limit of its own."""
    heap_bytes: int = 64 * 1024 * 1024
    """The engine's heap."""
    stack_bytes: int = 1024 * 1024
    """The engine's stack."""
    message_bytes: int = 256 * 1024
    """One message over the pipe."""
    output_bytes: int = 200_000
    """All that the code prints."""


@dataclass(frozen=True, slots=True)
class CodeFailure:
    """An uncaught exception: name, message and line of the submitted code from 1 (0: unknown), nothing of the host
    (R-COD-12). ``code`` is our own machine code: ``code.raised``, ``code.syntax``, ``code.time``, ``code.memory``,
    ``code.stack``, ``code.died``, ``code.message``, ``code.unfinished``."""

    name: str
    message: str
    line: int = 0
    code: str = "code.raised"


@dataclass(frozen=True, slots=True)
class CodeOutcome:
    """What became of one piece of code (R-COD-18). ``finished``: it called ``ctx.manager.finish`` and that was
    accepted. ``memory_lost``: this ran in a fresh worker because the one before was killed (R-COD-16)."""

    value: Any = None
    failure: CodeFailure | None = None
    stdout: str = ""
    finished: bool = False
    memory_lost: bool = False

    @property
    def ok(self) -> bool:
        """Whether it came to its end."""
        return self.failure is None


@dataclass(frozen=True, slots=True)
class CodeCall:
    """One thing that code asks for, already checked for shape and size. ``line`` is the line of the submitted code
    that asked, for the request that a person sees; 0 where what asked was made while it ran or kept from before."""

    op: CodeOp
    ref: str = ""
    args: Mapping[str, Any] | None = None
    options: Mapping[str, Any] | None = None
    value: Any = None
    line: int = 0


def lines_of(code: str) -> list[str]:
    """The lines of a piece of code, as the sandbox counts them."""
    return LINE_END.split(code)


ServeCode = Callable[[CodeCall], Awaitable[Any]]
"""Does it, and returns a JSON value. A ToolFailure becomes an exception in the code, with its text and code; anything
else ends the code."""


def held_words(*, held: bool) -> Mapping[str, str]:
    """What a request shows where only the engine keeps code from the computer."""
    if held:
        return {}
    words = (
        "Not confined: nothing on this computer holds the process that runs this code. Its engine has no files and no "
    )
    return {"confinement": f"{words}network, and that alone keeps it in.", "confined_by": "none"}


class CodeSession(Protocol):
    """One engine with its ``memory``: belongs to one agent invocation and dies with it (R-COD-10)."""

    async def run(self, code: str, serve: ServeCode, *, args: Any = None) -> CodeOutcome:
        """Run one piece of code; pieces of one session run one after another.

        Cancelling kills the worker and its group, and the next ``run`` starts a fresh one with ``memory_lost``
        (R-COD-16). Raises KnownError when no worker can be started.
        """
        ...

    async def held(self) -> bool:
        """Whether the system itself holds the worker, beside its engine, which has no files and no network."""
        ...

    async def close(self) -> None:
        """End the session; its worker is not used again."""
        ...


class CodeEngine(Protocol):
    """Where sessions come from: a pool of prewarmed workers."""

    def session(self, memory: Mapping[str, Any] | None = None) -> CodeSession:
        """A new session whose ``memory`` starts as a shallow copy of this (R-COD-11). Starts nothing yet."""
        ...

    async def held(self) -> bool:
        """Whether the system itself holds its workers."""
        ...

    async def prewarm(self) -> None:
        """Have a worker ready."""
        ...

    async def close(self) -> None:
        """End all workers."""
        ...

"""What a tool is and what one call of it looks like."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from desktop.domain.consents import Consent
from desktop.domain.judgement import Category, CommandPart, Judgement
from desktop.domain.messages import MediaBlock
from desktop.domain.run_meta import RunMeta


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool returned: text for the model, optionally a structured value (R-TOOL-10), images and sounds."""

    text: str
    is_error: bool = False
    structured: Any = None
    code: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    media: tuple[MediaBlock, ...] = ()


@dataclass(frozen=True, slots=True)
class PreCheck:
    """Result of gate 9 for one call (R-TOOL-4): effective category, why it was raised, what it will touch.

    ``preview`` is for the request: ``{"kind": "diff", "path", "before", "after", "new": bool}``,
    ``{"kind": "command", "command", "cwd", "confinement"}``, ``{"kind": "argv", "argv"}`` or ``{}``.
    ``identity`` is what must still hold right before execution (path -> device/inode/size/times or ``absent``).
    ``denied`` is None, or the refusal (R-INV-17). ``constraint`` is the normalised object of the call (a resolved path,
    the command) that "allow for this run" is scoped to; empty: the exact arguments (R-PRM-3). For rules: ``parts`` are
    all the commands of a shell command, ``resolved`` where arguments that are paths really lead (name -> absolute).
    ``consent``: what a person agrees to for later calls, too, by allowing this one.
    """

    category: Category
    raised_because: str = ""
    paths: tuple[str, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    preview: Mapping[str, Any] = field(default_factory=dict)
    identity: Mapping[str, str] = field(default_factory=dict)
    denied: Exception | None = None
    constraint: str = ""
    parts: tuple[CommandPart, ...] = ()
    resolved: Mapping[str, str] = field(default_factory=dict)
    consent: Consent | None = None


@dataclass(frozen=True, slots=True)
class ToolCallContext:
    """What ``execute`` receives beside its arguments: run metadata with the token (R-TOOL-6) and the agent chain.

    ``identity`` is the approved ``PreCheck.identity``: a tool verifies it once more at the handle (R-PRM-5). ``scope``
    is the pipeline's own record of the call, for the adapter that runs skills; no other tool looks at it. ``network``:
    the call was allowed with the network.
    """

    meta: RunMeta
    call_id: str
    chain: tuple[str, ...] = ()
    progress: Callable[[str], None] | None = None
    identity: Mapping[str, str] = field(default_factory=dict)
    scope: Any = None
    unasked: bool = False
    network: bool = False


@runtime_checkable
class CommandTool(Protocol):
    """A tool whose argument ``command`` is a shell command, taken apart for whoever compares it with a pattern."""

    def parts_of(self, args: Mapping[str, Any], environment: Mapping[str, str]) -> Awaitable[tuple[CommandPart, ...]]:
        """The commands of a call in a thread with this environment, whatever its arguments are; never empty, for what
        cannot be read is hidden."""
        ...


@runtime_checkable
class GuidedTool(Protocol):
    """A tool of a server that says how its tools are to be used."""

    @property
    def guidance(self) -> tuple[str, str]:
        """(the server's name, its own words that a person has looked at, or "")."""
        ...


@runtime_checkable
class EnvironmentTool(Protocol):
    """A tool whose process gets variables of the thread: they belong to how it is judged, too."""

    def precheck_within(self, args: Mapping[str, Any], environment: Mapping[str, str]) -> Awaitable[PreCheck]:
        """``precheck`` of a call in a thread with this environment."""
        ...


class Tool(Protocol):
    """Everything callable that the pipeline gates. ``params`` is sent to the model and validates (R-TOOL-7)."""

    @property
    def spec(self) -> ToolSpec:
        """The tool's declaration for models, the browser and the gates."""
        ...

    def precheck(self, args: Mapping[str, Any]) -> Awaitable[PreCheck]:
        """Judge a call before anyone is asked; touches nothing (gate 9)."""
        ...

    def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> Awaitable[ToolResult]:
        """Run the tool. Raises ToolFailure with what the model should read; stops when ``context.meta.cancellation`` is
        cancelled."""
        ...


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool's declaration. ``name`` is the canonical kebab-case skill name, ``alias`` the provider's (C-3); ``uri``
    another reference by which trusted callers find it (``mcp://server/tool``), or "". ``version`` stands for all that a
    call does beside its arguments (a digest of the definition): an approval holds for that version; "" where only the
    very same tool is the same. ``nests``: all that a call does to the world are calls of its own (``calls``), or the
    work of an agent in a thread of its own (``thread``): one that was cut off can be gone on with.
    """

    name: str
    description: str
    params: Mapping[str, Any]
    category: Category
    alias: str = ""
    tags: tuple[str, ...] = ()
    visibility: str = ""
    source: str = "library"
    returns: Mapping[str, Any] | None = None
    parallel_safe: bool = False
    timeout_s: float | None = None
    waits_for_person: bool = False
    uri: str = ""
    version: str = ""
    nests: Literal["", "calls", "thread"] = ""
    about: Literal["", "command", "path"] = ""
    """The argument that says what a call is about: a shell command, or a file or folder. Rules are written about it."""
    lengthy: tuple[str, ...] = ()
    """Arguments that are left out of a rule which is proposed for a call, whatever their length."""

    @property
    def provider_name(self) -> str:
        """The name used in native function calling."""
        return self.alias or self.name.replace("-", "_")

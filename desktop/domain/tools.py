"""What a tool is and what one call of it looks like."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import Any, Literal, Protocol, runtime_checkable

from desktop.domain.approval.consents import Consent
from desktop.domain.approval.judgement import Category, CommandPart, Judgement
from desktop.domain.errors import ToolFailure
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import MediaBlock
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.text.outside import Gives


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool returned: text for the model, optionally a structured value (R-TOOL-10), images and sounds."""

    text: str
    """What a model reads."""
    is_error: bool = False
    """Whether it reads it as an error."""
    structured: Any = None
    """The value, where there is one."""
    code: str = ""
    """Of an error, its machine code."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Plain values for the card."""
    media: tuple[MediaBlock, ...] = ()
    """Images and sounds."""
    outside: tuple[str, ...] = ()
    """Whose words from outside are in it, where the tool knows that better than its declaration says."""


@dataclass(frozen=True, slots=True)
class StandsFor:
    """The call of another tool that a question is really about: an agent of another maker asks first and calls then. A
    person who allows the question has allowed that very call, once."""

    spec: ToolSpec
    """The other tool."""
    arguments: Mapping[str, Any]
    """Exactly what it would be called with."""
    check: PreCheck
    """How that tool judges it."""


@dataclass(frozen=True, slots=True)
class PreCheck:
    """Result of gate 9 for one call (R-TOOL-4): effective category, why it was raised, what it will touch."""

    category: Category
    """The effective category."""
    raised_because: str = ""
    """Why it is higher than the tool's own, or ""."""
    paths: tuple[str, ...] = ()
    """The paths that the call touches."""
    judgements: tuple[Judgement, ...] = ()
    """The parts of a command, with what each does."""
    preview: Mapping[str, Any] = field(default_factory=dict)
    """For the request: ``{"kind": "diff", "path", "before", "after", "new": bool}``, ``{"kind": "command", "command",
    "cwd", "confinement"}``, ``{"kind": "argv", "argv"}`` or ``{}``."""
    identity: Mapping[str, str] = field(default_factory=dict)
    """What must still hold right before execution (path -> device/inode/size/times or ``absent``)."""
    denied: Exception | None = None
    """The refusal (R-INV-17), or None."""
    constraint: str = ""
    """The normalised object of the call (a resolved path, the command) that "allow for this run" is scoped to; "": the
    exact arguments (R-PRM-3)."""
    parts: tuple[CommandPart, ...] = ()
    """All the commands of a shell command, for rules."""
    resolved: Mapping[str, str] = field(default_factory=dict)
    """Where arguments that are paths really lead (name -> absolute), for rules."""
    consent: Consent | None = None
    """What a person agrees to for later calls, too, by allowing this one."""
    undoable: bool = False
    """Whether all that the call changes goes through the ``ChangeRecorder``, which keeps what was there."""
    not_undoable: str = ""
    """Why it cannot be undone for all that, as far as that is known; goes on in a sentence."""
    stands_for: StandsFor | None = None
    """The call that a yes is really for; None: this one."""
    asks: str = ""
    """Why a person is asked although it only reads, until a rule or an answer names what it is about; "": no reason."""
    until: CancellationToken | None = None
    """Ends the question beside the run's own end: whoever asked has taken it back."""
    rehearsable: bool = False
    """Whether the call may be made in a copy before a person is asked, who then sees what it did."""


class Rehearsal(Protocol):
    """A call that was made in a copy: nothing of it is real yet. Whoever keeps it drops it."""

    @property
    def check(self) -> PreCheck:
        """The call judged by what it did, which a person is asked about."""
        ...

    def look_again(self) -> Awaitable[PreCheck]:
        """The same check, unless something that it is about has changed in reality."""
        ...

    def drop(self) -> Awaitable[None]:
        """Forget it, with all that it did."""
        ...


class GraverThanAllowed(ToolFailure):
    """A call that was allowed beforehand did what nobody allowed by that; it is in a copy, and nothing is real. Whoever
    catches it asks about ``shown``, or drops the copy."""

    code = "tool.graver"

    def __init__(self, message: str, shown: Callable[[PreCheck], Awaitable[Rehearsal]]) -> None:
        super().__init__(message)
        self.shown = shown
        """What it did, to be asked about: given how the call was judged before."""


def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True)
class ToolCallContext:
    """What ``execute`` receives beside its arguments."""

    meta: RunMeta
    """Run metadata with the token (R-TOOL-6), and the place where the call is made."""
    call_id: str
    """The call."""
    chain: tuple[str, ...] = ()
    """Who asks: agent, skill, tool."""
    progress: Callable[[str], None] | None = None
    """Shows a line while the call runs."""
    advance: Callable[[float, float | None, str], None] | None = None
    """Shows how far the call is: so much of so much (None: nobody knows), and a few words."""
    identity: Mapping[str, str] = field(default_factory=dict)
    """The approved ``PreCheck.identity``: a tool verifies it once more at the handle (R-PRM-5)."""
    scope: Any = None
    """The pipeline's own record of the call, for the adapter that runs skills; no other tool looks at it."""
    unasked: bool = False
    """Whether nobody was asked about the call."""
    at_edge: bool = False
    """Whether nobody was asked because it can be undone: it is made only if what was there can be kept."""
    network: bool = False
    """Whether the call was allowed with the network."""
    ends: CancellationToken | None = None
    """Cancelled when whoever makes the call wants no more of it: a command is ended, and what it wrote is its result.
    None: nobody can."""
    pause: Callable[[], Callable[[], None]] = lambda: _nothing
    """Stops the time limits of the call and of those around it while a person is asked about it; what it returns lets
    them run on (R-PRM-10)."""
    as_admin: bool = False
    """Whether it was allowed as an admin call."""
    rehearsal: Rehearsal | None = None
    """What it did in a copy, of which the person takes over all or a part."""
    taken: tuple[str, ...] | None = None
    """The paths of that part; None: all."""


@runtime_checkable
class CommandTool(Protocol):
    """A tool whose argument ``command`` is a shell command, taken apart for whoever compares it with a pattern."""

    def parts_of(self, args: Mapping[str, Any], place: WorkPlace) -> Awaitable[tuple[CommandPart, ...]]:
        """The commands of a call, whatever its arguments are; never empty, for what cannot be read is hidden."""
        ...


@runtime_checkable
class HostTool(Protocol):
    """A tool whose calls go to a host, which patterns name as ``host`` although it is none of the arguments."""

    def host_of(self, args: Mapping[str, Any]) -> str:
        """The host of a call, whatever its arguments are; "" where they name none."""
        ...


@runtime_checkable
class RehearsingTool(Protocol):
    """A tool whose calls can be made in a copy first."""

    def rehearse(
        self, args: Mapping[str, Any], check: PreCheck, context: ToolCallContext
    ) -> Awaitable[Rehearsal | None]:
        """Make a call in a copy; ``context.network``: with the network. None: no copy can be made after all. Raises
        what ``execute`` would, where nothing came of the call."""
        ...


@runtime_checkable
class GuidedTool(Protocol):
    """A tool of a server that says how its tools are to be used."""

    @property
    def guidance(self) -> tuple[str, str]:
        """(the server's name, its own words that a person has looked at, or "")."""
        ...


class Tool(Protocol):
    """Everything callable that the pipeline gates. ``params`` is sent to the model and validates (R-TOOL-7)."""

    @property
    def spec(self) -> ToolSpec:
        """The tool's declaration for models, the browser and the gates."""
        ...

    def precheck(self, args: Mapping[str, Any], place: WorkPlace) -> Awaitable[PreCheck]:
        """Judge a call that is made in ``place`` before anyone is asked; touches nothing (gate 9)."""
        ...

    def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> Awaitable[ToolResult]:
        """Run the tool. Raises ToolFailure with what the model should read; stops when ``context.meta.cancellation`` is
        cancelled."""
        ...


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool's declaration."""

    name: str
    """The canonical kebab-case skill name."""
    description: str
    """What models read."""
    params: Mapping[str, Any]
    """The JSON Schema of its arguments."""
    category: Category
    """Who has to agree."""
    alias: str = ""
    """The provider's name for it (C-3)."""
    tags: tuple[str, ...] = ()
    """Its tags."""
    visibility: str = ""
    """Whom it is shown to."""
    source: str = "library"
    """Where it comes from."""
    returns: Mapping[str, Any] | None = None
    """The JSON Schema of its structured result; None: not declared."""
    parallel_safe: bool = False
    """Whether its calls may run beside others."""
    timeout_s: float | None = None
    """Its own time limit in seconds; None: the setting's."""
    waits_for_person: bool = False
    """Whether its calls wait for a person by themselves."""
    uri: str = ""
    """Another reference by which trusted callers find it (``mcp://server/tool``), or ""."""
    version: str = ""
    """Stands for all that a call does beside its arguments (a digest of the definition): an approval holds for that
    version; "" where only the very same tool is the same."""
    nests: Literal["", "calls", "thread"] = ""
    """All that a call does to the world are calls of its own (``calls``), or the work of an agent in a thread of its
    own (``thread``): one that was cut off can be gone on with."""
    about: Literal["", "command", "path", "host"] = ""
    """What says what a call is about: an argument with a shell command, or a file or folder, or the host that it goes
    to, which its own judgement names (``PreCheck.resolved``). Rules are written about it."""
    lengthy: tuple[str, ...] = ()
    """Arguments that are left out of a rule which is proposed for a call, whatever their length."""
    on_server: str = ""
    """The argument that names an MCP server: what denies or asks about all of that server's tools does so here, too."""
    bound_by: str = ""
    """The older tool whose refusals hold for this one, too: what may not be written or read whole may not be in parts.
    Nothing that allows that one allows this one."""
    gives: Gives = "outside"
    """Whose words its results are. A tool that does not say so gives words from outside."""
    whose: str = ""
    """Of words from outside: whose, in words that go on in a sentence; "": those of the tool."""

    @property
    def provider_name(self) -> str:
        """The name used in native function calling."""
        return self.alias or self.name.replace("-", "_")

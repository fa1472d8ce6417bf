"""What tools, the pipeline and safety share: verdicts, readings, processes.

The rooms ``tools`` and ``safety`` never import each other: tools are written against these Protocols, ``app`` hands
them the implementations of ``desktop/safety``. Blocking methods say so; callers use a thread.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, BinaryIO, Literal, Protocol

from desktop.domain.approval.judgement import Category, CommandPart, Judgement
from desktop.domain.files.copied_folders import LaidCopy
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.cancellation import CancellationToken

DEFAULT_ALLOWED = ("~/.agent/workspace", "/tmp/agent")
DEFAULT_DENIED = ("~/.ssh", "~/.gnupg", "/etc/shadow", "/etc/passwd")
SUGGESTED_DENIED = (
    "~/.aws",
    "~/.config/gcloud",
    "~/.azure",
    "~/.kube",
    "~/.docker",
    "~/.netrc",
    "~/.git-credentials",
    "~/.local/share/keyrings",
    "~/.local/share/kwalletd",
    "~/.password-store",
    "~/Library/Keychains",
    "~/.mozilla",
    "~/.config/google-chrome",
    "~/.config/chromium",
    "~/.config/BraveSoftware",
    "~/Library/Application Support/Google/Chrome",
    "~/Library/Application Support/Firefox",
)
DEFAULT_ENVIRONMENT = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TERM", "SHELL", "TMPDIR", "TZ")


NetworkMode = Literal["never", "as asked", "always"]
"""Whether shell commands have the network: ``as asked``, where a command needs it and exactly that was allowed."""


CommandsFirst = Literal["show", "ask"]


@dataclass(frozen=True, slots=True)
class SafetySettings:
    """One snapshot of every setting that safety obeys; read anew at each call (R-FS-12). Times in seconds, sizes in
    bytes."""

    workspace: str
    """Where relative paths start and commands run: the app's own folder for that, or a project."""
    allowed: tuple[str, ...] = DEFAULT_ALLOWED
    """Folders that tools may read and write."""
    denied: tuple[str, ...] = DEFAULT_DENIED
    """Places that they may not."""
    granted: tuple[str, ...] = ()
    """Folders opened for this session only: a call that needs one is admin (R-TOOL-4)."""
    environment_allowlist: tuple[str, ...] = DEFAULT_ENVIRONMENT
    """Variables that tools get."""
    tool_timeout_s: float = 120.0
    """Time limit of a call."""
    tool_timeouts: Mapping[str, float] = field(default_factory=dict)
    """Time limits of single tools, by name."""
    output_limit: int = 200_000
    """Most output of a process."""
    memory_limit: int = 0
    """Most memory of a command and all it started; 0: no limit."""
    shell_network: NetworkMode = "as asked"
    """When commands have the network."""
    relax_plain_rm: bool = False
    """Whether a plain ``rm`` of files is no admin call."""
    blocked_patterns: tuple[str, ...] = ()
    """Commands that are refused outright."""
    auto_approve_workspace_writes: bool = False
    """Whether file tools write in the workspace unasked."""
    auto_approve_reading_commands: bool = False
    """Whether commands that only read run unasked."""
    approval_timeout_s: float | None = None
    """How long a request waits; None: as long as it takes."""
    bash_path: str = ""
    """The shell; "": looked up."""
    commands_first: CommandsFirst = "show"
    """What comes first where commands can run in a copy: what they did there is shown, or a person is asked."""
    own_hosts: tuple[str, ...] = ()
    """Hosts inside the person's own network whose pages may be read."""
    project: str = ""
    """The folder of the thread that these settings are for, which is the workspace then; "": none."""
    app_workspace: str = ""
    """Where the app's own workspace is, beside a project; "": it is the workspace."""

    def within(self, place: WorkPlace) -> SafetySettings:
        """The same for calls of a thread that works in a project: work starts there, and what is denied stays so.
        Whether the project itself is open is judged with the disk, not here."""
        if not place.project or place.project == self.project:
            return self
        own = self.app_workspace or self.workspace
        return replace(
            self,
            workspace=place.project,
            project=place.project,
            app_workspace=own,
            allowed=tuple(_from(own, entry) for entry in self.allowed),
            denied=tuple(_from(own, entry) for entry in self.denied),
            granted=tuple(_from(own, entry) for entry in self.granted),
        )

    def timeout_of(self, tool: str) -> float:
        """Seconds one call of this tool may take (R-TMO-1)."""
        return self.tool_timeouts.get(tool, self.tool_timeout_s)


def _from(folder: str, entry: str) -> str:
    """An entry that means the same place wherever relative paths start."""
    return entry if not entry or entry.startswith("~") or os.path.isabs(entry) else os.path.join(folder, entry)


SettingsProvider = Callable[[], SafetySettings]


# -- files ----------------------------------------------------------------------------------------------------------


class Access(StrEnum):
    """What is to be done with a path."""

    READ = "read"
    LIST = "list"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class PathVerdict:
    """What the boundary says about one path (R-FS-7); the tester of the settings shows the same record (R-FS-11)."""

    allowed: bool
    """Whether the access is allowed."""
    given: str
    """The path as it was given."""
    resolved: str
    """Absolute, with every link followed; "" when the text is no path at all."""
    rule: str
    """What decided: ``allowed <entry>``, ``denied <entry>``, ``protected <path>``, ``special file``, ``outside``,
    ``malformed``."""
    sentence: str
    """The verdict in words."""
    access: Access
    """What was asked for."""
    elevated: str = ""
    """Why a permitted call here is admin, or ""."""
    identity: str = "absent"
    """``device:inode:size:mtime_ns:ctime_ns`` of what is there now, or ``absent``."""


@dataclass(frozen=True, slots=True)
class EntryFacts:
    """One entry of the allowed or denied list as the settings show it (R-FS-11)."""

    text: str
    """The entry as written."""
    resolved: str
    """Where it really leads; "" when it is no path."""
    warnings: tuple[str, ...] = ()
    """Half sentences: a link, what it holds, that an allowed folder is missing."""
    missing: bool = False
    """Whether there is nothing at that place."""
    adding: str = ""
    """What adding it means where a person has to confirm it, else ""."""
    removing: str = ""
    """What removing it means where a person has to confirm it, else ""."""
    marks: tuple[tuple[str, str], ...] = ()
    """The warnings in two or three words, each with "warning", "info" or "" for its look."""


class PathPolicy(Protocol):
    """The filesystem boundary. Blocks for a few system calls."""

    def within(self, place: WorkPlace) -> PathPolicy:
        """The boundary of calls that are made there."""
        ...

    def explain(self, path: str, access: Access) -> PathVerdict:
        """Judge a path; never raises for what the path says."""
        ...

    def require(self, path: str, access: Access) -> PathVerdict:
        """The verdict, or raises BoundaryViolation."""
        ...


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """One name in a folder. ``kind``: file | dir | link | special; ``size`` in bytes for files, else None."""

    name: str
    kind: Literal["file", "dir", "link", "special"]
    size: int | None = None
    target: str = ""


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """What an atomic write did."""

    resolved: str
    created: bool
    size: int
    folders_made: tuple[str, ...] = ()


class GuardedFiles(Protocol):
    """Files behind the boundary, opened at the handle (R-FS-9). Every method blocks; raises BoundaryViolation when
    the path may not be used or is no longer what was checked, ToolFailure for what the disk says."""

    def within(self, place: WorkPlace) -> GuardedFiles:
        """The files of calls that are made there."""
        ...

    def explain(self, path: str, access: Access) -> PathVerdict:
        """Judge a path, as ``PathPolicy.explain`` does."""
        ...

    def open_read(self, path: str) -> BinaryIO:
        """A regular file, open for reading. The caller closes it."""
        ...

    def write_atomic(self, path: str, data: bytes, *, expected: str | None = None) -> WriteOutcome:
        """Replace the content at once or not at all (R-BLT-4); ``expected`` is the identity that was approved."""
        ...

    def list_folder(self, path: str, limit: int) -> tuple[list[ListedEntry], int]:
        """The first ``limit`` entries by name, and how many there are."""
        ...


# -- shell commands --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Blocked:
    """A command that the blocklist refuses; no dialog can allow it (R-BLK-1)."""

    word: str
    reason: str
    alternative: str = ""

    @property
    def sentence(self) -> str:
        """One paragraph for the model and the person."""
        tail = f" {self.alternative}" if self.alternative else ""
        return f"Blocked: '{self.word}' {self.reason}.{tail}"


@dataclass(frozen=True, slots=True)
class ShellReading:
    """A command taken apart. ``blocked`` wins over everything; else ``category`` is write or admin with its reasons."""

    category: Category
    """The category of the whole."""
    blocked: Blocked | None = None
    """The pattern that refuses it."""
    raised_because: str = ""
    """Why it is admin, or ""."""
    judgements: tuple[Judgement, ...] = ()
    """Its parts with what each does."""
    paths: tuple[str, ...] = ()
    """All paths that it names."""
    uses_network: bool = False
    """Whether it uses the network."""
    bound: tuple[str, ...] = ()
    """The paths whose present state an approval depends on: what it writes, deletes or runs, and whatever an unknown
    command is given. What is only read may change meanwhile."""
    parts: tuple[CommandPart, ...] = ()
    """All its commands for rules; empty when it could not be taken apart."""
    states: Mapping[str, str] = field(default_factory=dict)
    """What the first 200 of ``bound`` are now, as in ``PathVerdict.identity``; of a folder only which one it is."""
    reads_only: bool = False
    """All that it does is known, and it only reads, without network, inside the boundary."""
    may_need_network: bool = False
    """Whether a part of it is not known to do without the network."""
    hosts: tuple[str, ...] = ()
    """The computers that its words name."""
    hosts_known: bool = True
    """Whether its words name all of them."""
    astray: tuple[str, ...] = ()
    """Why they may not, as sentences."""
    place: PathVerdict | None = None
    """What the boundary says of listing the workspace, where it starts; None where it was not read."""


class ShellReader(Protocol):
    """Reads shell commands before anybody is asked."""

    def within(self, place: WorkPlace) -> ShellReader:
        """The reader of commands that start there."""
        ...

    def read(self, command: str) -> Awaitable[ShellReading]:
        """Read a command; never raises for its text: unreadable is admin (R-BLK-5)."""
        ...

    def read_now(self, command: str) -> ShellReading:
        """Read a command in this thread. Blocks."""
        ...


# -- processes --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """One process to run to its end."""

    argv: tuple[str, ...]
    """The program and its arguments."""
    cwd: str
    """Where it runs."""
    env: Mapping[str, str]
    """The whole environment."""
    timeout_s: float = 120.0
    """Seconds until it is ended."""
    output_limit: int = 200_000
    """Bytes of output that are kept."""
    keep: Literal["head", "tail"] = "tail"
    """Which end of longer output stays."""
    contained: bool = False
    """The program itself ends all its processes when it ends."""
    settled: bool = False
    """``cwd`` was judged and has no link in it; it must be that very path still when the process starts."""
    fleeting: tuple[str, ...] = ()
    """Folders of the process's own, whose content is gone when it ends."""
    inherited: tuple[int, ...] = ()
    """Descriptors of this process that the one which confines it takes over."""
    memory_limit: int = 0
    """Bytes that it and all that it starts may hold before they are ended; 0: as much as there is."""
    too_much: Callable[[], bool] | None = None
    """Says whether it wrote more than it may, and is to be ended. Blocks."""


@dataclass(frozen=True, slots=True)
class ProcessOutcome:
    """How a process ended. ``exit_code`` is None when we ended it; negative: a signal. ``output`` is clean text, cut
    with a notice at its end when ``truncated``; sizes are the bytes that the process wrote."""

    output: str
    exit_code: int | None
    ended: Literal["exited", "timeout", "aborted", "memory", "disk"]
    elapsed_s: float
    total_bytes: int
    truncated: bool = False


class ProcessRunner(Protocol):
    """Starts processes and ends them with everything they started (R-TMO-2)."""

    def run(
        self, spec: ProcessSpec, token: CancellationToken, progress: Callable[[str], None] | None = None
    ) -> Awaitable[ProcessOutcome]:
        """Raises ToolFailure when the program cannot be started."""
        ...


ConfinementKind = Literal["bubblewrap", "landlock", "sandbox-exec", "none"]


@dataclass(frozen=True, slots=True)
class ConfinementReport:
    """What holds shell commands on this machine."""

    kind: ConfinementKind
    sentence: str
    holds: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


class Confinement(Protocol):
    """Wraps commands so that the boundary binds them too (C-33); approving a call never lifts it."""

    def within(self, place: WorkPlace) -> Confinement:
        """The same for processes of calls that are made there."""
        ...

    def probe(self) -> ConfinementReport:
        """Try it for real, once; blocking (tens of milliseconds)."""
        ...

    def wrap(
        self,
        spec: ProcessSpec,
        *,
        narrow: tuple[str, ...] | None = None,
        network: bool | None = None,
        writes: bool = True,
        grants: bool = True,
        cache: str = "",
        opened: tuple[str, ...] = (),
        own: tuple[str, ...] = (),
        copy: LaidCopy | None = None,
    ) -> ProcessSpec:
        """The same process, confined; blocking. ``narrow``: it sees only the allowed folders, the system's libraries
        and these paths; ``network`` instead of the setting's. Not ``writes``: it only reads the allowed folders, and
        can write in a temporary folder alone, which ``TMPDIR`` names. Not ``grants``: what is open for this session
        only is closed to it, as to every call of a job (R-FS-8). ``cache`` names whose cache it gets: a folder that
        only processes of that name write, for what npx, uvx and pip fetch. ``opened``: resolved paths inside denied
        folders that it reads and does not write, because a person agreed (D-4). ``own``: resolved paths that it writes
        even where it otherwise only reads, because they are its own; none that holds what is denied, or Assent's.
        ``copy`` lies over the folders that it writes; where nothing confines it there is none, but a ToolFailure."""
        ...

    def wrap_apart(
        self, spec: ProcessSpec, *, folder: str, readable: tuple[str, ...] = (), network: bool = False
    ) -> ProcessSpec:
        """A program that the app itself needs, such as git, confined; blocking. It sees the system's programs and
        libraries and ``readable``, and writes in ``folder`` alone: no folder that is allowed to tools is open to it."""
        ...

    def drop_caches(self, prefix: str, kept: Iterable[str]) -> list[str]:
        """Remove the caches whose names begin with ``prefix``, but those ``kept``; nothing else. Blocking; returns what
        was removed."""
        ...


_NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


class EnvironmentBuilder(Protocol):
    """Builds the environment of a subprocess from an allowlist (R-ENV-1)."""

    def build(
        self,
        declared: Mapping[str, str],
        *,
        admin: bool = False,
        tool: str = "",
        secrets: bool = True,
        thread: Mapping[str, str] = _NO_VARIABLES,
    ) -> Awaitable[dict[str, str]]:
        """Raises ToolFailure naming a variable that is not set or may not be set (R-ENV-4, R-ENV-7). ``tool`` is the
        canonical name of who declares; without ``secrets`` references to the keyring are judged but not read.
        ``thread`` are the thread's variables: what ``${NAME}`` means before the host's are looked at (D-6)."""
        ...

    def for_commands(self, command: str, thread: Mapping[str, str]) -> dict[str, str]:
        """The thread's variables that a command gets: those that it names as ``$NAME``, none that a command has
        anyway, or that changes programs."""
        ...


class Redactor(Protocol):
    """Keeps secrets out of whatever is written down (R-SEC-4)."""

    def redact_text(self, text: str) -> str:
        """For logs, traces, journals and exception texts."""
        ...

    def redact_data(self, value: Any) -> Any:
        """The same for JSON-like data; keys that name secrets lose their values."""
        ...

    def mask_known(self, text: str) -> str:
        """Only the exact values known from the keyring: for what the model receives (R-SEC-5)."""
        ...

    def mask_data(self, value: Any) -> Any:
        """The same for JSON-like data, keys included; what holds no known value is returned as it is."""
        ...

    def masker(self) -> TextMasker:
        """Masks known values in a text that comes in pieces."""
        ...


class TextMasker(Protocol):
    """One text that comes in pieces. What may be the beginning of a known value is held back until it is certain."""

    def feed(self, piece: str) -> str:
        """Take in a piece of a text; the masked text that can be shown now."""
        ...

    def flush(self) -> str:
        """The text is over: the rest of it."""
        ...

"""What agents can reach, for the explorer of the settings (R-FS-11).

Contract between ``services``, which asks the boundary, the rules and the agent's tools, and the page. Nothing here
decides anything: every answer comes from the functions that decide about real calls.
"""

from __future__ import annotations

from typing import Literal

from desktop.domain.loading.lazy_dataclass import dataclass

ANY_AGENT = ""
"""The name of an agent that has every tool."""

NodeKind = Literal["dir", "file", "link", "special"]
ReachState = Literal["rule", "asks", "read_only", "denied", "protected", "special", "outside"]
"""How a row is tinted: reads pass and writes too, by a rule; somebody is asked; only reading; a denied folder or rule;
Assent's own; no file or folder; in no allowed folder."""
What = Literal["passes", "asks", "denied"]
Because = Literal["boundary", "system", "tools", "rule", "setting", "category"]
"""What decided: the folders, the system's permissions, the agent's list of tools, a rule of trust, the opt-in setting,
or that it reads or writes."""
Way = Literal["command", "file tool"]
Agreement = Literal["yes", "limit", "stricter", "unconfined", "bug", "unknown"]
"""Whether what was tried is what the tint says. ``limit``: the confinement is known not to hold this. ``stricter``: it
or the system refuses more. ``unconfined``: nothing confines commands here. ``bug``: it was open and must not be."""


@dataclass(frozen=True, slots=True)
class Level:
    """What is in one folder: folders first, then the rest, each by name. ``kinds`` as in ``NodeKind``, name by name;
    ``folders`` of them are folders; ``left_out`` more are not listed. ``problem``: why it cannot be read, or empty."""

    path: str
    names: tuple[str, ...] = ()
    kinds: tuple[NodeKind, ...] = ()
    folders: int = 0
    left_out: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Reached:
    """What becomes of one kind of call. ``sentence`` says why, for a person; ``rule`` names the entry or pattern that
    decided, or is empty. ``admin``: it asks as admin."""

    what: What
    because: Because
    sentence: str
    rule: str = ""
    admin: bool = False


@dataclass(frozen=True, slots=True)
class ReachRow:
    """One path as the explorer shows it. A link is judged as what it leads to. All but ``commands`` is about file
    tools."""

    path: str
    """The path."""
    kind: NodeKind
    """File, folder, link or something else."""
    state: ReachState
    """The judgement's look."""
    words: str
    """The judgement in a few words."""
    read: Reached
    """May it be read? For a folder the stricter of listing it and reading a file in it."""
    write: Reached
    """May it be written? For a folder, a new file in it."""
    resolved: str = ""
    """Where a link ends."""
    target: str = ""
    """The link's own text."""
    opens: bool = False
    """Whether there is a folder to look into."""
    boundary_read: bool = False
    """What the folders' lists alone say about reading."""
    boundary_write: bool = False
    """What the folders' lists alone say about writing."""
    commands: tuple[bool, bool] | None = None
    """Whether shell commands could read and write there by what confines them; None: not known."""


@dataclass(frozen=True, slots=True)
class HostRow:
    """One host of the web as the explorer shows it, or with an empty ``host`` all that no row names."""

    searches: bool
    """Whether searches go there; else pages of it are read."""
    host: str
    """As rules name it; it may be a pattern of theirs."""
    reached: Reached
    """What becomes of a call."""
    known: str
    """Where the host is known from, in a few words."""


@dataclass(frozen=True, slots=True)
class ProofLine:
    """One attempt to open a path. ``outcome``: it was opened, refused, or not tried; ``words`` say by whom ("refused by
    the kernel (EACCES)"), ``note`` adds what else there is to know."""

    way: Way
    access: Literal["read", "write"]
    outcome: Literal["opened", "refused", "untried"]
    words: str
    agrees: Agreement = "yes"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Proof:
    """What trying came to, at ``at`` seconds since the epoch; ``summary`` in a few words."""

    path: str
    at: float
    lines: tuple[ProofLine, ...]
    summary: str

    @property
    def worst(self) -> Agreement:
        """The gravest of its lines."""
        order: tuple[Agreement, ...] = ("bug", "unconfined", "limit", "unknown", "stricter", "yes")
        return min((line.agrees for line in self.lines), key=order.index, default="yes")


@dataclass(frozen=True, slots=True)
class LastProof:
    """The newest proof of the activity log."""

    path: str
    at: float
    summary: str

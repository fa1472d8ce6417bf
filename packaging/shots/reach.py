"""Sample data for the pictures of the reach explorer: the real tree, filled with made-up folders. Never in the app."""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from desktop.domain.approval.reach import (
    HostRow,
    LastProof,
    Level,
    NodeKind,
    Proof,
    ProofLine,
    Reached,
    ReachRow,
    ReachState,
)
from desktop.presenter.settings.reach_tree import ReachTree, RowPlace

HOME = "/home/ida"
WORK = f"{HOME}/work/harbour-sensors"
LEVELS: dict[str, Sequence[tuple[str, NodeKind]]] = {
    HOME: ((".agent", "dir"), (".ssh", "dir"), ("work", "dir"), ("data", "link")),
    f"{HOME}/.agent": (("workspace", "dir"), ("config.yaml", "file")),
    f"{HOME}/work": (("harbour-sensors", "dir"), ("letters", "dir")),
    WORK: (
        ("agents", "dir"),
        ("data", "dir"),
        ("docs", "dir"),
        ("out", "dir"),
        ("scripts", "dir"),
        ("secrets", "dir"),
        ("keys", "link"),
        ("pyproject.toml", "file"),
    ),
    f"{HOME}/.ssh": (("config", "file"), ("id_ed25519", "file")),
}
OPEN = (WORK, HOME)
ASKS: tuple[ReachState, str] = ("asks", "reads, writes ask")
RULE: tuple[ReachState, str] = ("rule", "reads, writes by a rule")
STATES: dict[str, tuple[ReachState, str]] = {
    f"{HOME}/.agent/config.yaml": ("read_only", "reads only, protected"),
    f"{HOME}/.agent/workspace": ASKS,
    f"{HOME}/.ssh": ("denied", "denied"),
    f"{HOME}/data": ASKS,
    WORK: ASKS,
    f"{WORK}/agents": ("read_only", "reads only, protected"),
    f"{WORK}/docs": RULE,
    f"{WORK}/out": RULE,
    f"{WORK}/keys": ("denied", "denied"),
    f"{WORK}/secrets": ("denied", "denied"),
}
HOSTS = tuple(
    HostRow(searches, host, Reached(what, because, "You have not allowed it yet."), known)  # type: ignore[arg-type]
    for searches, host, what, because, known in (
        (True, "api.search.brave.com", "asks", "category", "your search service"),
        (False, "*.tides.example", "passes", "rule", "named in a rule"),
        (False, "example.org", "asks", "category", "read before"),
        (False, "paste.example", "denied", "rule", "named in a rule"),
        (False, "wiki.lan:80", "asks", "category", "named in your settings"),
        (False, "", "asks", "category", ""),
    )
)
TARGETS = {f"{HOME}/data": "/mnt/tides/archive", f"{WORK}/keys": f"{HOME}/.ssh"}
KERNEL, ASSENT = "refused by the kernel (EACCES)", "refused by Assent"


def _row(path: str, kind: NodeKind) -> ReachRow:
    inside = path.startswith((f"{WORK}/", f"{HOME}/.agent/workspace/"))
    state, words = STATES.get(path, ASKS if inside else ("outside", "commands read"))
    found = Reached("passes", "category", f"{path} is inside the allowed folder {WORK}.")
    target = TARGETS.get(path, "")
    return ReachRow(path, kind, state, words, found, found, target or path, target, kind == "dir" or bool(target))


class SampleReach(QObject):
    """A tree that is read and judged already, and a proof that ended as it should; ``lines`` are what one says."""

    changed = Signal()
    revealed = Signal(int)
    offered = Signal(int)
    hosts_changed = Signal()
    told = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.tree = ReachTree()
        self.agent = ""
        self.hosts = HOSTS
        self.problem = ""
        self.proving = ""
        self.proof: Proof | None = None
        self.last: LastProof | None = LastProof(f"{WORK}/secrets", time.time() - 600, f"both {KERNEL}")
        self.lines: tuple[ProofLine, ...] = tuple(
            ProofLine(way, access, "refused", words)  # type: ignore[arg-type]  # both are ways and accesses
            for way, words in (("command", KERNEL), ("file tool", ASSENT))
            for access in ("read", "write")
        )

    def agents(self) -> list[tuple[str, str]]:
        """One besides anybody."""
        return [("any agent", ""), ("Workbench", "workbench")]

    project = ""

    def folders(self) -> list[tuple[str, str]]:
        """One besides none."""
        return [("no project", ""), ("annual-report", f"{HOME}/work/annual-report")]

    def set_project(self, path: str) -> None:
        """Nothing changes."""
        self.project = path

    def begin(self) -> None:
        """Open what the picture shows open."""
        if self.tree.root.size:
            return
        self.tree.set_roots((WORK, f"{HOME}/.agent/workspace", HOME, "/"))
        for path in OPEN:
            row = next(at for at in range(self.tree.rowCount()) if self.tree.shown(at).path == path)
            self.open(row)
        self.look(0, self.tree.rowCount())
        self.revealed.emit(next(at for at in range(self.tree.rowCount()) if self.tree.shown(at).name == "secrets"))

    def look_at_hosts(self) -> None:
        """They are there."""

    def leave_hosts(self) -> None:
        """They stay."""

    def set_agent(self, name: str) -> None:
        """Nothing changes."""
        self.agent = name

    def open(self, row: int) -> None:
        """At once."""
        folder = self.tree.open(self.tree.place(row))
        if folder is None:
            return
        found = LEVELS.get(folder.path, ())
        names, kinds = tuple(name for name, _ in found), tuple(kind for _, kind in found)
        self.tree.fill(folder, Level(folder.path, names, kinds, kinds.count("dir")))
        self.look(0, self.tree.rowCount())

    def close(self, row: int) -> None:
        """At once."""
        self.tree.close(self.tree.place(row))

    def again(self, row: int) -> None:
        """It is the same."""

    def look(self, first: int, last: int) -> None:
        """Judge them."""
        places: list[RowPlace] = self.tree.wanted(first, last)
        self.tree.judged(
            [
                (place.folder, place.at, _row(place.folder.path_of(place.at), place.folder.kinds[place.at]))
                for place in places
            ]
        )

    def reveal(self, path: str) -> None:
        """Nothing to find."""

    def prove(self, path: str) -> None:
        """As ``lines`` say."""
        self.proof = Proof(path, time.time(), self.lines, f"both {KERNEL}")
        self.last = LastProof(path, self.proof.at, self.proof.summary)
        self.changed.emit()

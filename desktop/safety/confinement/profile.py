"""What a confined process may reach, worked out anew for each one from the lists that bind the file tools (C-33).

Whatever holds it on this machine (bubblewrap, Landlock, sandbox-exec) is told the same.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import ConfinementKind, SettingsProvider
from desktop.safety.boundary.closed_places import judged_path
from desktop.safety.boundary.installation import without_inner
from desktop.safety.boundary.mounts import Mounts
from desktop.safety.boundary.paths import Identity, identity_of, is_within
from desktop.safety.boundary.policy import BoundaryPolicy, Lists

SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/ld.so.cache",
    "/etc/ssl",
    "/etc/localtime",
    "/etc/alternatives",
    "/etc/hosts",
    "/etc/nsswitch.conf",
)
PRIVATE = ("/tmp", "/run")
"""Folders of which each command in bubblewrap gets one of its own, with what it may reach of the real one."""
MAX_OWN = 500
MAX_SCANNED = 50_000


@dataclass(frozen=True, slots=True)
class SandboxProfile:
    """What a command may reach. All paths are resolved."""

    writable: tuple[str, ...]
    """What it may write."""
    read_only: tuple[str, ...]
    """The app's own folders inside writable ones."""
    again_writable: tuple[str, ...]
    """The app's workspace inside those."""
    hidden: tuple[str, ...]
    """What it neither reads nor writes."""
    network: bool
    """Whether it has the network."""
    seen: tuple[str, ...] | None = None
    """All that it may read beside those; None: everything that is not hidden."""
    installed: tuple[str, ...] = ()
    """The app's program, which can be read (unless hidden) also where everything around it is put out of sight, as in
    /tmp."""
    sealed: tuple[str, ...] = ()
    """What in any of them cannot be written either: mounts of what lies outside, and second names of the app's own
    files."""
    readable: tuple[str, ...] = ()
    """The allowed folders of a process that writes in none."""
    opened: tuple[str, ...] = ()
    """What it reads, and never writes, although it is ``hidden`` or lies in what is."""
    still_hidden: tuple[str, ...] = ()
    """What is hidden inside ``opened``."""

    @property
    def allowed(self) -> tuple[str, ...]:
        """The allowed folders, whether it writes in them or not."""
        return (*self.writable, *self.readable)

    @property
    def laid_over(self) -> tuple[str, ...]:
        """What is hidden and what is opened in it, outer paths first: the inner one decides."""
        return by_depth({*self.hidden, *self.opened, *self.still_hidden})

    def reading(self) -> SandboxProfile:
        """The same for a process that changes nothing in them."""
        return replace(self, writable=(), again_writable=(), readable=self.writable)

    def of_program(self, *places: str) -> list[str]:
        """What stays readable of folders that are put out of sight as a whole: the app's own program, and of what a
        skill may see the part that lies in the program."""
        ours = self.installed
        found = ours if self.seen is None else [p for p in self.seen if any(is_within(p, own) for own in ours)]
        return [path for path in found if any(is_within(path, place) for place in places)]

    def reach(self, path: str, kind: ConfinementKind) -> tuple[bool, bool]:
        """Whether a command may read and write at a resolved path, where ``kind`` builds the sandbox. Only of profiles
        around shell commands (``seen`` None)."""
        if kind == "none":
            return True, True
        if any(is_within(path, place) for place in self.hidden):
            return False, False
        inside = any(is_within(path, root) for root in self.writable)
        own = any(is_within(path, place) for place in self.read_only)
        closed = own and not any(is_within(path, place) for place in self.again_writable)
        closed = closed or any(is_within(path, place) for place in self.sealed)
        if kind == "landlock":  # it allows by folders, so that none that holds something closed can be opened whole
            closed = closed or any(is_within(place, path) for place in (*self.hidden, *self.read_only, *self.sealed))
        if not inside and kind == "bubblewrap" and any(is_within(path, place) for place in PRIVATE):
            return any(is_within(path, place) for place in self.of_program(*PRIVATE)), False
        return True, inside and not closed

    def hides(self, path: str, kind: ConfinementKind) -> str:
        """Why a program at this path cannot be found inside the sandbox that ``kind`` builds, as half a sentence, or
        "". Only of profiles that see all that is not hidden (``seen`` None)."""
        if kind == "none" or any(is_within(path, place) for place in (*self.again_writable, *self.opened)):
            return ""
        if any(is_within(path, place) for place in self.hidden):
            return "lies in a folder that no tool may read"
        apart = {"bubblewrap": PRIVATE, "landlock": (os.path.realpath(tempfile.gettempdir()),)}.get(kind, ())
        place = next((place for place in apart if is_within(path, place)), "")
        if not place or any(is_within(path, root) for root in (*self.allowed, *self.of_program(*PRIVATE))):
            return ""
        return f"lies in {place}, and what runs confined has a folder of its own in the place of that"


def profile_for(
    policy: BoundaryPolicy, settings: SettingsProvider, *, grants: bool = True, opened: tuple[str, ...] = ()
) -> SandboxProfile:
    """The profile as it is now; not ``grants``: without what was opened for this session. ``opened``: resolved paths
    that this process reads although they are denied; of those only what may be opened is. Blocks: some tens of system
    calls."""
    lists = policy.lists()
    granted = lists.granted if grants else ()
    writable = {rule.resolved for rule in (*lists.allowed, *granted) if os.path.isdir(rule.resolved)}
    hidden = {rule.resolved for rule in (*lists.denied, *lists.secret) if os.path.lexists(rule.resolved)}
    mounts = Mounts()
    hidden |= {door for path in list(hidden) for door in mounts.doors(path)}
    own, again = _own_folders(lists, list(writable))
    sealed = set(_doors_out(mounts, writable))
    for path, secret in _second_names(lists, writable):
        if secret or not _is_closed(path, own, again):
            (hidden if secret else sealed).add(path)
    out_of_sight = without_inner(hidden)
    opened = tuple(path for path in opened if judged_path(lists, path).comes_to == "opens")
    inner = {path for path in hidden - set(opened) if any(is_within(path, outer) for outer in opened)}

    def seen(found: Iterable[str]) -> tuple[str, ...]:
        return by_depth({path for path in found if not any(is_within(path, place) for place in out_of_sight)})

    return SandboxProfile(
        seen(writable),
        seen(own),
        seen(again),
        out_of_sight,
        settings().shell_network == "always",
        installed=without_inner((*(rule.resolved for rule in lists.installed), *lists.around)),
        sealed=seen(sealed),
        opened=opened,
        still_hidden=by_depth(inner),
    )


def own_places(own: Iterable[str], lists: Lists) -> tuple[str, ...]:
    """Of the places that a program calls its own, those that open nothing which is denied, secret or Assent's."""
    rules = (*lists.denied, *lists.secret, *lists.protected, *lists.installed)
    closed = [*(rule.resolved for rule in rules), *([lists.home.resolved] if lists.home is not None else [])]
    return by_depth(
        {path for path in own if not any(is_within(path, place) or is_within(place, path) for place in closed)}
    )


def _is_closed(path: str, own: tuple[str, ...], again: tuple[str, ...]) -> bool:
    """Whether nothing can be written there anyway."""
    if any(is_within(path, place) for place in again):
        return False
    return any(is_within(path, place) for place in own)


def by_depth(found: set[str]) -> tuple[str, ...]:
    """Outer paths before those inside them."""
    return tuple(sorted(found, key=lambda path: (len(path), path)))


def _doors_out(mounts: Mounts, writable: set[str]) -> Iterator[str]:
    """Mounts inside writable folders of what lies outside all of them."""
    for root in writable:
        for point in mounts.points_below(root):
            if any(not any(is_within(name, other) for other in writable) for name in mounts.names(point)):
                yield point


def _own_folders(lists: Lists, writable: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The app's folders that lie in writable ones and become read-only, and what in them stays writable (R-FS-10)."""
    home = lists.home.resolved if lists.home is not None else ""
    closed = [_nearest(rule.resolved) for rule in (*lists.protected, *lists.installed)]
    closed = [path for path in closed if path]
    if home and os.path.isdir(home):
        closed.append(home)
    touched = tuple(path for path in by_depth(set(closed)) if any(is_within(path, root) for root in writable))
    protected = [rule.resolved for rule in (*lists.protected, *lists.secret)]
    inner = lists.own_workspace
    overlaps = any(is_within(inner, path) or is_within(path, inner) for path in protected)
    ours = home and inner != home and is_within(inner, home) and not overlaps and os.path.isdir(inner)
    return touched, ((inner,) if ours and any(is_within(inner, path) for path in touched) else ())


def _nearest(path: str) -> str:
    """What can be made read-only for a path: itself, or the folder where it would be; "" where there is neither."""
    above = os.path.dirname(path)
    return path if os.path.lexists(path) else above if os.path.isdir(above) else ""


# -- hard links -------------------------------------------------------------------------------------------------------


def _second_names(lists: Lists, writable: set[str]) -> list[tuple[str, bool]]:
    """Names in writable folders of files that are denied (True) or the app's own (False). Nothing is searched unless
    one of those files has several names; then at most 50,000 entries are."""
    wanted: dict[Identity, bool] = {}
    for rules, secret in ((lists.protected, False), ((*lists.denied, *lists.secret), True)):
        for rule in rules:
            wanted.update((found, secret) for found in _linked(_files((rule.resolved,))))
    if lists.home is not None:
        wanted.update((found, False) for found in _linked(_files((lists.home.resolved,), deep=False)))
    if not wanted:
        return []
    found = []
    for seen, (path, status) in enumerate(_files(by_depth(writable))):
        if seen >= MAX_SCANNED:
            break
        if status.st_nlink > 1 and (identity := identity_of(status)) in wanted:
            found.append((path, wanted[identity]))
    return found


def _linked(files: Iterator[tuple[str, os.stat_result]]) -> Iterator[Identity]:
    """The identities of files with several names, among the first 500."""
    for seen, (_, status) in enumerate(files):
        if seen >= MAX_OWN:
            return
        if status.st_nlink > 1:
            yield identity_of(status)


def _files(places: tuple[str, ...], *, deep: bool = True) -> Iterator[tuple[str, os.stat_result]]:
    """Regular files of these folders and (``deep``) below, links not followed. A place that is a file
    is its own only one."""
    waiting = list(places)
    for place in places:
        try:
            status = os.lstat(place)
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):
            yield place, status
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting += [entry.path] if deep else []
                    elif entry.is_file(follow_symlinks=False):
                        yield entry.path, entry.stat(follow_symlinks=False)
        except OSError:
            continue

"""What confines shell commands on this machine, so that the boundary binds them as it binds the file tools (C-33).

bubblewrap where it works, else Landlock with a filter on sockets, else nothing, and each says plainly what it does not
hold. Writable are the allowed folders only; denied paths and Assent's own data are not visible; the network is off
unless the settings allow it. Approving a call never lifts any of it.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from desktop.domain.errors import ToolFailure
from desktop.domain.safety import ConfinementReport, ProcessSpec, SettingsProvider
from desktop.safety.boundary import Lists, PathPolicy
from desktop.safety.launcher import landlock_abi
from desktop.safety.paths import is_within
from desktop.safety.process import default_launcher

_PROBE_TIMEOUT_S = 10.0
_RESOLVER = ("/run/systemd/resolve", "/run/NetworkManager/resolv.conf", "/run/resolvconf", "/run/connman/resolv.conf")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
_KERNEL = ("/proc/sysrq-trigger", "/proc/kcore", "/proc/kmsg", "/proc/kallsyms")
_SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/ssl", "/etc/localtime",
    "/etc/alternatives", "/etc/hosts", "/etc/nsswitch.conf",
)  # fmt: skip
_MAX_SIBLINGS = 2000
_SECOND_NAME = "a denied file that has a second name (a hard link) in an open folder: there it is read like any other"
_PLATFORM: str = sys.platform

Kind = Literal["bubblewrap", "landlock", "none"]


@dataclass(frozen=True, slots=True)
class Walls:
    """What a command may reach. All paths are resolved. ``read_only``: the app's own folders inside writable ones.
    ``seen``: all that it may read beside those; None: everything that is not hidden. ``installed``: the app's program,
    which can be read (unless hidden) also where everything around it is put out of sight, as in /tmp."""

    writable: tuple[str, ...]
    read_only: tuple[str, ...]
    again_writable: tuple[str, ...]
    hidden: tuple[str, ...]
    network: bool
    seen: tuple[str, ...] | None = None
    installed: tuple[str, ...] = ()


class Confinement:
    """Implements ``domain.safety.Confinement``. ``kinds`` in order of preference, for tests and settings.

    ``probe`` and ``wrap`` block; ``wrap`` probes first if nobody has.
    """

    def __init__(
        self,
        policy: PathPolicy,
        settings: SettingsProvider,
        *,
        kinds: tuple[Kind, ...] = ("bubblewrap", "landlock"),
        launcher: tuple[str, ...] | None = None,
    ) -> None:
        self._policy = policy
        self._settings = settings
        self._kinds = kinds
        self._launcher = default_launcher() if launcher is None else launcher
        self._lock = threading.Lock()
        self._bwrap: tuple[str, ...] = ()
        self._report: ConfinementReport | None = None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    def probe(self) -> ConfinementReport:
        """Find the first kind that really refuses a write outside; the answer is kept."""
        with self._lock:
            if self._report is None:
                self._report = next((found for kind in self._kinds if (found := self._try(kind))), _nothing())
            return self._report

    def describe(self) -> str:
        """One sentence for the request and the settings, with the network's state."""
        network = "on" if self._settings().shell_network else "off"
        report = self.probe()
        return report.sentence if report.kind == "none" else f"{report.sentence} The network is {network}."

    def wrap(
        self, spec: ProcessSpec, *, narrow: tuple[str, ...] | None = None, network: bool | None = None
    ) -> ProcessSpec:
        """The same process inside the walls of this moment. Raises ToolFailure when they cannot be built.

        ``narrow``: beside the allowed folders it sees only the system's programs and libraries and these paths (code
        skills, R-SK-14). ``network`` instead of the setting's.
        """
        kind = self.probe().kind
        walls = self.walls()
        if network is not None:
            walls = replace(walls, network=network)
        if narrow is not None:
            walls = replace(walls, seen=tuple(path for path in (*_SYSTEM, *narrow) if os.path.exists(path)))
        if not os.path.isdir(spec.cwd):
            raise ToolFailure(f"The workspace {spec.cwd} does not exist.", code="tool.not_started")
        if kind == "bubblewrap":
            return _in_bubblewrap(self._bwrap, spec, walls)
        if kind == "landlock":
            return self._in_landlock(spec, walls)
        return spec

    def walls(self) -> Walls:
        """From the same lists that bind the file tools."""
        lists = self._policy.lists()
        writable = [rule.resolved for rule in (*lists.allowed, *lists.granted) if os.path.isdir(rule.resolved)]
        hidden = [rule.resolved for rule in (*lists.denied, *lists.secret) if os.path.lexists(rule.resolved)]
        own, open_again = _own_folders(lists, writable)
        return Walls(
            tuple(sorted(set(writable), key=len)), own, open_again,
            tuple(sorted(set(hidden), key=len)), self._settings().shell_network,
            installed=tuple(rule.resolved for rule in lists.installed),
        )  # fmt: skip

    def close(self) -> None:
        """Remove the temporary folder."""
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None

    def _try(self, kind: Kind) -> ConfinementReport | None:
        if kind == "bubblewrap":
            return self._try_bubblewrap()
        if kind == "landlock":
            return self._try_landlock()
        return None

    def _try_bubblewrap(self) -> ConfinementReport | None:
        found = shutil.which("bwrap")
        if found is None or _PLATFORM != "linux":
            return None
        user = ("--unshare-user",)
        for extra in ((*user, "--disable-userns"), user, ()):
            base = (found, *extra)
            if _refuses_outside(partial(_in_bubblewrap, base)):
                self._bwrap = base
                return ConfinementReport(
                    "bubblewrap",
                    "Confined by bubblewrap: commands write only in allowed folders and do not see the denied ones.",
                    ("writes outside the allowed folders", "denied paths and Assent's own data", "other processes",
                     "services of this computer in /run and /tmp", "the network, when it is off", "leftover processes"),
                    ("reading what is neither denied nor Assent's own", _SECOND_NAME,
                     "making a denied path that does not exist yet",
                     "services on localhost and on abstract sockets, when the network is on",
                     "services whose sockets lie elsewhere than in /run and /tmp"),
                )  # fmt: skip
        return None

    def _try_landlock(self) -> ConfinementReport | None:
        if _PLATFORM != "linux" or landlock_abi(ctypes.CDLL(None, use_errno=True)) < 1:
            return None
        if not _refuses_outside(self._in_landlock, hidden_inside=False):
            self.close()
            return None
        return ConfinementReport(
            "landlock",
            "Confined by Landlock: commands write only in allowed folders and cannot open the denied ones.",
            ("writes outside the allowed folders", "denied paths and Assent's own data", "services of this computer",
             "the network, when it is off"),
            ("folders that hold a denied path cannot be listed, nor new files made in them",
             _SECOND_NAME, "they see other processes by name",
             "changing permissions and times of files it can see"),
        )  # fmt: skip

    def _in_landlock(self, spec: ProcessSpec, walls: Walls) -> ProcessSpec:
        if self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="assent-commands-")
        private = self._temporary.name
        closed = (*walls.hidden, *walls.read_only)
        write = [path for root in walls.writable for path in readable(root, closed)]
        write += [*walls.again_writable, private, *_DEVICES]
        roots = ("/",) if walls.seen is None else (*walls.seen, *walls.writable)
        apart = os.path.realpath(tempfile.gettempdir())
        read = [path for root in roots for path in readable(root, (*walls.hidden, apart))]
        read += [path for root in _within(walls, apart) for path in readable(root, walls.hidden)]
        read += [path for root in walls.read_only for path in readable(root, walls.hidden)]
        restrict = {"read": read, "write": write, "network": walls.network, "frozen": walls.seen is not None}
        argv = (*self._launcher, json.dumps({"restrict": restrict}), *spec.argv)
        return replace(spec, argv=argv, env={**spec.env, "TMPDIR": private}, contained=True)


def _within(walls: Walls, *hidden: str) -> list[str]:
    """What stays readable of folders that are put out of sight as a whole: the app's own program, and of what a skill
    may see the part that lies in the program."""
    ours = walls.installed
    found = ours if walls.seen is None else [p for p in walls.seen if any(is_within(p, own) for own in ours)]
    return [path for path in found if any(is_within(path, root) for root in hidden)]


def readable(root: str, hidden: tuple[str, ...]) -> list[str]:
    """The paths that together are ``root`` without ``hidden``: Landlock can only allow, so a folder on the way to a
    hidden path is replaced by what it holds now."""
    if any(is_within(root, path) for path in hidden):
        return []
    if not any(is_within(path, root) for path in hidden):
        return [root]
    try:
        with os.scandir(root) as found:
            names = [entry.path for entry in found if not entry.is_symlink()][:_MAX_SIBLINGS]
    except OSError:
        return []
    return [path for name in sorted(names) for path in readable(name, hidden)]


def _own_folders(lists: Lists, writable: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The app's folders that lie in writable ones and become read-only, and what in them stays writable (R-FS-10)."""
    home = lists.home.resolved if lists.home is not None else ""
    closed = [rule.resolved for rule in (*lists.protected, *lists.installed) if os.path.lexists(rule.resolved)]
    if home and os.path.isdir(home):
        closed.append(home)
    touched = tuple(path for path in sorted(set(closed), key=len) if any(is_within(path, root) for root in writable))
    protected = [rule.resolved for rule in (*lists.protected, *lists.secret)]
    inner = lists.workspace
    overlaps = any(is_within(inner, path) or is_within(path, inner) for path in protected)
    ours = home and inner != home and is_within(inner, home) and not overlaps and os.path.isdir(inner)
    return touched, ((inner,) if ours and any(is_within(inner, root) for root in writable) else ())


def _in_bubblewrap(base: tuple[str, ...], spec: ProcessSpec, walls: Walls) -> ProcessSpec:
    argv = [*base, "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent"]
    argv += ["--cap-drop", "ALL", *_view(walls)]
    for path in _KERNEL:
        argv += ["--ro-bind-try", os.devnull, path] if os.path.exists(path) else []
    if walls.network:
        for path in _RESOLVER:
            argv += ["--ro-bind-try", path, path]
    else:
        argv += ["--unshare-net"]
    for path in walls.writable:
        if not any(is_within(path, root) for root in ("/dev", "/proc", "/sys")) and path != "/":
            argv += ["--bind", path, path]
    for path in walls.read_only:
        argv += ["--ro-bind", path, path]
    for path in walls.again_writable:
        argv += ["--bind", path, path]
    for path in walls.hidden:
        argv += ["--tmpfs", path, "--remount-ro", path] if os.path.isdir(path) else ["--ro-bind", os.devnull, path]
    argv += ["--chdir", spec.cwd, "--", *spec.argv]
    env = {**spec.env, "TMPDIR": "/tmp"}
    return replace(spec, argv=tuple(argv), env=env, cwd="/", contained=True)


def _view(walls: Walls) -> list[str]:
    """What the process finds at ``/``: everything, or only what it may see; with devices and folders of its own."""
    everything = "/" in walls.writable
    argv = []
    if walls.seen is None or everything:
        argv += ["--bind" if everything else "--ro-bind", "/", "/"]
    argv += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/run"]
    argv += ["--ro-bind", "/proc/sys", "/proc/sys"]  # bubblewrap leaves it writable for root
    for path in _within(walls, "/tmp", "/run") if walls.seen is None else ():
        argv += ["--ro-bind", path, path]
    for path in walls.seen or ():
        argv += ["--symlink", os.readlink(path), path] if os.path.islink(path) else ["--ro-bind", path, path]
    return argv


def _refuses_outside(wrap: Callable[[ProcessSpec, Walls], ProcessSpec], *, hidden_inside: bool = True) -> bool:
    """Prove it: a command inside may write in its folder, and neither write beside it nor read what is hidden."""
    with tempfile.TemporaryDirectory(prefix="assent-probe-") as name:
        top = Path(os.path.realpath(name))
        inside, outside, hidden = (
            top / "inside",
            top / "outside",
            top / ("inside/hidden" if hidden_inside else "hidden"),
        )
        for folder in (inside, outside, hidden):
            folder.mkdir()
        (hidden / "file").write_text("secret")
        script = 'echo x > in.txt; echo x > "$1/out.txt"; cat "$2/file"; exit 0'
        spec = ProcessSpec(
            ("/bin/sh", "-c", script, "sh", str(outside), str(hidden)), str(inside), {"PATH": os.defpath}
        )
        try:
            wrapped = wrap(spec, Walls((str(inside),), (), (), (str(hidden),), False))
            done = subprocess.run(
                wrapped.argv, cwd=wrapped.cwd, env=dict(wrapped.env), stdin=subprocess.DEVNULL,
                capture_output=True, timeout=_PROBE_TIMEOUT_S,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            return False
        held = not (outside / "out.txt").exists() and b"secret" not in done.stdout
        return done.returncode == 0 and held and (inside / "in.txt").exists()


def _nothing() -> ConfinementReport:
    return ConfinementReport(
        "none",
        "Not confined: nothing on this computer holds commands in the allowed folders; they can do what you can.",
        (),
        ("writes outside the allowed folders", "denied paths", "the network", "services of this computer"),
    )

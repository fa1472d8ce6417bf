"""A command inside bubblewrap: namespaces of its own, with a view of the disk that is the sandbox (Linux).

Two shells stand around it, because bubblewrap leaves three things open. The outer one hands over the filter of system
calls. The inner one looks where the command really starts, since a folder can be swapped for a link on the way, limits
how many processes it can have, and sets what would act on all that stands around it (``inner_variables.py``).
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace

from desktop.domain.safety import ProcessSpec
from desktop.safety.boundary.paths import is_within
from desktop.safety.confinement.inner_variables import on_the_way, set_again
from desktop.safety.confinement.profile import PRIVATE as _APART
from desktop.safety.confinement.profile import SandboxProfile

if sys.platform != "linux":
    raise ImportError("for Linux alone")

MAX_PROCESSES = 4096
_MADE = ("/dev", "/proc", "/sys")
_RESOLVER = ("/run/systemd/resolve", "/run/NetworkManager/resolv.conf", "/run/resolvconf", "/run/connman/resolv.conf")
_KERNEL = ("/proc/sysrq-trigger", "/proc/kcore", "/proc/kmsg", "/proc/kallsyms")
_HAND_OVER = 'exec "$@" 9<"$0"'
_BEGIN = (
    '[ "$(pwd -P)" = "$0" ] || '
    '{ echo "$0 changed while the command was being started; it was not run." >&2; exit 126; }; '
    '[ "$1" = 0 ] || ulimit -u "$1" 2>/dev/null || ulimit -p "$1" 2>/dev/null; shift; '
)
_GO = 'exec "$@"'
_STAY = "exec 7>&2 2>/dev/null; ( "
_COUNT = (
    ' ) 2>&7 7>&- 8>&-; code=$?; for one in /proc/[0-9]*; do [ "$one" = /proc/1 ] || { name=; state=; '
    "while read -r key value; do case $key in Name:) name=$value ;; State:) state=$value; break ;; esac; done "
    '<"$one/status"; case $state in ""|[ZX]*) ;; *) echo "+$name" >&8 ;; esac; }; done; echo . >&8; exit $code'
)
"""The command as a child of the first process of its namespace, which nothing inside can end; when it has ended, that
says on descriptor 8 what of it still lives, and all of it ends with this."""
_SHELL = "/bin/sh"


def in_bubblewrap(
    base: tuple[str, ...],
    filter_file: str,
    spec: ProcessSpec,
    profile: SandboxProfile,
    closing: tuple[str, ...] = (),
    inherited: tuple[int, ...] = (),
    layers: tuple[str, ...] = (),
    counted: bool = False,
    apart: bool = False,
) -> ProcessSpec:
    """``base`` is bwrap with the options that work here; ``filter_file`` holds the seccomp program, "" for none;
    ``closing`` starts what follows it with some ports closed, for a process that has the network; it takes over the
    descriptors that are ``inherited``; ``layers`` is what lays copies over folders before bubblewrap looks at them.
    ``counted``: descriptor 8 hears what the command left. ``apart``: it is in a network of its own already."""
    argv = [*base, "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent"]
    bare = _bare(profile)
    argv += ["--cap-drop", "ALL", *_view(profile, bare)]
    for path in _KERNEL:
        argv += ["--ro-bind-try", os.devnull, path] if os.path.exists(path) else []
    if profile.network:
        for path in _RESOLVER:
            argv += ["--ro-bind-try", path, path]
    elif not apart:
        argv += ["--unshare-net"]
    argv += ["--as-pid-1"] if counted else []
    argv += _layers(profile)
    for path in bare:
        argv += ["--remount-ro", path]
    if profile.seen is not None and "/" not in profile.allowed:
        argv += ["--remount-ro", "/"]
    argv += ["--seccomp", "9"] if filter_file else []
    if profile.network:
        argv = [*closing, *argv]
    argv = [*layers, *argv]
    # The filter is opened first: Landlock, which closes ports, and a namespace of users, in which copies are laid, keep
    # those inside from looking into our process.
    if filter_file:
        argv = [_SHELL, "-c", _HAND_OVER, filter_file, *argv]
    limit = str(MAX_PROCESSES if _counts_apart() else 0)
    begin = f"{set_again(spec.env)}{_GO}"
    begin = f"{_BEGIN}{_STAY}{begin}{_COUNT}" if counted else f"{_BEGIN}{begin}"
    argv += ["--chdir", spec.cwd, "--", _SHELL, "-c", begin, spec.cwd, limit, *spec.argv]
    env = {**on_the_way(spec.env), "TMPDIR": _temporary(profile)}
    return replace(
        spec,
        argv=tuple(argv),
        env=env,
        cwd="/",
        contained=True,
        fleeting=_APART,
        inherited=inherited if profile.network else (),
    )


def _temporary(profile: SandboxProfile) -> str:
    """A folder of the process's own. Where the real /tmp is an allowed folder that it only reads, it is another."""
    return "/dev/shm" if _APART[0] in profile.readable else _APART[0]


def _bare(profile: SandboxProfile) -> tuple[str, ...]:
    """Folders of /tmp and /run that the process finds only because something that it may reach lies in them. They hold
    nothing else, and what it wrote there would be gone with it while it was told of success: so they are read-only."""
    reached = (
        *profile.allowed,
        *profile.again_writable,
        *profile.of_program(*_APART),
        *profile.opened,
        *(profile.seen or ()),
    )
    found = set()
    for path in reached:
        place = next((place for place in _APART if path != place and is_within(path, place)), None)
        if place is not None:
            first = os.path.relpath(path, place).split(os.sep)[0]
            found.add(os.path.join(place, first))
    return tuple(sorted(path for path in found if not any(is_within(path, other) for other in reached)))


def _counts_apart() -> bool:
    """Whether the kernel (5.14 and later) counts the processes of a namespace apart from the person's others."""
    numbers = [int(part) for part in os.uname().release.split("-")[0].split(".")[:2] if part.isdigit()]
    return tuple(numbers) >= (5, 14)


def _view(profile: SandboxProfile, bare: tuple[str, ...]) -> list[str]:
    """What the process finds at ``/``: everything, or only what it may see; with devices and folders of its own."""
    argv = []
    if profile.seen is None or "/" in profile.allowed:
        argv += ["--bind" if "/" in profile.writable else "--ro-bind", "/", "/"]
    argv += ["--dev", "/dev", "--proc", "/proc"]
    for path in (*_APART, *bare):
        argv += ["--tmpfs", path]
    argv += ["--ro-bind", "/proc/sys", "/proc/sys"]  # bubblewrap leaves it writable for root
    seen = profile.seen
    if seen is not None and "/" in profile.allowed:  # the rest is there already
        seen = tuple(path for path in seen if any(is_within(path, place) for place in _APART))
    for path in profile.of_program(*_APART) if seen is None else seen:
        argv += ["--symlink", os.readlink(path), path] if os.path.islink(path) else ["--ro-bind", path, path]
    return argv


def _layers(profile: SandboxProfile) -> list[str]:
    """What is laid over the view, each thing over what it takes precedence of."""
    argv = []
    for path in profile.allowed:
        if not any(is_within(path, root) for root in _MADE) and path != "/":
            argv += ["--bind" if path in profile.writable else "--ro-bind", path, path]
    closed = (*profile.read_only, *profile.sealed, *profile.hidden)
    argv += _pins(profile.writable, closed)
    for path in profile.read_only:
        argv += ["--ro-bind", path, path]
    for path in profile.again_writable:
        argv += ["--bind", path, path]
    argv += _pins(profile.again_writable, closed)
    for path in profile.sealed:
        argv += ["--ro-bind", path, path]
    return argv + _hidden(profile)


def _hidden(profile: SandboxProfile) -> list[str]:
    """Empty folders over what is hidden, and what is opened in them; they are closed last."""
    argv, empty = [], []
    for path in profile.laid_over:
        if path in profile.opened:
            argv += ["--ro-bind", path, path]
        elif os.path.isdir(path):
            argv += ["--tmpfs", path]
            empty.append(path)
        else:
            argv += ["--ro-bind", os.devnull, path]
    return argv + [word for path in empty for word in ("--remount-ro", path)]


def _pins(roots: tuple[str, ...], closed: tuple[str, ...]) -> list[str]:
    """The folders between a writable one and what is closed in it, laid over themselves: where something is mounted
    cannot be renamed, or else the next command would find what is closed under a name that no list knows."""
    found = set()
    for root in roots:
        for path in closed:
            above = os.path.dirname(path)
            while above != root and is_within(above, root):
                found.add(above)
                above = os.path.dirname(above)
    found = {
        path for path in found if not any(is_within(path, place) for place in (*_APART, *_MADE)) or "/" not in roots
    }
    return [word for path in sorted(found, key=len) for word in ("--bind-try", path, path)]

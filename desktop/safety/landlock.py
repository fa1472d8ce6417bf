"""A command under Landlock and a filter of system calls (Linux), started by launcher.py.

Landlock can only allow. What is hidden is therefore left out of what is allowed: a folder on the way to a hidden path
is replaced by what it holds at this moment.
"""

from __future__ import annotations

import ctypes
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import replace

from desktop.domain.safety import ProcessSpec
from desktop.safety import syscall_filter
from desktop.safety.launcher import landlock_abi
from desktop.safety.paths import Identity, existing_identities, identity_of, is_within
from desktop.safety.walls import Walls

MIN_ABI = 3
"""Before (Linux 6.2) files could be cut to nothing by whoever may read them."""
PORTS_ABI = 4
SIGNALS_ABI = 6
_SCREENS = (6000, 6063)
"""Where screens listen (X11 by TCP: ``ssh -X``, VcXsrv, Xming): whoever types into windows could allow anything."""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
_MAX_SIBLINGS = 2000


def usable_abi(libc: ctypes.CDLL) -> int:
    """The kernel's Landlock version where it is enough, else 0."""
    abi = landlock_abi(libc)
    return abi if abi >= MIN_ABI else 0


def in_landlock(launcher: tuple[str, ...], private: str, spec: ProcessSpec, walls: Walls) -> ProcessSpec:
    """``private`` is a folder of the commands' own, for TMPDIR."""
    shut = (*walls.hidden, *walls.sealed)
    apart = os.path.realpath(tempfile.gettempdir())
    write = [path for root in walls.writable for path in readable(root, (*shut, *walls.read_only))]
    write += [path for root in walls.again_writable for path in readable(root, shut)]
    write = [*_apart_from(write, shut), private, *_DEVICES]
    roots = ("/",) if walls.seen is None else (*walls.seen, *walls.allowed)
    read = [path for root in roots for path in readable(root, (*walls.hidden, apart, "/dev"))]
    read += [path for root in walls.of_program(apart) for path in readable(root, walls.hidden)]
    also = (*walls.readable, *walls.read_only, *walls.sealed)
    read += [path for root in also for path in readable(root, walls.hidden)]
    opened = [path for root in walls.opened for path in readable(root, _inside(root, walls.still_hidden))]
    read = [*_apart_from(read, walls.hidden), *_apart_from(opened, walls.still_hidden)]
    read, write = list(dict.fromkeys(read)), list(dict.fromkeys(write))
    held = syscall_filter.in_landlock(walls.network, frozen=walls.seen is not None)
    code = syscall_filter.program(os.uname().machine, held).hex()
    ports = closed_ports(os.environ) if walls.network else "all"
    numbers = (ports, str(len(read)), str(len(write)))
    argv = (*launcher, "landlock", spec.cwd, code, *numbers, *read, *write, *spec.argv)
    return replace(spec, argv=argv, env={**spec.env, "TMPDIR": private}, contained=True)


def _inside(root: str, found: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(path for path in found if path != root and is_within(path, root))


def closed_ports(environment: Mapping[str, str]) -> str:
    """The TCP ports that no confined process connects to, as launcher.py takes them: those of screens, and that of the
    person's own if it has another number."""
    first, last = _SCREENS
    own = re.fullmatch(r".*:([0-9]{1,5})(\.[0-9]+)?", environment.get("DISPLAY", ""))
    port = first + int(own[1]) if own else first
    return f"{first}-{last}" + (f",{port}-{port}" if last < port < 1 << 16 else "")


def _apart_from(paths: list[str], hidden: tuple[str, ...]) -> list[str]:
    """Without the folders that lie above something hidden under another name: a rule holds for a folder whatever it is
    called, so one that is mounted inside itself would open all that is mounted there."""
    above = {identity for path in hidden for identity in existing_identities(path)}
    return [path for path in paths if _identity(path) not in above]


def _identity(path: str) -> Identity | None:
    try:
        return identity_of(os.lstat(path))
    except OSError:
        return None


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

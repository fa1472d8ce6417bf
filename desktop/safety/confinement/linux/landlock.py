"""A command under Landlock and a filter of system calls (Linux), started by launcher.py.

Landlock can only allow. What is hidden is therefore left out of what is allowed: a folder on the way to a hidden path
is replaced by what it holds at this moment.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from desktop.domain.safety import ProcessSpec
from desktop.safety.boundary.paths import Identity, existing_identities, identity_of, is_within
from desktop.safety.confinement.inner_variables import on_the_way
from desktop.safety.confinement.linux import syscall_filter
from desktop.safety.confinement.linux.launcher import landlock_abi, ports_ruleset
from desktop.safety.confinement.profile import SandboxProfile

if sys.platform != "linux":
    raise ImportError("for Linux alone")

MIN_ABI = 3
"""Before (Linux 6.2) files could be cut to nothing by whoever may read them."""
_SCREENS = (6000, 6063)
"""Where screens listen (X11 by TCP: ``ssh -X``, VcXsrv, Xming): whoever types into windows could allow anything."""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
_MAX_SIBLINGS = 2000
_FIRST_DESCRIPTOR = 100


def usable_abi(libc: ctypes.CDLL) -> int:
    """The kernel's Landlock version where it is enough, else 0."""
    abi = landlock_abi(libc)
    return abi if abi >= MIN_ABI else 0


def in_landlock(launcher: tuple[str, ...], private: str, spec: ProcessSpec, profile: SandboxProfile) -> ProcessSpec:
    """``private`` is a folder of the commands' own, for TMPDIR."""
    shut = (*profile.hidden, *profile.sealed)
    apart = os.path.realpath(tempfile.gettempdir())
    write = [path for root in profile.writable for path in readable(root, (*shut, *profile.read_only))]
    write += [path for root in profile.again_writable for path in readable(root, shut)]
    write = [*_apart_from(write, shut), private, *_DEVICES]
    roots = ("/",) if profile.seen is None else (*profile.seen, *profile.allowed)
    read = [path for root in roots for path in readable(root, (*profile.hidden, apart, "/dev"))]
    read += [path for root in profile.of_program(apart) for path in readable(root, profile.hidden)]
    also = (*profile.readable, *profile.read_only, *profile.sealed)
    read += [path for root in also for path in readable(root, profile.hidden)]
    opened = [path for root in profile.opened for path in readable(root, _inside(root, profile.still_hidden))]
    read = [*_apart_from(read, profile.hidden), *_apart_from(opened, profile.still_hidden)]
    read, write = list(dict.fromkeys(read)), list(dict.fromkeys(write))
    held = syscall_filter.in_landlock(profile.network, frozen=profile.seen is not None)
    code = syscall_filter.program(os.uname().machine, held).hex()
    ports, inherited = ports_shared(closed_ports(os.environ)) if profile.network else ("all", ())
    numbers = (ports, str(len(read)), str(len(write)))
    argv = (*launcher, "landlock", spec.cwd, code, *numbers, *read, *write, *spec.argv)
    env = {**on_the_way(spec.env), "TMPDIR": private}
    return replace(spec, argv=argv, env=env, contained=True, inherited=inherited)


def _inside(root: str, found: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(path for path in found if path != root and is_within(path, root))


def closed_ports(environment: Mapping[str, str]) -> str:
    """The TCP ports that no confined process connects to, as launcher.py takes them: those of screens, and that of the
    person's own if it has another number."""
    first, last = _SCREENS
    own = re.fullmatch(r".*:([0-9]{1,5})(\.[0-9]+)?", environment.get("DISPLAY", ""))
    port = first + int(own[1]) if own else first
    return f"{first}-{last}" + (f",{port}-{port}" if last < port < 1 << 16 else "")


def ports_shared(closed: str) -> tuple[str, tuple[int, ...]]:
    """The closed ports as launcher.py takes them, and the descriptors that it is started with: what opens all others
    is made once for this process, since that takes 65,000 system calls. Without it launcher.py makes its own."""
    ruleset = _ports_ruleset(closed)
    return (f"{closed}@{ruleset}", (ruleset,)) if ruleset >= 0 else (closed, ())


@cache
def _ports_ruleset(closed: str) -> int:
    """-1 where the kernel cannot. Its number is one that no shell takes for a file of its own."""
    try:
        made = ports_ruleset(ctypes.CDLL(None, use_errno=True), closed)
    except OSError:
        return -1
    try:
        return int(fcntl.fcntl(made, fcntl.F_DUPFD_CLOEXEC, _FIRST_DESCRIPTOR))
    except OSError:
        return -1
    finally:
        os.close(made)


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

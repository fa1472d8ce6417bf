"""A tiny parent for one command: nothing that the command starts outlives it. Runs as ``python -I -S launcher.py``.

Standalone: standard library only, none of our modules. It makes itself the reaper of orphans (Linux), restricts the
command with Landlock and seccomp where asked, starts it, and when it ends, ends whatever is left, also what called
``setsid`` or forked twice. ``argv[1]`` is JSON:
``{"restrict": {"read": [...], "write": [...], "network": bool, "frozen": bool} | null}``; ``frozen``: modes, owners,
times and attributes of files cannot be changed.
Exit codes: the command's own, 128 + signal, 126 when the restrictions could not be put in place, 127 when not found.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import signal
import stat
import struct
import sys
import time

PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 22, 24, 36, 38
LAST_CAPABILITY = 63
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
GRACE_S = 0.5
# Landlock's rights, by bit: execute 0, write 1, read 2, list 3, remove and make 4..12, refer 13, truncate 14, ioctl 15.
READ_RIGHTS = 1 << 0 | 1 << 2 | 1 << 3
FILE_RIGHTS = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
DEVICE_RIGHTS = 1 << 6 | 1 << 11  # making devices: never given
RIGHTS_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
ARCHITECTURES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}  # AUDIT_ARCH, number of socket()
IO_URING_SETUP = 425
# chmod, chown, utime, setxattr, removexattr and their kin, by path: Landlock does not hold them back anywhere
FREEZING = {
    "x86_64": (90, 92, 94, 132, 188, 189, 197, 198, 235, 260, 261, 268, 280, 452, 463, 466),
    "aarch64": (5, 6, 14, 15, 53, 54, 88, 452, 463, 466),
}


class Ruleset(ctypes.Structure):
    """struct landlock_ruleset_attr"""

    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class PathBeneath(ctypes.Structure):
    """struct landlock_path_beneath_attr"""

    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("access", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def checked(libc: ctypes.CDLL, number: int, *arguments: object) -> int:
    """A system call that raises OSError."""
    result: int = libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def prctl(libc: ctypes.CDLL, option: int, first: int, second: object = 0) -> None:
    """prctl that raises OSError."""
    if libc.prctl(option, ctypes.c_ulong(first), second, 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def drop_capabilities(libc: ctypes.CDLL) -> None:
    """Root without root's rights: after the next exec none is left. For everybody else there is nothing to drop."""
    if os.geteuid() == 0:
        for number in range(LAST_CAPABILITY + 1):
            libc.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(number), 0, 0, 0)  # EINVAL beyond the kernel's last one


def landlock_abi(libc: ctypes.CDLL) -> int:
    """The kernel's Landlock version, 0 when there is none."""
    version: int = libc.syscall(ctypes.c_long(LANDLOCK_CREATE), None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    return max(0, version)


def landlock(libc: ctypes.CDLL, read: list[str], write: list[str], network: bool) -> None:
    """From here on this process and its children reach only these paths. Raises OSError."""
    abi = landlock_abi(libc)
    if abi < 1:
        raise OSError("this kernel has no Landlock")
    handled = RIGHTS_BY_ABI.get(abi, (1 << 16) - 1)
    tcp = 3 if abi >= 4 and not network else 0
    attributes = Ruleset(handled, tcp, 3 if abi >= 6 else 0)
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    ruleset = checked(libc, LANDLOCK_CREATE, ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0))
    for paths, rights in ((read, READ_RIGHTS), (write, handled & ~DEVICE_RIGHTS)):
        for path in paths:
            _allow(libc, ruleset, path, rights & handled)
    checked(libc, LANDLOCK_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return  # gone meanwhile: nothing to allow
    mode = os.fstat(parent).st_mode
    if stat.S_ISLNK(mode):
        os.close(parent)
        return  # a link needs no right of its own
    access = PathBeneath(rights if stat.S_ISDIR(mode) else rights & FILE_RIGHTS, parent)
    checked(libc, LANDLOCK_ADD, ctypes.c_int(ruleset), ctypes.c_int(1), ctypes.byref(access), ctypes.c_uint32(0))
    os.close(parent)


def seccomp(libc: ctypes.CDLL, network: bool, frozen: bool) -> None:
    """No new sockets: none at all without the network, else none to services of this computer (the keyring, an agent,
    docker); ``frozen``: no other modes, owners or times. Landlock cannot hold those. Raises OSError."""
    machine = platform.machine()
    if machine not in ARCHITECTURES:
        raise OSError(f"no filter is written for {machine}")
    arch, socket = ARCHITECTURES[machine]
    deny, allow = 0x00050000 | 1, 0x7FFF0000  # ERRNO EPERM, ALLOW
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    program = [
        (load, 0, 0, 4), (equal, 1, 0, arch), (give, 0, 0, deny),
        (load, 0, 0, 0), (at_least, 0, 1, 0x40000000), (give, 0, 0, deny),
    ]  # fmt: skip
    for number in (IO_URING_SETUP, *(FREEZING[machine] if frozen else ())):
        program += [(equal, 0, 1, number), (give, 0, 0, deny)]
    program += [(equal, 1, 0, socket), (give, 0, 0, allow)]
    if network:
        program += [(load, 0, 0, 16), (equal, 0, 1, 1), (give, 0, 0, deny), (give, 0, 0, allow)]  # AF_UNIX
    else:
        program += [(give, 0, 0, deny)]
    code = b"".join(struct.pack("HBBI", *step) for step in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    filters = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(program), ctypes.addressof(buffer)), 16)
    prctl(libc, PR_SET_SECCOMP, 2, ctypes.c_void_p(ctypes.addressof(filters)))


def descendants(root: int) -> list[int]:
    """All processes below ``root``, by /proc; parents before children."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            parent = parent_of(int(name))
            if parent is not None:
                children.setdefault(parent, []).append(int(name))
    found: list[int] = []
    waiting = [root]
    while waiting:
        for child in children.get(waiting.pop(), []):
            found.append(child)
            waiting.append(child)
    return found


def parent_of(process: int) -> int | None:
    """The parent of a process, None when it is gone or a zombie."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            state, parent = file.read().rpartition(b")")[2].split()[:2]
    except (OSError, ValueError):
        return None
    return None if state in (b"Z", b"X") else int(parent)


def end_all(root: int) -> None:
    """TERM to everything below ``root``, half a second, then KILL until nothing is left."""
    if not os.path.isdir("/proc/self"):
        return
    first = True
    deadline = time.monotonic() + GRACE_S
    while left := descendants(root):
        if first or time.monotonic() > deadline:
            for process in left:
                try:
                    os.kill(process, signal.SIGTERM if first else signal.SIGKILL)
                except ProcessLookupError:
                    pass
            first = False
        reap()
        time.sleep(0.005)


def reap() -> None:
    """Collect what has ended, without waiting."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def start(argv: list[str], restrict: dict[str, object] | None, libc: ctypes.CDLL | None) -> None:
    """In the forked child: restrict, then become the command."""
    try:
        if restrict is not None and libc is not None:
            drop_capabilities(libc)
            prctl(libc, PR_SET_NO_NEW_PRIVS, 1)
            network = bool(restrict["network"])
            landlock(libc, list(restrict["read"]), list(restrict["write"]), network)  # type: ignore[call-overload]
            seccomp(libc, network, bool(restrict.get("frozen")))
    except OSError as error:
        os.write(2, f"the command could not be confined: {error}\n".encode())
        os._exit(126)
    os.write(2, f"{argv[0]}: {os.strerror(become(argv))}\n".encode())
    os._exit(127)


def become(argv: list[str]) -> int:
    """Run a program in this one's place, looked for on PATH. Returns only the reason why it cannot. ``os.execvp`` would
    import a module first, and here none may be within reach any more."""
    name, found = argv[0], errno.ENOENT
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    for place in [name] if "/" in name else [os.path.join(folder, name) for folder in folders]:
        try:
            os.execv(place, argv)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                found = error.errno or errno.EACCES
    return found


def orphaned(*_: object) -> None:
    """The app has died: so does everything it started."""
    end_all(os.getpid())
    os._exit(1)


def main() -> int:
    """Start the command, wait for it, leave nothing behind."""
    config = json.loads(sys.argv[1])
    libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
    if libc is not None:
        prctl(libc, PR_SET_CHILD_SUBREAPER, 1)
        prctl(libc, PR_SET_PDEATHSIG, signal.SIGUSR1)
        signal.signal(signal.SIGUSR1, orphaned)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGUSR1, signal.SIG_DFL)
        start(sys.argv[2:], config["restrict"], libc)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the runner decides; the command hears these itself
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == child:
            break
    end_all(os.getpid())
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())

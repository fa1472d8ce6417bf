"""A tiny parent for one command: nothing that the command starts outlives it. Runs as ``python -I -S launcher.py``.

Standalone: standard library only, none of our modules, and of that library only what starts fast. It makes itself the
reaper of orphans (Linux), restricts the command with Landlock and a filter of system calls where asked, starts it, and
when it ends, ends whatever is left, also what called ``setsid`` or forked twice. It is two processes, so that killing
one of them ends the command and lets nothing go. Arguments:

``plain FOLDER COMMAND...`` or ``landlock FOLDER FILTER PORTS READ WRITE PATHS... COMMAND...``, where FOLDER is where
it has to find itself (it is started there by path, and a folder can be swapped for a link), FILTER the seccomp program
in hexadecimal, PORTS the closed TCP ports (``all`` or ``6000-6063,7000-7000``, with ``@7`` where descriptor 7 is a
ruleset that opens all others, made once for many commands), and READ and WRITE count the PATHS that
follow. ``ports PORTS COMMAND...`` only closes these and becomes the command.

Exit codes: the command's own, 128 + signal, 126 when the restrictions could not be put in place, 127 when not found.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # the module signal makes enums of it, which takes longer
import ctypes
import errno
import os
import select
import stat
import struct
import sys
import time

if sys.platform != "linux":
    raise ImportError("for Linux alone")

PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 22, 24, 36, 38
LAST_CAPABILITY = 63
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
GRACE_S = 0.5
HASTE_S = 0.1
GIVEN_UP_S = 4.0  # less than who ends this program waits for it (process.py)
LONGEST_S = 30.0
MANY = 50
AT_ONCE = 50
NAMED = 5
MOST_TOLD = 1000
ENDED = (b"Z", b"X")
INSIDE = "ASSENT_INSIDE_"
# Landlock's rights, by bit: execute 0, write 1, read 2, list 3, remove and make 4..12, refer 13, truncate 14, ioctl 15.
READ_RIGHTS = 1 << 0 | 1 << 2 | 1 << 3
FILE_RIGHTS = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
DEVICE_RIGHTS = 1 << 6 | 1 << 11  # making devices: never given
BIND_TCP, CONNECT_TCP, PORT_RULE, PORTS = 1, 2, 2, 1 << 16
RIGHTS_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}


class Ruleset(ctypes.Structure):
    """The kernel's ``struct landlock_ruleset_attr``."""

    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class PathBeneath(ctypes.Structure):
    """The kernel's ``struct landlock_path_beneath_attr``."""

    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("access", ctypes.c_uint64), ("parent", ctypes.c_int32)]


class Port(ctypes.Structure):
    """The kernel's ``struct landlock_net_port_attr``."""

    _fields_ = [("access", ctypes.c_uint64), ("port", ctypes.c_uint64)]


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


def landlock(libc: ctypes.CDLL, read: list[str], write: list[str], closed: str = "all") -> None:
    """From here on this process and its children reach only these paths, and no closed port. Raises OSError."""
    abi = landlock_abi(libc)
    if abi < 1:
        raise OSError("this kernel has no Landlock")
    handled = RIGHTS_BY_ABI.get(abi, (1 << 16) - 1)
    closed, _, shared = closed.partition("@")
    held = bool(shared) and _restrict_as(libc, int(shared))
    tcp = 0 if abi < 4 or held else BIND_TCP | CONNECT_TCP if closed == "all" else CONNECT_TCP
    ruleset = _ruleset(libc, abi, handled, tcp)
    for paths, rights in ((read, READ_RIGHTS), (write, handled & ~DEVICE_RIGHTS)):
        for path in paths:
            _allow(libc, ruleset, path, rights & handled)
    if tcp:
        _open_ports(libc, ruleset, closed)
    checked(libc, LANDLOCK_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    os.close(ruleset)


def close_ports(libc: ctypes.CDLL, closed: str) -> None:
    """From here on this process and its children connect to no closed port; nothing else is held. Raises OSError."""
    prctl(libc, PR_SET_NO_NEW_PRIVS, 1)
    closed, _, shared = closed.partition("@")
    if shared and _restrict_as(libc, int(shared)):
        return
    ruleset = ports_ruleset(libc, closed)
    checked(libc, LANDLOCK_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    os.close(ruleset)


def ports_ruleset(libc: ctypes.CDLL, closed: str) -> int:
    """The descriptor of what opens all TCP ports but these, and holds nothing else. Whoever has it can open more, so
    that no command is started with it. Raises OSError."""
    ruleset = _ruleset(libc, landlock_abi(libc), 0, CONNECT_TCP)
    _open_ports(libc, ruleset, closed)
    return ruleset


def _restrict_as(libc: ctypes.CDLL, ruleset: int) -> bool:
    """Hold this process to a ruleset that was made before, and close it. False where it did not come along: who starts
    this program may be another process than the one that wrote its arguments."""
    held: bool = libc.syscall(ctypes.c_long(LANDLOCK_RESTRICT), ctypes.c_int(ruleset), ctypes.c_uint32(0)) == 0
    try:
        os.close(ruleset)
    except OSError:
        return held
    return held


def _ruleset(libc: ctypes.CDLL, abi: int, files: int, tcp: int) -> int:
    """What is held, with nothing allowed yet. Unix sockets and signals to others are held with the files."""
    attributes = Ruleset(files, tcp, 3 if abi >= 6 and files else 0)
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    return checked(libc, LANDLOCK_CREATE, ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0))


def _open_ports(libc: ctypes.CDLL, ruleset: int, closed: str) -> None:
    """All TCP ports but these: Landlock can only allow, and one port at a time (some 65,000 calls, 0.2 s)."""
    if closed == "all":
        return
    spans = [part.split("-") for part in closed.split(",")]
    shut = {port for first, last in spans for port in range(int(first), int(last) + 1)}
    rule = Port(CONNECT_TCP, 0)
    bound = ctypes.byref(rule)
    checked(libc, LANDLOCK_ADD, ctypes.c_int(ruleset), ctypes.c_int(PORT_RULE), bound, ctypes.c_uint32(0))
    add = libc.syscall
    for port in range(1, PORTS):
        if port not in shut:
            rule.port = port
            if add(LANDLOCK_ADD, ruleset, PORT_RULE, bound, 0) < 0:
                raise OSError(ctypes.get_errno(), "a port could not be allowed")


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


def seccomp(libc: ctypes.CDLL, code: bytes) -> None:
    """From here on only the system calls that the program lets through. Raises OSError."""
    buffer = ctypes.create_string_buffer(code, len(code))
    filters = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(buffer)), 16)
    prctl(libc, PR_SET_SECCOMP, 2, ctypes.c_void_p(ctypes.addressof(filters)))


def descendants(root: int) -> list[int]:
    """All living processes below ``root``, by /proc; parents before children. What has ended and was not collected is
    left out, and is still the parent of its children."""
    children: dict[int, list[int]] = {}
    ended: set[int] = set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            parent, lives = parent_of(int(name))
            children.setdefault(parent, []).append(int(name))
            if not lives:
                ended.add(int(name))
    found: list[int] = []
    waiting = [root]
    while waiting:
        for child in children.get(waiting.pop(), []):
            found.append(child)
            waiting.append(child)
    return [process for process in found if process not in ended]


def parent_of(process: int) -> tuple[int, bool]:
    """The parent of a process, 0 when it is gone, and whether it lives: a zombie whose other threads go on does."""
    state, parent = _state(f"/proc/{process}/stat")
    return parent, state not in ENDED or living_thread(process) is not None


def living_thread(process: int) -> int | None:
    """One thread of a process that has not ended, its first where that lives. None when all have."""
    try:
        threads = sorted(map(int, os.listdir(f"/proc/{process}/task")))
    except OSError:
        return None
    return next((thread for thread in threads if _state(f"/proc/{process}/task/{thread}/stat")[0] not in ENDED), None)


def _state(place: str) -> tuple[bytes, int]:
    """The state of a process or thread, and its parent."""
    try:
        with open(place, "rb") as file:
            state, parent = file.read().rpartition(b")")[2].split()[:2]
    except (OSError, ValueError):
        return b"X", 0
    return state, int(parent)


def own_children() -> list[int]:
    """The processes right below this one, in one look. Empty where the kernel does not tell."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:
            return [int(child) for child in file.read().split()]
    except OSError:
        return []


def end_own_children() -> None:
    """KILL to whatever comes to be right below this one, as often as there is more. What forks and ends to get away
    comes here each time, and is gone again before all of /proc is read."""
    for _ in range(AT_ONCE):
        children = own_children()
        tell(children, signal.SIGKILL)
        if not children or not reap():
            return


def end_all(grace_s: float = GRACE_S, given_up_s: float = GIVEN_UP_S) -> list[int]:
    """TERM to everything below this process, half a second, then KILL until nothing is left: the reaper of orphans has
    children as long as there are descendants. What forks faster than it can be killed is stopped first: what is stopped
    does not fork. What was killed and is still there ``given_up_s`` later cannot be ended (a program of another user,
    one that waits for a broken disk): that is returned."""
    if not reap() or not os.path.isdir("/proc/self"):
        return []
    tell(descendants(os.getpid()), signal.SIGTERM)
    now = time.monotonic()
    kill_at, given_up_at, last = now + grace_s, now + grace_s + given_up_s, now + grace_s + LONGEST_S
    killed: set[int] = set()
    while reap():
        now = time.monotonic()
        if now > kill_at:
            end_own_children()
            left = descendants(os.getpid())
            if not killed.issuperset(left):
                killed.update(left)
                given_up_at = now + given_up_s
            if len(left) > MANY:
                tell(left, signal.SIGSTOP)
            tell(left, signal.SIGKILL)
            if now > min(given_up_at, last):
                return left
        time.sleep(0.005)
    return []


def warn_of_survivors(processes: list[int]) -> None:
    """Tell who reads the output that something of the command goes on."""
    if processes:
        which = ", ".join(map(str, processes[:NAMED])) + (", ..." if len(processes) > NAMED else "")
        os.write(2, f"Some of what the command started could not be ended and still runs: process {which}.\n".encode())


def tell(processes: list[int], number: int) -> None:
    """Signal what is still there and may be signalled."""
    for process in processes:
        try:
            os.kill(process, number)
        except OSError:
            pass  # gone, or another user's


def reap() -> bool:
    """Collect what has ended, without waiting; False when no child is left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


class Restrictions:
    """What ``landlock`` asks for, read from the arguments that follow it."""

    def __init__(self, given: list[str]) -> None:
        self.filter = bytes.fromhex(given[0])
        self.closed = given[1]
        reads, writes = int(given[2]), int(given[3])
        paths, self.command = given[4 : 4 + reads + writes], given[4 + reads + writes :]
        self.read, self.write = paths[:reads], paths[reads:]


def tell_left(report: int) -> None:
    """Say on a socket what of the command still lives, a line each, and then that this is all."""
    lines = ["+" + name_of(process).replace("\n", " ") + "\n" for process in descendants(os.getpid())]
    try:
        os.write(report, "".join([*lines[:MOST_TOLD], ".\n"]).encode("utf-8", "replace"))
    except OSError:
        pass  # who wanted to know has gone


def name_of(process: int) -> str:
    """What a process is called; it may call itself anything."""
    try:
        with open(f"/proc/{process}/comm", "rb") as file:
            return file.read(100).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def start(argv: list[str], restrictions: Restrictions | None, libc: ctypes.CDLL | None) -> None:
    """In the forked child: restrict, then become the command."""
    try:
        if libc is not None:
            prctl(libc, PR_SET_PDEATHSIG, signal.SIGKILL)
        if restrictions is not None and libc is not None:
            drop_capabilities(libc)
            prctl(libc, PR_SET_NO_NEW_PRIVS, 1)
            landlock(libc, restrictions.read, restrictions.write, restrictions.closed)
            seccomp(libc, restrictions.filter)
            set_inside()
    except OSError as error:
        os.write(2, f"the command could not be confined: {error}\n".encode())
        os._exit(126)
    os.write(2, f"{argv[0]}: {os.strerror(become(argv))}\n".encode())
    os._exit(127)


def set_inside() -> None:
    """Give variables that would have acted on this program, unconfined, their own names back."""
    for name in [name for name in os.environ if name.startswith(INSIDE)]:
        os.environ[name.removeprefix(INSIDE)] = os.environ.pop(name)


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
    """Signal handler: the process above has died or wants this ended, so end everything below."""
    warn_of_survivors(end_all(HASTE_S))
    os._exit(1)


def guard(
    above: int, libc: ctypes.CDLL | None, command: list[str], restrictions: Restrictions | None, report: int
) -> int:
    """In the second of two: start the command, wait for it, leave nothing behind. A session of its own, so that what
    kills the first with its whole group does not meet this one, which then ends everything."""
    if libc is not None:
        prctl(libc, PR_SET_PDEATHSIG, signal.SIGUSR1)
        prctl(libc, PR_SET_CHILD_SUBREAPER, 1)
    if os.getppid() != above:
        return 1
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the first decides; the command hears these itself
    child = os.fork()
    if child == 0:
        for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        if report >= 0:
            os.close(report)
        start(command, restrictions, libc)
    code = awaited(child)
    if report >= 0:
        tell_left(report)
    end_all()
    return code


def nobody_reads() -> bool:
    """Whether who wanted the output has died: before the kernel was asked to tell of it, so that it never will."""
    looking = select.poll()
    looking.register(1, 0)
    return any(event & select.POLLERR for _, event in looking.poll(0))


def awaited(child: int) -> int:
    """The exit code of one child as a shell says it; others that end meanwhile are collected."""
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def with_closed_ports(closed: str, command: list[str]) -> int:
    """Become the command, which cannot connect to these ports."""
    try:
        close_ports(ctypes.CDLL(None, use_errno=True), closed)
    except OSError as error:
        os.write(2, f"the command could not be confined: {error}\n".encode())
        return 126
    os.write(2, f"{command[0]}: {os.strerror(become(command))}\n".encode())
    return 127


def main(report: int = -1) -> int:
    """The first of two, each of which ends everything if the other dies: see that it is in the right place, start the
    second, pass on how it ended. ``report``: the socket on which the second says what the command left."""
    mode, folder, *given = sys.argv[1:]
    if mode == "ports":
        return with_closed_ports(folder, given)
    if os.getcwd() != folder:
        os.write(2, f"{folder} changed while the command was being started; it was not run.\n".encode())
        return 126
    restrictions = Restrictions(given) if mode == "landlock" else None
    command = given if restrictions is None else restrictions.command
    libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
    if libc is not None:
        prctl(libc, PR_SET_CHILD_SUBREAPER, 1)
        prctl(libc, PR_SET_PDEATHSIG, signal.SIGUSR1)
        if nobody_reads():
            return 1
    for number in (signal.SIGUSR1, signal.SIGTERM):
        signal.signal(number, orphaned)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    own = os.getpid()
    second = os.fork()
    if second == 0:
        os._exit(guard(own, libc, command, restrictions, report))
    code = awaited(second)
    warn_of_survivors(end_all())
    return code


if __name__ == "__main__":
    sys.exit(main())

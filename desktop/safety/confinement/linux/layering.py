"""Lays copies over folders for one command, then becomes it (Linux). Runs as ``python -I -S layering.py``.

Standalone: standard library only, none of our modules. In a user and a mount namespace of its own it lays an overlay
over each folder, so that what the command writes there lands in another place and nothing real changes; or it lays a
copy that was made before over it. Everything is done at open folders: no path with odd characters can be misread as an
option of the mount, and none can be swapped for a link on the way. Arguments:

``MARK CWD LIMIT REPORT HEARD COUNT`` and then COUNT times ``REAL MADE WORK``, then ``COMMAND...``. MARK is a file that
is made once all is in place, by which the caller knows a copy that could not be made from a command that failed. LIMIT
is how large one file may grow. MADE is what catches the writes, WORK its scratch folder, or "" where MADE is a whole
copy.

REPORT is the descriptor of a socket on which whoever ends the command says what it left; it becomes number 8. HEARD, if
not "", has the command in a network of its own, where every address is this one and nobody answers: it is the filter,
in hexadecimal, of the packets that are kept, and the socket that keeps them goes to the other end of REPORT.

Where the command is ``launcher.py`` beside this file, it goes on as that in this process: to start Python once more
takes longer than all that is done here.

Exit code 126 when the copy could not be made; else the command's own.
"""

from __future__ import annotations

import _socket  # the module socket makes enums of it, which takes longer
import ctypes
import os
import resource
import struct
import sys
from _frozen_importlib_external import SourceFileLoader  # importlib brings much that is not needed
from types import ModuleType

if sys.platform != "linux":
    raise ImportError("for Linux alone")

LAUNCHER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "launcher.py")
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 4096, 16384, 1 << 18
REPORT = 8
SO_ATTACH_FILTER, ETH_P_ALL = 26, 3
NEW_LINK, NEW_ROUTE, REQUEST, ACK, CREATE = 16, 24, 1, 4, 0x400
LOOPBACK, UP, OUTGOING_INTERFACE = 1, 1, 4
LOCAL_TABLE, STATIC, THIS_HOST, HERE = 255, 4, 254, 2
OPTIONS = "lowerdir={},upperdir={},workdir={},userxattr"


def failed(what: str) -> OSError:
    """The error of the last system call."""
    code = ctypes.get_errno()
    return OSError(code, f"{what}: {os.strerror(code)}")


def enter(libc: ctypes.CDLL, network: int) -> None:
    """A user namespace in which this user is who they were, and a mount namespace that nobody else sees; ``network``:
    and one of that kind."""
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS | network) != 0:
        raise failed("no namespace of its own")
    for name, line in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(line)
    mount(libc, "none", "/", None, MS_REC | MS_PRIVATE, None)


def mount(libc: ctypes.CDLL, source: str, place: str, kind: str | None, flags: int, options: str | None) -> None:
    """mount(2). Raises OSError."""
    given = [None if text is None else os.fsencode(text) for text in (source, place, kind, options)]
    if libc.mount(given[0], given[1], given[2], ctypes.c_ulong(flags), given[3]) != 0:
        raise failed(f"a copy of {place}" if kind else f"the place {place}")


def opened(path: str) -> int:
    """A folder, held: the very one that this path names without any link."""
    folder = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
    if os.readlink(held(folder)) != path:
        raise OSError(f"{path} changed while the command was being started")
    return folder


def held(folder: int) -> str:
    """The name of an open folder."""
    return f"/proc/self/fd/{folder}"


def lay(libc: ctypes.CDLL, layers: list[tuple[str, str, str]]) -> None:
    """Lay each over its folder, outer ones first. The folders themselves are held before any is covered."""
    real = [opened(path) for path, _, _ in layers]
    for folder, (path, made, work) in zip(real, layers, strict=True):
        place, caught = held(opened(path)), held(opened(made))
        if work:
            options = OPTIONS.format(held(folder), caught, held(opened(work)))
            mount(libc, "overlay", place, "overlay", MS_NOSUID | MS_NODEV, options)
        else:
            mount(libc, caught, place, None, MS_BIND, None)


def heard(code: bytes) -> None:
    """Have every address be this one in the network that this process is alone in, keep what goes out to any, and hand
    over the socket that keeps it. Nothing answers there, as nothing did before."""
    asked(NEW_LINK, 0, struct.pack("=BxHiII", 0, 0, LOOPBACK, UP, UP))
    for family, scope in ((_socket.AF_INET, THIS_HOST), (_socket.AF_INET6, 0)):
        anywhere = struct.pack("=8BI", family, 0, 0, 0, LOCAL_TABLE, STATIC, scope, HERE, 0)
        try:
            asked(NEW_ROUTE, CREATE, anywhere + struct.pack("=HHi", 8, OUTGOING_INTERFACE, LOOPBACK))
        except OSError:
            if family == _socket.AF_INET:
                raise  # without IPv6 there is nobody to be asked for by it
    kind = _socket.SOCK_DGRAM | _socket.SOCK_NONBLOCK | _socket.SOCK_CLOEXEC
    keeping = _socket.socket(_socket.AF_PACKET, kind, 0)
    program = ctypes.create_string_buffer(code, len(code))
    keeping.setsockopt(
        _socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(program))
    )
    keeping.bind(("lo", ETH_P_ALL))
    report = _socket.socket(fileno=REPORT)
    report.sendmsg([b"\n"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("i", keeping.fileno()))])
    report.detach()
    keeping.close()


def asked(kind: int, flags: int, body: bytes) -> None:
    """Have the kernel change something of this network. Raises OSError."""
    with_kernel = _socket.socket(_socket.AF_NETLINK, _socket.SOCK_RAW | _socket.SOCK_CLOEXEC, 0)
    with_kernel.send(struct.pack("=IHHII", 16 + len(body), kind, REQUEST | ACK | flags, 1, 0) + body)
    (code,) = struct.unpack_from("=i", with_kernel.recv(4096), 16)
    with_kernel.close()
    if code:
        raise OSError(-code, f"no network of its own: {os.strerror(-code)}")


def launched(given: list[str], report: int) -> int:
    """Be launcher.py, with its arguments. Nothing is written for it: that could land in the copy."""
    sys.dont_write_bytecode = True
    sys.argv = [LAUNCHER, *given]
    launcher = ModuleType("launcher")
    SourceFileLoader("launcher", LAUNCHER).exec_module(launcher)
    code: int = launcher.main(report)
    return code


def main() -> int:
    """Enter, lay, and become the command."""
    mark, cwd, limit, report, code, count, *given = sys.argv[1:]
    many = int(count)
    layers = [(given[at], given[at + 1], given[at + 2]) for at in range(0, 3 * many, 3)]
    command = given[3 * many :]
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if report:
            os.dup2(int(report), REPORT)
            os.close(int(report))
        enter(libc, CLONE_NEWNET if code else 0)
        if code:
            heard(bytes.fromhex(code))
        lay(libc, layers)
        os.chdir(cwd)  # the folder as it is now, with the copy over it
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        most = int(limit) if most == resource.RLIM_INFINITY else min(most, int(limit))
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        os.write(2, f"The copy could not be made: {error}\n".encode("utf-8", "replace"))
        return 126
    if command[:4] == [sys.executable, "-I", "-S", LAUNCHER]:
        return launched(command[4:], REPORT if report else -1)
    try:
        os.execv(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode("utf-8", "replace"))
    return 127


if __name__ == "__main__":
    sys.exit(main())

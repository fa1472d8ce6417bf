"""The real code worker, taken over: once it has shut itself in it does not run code but Python, and tries everything.

Started in the real one's place, with the same arguments. What it is told to run is the name of an attack; it answers
with what the attack got, or with how it was refused.
"""

import ctypes
import importlib.util
import json
import mmap
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

SCRIPT = sys.argv[1 + next(at for at, word in enumerate(sys.argv[1:]) if word.endswith("__main__.py"))]
spec = importlib.util.spec_from_file_location("js_worker", SCRIPT)
assert spec is not None
assert spec.loader is not None
worker = importlib.util.module_from_spec(spec)
spec.loader.exec_module(worker)

APP = os.getppid()
EMPTY = os.getcwd()
LIBC = ctypes.CDLL(None, use_errno=True)
KEPT = (struct.pack("<i", 0), select.poll())
DIRECTORY = os.path.dirname(SCRIPT)
LEFT_OPEN = os.open(SCRIPT, os.O_RDONLY)
"""As a library may leave a file open: newer ones of libffi keep their own, and ctypes loads it."""


def called(name: str, *args: object) -> object:
    """A function of the C library; -1 is an OSError."""
    result = getattr(LIBC, name)(*args)
    if result == -1 or (name == "system" and result != 0):  # what it could not start is an exit code
        raise OSError(ctypes.get_errno(), name)
    return result


def number(which: int, *args: object) -> object:
    result = LIBC.syscall(ctypes.c_long(which), *[ctypes.c_long(int(arg)) for arg in args])  # type: ignore[call-overload]
    if result == -1:
        raise OSError(ctypes.get_errno(), str(which))
    return result


def read(path: str) -> object:
    with open(path, "rb") as file:
        return file.read(100).decode("latin-1")


def write(path: str) -> object:
    with open(path, "w") as file:
        return file.write("x")


def joined(thread: threading.Thread) -> object:
    thread.start()
    thread.join(5)
    return "a thread"


FILES = {
    "passwd": lambda: read("/etc/passwd"),
    "environment of the process": lambda: read("/proc/self/environ"),
    "environment of the app": lambda: read(f"/proc/{APP}/environ"),
    "memory of the app": lambda: read(f"/proc/{APP}/mem"),
    "own program": lambda: read(SCRIPT),
    "null device": lambda: read("/dev/null"),
    "terminal": lambda: read("/dev/tty"),
    "pipe by proc": lambda: read("/proc/self/fd/0"),
    "list of the root": lambda: os.listdir("/"),
    "list of the own folder": lambda: os.listdir("."),
    "list of the program's folder": lambda: os.listdir(DIRECTORY),
    "look at the root": lambda: os.stat("/").st_ino,
    "look at a pipe": lambda: os.fstat(0).st_ino,
    "own folder's name": os.getcwd,
    "own program's name": lambda: os.readlink("/proc/self/exe"),
    "new file in the own folder": lambda: write("new"),
    "new file in tmp": lambda: write("/tmp/assent-taken-over"),
    "new file without a name": lambda: os.memfd_create("x"),
    "temporary file": lambda: tempfile.mkstemp(dir=EMPTY),
    "new folder": lambda: os.mkdir("folder"),
    "delete": lambda: os.unlink(SCRIPT),
    "move": lambda: os.rename(SCRIPT, "here"),
    "link": lambda: os.symlink("/etc/passwd", "link"),
    "hard link": lambda: os.link("/etc/passwd", "link"),
    "mode": lambda: os.chmod(SCRIPT, 0o777),
    "owner": lambda: os.chown(SCRIPT, 1, 1),
    "times": lambda: os.utime(SCRIPT, (1, 1)),
    "cut a file": lambda: os.truncate(SCRIPT, 0),
    "another folder": lambda: os.chdir("/"),
    "another root": lambda: os.chroot("/"),
    "a mount": lambda: called("mount", b"none", b"/tmp", b"tmpfs", 0, None),
    "an import": lambda: __import__("wsgiref.simple_server"),
    "a library": lambda: ctypes.CDLL("libBrokenLocale.so.1"),
    "a pipe": os.pipe,
    "another handle of a pipe": lambda: os.dup(0),
}
PROCESSES = {
    "fork": os.fork,
    "vfork": lambda: called("vfork"),
    "system": lambda: called("system", b"true") or "done",
    "popen": lambda: subprocess.run(["/bin/true"], check=False).returncode,
    "spawn": lambda: os.posix_spawn("/bin/true", ["true"], {}),
    "exec": lambda: os.execv("/bin/true", ["true"]),
    "thread": lambda: joined(threading.Thread(target=time.time)),
    "signal to the app": lambda: os.kill(APP, signal.SIGWINCH),
    "is the app there": lambda: os.kill(APP, 0),
    "signal to everybody": lambda: os.kill(-1, signal.SIGWINCH),
    "signal to a group": lambda: os.killpg(os.getpgid(APP), 0),
    "signal to a thread": lambda: called("tgkill", APP, APP, 0),
    "trace the app": lambda: called("ptrace", 16, APP, None, None),
    "be traced": lambda: called("ptrace", 0, 0, None, None),
    "read the app": lambda: called("process_vm_readv", APP, None, 0, None, 0, 0),
    "a handle of the app": lambda: os.pidfd_open(APP),
    "limits of the app": lambda: worker.resource.prlimit(APP, worker.resource.RLIMIT_NOFILE),
    "own limits": lambda: worker.resource.getrlimit(worker.resource.RLIMIT_NOFILE),
    "more memory": lambda: worker.resource.setrlimit(worker.resource.RLIMIT_DATA, (1 << 40, 1 << 40)),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, APP, 1),
    "processor": lambda: os.sched_setaffinity(0, {0}),
    "user": lambda: called("setuid", 1),
    "namespace": lambda: called("unshare", 0x10000000),
    "rights": lambda: called("capset", (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()),
    "no end with the parent": lambda: called("prctl", 1, 0, 0, 0, 0),
    "own name": lambda: called("prctl", 15, b"systemd", 0, 0, 0),
    "new session": os.setsid,
    "name of the computer": lambda: os.uname().nodename,
    "number of the parent": lambda: number(110),
    "keyring": lambda: number(250, 0, 0, 0, 0, 0),
}
NETWORK = {
    f"socket of family {family}": lambda family=family: socket.socket(family, socket.SOCK_STREAM)
    for family in (1, 2, 3, 4, 10, 16, 17, 31, 38, 40, 44)
} | {
    "raw socket": lambda: socket.socket(2, socket.SOCK_RAW, 1),
    "datagram": lambda: socket.socket(2, socket.SOCK_DGRAM),
    "pair of sockets": socket.socketpair,
    "the pipe as a socket": lambda: called("send", 0, b"x", 1, 0),
    "the pipe sends handles": lambda: called("sendmsg", 0, ctypes.create_string_buffer(56), 0),
    "the pipe takes handles": lambda: called("recvmsg", 0, ctypes.create_string_buffer(56), 0x40),
    "the pipe connects": lambda: called("connect", 0, b"\x01\x00/run/x\x00", 10),
    "name by the resolver": lambda: socket.getaddrinfo("localhost", 80),
    "name of the computer by the network": socket.gethostname,
}
MEMORY = {
    "three hundred megabytes": lambda: len(bytearray(300 << 20)),
    "a gigabyte": lambda: len(mmap.mmap(-1, 1 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)),
    "shared memory": lambda: len(mmap.mmap(-1, 1 << 20)),
    "executable memory": lambda: len(mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)),
    "memory made executable": lambda: called(
        "mprotect", ctypes.c_void_p(ctypes.addressof(ctypes.create_string_buffer(8192)) & ~4095), 4096, 7
    ),
    "shared memory by number": lambda: called("shmget", 0, 4096, 0o1600),
}
HANDLES = {f"handle {handle}": lambda handle=handle: os.read(handle, 0) for handle in range(3, 256)}
ATTACKS = {**FILES, **PROCESSES, **NETWORK, **MEMORY, **HANDLES}


PROBES = (335, 336)
"""uretprobe and uprobe, which no filter sees: the kernel ends whoever calls them and is not being traced (SIGILL)."""


def everything_else(allowed: list[int]) -> list[object]:
    """All system calls that are not allowed, by number, also in the other numbering of this processor."""
    got: list[object] = []
    for start in (0, 0x40000000):
        for which in range(start, start + 600):
            if which not in allowed and which not in PROBES:
                ctypes.set_errno(0)
                result = LIBC.syscall(ctypes.c_long(which), *[ctypes.c_long(0)] * 6)
                if (result, ctypes.get_errno()) != (-1, 1):
                    got.append([which, result, ctypes.get_errno()])
    return got


def attempt(name: str) -> str:
    try:
        return f"got {ATTACKS[name]()!r}"[:300]
    except (OSError, MemoryError, ValueError, RuntimeError, ImportError, subprocess.SubprocessError) as error:
        return f"refused {type(error).__name__}"


class TakenOver(worker.Worker):  # type: ignore[name-defined,misc]
    """Speaks the protocol, and does something else."""

    def serve(self) -> None:
        self._say('{"t":"ready"}')
        while True:
            message = json.loads(self._line(None))
            if message["args"] is not None:
                value: object = everything_else(message["args"])
            elif message["code"] == "environment":
                value = sorted(os.environ)
            elif message["code"] == "names":
                value = {
                    "files": [*FILES],
                    "processes": [*PROCESSES],
                    "network": [*NETWORK],
                    "memory": [*MEMORY],
                    "handles": [*HANDLES],
                }
            else:
                value = attempt(message["code"])
            self._say(json.dumps({"t": "done", "value": value}))
            self._say('{"t":"idle"}')


worker.Worker = TakenOver
sys.argv = [SCRIPT, *sys.argv[-3:]]
worker.main()

"""The real result host's wall with an attacker inside: shuts itself in as the host does, then tries everything.

Started with what the host is started with. It prints what each attempt got, or how it was refused, as JSON.
"""

import ctypes
import fcntl
import json
import mmap
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT))

from desktop.workers.hardening import shut_in  # noqa: E402
from desktop.workers.result_host.host import FONTS, places  # noqa: E402

LAUNCHER, STRICT, READING, HOME, ADDRESS = sys.argv[1:6]
LIBC = ctypes.CDLL(None, use_errno=True)
HOST, PORT = ADDRESS.split(":")


def called(number: int, *arguments: int) -> int:
    found = LIBC.syscall(ctypes.c_long(number), *[ctypes.c_long(one) for one in arguments])
    if found == -1:
        raise OSError(ctypes.get_errno(), str(number))
    return int(found)


def in_a_thread() -> str:
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append("it ran"))
    thread.start()
    thread.join()
    return found[0]


ATTEMPTS = {
    "a font": lambda: len((FONTS / "Inter-Regular.otf").read_bytes()) > 1000,
    "a thread": in_a_thread,
    "a file of the person": lambda: Path(HOME, "secret.txt").read_text(),
    "a file of the system": lambda: Path("/etc/passwd").read_text(),
    "our own program": (ROOT / "pyproject.toml").read_text,
    "the folder of the person": lambda: os.listdir(HOME),
    "a file of its own": lambda: Path(HOME, "made.txt").write_text("x"),
    "a font written": lambda: open(FONTS / "Inter-Regular.otf", "ab").write(b"x"),  # noqa: SIM115
    "a file removed": lambda: os.unlink(Path(HOME, "secret.txt")),
    "the network": lambda: socket.create_connection((HOST, int(PORT)), 1),
    "a socket": lambda: socket.socket(socket.AF_UNIX),
    "a process": lambda: subprocess.run(["true"], check=True),
    "a copy of itself": os.fork,
    "a signal": lambda: os.kill(os.getppid(), 0),
    "a signal when something comes": lambda: fcntl.fcntl(PIPE, fcntl.F_SETOWN, os.getppid()),
    "which signal that is": lambda: fcntl.fcntl(PIPE, fcntl.F_SETSIG, 9),
    "that it comes at all": lambda: fcntl.fcntl(PIPE, fcntl.F_SETFL, fcntl.FASYNC),
    "a lock of the person's files": lambda: fcntl.flock(PIPE, fcntl.LOCK_EX),
    "a program": lambda: os.execv("/bin/true", ["true"]),
    "memory that is shared": lambda: mmap.mmap(-1, 4096, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS),
    "memory that is run": lambda: mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 1 | 4),
    "clone for a process": lambda: called(CLONE, 17, 0, 0, 0, 0),
    "clone3": lambda: called(435, 0, 0),
    "another process's memory": lambda: Path(f"/proc/{os.getppid()}/environ").read_bytes(),
}
PIPE = os.pipe()[0]
CLONE = 56 if os.uname().machine == "x86_64" else 220

held = shut_in(LAUNCHER, STRICT, bounds=("FSIZE",), reading=(READING, [*places(), str(FONTS)]))
got: dict[str, object] = {"fonts can be read": held}
for name, attempt in ATTEMPTS.items():
    try:
        got[name] = f"it got {attempt()!r}"[:80]
    except (OSError, LookupError, ImportError) as error:  # a module that was not loaded before cannot be any more
        got[name] = f"refused, {getattr(error, 'errno', None) or type(error).__name__}"
print(json.dumps(got), flush=True)
os._exit(0)

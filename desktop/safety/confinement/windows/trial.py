"""Tries the wall on this computer: a program behind it attempts what it must not do, and what it did is looked at."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from desktop.safety.confinement.windows import launcher

if sys.platform != "win32":
    raise ImportError("for Windows alone")

PROCESSES, MEMORY = 8, 1 << 29
_PATIENCE_S = 60.0
_PROGRAM = r"""
import ctypes, json, os, subprocess, sys
outside = sys.argv[1]
def tried(act):
    try:
        act()
    except (OSError, MemoryError) as error:
        return False
    return True
def write(path):
    with open(path, "w") as file:
        file.write("x")
def start(flags=0):
    subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"], creationflags=flags)
def many():
    for _ in range(16):
        start()
def is_administrator():
    security = ctypes.WinDLL("advapi32")
    group, member = ctypes.c_void_p(), ctypes.c_int(1)
    security.ConvertStringSidToSidW("S-1-5-32-544", ctypes.byref(group))
    return not security.CheckTokenMembership(None, group, ctypes.byref(member)) or bool(member.value)
print(json.dumps({
    "it starts": True,
    "it writes in its folder": tried(lambda: write("inside.txt")),
    "it writes outside": tried(lambda: write(os.path.join(outside, "outside.txt"))),
    "it changes what is outside": tried(lambda: write(os.path.join(outside, "theirs.txt"))),
    "it removes what is outside": tried(lambda: os.unlink(os.path.join(outside, "kept.txt"))),
    "it is an administrator": is_administrator(),
    "it breaks away from its job": tried(lambda: start(0x1000000)),
    "it takes more memory than it may": tried(lambda: bytearray(1 << 30)),
    "it starts more processes than it may": tried(many),
}), flush=True)
"""
WANTED = ("it starts", "it writes in its folder")
"""What it is meant to do; all else that it did is a hole."""


def tried() -> Mapping[str, bool]:
    """What a program behind the wall could do. Blocks. Raises OSError where it could not be started."""
    with tempfile.TemporaryDirectory(prefix="assent-wall-") as name:
        top = Path(os.path.realpath(name))
        inside, outside = top / "inside", top / "outside"
        outside.mkdir()
        for file in ("theirs.txt", "kept.txt"):
            (outside / file).write_text("theirs", encoding="utf-8")
        words = (str(inside), str(PROCESSES), str(MEMORY), sys.executable, "-I", "-S", "-c", _PROGRAM, str(outside))
        argv = [sys.executable, "-I", launcher.__file__, *words]
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired as late:
            raise OSError(f"it did not end within {_PATIENCE_S:.0f} s") from late
        if done.returncode != 0:
            raise OSError(done.stderr.decode("utf-8", "replace").strip()[-300:] or f"exit code {done.returncode}")
        told: dict[str, Any] = json.loads(done.stdout)
        return {what: did is True for what, did in told.items()}


def holes(found: Mapping[str, bool]) -> tuple[str, ...]:
    """What is not as it has to be."""
    return tuple(what if did else f"{what}: no" for what, did in found.items() if did is not (what in WANTED))

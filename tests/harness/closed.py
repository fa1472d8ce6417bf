"""What may be seen of a process that has closed itself (`desktop/workers/hardening.py`): to root everything, to every
other user the little that the kernel shows of anybody's process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def environment_of(process: int | None) -> bytes:
    """What root reads in the environment of a closed process. To an ordinary user nothing of it is told, and that is
    seen here: the kernel refuses, although it shows the environment of a process that is not closed."""
    environ = Path(f"/proc/{process}/environ")
    if IS_ROOT:
        return environ.read_bytes()
    with pytest.raises(PermissionError):
        environ.read_bytes()
    command = [sys.executable, "-c", "print(flush=True); input()"]
    with subprocess.Popen(command, env={"OPEN": "to all"}, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert b"OPEN=to all" in Path(f"/proc/{other.pid}/environ").read_bytes()
        other.communicate(b"\n")
    return b""


class Memory:
    """Of a closed process, in bytes: by how much it has grown at its highest, since now.

    Only root can have the kernel forget what was highest before. To an ordinary user a process that once held more
    seems to have grown by that much: what is found may be too high then, and never too low.
    """

    def __init__(self, process: int | None) -> None:
        self._of = Path(f"/proc/{process}")
        if IS_ROOT:
            self._of.joinpath("clear_refs").write_text("5")
        self._before = self._read("VmRSS")

    def grown(self) -> int:
        return self._read("VmHWM") - self._before

    def _read(self, name: str) -> int:
        lines = (self._of / "status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

"""What holds a result host that was broken: Python in its place, under its profile, tries all."""

from __future__ import annotations

import asyncio
import ctypes
import json
import sys
from pathlib import Path

import pytest

from desktop.safety.confinement.linux.code_profile import drawing_profile, only_computing
from desktop.safety.confinement.linux.launcher import landlock_abi
from tests.harness.timeouts import WAIT_S

SCRIPT = Path(__file__).with_name("shut_in.py")
pytestmark = [
    pytest.mark.spec("R-DOC-2"),
    pytest.mark.skipif(drawing_profile() == ("", "", ""), reason="there is no filter of system calls here"),
]


async def tried(home: Path, *, fonts: bool = True) -> dict[str, object]:
    """What each attempt got."""
    server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    (home / "secret.txt").write_text("mine")
    launcher, strict, reading = drawing_profile()
    command = (sys.executable, "-B", str(SCRIPT), launcher, strict, reading if fonts else "")
    process = await asyncio.create_subprocess_exec(
        *command, str(home), f"{host}:{port}", stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(WAIT_S):
        out, _ = await process.communicate()
    server.close()
    found: dict[str, object] = json.loads(out)
    return found


async def test_it_reads_fonts_and_starts_threads_and_nothing_else(tmp_path: Path) -> None:
    got = await tried(tmp_path)
    readable = landlock_abi(ctypes.CDLL(None, use_errno=True)) > 0
    assert got.pop("fonts can be read") is readable
    assert got.pop("a thread") == "it got 'it ran'"
    assert got.pop("a font") == ("it got True" if readable else "refused, 1")
    assert {name: what for name, what in got.items() if not str(what).startswith("refused")} == {}
    assert len(got) == 22
    assert [path.name for path in tmp_path.iterdir()] == ["secret.txt"]


async def test_without_folders_that_are_held_it_reads_no_font_either(tmp_path: Path) -> None:
    got = await tried(tmp_path, fonts=False)
    assert got.pop("a thread") == "it got 'it ran'"
    assert {name: what for name, what in got.items() if not str(what).startswith(("refused", "False"))} == {}


THREADED = """
import os, sys, threading
sys.path.insert(0, sys.argv[1])
from desktop.workers.hardening import shut_in
held = threading.Event()
thread = threading.Thread(target=held.wait, daemon=True)
thread.start()
try:
    shut_in(*sys.argv[2:], bounds=())
except OSError as why:
    print(why)
held.set()
shut_in(*sys.argv[2:], bounds=())
try:
    open("/etc/passwd")
except OSError:
    print("shut in", flush=True)
os._exit(0)
"""


async def test_a_thread_that_would_stay_outside_is_not_left_there() -> None:
    launcher, strict, _ = drawing_profile()
    root = str(Path(__file__).resolve().parents[4])
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-B", "-c", THREADED, root, launcher, strict, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(WAIT_S):
        out, _ = await process.communicate()
    assert out.decode().splitlines() == ["another thread runs, which would not be shut in", "shut in"]


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("fonts", [False, True])
def test_its_filter_is_one_that_the_kernel_takes(machine: str, fonts: bool) -> None:
    code = only_computing(machine, in_a_loop=True, threads=True, fonts=fonts)
    assert len(code) // 8 < 256
    jumps = [(code[at + 2], code[at + 3], at // 8) for at in range(0, len(code), 8) if code[at] != 6]
    assert all(at + 1 + max(yes, no) < len(code) // 8 for yes, no, at in jumps)

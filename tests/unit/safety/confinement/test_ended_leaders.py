"""A process whose first thread has ended looks like a zombie by its state alone, and works on in its other threads."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import ProcessSpec
from desktop.safety.confinement.linux import launcher
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import Kind, SystemConfinement
from tests.harness.timeouts import FOREVER_S, WAIT_S, until
from tests.unit.safety.world import World

GETS_AWAY = """
import ctypes, fcntl, os, sys, threading, time
held = open("held", "w")
fcntl.flock(held, fcntl.LOCK_EX)
if os.fork():
    while not os.path.exists("begun"): time.sleep(0.005)
    print("begun", flush=True)
    time.sleep(float(sys.argv[1]))
    os._exit(0)
os.setsid()
def works():
    os.close(1), os.close(2)
    while open(f"/proc/{os.getpid()}/stat").read().split()[2] != "Z": time.sleep(0.005)
    open("begun", "w").close()
    time.sleep(3600)
threading.Thread(target=works).start()
ctypes.CDLL(None).syscall(60 if os.uname().machine == "x86_64" else 93, 0)
"""
"""Its child ends its first thread alone, in a session of its own, and holds a lock as long as it lives."""


def is_held(path: Path) -> bool:
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


@pytest.mark.spec("R-TMO-2", "R-CAN-10")
@pytest.mark.parametrize("end", ["its own", "stop"])
@pytest.mark.parametrize("kind", ["none", "landlock", "bubblewrap"])
async def test_a_child_that_ended_its_first_thread_does_not_outlive_the_command(
    world: World, kind: Kind, end: str
) -> None:
    argv = (sys.executable, "-I", "-S", "-c", GETS_AWAY, "0" if end == "its own" else str(FOREVER_S))
    spec = ProcessSpec(argv, str(world.workspace), {"PATH": "/usr/bin:/bin"}, WAIT_S)
    token = CancellationToken()
    stop = (lambda _: token.cancel("stop")) if end == "stop" else None
    with closing(SystemConfinement(world.policy, lambda: world.settings, kinds=(kind,))) as confinement:
        if confinement.probe().kind != kind:
            pytest.skip(f"{kind} does not work here")
        outcome = await asyncio.wait_for(GroupRunner().run(confinement.wrap(spec), token, stop), WAIT_S)
    assert (outcome.ended, outcome.output) == ("exited" if end == "its own" else "aborted", "begun\n")
    await until(lambda: not is_held(world.workspace / "held"), "the child has ended")


STAYS = """
import importlib.util, json, os, sys
found = importlib.util.spec_from_file_location("launcher", sys.argv[1])
launcher = importlib.util.module_from_spec(found)
found.loader.exec_module(launcher)
launcher.prctl(launcher.ctypes.CDLL(None, use_errno=True), launcher.PR_SET_CHILD_SUBREAPER, 1)
ready, tell = os.pipe()
other = os.fork()
if other == 0:
    os.set_inheritable(tell, True)
    os.execv(sys.argv[2], [sys.argv[2], "-I", "-S", "-c", "import os, time\\nos.setresuid(0, 0, 0)\\n"
             f"os.write({tell}, b'x')\\nos.close({tell})\\nos.close(1), os.close(2)\\ntime.sleep(3600)"])
os.close(tell)
assert os.read(ready, 1) == b"x"
left = launcher.end_all(0.01, 0.2)
launcher.warn_of_survivors(left)
print(json.dumps([other, left]), flush=True)
"""


@contextmanager
def program_of_root() -> Iterator[Path]:
    """A folder that everybody can read, with the launcher and a Python that becomes root whoever starts it."""
    folder = Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o755)
        shutil.copy(launcher.__file__, folder / "launcher.py")
        shutil.copy("/usr/bin/python3", folder / "python3")
        (folder / "python3").chmod(0o4755)
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.mark.skipif(os.geteuid() != 0 or not Path("/usr/bin/python3").exists(), reason="needs root and a Python of all")
def test_what_cannot_be_ended_is_said_and_not_waited_for_without_end() -> None:
    with program_of_root() as folder:
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            pytest.skip("no program becomes root here")
        argv = ["/usr/bin/python3", "-I", "-S", "-c", STAYS, str(folder / "launcher.py"), str(folder / "python3")]
        done = subprocess.run(argv, user=65534, cwd="/", capture_output=True, text=True, timeout=WAIT_S)
        assert done.returncode == 0, done.stderr
        other, left = json.loads(done.stdout)
        subprocess.run(["kill", "-9", str(other)], check=True)
    assert left == [other]
    assert done.stderr == (f"Some of what the command started could not be ended and still runs: process {other}.\n")

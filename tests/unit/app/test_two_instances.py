"""Of several processes that want one home at once one has it, the others say so, and no lock outlives its process."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from desktop.app.home.folder import holder, open_home
from desktop.domain.errors import HomeInUse
from tests.harness.timeouts import WAIT_S

ROOT = Path(__file__).resolve().parents[3]
WANTS = """
import sys, time
from pathlib import Path
from desktop.app.home.folder import open_home
from desktop.domain.errors import HomeInUse
at = float(sys.stdin.readline())
while time.time() < at:
    pass
try:
    held = open_home(Path(sys.argv[1]))
except HomeInUse as refused:
    print(refused, flush=True)
else:
    print("mine", flush=True)
sys.stdin.read()
"""
SLOW = """
import asyncio, sys
from pathlib import Path
from desktop.app.home.folder import open_home
from desktop.app.home.instance import InstanceServer

async def main():
    held = open_home(Path(sys.argv[1]))
    print("held", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    async def post(to, text):
        print(to, text, flush=True)
    server = InstanceServer(held.socket, None, post)
    await server.start()
    await asyncio.to_thread(sys.stdin.readline)
    await server.stop()

asyncio.run(main())
"""


def started(program: str, home: Path) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", program, str(home)], stdin=pipe, stdout=pipe, text=True, cwd=ROOT)


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{text}\n")
    process.stdin.flush()


def test_of_two_at_the_same_instant_one_has_the_home_and_the_other_names_it(tmp_path: Path) -> None:
    for _ in range(20):
        with ExitStack() as held:
            both = [held.enter_context(started(WANTS, tmp_path)) for _ in range(2)]
            at = time.time() + 0.3
            for process in both:
                tell(process, str(at))
            said = [line(process) for process in both]
            winner = both[said.index("mine")]
            (refusal,) = [text for text in said if text != "mine"]
            assert "is already running with the home folder" in refusal
            assert f"(process {winner.pid})" in refusal or "(process" not in refusal, "it had just come"
            with pytest.raises(HomeInUse, match=f"process {winner.pid}"):
                open_home(tmp_path)
            winner.send_signal(signal.SIGKILL)
            winner.wait(WAIT_S)
            open_home(tmp_path).release()
            for process in both:
                process.kill()


def test_a_process_that_was_killed_is_not_said_to_have_the_home(tmp_path: Path) -> None:
    with started(WANTS, tmp_path) as first:
        tell(first, "0")
        assert line(first) == "mine"
        assert holder(tmp_path) == first.pid
        first.kill()
        first.wait(WAIT_S)
    assert holder(tmp_path) == 0
    with started(SLOW, tmp_path) as second:
        assert line(second) == "held"
        lock = tmp_path / "data" / "lock"
        lock.write_text(f"{first.pid:<19}\n")  # as if it had not said yet who it is
        with pytest.raises(HomeInUse) as refused:
            open_home(tmp_path)
        assert "(process" not in str(refused.value)
        second.kill()


def send(home: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "desktop", "send", "agent", "hello", "--home", str(home)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT)


def test_a_message_waits_for_an_app_that_still_starts_and_not_for_one_that_was_killed(tmp_path: Path) -> None:
    home = tmp_path / "h"
    with started(SLOW, home) as app:
        assert line(app) == "held"
        with send(home) as sender:
            with pytest.raises(subprocess.TimeoutExpired):
                sender.wait(1)
            tell(app, "go on")
            assert line(app) == "agent hello"
            assert sender.wait(WAIT_S) == 0
        app.kill()
        app.wait(WAIT_S)
    assert (home / "data" / "raise.sock").exists() or os.name != "posix"
    with send(home) as sender:
        assert sender.wait(WAIT_S) == 2
        assert sender.stderr is not None
        assert "does not run with this home" in sender.stderr.read()


def test_a_process_that_got_the_number_of_one_that_was_killed_is_not_said_to_have_the_home(tmp_path: Path) -> None:
    with started(WANTS, tmp_path) as other:
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "lock").write_text(f"{other.pid:<19}\n")
        assert holder(tmp_path) == 0
        tell(other, "0")
        assert line(other) == "mine"
        assert holder(tmp_path) == other.pid
        other.kill()


def test_who_asks_which_process_has_the_home_keeps_none_from_having_it(tmp_path: Path) -> None:
    open_home(tmp_path).release()
    with started(WANTS, tmp_path) as comes, open(tmp_path / "data" / "lock") as asked:
        fcntl.flock(asked, fcntl.LOCK_SH)  # as who asks has it, for an instant
        tell(comes, "0")
        time.sleep(0.5)
        fcntl.flock(asked, fcntl.LOCK_UN)
        assert line(comes) == "mine"
        comes.kill()

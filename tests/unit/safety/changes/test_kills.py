"""A process that is killed in the middle of a change leaves all of it or nothing, once the next one has started."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from desktop.domain.files.changes import FileState
from desktop.safety.changes.journal import journals_in
from tests.unit.safety.changes.committing import applier, trees
from tests.unit.safety.changes.kit import build, tree_of

ROOT = Path(__file__).resolve().parents[4]


class KilledProcesses:
    """Kills real processes at random moments, and counts what they left."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.home, self.workspace = folder / "home", folder / "work"
        self.workspace.mkdir()
        old, new = trees()
        self.whole: list[dict[str, FileState]] = []
        for tree in (new, old):
            for name in os.listdir(self.workspace):
                subprocess.run(["rm", "-r", str(self.workspace / name)], check=True)
            build(self.workspace, tree)
            self.whole.append(tree_of(self.workspace))
        self.in_the_middle = 0

    def kill_once(self, longest_s: float) -> None:
        self._start_and_kill("commit", longest_s)
        if self.random.random() < 0.5:  # the next start is killed, too
            self._start_and_kill("recover", 0.02)
        one = applier(str(self.home), str(self.workspace))
        found = one.recover()
        assert (found.kept, found.waiting) == ((), ())
        self.in_the_middle += found.taken_back
        now = tree_of(self.workspace)
        assert now in self.whole, f"half done: {sorted(now)[:10]}"
        assert journals_in(str(self.home / "data" / "changes")) == []

    def _start_and_kill(self, what: str, longest_s: float) -> None:
        command = [
            sys.executable,
            "-m",
            "tests.unit.safety.changes.committing",
            str(self.home),
            str(self.workspace),
            what,
        ]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(self.random.random() * longest_s)  # not a wait for something: the moment is to be a random one
            process.send_signal(signal.SIGKILL)


@pytest.mark.expects_log
@pytest.mark.spec("R-OUT-3")
def test_killed_at_any_moment_a_change_is_whole_or_not_there(tmp_path: Path) -> None:
    killed = KilledProcesses(tmp_path, seed=1)
    for _ in range(12):
        killed.kill_once(0.15)


@pytest.mark.soak
@pytest.mark.expects_log
@pytest.mark.spec("R-OUT-3")
def test_of_two_hundred_kills_none_leaves_half_a_change(tmp_path: Path) -> None:
    killed = KilledProcesses(tmp_path, seed=2)
    for _ in range(200):
        killed.kill_once(0.15)
    assert killed.in_the_middle > 5

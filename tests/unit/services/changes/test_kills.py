"""A process that is killed while it writes, commits or undoes: the records say just what the disk says."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from desktop.domain.files.changes import FileState
from desktop.safety.changes.states import state_of
from tests.unit.services.changes.kit import calls_in

ROOT = Path(__file__).resolve().parents[4]


async def kill(folder: Path, moments: random.Random, times: int) -> int:
    """Kill it so often, each time at a random moment; how many changes were made in all."""
    for _ in range(times):
        command = [sys.executable, "-m", "tests.unit.services.changes.working", str(folder)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(moments.random() * 0.4)  # not a wait for something: the moment is to be a random one
            process.send_signal(signal.SIGKILL)
        async with calls_in(folder, fresh=False) as calls:
            records = await calls.service.of_thread("t")
            assert await calls.store.changes.begun() == []
            known: dict[str, FileState] = {}
            for record in records:
                for file in record.files:
                    assert known.get(file.change.path, file.change.before) == file.change.before
                    known[file.change.path] = file.change.after
            assert {path: state_of(path) for path in known} == known
            assert [path.name for path in calls.root.iterdir() if path.name.startswith(".assent")] == []
    return len(records)


@pytest.mark.expects_log
@pytest.mark.spec("R-UND-1", "R-UND-2")
async def test_killed_at_any_moment_what_is_recorded_is_what_is_there(tmp_path: Path) -> None:
    assert await kill(tmp_path, random.Random(5), 4) > 0


@pytest.mark.soak
@pytest.mark.expects_log
@pytest.mark.spec("R-UND-1", "R-UND-2")
async def test_of_sixty_kills_none_leaves_records_that_differ_from_the_disk(tmp_path: Path) -> None:
    assert await kill(tmp_path, random.Random(6), 60) > 60

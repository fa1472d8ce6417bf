"""What an earlier process left half written is taken away, and what this one is writing is not."""

import os
import subprocess
import sys
import time
from pathlib import Path

from desktop.app.home.unfinished import sweep_of
from desktop.files.private import write_whole
from desktop.files.temporary import FRESH_S, PREFIX


def test_a_file_that_is_begun_within_the_same_tick_of_the_clock_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write_whole(tmp_path / "data" / "probe.json", b"{}")
    old, new = (tmp_path / "data" / f".pins.json.{name}.unfinished" for name in ("0123456789ab", "ba9876543210"))
    old.write_text("{")
    os.utime(old, (time.time() - 1, time.time() - 1))
    sweep = sweep_of(tmp_path, (), ())
    new.write_text("{")
    tick = time.time() - 0.004  # as Linux gives it with 250 ticks a second
    os.utime(new, (tick, tick))
    sweep()
    assert (old.exists(), new.exists()) == (False, True)


def test_a_temporary_folder_that_a_killed_process_left_goes_with_the_next_start(tmp_path: Path) -> None:
    temporary, home = tmp_path / "temporary", tmp_path / "home"
    temporary.mkdir()
    home.mkdir()
    left, fresh = (temporary / f"{PREFIX}commands-{name}" for name in ("ab12cd34", "ef56gh78"))
    for folder in (left, fresh):
        folder.mkdir(mode=0o700)
    os.utime(left, (time.time() - 2 * FRESH_S,) * 2)
    script = (
        "import pathlib, sys; from desktop.app.home.unfinished import sweep_of; "
        "sweep_of(pathlib.Path(sys.argv[1]), (), ())()"
    )
    subprocess.run([sys.executable, "-c", script, str(home)], env={**os.environ, "TMPDIR": str(temporary)}, check=True)
    assert (left.exists(), fresh.exists()) == (False, True)

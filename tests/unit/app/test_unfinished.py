"""What an earlier process left half written is taken away, and what this one is writing is not."""

import os
import time
from pathlib import Path

from desktop.app.home.unfinished import sweep_of
from desktop.files.private import write_whole


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

"""The first wall for Windows, tried on Windows itself: until nothing is found here, ``walls.RELIED_ON`` stays as it is.

Under Wine it starts, and shows holes that Wine has: it knows no levels of integrity and no limits of a job.
"""

import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform != "win32":
    pytest.skip("needs Windows", allow_module_level=True)

from desktop.safety.confinement.windows import launcher, trial
from tests.harness.timeouts import WAIT_S


def run(folder: Path, *argv: str) -> subprocess.CompletedProcess[bytes]:
    words = [sys.executable, "-I", launcher.__file__, str(folder), "4", str(1 << 29), *argv]
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT_S)


def test_a_program_behind_it_says_what_it_has_to_and_ends_with_its_own_code(tmp_path: Path) -> None:
    done = run(tmp_path / "own", sys.executable, "-I", "-S", "-c", "print('hello'); raise SystemExit(7)")
    assert (done.returncode, done.stdout.split()) == (7, [b"hello"])


def test_what_cannot_be_held_is_not_started(tmp_path: Path) -> None:
    made = tmp_path / "made"
    done = run(tmp_path, sys.executable, "-I", "-S", "-c", f"open({str(made)!r}, 'w')")
    assert done.returncode == launcher.NOT_HELD, "the folder was there already: it is not the wall's own"
    assert b"not started" in done.stderr
    assert not made.exists()


@pytest.mark.spec("R-PKG-3")
def test_no_hole_is_found_in_it() -> None:
    assert trial.holes(trial.tried()) == ()

"""One Assent a home: the system lets go of it with its process, however that dies."""

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.app.home.folder import _not_writable, open_home
from desktop.domain.errors import HomeInUse, HomeNotWritable
from tests.harness.timeouts import WAIT_S
from tests.unit.store.test_failures import nobody

ROOT = Path(__file__).resolve().parents[3]
HOLDER = """
import sys
from pathlib import Path
from desktop.app.home.folder import open_home
held = open_home(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""

REFUSED = """
import sys
from pathlib import Path
from desktop.app.home.folder import open_home
from desktop.domain.errors import HomeNotWritable
try:
    open_home(Path(sys.argv[1]))
except HomeNotWritable as error:
    print(error, error.next_step, sep="\\n")
"""


@pytest.fixture
def foreign_home() -> Iterator[Path]:
    """A folder that others can reach and not write."""
    with tempfile.TemporaryDirectory(prefix="as-") as name:
        os.chmod(name, 0o555)
        yield Path(name)
        os.chmod(name, 0o755)


def test_a_home_that_cannot_be_written_is_told_in_words(foreign_home: Path) -> None:
    with nobody(), pytest.raises(HomeNotWritable, match=str(foreign_home)) as caught:
        open_home(foreign_home)
    assert "permission" in caught.value.next_step


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_home_of_another_person_is_named_with_its_owner(foreign_home: Path) -> None:
    os.chmod(foreign_home, 0o755)
    os.chown(foreign_home, 4711, 4711)
    with nobody(), pytest.raises(HomeNotWritable) as caught:
        open_home(foreign_home / ".agent")
    assert str(caught.value) == f"Assent cannot write to its home folder: {foreign_home}/.agent belongs to user 4711."
    assert "as that user" in caught.value.next_step


def test_a_file_system_without_locks_is_named(tmp_path: Path) -> None:
    error = _not_writable(tmp_path, OSError(errno.ENOLCK, "No locks available", str(tmp_path / "data/lock")))
    assert "has no locks" in str(error)
    assert "local disk" in error.next_step


@pytest.mark.spec("R-PKG-2")
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap makes the disk read-only")
def test_a_home_on_a_read_only_disk_is_told_so_and_no_permission_is_asked_for(tmp_path: Path) -> None:
    whole = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", str(tmp_path), str(tmp_path), "--"]
    done = subprocess.run(
        [*whole, sys.executable, "-c", REFUSED, str(tmp_path / "home")],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=WAIT_S,
    )
    assert done.stderr == ""
    said, next_step = done.stdout.splitlines()
    assert f"{tmp_path / 'home'} is on a disk that can only be read" in said
    assert "permission" not in next_step
    assert "--home DIR" in next_step


def test_a_second_instance_on_the_same_home_is_refused_in_words_until_the_first_is_gone(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        with pytest.raises(HomeInUse, match=f"process {first.pid}") as caught:
            open_home(tmp_path)
        assert str(tmp_path) in str(caught.value)
        first.kill()
        first.wait(WAIT_S)
    held = open_home(tmp_path)
    held.release()
    held.release()
    open_home(tmp_path).release()

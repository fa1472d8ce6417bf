"""The update host shuts itself in: it writes where versions are laid down, and reads nothing of a person's."""

import subprocess
import sys
from pathlib import Path

import pytest

from desktop.safety.confinement.linux import launcher
from tests.harness.timeouts import WAIT_S

pytestmark = pytest.mark.spec("R-UPD-1")
TRIES = """
import os, sys
from desktop.workers.hardening import shut_in_with_network
wall, mine, secret = sys.argv[1:]
shut_in_with_network(wall, write=(mine,))
def tried(what, mode):
    try:
        open(what, mode).close()
        return "open"
    except OSError as error:
        return type(error).__name__
print(tried(mine + "/new", "w"), tried(mine + "/new", "r"), tried(secret, "r"), tried(secret + "2", "w"))
os.rename(mine + "/new", mine + "/newer")
try:
    os.symlink("x", os.path.dirname(mine) + "/link")
    print("open")
except OSError as error:
    print(type(error).__name__)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Landlock is Linux's")
def test_it_writes_in_its_folders_alone_and_reads_nothing_of_the_person(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "secret").write_text("s")
    command = [sys.executable, "-c", TRIES, launcher.__file__, str(tmp_path / "mine"), str(tmp_path / "secret")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=True)
    assert done.stdout.split() == ["open", "open", "PermissionError", "PermissionError", "PermissionError"]
    assert (tmp_path / "mine/newer").exists()

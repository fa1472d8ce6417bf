"""Whenever a process is killed that saves a file of the person's, there is the old file or the new one, whole."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.files.save_kills import NEW, SAVES

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("kind", SAVES)
def test_a_save_that_is_killed_anywhere_leaves_one_of_the_two_with_its_rights_behind_its_link(
    tmp_path: Path, kind: str
) -> None:
    command = [sys.executable, "-m", "tests.unit.files.save_kills", str(tmp_path), kind]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["wrong"] == []
    assert found["places"] > 20, "each call is a place to be killed at"
    assert found["left"] > 0, "there are places at which something is left for the next start"
    assert found["saved"] == NEW or kind == "new agent"

"""The app starts itself again: over the home that it had, wherever it stands by then."""

import subprocess
import sys
from pathlib import Path

import pytest

from desktop.app.home.folder import home_path
from tests.harness.timeouts import WAIT_S

ROOT = Path(__file__).resolve().parents[3]
RECORDER = '#!/bin/sh\nprintf "%s\\n" "$PWD" "$@" > "$RECORD"\n'
AGAIN = """
import os, sys
from pathlib import Path
from desktop.app.home.folder import home_path
from desktop.app.lifecycle.again import start_again
sys.executable, sys.argv = sys.argv[1], ["assent", *sys.argv[2:]]
home = home_path(sys.argv[sys.argv.index("--home") + 1] if "--home" in sys.argv else None, os.environ)
sys.exit(start_again(home))
"""


def started_again(place: Path, *given: str, **environment: str) -> list[str]:
    """The folder and the words of the new start of an app that was started in ``place``, out of a checkout."""
    recorder, record = place / "python", place / "record"
    recorder.write_text(RECORDER)
    recorder.chmod(0o755)
    subprocess.run(
        [sys.executable, "-c", AGAIN, str(recorder), *given],
        cwd=place,
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(place),
            "PYTHONPATH": str(ROOT),
            "RECORD": str(record),
            **environment,
        },
        timeout=WAIT_S,
        check=True,
    )
    return record.read_text().splitlines()


@pytest.mark.spec("R-PKG-2")
def test_a_home_that_was_named_from_where_the_person_stood_is_the_same_one(tmp_path: Path) -> None:
    """The code is found where it stands, so the folder is another one; a new home there would look as if all was
    lost."""
    own = ["-m", "desktop", "--home", str(tmp_path / "mine")]
    assert started_again(tmp_path, "--home", "mine") == [str(ROOT), *own]
    assert started_again(tmp_path, AGENT_HOME="mine") == [str(ROOT), *own]


@pytest.mark.spec("R-PKG-2")
def test_a_link_is_not_followed_again(tmp_path: Path) -> None:
    said = started_again(tmp_path, "open", "--", "assent:settings")
    assert said == [str(ROOT), "-m", "desktop", "--home", str(home_path(str(tmp_path / ".agent"), {}))]

"""What the process that asks for new versions loads when it starts."""

import subprocess
import sys
from pathlib import Path

HOST = Path(__file__).resolve().parents[4] / "desktop/workers/update_host"


def test_no_ways_to_sign_that_are_not_ours_are_loaded() -> None:
    """Half of its start would go to the library of a cloud whose keys nobody here signs with."""
    command = [sys.executable, "-I", "-X", "utf8", "-X", "importtime", str(HOST), str(HOST / "no launcher")]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "tuf.ngclient.updater" in loaded
    assert loaded.isdisjoint({"botocore", "boto3.session"})

"""A small disk of its own, for what happens when one is full."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of 1 MB of its own."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("only root can make a small disk")
    with tempfile.TemporaryDirectory(prefix="as-") as name:
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", name], capture_output=True, text=True)
        if made.returncode != 0:
            pytest.skip(f"no disk could be mounted: {made.stderr.strip()}")
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", "--lazy", name], check=True)

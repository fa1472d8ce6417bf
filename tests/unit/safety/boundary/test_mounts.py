"""Mounts: a bind mount is a door that no link gives away. Really mounted where that is permitted."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from desktop.safety.boundary.mounts import MountIds, Mounts
from tests.unit.safety import escapes

TABLE = rb"""21 1 8:1 / / rw - ext4 /dev/sda1 rw
22 21 0:20 / /proc rw - proc proc rw
23 21 8:1 /home/ann/.ssh /srv/keys rw - ext4 /dev/sda1 rw
24 21 8:2 / /data rw - ext4 /dev/sdb1 rw
25 21 8:1 / /mnt/all rw - ext4 /dev/sda1 rw
26 24 8:1 /home/ann /data/with\040space rw - ext4 /dev/sda1 rw
27 21 8:1 /home/ann/.ssh/deep /srv/deep rw - ext4 /dev/sda1 rw
28 21 0:30 / /srv/keys/over rw - tmpfs none rw
"""
MOUNTS = Mounts(TABLE)


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/home/ann/.ssh", ["/srv/keys", "/mnt/all/home/ann/.ssh", "/data/with space/.ssh"]),
        ("/srv/keys/id", ["/home/ann/.ssh/id", "/mnt/all/home/ann/.ssh/id", "/data/with space/.ssh/id"]),
        ("/data/file", []),
        ("/data/with space/x", ["/home/ann/x", "/mnt/all/home/ann/x"]),
        ("/srv/keys/over/x", []),
        ("/etc/x", ["/mnt/all/etc/x"]),
    ],
)
def test_a_place_is_known_by_all_its_names(path: str, names: list[str]) -> None:
    assert MOUNTS.names(path) == names


def test_a_door_leads_to_a_place_or_into_it() -> None:
    assert "/srv/deep" in MOUNTS.doors("/home/ann/.ssh")
    assert "/srv/keys" in MOUNTS.doors("/home/ann/.ssh")
    assert "/srv/deep" not in MOUNTS.names("/home/ann/.ssh")
    assert MOUNTS.doors("/data/x") == []


def test_mounts_below_a_folder_are_found() -> None:
    assert MOUNTS.points_below("/data") == ["/data/with space"]
    assert MOUNTS.points_below("/srv/key") == []


def test_without_a_table_nothing_has_other_names() -> None:
    assert Mounts(b"").names("/x") == []
    assert Mounts(b"no table\n\n").doors("/x") == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux numbers its mounts")
def test_the_kernel_tells_mounts_apart(tmp_path: Path) -> None:
    ids = MountIds()
    assert ids.of_path(str(tmp_path / "not/there")) == ids.of_path(str(tmp_path))
    assert ids.of_path("/proc/self") != ids.of_path(str(tmp_path))


@pytest.fixture(scope="module")
def mounted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("mounting needs root")
    folder = tmp_path_factory.mktemp("mounts")
    script = Path(__file__).with_name("mounted.py")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[4])}
    command = ["unshare", "-m", "--propagation", "private", sys.executable, str(script), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    if done.returncode and "unshare" in done.stderr:
        pytest.skip(f"no mounts here: {done.stderr[-200:]}")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.spec("R-FS-3", "R-FS-7", "R-FS-9")
@pytest.mark.parametrize("by", ["files", "bubblewrap", "landlock"])
def test_no_mount_leads_out(mounted: dict[str, Any], by: str) -> None:
    results = {name: found[by] for name, found in mounted.items() if name != "allowed"}
    if None in results.values():
        pytest.skip(f"{by} does not work here")
    for passed in results.values():
        escapes.tried("mounts", passed)
    assert [name for name, passed in results.items() if passed] == []
    assert len(results) == 12


def test_a_file_system_of_its_own_and_an_allowed_folder_in_another_stay_open(mounted: dict[str, Any]) -> None:
    assert mounted["allowed"] == {"own": False, "b": False}

"""Each kind of confinement that this machine has works. The other tests skip a kind that does not: without these, one
that works nowhere would be a list of skipped tests."""

import ctypes
import os
import shutil
import subprocess
import sys
from typing import Any

import pytest

from desktop.domain.safety import ProcessSpec
from desktop.safety.confinement import reports
from desktop.safety.confinement.linux import launcher
from desktop.safety.confinement.linux.landlock import MIN_ABI, closed_ports
from desktop.safety.confinement.linux.syscall_filter import supports
from desktop.safety.confinement.profile import SandboxProfile, profile_for
from desktop.safety.confinement.select import Kind, Machine, SystemConfinement
from tests.unit.safety.world import World

pytestmark = [
    pytest.mark.spec("C-33", "S-FS-1"),
    pytest.mark.skipif(sys.platform != "linux", reason="what Linux can confine with"),
]

CREATE, ABI_ASKED = 444, 1  # landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION)


def has(kind: Kind) -> bool:
    """Asked of the machine alone, by none of our code."""
    if kind == "landlock":
        return ctypes.CDLL(None).syscall(CREATE, None, 0, ABI_ASKED) >= MIN_ABI and supports(os.uname().machine)
    bwrap = shutil.which("bwrap")
    spaces = ["--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc"]
    places = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    return bwrap is not None and subprocess.run([bwrap, *spaces, *places, "true"], check=False).returncode == 0


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
def test_a_kind_that_this_machine_has_is_found_to_work(world: World, kind: Kind) -> None:
    if not has(kind):
        pytest.skip(f"this machine has no {kind}")
    made = SystemConfinement(world.policy, lambda: world.settings, kinds=(kind,))
    try:
        assert made.probe().kind == kind
    finally:
        made.close()


def test_bubblewrap_works_where_the_kernel_cannot_close_ports(world: World) -> None:
    if not has("bubblewrap"):
        pytest.skip("this machine has no bubblewrap")
    old = Machine(bwrap=shutil.which("bwrap"), landlock_abi=3, processor=os.uname().machine)
    made = SystemConfinement(world.policy, lambda: world.settings, kinds=("bubblewrap",), machine=lambda: old)
    try:
        assert made.probe() == reports.bubblewrap(filtered=True, ports=False)
        assert shutil.which("bwrap") in made.wrap(ProcessSpec(("true",), str(world.workspace), {})).argv
    finally:
        made.close()


@pytest.mark.parametrize(
    ("abi", "told"), [(1, (8, 0)), (3, (8, 0)), (4, (16, 0)), (5, (16, 0)), (6, (24, 3)), (7, (24, 3)), (9, (24, 3))]
)
def test_each_kernel_is_told_of_all_that_it_can_hold(abi: int, told: tuple[int, int]) -> None:
    """One that is told of too little holds less and says nothing; one that is told of too much refuses."""
    seen: list[tuple[int, int]] = []

    class Kernel:
        def syscall(self, _number: Any, attributes: Any, size: ctypes.c_size_t, _flags: Any) -> int:
            seen.append((size.value, attributes._obj.scoped))
            return 7

    assert launcher._ruleset(Kernel(), abi, 15, 1 if abi >= 4 else 0) == 7  # type: ignore[arg-type]
    assert seen == [told]


@pytest.mark.parametrize(
    ("display", "closed"),
    [
        ("", "6000-6063"),
        (":5", "6000-6063"),
        (":63.0", "6000-6063"),
        (":64", "6000-6063,6064-6064"),
        ("localhost:200.1", "6000-6063,6200-6200"),
        (":59535", "6000-6063,65535-65535"),
        (":59536", "6000-6063"),
        ("odd", "6000-6063"),
    ],
)
def test_the_port_of_the_persons_own_screen_is_closed_whatever_its_number(display: str, closed: str) -> None:
    assert closed_ports({"DISPLAY": display} if display else {}) == closed


def test_a_workspace_among_several_in_the_apps_own_folder_can_be_written() -> None:
    profile = SandboxProfile(("/h",), ("/h/data",), ("/h/data/a", "/h/data/b"), (), network=False)
    said = {path: profile.reach(path, "bubblewrap")[1] for path in ("/h", "/h/data", "/h/data/a", "/h/data/b/c", "/x")}
    assert said == {"/h": True, "/h/data": False, "/h/data/a": True, "/h/data/b/c": True, "/x": False}


def test_only_folders_that_are_there_can_be_written(world: World) -> None:
    """A file or a missing folder in the list is not laid into a sandbox, and none is made for it."""
    file = world.outside / "file.txt"
    file.write_text("kept")
    world.change(allowed=(str(world.workspace), str(file), str(world.outside / "missing")))
    profile = profile_for(world.policy, lambda: world.settings)
    assert profile.writable == (os.path.realpath(world.workspace),)
    assert not profile.reach(str(file), "bubblewrap")[1]

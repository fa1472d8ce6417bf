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
from desktop.safety.confinement import launcher, reports
from desktop.safety.confinement.landlock import MIN_ABI
from desktop.safety.confinement.select import Kind, Machine, SystemConfinement
from desktop.safety.confinement.syscall_filter import supports
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

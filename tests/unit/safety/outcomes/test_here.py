"""Copies can be made where the kernel has what it takes. The other tests skip a machine that makes none: without these,
copies that work nowhere would be a list of skipped tests."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from desktop.safety.confinement.select import Kind
from tests.unit.safety.confinement.test_kinds import has
from tests.unit.safety.outcomes.rehearsals import KINDS, rehearsals
from tests.unit.safety.world import World

MOUNT = "mount -t overlay overlay -o lowerdir=a,upperdir=b,workdir=c,userxattr a && touch a/x && test -e b/x"


def kernel_has(folder: Path) -> bool:
    """Whether an overlay can be laid by this user, asked by none of our code."""
    if shutil.which("unshare") is None:
        return False
    for name in "abc":
        (folder / name).mkdir()
    argv = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", MOUNT]
    return subprocess.run(argv, cwd=folder, capture_output=True, check=False).returncode == 0


@pytest.mark.spec("R-OUT-1", "R-OUT-4")
@pytest.mark.parametrize("kind", KINDS)
def test_copies_are_made_where_the_kernel_can(
    world: World, tmp_path_factory: pytest.TempPathFactory, kind: Kind
) -> None:
    if not has(kind) or not kernel_has(tmp_path_factory.mktemp("asked")):
        pytest.skip("this machine has not what it takes")
    with rehearsals(world, kind) as here:
        assert here.copies.refusal() == ""
        assert here.did("echo x > made") == ["+ made"]
    with rehearsals(world, kind, "copy") as here:
        assert here.copies.refusal() == ""
    assert not os.listdir(world.home / "cache" / "copies")


def test_under_landlock_what_lays_a_copy_becomes_what_ends_the_command(world: World) -> None:
    """One start of Python for both: it takes longer than all else that a copy needs."""
    with rehearsals(world, "landlock") as here:
        if not here.works or here.copies.refusal():
            pytest.skip("this machine makes no such copies")
        outcome, reading, _ = here.run(r"tr '\0' '\n' < /proc/$PPID/cmdline; echo x > made")
    started = [os.path.basename(word) for word in outcome.output.splitlines()[:5]]
    assert started[3] == "layering.py", "another program is the command's parent"
    assert [os.path.basename(change.path) for change in reading.changes] == ["made"]


def test_a_small_copy_is_removed_without_a_program(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with rehearsals(world) as here:
        if not here.works or here.copies.refusal():
            pytest.skip("this machine makes no such copies")
        _, _, copy = here.run("mkdir -p a/b; echo x > a/b/c; chmod 500 a/b")
        monkeypatch.setenv("PATH", "")
        copy.drop()
        assert os.listdir(world.home / "cache" / "copies") == []

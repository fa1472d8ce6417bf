"""Commands that mean no good to their copy, machines that cannot make one, and an end in the middle."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from desktop.domain.files.outcomes import CommandCopy, NoCopy
from desktop.safety.boundary.mounts import Mounts
from desktop.safety.confinement.profile import SandboxProfile
from desktop.safety.outcomes.copies import Copies
from desktop.safety.outcomes.layers import folders_to_copy
from tests.harness.timeouts import WAIT_S
from tests.unit.safety.outcomes.rehearsals import Rehearsals, lines, tree


@pytest.mark.spec("R-OUT-2", "R-TMO-2")
def test_nothing_that_it_started_outlives_it(each: Rehearsals) -> None:
    name = f"left-{os.getpid()}"
    script = f"cp /bin/sleep {name}; setsid ./{name} 1000 & (./{name} 1000 &); ./{name} 1001 & disown -a; exit 0"
    outcome, reading, _ = each.run(script)
    assert outcome.exit_code == 0
    deadline = time.monotonic() + WAIT_S
    while subprocess.run(["pgrep", "-x", name], capture_output=True, check=False).stdout:  # the kernel ends them now
        assert time.monotonic() < deadline
    assert lines(reading, str(each.world.workspace)) == [f"+ {name}"]


def test_everything_can_be_deleted_in_a_copy(each: Rehearsals) -> None:
    before = tree(each.world.workspace)
    did = each.did("find . -mindepth 1 -delete")
    assert len(did) == len(before)
    assert all(line.startswith("- ") for line in did)
    assert tree(each.world.workspace) == before


def test_folders_that_are_moved_over_each_other_are_read_as_they_end(here: Rehearsals) -> None:
    assert here.did("mkdir x; mv sub x/; mv x/sub .; rmdir x") == []
    assert here.did("cp -r sub other; rm -r sub; mv other sub") == []
    assert here.did("mkdir new; echo a > new/a; mv new newer; mv -T newer sub/deep || mv newer/a sub/deep/a; ls") == [
        "+ newer/",
        "+ sub/deep/a",
    ]


def test_one_file_cannot_grow_beyond_what_a_copy_may_hold(here: Rehearsals) -> None:
    here.copies = Copies(f"{here.world.home}/cache/copies", here.confinement, here.world.policy, most=5_000_000)
    outcome, reading, _ = here.run("head -c 50000000 /dev/zero > big; echo then; exit 3")
    assert outcome.exit_code == 3 or outcome.ended == "disk", "whichever is seen first"
    assert 0 < reading.changes[0].after.size <= 5_000_000


def test_files_with_holes_are_not_read_for_hours(here: Rehearsals) -> None:
    here.copies = Copies(f"{here.world.home}/cache/copies", here.confinement, here.world.policy, most=20_000_000)
    outcome, reading, _ = here.run("for n in $(seq 50); do truncate -s 19M hole$n; done; echo a > small")
    assert outcome.exit_code == 0
    assert [os.path.basename(change.path) for change in reading.changes if change.after.size < 10] == ["small"]
    assert sum(change.after.size for change in reading.changes) <= 25_000_000
    assert reading.beyond == 49, "so nothing of it is taken over"


def test_a_command_that_fills_its_copy_is_ended_and_says_so(here: Rehearsals) -> None:
    here.copies = Copies(f"{here.world.home}/cache/copies", here.confinement, here.world.policy, most=30_000_000)
    outcome, _, copy = here.run(FILLING, timeout_s=WAIT_S)
    assert outcome.ended == "disk"
    fills(copy)


def test_it_is_ended_also_where_others_free_as_much_of_the_disk_meanwhile(here: Rehearsals) -> None:
    here.copies = Copies(f"{here.world.home}/cache/copies", here.confinement, here.world.policy, most=30_000_000)
    others = here.world.home / "others"
    others.write_bytes(bytes(200_000_000))
    freeing = threading.Timer(0.3, others.unlink)
    freeing.start()
    outcome, _, copy = here.run(f"sleep 1; {FILLING}", timeout_s=WAIT_S)
    freeing.join()
    assert outcome.ended == "disk"
    fills(copy)


FILLING = "for n in $(seq 150); do head -c 1000000 /dev/urandom > f$n; sync f$n; done; sleep 1000"


def fills(copy: CommandCopy) -> None:
    """It is seen to be full, if only when its files are counted the next time."""
    deadline = time.monotonic() + WAIT_S
    while not copy.is_full():
        assert time.monotonic() < deadline
        time.sleep(0.1)


PROFILE = ("/data",)
TABLE = "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 25 {device} / {point} rw,relatime shared:1 - {kind} there rw\n"


def planned(point: str, kind: str, *, device: str = "0:50", folders: tuple[str, ...] = PROFILE) -> list[str]:
    mounts = Mounts(TABLE.format(point=point, kind=kind, device=device).encode())
    return folders_to_copy(SandboxProfile(folders, (), (), (), False), "/home/me/.agent/cache/copies", mounts)


@pytest.mark.spec("R-OUT-4")
@pytest.mark.parametrize(
    ("point", "kind", "why"),
    [
        ("/data", "nfs4", "/data is on a network file system (nfs4)."),
        ("/data", "cifs", "/data is on a network file system (cifs)."),
        ("/data", "fuse.sshfs", "/data is on a file system of another program (fuse.sshfs)."),
        ("/data", "fuseblk", "/data is on a file system of another program (fuseblk)."),
        ("/data/inner", "nfs", "/data/inner is mounted inside /data."),
        ("/data/inner", "ext4", "/data/inner is mounted inside /data."),
    ],
)
def test_no_copy_is_laid_over_what_others_write_too(point: str, kind: str, why: str) -> None:
    with pytest.raises(NoCopy) as refused:
        planned(point, kind)
    assert str(refused.value) == why


@pytest.mark.spec("R-OUT-4")
def test_a_local_file_system_gets_one_and_what_holds_the_copies_themselves_does_not() -> None:
    assert planned("/data", "xfs") == ["/data"]
    assert planned("/data", "xfs", folders=("/data/a", "/data", "/data/a/b")) == ["/data"]
    for folder in ("/", "/home/me", "/home/me/.agent/cache"):
        with pytest.raises(NoCopy, match="Assent's own data lies in it"):
            planned("/data", "xfs", folders=(folder,))


@pytest.mark.spec("R-OUT-4")
def test_a_folder_of_too_many_files_is_not_copied_one_by_one(each: Rehearsals) -> None:
    if (each.kind, each.copied) != ("bubblewrap", "copy"):
        pytest.skip("an overlay copies nothing, and once is enough")
    for folder in range(21):
        (each.world.workspace / f"d{folder}").mkdir()
        for number in range(1000):
            (each.world.workspace / f"d{folder}" / str(number)).touch()
    with pytest.raises(NoCopy, match="more than 20,000 files"):
        each.copies.make()
    assert not list(Path(f"{each.world.home}/cache/copies").iterdir())


MAKES = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from tests.unit.safety.world import World
from tests.unit.safety.outcomes.rehearsals import Rehearsals
os.environ["HOME"] = sys.argv[2] + "/person"
world = World(Path(sys.argv[2]))
made = Rehearsals(world)
_, reading, copy = made.run("mkdir -p a/b; echo x > a/b/c; chmod 000 a/b")
print(copy.folder, flush=True)
time.sleep(1000)
"""


@pytest.mark.spec("R-OUT-3")
def test_what_a_killed_process_left_is_cleared_at_the_next_start(here: Rehearsals, tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[4]
    argv = [sys.executable, "-c", MAKES, str(root), str(tmp_path / "other")]
    child = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=root)
    assert child.stdout is not None
    folder = Path(child.stdout.readline().strip())
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert folder.is_dir()
    Copies(str(folder.parent), here.confinement, here.world.policy).clear()
    assert not folder.exists()
    assert not (tmp_path / "other" / "person" / ".agent" / "workspace" / "a").exists()

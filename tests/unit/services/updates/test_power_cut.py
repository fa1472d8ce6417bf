"""The power goes, and of what was not synced any part may be lost: the old version or the new one is there still.

What is done is read from the system calls of the real code and of the real launcher."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from desktop.services.updates.versions import Versions
from tests.harness.power_cut import HAS_STRACE, PowerCut, lay_state, traced
from tests.servers.updates import SmallAssent
from tests.unit.services.updates.conftest import ROOT, installed
from tests.unit.services.updates.test_versions import laid_down, started

pytestmark = [pytest.mark.spec("R-UPD-2"), pytest.mark.skipif(not HAS_STRACE, reason="strace is not installed")]
NAMES = ("current", "previous", "trial", "trial.begun", "fell-back", "1.2.4", "1.3")
CODE = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from desktop.services.updates.launcher import renew_launcher
from desktop.services.updates.versions import Versions
from desktop.workers.update_host.unpacking import Expected, unpack
top, running, laid = Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
versions = Versions(top, running)
{body}
"""


def cut_off(top: Path, command: Sequence[str], *, code: int = 0) -> Iterator[Versions]:
    """The installation, in each state that it may be in after the power went while the command worked on it."""
    cut = PowerCut.of(top / "versions", NAMES)
    states = cut.states(traced(command, top.parent / "calls", code=code))
    assert len(states) > 1, "it changed nothing"
    for at, state in enumerate(states):
        place = top.parent / f"cut{at}"
        lay_state(state, place / "versions", top / "versions")
        shutil.copy(top / "assent", place / "assent")
        yield Versions(place, "1.2.4")


def python(body: str, top: Path, running: str, laid: Path) -> list[str]:
    return [sys.executable, "-I", "-B", "-c", CODE.format(body=body), str(ROOT), str(top), running, str(laid)]


def goes_on(versions: Versions, *may: str) -> str:
    """What starts; it updates again as ever."""
    said = started(versions).splitlines()[-1]
    assert said in may, (said, sorted(path.name for path in versions.folder.iterdir()))
    now = Versions(versions.top, versions.current)
    now.started_well()
    now.tidy()
    assert started(laid_down(now, "1.5")) == "1.5:"
    return said


def update(top: Path, code: int = 0) -> list[str]:
    """Lays 1.3 down from its package and switches to it."""
    packages = top.parent / "packages"
    package = SmallAssent("1.3", code=code).pack(packages)
    rights = SmallAssent("1.3", code=code).files()["lib/site-packages/resources/rights.json"]
    (packages / "rights").write_bytes(rights)
    body = (
        "with versions.claimed() as staging:\n"
        f"    rights = Path({str(packages / 'rights')!r}).read_bytes()\n"
        f"    unpack({str(package)!r}, str(staging / '1.3'), Expected('1.3', 10**6, rights), lambda _: None)\n"
        "    versions.take_in(staging / '1.3', '1.3')\n"
        "versions.switch('1.3')\n"
    )
    return python(body, top, "1.2.4", top.parent)


def test_an_update_leaves_the_old_version_or_the_new_one(tmp_path: Path) -> None:
    versions = installed(tmp_path / "assent")
    said = [goes_on(one, "1.2.4:", "1.3:") for one in cut_off(versions.top, update(versions.top))]
    assert {"1.2.4:", "1.3:"} == set(said)


def test_an_update_to_a_version_that_does_not_start_is_always_come_back_from(tmp_path: Path) -> None:
    """There is no moment in which it is current, and what to come back to is not on the disk yet."""
    versions = installed(tmp_path / "assent")
    for one in cut_off(versions.top, update(versions.top, code=1)):
        assert started(one).splitlines()[-1] == "1.2.4:"
        assert one.current == "1.2.4"


def test_going_back_by_hand_leaves_one_of_both(tmp_path: Path) -> None:
    top = tmp_path / "assent"
    laid_down(installed(top)).started_well()
    command = python("versions.switch('1.2.4')", top, "1.3", tmp_path)
    assert {"1.2.4:", "1.3:"} == {goes_on(one, "1.2.4:", "1.3:") for one in cut_off(top, command)}


def test_a_good_start_is_none_the_worse(tmp_path: Path) -> None:
    top = tmp_path / "assent"
    laid_down(installed(top))
    (top / "versions/trial.begun").write_text("1 x\n")
    command = python("versions.started_well()", top, "1.3", tmp_path)
    # the next start may take it for one that did not go well, and go back; it may not end without any
    for one in cut_off(top, command):
        goes_on(one, "1.2.4:", "1.3:")


def test_the_launcher_that_goes_back_never_leaves_the_version_that_does_not_start(tmp_path: Path) -> None:
    top = tmp_path / "assent"
    laid_down(installed(top), code=1)
    for one in cut_off(top, [str(top / "assent")]):
        assert started(one).splitlines()[-1] == "1.2.4:"
        assert one.current == "1.2.4"


def test_a_launcher_that_is_renewed_is_the_old_one_or_the_new_one(tmp_path: Path) -> None:
    top = tmp_path / "assent"
    versions = installed(top)
    old = Path(__file__).with_name("launchers") / "0"
    shutil.copy(old, top / "assent")
    new = (ROOT / "packaging/launcher/assent").read_text()
    (versions.place("1.2.4") / "bin/assent-launcher").write_text(new)
    cut = PowerCut.of(top, ["assent"])
    states = cut.states(traced(python("assert renew_launcher(versions)", top, "1.2.4", tmp_path), tmp_path / "calls"))
    assert sorted(state["assent"].content for state in states) == sorted([old.read_text(), new])


def test_a_file_that_is_not_synced_before_its_folder_is_named_would_be_seen(tmp_path: Path) -> None:
    """That the disk is followed at all."""
    (tmp_path / "versions").mkdir()
    body = "(laid / 'x').mkdir(); (laid / 'x/file').write_text('1'); (laid / 'x').rename(top / 'versions/1.3')"
    cut = PowerCut.of(tmp_path / "versions", NAMES)
    with pytest.raises(AssertionError, match="before"):
        cut.states(traced(python(body, tmp_path, "1.2.4", tmp_path), tmp_path / "calls"))


def test_of_two_steps_that_are_not_synced_either_may_be_lost(tmp_path: Path) -> None:
    (tmp_path / "versions").mkdir()
    body = (
        "import os\nos.chdir(top / 'versions')\n"
        "os.symlink('1', top / 'versions/current')\n(top / 'versions/trial').write_text('2')"
    )
    cut = PowerCut.of(tmp_path / "versions", NAMES)
    states = cut.states(traced(python(body, tmp_path, "1.2.4", tmp_path), tmp_path / "calls"))
    found = [{name: one.content for name, one in state.items()} for state in states]
    empty: dict[str, str] = {}
    for each in (empty, {"current": "1"}, {"trial": "2"}, {"trial": ""}, {"current": "1", "trial": ""}):
        assert each in found

"""Versions side by side: from one to another and back, whenever the power goes, and when the new one does not start."""

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from desktop import __version__
from desktop.domain.errors import KnownError
from desktop.services.updates.versions import Versions, versions_around
from tests.harness.timeouts import WAIT_S, until
from tests.servers.updates import INSIDE, SmallAssent
from tests.unit.services.updates.conftest import ROOT, installed

pytestmark = pytest.mark.spec("R-UPD-2")


def laid_down(versions: Versions, version: str = "1.3", **how: object) -> Versions:
    """The other version is there, and is current from the next start on."""
    with versions.claimed() as staging:
        place = SmallAssent(version, **how).lay(staging)  # type: ignore[arg-type]
        versions.take_in(place, version)
    versions.switch(version)
    return Versions(versions.top, version)


def started(versions: Versions, *arguments: str, code: int = 0) -> str:
    """What a start of it by its launcher says."""
    done = subprocess.run(
        [str(versions.launcher), *arguments], capture_output=True, text=True, timeout=WAIT_S, stdin=subprocess.DEVNULL
    )
    assert done.returncode == code, done.stderr
    return done.stdout.strip()


def test_the_launcher_starts_the_current_version_by_its_own_path(versions: Versions) -> None:
    assert started(versions, "--home", "/x y") == "1.2.4:--home /x y"
    script = '#!/bin/sh\necho "$0"\n'
    new = laid_down(versions, start=script)
    new.started_well()
    assert started(new) == str(versions.folder / "1.3/bin/assent")


def test_a_link_to_the_launcher_starts_it_too(versions: Versions, tmp_path: Path) -> None:
    (tmp_path / "assent-link").symlink_to(versions.launcher)
    done = subprocess.run([str(tmp_path / "assent-link"), "--version"], capture_output=True, text=True, timeout=WAIT_S)
    assert done.stdout == "assent 1.2.4\n"


def test_a_new_version_starts_and_the_one_before_is_kept(versions: Versions) -> None:
    new = laid_down(versions)
    assert (versions.current, versions.previous) == ("1.3", "1.2.4")
    new.started_well()
    assert started(new) == "1.3:"
    new.tidy()
    assert new.is_whole("1.2.4")
    new.switch("1.2.4")
    Versions(new.top, "1.2.4").started_well()
    assert started(versions) == "1.2.4:"
    assert versions.previous == "1.3"


def test_two_steps_back_are_not_kept(versions: Versions) -> None:
    new = laid_down(versions)
    new.started_well()
    newer = laid_down(new, "1.4")
    newer.started_well()
    newer.tidy()
    assert sorted(path.name for path in newer.folder.iterdir()) == [".staging", "1.3", "1.4", "current", "previous"]


def test_a_version_that_somebody_runs_is_not_taken_away(versions: Versions) -> None:
    held = versions.hold()
    new = laid_down(versions)
    new.started_well()
    newer = laid_down(new, "1.4")
    newer.started_well()
    newer.tidy()
    assert newer.is_whole("1.2.4")
    os.close(held)
    newer.tidy()
    assert not newer.is_whole("1.2.4")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fdinfo"), reason="only Linux says who has a lock")
async def test_a_version_that_an_editor_has_a_door_to_is_not_taken_away(tmp_path: Path) -> None:
    """A command without a window may last for weeks, and loads of its version as it goes."""
    versions = installed(tmp_path / "assent", __version__)
    place = versions.place(__version__)
    shutil.copytree(ROOT / "desktop", place / "desktop")
    command = [sys.executable, "-m", "desktop", "acp", "--home", str(tmp_path / "home")]
    door = subprocess.Popen(command, cwd=place, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        await until(lambda: _holds(door.pid, place))
        newer = laid_down(versions, "1000.0")
        newer.started_well()
        newest = laid_down(newer, "1001.0")
        newest.started_well()
        newest.tidy()
        assert newest.is_whole(__version__)
    finally:
        door.communicate(timeout=WAIT_S)
    newest.tidy()
    assert not newest.is_whole(__version__)


def _holds(process: int, folder: Path) -> bool:
    """To ask for the lock instead would be in the way of who takes it."""
    with contextlib.suppress(FileNotFoundError):  # files come and go meanwhile
        for entry in Path(f"/proc/{process}/fd").iterdir():
            if os.path.exists(entry) and os.path.samefile(entry, folder):
                return "FLOCK" in Path(f"/proc/{process}/fdinfo/{entry.name}").read_text()
    return False


def test_what_is_being_laid_down_is_not_tidied_away_by_another_process(versions: Versions) -> None:
    """It waits for runs, and is not current yet."""
    with versions.claimed() as staging:
        versions.tidy()
        versions.take_in(SmallAssent("1.3").lay(staging), "1.3")
    versions.tidy()
    assert versions.is_whole("1.3")


@pytest.mark.parametrize("code", [1, 127, 139])
def test_a_version_that_does_not_start_is_left_at_once_for_the_one_before(versions: Versions, code: int) -> None:
    laid_down(versions, code=code)
    assert started(versions, "--home", "/h").splitlines() == ["1.3:--home /h", "1.2.4:--home /h"]
    assert (versions.current, versions.fell_back(), versions.fell_back()) == ("1.2.4", "1.3", "")
    assert started(versions) == "1.2.4:"


def test_a_version_whose_program_is_gone_is_left_for_the_one_before(versions: Versions) -> None:
    new = laid_down(versions)
    (new.place("1.3") / "bin/assent").unlink()
    assert started(versions) == "1.2.4:"
    assert versions.fell_back() == "1.3"


def test_a_first_start_that_never_said_it_went_well_is_the_last(versions: Versions) -> None:
    """The power went, or somebody ended what did not come."""
    laid_down(versions)
    gone = subprocess.Popen(["true"])
    gone.wait()
    (versions.folder / "trial.begun").write_text(f"{gone.pid}\n")
    assert started(versions) == "1.2.4:"
    assert (versions.current, versions.fell_back()) == ("1.2.4", "1.3")


WAITS = '#!/bin/sh\necho "1.3:$*"\n[ "$1" != --home ] || read -r line\n'
"""A version that ends at once, but for a start with a home, which ends with its input."""


async def test_a_first_start_that_is_under_way_is_left_alone(versions: Versions) -> None:
    laid_down(versions, start=WAITS)
    command = [str(versions.launcher), "--home", "/h"]
    first = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert first.stdout is not None
    assert first.stdout.readline() == "1.3:--home /h\n"
    await until(lambda: _began(versions) is not None)
    assert started(versions) == "1.3:"
    assert versions.current == "1.3"
    first.communicate("\n", timeout=WAIT_S)
    assert first.returncode == 0


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there it is known by its number alone")
@pytest.mark.parametrize("moment", [0, 1])
async def test_another_process_that_has_the_number_of_the_first_start_by_now_is_not_it(
    versions: Versions, moment: int
) -> None:
    """The power went, and numbers are given out anew: the process of that number began at another time, or in another
    life of the system."""
    laid_down(versions, start=WAITS)
    command = [str(versions.launcher), "--home", "/h"]
    first = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    await until(lambda: _began(versions) is not None)
    number, *when = _began(versions) or ["", "", ""]
    when[moment] = f"1{when[moment]}"
    (versions.folder / "trial.begun").write_text(f"{number} {'.'.join(when)}\n")
    assert started(versions) == "1.2.4:"
    assert (versions.current, versions.fell_back()) == ("1.2.4", "1.3")
    first.communicate("\n", timeout=WAIT_S)


def _began(versions: Versions) -> list[str] | None:
    """The number of the process of the first start, the life of the system, and the tick in it."""
    with contextlib.suppress(FileNotFoundError):
        said = (versions.folder / "trial.begun").read_text()
        return said.replace(".", " ").split() if said.endswith("\n") else None
    return None


def test_a_version_that_refuses_with_a_reason_leaves_the_start_to_the_one_before(versions: Versions) -> None:
    """It may lack a library of the system that the one before does not need; nothing is decided by that."""
    laid_down(versions, code=2)
    assert started(versions, "--home", "/h").splitlines() == ["1.3:--home /h", "1.2.4:--home /h"]
    assert (versions.current, versions.fell_back()) == ("1.3", "")
    assert not (versions.folder / "trial.begun").exists()


def test_a_home_in_use_is_no_failed_start(tmp_path: Path) -> None:
    """Both refuse: the version that runs already has the home."""
    versions = installed(tmp_path / "assent", code=2)
    laid_down(versions, code=2)
    assert started(versions, code=2).splitlines() == ["1.3:", "1.2.4:"]
    assert versions.current == "1.3"


@pytest.mark.parametrize("command", ["run", "--version", "--check", "mcp", "audit-check"])
def test_commands_without_a_window_say_nothing_about_whether_it_starts(versions: Versions, command: str) -> None:
    laid_down(versions, start='#!/bin/sh\necho "1.3:$*"\nexit 1\n')
    assert started(versions, command, code=1) == f"1.3:{command}"
    assert versions.current == "1.3"
    assert not (versions.folder / "trial.begun").exists()


def test_what_started_well_may_crash_later(versions: Versions) -> None:
    script = f'#!/bin/sh\nrm "{versions.folder}/trial"\necho 1.3\nexit 1\n'
    laid_down(versions, start=script)
    assert started(versions, code=1) == "1.3"
    assert (versions.current, versions.fell_back()) == ("1.3", "")


def test_an_update_that_was_laid_down_since_outlives_a_crash_of_this_first_start(versions: Versions) -> None:
    """The launcher waits as long as the first start of 1.3 lasts; 1.4 came meanwhile, and is no matter of 1.3."""
    new = versions.folder
    script = f'#!/bin/sh\nprintf 1.3 > "{new}/trial"\nln -sfn 1.4 "{new}/current"\necho 1.3\nexit 1\n'
    SmallAssent("1.4").lay(versions.top)
    laid_down(versions, start=script)
    assert started(versions, code=1) == "1.3"
    assert (versions.current, versions.fell_back()) == ("1.4", "")
    assert (new / "trial").read_text() == "1.3"


def test_a_version_that_was_never_started_is_not_the_one_to_come_back_to(versions: Versions) -> None:
    """1.4 was laid down before anybody started 1.3, and does not start: 1.3 may not either."""
    laid_down(versions, code=1)
    laid_down(versions, "1.4", code=1)
    assert versions.previous == "1.2.4"
    assert started(versions).splitlines() == ["1.4:", "1.2.4:"]
    assert (versions.current, versions.fell_back()) == ("1.2.4", "1.4")


def test_going_back_to_the_version_before_a_trial_ends_in_no_circle(versions: Versions) -> None:
    laid_down(versions)
    versions.switch("1.2.4")
    assert started(versions) == "1.2.4:"
    assert versions.current == "1.2.4"


def test_the_new_version_reads_what_is_given_to_it_and_hears_that_it_is_to_end(versions: Versions) -> None:
    laid_down(
        versions, start='#!/bin/sh\ntrap "exit 0" TERM\nread -r line\necho "$line"\nwhile :; do sleep 0.02; done\n'
    )
    process = subprocess.Popen([str(versions.launcher)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("heard\n")
    process.stdin.flush()
    assert process.stdout.readline() == "heard\n"
    process.terminate()
    assert process.wait(WAIT_S) == 0
    process.stdin.close()
    process.stdout.close()


def test_a_new_version_starts_without_an_input_too(versions: Versions) -> None:
    laid_down(versions, start="#!/bin/sh\necho came\n")
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" <&-', str(versions.launcher)], capture_output=True, text=True, timeout=WAIT_S
    )
    assert (done.stdout, done.stderr) == ("came\n", "")


def _cut_off_at(call: int, folder: Path) -> dict[str, str]:
    """An environment whose programs end the shell that calls them instead of being run, from the n-th on."""
    folder.mkdir()
    for name in ("mv", "ln", "rm"):
        count = f'printf x >> "{folder}/calls"; [ "$(wc -c < "{folder}/calls")" -gt {call} ]'
        (folder / name).write_text(f'#!/bin/sh\nif {count}; then kill -9 $PPID; fi\nexec {shutil.which(name)} "$@"\n')
        (folder / name).chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def test_falling_back_that_is_cut_off_anywhere_is_done_by_the_next_start(versions: Versions, tmp_path: Path) -> None:
    laid_down(versions, code=1)
    for call in range(20):
        place = Versions(tmp_path / str(call), "1.2.4")
        shutil.copytree(versions.top, place.top, symlinks=True)
        done = subprocess.run(
            [str(place.launcher)], env=_cut_off_at(call, tmp_path / f"bin{call}"), capture_output=True, timeout=WAIT_S
        )
        assert started(place).splitlines()[-1] == "1.2.4:"
        assert (place.current, place.fell_back()) == ("1.2.4", "1.3")
        if done.returncode == 0:
            break
    assert call >= 4


@pytest.mark.parametrize("named", ["", "..", "../../x", "1.2.4/../1.3", "1 2", "x", "-rf", "/etc"])
def test_a_link_that_names_no_version_starts_nothing(versions: Versions, named: str) -> None:
    (versions.folder / "current").unlink()
    if named:
        (versions.folder / "current").symlink_to(named)
    assert started(versions, code=1) == ""
    assert versions.current == ""


@pytest.mark.parametrize("named", ["..", "../1.2.4", "$(touch x)", "1.2.4; rm", "", "9.9"])
def test_a_trial_that_names_no_version_is_none(versions: Versions, named: str) -> None:
    new = laid_down(versions)
    (new.folder / "trial").write_text(named)
    assert started(versions) == "1.3:"


# -- the power goes ----------------------------------------------------------------------------------------------------

STEPS = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from desktop.services.updates.versions import Versions
CHANGES = {"os.rename", "os.symlink", "os.remove", "os.mkdir", "os.rmdir", "os.link"}

def killed(at, work):
    child = os.fork()
    if child:
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    left = [at]
    def step(event, arguments):
        if event in CHANGES or (event == "open" and arguments[2] & os.O_CREAT):
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(step)
    work()
    os._exit(0)

def update(top):
    versions = Versions(Path(top), "1.2.4")
    versions.take_in(Path(top).parent / "laid", "1.3")
    versions.switch("1.3")

def back(top):
    Versions(Path(top), "1.3").switch("1.2.4")

def well(top):
    versions = Versions(Path(top), "1.3")
    versions.started_well()
    versions.tidy()

import shutil
at, work = 0, globals()[sys.argv[3]]
while True:
    place = f"{sys.argv[2]}/{at}"
    shutil.copytree(sys.argv[2] + "/before", place, symlinks=True)
    if not killed(at, lambda: work(place + "/assent")):
        print(at)
        break
    at += 1
"""


def _killed_at_each_step(before: Path, work: str) -> list[Versions]:
    """The same installation, cut off before each of the steps, and at last not cut off."""
    command = [sys.executable, "-I", "-c", STEPS, str(ROOT), str(before.parent), work]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 0, done.stderr
    return [Versions(before.parent / str(at) / "assent", "1.2.4") for at in range(int(done.stdout) + 1)]


def test_an_update_that_is_cut_off_anywhere_leaves_the_old_version_or_the_new_one(tmp_path: Path) -> None:
    installed(tmp_path / "before/assent")
    SmallAssent("1.3").lay(tmp_path / "laying")
    (tmp_path / "laying/versions/1.3").rename(tmp_path / "before/laid")
    cut = _killed_at_each_step(tmp_path / "before", "update")
    said = [started(one) for one in cut]
    assert len(said) > 8
    assert said == sorted(said)
    assert (said[0], said[-1], set(said)) == ("1.2.4:", "1.3:", {"1.2.4:", "1.3:"})
    for one in cut:  # and the next try is none the worse for it
        again = Versions(one.top, one.current)
        again.started_well()
        again.tidy()
        assert started(laid_down(again, "1.5")) == "1.5:"


def test_going_back_that_is_cut_off_anywhere_leaves_one_of_both(tmp_path: Path) -> None:
    laid_down(installed(tmp_path / "before/assent")).started_well()
    said = [started(one) for one in _killed_at_each_step(tmp_path / "before", "back")]
    assert said == sorted(said, reverse=True)
    assert set(said) == {"1.2.4:", "1.3:"}


def test_a_good_start_that_is_cut_off_anywhere_is_none_the_worse(tmp_path: Path) -> None:
    new = laid_down(installed(tmp_path / "before/assent"))
    SmallAssent("1.1").lay(new.top)
    (new.folder / ".1.0.0123456789ab.unfinished/bin").mkdir(parents=True)
    (new.folder / "trial.begun").write_text("999999999")
    cut = _killed_at_each_step(tmp_path / "before", "well")
    assert {started(one) for one in cut} <= {"1.2.4:", "1.3:"}
    assert started(cut[-1]) == "1.3:"
    assert sorted(path.name for path in cut[-1].folder.iterdir()) == [".staging", "1.2.4", "1.3", "current", "previous"]


def test_the_halves_of_an_earlier_process_are_in_nobodys_way(versions: Versions) -> None:
    SmallAssent("1.3").lay(versions.top)
    (versions.place("1.3") / "bin/assent").unlink()
    assert started(laid_down(versions)) == "1.3:"


# -- who may do it -----------------------------------------------------------------------------------------------------


def test_two_processes_do_not_lay_down_at_the_same_time(versions: Versions) -> None:
    with versions.claimed(), pytest.raises(BlockingIOError), versions.claimed():
        pass
    with versions.claimed() as again:
        assert again.is_dir()


def test_the_version_that_runs_is_never_replaced(versions: Versions, tmp_path: Path) -> None:
    place = SmallAssent("1.2.4", code=5).lay(tmp_path / "other")
    with pytest.raises(KnownError):
        versions.take_in(place, "1.2.4")
    assert started(versions) == "1.2.4:"


@pytest.mark.parametrize("number", ["../1.3", "", "1..3", "1.3/", "01.3", "current"])
def test_what_is_no_number_is_no_version(versions: Versions, number: str) -> None:
    with pytest.raises(KnownError):
        versions.switch(number)
    with pytest.raises(KnownError):
        versions.take_in(versions.folder / "1.2.4", number)
    assert versions.current == "1.2.4"


def test_a_process_finds_the_versions_it_belongs_to(versions: Versions, tmp_path: Path) -> None:
    code = versions.place("1.2.4") / INSIDE
    assert versions_around(code, "1.2.4") == versions
    assert versions_around(code, "1.2.5") is None
    assert versions_around(tmp_path, "1.2.4") is None
    versions.launcher.unlink()
    assert versions_around(code, "1.2.4") is None


def test_a_folder_that_cannot_be_written_is_seen(versions: Versions) -> None:
    assert versions.writable
    shutil.rmtree(versions.folder)
    assert not versions.writable

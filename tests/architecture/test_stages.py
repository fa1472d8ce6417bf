"""A stage of the test run is ended by the clock only when nothing in it finishes any more."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from devlib import ending, testing
from devlib.standing import Standing

from tests.harness.timeouts import WAIT_S

BUSY = "import os, sys, time\nfor _ in range(8):\n    time.sleep(0.2)\n    os.utime(sys.argv[1])\nsys.exit(5)"
HANGING = "import time\ntime.sleep(600)"


@pytest.fixture
def _bare_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs that a test starts load no plugins, which is two thirds of what they take."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def ended(code: str, progress: Path, quiet_s: float) -> int:
    progress.touch()
    with subprocess.Popen([sys.executable, "-c", code, str(progress)], start_new_session=True) as process:
        return testing.await_progress(process, progress, quiet_s)


@pytest.mark.parametrize("code", [BUSY, "import time\ntime.sleep(0.5)\nraise SystemExit(5)"])
def test_a_run_in_which_tests_finish_may_take_as_long_as_it_takes(tmp_path: Path, code: str) -> None:
    assert ended(code, tmp_path / "progress", 100.0) == 5


def test_a_run_longer_than_its_silence_is_not_ended(tmp_path: Path) -> None:
    """It may be ended after 8 s without a sign; it takes longer, and gives one forty times in that time."""
    slow = BUSY.replace("range(8)", "range(45)")
    assert ended(slow, tmp_path / "progress", 8.0) == 5


def test_a_run_in_which_nothing_finishes_is_ended(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert ended(HANGING, tmp_path / "progress", 2.0) == 1
    assert "no test has finished for 2 s" in "".join(capfd.readouterr())


def test_while_the_stages_run_one_reads_how_many_of_their_tests_are_done(tmp_path: Path) -> None:
    """The second of three tests ends only when it has been said that the first one has."""
    heard = tmp_path / "heard"
    (tmp_path / "test_three.py").write_text(
        "import os, time\nimport pytest\ndef test_one():\n    pass\n"
        f"def test_two():\n    end = time.monotonic() + {WAIT_S}\n"
        f"    while not os.path.exists({str(heard)!r}):\n"
        "        assert time.monotonic() < end, 'never said'\n        time.sleep(0.01)\n"
        "def test_three():\n    pass\n"
    )
    (tmp_path / "test_more.py").write_text("def test_it():\n    pass\n")
    lines: list[str] = []

    def tell(line: str) -> None:
        lines.append(line)
        if "1 of 3" in line:
            heard.touch()

    path, more = str(tmp_path / "test_three.py"), str(tmp_path / "test_more.py")
    options = ("-p", "tests.conftest")
    assert testing.run_stages([testing.Stage(options, (path,)), testing.Stage(options, (more,))], 0.02, tell) == 0
    assert any(f"{path} 1 of 3" in line for line in lines), lines
    assert lines[0].startswith("0 of 2 stages done")


def test_a_stage_that_has_ended_is_counted_and_no_longer_named(tmp_path: Path) -> None:
    standing = Standing(3)
    with standing.during("store", tmp_path / "not yet"):
        assert standing.line() == "0 of 3 stages done; now store begins"
        (tmp_path / "told").write_text("12 480\n")
        with standing.during("tools", tmp_path / "told"):
            assert standing.line() == "0 of 3 stages done; now store begins, tools 12 of 480"
    assert standing.line() == "2 of 3 stages done"


def test_a_pytest_that_a_test_starts_does_not_tell_of_itself(tmp_path: Path) -> None:
    progress = tmp_path / "progress"
    progress.touch()
    inner = tmp_path / "inner" / "test_inner.py"
    inner.parent.mkdir()
    inner.write_text("def test_a():\n    pass\ndef test_b():\n    pass\n")
    (tmp_path / "test_outer.py").write_text(
        "import subprocess, sys\ndef test_it():\n"
        f"    subprocess.run([sys.executable, '-m', 'pytest', '-p', 'tests.conftest', {str(inner)!r}], check=True)\n"
        f"    assert open({str(progress)!r}).read() == '0 1\\n'\n"
    )
    environment = {**testing.clean_environment(), testing.PROGRESS: str(progress)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", str(tmp_path / "test_outer.py")]
    subprocess.run(command, cwd=testing.ROOT, env=environment, check=True)
    assert progress.read_text() == "1 1\n"


@pytest.mark.usefixtures("_bare_pytest")
def test_no_stage_cleans_the_temporary_files_of_another(tmp_path: Path) -> None:
    """pytest's common folder is cleaned by every process that ends, and of two that clean at once one fails."""
    said = tmp_path / "said"
    for name in ("one", "two"):
        lines = (
            "from pathlib import Path",
            "def test_it(tmp_path_factory):",
            f"    Path({str(said)!r}).open('a').write(str(tmp_path_factory.getbasetemp()) + '\\n')",
        )
        (tmp_path / f"test_{name}.py").write_text("\n".join(lines))
    stages = [testing.Stage((), (str(tmp_path / f"test_{name}.py"),)) for name in ("one", "two")]
    assert testing.run_stages(stages) == 0
    first, second = (Path(line) for line in said.read_text().splitlines())
    assert first.parent != second.parent
    assert not first.exists()
    assert not second.exists()


def test_every_folder_of_tests_is_in_exactly_one_stage() -> None:
    tests = testing.ROOT / "tests"
    files = {path for path in tests.rglob("test_*.py") if "data" not in path.relative_to(tests).parts}
    stages = testing.stages()
    for path in files:
        assert len([one for stage in stages for one in stage.paths if path.is_relative_to(testing.ROOT / one)]) == 1, (
            path
        )


def test_the_rooms_below_the_presenter_are_tested_with_qt_hidden() -> None:
    for stage in testing.stages():
        rooms = {Path(path).parts[2] for path in stage.paths if path.startswith("tests/unit/")}
        assert bool(stage.options) == bool(rooms & set(testing.RUNTIME_ROOMS)), stage
        assert not stage.options or rooms <= set(testing.RUNTIME_ROOMS)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a process's state is read from /proc")
@pytest.mark.usefixtures("_bare_pytest")
@pytest.mark.parametrize("how", ["run_stages([testing.Stage((), (PATH,))])", "run_chosen([PATH])"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_a_run_that_a_signal_ends_leaves_nothing_running(tmp_path: Path, how: str, number: signal.Signals) -> None:
    """Its pytest, a helper of that one, and, if it is not killed itself, a helper that leads its own session."""
    helper = "subprocess.Popen([*{before}, sys.executable, '-c', 'import time; time.sleep(600)'], **{options})"
    lines = (
        "import os, subprocess, sys, time",
        "from pathlib import Path",
        "def test_it():",
        "    one = " + helper.format(before=list(ending.WITH_ITS_PARENT), options="{}"),
        "    other = " + helper.format(before="()", options="{'start_new_session': True}"),
        f"    told = Path({str(tmp_path / 'told')!r})",
        "    told.with_suffix('.part').write_text(f'{os.getpid()} {one.pid} {other.pid}')",
        "    told.with_suffix('.part').rename(told)",
        "    time.sleep(600)",
    )
    (tmp_path / "test_long.py").write_text("\n".join(lines))
    code = (
        "import signal, sys; from devlib import ending, testing; PATH = sys.argv[1]\n"
        "for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):\n"
        "    signal.signal(one, signal.SIG_DFL)  # whoever started the tests may ignore it, as nohup does\n"
        "sys.exit(ending.until_told(lambda: {}))"
    )
    environment = {**os.environ, "PYTHONPATH": str(testing.ROOT / "packaging")}
    command = [sys.executable, "-c", code.format(f"testing.{how}"), str(tmp_path / "test_long.py")]
    with subprocess.Popen(command, env=environment) as run:
        until(lambda: (tmp_path / "told").exists() or run.poll() is not None)
        started = [int(one) for one in (tmp_path / "told").read_text().split()]
        run.send_signal(number)
        try:
            assert run.wait(WAIT_S) == (-number if number == signal.SIGKILL else 128 + number)
        finally:
            run.kill()
    try:
        until(lambda: not any(map(runs, started[:2] if number == signal.SIGKILL else started)))
    finally:
        for one in filter(runs, started):
            os.kill(one, signal.SIGKILL)


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    """As `nohup` starts a command that is to go on without its terminal."""
    code = (
        "import os, signal; from devlib.ending import until_told; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "raise SystemExit(until_told(lambda: os.kill(os.getpid(), signal.SIGHUP) or 5))"
    )
    environment = {**os.environ, "PYTHONPATH": str(testing.ROOT / "packaging")}
    assert subprocess.run([sys.executable, "-c", code], env=environment).returncode == 5


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False

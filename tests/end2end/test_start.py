"""The command: its arguments, the home, the first paint, and the second instance."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from desktop import __version__
from desktop.app.home.installation import this_installation
from desktop.app.main import _ordinary, parser
from tests.end2end import tiny
from tests.harness.timeouts import WAIT_S

ROOT = tiny.ROOT


def assent(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The real command, `python -m desktop`."""
    return subprocess.run(
        [sys.executable, "-m", "desktop", *options],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_version_is_that_of_the_project_and_costs_no_qt_and_no_home() -> None:
    done = assent("--version")
    said = f"assent {__version__} ({this_installation().line})\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == __version__
    code = "import sys; sys.argv = ['assent', '--version']; from desktop.app.main import main; main()\n"
    code += "sys.exit('PySide6' in sys.modules or 'asyncio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True).returncode == 0


def test_nothing_heavy_is_imported_before_the_first_paint(tmp_path: Path) -> None:
    """asyncio alone costs a quarter of what a bare window takes to start."""
    code = (
        "import sys, PySide6.QtCore; theirs = set(sys.modules)  # from Python 3.14 on Qt brings dataclasses along\n"
        "import desktop.app.main, desktop.app.lifecycle.start, desktop.app.lifecycle.wiring\n"
        "print([name for name in ('asyncio', 'qasync', 'desktop.domain.runs.events', 'sqlite3', 'yaml', 'keyring',"
        " 'socket', 'subprocess', 'dataclasses', 'logging.handlers', 'signal', 'PySide6.QtSvg',"
        " 'desktop.ui.theme.active', 'desktop.ui.shell.rail', 'desktop.presenter')"
        " if name in sys.modules and name not in theirs])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_window_is_made_without_the_namespace_of_qt(tmp_path: Path) -> None:
    """Its enumerations take a tenth of what a bare window takes to start; a name or a default of a call makes them."""
    code = (
        "import enum, sys; from pathlib import Path; from desktop.app.main import load_qt; load_qt()\n"
        "from desktop.app.home.folder import open_home; from desktop.app.lifecycle import start, wiring\n"
        "from PySide6 import QtCore; app = start.QApplication(['assent', '-style', 'fusion'])\n"
        "home = open_home(Path(sys.argv[1])); start.CrashReporter(home.logs).install()\n"
        "window = wiring.make_window(home); watch = start.WindowWatch(window)\n"
        "made = lambda: any(kind.__name__ == 'AlignmentFlag' for kind in enum.IntFlag.__subclasses__())\n"
        "window.show(); watch.wait_for_paint(); print(made(), bool(QtCore.Qt), made())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "home")], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False True True\n"


SELDOM = (
    "cronsim",
    "csv",
    "decimal",
    "difflib",
    "html",
    "jeepney",
    "sysconfig",
    "tree_sitter",
    "tzlocal",
    "xml.etree.ElementTree",
    "yaml",
    "zoneinfo",
    "desktop.agents.loop.rounds",
    "desktop.agents.skill.provider_turn",
    "desktop.agents.turn",
    "desktop.app.desktop.notifications",
    "desktop.services.chats.run",
    "desktop.services.debates.run",
    "desktop.services.delegation.calls",
    "desktop.services.rules.simulator",
    "desktop.services.skills.editing",
    "desktop.services.turns.spec",
    "desktop.models.demo",
    "desktop.models.scripted",
    "desktop.presenter.schedules.page",
    "desktop.presenter.settings.reach",
    "desktop.presenter.skills.page",
    "desktop.safety.shell.reader",
    "desktop.skills.catalogue.search",
    "desktop.skills.directives",
    "desktop.skills.values.jsonpath",
    "desktop.tools.cli.tool",
    "desktop.tools.mcp.server",
    "desktop.ui.approvals.request.dialog",
    "desktop.ui.chat.composer.model_popup",
    "desktop.ui.chat.context_card",
    "desktop.ui.chat.context_popover",
    "desktop.ui.run_panel.panel",
    "desktop.ui.trace.panel",
    "desktop.ui.schedules.page",
    "desktop.workers.js_code.engine",
)


def test_what_most_starts_never_need_is_not_there_when_the_app_is_idle() -> None:
    """Together it is a tenth of what the idle app takes."""
    code = (
        "import ctypes, sys; theirs = set(sys.modules)  # from Python 3.14 on ctypes brings sysconfig along\n"
        "from desktop.app.main import load_qt; load_qt()\n"
        "import desktop.app.lifecycle.startup, desktop.app.wiring.runtime\n"
        "import desktop.app.wiring.view_models, desktop.app.wiring.pages\n"
        f"print([name for name in {SELDOM} if name in sys.modules and name not in theirs])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_importing_with_qt_loaded_costs_what_it_costs_without() -> None:
    """PySide's own ``__import__`` reads the source of every module and keeps it: a third of what the idle app took."""
    code = (
        "import linecache; from desktop.app.main import load_qt; load_qt()\n"
        "import mailbox; from PySide6.QtCore import *; QObject().setObjectName('x')\n"
        "print(QObject.__name__, [name for name in linecache.cache if 'mailbox' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("QObject []\n", "")


@pytest.mark.parametrize(
    "arguments", [[], ["--home", "x y"], ["--exit-after-paint", "--home", "."], ["--home", "a", "--home", "b"]], ids=str
)
def test_an_ordinary_start_is_read_as_argparse_reads_it(arguments: list[str]) -> None:
    assert vars(_ordinary(arguments)) == vars(parser().parse_args(arguments))


@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["--home"], ["--home", "--check"], ["--home=x"], ["x"], ["-h"], ["--settle", "1"], ["--exit"]],
    ids=str,
)
def test_whatever_else_is_given_is_for_argparse(arguments: list[str]) -> None:
    assert _ordinary(arguments) is None


def test_after_the_first_paint_it_says_how_long_it_took_and_ends(tmp_path: Path) -> None:
    done = tiny.run(tmp_path / "home", "--exit-after-paint")
    assert (done.returncode, done.stderr) == (0, "")
    painted = json.loads(done.stdout)
    assert 10 < painted["first_paint_ms"] < 60_000
    assert 0 < painted["painted_ns"] < time.monotonic_ns()
    assert painted["pss_kb"] > 10_000
    assert tiny.trace(tmp_path / "home") == [], "nothing was wired"


def test_when_settled_it_says_its_memory_and_ends_in_order(tmp_path: Path) -> None:
    done = tiny.run(tmp_path / "home", "--exit-after-paint", "--settle", "0.1")
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = done.stdout.splitlines()
    measured = json.loads(line)
    assert set(measured) == {"first_paint_ms", "painted_ns", "pss_kb", "idle_pss_kb"}
    assert tiny.trace(tmp_path / "home")[-1] == "flushed"


@pytest.mark.parametrize("there", [(), ("app/__init__.py", "app/main.py")], ids=["nothing", "a beginning"])
def test_code_that_is_gone_before_there_is_a_window_is_said_in_a_sentence(
    tmp_path: Path, there: tuple[str, ...]
) -> None:
    """An installer took it away in that moment; in the window, `test_start_end.py` has it."""
    for name in ("__init__.py", "__main__.py", *there):
        (tmp_path / "desktop" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "desktop" / name, tmp_path / "desktop" / name)
    done = subprocess.run(
        [sys.executable, "-m", "desktop"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        env=dict(os.environ),
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("assent: A part of Assent's own files cannot be loaded (desktop.app")
    assert "Traceback" not in done.stderr


def test_the_home_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    home = tmp_path / "deep" / "home"
    assert tiny.run(home, "--exit-after-paint").returncode == 0
    assert {path.name for path in home.iterdir()} == {"data", "logs", "skills", "agents", "workspace"}
    for folder in (home, home / "data", home / "logs"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for file in (*(home / "data").iterdir(), *(home / "logs").iterdir()):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_home_comes_from_the_option_before_the_environment_before_the_default(tmp_path: Path) -> None:
    code = (
        "import os, sys; from desktop.app.home.folder import home_path\n"
        "print(home_path('a/../b', os.environ), home_path(None, os.environ), home_path(None, {}), home_path('~/x', {}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "AGENT_HOME": "/named", "HOME": "/home/me", "PYTHONPATH": str(ROOT)},
    )
    assert done.stdout.split() == [str(tmp_path / "b"), "/named", "/home/me/.agent", "/home/me/x"]


@pytest.mark.parametrize("kind", ["a file", "below a file"])
def test_a_home_that_is_no_folder_is_refused_in_words(tmp_path: Path, kind: str) -> None:
    (tmp_path / "blocked").write_text("a file")
    done = tiny.run(tmp_path / "blocked" / ("" if kind == "a file" else "home"), "--exit-after-paint")
    assert_refused(done)


@pytest.mark.parametrize("writable", ["nothing", "the home but not its data"])
def test_a_home_without_write_permission_is_refused_in_words(tmp_path: Path, writable: str) -> None:
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    if writable != "nothing":
        for name in ("data", "logs", "skills", "agents", "workspace"):
            (blocked / name).mkdir(mode=0o555)
    else:
        blocked.chmod(0o555)
    done = subprocess.run(
        tiny.bound_by_permissions(tiny.command(blocked, "--exit-after-paint")),
        cwd=ROOT,
        env=tiny.environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert_refused(done)


def assert_refused(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    first, second = done.stderr.splitlines()
    assert first.startswith("assent: ")
    assert "blocked" in first
    assert "--home DIR" in second


# -- the second instance ------------------------------------------------------------------------------------------


def test_a_second_instance_is_refused_in_words_and_the_first_shows_its_window(short_tmp: Path) -> None:
    home = short_tmp / "home"
    with tiny.running(home) as first:
        done = tiny.run(home)
        assert done.returncode == 2
        assert f"already running with the home folder {home} (process {first.pid})" in done.stderr
        assert "brought to the front" in done.stderr
        assert first.poll() is None
        assert tiny.run(short_tmp / "other", "--exit-after-paint").returncode == 0


def test_a_home_too_deep_for_a_socket_still_refuses_a_second_instance(tmp_path: Path) -> None:
    home = tmp_path / ("deep" * 30)
    with tiny.running(home) as first:
        done = tiny.run(home)
        assert done.returncode == 2
        assert "start with another folder: --home DIR" in done.stderr
        first.terminate()
        assert tiny.ended(first) == (0, "", "")


def test_the_same_home_by_another_name_is_the_same_home(short_tmp: Path) -> None:
    home = short_tmp / "home"
    (short_tmp / "link").symlink_to(home)
    with tiny.running(home):
        assert tiny.run(short_tmp / "link").returncode == 2


def test_after_kill_nine_the_home_is_free_at_once_even_if_a_child_lives_on(short_tmp: Path) -> None:
    home = short_tmp / "home"
    with tiny.running(home, "children") as first:
        child = int(tiny.trace(home)[0].split()[1])
        first.kill()
        first.wait()
        try:
            assert tiny.run(home, "--exit-after-paint").returncode == 0
        finally:
            os.kill(child, signal.SIGKILL)
    with tiny.running(home) as again:
        assert "brought to the front" in tiny.run(home).stderr, "the dead one's socket was replaced"
        again.terminate()
        again.wait(WAIT_S)


def test_garbage_on_the_socket_does_no_harm(short_tmp: Path) -> None:
    home = short_tmp / "home"
    with tiny.running(home) as first:
        for garbage in (b"", b"x" * 100_000, b"\xff\xfe\n", b"raise"):
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(str(home / "data" / "raise.sock"))
                try:
                    line.sendall(garbage)
                except (BrokenPipeError, ConnectionResetError):
                    continue
        assert "brought to the front" in tiny.run(home).stderr
        first.terminate()
        code, _, err = tiny.ended(first)
    assert (code, err) == (0, "")
    assert tiny.reports(home) == []


# -- a start that fails -------------------------------------------------------------------------------------------


def test_a_bug_at_the_start_leaves_a_report_and_one_sentence(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for scenario in ("window-fails", "build-fails"):
        home.mkdir(exist_ok=True)
        (home / "scenario").write_text(scenario)
        done = tiny.run(home)
        assert done.returncode == 1
        assert "ValueError in Assent itself; it has to close.\n" in done.stderr
        assert re.search(r"\n  A report is in .*crash-.*\.txt", done.stderr)
        assert "sk-abc" not in done.stderr
    texts = tiny.reports(home)
    assert len(texts) == 2
    assert not any("sk-abc" in text for text in texts)


def test_an_error_of_the_world_at_the_start_is_told_with_the_next_step(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "scenario").write_text("window-refused")
    done = tiny.run(home)
    assert (done.returncode, done.stderr) == (2, "assent: The database is damaged.\n  Make a copy.\n")
    assert tiny.reports(home) == []


# -- what the idle app does without ----------------------------------------------------------------------------------


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads what a process has mapped, as Linux tells it")
def test_the_idle_app_has_not_loaded_what_only_some_of_its_work_needs(tmp_path: Path) -> None:
    """Keyring, jsonschema_rs and TLS take 17 MB: the first lives in a child, the second waits for a tool call."""
    home = tmp_path / "home"
    command = [sys.executable, "-m", "desktop", "--home", str(home)]
    with subprocess.Popen(command, cwd=ROOT, env=tiny.environment(), stderr=subprocess.DEVNULL) as app:
        try:
            children = Path(f"/proc/{app.pid}/task/{app.pid}/children")
            tiny.wait_for(lambda: app.poll() is not None or len(_programs(children)) >= 2)
            assert _programs(children) >= {"model_host", "keyring_host"}, "both are asked once the pages stand"
            mapped = Path(f"/proc/{app.pid}/maps").read_text()
        finally:
            app.terminate()
            app.wait(WAIT_S)
    assert "libQt6Widgets" in mapped
    assert [name for name in ("cryptography", "jsonschema_rs", "libssl", "litellm") if name in mapped] == []


def _programs(children: Path) -> set[str]:
    """The names of the folders that a process's children were started from."""
    found = set()
    for child in children.read_text().split():
        command = Path(f"/proc/{child}/cmdline")
        with contextlib.suppress(OSError):
            found |= {name for name in ("model_host", "keyring_host") if name in command.read_text()}
    return found

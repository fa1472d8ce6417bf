"""Each guard of tests/harness fails a test that does what it guards against, and lets the careful twin pass."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PRELUDE = """
import asyncio, logging, os, threading, time
import pytest
pytestmark = []
"""

# name -> (body, what the report says, or None when the test must pass)
CASES = {
    "log": (
        "def test_it():\n    logging.getLogger('x').warning('disk is sad')",
        "unexpected log: WARNING x: disk is sad",
    ),
    "log_info": ("def test_it():\n    logging.getLogger('x').info('fine')", None),
    "log_expected": (
        "@pytest.mark.expects_log('is sad')\ndef test_it():\n    logging.getLogger('x').warning('disk is sad')",
        None,
    ),
    "log_absent": ("@pytest.mark.expects_log('is sad')\ndef test_it():\n    pass", "log never came: is sad"),
    "log_other": (
        "@pytest.mark.expects_log('sad')\ndef test_it():\n    logging.warning('sad')\n    logging.warning('odd')",
        "unexpected log: WARNING root: odd",
    ),
    "task": (
        "kept = []\nasync def test_it():\n    kept.append(asyncio.create_task(asyncio.sleep(60), name='lost'))",
        "tasks left running: lost",
    ),
    "task_awaited": ("async def test_it():\n    await asyncio.create_task(asyncio.sleep(0))", None),
    "task_cancelled": ("async def test_it():\n    asyncio.create_task(asyncio.sleep(60)).cancel()", None),
    "thread": (
        "def test_it():\n    threading.Thread(target=time.sleep, args=(2,), name='lost').start()",
        "threads left running: lost",
    ),
    "thread_joined": (
        "def test_it():\n    t = threading.Thread(target=time.sleep, args=(0.01,))\n    t.start()\n    t.join()",
        None,
    ),
    "to_thread": ("async def test_it():\n    await asyncio.to_thread(time.sleep, 0.01)", None),
    "home": ("def test_it():\n    assert 'nonexistent' in os.environ['AGENT_HOME']", None),
    "own_home": ("def test_it(agent_home):\n    assert os.listdir(os.environ['AGENT_HOME']) == []", None),
    "coroutine": ("async def work():\n    pass\ndef test_it():\n    work()", "was never awaited"),
    "unknown_marker": ("@pytest.mark.spek('R-1')\ndef test_it():\n    pass", "'spek' not found in `markers`"),
    "qt_warning": (
        "@pytest.mark.qt\ndef test_it(qapp):\n    from PySide6.QtCore import qWarning\n    qWarning('bad parent')",
        "bad parent",
    ),
    "qt_timer": (
        "from PySide6.QtCore import QTimer\nkept = []\n@pytest.mark.qt\ndef test_it():\n"
        "    kept.append(QTimer(objectName='lost'))\n    kept[0].start(70)",
        "timer left running: lost every 70 ms",
    ),
    "qt_timer_stopped": (
        "from PySide6.QtCore import QTimer\nkept = []\n@pytest.mark.qt\ndef test_it():\n"
        "    kept.append(QTimer())\n    kept[0].start(70)\n    kept[0].stop()",
        None,
    ),
    "qt_window": (
        "from PySide6.QtWidgets import QWidget\nkept = []\n@pytest.mark.qt\ndef test_it():\n"
        "    kept.append(QWidget(objectName='lost'))\n    kept[0].show()",
        "window left open: lost",
    ),
    "qt_window_owned": (
        "from PySide6.QtWidgets import QWidget\n@pytest.mark.qt\ndef test_it(qtbot):\n"
        "    w = QWidget()\n    qtbot.addWidget(w)\n    w.show()",
        None,
    ),
    "qt_loop": (
        "@pytest.mark.qt\nasync def test_it():\n    await asyncio.sleep(0.01)\n"
        "    assert type(asyncio.get_running_loop()).__name__ == 'AssentEventLoop'",
        None,
    ),
    "qt_task": (
        "kept = []\n@pytest.mark.qt\nasync def test_it():\n"
        "    kept.append(asyncio.create_task(asyncio.sleep(60), name='lost'))",
        "tasks left running: lost",
    ),
    "plain_loop": (
        "async def test_it():\n    assert type(asyncio.get_running_loop()).__name__ == '_UnixSelectorEventLoop'",
        None,
    ),
}


def _run(folder: Path, names: list[str]) -> str:
    shutil.copy(ROOT / "tests/conftest.py", folder / "conftest.py")
    for name in names:
        (folder / f"test_{name}.py").write_text(PRELUDE + textwrap.dedent(CASES[name][0]) + "\n")
    command = [sys.executable, "-m", "pytest", "-q", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder)]
    command += ["-p", "no:cacheprovider", "-rA", str(folder)]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=120
    )
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One pytest run over all cases that can be collected."""
    return _run(tmp_path_factory.mktemp("guards"), [name for name in CASES if name != "unknown_marker"])


@pytest.mark.parametrize("name", [name for name in CASES if name != "unknown_marker"])
def test_guard_judges_the_case(report: str, name: str) -> None:
    says = CASES[name][1]
    about = [line for line in report.splitlines() if f"test_{name}.py" in line]
    judged = [line for line in about if line.startswith(("FAILED", "ERROR"))]
    if says is None:
        assert not judged, judged
        assert f"PASSED test_{name}.py" in report
    else:
        assert judged, report
        assert says in report


def test_unknown_marker_stops_the_run(tmp_path: Path) -> None:
    assert str(CASES["unknown_marker"][1]) in _run(tmp_path, ["unknown_marker"])

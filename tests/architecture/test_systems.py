"""Where systems differ: which modules ask which system this is, and that every other one is imported on each of them.

That our modules can be imported on Windows and macOS is tried in a process that passes for one of them
(``tests/harness/foreign_system.py``), for no such machine is here.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture import reviewed, rules, system_rules
from tests.architecture.rules import Source

ROOT = Path(__file__).resolve().parents[2]
OURS = rules.sources(ROOT, "desktop")
FOREIGN = ("win32", "darwin")
PLACES = ("desktop", "packaging/dev.py", "packaging/devlib", "packaging/shots")
"""What runs on every system: the trials of packages are Linux's."""


def of(text: str, name: str = "desktop/one.py") -> list[Source]:
    return [Source(name, text)]


@pytest.mark.spec("R-PKG-3")
def test_only_modules_that_choose_ask_which_system_this_is() -> None:
    found = system_rules.asks_for_the_system(OURS, reviewed.CHOOSERS)
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "import sys\nif sys.platform == 'win32':\n    pass\n",
        "import os\nx = os.name == 'nt'\n",
        "import platform\nx = platform.system()\n",
        "from sys import platform\n",
        "x = hasattr(os, 'fork')\n",
        "x = getattr(os, 'O_NOFOLLOW', 0)\n",
        "import fcntl\n",
        "def f():\n    from termios import tcgetattr\n",
        "import os\nos.killpg(1, 9)\n",
        "process.start(start_new_session=True)\n",
        "loop.add_signal_handler(2, end)\n",
        "loop.connect_read_pipe(made, file)\n",
    ],
)
def test_a_module_that_asks_is_found(text: str) -> None:
    assert system_rules.asks_for_the_system(of(text), {})


def test_what_asks_nothing_and_what_is_for_one_system_is_not_found() -> None:
    assert not system_rules.asks_for_the_system(of("from desktop.systems import current\nx = current.WINDOWS\n"), {})
    mine = 'import sys\nimport fcntl\nif sys.platform != "linux":\n    raise ImportError("for Linux alone")\n'
    assert not system_rules.asks_for_the_system(of(mine), {})


def test_a_chooser_that_does_not_ask_any_more_is_no_exception() -> None:
    assert system_rules.asks_for_the_system(of("x = 1\n"), {"desktop/one.py": "it asked once"})


@pytest.fixture(scope="module")
def refused() -> dict[str, dict[str, str]]:
    """By system the modules that could not be imported, and why."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-m", "tests.harness.foreign_system", *FOREIGN]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, str]] = json.loads(done.stdout)
    return found


@pytest.mark.spec("R-PKG-3")
@pytest.mark.parametrize("platform", FOREIGN)
def test_every_module_is_imported_but_those_of_other_systems(refused: dict[str, dict[str, str]], platform: str) -> None:
    expected = {module for module, systems in own_systems().items() if platform not in systems}
    assert set(refused[platform]) == expected, refused[platform]


def own_systems() -> dict[str, tuple[str, ...]]:
    """By module that is for some systems alone, which these are, as the line below its imports says."""
    found = {}
    for file in OURS:
        systems = system_rules.systems_of(file)
        if systems != system_rules.SYSTEMS:
            found[file.name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")] = systems
    return found


def test_modules_for_one_system_are_told_by_their_first_condition() -> None:
    assert system_rules.systems_of(of('import sys\nif sys.platform != "linux":\n    raise ImportError("x")\n')[0]) == (
        "linux",
    )
    posix = 'import sys\nif sys.platform == "win32":\n    raise ImportError("x")\n'
    assert system_rules.systems_of(of(posix)[0]) == ("linux", "darwin")
    assert system_rules.systems_of(of("import sys\n")[0]) == system_rules.SYSTEMS


@pytest.mark.soak
@pytest.mark.spec("R-PKG-3")
@pytest.mark.parametrize("platform", FOREIGN)
def test_the_types_are_right_on_every_system(tmp_path: Path, platform: str) -> None:
    command = [sys.executable, "-m", "mypy", "--platform", platform, "--cache-dir", str(tmp_path), *PLACES]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout

"""The rooms import only downwards, the runtime loads without Qt, and every test folder has its stage."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from devlib.testing import HIDE_QT, RUNTIME_ROOMS, stages

from tests.architecture import rules

ROOT = Path(__file__).resolve().parents[2]


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("lint-imports")
    return subprocess.run(
        [str(program), "--config", str(ROOT / "pyproject.toml"), "--no-cache"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_import_contracts_are_kept() -> None:
    done = _lint(ROOT)
    assert done.returncode == 0, "\n" + done.stdout + done.stderr


SERVICES = "Inside services: what is made of others imports them, never the other way"
BREAKING = {
    "upwards": ("store/stray.py", "import desktop.presenter\n", "Rooms import only the rooms below them"),
    "sibling": ("store/stray.py", "import desktop.models\n", "Rooms import only the rooms below them"),
    "new room": ("attic/__init__.py", "", "Rooms import only the rooms below them"),
    "qt": ("agents/stray.py", "import PySide6.QtCore\n", "Below the presenter nothing knows Qt"),
    "ui": ("ui/theme/stray.py", "import desktop.store\n", "The widgets import only the presenter and the domain"),
    "inside a room": ("services/threads/stray.py", "import desktop.services.debates\n", SERVICES),
    "new room inside": ("services/attic.py", "", SERVICES),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Empty rooms that keep every contract."""
    folder = tmp_path_factory.mktemp("sound")
    for room in (ROOT / "desktop").rglob("__init__.py"):
        copy = folder / room.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.touch()
    assert _lint(folder).returncode == 0
    return folder


@pytest.mark.parametrize("case", BREAKING)
def test_the_contracts_find_a_breaking_import(case: str, sound: Path, tmp_path: Path) -> None:
    name, text, contract = BREAKING[case]
    shutil.copytree(sound, tmp_path, dirs_exist_ok=True)
    stray = tmp_path / "desktop" / name
    stray.parent.mkdir(exist_ok=True)
    stray.write_text(text)
    done = _lint(tmp_path)
    assert done.returncode != 0
    assert f"{contract} BROKEN" in done.stdout, done.stdout + done.stderr


WINDOWS_ALONE = "confinement/windows/"
"""These refuse to be imported on any other system."""


def test_every_module_of_the_runtime_loads_with_qt_hidden() -> None:
    """The tests of the runtime run with Qt hidden; this also loads the modules that no test imports."""
    names = [
        file.name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for file in rules.sources(ROOT, *(f"desktop/{room}" for room in RUNTIME_ROOMS))
        if not file.name.endswith("__main__.py") and (sys.platform == "win32" or WINDOWS_ALONE not in file.name)
    ]
    script = "import sys, importlib, tests.harness.hide_qt\nfor name in sys.argv[1:]: importlib.import_module(name)"
    done = subprocess.run([sys.executable, "-c", script, *names], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_hiding_qt_really_hides_it() -> None:
    script = "import tests.harness.hide_qt\nimport PySide6.QtCore"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert "PySide6 is hidden from the runtime's tests" in done.stderr


def test_hiding_qt_too_late_is_refused() -> None:
    script = "import PySide6.QtCore, tests.harness.hide_qt"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert "too late to hide" in done.stderr


def test_every_test_file_is_in_exactly_one_stage() -> None:
    chosen = stages()
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        name = file.relative_to(ROOT).as_posix()
        within = [stage for stage in chosen if any(name == path or name.startswith(f"{path}/") for path in stage.paths)]
        assert len(within) == 1, f"{name} is in {len(within)} stages"
        below_presenter = name.removeprefix("tests/unit/").partition("/")[0] in RUNTIME_ROOMS
        assert (within[0].options == HIDE_QT) is (name.startswith("tests/unit/") and below_presenter)


def test_the_rooms_of_the_runtime_are_named_alike_everywhere() -> None:
    assert set(RUNTIME_ROOMS) == rules.RUNTIME

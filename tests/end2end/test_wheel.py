"""The wheel, built and installed without a network: everything the app reads is in it and is found where it lies."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from desktop.skills.catalogue.build_index import read_build_index
from desktop.skills.catalogue.scan import BUILD_INDEX
from desktop.skills.resolution.find import find_tool
from desktop.skills.resolution.listing import list_tools
from tests.harness.skills import empty_globals

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ("desktop", "resources", "skills")
LEFT_OUT = {"resources/screenshot.png"}  # the README's
BUILD = "import sys, setuptools.build_meta as backend; backend.build_wheel(sys.argv[1])"
USE = """
import asyncio, json, sys
from pathlib import Path
import desktop
from desktop.app.wiring import runtime
from desktop.store import Store
from desktop.ui.theme import resources
from desktop.workers.model_child import model_host

async def main():
    store = Store(Path(sys.argv[1]) / "data" / "assent.db")
    await store.open()
    await store.close()
    child = model_host(secrets=tuple)
    child.start()
    answer = await child.call("ping", timeout=60)
    await child.stop()
    names = lambda folder: sorted(path.name for path in folder.iterdir() if path.name != "__pycache__")
    return {
        "from": desktop.__file__, "agents": names(runtime.RESOURCES / "agents"), "skills": names(runtime.SKILLS),
        "theme": resources.TOKENS.is_file() and resources.ICONS.is_dir() and resources.FONTS.is_dir(),
        "host": "ready" in answer,
    }

print(json.dumps(asyncio.run(main())))
"""


def _ours() -> set[str]:
    """Every file that the checkout has for the app. What is written in desktop/ for developers is not."""
    found = {p.relative_to(ROOT).as_posix() for top in SHIPPED for p in (ROOT / top).rglob("*") if p.is_file()}
    notes = {p.relative_to(ROOT).as_posix() for p in (ROOT / "desktop").rglob("*.md")}
    return {name for name in found if "__pycache__" not in name} - notes - LEFT_OUT


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "__pycache__")


def _run(command: list[str], folder: Path) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that nothing is left in the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    source, out = folder / "source", folder / "out"
    for top in SHIPPED:
        shutil.copytree(ROOT / top, source / top, ignore=shutil.ignore_patterns("__pycache__"))
    (source / "packaging").mkdir()
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "packaging/wheel_index.py"):
        shutil.copy(ROOT / name, source / name)
    out.mkdir()
    _run([sys.executable, "-c", BUILD, str(out)], source)
    (made,) = out.glob("assent-*.whl")
    return made


def test_the_wheel_holds_every_file_of_the_app_and_no_other(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert any(name.startswith("desktop/store/migrations/") and name.endswith(".sql") for name in held)
    assert held == _ours() | {f"skills/{BUILD_INDEX}", "resources/CHANGELOG.md"}


@pytest.mark.spec("R-RES-6")
def test_the_wheels_index_of_skills_is_used_and_a_stale_one_is_not(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path, [name for name in archive.namelist() if name.startswith("skills/")])
    folder = tmp_path / "skills"
    known = read_build_index(str(folder))
    every = empty_globals([str(folder)])
    assert known == {one.name: one.path for one in list_tools(every) if one.path}
    globals = empty_globals([str(folder)])
    assert find_tool("retry", globals) is not None
    assert globals.index.files_read == 0
    path = folder / "middleware" / "retry.skill.py"
    path.write_text(path.read_text().replace('"name": "retry"', '"name": "again"'))
    globals = empty_globals([str(folder)])
    assert "retry" not in (read_build_index(str(folder)) or {})
    assert find_tool("retry", globals) is None
    assert find_tool("again", globals) is not None
    (folder / BUILD_INDEX).unlink()
    assert find_tool("timeout", empty_globals([str(folder)])) is not None


def test_an_installed_app_finds_its_migrations_agents_skills_and_looks(wheel: Path, tmp_path: Path) -> None:
    """In an environment of its own, in another folder; only the dependencies are lent from ours."""
    place = tmp_path / "environment"
    venv.create(place, symlinks=os.name == "posix")
    scheme = {"base": str(place), "platbase": str(place)}
    packages = Path(sysconfig.get_path("purelib", "venv", scheme))
    python = Path(sysconfig.get_path("scripts", "venv", scheme)) / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    _run([*pip, "install", "--quiet", "--no-index", "--no-deps", str(wheel)], tmp_path)
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    assert _run([str(python.parent / "assent"), "--version"], tmp_path).strip()
    found = json.loads(_run([str(python), "-c", USE, str(tmp_path / "home")], tmp_path))
    assert found.pop("from").startswith(str(packages))
    skills = sorted([*_names(ROOT / "skills"), BUILD_INDEX])
    ours = {"agents": _names(ROOT / "resources" / "agents"), "skills": skills}
    assert found == {**ours, "theme": True, "host": True}
    assert all(ours.values())

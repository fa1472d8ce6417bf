"""The dependencies: declared once in words, pinned once in locks, and the two agree."""

import ast
import re
import tomllib
from importlib.metadata import files
from pathlib import Path

import pytest

from tests.architecture import rules

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DECLARED = {"requirements": PROJECT["dependencies"], "requirements-dev": PROJECT["optional-dependencies"]["dev"]}
PIN = re.compile(r"^([a-z0-9][a-z0-9._-]*)==(\S+)", re.MULTILINE)


def _lock(name: str) -> str:
    return (ROOT / f"packaging/{name}.lock").read_text("utf-8")


def _normal(name: str) -> str:
    return re.split(r"[<>=!~ \[]", name)[0].replace("_", "-").replace(".", "-").casefold()


@pytest.mark.parametrize("name", DECLARED)
def test_the_input_of_the_lock_is_what_the_project_declares(name: str) -> None:
    lines = (ROOT / f"packaging/{name}.in").read_text("utf-8").splitlines()
    wanted = [line.strip() for line in lines if line.strip() and not line.startswith(("#", "-"))]
    assert sorted(wanted) == sorted(DECLARED[name])


@pytest.mark.parametrize("name", DECLARED)
def test_every_declared_package_is_locked(name: str) -> None:
    locked = {_normal(found) for found, _ in PIN.findall(_lock(name))}
    assert {_normal(declared) for declared in DECLARED[name]} <= locked


@pytest.mark.parametrize("name", [*DECLARED, "requirements-package"])
def test_every_pin_has_hashes_and_nothing_else_is_in_the_lock(name: str) -> None:
    entries = re.split(r"\n(?=\S)", _lock(name).strip())
    for entry in entries:
        first, *hashes = entry.splitlines()
        assert PIN.match(first), f"{first!r} is no pin"
        assert hashes, f"{first!r} has no hash"
        assert all(re.fullmatch(r"\s+--hash=sha256:[0-9a-f]{64}( \\)?", line) for line in hashes), entry[:200]


def test_what_the_package_command_needs_is_locked() -> None:
    lines = (ROOT / "packaging/requirements-package.in").read_text("utf-8").splitlines()
    wanted = {_normal(line) for line in lines if line and not line.startswith("#")}
    assert wanted <= {_normal(found) for found, _ in PIN.findall(_lock("requirements-package"))}


def test_what_both_locks_hold_has_one_version() -> None:
    runtime, dev = (dict(PIN.findall(_lock(name))) for name in DECLARED)
    both = runtime.keys() & dev.keys()
    assert {name: (runtime[name], dev[name]) for name in both if runtime[name] != dev[name]} == {}


def test_no_release_that_is_known_to_be_bad() -> None:
    pins = dict(PIN.findall(_lock("requirements")))
    assert pins["litellm"] not in {"1.82.7", "1.82.8"}
    assert pins["pyside6-essentials"].startswith("6.11."), "6.12.0 steals references to None on Python 3.10 and 3.11"


def test_every_dependency_says_why_it_is_there() -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    for declared in [*DECLARED["requirements"], *DECLARED["requirements-dev"]]:
        line = next(line for line in text.splitlines() if line.strip().startswith(f'"{declared}"'))
        assert len(line.partition("#")[2].split()) >= 2, f"{declared} gives no reason"


def _modules_of(package: str) -> set[str]:
    """The names under which an installed package is imported."""
    code = [file.parts[0] for file in files(_normal(package)) or () if file.suffix in {".py", ".so", ".pyd"}]
    return {name.partition(".")[0] for name in code}


def _imported() -> set[str]:
    """The first part of each name that the app imports, in a statement or as a text where importlib is used."""
    found: set[str] = set()
    for file in rules.sources(ROOT, "desktop"):
        names = [alias.name for node in file.find(ast.Import) for alias in node.names]  # type: ignore[attr-defined]
        names += [node.module for node in file.find(ast.ImportFrom) if node.module]  # type: ignore[attr-defined]
        if any(name.partition(".")[0] == "importlib" for name in names):
            names += [one.value for one in file.find(ast.Constant) if isinstance(one.value, str)]  # type: ignore[attr-defined]
        found |= {name.partition(".")[0] for name in names}
    return found


def test_every_dependency_of_the_app_is_imported_in_it() -> None:
    imported = _imported()
    assert [name for name in DECLARED["requirements"] if not _modules_of(name) & imported] == []

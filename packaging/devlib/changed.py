"""Which tests a change can touch at first hand: those that import what changed, and those that stand where it stands.

What a module does through others is the whole suite's to find: this is for the minutes in which one writes.
"""

import ast
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path, PurePosixPath

from .environment import ROOT

DOCUMENTS = ("tests/architecture/test_documents.py", "tests/architecture/test_requirements.py")
BESIDE = {"skills": "tests/unit/library", "resources": "tests/gui/theme", "packaging": "tests/architecture"}
"""Folders whose files no test imports by name, and the tests of them."""


def changed_files(since: str = "HEAD", root: Path = ROOT) -> list[str]:
    """What differs from a commit, files that git does not know yet included. Raises CalledProcessError."""
    commands = (["diff", "--name-only", since], ["ls-files", "--others", "--exclude-standard"])
    found: set[str] = set()
    for one in commands:
        done = subprocess.run(["git", *one], cwd=root, check=True, capture_output=True, text=True)
        found.update(done.stdout.splitlines())
    return sorted(found)


def touched(changed: Iterable[str], root: Path = ROOT) -> list[str]:
    """Test files, as paths from the root."""
    names = set(changed)
    modules = {name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in names}
    every = [path.relative_to(root).as_posix() for path in sorted((root / "tests").rglob("test_*.py"))]
    folders = tuple(f"{folder}/" for folder in _folders(names, root))
    documents = {name for name in DOCUMENTS if any(one.endswith(".md") for one in names)}
    return [
        test
        for test in every
        if test in names or test in documents or test.startswith(folders) or not modules.isdisjoint(_seen(test, root))
    ]


def _folders(names: set[str], root: Path) -> set[str]:
    """Of tests: beside a changed conftest or data file, and where tests of a changed module's room stand."""
    found = set()
    for path in map(PurePosixPath, names):
        top, *below = path.parts
        if top == "tests" and (path.name == "conftest.py" or path.suffix != ".py"):
            found.add(path.parent.as_posix())
        elif top == "desktop":
            found.add(_mirror(below[:-1], root))
        elif top in BESIDE and path.suffix != ".md":
            found.add(BESIDE[top])
    return {folder for folder in found if folder and (root / folder).is_dir()}


def _mirror(rooms: Sequence[str], root: Path) -> str:
    """Where the tests of a room stand, or of the one that it is in."""
    room, inner = rooms[:1], list(rooms[1:])
    kind = {"ui": ("gui",), "presenter": ("gui", "presenter")}.get("".join(room), ("unit", *room))
    while inner and not (root / "tests" / Path(*kind, *inner)).is_dir():
        inner.pop()
    return "/".join(("tests", *kind, *inner)) if inner or kind != ("gui",) else ""


def _seen(test: str, root: Path) -> frozenset[str]:
    """Modules that a test imports, also by way of the tests' own helpers."""
    seen: set[str] = set()
    waiting = [test.removesuffix(".py").replace("/", ".")]
    while waiting:
        module = waiting.pop()
        for name in _imports(module, root) - seen:
            seen.add(name)
            if name.startswith("tests."):
                waiting.append(name)
    return frozenset(seen)


@cache
def _imports(module: str, root: Path) -> frozenset[str]:
    path = root / f"{module.replace('.', '/')}.py"
    if not path.is_file():
        return frozenset()
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)

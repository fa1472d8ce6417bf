"""Which tests a change can touch at first hand: those that import what changed, and those that stand where it stands.

For the minutes in which one writes, so they have to end within one: of more tests than that the nearest are chosen
(``affordable``). Left to the whole suite are those others, and what a module does through other modules.
"""

import ast
import json
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path, PurePosixPath

from .environment import ROOT

DOCUMENTS = ("tests/architecture/test_documents.py", "tests/architecture/test_requirements.py")
BESIDE = {"skills": "tests/unit/library", "resources": "tests/gui/theme", "packaging": "tests/architecture"}
"""Folders whose files no test imports by name, and the tests of them."""
COSTS = ".pytest_cache/v/assent/seconds"
"""Written by ``tests/harness/progress.py``."""
UNMEASURED_S = 2.0
"""What a test file takes on the average."""
MOST_S = 35.0
"""Of processor time in one process: with its start, and what it waits for, less than a minute."""


def changed_files(since: str = "HEAD", root: Path = ROOT) -> list[str]:
    """What differs from a commit, files that git does not know yet included. Raises CalledProcessError."""
    commands = (["diff", "--name-only", since], ["ls-files", "--others", "--exclude-standard"])
    found: set[str] = set()
    for one in commands:
        done = subprocess.run(["git", *one], cwd=root, check=True, capture_output=True, text=True)
        found.update(done.stdout.splitlines())
    return sorted(found)


def touched(changed: Iterable[str], root: Path = ROOT) -> list[str]:
    """Test files, as paths from the root, the nearest first: those that changed; that import a changed module and stand
    where it stands; that import it; that stand there; that reach it through the tests' own helpers."""
    names = set(changed)
    modules = {_module(name) for name in names}
    every = [path.relative_to(root).as_posix() for path in sorted((root / "tests").rglob("test_*.py"))]
    folders = tuple(f"{folder}/" for folder in _folders(names, root))
    documents = {name for name in DOCUMENTS if any(one.endswith(".md") for one in names)}
    found = []
    for test in every:
        beside, imports = test.startswith(folders), not modules.isdisjoint(_imports(_module(test), root))
        reaches = not modules.isdisjoint(_seen(test, root))
        nearness = (test in names or test in documents, beside and imports, imports, beside, reaches)
        if any(nearness):
            found.append((nearness.index(True), test))
    return [test for _, test in sorted(found)]


def affordable(
    tests: Sequence[str], costs: Mapping[str, float], sure: Iterable[str] = (), most_s: float = MOST_S
) -> tuple[list[str], list[str]]:
    """The tests that take so many seconds of processor time together, the first of them before the others, and those
    that do not fit. ``sure`` are chosen whatever they take."""
    chosen, left, spent = list[str](), list[str](), 0.0
    for test in tests:
        cost = costs.get(test, UNMEASURED_S)
        fits = not chosen or spent + cost <= most_s or test in sure
        (chosen if fits else left).append(test)
        spent += cost * fits
    return chosen, left


def costs(root: Path = ROOT) -> dict[str, float]:
    """Seconds of processor time that each test file took when it last ran here."""
    try:
        found: dict[str, float] = json.loads((root / COSTS).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found


def counted(tests: Iterable[str]) -> str:
    """So many in each folder, in a line: ``tests/gui/chat 12, tests/unit/store 3``."""
    folders = Counter("/".join(test.split("/")[:3][: test.count("/")]) for test in tests)
    return ", ".join(f"{folder} {count}" for folder, count in sorted(folders.items()))


def described(chosen: Sequence[str], left: Sequence[str], since: str) -> list[str]:
    """What is run, and what is left to the whole suite, in lines for a person."""
    count = len(chosen) + len(left)
    return [
        f"{len(chosen)} of {count} test files that what differs from {since} can touch at first hand",
        *([f"left out, for they take longer than a minute: {counted(left)}"] if left else []),
        "not looked at: tests that reach it only through other modules. The whole suite has them",
    ]


def _module(name: str) -> str:
    return name.removeprefix("packaging/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


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
    waiting = [_module(test)]
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

"""Holds a finished folder to what it is for: every process of Assent starts from it, `assent --check` finds nothing
broken, and the window is painted."""

import ast
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..words import Stop
from .folder import Version

PROBE = Path(__file__).with_name("probe.py")
TIMEOUT_S = 300
OTHER_SYSTEMS = re.compile(
    r"desktop\.systems\.(windows|macos)(\..+)?|desktop\.app\.loop\.descriptors_windows"
    r"|desktop\.safety\.confinement\.windows(\..+)?"
)
"""Modules that no Linux can import, and that say so."""
_LAZY = ("import_module", "lazy_module")


def prove(version: Version) -> dict[str, Any]:
    """What the first start said of itself. Raises Stop for what is not whole."""
    code = version.packages / "desktop"
    compiled = set(version.prefix.rglob("*.pyc"))
    said = _run([str(version.python), "-I", str(PROBE), *sorted(imported_by(code) | our_own(code))])
    if said.returncode != 0:
        raise Stop(f"The folder is not whole: {(said.stdout or said.stderr).strip()[-3000:]}", "See pruning.py.")
    with tempfile.TemporaryDirectory() as home:
        assent = [str(version.prefix / "bin" / "assent"), "--home", home]
        checked = _run([*assent, "--check"])
        if checked.returncode != 0:
            raise Stop(f"`assent --check` of the folder: {checked.stdout}{checked.stderr}"[-3000:], "See pruning.py.")
        painted = _run([*assent, "--exit-after-paint"])
        if painted.returncode != 0:
            raise Stop(f"The window does not open: {painted.stderr}"[-3000:], "See pruning.py.")
    refuse_new_bytecode(version.prefix, compiled)
    found: dict[str, Any] = json.loads(painted.stdout)
    return found


def refuse_new_bytecode(prefix: Path, before: set[Path]) -> None:
    """Raises Stop for what a process had to compile: where the folder is root's, each start would do so anew."""
    new = sorted(path.relative_to(prefix).as_posix() for path in set(prefix.rglob("*.pyc")) - before)
    if new:
        raise Stop(f"This is loaded, and was left without bytecode: {', '.join(new[:10])}", "See pruning.py, COMPILED.")


def _run(command: list[str]) -> "subprocess.CompletedProcess[str]":
    """With nothing of this environment that could lend the folder what it lacks."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {"PATH": "/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8", "QT_QPA_PLATFORM": "offscreen"}
        try:
            return subprocess.run(
                command, env=environment, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S
            )
        except subprocess.TimeoutExpired as error:
            raise Stop(f"{Path(command[0]).name} did not end within {TIMEOUT_S} s.", "Start it by hand.") from error


def imported_by(code: Path) -> set[str]:
    """Every module that is not ours and that our code imports, also by a name in a text; of the standard library those
    that this machine has."""
    found: set[str] = set()
    for path in code.rglob("*.py"):
        for name in _names(ast.parse(path.read_text("utf-8"))):
            root = name.partition(".")[0]
            if root in sys.stdlib_module_names and importlib.util.find_spec(root) is None:
                continue
            beside = (path.parent / f"{root}.py").exists()
            if root != "desktop" and not beside:
                found.add(name)
    return found


def our_own(code: Path) -> set[str]:
    """Every module of ours but those that are started, and those of other systems."""
    modules = (path.relative_to(code.parent).with_suffix("") for path in code.rglob("*.py"))
    names = {".".join(path.parts).removesuffix(".__init__") for path in modules if path.name != "__main__"}
    return {name for name in names if not OTHER_SYSTEMS.fullmatch(name)}


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
        elif isinstance(node, ast.Call) and _called(node.func) in _LAZY and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""

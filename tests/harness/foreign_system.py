"""A process that passes for one of another system, as far as importing goes.

Runs as ``python -m tests.harness.foreign_system win32 darwin``. What that system's standard library has is not our
word: it is read from typeshed, the stubs that mypy brings along. Everything that is not ours is imported first, as on
this system. Then ``sys.platform`` and ``os.name`` change, names and modules that the other system has not are taken
away, and those that only it has get stand-ins. Prints, as JSON, why each of our modules could not be imported.
"""

from __future__ import annotations

import ast
import gc
import importlib
import json
import os
import pathlib
import sys
import types
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
STUBS = Path(find_spec("mypy").origin or "").parent / "typeshed" / "stdlib"  # type: ignore[union-attr]
HERE = "linux"


def holds(test: ast.expr, platform: str) -> bool:
    """What a condition in a stub says on a system, for the Python that runs."""
    if isinstance(test, ast.BoolOp):
        values = [holds(one, platform) for one in test.values]
        return all(values) if isinstance(test.op, ast.And) else any(values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return not holds(test.operand, platform)
    facts = {"sys": types.SimpleNamespace(platform=platform, version_info=sys.version_info), "TYPE_CHECKING": False}
    return bool(eval(compile(ast.Expression(test), "typeshed", "eval"), {"__builtins__": {}}, facts))


def statements(body: list[ast.stmt], platform: str) -> Iterator[ast.stmt]:
    """The statements of a stub that hold on a system."""
    for one in body:
        if isinstance(one, ast.If):
            yield from statements(one.body if holds(one.test, platform) else one.orelse, platform)
        else:
            yield one


@cache
def _stub(module: str) -> list[ast.stmt]:
    path = STUBS / Path(*module.split("."))
    path = path / "__init__.pyi" if path.is_dir() else path.with_suffix(".pyi")
    return ast.parse(path.read_text("utf-8")).body if path.exists() else []


@cache
def names_of(module: str, platform: str, *, imported: bool = True) -> frozenset[str]:
    """What a module of the standard library has on a system; ``imported``: also what it has from others."""
    found: set[str] = set()
    for one in statements(_stub(module), platform):
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(one.name)
        elif isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            found.add(one.target.id)
        elif isinstance(one, ast.Assign):
            found |= {target.id for target in one.targets if isinstance(target, ast.Name)}
        elif isinstance(one, ast.ImportFrom) and imported:
            found |= set(_imported(module, one, platform))
    return frozenset(found)


def _imported(module: str, one: ast.ImportFrom, platform: str) -> Iterable[str]:
    if one.names[0].name == "*":
        return names_of(f"{module}.{one.module}" if one.level else str(one.module), platform)
    return (alias.asname or alias.name for alias in one.names)


def modules(platform: str) -> set[str]:
    """The modules of the standard library that have anything on a system."""
    there = {path.stem for path in STUBS.iterdir()} & set(sys.stdlib_module_names)
    found = set()
    for name in there:
        names = names_of(name, platform, imported=name in ("posix", "nt"))
        found |= {name} if any(not one.startswith("_") for one in names) else set()
    return found


def others_imports() -> set[str]:
    """What our modules import that is not ours, however late."""
    found = set()
    for path in sorted((ROOT / "desktop").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module)
    return {name for name in found if name.split(".")[0] not in ("desktop", "skills", "resources")}


def become(platform: str) -> None:
    """Pass for that system from here on. All is read beforehand: ``pathlib`` asks which system this is, too."""
    there, here = modules(platform), modules(HERE)
    made = {name: _stand_in(name, platform) for name in there - here}
    changes = [
        (module, names_of(name, HERE) - names_of(name, platform), names_of(name, platform) - names_of(name, HERE))
        for name in sorted(here & there)
        if (module := sys.modules.get(name)) is not None
    ]
    sys.platform = platform
    os.name = "nt" if platform == "win32" else "posix"
    for module in {pathlib, sys.modules[Path.__module__]}:  # Python 3.13 has the class in a module of its own
        vars(module)["WindowsPath"] = pathlib.PosixPath  # files are still found as they are here
    sys.modules.update(dict.fromkeys(here - there))  # type: ignore[arg-type]  # None: what Python takes for "no such one"
    sys.modules.update(made)
    for module, missing, only in changes:
        for name in missing:
            if hasattr(module, name):
                delattr(module, name)
        for name in only:
            if name not in vars(module):  # asyncio looks for names itself, and not well
                setattr(module, name, _value(name))


def _stand_in(name: str, platform: str) -> types.ModuleType:
    made = types.ModuleType(name)
    for one in names_of(name, platform):
        setattr(made, one, _value(one))
    return made


def _value(name: str) -> Any:
    """A number for a constant; a function or class that does nothing else but exist."""
    return 1 if name.isupper() else type(name, (object,), {})


def failures(platform: str, names: Iterable[str]) -> dict[str, str]:
    """By module why it could not be imported as on that system."""
    become(platform)
    failed = {}
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is the answer
            failed[name] = f"{type(error).__name__}: {error}"
    return failed


def main(platforms: list[str]) -> None:
    """Print, as JSON, the failures of each system; a child of its own passes for each."""
    gc.disable()  # importing makes no garbage, but collecting while importing takes a fifth of it
    for name in sorted(others_imports()):
        try:
            importlib.import_module(name)
        except ImportError:
            pass  # what is not there here either, such as winreg
    ours = sorted(
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in (ROOT / "desktop").rglob("*.py")
        if path.name != "__main__.py"
    )
    found = {}
    for platform in platforms:
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.write(writing, json.dumps(failures(platform, ours)).encode())
            os._exit(0)
        os.close(writing)
        with open(reading, "rb") as file:
            found[platform] = json.loads(file.read() or b'{"": "the child ended"}')
        os.waitpid(child, 0)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])

"""Rules on where systems may differ: in ``desktop/systems``, in modules for one system alone, and in those that choose.

What is there on which system is read from typeshed, by ``tests/harness/foreign_system.py``.
"""

import ast
from collections.abc import Iterator, Mapping
from functools import cache

from tests.architecture.rules import Source
from tests.harness.foreign_system import modules, names_of

SYSTEMS = ("linux", "darwin", "win32")
ROOM = "desktop/systems/"
WATCHED = ("os", "signal", "socket", "select", "asyncio", "time", "selectors")
"""Modules of which some names are missing on one system or another."""
OF_SOME_LOOPS = ("add_signal_handler", "remove_signal_handler", "connect_read_pipe", "connect_write_pipe")
WORDS = frozenset({"start_new_session", "preexec_fn", "creationflags", "startupinfo"})
"""Arguments that mean something on one system only."""


def systems_of(file: Source) -> tuple[str, ...]:
    """For which systems a module is: all, unless it refuses to be imported on another right after its imports."""
    for node in file.tree.body:
        if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise) and (named := _compared(node.test)):
            system, same = named
            return tuple(one for one in SYSTEMS if (one != system) is same)
    return SYSTEMS


def _compared(test: ast.expr) -> tuple[str, bool] | None:
    """(the system, whether it is asked for this one) of ``sys.platform == "…"`` or ``!=``."""
    if not isinstance(test, ast.Compare) or not _is(test.left, "sys", "platform"):
        return None
    said = test.comparators[0]
    if not isinstance(said, ast.Constant):
        return None
    return str(said.value), isinstance(test.ops[0], ast.Eq)


def asks_for_the_system(files: list[Source], choosers: Mapping[str, str]) -> list[str]:
    """A question which system this is, or a name that some system does not have, outside the places for it."""
    found, asking = [], set()
    for file in files:
        if file.name.startswith(ROOM) or systems_of(file) != SYSTEMS:
            continue
        said = list(_questions(file))
        asking |= {file.name} if said else set()
        found += [] if file.name in choosers else said
    names = {file.name for file in files}
    return found + [f"{name}: no exception is needed any more" for name in sorted(set(choosers) & names - asking)]


def _questions(file: Source) -> Iterator[str]:
    for node in file.find((ast.Attribute, ast.Import, ast.ImportFrom, ast.Call)):
        if isinstance(node, ast.Attribute) and (why := _attribute(node)):
            yield file.at(node, why)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (file.at(node, f"{name} is not on every system") for name in _imports(node) & uncommon())
            if isinstance(node, ast.ImportFrom) and node.module == "sys" and "platform" in _names(node):
                yield file.at(node, "asks for sys.platform")
        elif isinstance(node, ast.Call) and (why := _call(node)):
            yield file.at(node, why)


def _attribute(node: ast.Attribute) -> str:
    if node.attr in OF_SOME_LOOPS:
        return f"no loop of Windows can do {node.attr} as it is meant: desktop/systems has it for each"
    if _is(node, "sys", "platform") or _is(node, "os", "name"):
        return "asks which system this is"
    if isinstance(node.value, ast.Name) and node.value.id == "platform" and node.attr in ("system", "machine", "uname"):
        return "asks which system this is"
    if isinstance(node.value, ast.Name) and node.value.id in WATCHED and node.attr in missing(node.value.id):
        return f"{node.value.id}.{node.attr} is not on every system"
    return ""


def _call(node: ast.Call) -> str:
    words = {word.arg for word in node.keywords} & WORDS
    if words:
        return f"{min(map(str, words))} means nothing on some system"
    named = node.func.id if isinstance(node.func, ast.Name) else ""
    if named in ("hasattr", "getattr") and isinstance(node.args[0], ast.Name) and node.args[0].id in WATCHED:
        return f"asks whether {node.args[0].id} has something"
    first = node.args[0] if node.args else None
    if named in ("lazy_module", "import_module", "find_spec") and isinstance(first, ast.Constant):
        return f"{first.value} is not on every system" if str(first.value) in uncommon() else ""
    return ""


def _imports(node: ast.Import | ast.ImportFrom) -> set[str]:
    return {alias.name for alias in node.names} if isinstance(node, ast.Import) else {str(node.module)}


def _names(node: ast.ImportFrom) -> set[str]:
    return {alias.name for alias in node.names}


def _is(node: ast.expr, module: str, name: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) == (module, name)
    )


@cache
def uncommon() -> frozenset[str]:
    """Modules of the standard library that some system does not have."""
    there = [modules(system) for system in SYSTEMS]
    return frozenset(set.union(*there) - set.intersection(*there))


@cache
def missing(module: str) -> frozenset[str]:
    """Names of a module that some system does not have."""
    there = [names_of(module, system) for system in SYSTEMS]
    return frozenset.union(*there) - frozenset.intersection(*there)

"""Modules as another computer's Python would find them in folders of packages, and what a module's text says of itself:
what it imports when it is loaded there, and which names it has. Nothing of it is run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.harness.foreign_system import holds
from wheels.targets import Target

LAZY = ("import_module", "lazy_module")
"""Functions that import what a text names."""
MISSING = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException", "AttributeError", "OSError")
"""Who catches one of these goes on without the module."""


@dataclass(frozen=True)
class Import:
    """One import: of a module, or of a name from it."""

    line: int
    module: str
    name: str = ""


class Module:
    """One module that was found; ``text`` is None for machine code, or a folder without a text of its own."""

    def __init__(self, name: str, path: Path, text: Path | None, tree: ast.Module | None = None) -> None:
        self.name, self.path, self._text, self._tree = name, path, text, tree
        self._names: frozenset[str] | None = None
        self._names_read = False

    @property
    def package(self) -> str:
        """What a dot in its imports means."""
        return self.name if self.path.is_dir() else self.name.rpartition(".")[0]

    def imports(self, system: str, *, ours: bool) -> list[Import]:
        """What it imports on a system: when it is loaded, and of ours also later and by a text. What somebody is
        prepared to do without is left out."""
        if self._text is None:
            return []
        tree = self._tree or _parsed(self._text)
        self._tree = None  # all of them together take more memory than there is
        self._read_names(tree)
        return list(_imports(tree, self.package, system, ours=ours))

    @property
    def names(self) -> frozenset[str] | None:
        """What can be imported from it beside its modules; None where neither its text nor a stub tells."""
        if not self._names_read:
            stub = self.path.parent / f"{self.path.name.partition('.')[0]}.pyi"
            text = self._text or (stub if stub.is_file() else None)
            self._read_names(_parsed(text) if text else None)
        return self._names

    def _read_names(self, tree: ast.Module | None) -> None:
        self._names, self._names_read = _names_in(tree) if tree else None, True


def _parsed(text: Path) -> ast.Module:
    return ast.parse(text.read_text("utf-8", "replace"))


def _names_in(tree: ast.Module) -> frozenset[str] | None:
    found: set[str] = set()
    for node in _outside_functions(tree.body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("globals", "exec"):
            return None
    return None if found & {"*", "__getattr__"} else frozenset(found) | {"__doc__", "__file__", "__name__"}


class Finder:
    """Finds modules in ``folders``, in their order, also in those that a `.pth` names."""

    def __init__(self, folders: Iterable[Path], target: Target, python: str) -> None:
        self._folders = [*folders]
        for folder in list(self._folders):
            self._folders += list(_named_folders(folder))
        self._suffixes = target.suffixes(python)
        self._known: dict[str, Module | None] = {}

    def find(self, name: str) -> Module | None:
        """None where there is no such module."""
        if name not in self._known:
            above, _, last = name.rpartition(".")
            parent = self.find(above) if above else None
            places = [parent.path] if parent and parent.path.is_dir() else [] if above else self._folders
            self._known[name] = next((found for place in places if (found := self._in(place, name, last))), None)
        return self._known[name]

    def _in(self, place: Path, name: str, last: str) -> Module | None:
        folder, text = place / last, place / f"{last}.py"
        if (folder / "__init__.py").is_file():
            return Module(name, folder, folder / "__init__.py")
        code = next((path for suffix in self._suffixes if (path := place / f"{last}{suffix}").is_file()), None)
        if code is not None:
            return Module(name, code, None)
        if text.is_file():
            return Module(name, text, text)
        return Module(name, folder, None) if folder.is_dir() else None


def _imports(tree: ast.Module, package: str, system: str, *, ours: bool) -> Iterator[Import]:
    for node in _run_on(tree.body, system, everything=ours):
        if isinstance(node, ast.Import):
            yield from (Import(node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(package, node)
            yield from (Import(node.lineno, base, alias.name) for alias in node.names)
        elif isinstance(node, ast.Call) and ours and _called(node.func) in LAZY and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield Import(node.lineno, first.value)


def _absolute(package: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return str(node.module)
    base = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])


def _run_on(body: Iterable[ast.AST], system: str, *, everything: bool) -> Iterator[ast.AST]:
    for node in body:
        if isinstance(node, ast.If):
            inside = _branches(node, system, everything=everything)
        elif isinstance(node, ast.Try):
            inside = [*([] if _caught(node) else node.body), *node.finalbody]
        elif (_is_later(node) and not everything) or _is_done_without(node):
            inside = []
        else:
            yield node
            inside = [*ast.iter_child_nodes(node)]
        yield from _run_on(inside, system, everything=everything)


def _branches(node: ast.If, system: str, *, everything: bool) -> Sequence[ast.AST]:
    said = _said(node.test, system)
    if said is None:
        return [*node.body, *node.orelse] if everything else []
    return node.body if said else node.orelse


def _is_later(node: ast.AST) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))


def _is_done_without(node: ast.AST) -> bool:
    return isinstance(node, ast.With) and any("suppress" in ast.dump(item.context_expr) for item in node.items)


def _said(test: ast.expr, system: str) -> bool | None:
    """What a condition says there; None where only running it would tell."""
    if isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING":
        return False
    try:
        return holds(test, system)
    except (NameError, AttributeError, TypeError, SyntaxError, KeyError):
        return None


def _caught(node: ast.Try) -> bool:
    names = [_called(one) for handler in node.handlers for one in _each(handler.type)]
    return any(name in MISSING for name in names) or any(handler.type is None for handler in node.handlers)


def _each(caught: ast.expr | None) -> list[ast.expr]:
    return list(caught.elts) if isinstance(caught, ast.Tuple) else [caught] if caught else []


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _outside_functions(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    for node in body:
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            yield from _outside_functions(ast.iter_child_nodes(node))


def _named_folders(folder: Path) -> Iterator[Path]:
    """As Python's `site` reads a `.pth`, but for its lines of code."""
    for path in sorted(folder.glob("*.pth")):
        for line in path.read_text("utf-8", "replace").splitlines():
            named = folder / line.strip().replace("\\", "/")
            if line.strip() and not line.startswith(("#", "import ", "import\t")) and named.is_dir():
                yield named

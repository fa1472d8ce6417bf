"""The house rules that no ready-made tool checks, each a function from a source folder to its findings.

A finding is one line, `file:line: what is wrong`. Every rule is proven in test_rules.py on a tree that breaks it.
"""

import ast
import gc
import heapq
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from io import StringIO
from operator import itemgetter
from pathlib import Path
from tokenize import COMMENT, generate_tokens

RUNTIME = frozenset(
    {
        "domain",
        "yaml_text",
        "files",
        "settings",
        "store",
        "models",
        "workers",
        "safety",
        "tools",
        "skills",
        "recovery",
        "pipeline",
        "supervision",
        "agents",
        "services",
    }
)
QT = frozenset({"PySide6", "shiboken6", "qasync"})

FILE_LIMIT, TEST_FILE_LIMIT, FUNCTION_LIMIT, CLASS_LIMIT = 500, 600, 60, 300
"""Lines; those of a test file hold for tools of developers, too."""
MEDIAN_LIMIT, PERCENTILE_95_LIMIT = 8, 35

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One Python file. `name` is its path below the root of the sources, with forward slashes."""

    name: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.name)

    @cached_property
    def _nodes(self) -> dict[type[ast.AST], list[tuple[int, ast.AST]]]:
        """All nodes by their kind, each with its place in the order of ``ast.walk``."""
        found = defaultdict[type[ast.AST], list[tuple[int, ast.AST]]](list)
        for place, node in enumerate(ast.walk(self.tree)):
            found[type(node)].append((place, node))
        gc.freeze()  # kept to the end, and garbage is not looked for in it
        return found

    @property
    def room(self) -> str:
        """The folder under desktop/ it lives in, or its own stem at the top."""
        parts = self.name.split("/")
        return parts[1].removesuffix(".py") if len(parts) > 1 else ""

    def find(self, kind: type[ast.AST] | tuple[type[ast.AST], ...]) -> Iterator[ast.AST]:
        kinds = kind if isinstance(kind, tuple) else (kind,)
        found = heapq.merge(*(self._nodes.get(one, ()) for one in kinds), key=itemgetter(0))
        return (node for _, node in found)

    def at(self, node: ast.AST, text: str) -> str:
        return f"{self.name}:{getattr(node, 'lineno', 1)}: {text}"

    def line(self, node: ast.AST) -> str:
        return self.text.splitlines()[getattr(node, "lineno", 1) - 1]


Rule = Callable[[list[Source]], list[str]]


def sources(root: Path, *folders: str) -> list[Source]:
    """Every Python file of these folders, in order."""
    files = sorted(path for folder in folders for path in (root / folder).rglob("*.py"))
    return [source(root, path) for path in files]


@cache
def source(root: Path, path: Path) -> Source:
    """Read, and later parsed, once for all tests."""
    return Source(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))


def length(node: Function | ast.ClassDef) -> int:
    """Lines of a function or class without its docstring and its decorators."""
    total = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        total -= (first.end_lineno or first.lineno) - first.lineno + 1
    return total


def too_long(files: list[Source], reviewed: Mapping[str, str]) -> list[str]:
    """A file, a function or a class over its limit, but for reviewed places, named as ``file:function``."""
    found = []
    for file in files:
        lines, most = file.text.count("\n"), FILE_LIMIT if file.name.startswith("desktop/") else TEST_FILE_LIMIT
        if lines > most:
            found.append(f"{file.name}:1: {lines} lines, over {most}")
        for node in file.find((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            assert isinstance(node, Function | ast.ClassDef)
            limit = CLASS_LIMIT if isinstance(node, ast.ClassDef) else FUNCTION_LIMIT
            if length(node) > limit and f"{file.name}:{node.name}" not in reviewed:
                found.append(file.at(node, f"{node.name} has {length(node)} lines, over {limit}"))
    return found


def distribution(files: list[Source]) -> list[str]:
    """The median and the 95th percentile of function lengths over all files together."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    lengths = sorted(length(node) for file in files for node in file.find(kinds))  # type: ignore[arg-type]
    if not lengths:
        return []
    median, high = lengths[len(lengths) // 2], lengths[int(len(lengths) * 0.95)]
    found = [f"median function length {median}, over {MEDIAN_LIMIT}"] if median > MEDIAN_LIMIT else []
    if high > PERCENTILE_95_LIMIT:
        found.append(f"95th percentile of function length {high}, over {PERCENTILE_95_LIMIT}")
    return found


def qt_below_presenter(files: list[Source]) -> list[str]:
    """An import of Qt in a room of the runtime, also inside functions and `if TYPE_CHECKING`."""
    found = []
    for file in (file for file in files if file.room in RUNTIME):
        for node in file.find((ast.Import, ast.ImportFrom)):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [_origin(node)]
            found += [file.at(node, f"imports {name}") for name in modules if name.partition(".")[0] in QT]
    return found


def _origin(node: ast.AST) -> str:
    return (node.module or "") if isinstance(node, ast.ImportFrom) else ""


def import_circles(files: list[Source]) -> list[str]:
    """Modules that import each other, if only for types (``TYPE_CHECKING``): none of them is understood alone."""
    graph = _imports_between(files)
    while outside := [name for name, found in graph.items() if not found & graph.keys()]:
        graph = {name: found for name, found in graph.items() if name not in outside}
    reached = {name: _reached(graph, name) for name in graph}
    circles = {frozenset({name} | {o for o in reached[name] if name in reached[o]}) for name in graph}
    return sorted(
        f"{min(circle).replace('.', '/')}.py:1: in a circle of imports: {', '.join(sorted(circle))}"
        for circle in circles
        if len(circle) > 1
    )


def _imports_between(files: list[Source]) -> dict[str, set[str]]:
    """By module the modules among these files that it imports, wherever and for whatever it does."""
    known = {file.name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): file for file in files}
    graph: dict[str, set[str]] = {}
    for name, file in known.items():
        found: set[str] = set()
        for node in file.find((ast.Import, ast.ImportFrom)):
            if isinstance(node, ast.ImportFrom):
                inside = {f"{node.module}.{alias.name}" for alias in node.names} & known.keys()
                found |= inside or {str(node.module)} & known.keys()
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names} & known.keys()
        graph[name] = found - {name}
    return graph


def _reached(graph: Mapping[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = (graph[waiting.pop()] & graph.keys()) - found
        found |= new
        waiting += new
    return found


def tools_by_name(files: list[Source], names: Collection[str]) -> list[str]:
    """A built-in tool called by its name outside of its own module: what is known of it stands in its ToolSpec."""
    said = re.compile(rf"(?:{'|'.join(map(re.escape, names))})(?:\(|\Z)")
    return [
        file.at(node, f"names the tool {node.value!r}")
        for file in files
        if not file.name.startswith("desktop/tools/builtin/")
        for node in file.find(ast.Constant)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and said.match(node.value)
    ]


EAGER_DATACLASSES = ("desktop/workers/", "desktop/domain/loading/lazy_dataclass.py")
"""The programs of children use what they load; the rest of their folders is loaded with them."""


def eager_dataclasses(files: list[Source]) -> list[str]:
    """`dataclass` of the standard library compiles methods at import; ours in `desktop.domain` does not."""
    return [
        file.at(node, "imports dataclass from dataclasses; take it from desktop.domain.loading.lazy_dataclass")
        for file in files
        if not file.name.startswith(EAGER_DATACLASSES)
        for node in file.find(ast.ImportFrom)
        if _origin(node) == "dataclasses" and "dataclass" in {alias.name for alias in node.names}  # type: ignore[attr-defined]
    ]


def import_in_function(files: list[Source]) -> list[str]:
    """An import statement, `import_module` or `__import__` inside a function.

    `import_module` with a variable is how a plugin is loaded and stays allowed; with a literal, or one that is put
    together, it dodges the rules. What is wanted late is a `lazy_module` (see desktop/domain/loading/lazy.py).
    """
    found: set[str] = set()
    for file in files:
        for function in file.find((ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom) or _imports_literally(node):
                    found.add(file.at(node, "import inside a function"))
    return sorted(found)


def _imports_literally(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant | ast.JoinedStr):
        return False
    return last_name(node.func) in {"import_module", "__import__"}


def last_name(node: ast.expr | None) -> str:
    """`c` of `a.b.c`, `f` of `a.f()`, or an empty text."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Call):
        return last_name(node.func)
    return node.id if isinstance(node, ast.Name) else ""


GROUP = re.compile(r"(^|_)(group|scope|tg)$")


def unowned_tasks(files: list[Source], owners: Mapping[str, str]) -> list[str]:
    """`create_task` and `ensure_future` outside the owners of tasks. A TaskGroup (named group, scope, tg) may."""
    found = []
    for file in (file for file in files if file.name not in owners):
        for node in file.find((ast.Attribute, ast.Name, ast.ImportFrom)):
            if _starts_task(node):
                found.append(file.at(node, "starts a task that nobody owns"))
    return found


def _starts_task(node: ast.AST) -> bool:
    names = {"create_task", "ensure_future"}
    if isinstance(node, ast.ImportFrom):
        return any(alias.name in names for alias in node.names)
    if isinstance(node, ast.Attribute):
        return node.attr in names and not (node.attr == "create_task" and GROUP.search(last_name(node.value)))
    return False


def loses_cancellation(files: list[Source]) -> list[str]:
    """`asyncio.wait_for`, which in Python 3.11 can swallow a cancellation; `asyncio.timeout` does not."""
    return [
        file.at(node, "uses wait_for, which can lose a cancellation: use asyncio.timeout")
        for file in files
        for node in file.find(ast.Attribute)
        if isinstance(node, ast.Attribute) and node.attr == "wait_for" and last_name(node.value) == "asyncio"
    ]


def names_with_several_owners(files: list[Source]) -> list[str]:
    """A class, private and nested ones too, whose name another class has: a traceback shows no more than the name."""
    owners: dict[str, list[str]] = defaultdict(list)
    for file in files:
        for node in file.find(ast.ClassDef):
            assert isinstance(node, ast.ClassDef)
            owners[node.name].append(f"{file.name}:{node.lineno}")
    return [f"{name}: {', '.join(where)}" for name, where in sorted(owners.items()) if len(where) > 1]


MOST_UNEXPLAINED = 6


def unexplained_fields(files: list[Source]) -> list[str]:
    """A field without a line under it in a dataclass of many. A ``setting(…)`` says its title and help itself."""
    found = []
    for file in files:
        for node in file.find(ast.ClassDef):
            assert isinstance(node, ast.ClassDef)
            if any("dataclass" in last_name(decorator) for decorator in node.decorator_list):
                fields = list(_fields(node))
                bare = [name for name, explained in fields if not explained]
                if bare and len(fields) > MOST_UNEXPLAINED:
                    found.append(file.at(node, f"{node.name} has {len(fields)} fields; unexplained: {', '.join(bare)}"))
    return found


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, bool]]:
    """(name, whether a line explains it) of each public field."""
    for statement, after in zip(node.body, [*node.body[1:], None], strict=True):
        if not isinstance(statement, ast.AnnAssign) or last_name(statement.target).startswith("_"):
            continue
        if "ClassVar" not in ast.unparse(statement.annotation):
            text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            yield last_name(statement.target), text or last_name(statement.value) == "setting"


def prose(file: Source, word: str) -> list[str]:
    """The comments and docstrings of a Python file. Comments only where one may have this word: to find them takes
    long."""
    readline = StringIO(file.text if re.search(f"#.*{re.escape(word)}", file.text) else "").readline
    found = [token.string for token in generate_tokens(readline) if token.type == COMMENT]
    nodes = file.find((ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
    return [*found, *filter(None, map(ast.get_docstring, nodes))]  # type: ignore[arg-type]


def lazy_modules_unlike_their_types(files: list[Source]) -> list[str]:
    """`lazy_module("a.b")` bound to a name that mypy takes for another module, or for none."""
    found = []
    for file in files:
        known = dict(_typed_imports(file))
        for node in file.find(ast.Assign):
            assert isinstance(node, ast.Assign)
            call, name = node.value, last_name(node.targets[0])
            if not isinstance(call, ast.Call) or last_name(call.func) != "lazy_module":
                continue
            said = call.args[0].value if isinstance(call.args[0], ast.Constant) else None
            if said is None or known.get(name) != said:
                found.append(file.at(node, f"{name} is {said} when it runs, and {known.get(name)} for mypy"))
    return found


def _typed_imports(file: Source) -> Iterator[tuple[str, str]]:
    """(name, module) of what is imported for types alone."""
    for block in file.find(ast.If):
        assert isinstance(block, ast.If)
        for node in block.body if last_name(block.test) == "TYPE_CHECKING" else ():
            if isinstance(node, ast.Import | ast.ImportFrom):
                of = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
                yield from ((alias.asname or alias.name, of + alias.name) for alias in node.names)


def modal_or_pumping(files: list[Source]) -> list[str]:
    """`.exec()` on what can be a dialog or a menu, and `processEvents`: both stall the other tasks for good."""
    found = []
    for file in files:
        for node in file.find(ast.Call):
            assert isinstance(node, ast.Call)
            name = last_name(node.func) if isinstance(node.func, ast.Attribute) else ""
            if name == "processEvents" or name in {"exec", "exec_"}:
                found.append(file.at(node, f"calls {name}()"))
    return found


def broad_except(files: list[Source], allowed: Mapping[str, int]) -> list[str]:
    """`except Exception`, `except BaseException` and a bare `except`, but for reviewed places.

    `allowed` says how many a file may hold; each must say in a comment on its own line what it is the boundary of.
    A BaseException handler that ends in a bare `raise` swallows nothing and is fine anywhere.
    """
    found = []
    for file in files:
        handlers = [node for node in file.find(ast.ExceptHandler) if isinstance(node, ast.ExceptHandler)]
        broad = [node for node in handlers if _is_broad(node) and not _raises_again(node)]
        found += [
            file.at(node, "a broad except without its reason in a comment")
            for node in broad
            if not _has_reason(file.line(node))
        ]
        if len(broad) > allowed.get(file.name, 0):
            found.append(f"{file.name}: {len(broad)} broad excepts, {allowed.get(file.name, 0)} were reviewed")
    return found


def _has_reason(line: str) -> bool:
    """Whether the comment on a line says something beyond switching a check off."""
    comment = line.partition("#")[2].replace("noqa: BLE001", "")
    return len(re.findall(r"\w+", comment)) >= 2


def _is_broad(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or last_name(kind) in {"Exception", "BaseException"} for kind in kinds)


def _raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def shown_without_parent(files: list[Source]) -> list[str]:
    """A widget shown before it is put anywhere: for that moment it is a window, and takes the keys (R-PRM-14)."""
    return [
        file.at(call, f"{name} is shown before it has a parent, as a window of its own")
        for file in files
        if file.name.startswith("desktop/ui/") and "/shots" not in file.name
        for function in file.find((ast.FunctionDef, ast.AsyncFunctionDef))
        for name, call in _shown_too_soon(function)
    ]


def _shown_too_soon(function: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    calls = sorted(
        (node for node in ast.walk(function) if isinstance(node, ast.Call)), key=lambda n: (n.lineno, n.col_offset)
    )
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call) or len(node.targets) != 1:
            continue
        name, made = ast.unparse(node.targets[0]), node.value
        if not last_name(made.func)[:1].isupper() or _has_parent(made):
            continue
        placed = [call for call in calls if call.lineno > node.lineno and _takes(call, name)]
        for call in calls:
            shows = isinstance(call.func, ast.Attribute) and call.func.attr in ("show", "setVisible")
            if not shows or ast.unparse(call.func.value) != name or call.lineno < node.lineno or _is_false(call):
                continue
            if not any(first.lineno <= call.lineno for first in placed):
                yield name, call


def _has_parent(made: ast.Call) -> bool:
    named = any(word.arg == "parent" for word in made.keywords)
    return named or any(isinstance(given, ast.Name) and given.id == "self" for given in made.args)


def _takes(call: ast.Call, name: str) -> bool:
    """Whether a call is given the widget, or gives it a parent, at whatever depth of its arguments."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "setParent":
        return ast.unparse(call.func.value) == name
    return any(ast.unparse(inner) == name for argument in call.args for inner in ast.walk(argument))


def _is_false(call: ast.Call) -> bool:
    return bool(call.args) and isinstance(call.args[0], ast.Constant) and call.args[0].value is False


COLOUR = re.compile(r"#(?:[0-9a-fA-F]{8}|[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b|\brgba?\(|\bhsla?\(")


def hard_coloured(files: list[Source]) -> list[str]:
    """A colour written into the widgets. Colours come from the theme, or dark mode and contrast break."""
    found = []
    for file in (file for file in files if file.name.startswith("desktop/ui/") and "/theme" not in file.name):
        for node in file.find((ast.Constant, ast.Call, ast.Attribute)):
            if _is_colour(node):
                found.append(file.at(node, "a colour outside the theme"))
    return found


def _is_colour(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and COLOUR.search(node.value) is not None
    if isinstance(node, ast.Call):
        numbers = [argument for argument in node.args if isinstance(argument, ast.Constant)]
        return last_name(node.func) == "QColor" and len(numbers) == len(node.args) > 0
    return isinstance(node, ast.Attribute) and last_name(node.value) == "GlobalColor" and node.attr != "transparent"


INDEX = re.compile(
    r"https?://[^\s\"'<>]*(pypi|pythonhosted|/simple\b|index)[^\s\"'<>]*|--(extra-)?index-url|--find-links"
)


def index_addresses(texts: Mapping[str, str]) -> list[str]:
    """An address of a package index: which index is used is the machine's affair."""
    return [
        f"{name}:{number}: {match.group()}"
        for name, text in texts.items()
        for number, line in enumerate(text.splitlines(), 1)
        if (match := INDEX.search(line))
    ]


MODULES_LIMIT = 20


def crowded(files: list[Source], reviewed: Mapping[str, str]) -> list[str]:
    """A folder in which nothing is found by its path any more."""
    modules: dict[str, int] = defaultdict(int)
    for file in files:
        folder, _, name = file.name.rpartition("/")
        modules[folder] += name != "__init__.py"
    return [
        f"{folder}: {count} modules, {MODULES_LIMIT} is the most"
        for folder, count in sorted(modules.items())
        if count > MODULES_LIMIT and folder not in reviewed
    ]


def named_for_their_folder(files: list[Source], reviewed: Mapping[str, str]) -> list[str]:
    """A module that says the name of its folder again, as its own or as the first word of it, be it as one of many."""
    return [
        f"{file.name}:1: says the name of its folder again"
        for file in files
        if file.name not in reviewed and _repeats_folder(*file.name.removesuffix(".py").split("/")[-2:])
    ]


def _repeats_folder(folder: str, stem: str) -> bool:
    names = {folder, folder.removesuffix("s")}
    return stem in names or stem.startswith(tuple(f"{name}_" for name in names))


TOP_LEVEL = frozenset(
    {
        "pyproject.toml",
        "MANIFEST.in",
        "desktop",
        "resources",
        "skills",
        "tests",
        "packaging",
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
    }
)


def top_level(names: set[str]) -> list[str]:
    """What lies at the top and should not, and what should and does not. Dot files are free."""
    visible = {name for name in names if not name.startswith(".")}
    return [f"{name} does not belong at the top" for name in sorted(visible - TOP_LEVEL)] + [
        f"{name} is missing at the top" for name in sorted(TOP_LEVEL - visible)
    ]

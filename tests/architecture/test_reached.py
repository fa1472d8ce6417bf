"""Nothing of the app is there for tests alone: the app, its children or its library reach each module and each name."""

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from tests.architecture.rules import Function, Source, source, sources

ROOT = Path(__file__).resolve().parents[2]

STARTS = ("desktop.__main__", "packaging.wheel_index")


def modules() -> dict[str, Path]:
    """By dotted name; a package stands for its ``__init__``."""
    found = {}
    for path in (*(ROOT / "desktop").rglob("*.py"), ROOT / "packaging/wheel_index.py"):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


def named_in(path: Path) -> set[str]:
    """Dotted names that a file imports, or spells out in a text for a later import; and files that lie beside it, which
    run in a process of their own, by their bare names."""
    beside = {one.stem: ".".join(one.relative_to(ROOT).with_suffix("").parts) for one in path.parent.glob("*.py")}
    found: set[str] = set()
    for node in source(ROOT, path).find((ast.Import, ast.ImportFrom, ast.Constant)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {
                node.module,
                *(f"{node.module}.{alias.name}" for alias in node.names),
                beside.get(node.module, ""),
            }
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("desktop."):
            found.add(node.value.partition(":")[0])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith(".py"):
            found.add(beside.get(node.value.removesuffix(".py"), ""))
    return found


def unreached(every: dict[str, Path], starts: list[str], names: dict[str, set[str]]) -> list[str]:
    seen: set[str] = set()
    waiting = list(starts)
    while waiting:
        module = waiting.pop()
        if module in seen or module not in every:
            continue
        seen.add(module)
        waiting += [*names[module], module.rpartition(".")[0]]
    return sorted(set(every) - seen)


def test_each_module_is_reached_by_the_app_its_children_or_its_library() -> None:
    every = modules()
    children = [name for name in every if name.endswith(".__main__")]
    library = [name for path in (ROOT / "skills").rglob("*.py") for name in named_in(path)]
    helpers = ["desktop.skills.values.for_skills"]  # loaded by its path, as `assent`, in a skill's process
    names = {name: named_in(path) for name, path in every.items()}
    assert unreached(every, [*STARTS, *children, *library, *helpers], names) == []


def test_a_module_that_only_tests_import_is_found() -> None:
    every = dict.fromkeys(("desktop", "desktop.a", "desktop.b", "desktop.c"), ROOT)
    names = {"desktop": set[str](), "desktop.a": {"desktop.b"}, "desktop.b": set[str](), "desktop.c": {"desktop.a"}}
    assert unreached(every, ["desktop.a"], names) == ["desktop.c"]


# Public names of desktop/ that nothing but tests says, each with who else needs it.
SAID_BY_OTHERS: dict[str, str] = {
    "fromutc": "datetime asks a time zone for it",
    "tzname": "datetime asks a time zone for it",
    "interface_cast": "Qt calls it",
    "readinto": "io.BufferedReader calls it",
    "run_forever": "asyncio's runner calls it",
    "capture_signals": "uvicorn calls it",
    "fan_out": "an agent in code calls it on its ctx",
    "set_data": "a skill calls it on its ctx",
    "task_names": "tests wait for what the bridge has begun; nothing else tells them that it is quiet",
    **dict.fromkeys(
        (
            *("on_connect", "authenticate", "new_session", "load_session", "resume_session", "list_sessions"),
            *("close_session", "fork_session", "set_session_mode", "set_config_option"),
            *("ext_method", "ext_notification"),
        ),
        "the SDK of the Agent Client Protocol calls it",
    ),
    **dict.fromkeys(
        ("get_tokens", "set_tokens", "get_client_info", "set_client_info"), "the MCP library's sign-in asks its storage"
    ),
    "fails": "a script of the model of the tests is written with it, as with says and calls",
}

FOR_SKILLS = "desktop/skills/values/for_skills.py"
QT_NAME = re.compile(r"[a-z]+[A-Z]")
"""Ours are in snake_case, so a method of such a name is Qt's or the standard library's, and called from there."""


def public_names(file: Source) -> Iterator[ast.ClassDef | Function]:
    """The functions, classes and methods that others may use."""
    waiting: list[ast.AST] = list(file.tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ClassDef):
            waiting += node.body
        if isinstance(node, ast.ClassDef | Function) and not node.name.startswith("_"):
            yield node


def said_in(file: Source) -> set[str]:
    """Names that a file reads, and texts that may be names: of an attribute, of a function that is loaded later. An
    import is no use of what it brings, unless it gets another name; nor is standing in ``__all__``."""
    found: set[str] = set()
    offered = {
        id(text)
        for node in file.tree.body
        if isinstance(node, ast.Assign) and any(getattr(to, "id", "") == "__all__" for to in node.targets)
        for text in ast.walk(node)
    }
    for node in file.find((ast.Name, ast.Attribute, ast.Constant, ast.ImportFrom)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in offered:
            found.update(node.value.split(":")[-1:])
        elif isinstance(node, ast.ImportFrom) and file.name == FOR_SKILLS:
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names if alias.asname}
    return found


def for_tests_alone(files: list[Source], reviewed: Collection[str]) -> list[str]:
    """Public names of desktop/ that no file says, and reviewed ones that are said after all."""
    said = set[str]().union(*map(said_in, files))
    unsaid = [
        (file, node)
        for file in files
        if file.name.startswith("desktop/")
        for node in public_names(file)
        if node.name not in said and not QT_NAME.match(node.name)
    ]
    found = [file.at(node, f"only tests use {node.name}") for file, node in unsaid if node.name not in reviewed]
    needless = set(reviewed) - {node.name for _, node in unsaid}
    return sorted(found) + [f"{name} needs no exception" for name in sorted(needless)]


def test_nothing_public_is_there_for_tests_alone() -> None:
    files = sources(ROOT, "desktop", "skills", "packaging", "resources")
    assert for_tests_alone(files, SAID_BY_OTHERS) == []


def test_what_only_tests_use_is_found() -> None:
    files = [
        Source("desktop/a.py", "class Kept:\n def used(self): ...\n def lost(self): ...\n def sizeHint(self): ...\n"),
        Source("desktop/b.py", "from desktop.a import Kept\ndef gone(): ...\ndef late(): ...\ndef known(): ...\n"),
        Source("desktop/c.py", "from desktop.b import gone\n__all__ = ['gone']\n"),
        Source("skills/c.py", "Kept().used()\nload('desktop.b:late')\n"),
    ]
    assert for_tests_alone(files, ["known", "used"]) == [
        "desktop/a.py:3: only tests use lost",
        "desktop/b.py:2: only tests use gone",
        "used needs no exception",
    ]

"""No module of the app is there for tests alone: the app, its children or its library reach each of them."""

import ast
from pathlib import Path

from tests.architecture.rules import source

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

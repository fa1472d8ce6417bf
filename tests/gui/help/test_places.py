"""Every dialog, and every page with a head of its own, has its page of help: also one that is new tomorrow."""

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import desktop.ui
from desktop.ui.widgets.dialogs.base import Dialog
from desktop.ui.widgets.dialogs.scrolled_dialog import ScrolledDialog
from tests.harness.help_pages import HELP, ROOT

BASES = {Dialog, ScrolledDialog}
WAYS = {"HelpIcon", "HelpButton"}


def _below(kind: type[Dialog]) -> Iterator[type[Dialog]]:
    for one in kind.__subclasses__():
        yield one
        yield from _below(one)


def _uses(module: Path) -> set[str]:
    """What a module calls, and the attributes of signals that it declares."""
    tree = ast.parse(module.read_text("utf-8"))
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    signals = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return called | defined | signals


def test_every_dialog_has_its_page_of_help() -> None:
    for found in pkgutil.walk_packages(desktop.ui.__path__, "desktop.ui."):
        importlib.import_module(found.name)
    dialogs = {one for one in _below(Dialog) if one.__module__.startswith("desktop.") and one not in BASES}
    pages = {file.stem for file in HELP.glob("*.md")}
    assert len(dialogs) > 20
    assert sorted(one.__name__ for one in dialogs if one.help_page not in pages) == []


def test_a_page_that_takes_the_head_for_itself_has_help_in_it() -> None:
    modules = {file: _uses(file) for file in (ROOT / "desktop" / "ui").rglob("*.py")}
    heads = {file for file, names in modules.items() if {"in_sight", "showEvent"} <= names}
    assert heads
    assert [file.name for file in heads if not modules[file] & WAYS] == []


def test_a_page_whose_parts_have_pages_of_their_own_says_when_another_one_shows() -> None:
    modules = {file: _uses(file) for file in (ROOT / "desktop" / "ui").rglob("*.py")}
    several = {file for file, names in modules.items() if "help_topic" in names}
    assert len(several) > 3
    assert [file.as_posix() for file in several if "topic_changed" not in modules[file]] == []

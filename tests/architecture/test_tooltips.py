"""Qt guesses whether a tooltip is markup: every text that is not written in the code goes through ``plain_tip``."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.rules import last_name, sources

ROOT = Path(__file__).resolve().parents[2]
TRAY = "desktop/ui/shell/tray.py"
"""Shown by the desktop, of words of ours."""


def fixed(text: ast.expr) -> bool:
    """Whether it is written in the code, or was made safe."""
    if isinstance(text, ast.IfExp):
        return fixed(text.body) and fixed(text.orelse)
    if isinstance(text, ast.Call):
        return last_name(text.func) in ("plain_tip", "tip")
    return isinstance(text, ast.Constant) or (isinstance(text, ast.Name) and text.id.isupper())


def tips(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and last_name(node.func) == "setToolTip":
            yield node.args[0]
        elif isinstance(node, ast.If) and "ToolTipRole" in ast.unparse(node.test):
            yield from (end.value for end in node.body if isinstance(end, ast.Return) and end.value is not None)


@pytest.mark.spec("R-PRM-15")
def test_no_tooltip_takes_text_of_others_for_markup() -> None:
    found = [(file.name, tip) for file in sources(ROOT, "desktop/ui") if file.name != TRAY for tip in tips(file.tree)]
    assert len(found) > 50
    assert [(name, tip.lineno) for name, tip in found if not fixed(tip)] == []

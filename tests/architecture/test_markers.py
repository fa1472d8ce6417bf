"""Requirement names in tests are well formed, so that a report of what is proven counts each of them."""

import ast
import re
from pathlib import Path

from tests.architecture import rules

ROOT = Path(__file__).resolve().parents[2]
NAME = re.compile(r"[RS]-[A-Z]+-\d+|[CDNQ]-\d+")


def ill_formed(files: list[rules.Source]) -> list[str]:
    """Each `mark.spec(...)` that is empty or holds something that is no literal requirement name."""
    found = []
    for file in files:
        for node in file.find(ast.Call):
            if isinstance(node, ast.Call) and _is_spec(node.func):
                values = [part.value if isinstance(part, ast.Constant) else None for part in node.args]
                if not values or not all(isinstance(value, str) and NAME.fullmatch(value) for value in values):
                    found.append(file.at(node, ast.unparse(node)))
    return found


def _is_spec(called: ast.expr) -> bool:
    return isinstance(called, ast.Attribute) and called.attr == "spec" and rules.last_name(called.value) == "mark"


def test_every_requirement_is_named_rightly() -> None:
    found = ill_formed(rules.sources(ROOT, "tests"))
    assert not found, "\n" + "\n".join(found)


def test_a_wrong_name_is_found() -> None:
    text = "@pytest.mark.{}\ndef test_it(): pass\n"
    for wrong in ("spec('R-FS')", "spec()", "spec(NAME)", "spec('S6.12')", "spec('X-3')", "spec('C-')"):
        assert ill_formed([rules.Source("tests/x.py", text.format(wrong))]), wrong
    right = "spec('R-FS-2', 'S-RES-2', 'C-3', 'Q-14')"
    assert ill_formed([rules.Source("tests/x.py", text.format(right))]) == []

"""Changing keys of the frontmatter literal of a Python skill in its text; nothing is executed (R-SK-6, R-SK-11)."""

from __future__ import annotations

import ast
import pprint
import re
from collections.abc import Sequence
from typing import Any

from desktop.skills.python_tree import python_tree
from desktop.yaml_text.change import REMOVE, NotEditable

WIDTH = 100
NOT_PLAIN = "The frontmatter of this file is not written out as plain values."
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


def change_literal(source: str, path: Sequence[str], value: Any) -> str:
    """``source`` with one key of ``frontmatter = {...}`` set, added or removed. Raises NotEditable."""
    try:
        tree = python_tree(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise NotEditable("The file is not valid Python.", next_step="Correct it as text first.") from error
    literal = _frontmatter(tree)
    if literal is None:
        raise NotEditable(NOT_PLAIN, next_step="Edit it as text.")
    return _changed(source, literal, list(path), value)


def literal_of(source: str) -> dict[str, Any]:
    """``frontmatter = {...}`` as it is written. Raises NotEditable where there is no literal."""
    try:
        found = _frontmatter(python_tree(source))
        value = ast.literal_eval(found) if found is not None else None
    except (SyntaxError, ValueError, RecursionError, TypeError) as error:
        raise NotEditable(NOT_PLAIN, next_step="Correct it as text first.") from error
    if not isinstance(value, dict):
        raise NotEditable(NOT_PLAIN, next_step="Edit it as text.")
    return {str(key): item for key, item in value.items()}


def _frontmatter(tree: ast.Module) -> ast.Dict | None:
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        named = any(isinstance(target, ast.Name) and target.id == "frontmatter" for target in targets)
        if named and isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Dict):
            return node.value
    return None


def _changed(source: str, literal: ast.Dict, path: list[str], value: Any) -> str:
    at = _index(literal, path[0])
    if at is None:
        return source if value is REMOVE else _added(source, literal, path, value)
    inner = literal.values[at]
    if len(path) > 1:
        if not isinstance(inner, ast.Dict):
            raise NotEditable(f"{path[0]} is not written out as names and values.", next_step="Edit it as text.")
        return _changed(source, inner, path[1:], value)
    if value is REMOVE:
        return _removed(source, literal, at)
    start, end = _span(source, inner)
    return source[:start] + _literal(value, inner.col_offset) + source[end:]


def _index(literal: ast.Dict, name: str) -> int | None:
    for at, key in enumerate(literal.keys):
        if isinstance(key, ast.Constant) and key.value == name:
            return at
    return None


def _added(source: str, literal: ast.Dict, path: list[str], value: Any) -> str:
    for name in reversed(path[1:]):
        value = {name: value}
    start, end = _span(source, literal)
    if not literal.keys:
        return source[:start] + "{" + f"{path[0]!r}: {_literal(value, 4)}" + "}" + source[end:]
    last = literal.values[-1]
    first = literal.keys[0] or literal.values[0]
    _, after = _span(source, last)
    spread = first.lineno != literal.lineno
    lead = "\n" + " " * first.col_offset if spread else " "
    comma = "" if source[after:end].lstrip().startswith(",") else ","
    at = after + (0 if comma else source[after:end].index(",") + 1)
    text = f"{comma}{lead}{path[0]!r}: {_literal(value, first.col_offset)}" + ("," if spread else "")
    return source[:at] + text + source[at:]


def _removed(source: str, literal: ast.Dict, at: int) -> str:
    key = literal.keys[at]
    if key is None:
        return source
    start, _ = _span(source, key)
    _, end = _span(source, literal.values[at])
    _, close = _span(source, literal)
    rest = source[end : close - 1]
    if rest.lstrip().startswith(","):
        end += rest.index(",") + 1
    line = source.rfind("\n", 0, start) + 1
    if not source[line:start].strip() and source[end:].split("\n", 1)[0].strip() == "":
        following = source.find("\n", end)
        return source[:line] + source[following + 1 :]
    return source[:start] + source[end:].lstrip(" ")


def _span(source: str, node: ast.expr) -> tuple[int, int]:
    """Character offsets of a node (ast counts columns in UTF-8 bytes)."""
    lines = _LINES.findall(source)  # as Python counts them: a form feed ends none

    def offset(line: int, column: int) -> int:
        before = sum(len(text) for text in lines[: line - 1])
        return before + len(lines[line - 1].encode("utf-8", "surrogatepass")[:column].decode("utf-8", "surrogatepass"))

    return offset(node.lineno, node.col_offset), offset(node.end_lineno or node.lineno, node.end_col_offset or 0)


def _literal(value: Any, indent: int) -> str:
    """A value as Python writes it, in lines that keep to the right of ``indent``."""
    text = pprint.pformat(value, width=max(40, WIDTH - indent), sort_dicts=False)
    return text.replace("\n", "\n" + " " * indent)

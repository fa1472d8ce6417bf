"""``*.skill.py`` as text: the literal ``frontmatter`` or ``skills`` and the functions, from its syntax tree (R-SK-6).

Nothing is compiled or run. A long file is parsed in pieces between top-level statements, because Python's parser holds
the interpreter, and with it the windows, for as long as it takes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from desktop.domain.text.places import FormatError, Keys
from desktop.skills.formats.code import MAX_CODE, MAX_DEPTH, MAX_VALUES, CodeFile, WrittenLiteral, json_problem
from desktop.skills.python_tree import python_tree

ENTRY = "run"
PIECE = 16_000
"""Characters parsed at once where the file allows it: some 3 ms."""

_STATEMENT = re.compile(r"^(?!(?:else|elif|except|finally)\b)[A-Za-z_@]", re.MULTILINE)
_QUOTES = re.compile(r"[A-Za-z]{0,2}(?:\"\"\"|'''|[\"'])")
_NAMES = ("frontmatter", "skills")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def read(text: str) -> CodeFile:
    """What the file declares. FormatError with its place when it is no Python or its frontmatter no literal."""
    text = text.removeprefix("\ufeff")
    if len(text) > MAX_CODE:
        raise FormatError(f"a code skill has {MAX_CODE:,} characters at most", 1, code="file.too-large")
    file = CodeFile(ENTRY)
    for offset, node in _statements(text):
        if isinstance(node, _Function):
            file.functions[node.name] = _signature(node)
        elif isinstance(node, ast.ClassDef):
            file.classes[node.name] = _no_agent(node)
        elif (target := _target(node)) is not None:
            name, value = target
            if name in _NAMES:
                _declare(file, name, value, _PythonLiteralReader(text, offset))
            else:
                file.functions.setdefault(name, "")
    return file


def _declare(file: CodeFile, name: str, value: ast.expr, reader: _PythonLiteralReader) -> None:
    if getattr(file, name) is not None:
        raise FormatError(f"{name} is assigned twice", *reader.place(value), code="frontmatter.ambiguous")
    setattr(file, name, reader.literal(value))


def _target(node: ast.stmt) -> tuple[str, ast.expr] | None:
    """Name and value of a plain assignment."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        return node.target.id, node.value
    return None


def _signature(node: _Function) -> str:
    """Why ``(ctx, args)`` does not fit, or ""."""
    arguments = node.args
    positional = len(arguments.posonlyargs) + len(arguments.args)
    needed = positional - len(arguments.defaults)
    named = sum(default is None for default in arguments.kw_defaults)
    if needed > 2 or named or (positional < 2 and arguments.vararg is None):
        return f"{node.name} has to take (ctx, args)"
    return ""


def _no_agent(node: ast.ClassDef) -> str:
    """Why a class is no agent, or "". Only what stands in its own body counts: nothing is run to find out more."""
    run = next((one for one in node.body if isinstance(one, ast.AsyncFunctionDef) and one.name == "run"), None)
    fits = run is not None and len(run.args.posonlyargs) + len(run.args.args) == 3 and not run.args.kwonlyargs
    return "" if fits else f"the class {node.name} needs `async def run(self, ctx, inbox)` to be an agent"


# -- pieces -----------------------------------------------------------------------------------------------------------


def _statements(text: str) -> Iterator[tuple[int, ast.stmt]]:
    """Each top-level statement with the number of lines before the piece that it was parsed in."""
    ends = [*_cuts(text), len(text)]
    start = number = lines = 0
    while start < len(text):
        piece, number = _piece(text, start, ends, number, lines)
        for node in piece.body:
            yield lines, node
        lines += text.count("\n", start, ends[number - 1])
        start = ends[number - 1]


def _cuts(text: str) -> list[int]:
    """Offsets where a top-level statement may begin, a piece apart; not between a decorator and its function."""
    found, last, decorated = [], 0, False
    for match in _STATEMENT.finditer(text) if len(text) > PIECE else ():
        if match.start() - last >= PIECE and not decorated:
            last = match.start()
            found.append(last)
        decorated = match[0] == "@"
    return found


def _piece(text: str, start: int, ends: list[int], number: int, lines: int) -> tuple[ast.Module, int]:
    """The next piece that is Python by itself, and the number of its end. A cut inside of a text in triple quotes does
    not parse: the piece is doubled until it does."""
    many = 1
    while True:
        end = min(number + many, len(ends))
        try:
            return python_tree(text[start : ends[end - 1]]), end
        except SyntaxError as error:
            if end == len(ends):
                line, column = lines + (error.lineno or 1), error.offset or 1
                raise FormatError(f"this is no Python: {error.msg}", line, max(column, 1), "code.syntax") from error
        except (ValueError, RecursionError, MemoryError) as error:
            if end == len(ends):
                raise FormatError("this is no Python that can be read", lines + 1, code="code.syntax") from error
        many *= 2


# -- literals ---------------------------------------------------------------------------------------------------------


class _PythonLiteralReader:
    """A literal as ``ast.literal_eval`` would have it, but JSON-safe, limited, and with the place of what is none."""

    def __init__(self, text: str, offset: int) -> None:
        self._text = text
        self._offset = offset
        self._lines: list[str] | None = None
        self._marks: dict[Keys, Any] = {}
        self._values = 0

    def place(self, node: ast.expr) -> tuple[int, int]:
        """Line and column, in characters, of a node."""
        if self._lines is None:
            self._lines = self._text.split("\n")
        line = self._offset + node.lineno
        before = self._lines[line - 1].encode("utf-8", "replace")[: node.col_offset]
        return line, len(before.decode("utf-8", "replace")) + 1

    def _start(self, node: ast.expr) -> tuple[int, int]:
        """The place where a node begins, inside the quotes where it is a text."""
        line, column = self.place(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and self._lines is not None:
            quotes = _QUOTES.match(self._lines[line - 1], column - 1)
            column += len(quotes[0]) if quotes is not None else 0
        return line, column

    def literal(self, node: ast.expr) -> WrittenLiteral:
        return WrittenLiteral(self._value(node, (), 1), self._marks, self._start)

    def _error(self, node: ast.expr, message: str, code: str = "frontmatter.not-literal") -> FormatError:
        return FormatError(message, *self.place(node), code=code)

    def _value(self, node: ast.expr, keys: Keys, depth: int) -> Any:
        self._marks[keys] = node
        self._values += 1
        if depth > MAX_DEPTH or self._values > MAX_VALUES:
            raise self._error(node, "the frontmatter is nested too deep or too large", "frontmatter.too-large")
        match node:
            case ast.Dict():
                return self._mapping(node, keys, depth)
            case ast.List() | ast.Tuple():
                return [self._value(item, (*keys, number), depth + 1) for number, item in enumerate(node.elts)]
            case ast.Constant():
                return self._scalar(node, node.value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return self._scalar(node, -number)
        raise self._error(
            node,
            f"frontmatter has to be written out: {_SAID.get(type(node), 'an expression')} is not "
            "worked out, because a skill is not run to be listed",
        )

    def _scalar(self, node: ast.expr, value: Any) -> Any:
        if problem := json_problem(value):
            raise self._error(node, problem, "frontmatter.value")
        return value

    def _mapping(self, node: ast.Dict, keys: Keys, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                raise self._error(key or value, "a key has to be plain text", "frontmatter.key")
            if key.value in found:
                raise self._error(key, f"the key {key.value[:60]!r} is given twice", "frontmatter.duplicate-key")
            found[key.value] = self._value(value, (*keys, key.value), depth + 1)
        return found


_SAID: dict[type[ast.expr], str] = {
    ast.Call: "a call",
    ast.Name: "a name",
    ast.JoinedStr: "an f-string",
    ast.BinOp: "an operation",
    ast.Attribute: "an attribute",
    ast.Subscript: "a subscript",
    ast.Set: "a set",
}

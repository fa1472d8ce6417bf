"""Small faults that can be put into a module, one at a time: tests that still pass then do not look there."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType

Function = ast.FunctionDef | ast.AsyncFunctionDef

OPPOSITES: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.Continue: ast.Break,
}
OTHER_NAMES = {"any": "all", "all": "any", "min": "max", "max": "min"}
LOGS = ("_log.", "log.", "logger.", "logging.")
SHOWN = ("__repr__", "__str__")
NOT_RUN = ("annotation", "returns", "args", "decorator_list")
"""Parts of a function that run when it is made, if at all; ``args`` of a call are no such part."""


@dataclass(frozen=True)
class Mutant:
    """One fault. ``apply`` puts it into the tree that it was found in."""

    function: str
    """The qualified name of the outermost function around it."""
    begins: int
    """The line where that function begins, its decorators included."""
    line: int
    end: int
    """From ``line`` on: the lines of the statement that is changed, without the statements inside it."""
    what: str
    apply: Callable[[], None]


def mutants(tree: ast.Module) -> list[Mutant]:
    """Every fault that can be put into the functions of a module, always in the same order."""
    return [one for name, function in _functions(tree, "") for one in _within(function, name, function, function)]


def mutated(source: str, index: int) -> ast.Module:
    """The module with its fault of that number. Lines stay where they were."""
    tree = ast.parse(source)
    mutants(tree)[index].apply()
    return ast.fix_missing_locations(tree)


def code_of(module: CodeType, fault: Mutant) -> CodeType | None:
    """The compiled function that the fault is in."""
    for one in module.co_consts:
        if isinstance(one, CodeType):
            if (one.co_qualname, one.co_firstlineno) == (fault.function, fault.begins):
                return one
            if found := code_of(one, fault):
                return found
    return None


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, Function]]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, Function):
            yield from _functions(child, f"{prefix}{child.name}." if isinstance(child, ast.ClassDef) else prefix)
        elif child.name not in SHOWN:
            yield f"{prefix}{child.name}", child


def _within(node: ast.AST, name: str, function: Function, statement: ast.stmt) -> Iterator[Mutant]:
    begins = min(one.lineno for one in (function, *function.decorator_list))
    for field, place, child in _children(node):
        around = child if isinstance(child, ast.stmt) else statement
        body = getattr(around, "body", None)
        end = max(around.lineno, body[0].lineno - 1) if body else around.end_lineno or around.lineno
        for what, other in (*_changed(child), *_dropped(child)):
            if hasattr(child, "lineno"):
                ast.copy_location(other, child)
            yield Mutant(name, begins, around.lineno, end, what, _put(node, field, place, other))
        yield from _within(child, name, function, around)


def _children(node: ast.AST) -> Iterator[tuple[str, int | None, ast.AST]]:
    """What runs below a node, with its place there."""
    for field, value in ast.iter_fields(node):
        if field in NOT_RUN and not isinstance(node, ast.Call):
            continue
        for place, child in enumerate(value) if isinstance(value, list) else ((None, value),):
            if isinstance(child, ast.AST) and not (field == "ops" and len(value) > 1):
                yield field, place, child


def _put(node: ast.AST, field: str, place: int | None, other: ast.AST) -> Callable[[], None]:
    def put() -> None:
        if place is None:
            setattr(node, field, other)
        else:
            getattr(node, field)[place] = other

    return put


def _changed(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What can stand in the place of a node, with the words for it."""
    if other := OPPOSITES.get(type(node)):
        yield f"{type(node).__name__} becomes {other.__name__}", other()
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield f"not dropped: {ast.unparse(operand)}", operand
        case ast.Constant(value=bool(value)):
            yield f"{value} becomes {not value}", ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield f"{value} becomes {value + 1}", ast.Constant(value + 1)
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield f"None returned for {ast.unparse(value)}", ast.Return(None)
        case ast.If(test=test) | ast.IfExp(test=test) if not isinstance(test, ast.UnaryOp):
            negated = ast.copy_location(ast.UnaryOp(ast.Not(), test), test)
            yield f"branches swapped: {ast.unparse(test)}", type(node)(**{**vars(node), "test": negated})
        case ast.Name(id=name) if name in OTHER_NAMES:
            yield f"{name} becomes {OTHER_NAMES[name]}", ast.Name(OTHER_NAMES[name], node.ctx)


def _dropped(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """A node without what it does; what only says something to a log decides nothing."""
    match node:
        case ast.Raise() | ast.Delete() | ast.Assign(targets=[ast.Attribute()]):
            yield f"dropped: {ast.unparse(node)}", ast.Pass()
        case ast.Expr(value=ast.Call() as call) | ast.Expr(value=ast.Await(value=ast.Call() as call)):
            if not ast.unparse(call.func).startswith(LOGS):
                yield f"dropped: {ast.unparse(node)}", ast.Pass()
        case ast.comprehension(ifs=[_, *_] as conditions):
            everything = ast.comprehension(node.target, node.iter, [], node.is_async)
            yield f"filter dropped: {' if '.join(map(ast.unparse, conditions))}", everything

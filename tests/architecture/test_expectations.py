"""Every test can fail: it expects something, and what it expects can be wrong."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.rules import Function, Source, sources

ROOT = Path(__file__).resolve().parents[2]
TESTS = sources(ROOT, "tests")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
EXPECTING = frozenset({"raises", "warns", "fail", "wait_for", "waitUntil", "waitSignal"})
"""Names of calls that fail by themselves where what they wait for does not come."""


def never_wrong(files: list[Source]) -> list[str]:
    """Asserts that hold whatever the code does."""
    return [
        file.at(node, why)
        for file in files
        for node in file.find(ast.Assert)
        if isinstance(node, ast.Assert) and (why := _never_wrong(node))
    ]


def _never_wrong(node: ast.Assert) -> str:
    test = node.test
    if isinstance(node.msg, (ast.Compare, ast.BoolOp)):
        return "the comma makes a message of what was to be compared"
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) and any(map(_always, test.values)):
        return "one of the alternatives always holds"
    if _always(test):
        return "it always holds"
    return "a thing is compared with itself" if _with_itself(test) else ""


def _with_itself(test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not _is_name(test.left):
        return False
    reflexive = isinstance(test.ops[0], (ast.Eq, ast.Is, ast.LtE, ast.GtE))
    return reflexive and ast.dump(test.left) == ast.dump(test.comparators[0])


def _always(test: ast.expr) -> bool:
    if isinstance(test, (ast.Tuple, ast.List, ast.Set)):
        return bool(test.elts)
    if isinstance(test, ast.Constant):
        return bool(test.value)
    return isinstance(test, (ast.Lambda, ast.GeneratorExp)) or (isinstance(test, ast.Dict) and bool(test.keys))


def _is_name(node: ast.expr) -> bool:
    """A name, or an attribute of one: asked twice in a row, it is the same."""
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _is_name(node.value))


def without_expectation(files: list[Source]) -> list[str]:
    """Tests in which nothing is expected, neither by themselves nor by what they call, as far as names tell."""
    expecting = set(EXPECTING)
    functions = [(file, node, _called(node)) for file in files for node in _functions(file)]
    waiting = {node.name: set[str]() for _, node, _ in functions}
    for _, node, called in functions:
        waiting[node.name] |= called
        if _expects(node):
            expecting.add(node.name)
    while more := {name for name, called in waiting.items() if name not in expecting and called & expecting}:
        expecting |= more
    return [
        file.at(node, f"{node.name} expects nothing")
        for file, node, called in functions
        if node.name.startswith("test_") and not _expects(node) and not called & expecting and not _announces(node)
    ]


def _functions(file: Source) -> Iterator[Function]:
    return (node for node in file.find(FUNCTIONS) if isinstance(node, FUNCTIONS))


def _expects(node: Function) -> bool:
    return any(isinstance(one, (ast.Assert, ast.Raise)) for one in ast.walk(node))


def _called(node: Function) -> set[str]:
    calls = (one.func for one in ast.walk(node) if isinstance(one, ast.Call))
    return {one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in calls}


def _announces(node: Function) -> bool:
    """What it announces has to be logged, or else the guard of the log fails it."""
    return any("expects_log" in ast.unparse(one) for one in node.decorator_list)


def test_no_assert_holds_whatever_the_code_does() -> None:
    found = never_wrong(TESTS)
    assert not found, "\n" + "\n".join(found)


def test_every_test_expects_something() -> None:
    found = without_expectation(TESTS)
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("assert a, b == c", True),
        ("assert (a, b)", True),
        ("assert [a]", True),
        ("assert 'text'", True),
        ("assert a or True", True),
        ("assert a.b == a.b", True),
        ("assert (x for x in y)", True),
        ("assert a, f'{b} == c'", False),
        ("assert a == b, c", False),
        ("assert a() is a()", False),
        ("assert a or b", False),
        ("assert [x for x in y if x]", False),
        ("assert not []", False),
    ],
)
def test_the_rule_knows_what_can_be_wrong(line: str, found: bool) -> None:
    assert bool(never_wrong([Source("tests/test_x.py", line)])) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def test_a():\n    run()\n", True),
        ("async def test_a():\n    await run()\n", True),
        ("def test_a():\n    assert run()\n", False),
        ("def test_a():\n    with pytest.raises(ValueError):\n        run()\n", False),
        ("def holds(x):\n    assert x\ndef twice(x):\n    holds(x)\ndef test_a():\n    twice(1)\n", False),
        ("@pytest.mark.expects_log('it broke')\ndef test_a():\n    run()\n", False),
        ("def helper():\n    run()\n", False),
    ],
)
def test_the_rule_knows_what_expects_something(text: str, found: bool) -> None:
    assert bool(without_expectation([Source("tests/test_x.py", text)])) is found

"""`dev.py mutate` puts one fault at a time into a function, and leaves all else as it was."""

import ast

import pytest
from devlib.mutants import code_of, mutants, mutated

SOURCE = '''
LIMIT = 3

class Gate:
    def passes(self, asked: int = 1, *names) -> bool:
        """Whether it does."""
        if not names:
            raise ValueError("none")
        self.last = asked
        return asked < LIMIT and all(name for name in names if name)
'''
FAULTS = {
    "not dropped: names": "if names:",
    "dropped: raise ValueError('none')": "pass",
    "dropped: self.last = asked": "pass",
    "None returned for asked < LIMIT and all((name for name in names if name))": "return",
    "And becomes Or": "return asked < LIMIT or all((name for name in names if name))",
    "Lt becomes LtE": "return asked <= LIMIT and all((name for name in names if name))",
    "all becomes any": "return asked < LIMIT and any((name for name in names if name))",
    "filter dropped: name": "return asked < LIMIT and all((name for name in names))",
}


def test_every_fault_of_a_function_is_found_and_nothing_outside_of_it() -> None:
    assert sorted(one.what for one in mutants(ast.parse(SOURCE))) == sorted(FAULTS)


@pytest.mark.parametrize("index", range(len(FAULTS)))
def test_a_fault_changes_its_own_line_and_no_other(index: int) -> None:
    fault = mutants(ast.parse(SOURCE))[index]
    before, after = (ast.unparse(tree).splitlines() for tree in (ast.parse(SOURCE), mutated(SOURCE, index)))
    assert [now.strip() for was, now in zip(before, after, strict=True) if was != now] == [FAULTS[fault.what]]
    code = code_of(compile(mutated(SOURCE, index), "gate.py", "exec"), fault)
    assert code is not None
    assert (code.co_qualname, code.co_firstlineno) == ("Gate.passes", 5)

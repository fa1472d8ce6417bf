"""How many escapes were tried in a run of the tests and how many passed, by class: the table at its end.

Every attack counts here and is asserted by its own test; the figures of a note come from this table.
"""

from collections import Counter

import pytest

TRIED: Counter[str] = Counter()
PASSED: Counter[str] = Counter()


def tried(kind: str, passed: bool = False, *, times: int = 1) -> None:
    """Count an attack of a class, ``passed`` when it got what it wanted."""
    TRIED[kind] += times
    PASSED[kind] += int(passed) * times


def table() -> list[str]:
    """One line a class, and the sum."""
    width = max(map(len, TRIED), default=0)
    lines = [f"{kind:<{width}} {TRIED[kind]:>8,} tried {PASSED[kind]:>4,} passed" for kind in sorted(TRIED)]
    return [*lines, f"{'all':<{width}} {TRIED.total():>8,} tried {PASSED.total():>4,} passed"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The table, where any attack was run."""
    if TRIED:
        terminalreporter.section("escapes")
        for line in table():
            terminalreporter.write_line(line)

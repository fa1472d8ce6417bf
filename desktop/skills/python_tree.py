"""Python text as a syntax tree, in any thread.

Python 3.11 counts the depth of a tree that it makes in one place for all threads, and collecting garbage lets another
thread in: of two that parse at once, one can fail with SystemError, whatever its text is (CPython issue 106905).
"""

from __future__ import annotations

import ast
import threading

_ONE_AT_A_TIME = threading.Lock()
_ATTEMPTS = 5
"""Others parse, too: ``traceback`` does, when an error is logged."""


def python_tree(text: str) -> ast.Module:
    """Parse Python source. Blocks. Raises SyntaxError, ValueError, RecursionError or MemoryError for a text that cannot
    be read."""
    for _ in range(_ATTEMPTS - 1):
        try:
            return _parsed(text)
        except SystemError:
            continue
    return _parsed(text)


def _parsed(text: str) -> ast.Module:
    with _ONE_AT_A_TIME:
        return ast.parse(text, "skill")

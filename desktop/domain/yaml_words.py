"""What is wrong in a YAML text, as a person understands it, and where."""

from __future__ import annotations

from typing import Any

_TAB = "a tab indents here: use spaces"
_WORDS = {
    "mapping values are not allowed in this context": "a second colon on this line: put the text in quotes",
    "could not find expected ':'": "this line is no `key: value`",
    "found character that cannot start any token": "this character cannot begin a value: put the text in quotes",
    "did not find expected key": "this does not continue the list or mapping above: check the indent and the quotes",
    "did not find expected '-' indicator": "this does not continue the list above: check the indent",
    "found a tab character that violates indentation": _TAB,
    "found a tab character where an indentation space is expected": _TAB,
    "did not find expected <document start>": "a mapping of keys to values is needed",
    "did not find expected node content": "a bracket or a quotation mark before this is not closed",
    "did not find expected ',' or ']'": "a list in brackets is not closed: ] is missing",
    "did not find expected ',' or '}'": "a mapping in braces is not closed: } is missing",
    "found unexpected end of stream": "a quotation mark is not closed",
    "control characters are not allowed": "there is a control character here",
    "found invalid Unicode character escape code": "this escape stands for no character",
}


def yaml_problem(error: Any, text: str) -> tuple[str, int, int]:
    """What a YAML library's error says of ``text``, with its line and column, from 1."""
    mark = getattr(error, "problem_mark", None)
    problem = str(getattr(error, "problem", None) or getattr(error, "reason", "") or "this is not valid YAML")
    if mark is None:
        at = getattr(error, "position", 0)
        return _WORDS.get(problem, problem), *place_in(text, at if isinstance(at, int) else 0)
    if problem == "found unexpected end of stream" and error.context_mark is not None:
        mark, problem = error.context_mark, "this quote is not closed"
    if text[mark.index : mark.index + 1] == "\t":
        problem = _TAB
    return _WORDS.get(problem, problem), mark.line + 1, mark.column + 1


def place_in(text: str, at: int) -> tuple[int, int]:
    """Line and column of a character, from 1."""
    before = text[:at]
    return before.count("\n") + 1, len(before) - before.rfind("\n")

"""PyYAML, and what it says of a broken text as a person understands it. Nothing else imports it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from desktop.domain.loading.lazy import lazy_module
from desktop.domain.text.places import FormatError, Place, place_in

if TYPE_CHECKING:
    import yaml as yaml
else:
    yaml = lazy_module("yaml")

MAX_DEPTH = 100
"""Of a text whose tree is made: the library makes it by calling itself in C, which ends the process far below."""
_LEADING = re.compile(rf"^[ \t?:-]{{{MAX_DEPTH}}}", re.MULTILINE)
"""As deep as that in blocks, a line has to begin like this."""
_TAB = "a tab indents here: use spaces"
_HALF = "there is half a character here"
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


def events(text: str, first_line: int = 1) -> Iterator[Any]:
    """What stands in a text, piece by piece. Raises FormatError where it is no YAML; ``first_line`` is where the text
    begins in its file."""
    try:
        yield from yaml.parse(text, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        raise in_words(error, text, first_line) from error


def event_kind(event: Any) -> str:
    """``Scalar``, ``MappingStart``, …"""
    return type(event).__name__.removesuffix("Event")


def composed(text: str) -> tuple[yaml.Node | None, yaml.CSafeLoader]:
    """The tree of nodes of a text that is one document, and what makes values of it.

    Raises FormatError.
    """
    _check_depth(text)
    try:
        loader = yaml.CSafeLoader(text)
        return loader.get_single_node(), loader
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        raise in_words(error, text) from error


def _check_depth(text: str) -> None:
    if text.count("[") + text.count("{") < MAX_DEPTH // 2 and _LEADING.search(text) is None:
        return  # nearly all: they need not be parsed twice
    depth = 0
    for event in events(text):
        kind = event_kind(event)
        depth += kind.endswith("Start") - kind.endswith("End")
        if depth > MAX_DEPTH:
            place = event.start_mark
            raise FormatError(f"values are nested more than {MAX_DEPTH} deep", place.line + 1, place.column + 1)


def in_words(error: yaml.YAMLError | UnicodeEncodeError, text: str, first_line: int = 1) -> FormatError:
    """What the library's error says of ``text``, and where."""
    if isinstance(error, UnicodeEncodeError):
        message, (line, column) = _HALF, place_in(text, error.start)
    else:
        message, (line, column) = _problem(error, text)
    return FormatError(message, first_line - 1 + line, column)


def _problem(error: Any, text: str) -> tuple[str, Place]:
    mark = getattr(error, "problem_mark", None)
    problem = str(getattr(error, "problem", None) or getattr(error, "reason", "") or "this is not valid YAML")
    if mark is None:
        at = getattr(error, "position", 0)
        return _WORDS.get(problem, problem), place_in(text, at if isinstance(at, int) else 0)
    if problem == "found unexpected end of stream" and error.context_mark is not None:
        mark, problem = error.context_mark, "this quote is not closed"
    if text[mark.index : mark.index + 1] == "\t":
        problem = _TAB
    return _WORDS.get(problem, problem), (mark.line + 1, mark.column + 1)

"""JSONPath expressions read into a tree, as RFC 9535 has them.

By hand, because no library can be bounded: ``python-jsonpath`` and ``jsonpath-rfc9535`` were stopped after 15 s at
``$.l[*][?count($..*) > 1]`` on 40,000 numbers and at ``match(@, '(a|aa)+b')`` on 60 letters, and follow no document
deeper than 100. Beyond the RFC, a name after a dot may hold hyphens (``$.allowed-tools``). The tree is walked by
``jsonpath_walk``. This reader shares nothing with the one of patterns and specifiers, where ``$`` means something else
(C-5).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from desktop.domain.loading.lazy_pattern import lazy_pattern
from desktop.skills.values.jsonpath_scan import Scanner
from desktop.skills.values.jsonpath_tree import (
    Both,
    Compare,
    Exists,
    Filter,
    FunctionCall,
    Index,
    LiteralValue,
    Name,
    Not,
    Operand,
    PatternTest,
    Query,
    Segment,
    Selector,
    Slice,
    Test,
    Wildcard,
)
from desktop.skills.values.kinds import MAX_EXPRESSION, PathError

MAX_NESTING = 24


@lru_cache(maxsize=512)
def parse(text: str, shift: int = 0) -> Query:
    """The tree of an expression that begins with ``$``. Raises PathError; its column is less ``shift``."""
    if len(text) > MAX_EXPRESSION:
        raise PathError(f"A path expression may have {MAX_EXPRESSION} characters at most.")
    reader = _ExpressionReader(text, shift)
    reader.expect("$")
    query = Query(reader.segments())
    if reader.at < len(text):
        reader.fail("a dot, a bracket or the end was expected")
    return query


_NAME = lazy_pattern(r"[A-Za-z_\u0080-\U0010ffff][\w\u0080-\U0010ffff-]*", re.ASCII)
_OPERATOR = lazy_pattern(r"==|!=|<=|>=|<|>")
_WORD = lazy_pattern(r"[a-z][a-z0-9_]*")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}
_VALUE, _NODES = "value", "nodes"
_FUNCTIONS = {
    "length": (_VALUE,),
    "count": (_NODES,),
    "value": (_NODES,),
    "match": (_VALUE, _VALUE),
    "search": (_VALUE, _VALUE),
}
_LOGICAL = frozenset({"match", "search"})


class _ExpressionReader(Scanner):
    """Reads an expression; every method leaves ``at`` behind what it read."""

    def __init__(self, text: str, shift: int) -> None:
        super().__init__(text, shift)
        self._nesting = 0

    # -- segments and selectors ---------------------------------------------------------------------------------------

    def segments(self) -> tuple[Segment, ...]:
        """Read all segments that follow; white space behind the last one is left unread."""
        found = []
        while True:
            before = self.at
            self.blank()
            if self.take(".."):
                found.append(Segment(self._descendants(), descendant=True))
            elif self.take("."):
                found.append(Segment((self._member(),)))
            elif self.take("["):
                found.append(Segment(self._bracket()))
            else:
                self.at = before
                return tuple(found)

    def _descendants(self) -> tuple[Selector, ...]:
        return self._bracket() if self.take("[") else (self._member(),)

    def _member(self) -> Selector:
        return Wildcard() if self.take("*") else Name(self.match(_NAME, "a name or *"))

    def _bracket(self) -> tuple[Selector, ...]:
        found = []
        while True:
            self.blank()
            found.append(self._selector())
            self.blank()
            if self.take("]"):
                return tuple(found)
            self.expect(",")

    def _selector(self) -> Selector:
        if self.take("*"):
            return Wildcard()
        if self.take("?"):
            return Filter(self._any_of())
        if self.text[self.at : self.at + 1] in ("'", '"'):
            return Name(self.string())
        return self._index_or_slice()

    def _index_or_slice(self) -> Selector:
        start = self.integer()
        before = self.at
        self.blank()
        if not self.take(":"):
            self.at = before
            if start is None:
                self.fail("a name in quotes, a number, a slice, * or a filter was expected")
            return Index(start)
        self.blank()
        stop = self.integer()
        self.blank()
        if not self.take(":"):
            return Slice(start, stop, 1)
        self.blank()
        step = self.integer()
        return Slice(start, stop, 1 if step is None else step)

    # -- filters ------------------------------------------------------------------------------------------------------

    def _any_of(self) -> Test:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            self.fail("the filter is nested too deeply")
        tests = [self._all_of()]
        while self.follows("||"):
            tests.append(self._all_of())
        self._nesting -= 1
        return tests[0] if len(tests) == 1 else Both(tuple(tests), any_of=True)

    def _all_of(self) -> Test:
        tests = [self._test()]
        while self.follows("&&"):
            tests.append(self._test())
        return tests[0] if len(tests) == 1 else Both(tuple(tests), any_of=False)

    def _test(self) -> Test:
        self.blank()
        if self.take("!"):
            self.blank()
            return Not(self._group() if self.peek("(") else self._existence())
        return self._group() if self.peek("(") else self._comparison()

    def _group(self) -> Test:
        self.expect("(")
        test = self._any_of()
        self.blank()
        self.expect(")")
        return test

    def _existence(self) -> Test:
        return self._alone(self._operand(), "a path that starts with @ or $, match or search was expected")

    def _alone(self, operand: Operand, otherwise: str) -> Test:
        """The test that an operand is without a comparison."""
        if isinstance(operand, Query):
            return Exists(operand)
        if not isinstance(operand, FunctionCall) or operand.name not in _LOGICAL:
            self.fail(otherwise)
        return PatternTest(operand)

    def _comparison(self) -> Test:
        left = self._operand()
        before = self.at
        self.blank()
        match = _OPERATOR.match(self.text, self.at)
        if match is None:
            self.at = before
            return self._alone(left, "a comparison was expected")
        self._comparable(left)
        self.at = match.end()
        self.blank()
        right = self._operand()
        self._comparable(right)
        return Compare(match.group(), left, right)

    def _comparable(self, operand: Operand) -> None:
        if isinstance(operand, Query) and operand.steps() is None:
            self.fail("a path in a comparison may lead to one value only")
        if isinstance(operand, FunctionCall) and operand.name in _LOGICAL:
            self.fail(f"{operand.name} is true or false by itself and cannot be compared")

    def _operand(self) -> Operand:
        if self.peek("@") or self.peek("$"):
            from_root = self.text[self.at] == "$"
            self.at += 1
            return Query(self.segments(), from_root)
        if self.text[self.at : self.at + 1] in ("'", '"'):
            return LiteralValue(self.string())
        word = _WORD.match(self.text, self.at)
        return self._word(word.group()) if word else LiteralValue(self.number())

    def _word(self, word: str) -> Operand:
        if word in _WORDS:
            self.at += len(word)
            return LiteralValue(_WORDS[word])
        if word not in _FUNCTIONS:
            self.fail(f"there is no function {word!r}; {', '.join(_FUNCTIONS)} are known")
        self.at += len(word)
        self.expect("(")
        arguments = []
        for number, kind in enumerate(_FUNCTIONS[word]):
            if number:
                self.expect(",")
            self.blank()
            arguments.append(self._argument(word, kind))
            self.blank()
        self.expect(")")
        return FunctionCall(word, tuple(arguments))

    def _argument(self, function: str, kind: str) -> Operand:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            self.fail("the filter is nested too deeply")
        argument = self._operand()
        self._nesting -= 1
        if kind == _VALUE:
            self._comparable(argument)
        elif not isinstance(argument, Query):
            self.fail(f"{function} takes a path")
        return argument

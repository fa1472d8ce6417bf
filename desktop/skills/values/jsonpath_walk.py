"""Where a JSONPath leads in a value: bounded in work, never deeper in the stack than the expression is nested."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from desktop.skills.values.iregexp import PatternMatcher
from desktop.skills.values.jsonpath_tree import (
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
from desktop.skills.values.kinds import MISSING, PathError, is_mapping, is_number, is_sequence, is_text

MAX_WORK = 100_000
"""Values looked at by one expression, filters included: about 100 ms."""


class ValuePlace(NamedTuple):
    """A value, and where it is: ``holder[key]``; ``top`` is the child of the root that leads to it.

    The root has no holder.
    """

    value: Any
    holder: Any = None
    key: str | int | None = None
    top: str | int | None = None

    def child(self, key: str | int, value: Any) -> ValuePlace:
        """The place of ``value``, which is ``self.value[key]``."""
        return ValuePlace(value, self.value, key, key if self.top is None else self.top)


def find(query: Query, root: Any) -> list[ValuePlace]:
    """Every place the path leads to, in the order of RFC 9535. Raises PathError when it is too much work."""
    return _Evaluation(root).places(query, root)


class _Evaluation:
    """One evaluation of an expression: the root, and how much work is left."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._left = MAX_WORK
        self._matcher = PatternMatcher()

    def _spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise PathError(
                f"This path looks at more than {MAX_WORK} values.", next_step="Make it more exact.", code="value.limit"
            )

    def places(self, query: Query, here: Any) -> list[ValuePlace]:
        """The places of a query within a filter or at the top."""
        found = [ValuePlace(self._root if query.from_root else here)]
        for segment in query.segments:
            found = [next_place for place in found for next_place in self._segment(segment, place)]
        return found

    def _segment(self, segment: Segment, place: ValuePlace) -> Iterator[ValuePlace]:
        for start in self._below(place) if segment.descendant else (place,):
            for selector in segment.selectors:
                yield from self._select(selector, start)

    def _below(self, place: ValuePlace) -> Iterator[ValuePlace]:
        """The place itself, then everything in it, parents before children."""
        stack = [iter((place,))]
        while stack:
            for current in stack[-1]:
                yield current
                stack.append(self._children(current))
                break
            else:
                stack.pop()

    def _children(self, place: ValuePlace) -> Iterator[ValuePlace]:
        value = place.value
        if is_mapping(value):
            for key in value:
                if is_text(key):
                    self._spend()
                    yield place.child(key, value[key])
        elif is_sequence(value):
            for index, item in enumerate(value):
                self._spend()
                yield place.child(index, item)

    def _select(self, selector: Selector, place: ValuePlace) -> Iterator[ValuePlace]:
        if isinstance(selector, Wildcard):
            yield from self._children(place)
        elif isinstance(selector, Filter):
            for child in self._children(place):
                if self._holds(selector.test, child.value):
                    yield child
        elif isinstance(selector, Slice):
            yield from self._slice(selector, place)
        else:
            yield from self._one(selector, place)

    def _one(self, selector: Name | Index, place: ValuePlace) -> Iterator[ValuePlace]:
        self._spend()
        value = place.value
        if isinstance(selector, Name):
            if is_mapping(value) and (item := value.get(selector.name, MISSING)) is not MISSING:
                yield place.child(selector.name, item)
        elif is_sequence(value):
            index = selector.index if selector.index >= 0 else len(value) + selector.index
            if 0 <= index < len(value):
                yield place.child(index, value[index])

    def _slice(self, selector: Slice, place: ValuePlace) -> Iterator[ValuePlace]:
        value = place.value
        if not is_sequence(value) or selector.step == 0:
            return
        for index in range(*slice(selector.start, selector.stop, selector.step).indices(len(value))):
            self._spend()
            yield place.child(index, value[index])

    # -- filters ------------------------------------------------------------------------------------------------------

    def _holds(self, test: Test, here: Any) -> bool:
        self._spend()
        if isinstance(test, Exists):
            return bool(self.places(test.query, here))
        if isinstance(test, Compare):
            return self._compare(test.operator, self._value(test.left, here), self._value(test.right, here))
        if isinstance(test, PatternTest):
            return self._matches(test.call, here)
        if isinstance(test, Not):
            return not self._holds(test.test, here)
        wanted = any if test.any_of else all
        return wanted(self._holds(part, here) for part in test.tests)

    def _value(self, operand: Operand, here: Any) -> Any:
        """The value of one side of a comparison; MISSING is RFC 9535's Nothing."""
        if isinstance(operand, LiteralValue):
            return operand.value
        if isinstance(operand, Query):
            found = self.places(operand, here)
            return found[0].value if len(found) == 1 else MISSING
        return self._call(operand, here)

    def _matches(self, call: FunctionCall, here: Any) -> bool:
        text, pattern = (self._value(argument, here) for argument in call.arguments)
        if not is_text(text) or not is_text(pattern):
            return False
        return self._matcher.fits(text, pattern, whole=call.name == "match")

    def _call(self, call: FunctionCall, here: Any) -> Any:
        argument = call.arguments[0]
        if call.name == "length":
            value = self._value(argument, here)
            return len(value) if is_text(value) or is_mapping(value) or is_sequence(value) else MISSING
        places = self.places(argument, here) if isinstance(argument, Query) else []
        if call.name == "count":
            return len(places)
        return places[0].value if len(places) == 1 else MISSING

    def _compare(self, operator: str, left: Any, right: Any) -> bool:
        if operator == "==":
            return self._equal(left, right)
        if operator == "!=":
            return not self._equal(left, right)
        if operator[0] == ">":
            left, right = right, left
        return _less(left, right) or (operator[1:] == "=" and self._equal(left, right))

    def _equal(self, left: Any, right: Any) -> bool:
        """JSON equality: true is not 1, the order of members does not count."""
        pairs = [(left, right)]
        while pairs:
            self._spend()
            a, b = pairs.pop()
            if is_mapping(a) and is_mapping(b):
                if len(a) != len(b):
                    return False
                pairs += [(a[key], b.get(key, MISSING)) for key in a]
            elif is_sequence(a) and is_sequence(b):
                if len(a) != len(b):
                    return False
                pairs += zip(a, b, strict=True)
            elif not _same(a, b):
                return False
        return True


def _same(a: Any, b: Any) -> bool:
    """Whether two values that are no containers are equal; of what JSON has not, only a value and itself."""
    return bool(a == b) if _alike(a, b) else a is b


def _less(a: Any, b: Any) -> bool:
    return _alike(a, b) and bool(a < b)


def _alike(a: Any, b: Any) -> bool:
    """Two texts, or two numbers."""
    return (is_text(a) and is_text(b)) or (is_number(a) and is_number(b))

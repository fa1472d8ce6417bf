"""Patterns by what they select, so that a long list is not walked through for each call."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from desktop.skills.names import normal_tags
from desktop.skills.patterns.constraints import ConstraintCheck
from desktop.skills.patterns.globs import TAG, Glob, compile_glob
from desktop.skills.patterns.grammar import Pattern, PatternList
from desktop.skills.patterns.paths import Where
from desktop.skills.patterns.syntax import PatternError

MAX_WILD = 65_536
"""Characters of regular expressions of one list: their first use costs 1 us each."""
MAX_KEPT = 4_096


class PatternRule:
    """A pattern ready for use. ``name`` is what it names exactly, or empty; ``specificity`` as in R-PAT-9."""

    __slots__ = ("checks", "glob", "name", "order", "pattern", "specificity", "tag", "text")

    def __init__(self, pattern: Pattern, order: int, where: Where) -> None:
        selector = pattern.selector
        self.pattern, self.order, self.text = pattern, order, pattern.text
        self.tag = selector.text if selector.kind == "tag" else ""
        self.glob: Glob | None = None if self.tag else compile_glob(selector.text)
        self.name = self.glob.literal if self.glob else ""
        self.specificity = self.glob.specificity if self.glob else TAG
        self.checks = tuple(ConstraintCheck(constraint, where) for constraint in pattern.constraints)

    def constrains(self, name: str) -> bool:
        return any(check.name == name for check in self.checks)


class RuleIndex:
    """The rules of a list. Raises PatternError for a pattern that cannot be compiled. Never changes after."""

    def __init__(self, patterns: PatternList, where: Where) -> None:
        self._names: dict[str, list[PatternRule]] = {}
        self._tags: dict[str, list[PatternRule]] = {}
        self._globs: list[PatternRule] = []
        self._kept: dict[tuple[str, tuple[str, ...]], tuple[tuple[PatternRule, ...], Sides]] = {}
        self.rules = tuple(_rules(patterns.patterns, where))
        for rule in self.rules:
            if rule.tag:
                self._tags.setdefault(rule.tag, []).append(rule)
            elif rule.name:
                self._names.setdefault(rule.name, []).append(rule)
            else:
                self._globs.append(rule)

    def sides(self, name: str, tags: tuple[str, ...]) -> Sides:
        """The rules that select a tool: those that allow it, only the most specific (R-PAT-9), and those that deny it,
        both in their order."""
        return self._found(name, tags)[1]

    def about(self, name: str, tags: tuple[str, ...]) -> tuple[PatternRule, ...]:
        """The rules that select a tool, in their order."""
        return self._found(name, tags)[0]

    def _found(self, name: str, tags: tuple[str, ...]) -> tuple[tuple[PatternRule, ...], Sides]:
        """Kept for the next call of the same tool."""
        found = self._kept.get((name, tags))
        if found is None:
            if len(self._kept) >= MAX_KEPT:
                self._kept.clear()
            rules = self._search(name, tags)
            found = self._kept[name, tags] = (rules, _sides(rules))
        return found

    def _search(self, name: str, tags: tuple[str, ...]) -> tuple[PatternRule, ...]:
        found = list(self._names.get(name, ()))
        for tag in tag_set(tags):
            found += self._tags.get(tag, ())
        found += [rule for rule in self._globs if rule.glob is not None and rule.glob.matches(name)]
        return tuple(sorted(found, key=lambda rule: rule.order))


Sides = tuple[tuple[PatternRule, ...], tuple[PatternRule, ...]]


def _sides(rules: tuple[PatternRule, ...]) -> Sides:
    allows = [rule for rule in rules if not rule.pattern.denies]
    top = max((rule.specificity for rule in allows), default=0)
    return (
        tuple(rule for rule in allows if rule.specificity == top),
        tuple(rule for rule in rules if rule.pattern.denies),
    )


def _rules(patterns: Iterable[Pattern], where: Where) -> Iterable[PatternRule]:
    cost = 0
    for order, pattern in enumerate(patterns):
        try:
            rule = PatternRule(pattern, order, where)
        except PatternError as error:
            raise error.moved(pattern.column - 1) from None
        cost += rule.glob.cost if rule.glob else 0
        if cost > MAX_WILD:
            raise PatternError("Up to here the list has too many patterns with wildcards", pattern.column)
        yield rule


@lru_cache(maxsize=4096)
def tag_set(tags: tuple[str, ...]) -> frozenset[str]:
    """Tags as they are compared (R-VIS-3, R-PAT-15)."""
    return frozenset(normal_tags(tags))

"""Trust rules by what the arguments of a call must begin with, so that of thousands about one tool a few are judged.

Only a sieve: what it leaves out cannot fit, and what it lets through is judged in full by ``PolicyRules``. A rule whose
beginning is not plain text (a wildcard first, an escape, ``..``) is always let through.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import Any

from desktop.domain.approval.call_facts import CallFacts
from desktop.skills.patterns.commands import ARGUMENT
from desktop.skills.patterns.constraints import ConstraintCheck, texts_of
from desktop.skills.patterns.index import PatternRule
from desktop.skills.patterns.paths import Where, normal_path

FEW = 8
"""So many rules are looked through one by one."""
LONGEST = 64
"""Characters of a beginning that are compared here."""
_DOTS = re.compile(r"(?:^|/)\.\.?(?:/|$)|\.\.")
_PLAIN = re.compile(r"[^*?\[{\\]*")


class Sieve:
    """The rules about one tool. ``tops``: by thread, the specificity of the most specific that does not deny."""

    __slots__ = ("_always", "_heads", "_rules", "_sizes", "_where", "tops")

    def __init__(self, rules: Sequence[PatternRule], where: Where, tops: Mapping[str, int]) -> None:
        self.tops = tops
        self._rules, self._where = rules, where
        self._always: list[PatternRule] = []
        self._heads: dict[str, dict[str, list[PatternRule]]] = {}
        for rule in rules if len(rules) > FEW else ():
            self._place(rule)
        self._sizes = {name: sorted({len(head) for head in heads}) for name, heads in self._heads.items()}

    def _place(self, rule: PatternRule) -> None:
        """File a rule under the argument whose pattern begins with the longest fixed text."""
        found = [(check.name, heads) for check in rule.checks if (heads := heads_of(check, self._where))]
        if not found:
            self._always.append(rule)
            return
        name, heads = max(found, key=lambda one: min(map(len, one[1])))
        for head in heads:
            self._heads.setdefault(name, {}).setdefault(head, []).append(rule)

    def likely(self, facts: CallFacts, resolved: Mapping[str, Any]) -> Sequence[PatternRule]:
        """The rules that may fit a call, in their order. ``resolved``: the arguments with paths where they really
        lead."""
        if len(self._rules) <= FEW:
            return self._rules
        found = {rule.order: rule for rule in self._always}
        for name, heads in self._heads.items():
            texts = self._texts(name, facts, resolved)
            for start in {text[:size] for text in texts for size in self._sizes[name]}:
                for rule in heads.get(start, ()):
                    found[rule.order] = rule
        return [found[order] for order in sorted(found)]

    def _texts(self, name: str, facts: CallFacts, resolved: Mapping[str, Any]) -> set[str]:
        """The beginnings of everything that a constraint on this argument is compared with."""
        if name == ARGUMENT and facts.parts:
            line = facts.arguments.get(ARGUMENT)
            whole = [line.strip()[:LONGEST]] if isinstance(line, str) else []
            found = (text[:LONGEST] for part in facts.parts for text in (part.text, *part.spellings))
            return {*whole, *found}
        given = {*texts_of(facts.arguments, name), *texts_of(resolved, name)}
        normal = (normal_path(text, self._where) for text in given)
        return {text[:LONGEST] for text in (*given, *normal) if text}


def heads_of(check: ConstraintCheck, where: Where) -> Sequence[str]:
    """Texts of which one begins whatever the constraint fits, as it is written or as a normal path; none where that
    cannot be said."""
    text = check.glob_text
    head = _PLAIN.match(text)[0].rstrip("/")  # type: ignore[index]
    if check.is_list or not head or _may_go_up(text):
        return ()
    below = _as_path(head, where)
    return tuple({head[:LONGEST], below[:LONGEST]}) if below else ()


def _may_go_up(text: str) -> bool:
    """Whether a name before the first wildcard may not be there when the path is made normal."""
    if "\\" in text or "//" in text or ("{" in text and "." in text):
        return True
    return "." in text and _DOTS.search(text) is not None


def _as_path(head: str, where: Where) -> str:
    if head.startswith("/"):
        return head
    if head.startswith("~"):
        return where.home + head[1:] if head.startswith("~/") and _is_normal(where.home) else ""
    if not where.cwd:
        return head
    return f"{where.cwd}/{head}" if _is_normal(where.cwd) else ""


def _is_normal(folder: str) -> bool:
    return folder.startswith("/") and folder != "/" and posixpath.normpath(folder) == folder

"""Trust rules in the pattern language: which calls run without asking, which are asked about, which are refused.

    rules: "#meta-internal($policy=allow) write-file(path=src/**,$policy=allow) bash(command=git *) mcp-*($deny) *"

A rule without a policy asks (R-PAT-13). A fitting ``$deny`` wins over everything (R-PAT-7); else the most specific
rule counts, at equal specificity one with constraints before one without, then the one with the more exact constraints,
then the earlier one. As in R-PAT-9 an allow counts only when no rule names the tool more specifically, whether or not
that one's constraints fit. The match says whether the rule is ``specific``: only an allow that names the tool exactly
or by a glob with letters may approve more than reading, so that neither a tag nor ``*`` does (R-PRM-11).

Of a shell command each part is decided by itself, and the strictest answer counts: it is allowed when every part is,
asked about or denied when any is. One exception: a constraint without wildcards that is the whole command, letter by
letter, allows it as it stands, for nothing in it can be another than the person saw. Paths are compared where they
really lead (``CallFacts.resolved``); a rule that asks or denies also fits the path as it was written. An argument of
another tool that is named like a command is taken apart by nobody, so no star reaches over what joins commands there.

A rule of one thread counts for what works for that thread, too: an agent that is called there has a thread of its own,
which nobody sees, and neither evades what is denied or asked about above it nor asks again for what is allowed there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from desktop.domain.safety import CallFacts, RuleMatch
from desktop.domain.tools import CommandPart
from desktop.skills.patterns.commands import ARGUMENT, command_glob, line_of
from desktop.skills.patterns.globs import BARE, WITH_LITERALS
from desktop.skills.patterns.grammar import PatternList, Policy, parse_patterns
from desktop.skills.patterns.heads import Sieve
from desktop.skills.patterns.index import MAX_KEPT, Rule, RuleIndex
from desktop.skills.patterns.paths import Where


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose a rule is: its id and how it is shown, both empty for one that is only text; it counts in one thread only
    when it names one."""

    rule_id: str = ""
    thread_id: str = ""
    shown: str = ""
    reason: str = ""


_NOBODY = Owner()
_COMMAND_LINES = frozenset("command cmd commandline command_line script shell shell_command code".split())
_JOINS = re.compile(r"[;&|`$<>(){}\n\r\\*?!~#]")


class PolicyRules:
    """A list of trust rules; never changes. ``owners`` belong to the patterns in their order; without, to nobody."""

    __slots__ = ("_index", "_owners", "_policies", "_sieves", "_where", "patterns")

    def __init__(self, patterns: PatternList, where: Where, owners: Sequence[Owner] = ()) -> None:
        self.patterns = patterns
        self._index = RuleIndex(patterns, where)
        self._owners = tuple(owners) or (_NOBODY,) * len(patterns.patterns)
        self._policies: tuple[Policy, ...] = tuple(pattern.policy or "ask" for pattern in patterns.patterns)
        self._where = where
        self._sieves: dict[tuple[str, tuple[str, ...]], Sieve] = {}

    @classmethod
    def parse(cls, text: str | Sequence[str], *, cwd: str = "", home: str = "") -> PolicyRules:
        """Read rules; ``cwd`` and ``home`` as for ``AllowedList.of``. Raises PatternError naming the column."""
        return cls(parse_patterns(text), Where(cwd, home))

    def decide(self, facts: CallFacts) -> RuleMatch | None:
        """The rule in force for a call, or None when no rule fits it."""
        policies, judging = self._policies, _Judging(facts)
        sieve = self._sieve(facts.tool, facts.tags)
        threads = ("", facts.thread_id, *facts.above)
        selecting = [rule for rule in sieve.likely(facts, judging.resolved) if self._counts(rule, threads)]
        top = max(sieve.tops.get(thread_id, 0) for thread_id in threads)
        parts: tuple[CommandPart | None, ...] = facts.parts or (None,)
        denying, others = [], []
        for rule in selecting:
            policy = policies[rule.order]
            if policy == "deny":
                denying += [rule] if any(judging.fits(rule, part, policy) for part in parts) else []
            elif policy == "ask" or rule.specificity == top:
                others.append(rule)
        if denying:
            return self._match([max(denying, key=_rank)])
        found = [self._best(others, part, judging) for part in dict.fromkeys(parts)]
        asking = [rule for rule in found if rule is not None and policies[rule.order] == "ask"]
        if asking:
            return self._match([max(asking, key=_rank)])
        allowing = [rule for rule in found if rule is not None]
        return self._match(allowing) if len(allowing) == len(found) else None

    def _sieve(self, tool: str, tags: tuple[str, ...]) -> Sieve:
        """The rules about a tool, kept for its next call."""
        found = self._sieves.get((tool, tags))
        if found is None:
            if len(self._sieves) >= MAX_KEPT:
                self._sieves.clear()
            rules, tops = self._index.about(tool, tags), dict[str, int]()
            for rule in rules:
                if self._policies[rule.order] != "deny":
                    thread_id = self._owners[rule.order].thread_id
                    tops[thread_id] = max(tops.get(thread_id, 0), rule.specificity)
            found = self._sieves[tool, tags] = Sieve(rules, self._where, tops)
        return found

    def _best(self, rules: Sequence[Rule], part: CommandPart | None, judging: _Judging) -> Rule | None:
        fitting = [rule for rule in rules if judging.fits(rule, part, self._policies[rule.order])]
        return max(fitting, key=_rank, default=None)

    def _counts(self, rule: Rule, threads: tuple[str, ...]) -> bool:
        return self._owners[rule.order].thread_id in threads

    def _match(self, rules: Sequence[Rule]) -> RuleMatch:
        rules = list(dict.fromkeys(rules))
        owners = [self._owners[rule.order] for rule in rules]
        shown = [owner.shown or rule.text for owner, rule in zip(owners, rules, strict=True)]
        return RuleMatch(
            self._policies[rules[0].order], " and ".join(shown),
            all(rule.specificity >= WITH_LITERALS for rule in rules),
            owners[0].reason, any(rule.specificity == BARE for rule in rules),
            tuple(owner.rule_id for owner in owners if owner.rule_id),
        )  # fmt: skip


class _Judging:
    """One call while its rules are looked at."""

    __slots__ = ("_facts", "_line", "resolved")

    def __init__(self, facts: CallFacts) -> None:
        self._facts = facts
        self._line = line_of(facts)
        self.resolved: Mapping[str, Any] = {**facts.arguments, **facts.resolved} if facts.resolved else facts.arguments

    def fits(self, rule: Rule, part: CommandPart | None, policy: Policy) -> bool:
        """To allow, the arguments must fit in full; to ask or deny, in part."""
        strict = policy == "allow"
        for check in rule.checks:
            if part is not None and check.name == ARGUMENT:
                fit = self._covers(check.glob_text, part) if strict else self._meets(check.glob_text, part)
            elif strict:
                fit = check.allows(self.resolved, {}) and (check.is_literal or not self._holds_more(check.name))
            else:
                fit = check.denies(self.resolved, {}) or check.denies(self._facts.arguments, {})
            if not fit:
                return False
        return True

    def _holds_more(self, name: str) -> bool:
        """Whether an argument that another program will take for a shell command holds what a star must not reach over:
        nobody has taken it apart."""
        value = self._facts.arguments.get(name)
        return name.casefold() in _COMMAND_LINES and (not isinstance(value, str) or _JOINS.search(value) is not None)

    def _covers(self, text: str, part: CommandPart) -> bool:
        glob = command_glob(text)
        return glob.covers(part) or (bool(glob.literal) and glob.literal == self._line)

    def _meets(self, text: str, part: CommandPart) -> bool:
        glob = command_glob(text)
        return glob.meets(part) or glob.fits(self._line)


def _rank(rule: Rule) -> tuple[int, bool, bool, int]:
    exact = all(check.is_literal for check in rule.checks)
    return rule.specificity, bool(rule.checks), exact, sum(check.letters for check in rule.checks)

"""Trust rules in the pattern language: which calls run without asking, which are asked about, which are refused.

    rules: "#meta-internal($policy=allow) write-file(path=src/**,$policy=allow) bash(command=git *) mcp-*($deny) *"

A rule without a policy asks (R-PAT-13). A fitting ``$deny`` wins over everything (R-PAT-7); else the most specific
rule counts, at equal specificity one with constraints before one without, then the one with the more exact constraints,
then the earlier one. As in R-PAT-9 an allow counts only when no rule names the tool more specifically, whether or not
that one's constraints fit. The match says whether the rule is ``specific``: only an allow that names the tool exactly
or by a glob with letters may approve more than reading, so that neither a tag nor ``*`` does (R-PRM-11).

Of a shell command each part is decided by itself, and the strictest answer counts: it is allowed when every part is,
asked about or denied when any is. Paths are compared where they really lead (``CallFacts.resolved``); a rule that asks
or denies also fits the path as it was written. A call is compared as for every other list (``calls``).

A rule of one thread counts for what works for that thread, too: an agent that is called there has a thread of its own,
which nobody sees, and neither evades what is denied or asked about above it nor asks again for what is allowed there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import CommandPart
from desktop.domain.approval.rule_book import RuleMatch
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.skills.patterns.calls import ComparedCall
from desktop.skills.patterns.globs import BARE, WITH_LITERALS
from desktop.skills.patterns.grammar import PatternList, Policy, parse_patterns
from desktop.skills.patterns.heads import Sieve
from desktop.skills.patterns.index import MAX_KEPT, PatternRule, RuleIndex
from desktop.skills.patterns.paths import Where


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a rule: its id and how it is shown, both empty for one that is only text. A rule that names a thread
    counts in that one only."""

    rule_id: str = ""
    thread_id: str = ""
    shown: str = ""
    reason: str = ""


Rank = tuple[int, bool, bool, int]
"""What the more specific of two rules has more of."""
_NOBODY = Owner()
_OF_COMMANDS = ("command", "call-object")
_PROGRAM = re.compile(r"\s*(?:[^\s*?\[\]{}\\]|\\.)+(?:\s|$)")


class PolicyRules:
    """A list of trust rules; never changes. ``owners`` belong to the patterns in their order; without, to nobody."""

    __slots__ = ("_index", "_owners", "_policies", "_ranks", "_sieves", "_where", "patterns")

    def __init__(self, patterns: PatternList, where: Where, owners: Sequence[Owner] = ()) -> None:
        self.patterns = patterns
        self._index = RuleIndex(patterns, where)
        self._owners = tuple(owners) or (_NOBODY,) * len(patterns.patterns)
        self._policies: tuple[Policy, ...] = tuple(pattern.policy or "ask" for pattern in patterns.patterns)
        self._where = where
        self._sieves: dict[tuple[str, tuple[str, ...]], Sieve] = {}
        self._ranks: dict[int, Rank] = {}

    @classmethod
    def parse(cls, text: str | Sequence[str], *, cwd: str = "", home: str = "") -> PolicyRules:
        """Parse rules; ``cwd`` and ``home`` as for ``AllowedList.of``. Raises PatternError naming the column."""
        return cls(parse_patterns(text), Where(cwd, home))

    def decide(self, facts: CallFacts) -> RuleMatch | None:
        """The rule in force for a call, or None when no rule fits it. Under its other name (``CallFacts.also``) a call
        can be denied or asked about by a rule that names it, and is allowed nothing."""
        found = self._decide(facts)
        if not facts.also or (found is not None and found.policy == "deny"):
            return found
        other = self._decide(replace(facts, tool=facts.also))
        if other is None or other.policy == "allow" or (other.policy == "ask" and not other.specific):
            return found
        return other

    def _decide(self, facts: CallFacts) -> RuleMatch | None:
        policies, call = self._policies, ComparedCall(facts.arguments, {}, facts.parts, facts.resolved)
        sieve = self._sieve(facts.tool, facts.tags)
        threads = ("", facts.thread_id, *facts.above, *((facts.project,) if facts.project else ()))
        selecting = [rule for rule in sieve.likely(facts, call.resolved) if self._counts(rule, threads)]
        top = max(sieve.tops.get(thread_id, 0) for thread_id in threads)
        denying, others = [], []
        for rule in selecting:
            policy = policies[rule.order]
            if policy == "deny":
                denying += [rule] if any(call.denied_by(rule, part) for part in call.parts) else []
            elif policy == "ask" or rule.specificity == top:
                others.append(rule)
        if denying:
            return self._match([self._highest(denying)], facts)
        found = [self._best(others, part, call) for part in call.parts]
        asking = [rule for rule in found if rule is not None and policies[rule.order] == "ask"]
        if asking:
            return self._match([self._highest(asking)], facts)
        allowing = [rule for rule in found if rule is not None]
        return self._match(allowing, facts) if len(allowing) == len(found) else None

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

    def _best(self, rules: Sequence[PatternRule], part: CommandPart | None, call: ComparedCall) -> PatternRule | None:
        """To allow, the arguments must fit in full; to ask, in part."""
        allows = (self._policies[rule.order] == "allow" for rule in rules)
        fitting = [
            rule
            for rule, allow in zip(rules, allows, strict=True)
            if (call.allowed_by(rule, part) if allow else call.denied_by(rule, part))
        ]
        return self._highest(fitting) if fitting else None

    def _highest(self, rules: Sequence[PatternRule]) -> PatternRule:
        """The one that goes before the others; the first of equal ones."""
        return rules[0] if len(rules) == 1 else max(rules, key=self._rank)

    def _rank(self, rule: PatternRule) -> Rank:
        found = self._ranks.get(rule.order)
        if found is None:
            found = self._ranks[rule.order] = _rank(rule)
        return found

    def _counts(self, rule: PatternRule, threads: tuple[str, ...]) -> bool:
        return self._owners[rule.order].thread_id in threads

    def _match(self, rules: Sequence[PatternRule], facts: CallFacts) -> RuleMatch:
        rules = list(dict.fromkeys(rules))
        owners = [self._owners[rule.order] for rule in rules]
        shown = [owner.shown or rule.text for owner, rule in zip(owners, rules, strict=True)]
        return RuleMatch(
            self._policies[rules[0].order],
            " and ".join(shown),
            all(rule.specificity >= WITH_LITERALS and (not facts.network or _names_program(rule)) for rule in rules),
            owners[0].reason,
            any(rule.specificity == BARE for rule in rules),
            tuple(owner.rule_id for owner in owners if owner.rule_id),
        )


def _names_program(rule: PatternRule) -> bool:
    """Whether it says which program: ``command=git push*`` and ``command=curl *``, and neither ``bash`` alone nor
    ``command=*``. What such a rule allows without the network it does not allow with it."""
    said = (constraint for constraint in rule.pattern.constraints if constraint.name in _OF_COMMANDS)
    return any(_PROGRAM.match(constraint.glob) for constraint in said)


def _rank(rule: PatternRule) -> Rank:
    exact = all(check.is_literal for check in rule.checks)
    return rule.specificity, bool(rule.checks), exact, sum(check.letters for check in rule.checks)

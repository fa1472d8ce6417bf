"""Trust rules in the pattern language: which calls run without asking, which are asked about, which are refused.

    rules: "#meta-internal($policy=allow) write-file(path=src/**,$policy=allow) bash(command=git *) mcp-*($deny) *"

A rule without a policy asks (R-PAT-13). A fitting ``$deny`` wins over everything (R-PAT-7); else the most specific
rule counts, at equal specificity one with constraints before one without, then the earlier one. As in R-PAT-9 an
allow counts only when no rule names the tool more specifically, whether or not that one's constraints fit. The match
says whether the rule is ``specific``: only an allow that names the tool exactly or by a glob with letters may approve
more than reading, so that neither a tag nor ``*`` does (R-PRM-11).
"""

from __future__ import annotations

from collections.abc import Sequence

from desktop.domain.safety import CallFacts, RuleMatch
from desktop.skills.patterns.globs import WITH_LITERALS
from desktop.skills.patterns.grammar import PatternList, Policy, parse_patterns
from desktop.skills.patterns.index import Rule, RuleIndex
from desktop.skills.patterns.paths import Where


class PolicyRules:
    """A list of trust rules; never changes."""

    __slots__ = ("_index", "patterns")

    def __init__(self, patterns: PatternList, where: Where) -> None:
        self.patterns = patterns
        self._index = RuleIndex(patterns, where)

    @classmethod
    def parse(cls, text: str | Sequence[str], *, cwd: str = "", home: str = "") -> PolicyRules:
        """Read rules; ``cwd`` and ``home`` as for ``AllowedList.of``. Raises PatternError naming the column."""
        return cls(parse_patterns(text), Where(cwd, home))

    def decide(self, facts: CallFacts) -> RuleMatch | None:
        """The rule in force for a call, or None when no rule fits it."""
        selecting = self._index.about(facts.tool, facts.tags)
        top = max((rule.specificity for rule in selecting if _policy(rule) != "deny"), default=0)
        fitting = [rule for rule in selecting if _fits(rule, facts)]
        denying = [rule for rule in fitting if _policy(rule) == "deny"]
        counting = [rule for rule in fitting if _policy(rule) == "ask" or rule.specificity == top]
        best = max(denying or counting, key=_rank, default=None)
        return None if best is None else _match(best)


def _policy(rule: Rule) -> Policy:
    return rule.pattern.policy or "ask"


def _rank(rule: Rule) -> tuple[int, bool]:
    return rule.specificity, bool(rule.checks)


def _fits(rule: Rule, facts: CallFacts) -> bool:
    """To allow, the arguments must fit in full; to ask or deny, in part."""
    judge = rule.allows if _policy(rule) == "allow" else rule.denies
    return judge(facts.arguments, {})


def _match(rule: Rule) -> RuleMatch:
    return RuleMatch(_policy(rule), rule.text, rule.specificity >= WITH_LITERALS)

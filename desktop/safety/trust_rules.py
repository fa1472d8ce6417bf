"""Trust rules as plain data: a tool's name or glob, a constraint, allow, ask or deny (R-PRM-11, R-PRM-12).

The skills room owns the full pattern language; what it makes implements the same ``RuleBook``.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from desktop.domain.errors import ConfigurationError
from desktop.domain.safety import CallFacts, RuleMatch

Policy = Literal["allow", "ask", "deny"]
_POLICIES = ("allow", "ask", "deny")


@dataclass(frozen=True, slots=True)
class TrustRule:
    """``tool`` is a canonical name, a glob with ``*`` and ``?``, or ``#tag``. ``constraint`` is a glob that the call's
    normalised object must fit; empty: any call. An allow rule without a constraint allows every call of the tool."""

    tool: str
    policy: Policy
    constraint: str = ""
    reason: str = ""

    @property
    def specificity(self) -> int:
        """3 exact, 2 glob with literals, 1 tag, 0 bare star (R-PAT-9)."""
        if self.tool.startswith("#"):
            return 1
        if not set(self.tool) & set("*?"):
            return 3
        return 2 if re.search(r"[^*?\-]", self.tool) else 0

    def fits(self, facts: CallFacts) -> bool:
        """Whether the rule is about this call."""
        if self.tool.startswith("#"):
            named = self.tool[1:].casefold() in {tag.casefold() for tag in facts.tags}
        else:
            named = fits_glob(self.tool, facts.tool)
        return named and (not self.constraint or fits_glob(self.constraint, facts.constraint))


def fits_glob(pattern: str, text: str) -> bool:
    """``*`` and ``?`` only; ``\\`` before them makes them literal."""
    parts = []
    for token in re.findall(r"\\[*?\\]|.", pattern, re.DOTALL):
        parts.append(".*" if token == "*" else "." if token == "?" else re.escape(token[-1]))
    return re.fullmatch("".join(parts), text, re.DOTALL) is not None


def escape_glob(text: str) -> str:
    """A pattern that fits exactly ``text``."""
    return re.sub(r"([*?\\])", r"\\\1", text)


def rule_from(data: Mapping[str, Any]) -> TrustRule:
    """Checked from stored or chosen data. Raises ConfigurationError."""
    tool, policy = data.get("tool"), data.get("policy")
    constraint, reason = data.get("constraint", ""), data.get("reason", "")
    if not isinstance(tool, str) or not tool.strip() or policy not in _POLICIES:
        raise ConfigurationError(
            f"A trust rule needs a tool and a policy (allow, ask or deny), not {dict(data)!r:.200}."
        )
    if not isinstance(constraint, str) or not isinstance(reason, str):
        raise ConfigurationError("A trust rule's constraint and reason are texts.")
    return TrustRule(tool, policy, constraint, reason)


class SimpleRules:
    """A ``RuleBook`` over a list. ``save`` keeps a rule that a person chose."""

    def __init__(
        self, rules: Iterable[TrustRule] = (), save: Callable[[TrustRule], Awaitable[None]] | None = None
    ) -> None:
        self._rules = list(rules)
        self._save = save

    def replace(self, rules: Iterable[TrustRule]) -> None:
        """From now on these rules count, and no others."""
        self._rules = list(rules)

    def match(self, facts: CallFacts) -> RuleMatch | None:
        """A deny that fits, else the most specific rule; of equally specific ones the first (R-PAT-7, R-PAT-13)."""
        fitting = [rule for rule in self._rules if rule.fits(facts)]
        if not fitting:
            return None
        denying = [rule for rule in fitting if rule.policy == "deny"]
        best = max(denying or fitting, key=lambda rule: rule.specificity)
        return RuleMatch(best.policy, best.tool, best.specificity >= 2, best.reason)

    async def add(self, rule: Mapping[str, Any]) -> None:
        """Keep a rule; it counts from the next call."""
        made = rule_from(rule)
        if self._save is not None:
            await self._save(made)
        self._rules.append(made)

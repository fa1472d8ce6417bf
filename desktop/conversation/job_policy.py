"""What a job may do while nobody is there: its list of tools, and names for what is admin (semantics.md 32)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from desktop.conversation.rule_text import read_rule
from desktop.conversation.trust import Entry, RuleSet
from desktop.domain.definitions import DefinitionProblem
from desktop.domain.jobs import JobPolicy
from desktop.domain.safety import CallFacts
from desktop.domain.tools import Category
from desktop.skills.patterns import PatternError
from desktop.skills.patterns.paths import Where
from desktop.skills.patterns.policies import Owner

MOST = 100
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,127}")


class JobPermission:
    """Implements ``domain.jobs.Unattended``. ``admin_allowed`` is the app's switch, read at each call: while it is off,
    no job makes an admin call, whatever it lists (C-34)."""

    def __init__(self, policy: JobPolicy, admin_allowed: Callable[[], bool], where: Where) -> None:
        self._policy = policy
        self._admin_allowed = admin_allowed
        listed = [Entry(read_rule(text, "allow"), Owner()) for text in policy.allowed_tools or ()]
        self._listed = RuleSet(listed, where) if policy.allowed_tools is not None else None

    def refusal(self, facts: CallFacts) -> str:
        """Why the call may not be made, or "". The category is that of this very call (R-CRON-4)."""
        if facts.category is Category.ADMIN:
            return self._admin(facts)
        if self._listed is None:
            reads = facts.category is Category.READ
            return "" if reads else f"{facts.tool} changes things and is not on the job's list"
        return "" if self._fits(facts) else f"{facts.tool} is not on the job's list, or not for this"

    def _fits(self, facts: CallFacts) -> bool:
        """A pattern of the list fits; beyond reading only one that names the tool (R-CRON-3)."""
        found = self._listed.match(facts) if self._listed is not None else None
        return found is not None and (found.specific or facts.category is Category.READ)

    def _admin(self, facts: CallFacts) -> str:
        """Only by exact name, never by a glob or a tag (R-CRON-3)."""
        if facts.tool not in self._policy.allow_admin:
            return f"this call of {facts.tool} is admin, which the job does not allow by name"
        if self._listed is not None and not self._fits(facts):
            return f"{facts.tool} is not on the job's list, or not for this"
        return "" if self._admin_allowed() else "admin calls of jobs are switched off in Settings"


def policy_problems(policy: JobPolicy) -> Iterator[DefinitionProblem]:
    """All that is wrong with it, at once."""
    listed = policy.allowed_tools or ()
    if len(listed) > MOST or len(policy.allow_admin) > MOST:
        yield DefinitionProblem("policy", "job.many", f"A job lists at most {MOST} tools.")
    for at, text in enumerate(listed[:MOST]):
        try:
            read_rule(text, "allow")
        except PatternError as error:
            yield DefinitionProblem(f"policy.allowed_tools[{at}]", "job.pattern", f"{text[:80]!r}: {error}")
    for at, name in enumerate(policy.allow_admin[:MOST]):
        if not _NAME.fullmatch(name):
            words = f"{name[:80]!r} is no name of a tool; admin is allowed by exact name only."
            yield DefinitionProblem(f"policy.allow_admin[{at}]", "job.admin", words)
    for path, value in (("max_rounds", policy.max_rounds), ("max_tokens", policy.max_tokens)):
        if value is not None and (isinstance(value, bool) or value < 1):
            yield DefinitionProblem(f"policy.{path}", "job.limit", "It must be at least 1.")
    for path, number in (("max_cost", policy.max_cost), ("deadline_s", policy.deadline_s)):
        if number is not None and not 0 < number < 1e9:
            yield DefinitionProblem(f"policy.{path}", "job.limit", "It must be more than nothing.")

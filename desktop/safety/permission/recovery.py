"""What an answer from before Assent ended is worth when a run goes on (R-PRM-5, R-JRN-2)."""

from __future__ import annotations

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.approval.rule_book import RuleMatch
from desktop.domain.jobs import Unattended


def unless_unknown(
    decision: Decision | None, request: PermissionRequest, job: Unattended | None, *, allowed_before: bool
) -> Decision | None:
    """What may have happened already is done again only when a person says so now, whatever was allowed before. What
    only goes on, and was allowed before Assent ended, needs nobody."""
    if decision is None and allowed_before and not request.stale:
        return Decision("allow_once", request.digest, by="remembered")
    if decision is None or not decision.allowed or not request.unknown:
        return decision
    if job is None or job.present:
        return None
    return Decision("deny", request.digest, by="job", reason="nobody is here to ask")


def still_allowed(category: Category, declared: Category, rule: RuleMatch | None) -> bool:
    """Whether what was allowed before Assent ended is allowed by that now: never what is admin, or more than its tool
    declares, and not where a rule wants a person asked."""
    asks = rule is not None and rule.policy == "ask"
    return category is not Category.ADMIN and category is declared and not asks

"""Rules in words for a person: where one comes from, when it was used last, what happens to a call.

Patterns come from a person, from a project's files or from a request that a model caused: whoever shows one makes what
cannot be seen visible first (``ui.widgets.shown``).
"""

from __future__ import annotations

import os
import time

from desktop.domain.approval.rules import Outcome, RuleDecision, RuleView
from desktop.presenter.common.folders import name_of

DECISIONS: tuple[tuple[RuleDecision, str], ...] = (("allow", "Allow"), ("ask", "Ask"), ("deny", "Deny"))
ORIGINS = (
    ("you", "You"),
    ("request", "You, from a request"),
    ("project", "Project"),
    ("library", "Library"),
    ("built_in", "Built in"),
)
_DECISION = dict(DECISIONS)
_ORIGIN: dict[str, str] = dict(ORIGINS)
OUTCOMES: dict[Outcome, tuple[str, str]] = {
    "passes": ("failed", "passes"),
    "asks": ("ask", "asks"),
    "denied": ("deny", "denied"),
    "blocked": ("deny", "blocked"),
}
"""What happens to a call -> (state of the theme, word)."""
NEVER = "never"
DAY = 86_400.0
NOT_SAVED = "not saved yet"


def decision_word(decision: RuleDecision) -> str:
    """Allow, Ask or Deny."""
    return _DECISION[decision]


def from_words(rule: RuleView) -> str:
    """Where a rule comes from, and that it holds for one thread only."""
    words = _ORIGIN[rule.origin]
    if rule.origin in ("project", "library") and rule.detail:
        words = f"{words}: {rule.detail}"
    if is_project(rule.thread_id):
        return f"{words}, in {name_of(rule.thread_id)}"
    return f"{words}, one chat" if rule.thread_id else words


def is_project(scope: str) -> bool:
    """Whether a rule is bound to a project folder; else it is to a thread, or to none."""
    return os.path.isabs(scope)


def last_used(at: float | None, now: float) -> str:
    """``Today, 09:41``, ``Yesterday``, a weekday of the last week, a date."""
    if at is None:
        return NEVER
    then, today = time.localtime(at), time.localtime(now)
    if then[:3] == today[:3]:
        return time.strftime("Today, %H:%M", then)
    midnight = time.mktime((*today[:3], 0, 0, 0, 0, 0, -1))
    days = (midnight - at) / DAY
    if 0 <= days < 1:
        return "Yesterday"
    if 0 <= days < 6:
        return time.strftime("%a", then)
    year = "" if then.tm_year == today.tm_year else f" {then.tm_year}"
    return f"{then.tm_mday} {time.strftime('%b', then)}{year}"


def split_pattern(pattern: str) -> tuple[str, str]:
    """The tool, and its constraints with their parentheses."""
    tool, opened, rest = pattern.partition("(")
    return tool, opened + rest


def spoken(rule: RuleView) -> str:
    """A row for a screen reader."""
    used = f"used {rule.uses:,} times, last {last_used(rule.last_used_at, time.time())}" if rule.uses else "never used"
    problem = f", problem: {rule.problem}" if rule.problem else ""
    detail = f" ({rule.detail})" if rule.detail and rule.origin == "built_in" else ""
    return f"{decision_word(rule.decision)} {rule.pattern}, {from_words(rule)}{detail}, {used}{problem}"

"""Rules of trust as the gate meets them: what fits a call, and where a person's "always" is kept."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import field
from typing import Any, Literal, Protocol

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.loading.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class RuleMatch:
    """A rule that fits a call. ``specific``: it names the tool exactly or by a glob with literals (R-PRM-11), and where
    the call needs the network the program of its command, too; ``bare``: its selector has no letter at all, as ``*``.
    ``rule_ids``: all that took part, where rules have ids."""

    policy: Literal["allow", "ask", "deny"]
    pattern: str
    specific: bool
    reason: str = ""
    bare: bool = field(default=False, compare=False)
    rule_ids: tuple[str, ...] = ()


class RuleBook(Protocol):
    """Trust rules; the language of their patterns belongs to the skills room."""

    def match(self, facts: CallFacts) -> RuleMatch | None:
        """The rule in force for a call: deny before ask before allow."""
        ...

    def add(self, rule: Mapping[str, Any]) -> Awaitable[None]:
        """Keep a rule that a person chose ("always"): ``pattern`` in the pattern language, or ``tool`` and
        ``constraint``; with ``policy`` and, for one thread only, ``thread_id``."""
        ...

    def decided(self, facts: CallFacts, by: RuleMatch | None) -> None:
        """A call was decided by a rule, or by what is built in. Never waits and never raises."""
        ...

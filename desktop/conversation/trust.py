"""The trust rules in force: those given as text and those a person asked to be remembered (R-PAT-13, R-PRM-11).

All are read in the one pattern language. A remembered rule is plain data, ``{tool, policy, constraint}``: its
constraint is what the call is about, a text with ``*`` and ``?``. In the language a rule may look at three things that
are no arguments and that no caller can set: ``call-object`` (that text), ``call-digest`` (its SHA-256, for a text that
is meant exactly) and ``call-source`` (where the tool comes from).

A name can be taken: a project's skill may bear that of one's own. So for a skill of a project or a shared folder only
such a rule allows that looks at one of the three.
"""

from __future__ import annotations

import hashlib
import logging
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from desktop.domain.errors import ConfigurationError
from desktop.domain.ids import new_id
from desktop.domain.permission import RuleRecord
from desktop.domain.safety import CallFacts, RuleMatch
from desktop.safety.trust_rules import TrustRule, rule_from
from desktop.skills.patterns import PatternError, PolicyRules, parse_patterns
from desktop.skills.patterns.grammar import PatternList
from desktop.skills.patterns.paths import Where

OBJECT, DIGEST, SOURCE = "call-object", "call-digest", "call-source"
ELSEWHERE = frozenset({"project", "shared"})
ORIGIN = "approval"
_LOG = logging.getLogger(__name__)
_TOKEN = re.compile(r"\\[*?\\]|.", re.DOTALL)
_SPECIAL = re.compile(r"[\[\]{},()\\\s]")


class KeptRules(Protocol):
    """``store.RuleRepository``."""

    def add(self, *, rule: RuleRecord) -> Awaitable[None]: ...

    def list_rules(self) -> Awaitable[list[RuleRecord]]: ...


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a person reads of a rule."""

    pattern: str
    reason: str


class TrustRules:
    """Implements ``domain.safety.RuleBook``. ``text`` is in the pattern language and raises PatternError; ``given`` and
    what ``kept`` holds are plain rules."""

    def __init__(
        self, given: Iterable[TrustRule] = (), kept: KeptRules | None = None, *, text: str = "", cwd: str = "",
        home: str = "", clock: Callable[[], float] = time.time,
    ) -> None:  # fmt: skip
        self._kept = kept
        self._where = Where(cwd, home)
        self._text = parse_patterns(text)
        self._clock = clock
        self._shown: dict[str, _Shown] = {}
        self._plain: list[PatternList] = []
        for rule in given:
            self._take(rule)
        self._make()

    async def load(self) -> None:
        """Read what was remembered before; one that makes no sense counts for nothing. Raises what the store raises."""
        for record in await self._kept.list_rules() if self._kept is not None else ():
            try:
                constraint = record.constraints.get("constraint", "")
                self._take(rule_from({"tool": record.tool, "policy": record.decision, "constraint": constraint}))
            except ConfigurationError as error:
                _LOG.warning("the remembered rule %s is of no use: %s", record.rule_id, error)
        self._make()

    def match(self, facts: CallFacts) -> RuleMatch | None:
        """The rule in force for a call (R-PAT-7, R-PAT-9, R-PAT-13)."""
        about = {
            OBJECT: facts.constraint, SOURCE: facts.source,
            DIGEST: _digest(facts.constraint),
        }  # fmt: skip
        rules = self._bound if facts.source in ELSEWHERE else self._all
        found = rules.decide(replace(facts, arguments={**facts.arguments, **about}))
        shown = None if found is None else self._shown.get(found.pattern)
        if found is None or shown is None:
            return found
        return replace(found, pattern=shown.pattern, reason=shown.reason)

    async def add(self, rule: Mapping[str, Any]) -> None:
        """Remember a rule; it counts once it is kept. Raises ConfigurationError, and what the store raises."""
        made = rule_from(rule)
        if made.policy == "ask":
            raise ConfigurationError("Only what is allowed or denied is remembered.")
        patterns = _patterns(made)
        if self._kept is not None:
            constraints = {"constraint": made.constraint} if made.constraint else {}
            await self._kept.add(rule=RuleRecord(new_id(), made.tool, constraints, made.policy, ORIGIN, self._clock()))
        self._note(made, patterns)
        self._make()

    def _take(self, rule: TrustRule) -> None:
        self._note(rule, _patterns(rule))

    def _note(self, rule: TrustRule, patterns: PatternList) -> None:
        shown = _Shown(f"{rule.tool}({rule.constraint})" if rule.constraint else rule.tool, rule.reason)
        self._shown.setdefault(patterns.patterns[0].text, shown)
        self._plain.append(patterns)

    def _make(self) -> None:
        found = [*self._text.patterns, *(one for patterns in self._plain for one in patterns.patterns)]
        bound = [one for one in found if one.policy != "allow"
                 or any(constraint.name in (OBJECT, DIGEST, SOURCE) for constraint in one.constraints)]  # fmt: skip
        self._all = PolicyRules(PatternList(tuple(found), self._text.text), self._where)
        self._bound = PolicyRules(PatternList(tuple(bound), self._text.text), self._where)


def _patterns(rule: TrustRule) -> PatternList:
    """A plain rule in the pattern language. Raises ConfigurationError."""
    about = f"{_about(rule.constraint)}," if rule.constraint else ""
    try:
        found = parse_patterns(f"{rule.tool}({about}$policy={rule.policy})")
    except PatternError as error:
        raise ConfigurationError(f"The rule for {rule.tool[:80]} cannot be read: {error}") from error
    if len(found.patterns) != 1:
        raise ConfigurationError(f"A rule is about one tool or pattern, not about {rule.tool[:80]!r}.")
    return found


def _about(constraint: str) -> str:
    tokens = _TOKEN.findall(constraint)
    if "*" not in tokens and "?" not in tokens:
        return f"{DIGEST}={_digest(''.join(token[-1] for token in tokens))}"
    return f"{OBJECT}=" + "".join(
        token if token in ("*", "?") or len(token) == 2 else _SPECIAL.sub(r"\\\g<0>", token) for token in tokens
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

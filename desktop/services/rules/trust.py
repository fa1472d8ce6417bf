"""The trust rules in force: those given as text, those a person wrote or asked to be remembered (R-PAT-13, R-PRM-11).

All are read in the one pattern language (``text``); ``RuleSet`` decides, for real calls and for the simulator.

A name can be taken: a project's skill may bear that of one's own. So for a skill of a project or a shared folder only
such a rule allows that looks at where the tool comes from or at what exactly the call is about.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.permission import RuleRecord
from desktop.domain.approval.rule_book import RuleMatch
from desktop.domain.errors import ConfigurationError, KnownError, NotFound
from desktop.domain.ids import new_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.permission.trust_rules import TrustRule, rule_from
from desktop.services.rules.text import (
    ABOUT,
    DIGEST,
    OBJECT,
    SOURCE,
    as_list,
    digest_of,
    followed,
    pattern_from,
    problem_of,
    record_pattern,
    shown_of,
)
from desktop.services.threads.masking import HOLDS_A_KEY, Mask, clean, place_of_key
from desktop.skills.patterns import PolicyRules, parse_patterns
from desktop.skills.patterns.grammar import Pattern
from desktop.skills.patterns.paths import Where
from desktop.skills.patterns.policies import Owner

if TYPE_CHECKING:
    from desktop.store.rules import RuleRepository

ELSEWHERE = frozenset({"project", "shared"})
ORIGIN = "approval"
"""What a rule's record says of where it came from when it was remembered from a request."""
BUILT_IN = "built-in:"
"""How the ids of rules begin that nobody wrote: what is asked and what passes without a rule, by tool."""
WITHOUT_KEY = "Put * in its place: calls are compared with the key masked."
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Entry:
    """One rule ready to be compared."""

    pattern: Pattern
    owner: Owner


class RuleSet:
    """Rules at one moment; never changes, so that what is tried on it is true for all of it."""

    def __init__(self, entries: Sequence[Entry], where: Where) -> None:
        order = sorted(entries, key=lambda entry: entry.pattern.policy == "allow" and bool(entry.owner.rule_id))
        bound = [entry for entry in order if binds(entry.pattern)]
        self._all, self._bound = _policies(order, where), _policies(bound, where)

    def match(self, facts: CallFacts) -> RuleMatch | None:
        """The rule in force for a call (R-PAT-7, R-PAT-9, R-PAT-13)."""
        about = {OBJECT: facts.constraint, SOURCE: facts.source, DIGEST: facts.digest or digest_of(facts.constraint)}
        rules = self._bound if facts.source in ELSEWHERE else self._all
        return rules.decide(replace(facts, arguments={**facts.arguments, **about}))


def _policies(entries: Sequence[Entry], where: Where) -> PolicyRules:
    return PolicyRules(as_list([entry.pattern for entry in entries]), where, [entry.owner for entry in entries])


def binds(pattern: Pattern) -> bool:
    """Whether it counts for skills of projects and of shared folders (``ELSEWHERE``): what allows them says whose."""
    return pattern.policy != "allow" or any(constraint.name in ABOUT for constraint in pattern.constraints)


@dataclass(frozen=True, slots=True)
class RememberedRule:
    """A rule that was stored: its record, how it is shown, and why it applies to nothing, if so.

    ``entries`` are its pattern as written and, for one that asks or denies below a link, with the place where that
    leads.
    """

    record: RuleRecord
    shown: str
    entries: tuple[Entry, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class FrozenRules:
    """The rules at one moment and what they could become; may be used in any thread."""

    fixed: tuple[Entry, ...]
    kept: tuple[tuple[str, RememberedRule], ...]
    where: Where

    @property
    def all(self) -> RuleSet:
        """All rules, as they were when these were frozen."""
        return self._made()

    def with_rule(self, pattern: Pattern, thread_id: str = "", replaces: str = "") -> RuleSet:
        """The rules as they would be with one more, or with one in the place of another."""
        return self._made([Entry(pattern, Owner("draft", thread_id))], without=replaces)

    def _made(self, more: Sequence[Entry] = (), without: str = "") -> RuleSet:
        kept = [entry for rule_id, found in self.kept if rule_id != without for entry in found.entries]
        return RuleSet([*self.fixed, *kept, *more], self.where)


class TrustRules:
    """Implements ``domain.safety.RuleBook``. ``text`` is in the pattern language and raises PatternError; ``patterns``
    are read already; ``given`` and what ``kept`` holds are plain rules. ``cwd`` and ``home`` are real paths. ``record``
    gets every decided call and must not wait; a rule that ``mask`` would change holds a key and is not kept, for masked
    it would fit nothing. Used on the loop."""

    def __init__(
        self,
        given: Iterable[TrustRule] = (),
        kept: RuleRepository | None = None,
        *,
        text: str = "",
        cwd: str = "",
        home: str = "",
        patterns: Sequence[Pattern] = (),
        clock: Callable[[], float] = time.time,
        record: Callable[[CallFacts, float], None] = lambda _facts, _at: None,
        mask: Mask = lambda text: text,
    ) -> None:
        self._store = kept
        self._record = record
        self._where = Where(cwd, home)
        self._clock = clock
        self._mask = mask
        self._fixed = [Entry(pattern, Owner()) for pattern in parse_patterns(text).patterns]
        self._fixed += [Entry(pattern, Owner()) for pattern in patterns]
        self._fixed += [Entry(pattern_from(rule), _owner_of(rule)) for rule in given]
        self._kept: dict[str, RememberedRule] = {}
        self._built_in: dict[str, tuple[int, float]] = {}
        self._uses: dict[str, tuple[int, float]] = {}
        self._writing: asyncio.Future[None] | None = None
        self._listeners: list[Callable[[], None]] = []
        self.set = self._made()

    # -- reading ------------------------------------------------------------------------------------------------------

    async def load(self) -> None:
        """Read what was remembered before; one that makes no sense counts for nothing. Raises what the store raises."""
        if self._store is not None:
            records = await self._store.list_rules()
            self._kept = await asyncio.to_thread(lambda: {one.rule_id: _read(one, self._where) for one in records})
            self._built_in = dict(await self._store.built_in_uses())
        self._changed()

    @property
    def kept(self) -> tuple[RememberedRule, ...]:
        """What a person wrote or remembered, the oldest first."""
        return tuple(self._kept.values())

    @property
    def built_in_uses(self) -> Mapping[str, tuple[int, float]]:
        """How often each tool was decided without a rule, and when last."""
        return self._built_in

    def match(self, facts: CallFacts) -> RuleMatch | None:
        """The rule in force for a call."""
        return self.set.match(facts)

    def frozen(self) -> FrozenRules:
        """The rules as they are now, for work in a thread."""
        return FrozenRules(tuple(self._fixed), tuple(self._kept.items()), self._where)

    # -- changing -----------------------------------------------------------------------------------------------------

    async def add(self, rule: Mapping[str, Any]) -> None:
        """Remember a rule, once; it counts once it is kept. Raises ConfigurationError, and what the store raises."""
        policy, thread_id = rule.get("policy"), rule.get("thread_id", "")
        if isinstance(text := rule.get("pattern"), str) and text:
            if policy not in ("allow", "ask", "deny") or not isinstance(thread_id, str):
                raise ConfigurationError("A rule must allow, ask or deny.")
            if problem := problem_of(text, policy):
                raise ConfigurationError(problem.message)
            tool, constraints, shown = text.partition("(")[0].strip(), {}, text.strip()
        else:
            made = rule_from(rule)
            if made.policy == "ask":
                raise ConfigurationError("Only what is allowed or denied is remembered.")
            pattern_from(made)
            tool, policy, shown = made.tool, made.policy, ""
            constraints = {"constraint": made.constraint} if made.constraint else {}
        record = RuleRecord(
            new_id(), tool, constraints, policy, ORIGIN, self._clock(), pattern=shown, thread_id=thread_id
        )
        if not any(_same(found.record, record) for found in self._kept.values()):
            await self.put(record)

    async def put(self, record: RuleRecord, replaces: str = "") -> RememberedRule:
        """Keep a rule, in the place of another if there is one to replace; it counts when this returns."""
        if clean(record, self._mask) != record:
            raise ConfigurationError(f"{HOLDS_A_KEY}, so it was not saved as a rule.", next_step=WITHOUT_KEY)
        found = await asyncio.to_thread(_read, record, self._where)
        if not found.entries:
            raise ConfigurationError(found.problem)
        if self._store is not None:
            await self._store.add(rule=record, replaces=replaces)
        self._kept.pop(replaces, None)
        self._kept[record.rule_id] = found
        self._changed()
        return found

    def key_in(self, pattern: str) -> tuple[int, int] | None:
        """Where a pattern holds a key that is kept in the keyring: begin and length."""
        return place_of_key(pattern, self._mask)

    async def revoke(self, rule_id: str) -> None:
        """Revoke a rule; it applies to nothing from now on, also while that is still being stored. Raises NotFound."""
        found = self._kept.pop(rule_id, None)
        if found is None or self._store is None:
            raise NotFound("That rule no longer exists.")
        self._changed()
        try:
            await self._store.revoke(rule_id=rule_id, at=self._clock())
        except KnownError:  # it is still on record as in force and would count again after a restart: so it counts now
            self._kept[rule_id] = found
            self._changed()
            raise

    async def restore(self, rule_id: str) -> None:
        """Bring a revoked rule back. Raises NotFound."""
        if self._store is None or rule_id in self._kept:
            raise NotFound("That rule was not revoked.")
        await self._store.restore(rule_id=rule_id)
        record = await self._store.get(rule_id=rule_id)
        self._kept[rule_id] = await asyncio.to_thread(_read, record, self._where)
        self._kept = dict(sorted(self._kept.items(), key=lambda item: (item[1].record.created_at, item[0])))
        self._changed()

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Told after each change of the rules; returns what detaches the listener."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    # -- uses ---------------------------------------------------------------------------------------------------------

    def decided(self, facts: CallFacts, by: RuleMatch | None) -> None:
        """Count a use, and keep the call to try rules on; written beside it, uses together where they come quickly."""
        ids = by.rule_ids if by is not None else (f"{BUILT_IN}{facts.tool}",)
        now = self._clock()
        self._record(facts, now)
        for rule_id in ids:
            self._uses[rule_id] = (self._uses.get(rule_id, (0, 0.0))[0] + 1, now)
            found = self._kept.get(rule_id)
            if found is not None:
                record = replace(found.record, uses=found.record.uses + 1, last_used_at=now)
                self._kept[rule_id] = replace(found, record=record)
            elif rule_id.startswith(BUILT_IN):
                self._built_in[rule_id] = (self._built_in.get(rule_id, (0, 0.0))[0] + 1, now)
        self._write()

    def _write(self) -> None:
        if self._store is None or not self._uses or self._writing is not None:
            return
        uses, self._uses = self._uses, {}
        self._writing = self._store.count(uses=uses)
        self._writing.add_done_callback(self._written)

    def _written(self, done: asyncio.Future[None]) -> None:
        self._writing = None
        problem = None if done.cancelled() else done.exception()
        if problem is not None:
            _LOG.error("uses of rules could not be counted: %s", problem)
            return
        self._write()

    async def flush(self) -> None:
        """Wait until every use is written down; before the store closes."""
        while self._writing is not None:
            await asyncio.wait([self._writing])

    # -- the set ------------------------------------------------------------------------------------------------------

    def _changed(self) -> None:
        self.set = self._made()
        for listener in tuple(self._listeners):
            listener()

    def _made(self) -> RuleSet:
        return self.frozen().all


def _owner_of(rule: TrustRule) -> Owner:
    return Owner(shown=f"{rule.tool}({rule.constraint})" if rule.constraint else rule.tool, reason=rule.reason)


def _same(one: RuleRecord, other: RuleRecord) -> bool:
    """Whether two records say the same."""
    said = (replace(found, rule_id="", origin="", created_at=0.0, last_used_at=None, uses=0) for found in (one, other))
    return next(said) == next(said)


def _read(record: RuleRecord, where: Where) -> RememberedRule:
    """Read a stored rule. Blocks: it looks where folders lead."""
    try:
        pattern = record_pattern(record)
        shown = shown_of(record, pattern)
    except ConfigurationError as error:
        _LOG.warning("the remembered rule %s is of no use: %s", record.rule_id, error)
        return RememberedRule(record, record.pattern or record.tool, (), str(error))
    owner = Owner(record.rule_id, record.thread_id, shown)
    other = followed(pattern, where) if record.decision != "allow" else None
    return RememberedRule(record, shown, tuple(Entry(one, owner) for one in (pattern, other) if one is not None))

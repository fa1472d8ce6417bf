"""Grants with an end as they hold: which call one covers, and how it gets smaller with each (R-ASK-2).

A grant is a rule that allows, in one thread, for calls that run in one way. It never lets an admin call pass, and what
a rule denies or asks about stays so. What is used is on the disk before the call runs. An ended
grant never holds again: not by a clock that is set back, not by a restart, not by a call that came to nothing.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from desktop.domain.approval.bounded_grants import (
    MOST_BYTES,
    MOST_CALLS,
    MOST_SECONDS,
    BoundedGrant,
    GrantBounds,
    GrantEnd,
)
from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import Category, CommandPart
from desktop.domain.errors import ConfigurationError, KnownError, NotFound
from desktop.domain.ids import new_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.services.rules.suggest import like_command
from desktop.services.rules.text import literally, problem_of, proposed, read_rule
from desktop.services.rules.trust import Entry, RuleSet
from desktop.services.threads.masking import HOLDS_A_KEY, Mask
from desktop.skills.patterns.paths import Where
from desktop.skills.patterns.policies import Owner

if TYPE_CHECKING:
    from desktop.store.grants import GrantRepository

SET_BACK_S = 5.0
"""A clock that is further behind than that was set back."""
REMEMBERED = 50
"""Ended grants that are still told about."""


@dataclass(frozen=True, slots=True)
class Held:
    """One that holds."""

    grant: BoundedGrant
    """As it is on the disk, or a little larger while a use of it is being written."""
    rules: RuleSet
    """Its pattern, ready to be compared."""
    over_at: float
    """When its time is over by the monotonic clock, which nobody can set back."""


class GrantBook:
    """Implements ``domain.bounded_grants.CallGrants`` and ``GrantPort``. ``open`` it before the first call. Used on the
    loop."""

    def __init__(
        self,
        store: GrantRepository,
        where: Where,
        *,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        mask: Mask = lambda text: text,
    ) -> None:
        self._store, self._where, self._mask = store, where, mask
        self._clock, self._monotonic = clock, monotonic
        self._held: dict[str, Held] = {}
        self._ended: list[BoundedGrant] = []
        self._listeners: list[Callable[[], None]] = []

    async def open(self) -> None:
        """Read what holds. A clock that was set back while Assent was closed ends all of them."""
        now, latest = self._clock(), await self._store.latest()
        for grant in await self._store.held():
            if now < latest - SET_BACK_S:
                await self._end(grant, "clock")
            elif (why := _over(grant, now)) or problem_of(grant.bounds.pattern, "allow") is not None:
                await self._end(grant, why or "used")
            else:
                self._hold(grant)

    # -- the gate -----------------------------------------------------------------------------------------------------

    def covering(self, facts: CallFacts, how: str, size: int | None) -> BoundedGrant | None:
        """The oldest grant that lets this call through, or None."""
        if facts.category is not Category.WRITE:
            return None
        for held in self._held.values():
            grant = held.grant
            fits = grant.tool == facts.tool and grant.how == how and grant.project == facts.project
            if fits and not self._is_over(held) and _has_room(grant, size) and self._matches(held, facts):
                return grant
        return None

    async def use(self, grant: BoundedGrant, size: int | None) -> bool:
        """Count a call; it is on the disk when this returns."""
        held, now = self._held.get(grant.grant_id), self._clock()
        if held is None or self._is_over(held) or not _has_room(held.grant, size):
            return False
        if now < held.grant.latest_at - SET_BACK_S:
            await self._end(held.grant, "clock")
            return False
        left = await self._store.use(grant_id=grant.grant_id, size=size or 0, at=now)
        if left is None or grant.grant_id not in self._held:  # somebody was quicker, or it was taken back meanwhile
            return False
        self._held[grant.grant_id] = replace(held, grant=left)
        if why := _over(left, now):
            await self._end(left, why)
        self._changed()
        return True

    async def give(self, bounds: GrantBounds, facts: CallFacts, how: str, seen_in: str, size: int | None) -> None:
        """Keep a grant, with the call that was asked about as its first. Raises ConfigurationError for one that is too
        wide, holds a key or does not cover that very call."""
        now = self._clock()
        if why := problem_with(bounds, now, size):
            raise ConfigurationError(why, next_step="Choose other bounds, or allow this call once.")
        if self._mask(bounds.pattern) != bounds.pattern:
            raise ConfigurationError(f"{HOLDS_A_KEY}, so nothing was granted.", next_step="Allow this call once.")
        grant = BoundedGrant(
            new_id(),
            facts.thread_id,
            seen_in,
            facts.project,
            facts.tool,
            how,
            now,
            bounds,
            used_calls=1,
            used_bytes=size or 0,
            latest_at=now,
        )
        held = self._made(grant)
        named = read_rule(bounds.pattern, "allow").selector.text == facts.tool
        if facts.category is not Category.WRITE or not named or not self._matches(held, facts):
            raise ConfigurationError(
                f"{bounds.pattern} does not cover the call that was asked about.", next_step="Allow this call once."
            )
        await self._store.add(grant=grant)
        if why := _over(grant, now):  # it was for this call alone
            await self._end(grant, why)
        else:
            self._held[grant.grant_id] = held
        self._changed()

    # -- a person -----------------------------------------------------------------------------------------------------

    def held(self, thread_id: str) -> tuple[BoundedGrant, ...]:
        """Those that hold and are seen in a thread, the latest first; one whose time is over is not among them."""
        shown = [one.grant for one in self._held.values() if one.grant.seen_in == thread_id and not self._is_over(one)]
        return tuple(reversed(shown))

    def ended(self, thread_id: str) -> tuple[BoundedGrant, ...]:
        """Those that ended since Assent was started, the latest first."""
        return tuple(one for one in reversed(self._ended) if one.seen_in == thread_id)

    def patterns(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        paths: Sequence[str],
        project: str,
        parts: Sequence[CommandPart] = (),
    ) -> tuple[str, ...]:
        """Exactly this; of a file also those beside it, below its folder and in the project; of a command also those
        that begin alike."""
        path = paths[0] if len(paths) == 1 and "path" in arguments else ""
        known = {"path": path} if path else {}
        folder = os.path.dirname(path)
        found = [proposed(tool, arguments, known)]
        if folder not in ("", "/"):
            found += [f"{tool}(path={literally(folder)}/{rest})" for rest in ("*", "**")]
            if project and folder.startswith(f"{project}/"):
                found.append(f"{tool}(path={literally(project)}/**)")
        if parts and "command" in arguments:
            found += [f"{tool}(command={glob})" for glob in like_command(parts)]
        return tuple(one for one in dict.fromkeys(found) if problem_of(one, "allow") is None)

    async def again(self, grant_id: str, bounds: GrantBounds) -> None:
        """Grant the same calls anew, which a person asked for; nothing of what was left is added. Raises
        ConfigurationError for bounds that are none, NotFound for one of an earlier start."""
        before = next((one for one in self._ended if one.grant_id == grant_id), None)
        if before is None:
            raise NotFound("That grant is not known any more.", next_step="Allow the next such call with some like it.")
        now = self._clock()
        why = problem_with(bounds, now, 0 if before.bounds.most_bytes is not None else None)
        if why or bounds.pattern != before.bounds.pattern:
            raise ConfigurationError(why or "It would cover other calls.", next_step="Choose other bounds.")
        grant = BoundedGrant(
            new_id(),
            before.thread_id,
            before.seen_in,
            before.project,
            before.tool,
            before.how,
            now,
            bounds,
            latest_at=now,
        )
        held = self._made(grant)
        self._ended = [one for one in self._ended if one is not before]  # asked for twice, it is given once
        try:
            await self._store.add(grant=grant)
        except KnownError:
            self._ended = [before, *self._ended]
            raise
        self._held[grant.grant_id] = held
        self._changed()

    async def settle(self) -> None:
        """Write down which have ended by their time."""
        for held in [one for one in self._held.values() if self._is_over(one)]:
            await self._end(held.grant, "time")
            self._changed()

    async def take_back(self, grant_id: str) -> None:
        """It lets nothing through from now on, also while that is still being written down. Raises NotFound."""
        held = self._held.get(grant_id)
        if held is None:
            raise NotFound("That grant has ended already.")
        await self._end(held.grant, "taken back")
        self._changed()

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Told after each change; returns what detaches the listener."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    # -- keeping ------------------------------------------------------------------------------------------------------

    async def _end(self, grant: BoundedGrant, why: GrantEnd) -> None:
        self._held.pop(grant.grant_id, None)
        ended = replace(grant, ended=why, ended_at=self._clock())
        self._ended = [*self._ended, ended][-REMEMBERED:]
        await asyncio.shield(self._store.end(grant_id=grant.grant_id, ended=why, at=ended.ended_at))

    def _hold(self, grant: BoundedGrant) -> None:
        self._held[grant.grant_id] = self._made(grant)

    def _made(self, grant: BoundedGrant) -> Held:
        pattern = read_rule(grant.bounds.pattern, "allow")
        rules = RuleSet([Entry(pattern, Owner(grant.grant_id, grant.thread_id))], self._where)
        return Held(grant, rules, self._monotonic() + grant.bounds.until - self._clock())

    def _is_over(self, held: Held) -> bool:
        return self._monotonic() >= held.over_at or _over(held.grant, self._clock()) != ""

    @staticmethod
    def _matches(held: Held, facts: CallFacts) -> bool:
        found = held.rules.match(facts)
        return found is not None and found.policy == "allow" and found.specific

    def _changed(self) -> None:
        for listener in tuple(self._listeners):
            listener()


def problem_with(bounds: GrantBounds, now: float, size: int | None) -> str:
    """Why these bounds are none, in a sentence, or ""."""
    if not 1 <= bounds.calls <= MOST_CALLS:
        return f"A grant is for 1 to {MOST_CALLS} calls."
    if not now < bounds.until <= now + MOST_SECONDS:
        return "A grant ends within the next 24 hours."
    if bounds.most_bytes is not None:
        if size is None:
            return "Nobody can say beforehand how much such a call writes, so a number of bytes cannot bound it."
        if not size <= bounds.most_bytes <= MOST_BYTES:
            return "A grant is for at least what this call writes, and for 1 GB at most."
    found = problem_of(bounds.pattern, "allow")
    return found.message if found is not None else ""


def _over(grant: BoundedGrant, now: float) -> GrantEnd:
    if grant.ended:
        return grant.ended
    if grant.calls_left == 0:
        return "used"
    if grant.bytes_left == 0:
        return "bytes"
    return "time" if now >= grant.bounds.until else ""


def _has_room(grant: BoundedGrant, size: int | None) -> bool:
    if grant.calls_left < 1:
        return False
    left = grant.bytes_left
    return left is None or (size is not None and size <= left)

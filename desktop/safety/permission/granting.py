"""Bounded grants at the gate: whether one lets a call pass, and how one is kept that a person gave (R-ASK-2)."""

from __future__ import annotations

from dataclasses import replace

from desktop.domain.approval.bounded_grants import BoundedGrant, CallGrants
from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.permission.digest import CallSignature, how_of


@dataclass(frozen=True, slots=True)
class JudgedCall:
    """A call as the gate looks at it."""

    request: PermissionRequest
    """The question that would be asked."""
    facts: CallFacts
    """What rules compare."""
    signature: CallSignature
    """Which calls are like it."""
    size: int | None
    """Bytes that it writes, where its request says exactly that."""
    within_edge: bool = False
    """Its thread works up to the edge of its folder, and the call stays within."""


class Granting:
    """The gate's way to the grants."""

    def __init__(self, grants: CallGrants) -> None:
        self._grants = grants

    def covering(self, call: JudgedCall) -> BoundedGrant | None:
        """A grant that covers the call, as far as it can be covered by any."""
        request = call.request
        if request.unknown or request.only_once or request.consent is not None:
            return None
        return self._grants.covering(call.facts, how_of(call.signature), call.size)

    async def use(self, call: JudgedCall, grant: BoundedGrant) -> Decision | None:
        """Use a grant, or the next one where somebody was quicker; None: none is left."""
        tried: set[str] = set()
        found: BoundedGrant | None = grant
        while found is not None and found.grant_id not in tried:
            if await self._grants.use(found, call.size):
                shown = {"pattern": found.bounds.pattern, "grant": found.grant_id}
                return Decision("allow_once", call.request.digest, by="grant", rule=shown)
            tried.add(found.grant_id)
            found = self.covering(call)
        return None

    async def give(self, call: JudgedCall, decision: Decision) -> Decision:
        """Keep what a person granted; where it cannot be kept this call alone is allowed, and the log says why."""
        bounds, once = decision.bounds, replace(decision, choice="allow_once", bounds=None)
        if bounds is None:
            return once
        try:
            await self._grants.give(bounds, call.facts, how_of(call.signature), call.request.seen_in, call.size)
        except KnownError as error:
            return replace(once, reason=f"Only this call: {error}")
        return replace(decision, rule={"pattern": bounds.pattern})

"""What a person agreed that single tools read of the denied folders (D-4), kept in the database, which agents cannot
write. One consent a tool: a changed definition, or another path, asks anew."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from desktop.domain.approval.consents import Consent, Opening
from desktop.safety.boundary.closed_places import judged
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.secrets.tool_secrets import SmallValues

STATE = "reads"
MAX_CONSENTS = 500


class Consents:
    """Implements ``domain.consents.ClosedPlaces``."""

    def __init__(self, policy: BoundaryPolicy, kept: SmallValues) -> None:
        self._policy = policy
        self._kept = kept
        self._agreed: Mapping[str, Consent] = {}
        self._writing = asyncio.Lock()
        self._listeners: list[Callable[[], None]] = []

    async def load(self) -> None:
        """Read the consents that were stored."""
        rows = await self._kept.get(key=STATE, default=[])
        found = (_consent(row) for row in (rows if isinstance(rows, list) else []))
        self._agreed = {consent.tool: consent for consent in found if consent is not None}

    def on_change(self, listener: Callable[[], None]) -> None:
        """Called after each change."""
        self._listeners.append(listener)

    def judge(self, entry: str) -> Opening:
        """What an entry comes to now. Blocks."""
        return judged(self._policy, entry)

    def agreed(self, consent: Consent) -> bool:
        """Whether a person agreed to all of it, for this definition."""
        return bool(consent.paths) and set(consent.paths) <= set(self.known(consent.tool, consent.version))

    def known(self, tool: str, version: str) -> tuple[str, ...]:
        """The paths to which a person agreed for this definition."""
        found = self._agreed.get(tool)
        return found.paths if found is not None and found.version == version else ()

    async def agree(self, consent: Consent) -> None:
        """Store a person's consent."""
        await self._change(consent.tool, consent)

    async def take_back(self, tool: str) -> None:
        """Take back the consents of a tool, from its next call on."""
        await self._change(tool, None)

    async def _change(self, tool: str, consent: Consent | None) -> None:
        async with self._writing:  # what is there is looked at inside: a consent taken back meanwhile does not return
            wanted = {name: one for name, one in self._agreed.items() if name != tool}
            if consent is not None:
                wanted[tool] = consent
            last = dict(list(wanted.items())[-MAX_CONSENTS:])
            await self._kept.put(key=STATE, value=[[c.tool, c.version, *c.paths] for c in last.values()])
            self._agreed = last
        for listener in tuple(self._listeners):
            listener()


def _consent(row: Any) -> Consent | None:
    if not isinstance(row, list) or len(row) < 3 or not all(isinstance(part, str) for part in row):
        return None
    return Consent(row[0], row[1], tuple(row[2:]))

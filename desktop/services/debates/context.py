"""The summaries of a debate, one for each side: what it has seen is its own (R-SES-4). They are kept in the logs of the
runs that made them, so that a run that goes on reads what an earlier one has written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from desktop.domain.context import MAX_SUMMARY, Overlay
from desktop.domain.definitions import SIDES, SideName
from desktop.domain.loading.lazy import lazy_module
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.meta import RunMeta
from desktop.domain.threads import MessageRecord
from desktop.services.threads.masking import clean
from desktop.services.turns.runtime import Runtime

if TYPE_CHECKING:
    from desktop.agents.loop import summarising as summarising
    from desktop.agents.loop.summarising import ContextKeeper
else:
    summarising = lazy_module("desktop.agents.loop.summarising")


async def side_overlays(runtime: Runtime, thread_id: str, path: Sequence[MessageRecord]) -> dict[SideName, Overlay]:
    """The latest summary of each side that ends on ``path``."""
    shown = {record.message_id for record in path}
    found: dict[SideName, Overlay] = {}
    for value in await runtime.store.effects.summaries(thread_id):
        if not isinstance(value, Mapping) or value.get("upto") not in shown:
            continue
        for side in SIDES:
            if value.get("side") == side:
                found.setdefault(side, _overlay(value))
    return found


class SideContexts:
    """The contexts of both sides in one run of a debate."""

    def __init__(self, runtime: Runtime, meta: RunMeta) -> None:
        self._runtime = runtime
        self._meta = meta
        self._keepers: dict[SideName, ContextKeeper] = {}

    async def load(self, thread_id: str, path: Sequence[MessageRecord]) -> None:
        """Read what earlier runs of the debate left: the summaries of both sides."""
        known = await side_overlays(self._runtime, thread_id, path)
        for side in SIDES:
            kept = _OfSide(self._runtime, self._meta, side)
            self._keepers[side] = summarising.ContextKeeper(
                kept=kept, overlay=known.get(side, Overlay()), allowed=self._runtime.summaries
            )

    def of(self, side: SideName) -> ContextKeeper | None:
        """Where the turns of a side read and keep its summary, or None."""
        return self._keepers.get(side)


@dataclass(frozen=True, slots=True)
class _OfSide:
    runtime: Runtime
    meta: RunMeta
    side: SideName

    def now(self, since: Overlay) -> Overlay:
        """The overlay unchanged: only the debate itself changes it."""
        return since

    def asked(self) -> bool:
        """Nobody asks for one here."""
        return False

    async def keep(self, made: Overlay) -> Overlay:
        """A line of the log, which is written before whatever the run stores next."""
        made = clean(made, self.runtime.mask)
        value = {"side": self.side, "summary": made.summary, "upto": made.upto, "summarised": made.summarised}
        if self.runtime.live is not None:
            self.runtime.live.summarised(self.meta, value)
        return made


def _overlay(value: Mapping[str, Any]) -> Overlay:
    count = value.get("summarised")
    return Overlay(
        str(value.get("summary") or "")[:MAX_SUMMARY],
        str(value.get("upto")),
        summarised=count if isinstance(count, int) else 0,
    )

"""Makes a call in a copy before a person is asked about it, so that they judge what it did and not what it says."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext

from desktop.domain.runs.meta import RunMeta
from desktop.domain.tools import RehearsingTool, ToolCallContext
from desktop.pipeline.context import CallContext
from desktop.pipeline.gates import prechecked, refused
from desktop.pipeline.limited import LimitedWork

Around = Callable[[RunMeta, str], AbstractAsyncContextManager[None]]
"""What stands around all that a call of a tool does, by the run and the tool's name: a paused agent waits there."""


def alone(_meta: RunMeta, _tool: str) -> AbstractAsyncContextManager[None]:
    """Nothing stands around it."""
    return nullcontext()


class CallRehearsals:
    """Implements ``gates.Rehearsals``: inside the limits of the call, like anything that a tool does for it."""

    def __init__(self, work: LimitedWork, around: Around = alone) -> None:
        self._work = work
        self._around = around

    async def begin(self, call: CallContext) -> None:
        """Make the call in a copy without the network. Raises what the tool raises where nothing came of it."""
        await self._make(call, network=False)

    async def repeat(self, call: CallContext, *, network: bool) -> None:
        """The same in a new copy, of the files as they are now."""
        await self.drop(call)
        call.stale = False
        call.check = await prechecked(call)
        refused(call.check)
        await self._make(call, network=network)

    async def drop(self, call: CallContext) -> None:
        """Forget what the call did in its copy."""
        made, call.rehearsal = call.rehearsal, None
        if made is not None:
            await made.drop()

    async def _make(self, call: CallContext, *, network: bool) -> None:
        target, check = call.target, call.check
        if not isinstance(target, RehearsingTool) or check is None:
            return

        async def rehearse(context: ToolCallContext) -> None:
            call.rehearsal = await target.rehearse(call.frozen, check, context)

        async with self._around(call.meta, target.spec.name):
            await self._work.run(call, rehearse, network=network)
        if call.rehearsal is not None:
            call.check = call.rehearsal.check

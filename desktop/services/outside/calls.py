"""Calls of other programs: each through the pipeline, in the name of whoever makes it, stopped with it (R-MSV-1)."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from desktop.agents.skill.host import HOST, PERMISSIONS, Host
from desktop.agents.skill.settings import named_by
from desktop.domain.ids import new_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ToolCallBlock
from desktop.domain.models import ModelRef
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.text.outside import OutsideText
from desktop.domain.text.words import plain_line
from desktop.pipeline.context import CallRequest, CallResult, Invocation
from desktop.pipeline.names import Caller
from desktop.pipeline.pipeline import Pipeline
from desktop.services.outside.offered import OutsideTools, speaks
from desktop.services.outside.story import RunStory, Told
from desktop.services.skills.world import SkillWorld
from desktop.skills.patterns.lists import AllowedList
from desktop.supervision.tasks import TaskOwner

CALLER_GONE = "whoever called it has stopped it, or is gone"
SWITCHED_OFF = "it is not offered to other programs any more"
LINES_MAX = 200
NAME_MAX = 60


@dataclass(frozen=True, slots=True)
class OutsideLine:
    """Something that other programs did, for the page of Settings: ``what`` ``who`` did, ``at`` seconds since the
    epoch."""

    at: float
    who: str
    what: str


class OutsideCalls:
    """``host`` gives what agents work with, or None without a model; ``forget`` is told of a call that is over, by the
    id of its run."""

    def __init__(
        self,
        tools: OutsideTools,
        world: SkillWorld,
        pipeline: Pipeline,
        owner: TaskOwner,
        host: Callable[[ModelRef | None], Host | None],
        forget: Callable[[str], None],
    ) -> None:
        self.tools = tools
        self._world, self._pipeline, self._owner = world, pipeline, owner
        self._host, self._forget = host, forget
        self._running: dict[str, tuple[str, CancellationToken]] = {}
        self._lines: deque[OutsideLine] = deque(maxlen=LINES_MAX)
        self._listeners: list[Callable[[], None]] = []

    @property
    def lines(self) -> tuple[OutsideLine, ...]:
        """What other programs did last, the latest first."""
        return tuple(reversed(self._lines))

    def on_line(self, told: Callable[[], None]) -> None:
        """Call ``told`` with each new line."""
        self._listeners.append(told)

    def note(self, who: str, what: str) -> None:
        """Add a line."""
        self._lines.append(OutsideLine(time.time(), who, what))
        for told in self._listeners:
            told()

    def recheck(self) -> None:
        """What a person offers has changed: calls of what is not offered any more end."""
        for name, token in list(self._running.values()):
            if not self.tools.is_on(name):
                token.cancel(SWITCHED_OFF)

    async def call(self, name: str, arguments: Mapping[str, Any], who: str, by: str, told: Told) -> CallResult:
        """Have a program call what is offered as ``name``. ``who`` is what it calls itself, ``by`` how it came in;
        ``told`` hears what the agents in it do. Cancelling this stops all of it. Raises NotFound."""
        tool = await self.tools.find(name)
        run_id, token = new_id(), CancellationToken()
        given, said = dict(arguments), ""
        if speaks(tool) and isinstance(given.get("message"), str):
            said = given.pop("message")
        everything = AllowedList.of(f"* {tool.spec.name}")
        inherited: dict[str, Any] = {PERMISSIONS: everything, "rootContextId": run_id}
        host = self._host(named_by(self._world.fabric.find_cached(tool.spec.name)[1]))
        if host is not None:
            inherited[HOST] = replace(host, terms=replace(host.terms, kept="permanent"))
        root = Invocation(RunMeta(run_id, token, ""), inherited=inherited, shared=self._world.shared)
        caller = Caller("native", (shown(who, by),), everything)
        block = ToolCallBlock(new_id(), tool.spec.name, given)
        story = RunStory(self._world.topics, run_id, told)
        self._running[run_id] = (tool.spec.name, token)
        state = "stopped"
        try:
            story.begin()
            named = f"a program that calls itself “{plain_line(who, NAME_MAX)}”"
            self._pipeline.heard(root, [OutsideText(named, tool.spec.name, at=time.time())])
            request = CallRequest(block, caller, root, _unheard, said=said)
            work = self._owner.spawn(self._pipeline.invoke(request), f"outside: {tool.spec.name}")
            try:
                outcome = await asyncio.shield(work)
            except asyncio.CancelledError:
                token.cancel(CALLER_GONE)
                await asyncio.wait([work])  # its end is written down, and its questions are closed
                raise
            state = outcome.state
            return outcome
        finally:
            token.cancel(CALLER_GONE)
            story.end()
            del self._running[run_id]
            self._forget(run_id)
            self.note(who, f"{tool.spec.name}: {state}")


def shown(who: str, by: str) -> str:
    """Who asks, for requests and the log: what a program calls itself is its own word."""
    return f"A program that calls itself “{plain_line(who, NAME_MAX)}”, by {by}"


def _unheard(_event: object) -> None:
    """Events of a call belong to no thread that anybody has open; what a program hears comes over the topic."""

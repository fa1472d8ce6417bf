"""The Debates page over the real runtime: store, pipeline, ``DebateService``, a scripted model, and a person."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from shots.samples import SampleApprovals, SampleSetup

from desktop.domain.threads import MessageRecord
from desktop.presenter.approvals.inbox import ApprovalsViewModel
from desktop.presenter.debates.items import TurnItem
from desktop.presenter.debates.page import DebateModels, DebatesViewModel
from desktop.presenter.debates.setup import DebateSetupViewModel
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.run_panel.panel import RunTreeViewModel
from desktop.presenter.transcript.items import NoticePart, TextPart
from desktop.presenter.transcript.live_threads import LiveThreads
from desktop.services.chats.tree_actions import RunTreeService
from desktop.services.chats.tree_history import TreeKeeper
from desktop.ui.debates.page import DebatesPage
from tests.harness.timeouts import until
from tests.unit.services.debates.kit import DebateWorld, debate_world


class Watched:
    """The page and what is on it."""

    def __init__(self, world: DebateWorld, bridge: Bridge) -> None:
        self.world, self.bridge, self.board = world, bridge, LiveThreads()

        async def path(thread_id: str, before: str | None, limit: int) -> Sequence[MessageRecord]:
            return await world.service.path(thread_id, before=before, limit=limit)

        self.debates = DebatesViewModel(world.debates, path, bridge, self.board)
        self.setup = DebateSetupViewModel(world.debates, bridge)
        self.said: list[str] = []
        self.debates.said.connect(self.said.append)
        self.setup.said.connect(self.said.append)
        models = cast(Any, SampleSetup())
        models.default_model = ""
        approvals = cast(ApprovalsViewModel, SampleApprovals())
        self.service = RunTreeService(world.live, world.store.run_agents)
        self.agents = RunTreeViewModel(self.service, tuple, {}, bridge)
        bridge.events.connect(self.agents.take)
        self.page = DebatesPage(DebateModels(self.debates, self.setup, approvals, models, self.agents))
        self.page.resize(1216, 800)
        self.page.show()
        bridge.events.connect(self.board.take)

    @property
    def running(self) -> Any:
        return self.page.running

    @property
    def shown(self) -> list[Any]:
        """What the lanes show, from the top."""
        return [message.item for message in self.running.view.page.messages]

    @property
    def turns(self) -> list[TurnItem]:
        return [item for item in self.shown if isinstance(item, TurnItem)]

    @property
    def texts(self) -> list[str]:
        """All that is said, in order, as it is laid out or will be."""
        return [message.source() for message in self.running.view.page.messages]

    @property
    def notices(self) -> str:
        return "\n".join(part.text for item in self.shown for part in item.parts if isinstance(part, NoticePart))

    @property
    def state(self) -> Any:
        return self.debates.state

    async def until(self, true: Callable[[], Any], what: str) -> None:
        await until(true, what, seen=lambda: f"{self.state}; {self.texts}; {self.said}")

    async def open(self, thread_id: str) -> None:
        self.page.open(thread_id)
        await self.until(lambda: self.state is not None and not self.bridge.task_names, "the debate opened")

    async def status(self, status: str) -> None:
        await self.until(lambda: self.state is not None and self.state.status == status, status)


def said(item: Any) -> str:
    return "".join(part.markdown for part in item.parts if isinstance(part, TextPart))


@asynccontextmanager
async def watched(path: Path, client: Any, *tools: Any, **options: Any) -> AsyncIterator[Watched]:
    async with debate_world(path, client, *tools, **options) as world:
        bridge = Bridge()
        world.bus.listen(TreeKeeper(world.store.run_agents).take)
        world.bus.listen(bridge.sink)
        made = Watched(world, bridge)
        try:
            yield made
        finally:
            await world.debates.close()
            await bridge.shutdown(2.0)
            made.setup._later.stop()
            made.page.close()
            made.page.deleteLater()
            made.setup.deleteLater()
            made.debates.deleteLater()

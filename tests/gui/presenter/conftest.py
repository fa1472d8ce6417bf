"""A whole runtime under the view-models: a real store, pipeline and service, and the scripted model. No tools."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from desktop.models.scripted import ScriptedModel
from desktop.pipeline.pipeline import Pipeline
from desktop.presenter.chat.page import ChatViewModel
from desktop.presenter.chat.threads import ThreadsViewModel
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.transcript.items import TranscriptItem
from desktop.presenter.transcript.live_threads import LiveThreads
from desktop.services.chats.service import ConversationService
from desktop.services.turns.runtime import Runtime
from desktop.skills.catalogue.roots import SearchRoot
from desktop.store import Store
from desktop.supervision.bus import Bus
from desktop.supervision.tasks import TaskOwner
from tests.harness.definitions import load_agents
from tests.harness.timeouts import WAIT_S, until
from tests.unit.services.kit import skill_world

ROOT = Path(__file__).resolve().parents[3]
MODEL = "scripted/scripted"


class NoTools:
    def find(self, name: str) -> None:
        return None

    def tools(self) -> tuple[()]:
        return ()


@dataclass
class Page:
    """What a chat page would show, kept from the view-model's signals."""

    chat: ChatViewModel
    threads: ThreadsViewModel
    service: ConversationService
    bridge: Bridge
    model: ScriptedModel
    items: list[TranscriptItem] = field(default_factory=list)
    grown: list[tuple[str, str]] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    queue: tuple[Any, ...] = ()
    draft: str = ""
    opened: int = 0

    def __post_init__(self) -> None:
        self.chat.items_reset.connect(self._reset)
        self.chat.items_prepended.connect(lambda items: self.items.__setitem__(slice(0, 0), items))
        self.chat.item_added.connect(self._added)
        self.chat.item_changed.connect(self._changed)
        self.chat.text_appended.connect(lambda message, part, text: self.grown.append((part, text)))
        self.chat.queue_changed.connect(lambda queue: setattr(self, "queue", queue))
        self.chat.draft_loaded.connect(lambda text: setattr(self, "draft", text))
        self.chat.loaded.connect(lambda: setattr(self, "opened", self.opened + 1))
        self.bridge.failed.connect(self.failures.append)

    def _reset(self, items: tuple[TranscriptItem, ...]) -> None:
        self.items = list(items)

    def _added(self, item: TranscriptItem) -> None:
        self.items.append(item)

    def _changed(self, item: TranscriptItem) -> None:
        places = [i for i, known in enumerate(self.items) if known.message_id == item.message_id]
        assert len(places) == 1, "a change is of an item that is shown, once"
        self.items[places[0]] = item

    @property
    def texts(self) -> list[str]:
        return ["".join(getattr(p, "markdown", "") for p in item.parts) for item in self.items]

    async def until(self, true: Callable[[], Any], what: str = "", seconds: float = WAIT_S) -> None:
        await until(true, what, seconds=seconds, seen=lambda: f"shown {self.texts}; failures {self.failures}")

    async def open(self, thread_id: str) -> None:
        before = self.opened
        self.chat.open_thread(thread_id)
        await self.until(lambda: self.opened > before, "the thread opened")

    async def at_rest(self) -> None:
        await self.until(lambda: not self.chat.run_state.running and not self.bridge.task_names, "rest")


@pytest.fixture
async def make_page(tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    made: list[tuple[Store, ConversationService, Bridge]] = []

    async def make(*rounds: Any, repeat: bool = False) -> Page:
        store = Store(tmp_path / "data" / "assent.db")
        await store.open()
        owner, bus, bridge, board = TaskOwner(), Bus(), Bridge(), LiveThreads()
        model = ScriptedModel(rounds, repeat=repeat)
        skills = skill_world(NoTools(), SearchRoot(str(ROOT / "skills"), "library"))
        pipeline = Pipeline(skills.table, owner.spawn, skills=skills.side)
        skills.runs.pipeline = pipeline
        runtime = Runtime(
            store=store,
            bus=bus,
            client=model,
            pipeline=pipeline,
            agents=load_agents(ROOT / "resources" / "agents"),
            skills=skills,
        )
        service = ConversationService(runtime, owner)
        chat, threads = ChatViewModel(service, bridge, board), ThreadsViewModel(service, bridge, board)
        bus.listen(bridge.sink)
        for listener in (chat.take, board.take, threads.take):
            bridge.events.connect(listener)
        chat.set_model(MODEL)
        made.append((store, service, bridge))
        return Page(chat, threads, service, bridge, model)

    yield make
    for store, service, bridge in made:
        await service.close()
        assert await bridge.shutdown(2.0) == ()
        await store.close()

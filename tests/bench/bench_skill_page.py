"""The Skills page with 10,000 skills: shown, a chip pressed, a query typed, a skill chosen; and the longest block.

Everything runs on the offscreen platform with real painting; the catalogue comes from the index, as in the app.
"""

import asyncio
import gc
import random
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer

from desktop.pipeline.pipeline import Pipeline
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.skills.editing import SkillEditor
from desktop.presenter.skills.importing import SkillImport
from desktop.presenter.skills.models import SkillsModels
from desktop.presenter.skills.page import SkillsViewModel
from desktop.presenter.skills.projects import SkillProjects
from desktop.presenter.skills.trying import SkillTrials
from desktop.services.skills.editing import SkillService
from desktop.services.skills.world import SkillWorld
from desktop.settings import SettingsService
from desktop.supervision.tasks import TaskOwner
from desktop.ui.skills.page import SkillsPage
from tests.bench.application import in_app_loop
from tests.bench.bench_skill_index import QUERIES, TAGS, opened, percentile, skills
from tests.bench.registry import Figure, bench
from tests.harness.definitions import load_agents
from tests.unit.pipeline.kit import Table

ROOT = Path(__file__).resolve().parents[2]
SIZE = (1280, 800)


class Blocks(QObject):
    """The longest stretch of processor time that the Qt thread used in one go, in milliseconds."""

    def __init__(self) -> None:
        super().__init__()
        self.longest = 0.0
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._tick)

    def __enter__(self) -> "Blocks":
        self._at = time.thread_time()
        self._timer.start(1)
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.stop()
        self._tick()

    def _tick(self) -> None:
        now = time.thread_time()
        self.longest, self._at = max(self.longest, (now - self._at) * 1000), now


class Shown:
    """A page on 10,000 skills of which only the index was read."""

    def __init__(self, root: Path, index: str) -> None:
        self._owner, self.bridge = TaskOwner(), Bridge()
        self._world = SkillWorld(opened(root, index), Table())
        pipeline = Pipeline(self._world.table, self._owner.spawn, skills=self._world.side)
        book = load_agents(ROOT / "resources" / "agents")
        service = SkillService(self._world, pipeline, book, mine=root, trash=root.parent / "trash")
        self.skills = SkillsViewModel(service, self.bridge)
        self.models = SkillsModels(
            self.skills,
            SkillEditor(service, self.bridge, self.skills.wrote),
            SkillTrials(service, self.bridge),
            SkillProjects(SettingsService(root.parent), self.bridge),
            SkillImport(service, self.bridge, self.skills),
        )
        self.page: SkillsPage | None = None

    def show(self) -> SkillsPage:
        page = self.page = SkillsPage(self.models)
        page.resize(*SIZE)
        page.show()
        return page

    async def listed(self) -> None:
        while not (self.skills.loaded and self.skills.model.rowCount()):
            await asyncio.sleep(0.001)

    async def rest(self) -> None:
        while self.bridge.task_names:
            await asyncio.sleep(0.002)
        await asyncio.sleep(0.03)

    async def end(self) -> None:
        self.skills.end()
        if self.page is not None:
            self.page.close()
            self.page.deleteLater()
        await self.bridge.shutdown(2.0)
        await self._owner.close()
        await asyncio.to_thread(self._world.close)


def with_page(work: Callable[[Shown], Awaitable[Any]]) -> Any:
    """Run ``work`` on a page of 10,000 skills in the app's own loop."""

    async def run(root: Path, index: str) -> Any:
        shown = Shown(root, index)
        try:
            return await work(shown)
        finally:
            await shown.end()

    with skills() as (root, index):
        return in_app_loop(lambda: run(root, index))


@bench("skills page: 10,000 shown from the index", target="<= 50", unit="ms")
def page_shown() -> Figure:
    """From the wish to see the page, its widgets made before, to the painted list."""

    async def work(shown: Shown) -> tuple[float, float]:
        started = time.perf_counter()
        page = shown.show()
        made = time.perf_counter() - started
        gc.collect()
        started = time.perf_counter()
        await shown.listed()
        page.list.rows.viewport().repaint()
        return (time.perf_counter() - started) * 1000, made * 1000

    taken, made = with_page(work)
    return Figure(taken, None, f"list and rows painted; making and showing the widgets {made:.0f} ms before it")


@bench("skills page: a chip pressed, to the painted list, p99", target="<= 16", unit="ms")
def chip() -> Figure:
    async def work(shown: Shown) -> tuple[list[float], list[float]]:
        page = shown.show()
        await shown.listed()
        await shown.rest()
        rng, found, counted = random.Random(3), [], []
        for _ in range(200):
            started = time.perf_counter()
            shown.skills.toggle_tag(rng.choice(TAGS))
            page.list.rows.viewport().repaint()
            found.append((time.perf_counter() - started) * 1000)
            started = time.perf_counter()
            shown.skills._count_later.stop()
            shown.skills._count()
            counted.append((time.perf_counter() - started) * 1000)
        return found, counted

    found, counted = with_page(work)
    note = f"median {percentile(found, 0.5):.1f} ms; the counts, a turn later: p99 {percentile(counted, 0.99):.1f} ms"
    return Figure(percentile(found, 0.99), None, note)


@bench("skills page: a query, to the painted list, p99", target="<= 16", unit="ms")
def query() -> Figure:
    async def work(shown: Shown) -> list[float]:
        page = shown.show()
        await shown.listed()
        await shown.rest()
        rng, found = random.Random(3), []
        for _ in range(200):
            wanted = rng.choice([one for one in QUERIES if one != shown.skills.chosen.query])
            started = time.perf_counter()
            shown.skills.choose(query=wanted)
            page.list.rows.viewport().repaint()
            found.append((time.perf_counter() - started) * 1000)
        return found

    found = with_page(work)
    return Figure(percentile(found, 0.99), None, f"median {percentile(found, 0.5):.1f} ms; the query alone: see above")


@bench("skills page: longest block while it is used", target="<= 16", unit="ms", by="gap")
def longest_block() -> Figure:
    """List, chips, queries, skills chosen, their file opened: processor time of the Qt thread in one go. What happens
    once in the life of the app (widgets made, Qt's enumerations read) is named beside it."""

    async def work(shown: Shown) -> tuple[dict[str, float], dict[str, float]]:
        page = shown.show()
        await shown.rest()
        each: dict[str, float] = {}
        once: dict[str, float] = {}
        rng = random.Random(5)

        async def step(name: str, act: Callable[[], Any]) -> None:
            with Blocks() as blocks:
                act()
                await shown.rest()
            if name not in once:
                once[name] = blocks.longest
            else:
                each[name] = max(each.get(name, 0.0), blocks.longest)

        with Blocks() as blocks:
            shown.skills._reload()
            await shown.rest()
        each["list again"] = blocks.longest
        for _ in range(12):
            await step("chip", lambda: shown.skills.toggle_tag(rng.choice(TAGS)))
        shown.skills.clear()
        for text in QUERIES:
            await step("query", lambda text=text: page.list.field.setText(text))  # type: ignore[misc]
        page.list.field.clear()
        await shown.rest()
        for place in range(0, 400, 40):
            row = shown.skills.model.row_at(place)
            assert row is not None
            await step("skill", lambda key=row.key: page.pick(key))  # type: ignore[misc]
        for tab in ("text", "form", "callers", "try") * 3:
            await step(tab, lambda tab=tab: page.skill.show_tab(tab))  # type: ignore[misc]
        return each, once

    each, once = with_page(work)
    words = [", ".join(f"{name} {figure:.0f}" for name, figure in found.items()) for found in (each, once)]
    return Figure(max(each.values()), None, f"{words[0]}; the first time: {words[1]}")

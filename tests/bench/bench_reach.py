"""The reach explorer on a folder of 100,000 names and on a tree of as many: until the first rows, and the longest
block of the Qt thread while it is opened, scrolled through, searched, re-tinted and closed."""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from desktop.domain.approval.reach import Level, ReachRow
from desktop.domain.safety import DEFAULT_DENIED, SUGGESTED_DENIED, SafetySettings
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.settings.reach import ReachViewModel
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.boundary.reach import level
from desktop.services.reach.judge import Judge, rows
from desktop.services.rules.trust import TrustRules
from desktop.ui.settings.boundaries.reach_panel import ReachPanel
from tests.bench.application import in_app_loop
from tests.bench.bench_skill_page import Blocks
from tests.bench.registry import Figure, bench

COUNT = 100_000


class SampleReach:
    """Real folders, the real boundary and real rules; no agent's list and no proofs."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        settings = SafetySettings(self._root, (self._root,), DEFAULT_DENIED + SUGGESTED_DENIED)
        book = TrustRules(text="write-file(path=n00*,$policy=allow)", cwd=self._root, home="/home/ida")
        self._judge = Judge(BoundaryPolicy("/home/ida/.agent", lambda: settings), settings, book.frozen().all)
        self.tell: Callable[[], None] = lambda: None

    def agents(self) -> tuple[()]:
        return ()

    def roots(self) -> tuple[str, ...]:
        return (self._root,)

    def landmarks(self) -> tuple[()]:
        return ()

    async def level(self, path: str) -> Level:
        return await asyncio.to_thread(level, path)

    async def judge(self, _agent: str, paths: tuple[str, ...]) -> tuple[ReachRow, ...]:
        return await asyncio.to_thread(rows, self._judge, paths)

    async def last_proof(self) -> None:
        return None

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        self.tell = listener
        return lambda: None


@contextmanager
def folder(names: Iterator[str]) -> Iterator[Path]:
    """With empty files of these names."""
    root = Path(tempfile.mkdtemp(prefix="assent-bench-"))
    try:
        for name in names:
            path = root / name
            if len(path.parts) > len(root.parts) + 1:
                path.parent.mkdir(exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
        yield root
    finally:
        shutil.rmtree(root)


class Shown:
    """The panel, seen."""

    def __init__(self, root: Path) -> None:
        self.service, self.bridge = SampleReach(root), Bridge()
        self.reach: Any = ReachViewModel(self.service, self.bridge)  # type: ignore[arg-type]  # it proves nothing
        self.panel = ReachPanel(self.reach)
        self.panel.resize(472, 760)

    @property
    def tinted(self) -> bool:
        """Whether every row in sight has its tint."""
        tree = self.reach.tree
        seen = [tree.shown(at) for at in self.panel.list.rows_in_sight()]
        return bool(seen) and all(row.judged is not None or row.note for row in seen)

    async def until(self, true: Callable[[], Any]) -> None:
        while not true():
            await asyncio.sleep(0.001)

    async def rest(self) -> None:
        rows = self.panel.list.rows_in_sight()
        await self.until(lambda: not self.bridge.task_names and not self.reach.tree.wanted(rows.start, rows.stop - 1))
        await asyncio.sleep(0.05)


def with_panel(names: Callable[[], Iterator[str]], work: Callable[[Shown], Awaitable[Any]]) -> Any:
    """In the app's own loop."""

    async def run(root: Path) -> Any:
        shown = Shown(root)
        try:
            return await work(shown)
        finally:
            shown.panel.close()
            shown.panel.deleteLater()
            await shown.bridge.shutdown(2.0)

    with folder(names()) as root:
        return in_app_loop(lambda: run(root))


def flat() -> Iterator[str]:
    return (f"n{at * 7919 % COUNT:06d}" for at in range(COUNT))


def deep() -> Iterator[str]:
    return (f"d{at // 100:04d}/n{at % 100:03d}" for at in range(COUNT))


async def _opened(shown: Shown) -> tuple[float, float, float]:
    """Seconds until names are there and until those in sight are tinted; the longest block in milliseconds."""
    with Blocks() as blocks:
        began = time.perf_counter()
        shown.panel.show()
        await shown.until(lambda: shown.reach.tree.rowCount() > 10)
        named = time.perf_counter() - began
        await shown.until(lambda: shown.tinted)
        tinted = time.perf_counter() - began
        await shown.rest()
    return named, tinted, blocks.longest


async def _used(shown: Shown) -> float:
    """The longest block in milliseconds while the whole list is used."""
    shown.panel.show()
    await shown.until(lambda: shown.tinted)
    rows_shown, tree = shown.panel.list, shown.reach.tree
    with Blocks() as blocks:
        bar = rows_shown.verticalScrollBar()
        for step in range(60):
            bar.setValue(bar.maximum() * step // 59)
            await asyncio.sleep(0.02)
        for text in ("n0", "n05", "n099999", "n5", "d0", "d09"):
            rows_shown.keyboardSearch(text)
            rows_shown._pause.stop()
            await asyncio.sleep(0.02)
        rows_shown.go_to(tree.rowCount() - 1)
        for row in (900, 500, 3, 1):
            if row < tree.rowCount() and tree.shown(row).opened is False:
                shown.reach.open(row)
                await asyncio.sleep(0.02)
        shown.service.tell()
        await shown.rest()
        shown.reach.close(0)
        await asyncio.sleep(0.05)
    return blocks.longest


@cache
def _flat_opened() -> tuple[float, float, float]:
    found: tuple[float, float, float] = with_panel(flat, _opened)
    return found


@bench("reach explorer: 100,000 names in one folder, until the first rows", target="<= 1000", unit="ms")
def first_rows() -> Figure:
    named, tinted, _ = _flat_opened()
    return Figure(named * 1000, note=f"until those in sight are tinted: {tinted * 1000:.0f} ms")


@bench("reach explorer: 100,000 names in one folder, longest block while it opens", target="<= 16", unit="ms", by="gap")
def block_opening() -> Figure:
    return Figure(_flat_opened()[2], note="processor time of the Qt thread in one go")


@bench("reach explorer: 100,000 names in one folder, longest block in use", target="<= 16", unit="ms", by="gap")
def block_using() -> Figure:
    return Figure(with_panel(flat, _used), note="scrolled through, searched, re-tinted, closed")


@bench("reach explorer: a tree of 100,000 in 1,000 folders, longest block in use", target="<= 16", unit="ms", by="gap")
def block_tree() -> Figure:
    return Figure(with_panel(deep, _used), note="scrolled through, searched, folders opened, re-tinted, closed")

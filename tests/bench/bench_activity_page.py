"""The Activity tab over 100,000 lines: opened, scrolled from its top to its end, searched; and the longest block.

On the offscreen platform with real painting; rows come from a real store, 200 at a time.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

from desktop.presenter.approvals.activity import ActivityViewModel
from desktop.presenter.events.bridge import Bridge
from desktop.ui.approvals.activity.tab import Activity
from desktop.ui.approvals.activity.table import ROW
from tests.bench.application import in_app_loop
from tests.bench.bench_audit import MANY, filled
from tests.bench.bench_skill_page import SIZE, Blocks
from tests.bench.registry import Figure, bench


async def until(true: Callable[[], bool]) -> None:
    while not true():
        await asyncio.sleep(0.001)


def run(work: Callable[[Activity], Awaitable[Figure]]) -> Figure:
    """With the tab shown over a full log."""

    async def whole() -> Figure:
        async with filled() as store:
            bridge = Bridge()
            tab = Activity(ActivityViewModel(bridge, store.audit))
            tab.resize(*SIZE)
            try:
                return await work(tab)
            finally:
                tab.close()
                await bridge.shutdown(5.0)
                tab.deleteLater()

    return in_app_loop(whole)


@bench("activity page: from shown to its rows, with 100,000 lines", target="<= 200", unit="ms")
def opened() -> Figure:
    async def work(tab: Activity) -> Figure:
        with Blocks() as blocks:
            started = time.perf_counter()
            tab.show()
            await until(lambda: tab.model.rowCount() > 0)
            tab.repaint()
            took = (time.perf_counter() - started) * 1000
            await until(lambda: bool(tab.bar.count.text()))
        return Figure(took, None, f"longest block {blocks.longest:.1f} ms")

    return run(work)


@bench("activity page: longest block while scrolling through 100,000 lines", target="<= 16", unit="ms", by="gap")
def scrolled() -> Figure:
    async def work(tab: Activity) -> Figure:
        tab.show()
        await until(lambda: tab.model.rowCount() > 0)
        bar = tab.list.verticalScrollBar()
        await asyncio.sleep(0.2)

        def at_the_end() -> bool:
            bar.setValue(bar.maximum())
            return tab.model.index(tab.model.rowCount() - 1).data(ROW).number == 1

        with Blocks() as blocks:
            started = time.perf_counter()
            await until(at_the_end)
            took = time.perf_counter() - started
        note = f"{MANY // 2:,} rows read in {took:.1f} s, {tab.model.rowCount():,} of them held"
        return Figure(blocks.longest, None, note)

    return run(work)


@bench("activity page: longest block while words are sought in 100,000 lines", target="<= 16", unit="ms", by="gap")
def sought() -> Figure:
    async def work(tab: Activity) -> Figure:
        tab.show()
        await until(lambda: tab.model.rowCount() > 0)
        await asyncio.sleep(0.2)
        with Blocks() as blocks:
            started = time.perf_counter()
            tab.filter.setText("work/1234 nowhere")
            await until(lambda: tab.model.rowCount() == 0)
            took = (time.perf_counter() - started) * 1000
        return Figure(
            blocks.longest, None, f"found that there is nothing in {took:.0f} ms, 200 of them the typing pause"
        )

    return run(work)

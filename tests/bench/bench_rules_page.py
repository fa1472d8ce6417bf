"""The Rules tab with 5,000 rules: shown, searched, walked through, a rule written and tried; and the longest block."""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop.domain.approval.permission import RuleRecord
from tests.bench.application import in_app_loop
from tests.bench.bench_skill_page import Blocks
from tests.bench.registry import Figure, bench
from tests.gui.approvals.rules_kit import Room
from tests.harness.timeouts import until

RULES = 5_000
SIZE = (1280, 800)


def _tool(n: int) -> str:
    """Every fiftieth is about the shell, the others about a tool of their own."""
    return f"server-{n}-call" if n % 50 else "bash"


async def _opened(folder: Path) -> Room:
    room = await Room(folder).open()
    await asyncio.gather(
        *(
            room.store.rules.add(
                rule=RuleRecord(
                    f"r{n}",
                    _tool(n),
                    {},
                    "allow" if n % 3 else "deny",
                    "you",
                    float(n),
                    pattern=f"{_tool(n)}(command=tool-{n} run*)",
                )
            )
            for n in range(RULES)
        )
    )
    for n in range(200):
        room.called(f"tool-{n} run now")
    await room.book.flush()
    await room.book.load()
    return room


def _with_page(work: Callable[[Room], Awaitable[Any]]) -> Any:
    async def run(folder: Path) -> Any:
        room = await _opened(folder)
        try:
            return await work(room)
        finally:
            room.page.close()
            room.page.deleteLater()
            await room.end()

    with tempfile.TemporaryDirectory() as folder:
        return in_app_loop(lambda: run(Path(folder)))


@cache
def _measured() -> dict[str, float]:
    async def work(room: Room) -> dict[str, float]:
        found: dict[str, float] = {}

        async def step(name: str, act: Callable[[], Any], done: Callable[[], Any]) -> None:
            await asyncio.sleep(0.05)
            with Blocks() as blocks:
                act()
                await until(done, name)
                await asyncio.sleep(0.05)
            found[name] = blocks.longest

        page, tab = room.page, room.tab
        page.resize(*SIZE)
        page.show()
        await step("show", page.show_rules, tab.isVisible)
        field = tab.list.field
        for text, count in (("tool", RULES), ("tool-4", 1111), ("tool-4999", 1)):
            await step(
                f"search {text}", lambda text=text: field.setText(text), lambda count=count: room.rules.shown == count
            )
        await step("all again", field.clear, lambda: room.rules.shown > RULES)
        rows = tab.list.rows
        rows.setCurrentIndex(room.rules.model.index(0))
        await step(
            "end of the list", lambda: QTest.keyClick(rows, Qt.Key.Key_End), lambda: rows.currentIndex().row() > 4000
        )
        await step("one is used", lambda: (room.called("tool-9 run now"), room.rules.refresh()), lambda: True)
        await step("new rule", tab.new, lambda: room.editor.draft is not None)
        for at, letter in enumerate("bash(command=tool-7*)"):
            await step(f"key {at}", lambda letter=letter: QTest.keyClicks(room.field, letter), lambda: True)
        began = time.perf_counter()
        with Blocks() as blocks:
            await room.tried()
            found["trial, s"] = time.perf_counter() - began
            await asyncio.sleep(0.05)
        found["trial"] = blocks.longest
        return found

    return dict(_with_page(work))


@bench("rules: longest block of a list of 5,000 rules", target="<= 16", unit="ms", by="gap")
def longest_block() -> Figure:
    found = {name: value for name, value in _measured().items() if not name.endswith(", s")}
    worst = max(found, key=found.__getitem__)
    return Figure(found[worst], note=f"{worst}; shown {found['show']:.1f}, a key {found['key 15']:.1f} ms")

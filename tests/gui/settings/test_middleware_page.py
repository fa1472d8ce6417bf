"""Settings, Middleware: the chains in order, their switches, and what the library's can be told (D-7)."""

import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from shots.middleware import SampleMiddleware
from shots.samples import SampleSettings

from desktop.presenter.events.bridge import Bridge
from desktop.presenter.settings.middleware import MiddlewareViewModel
from desktop.services.skills.levels import Levels
from desktop.services.skills.world import SkillWorld
from desktop.settings import SettingsService
from desktop.settings.groups.middleware import MiddlewareSettings
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.resolution.fabric import SkillFabric
from desktop.ui.settings.middleware.page import MiddlewarePage
from desktop.ui.settings.rows import SettingRow
from desktop.ui.theme import Theme
from tests.gui.shell.test_window import spin
from tests.harness.timeouts import until
from tests.unit.pipeline.kit import Table


@pytest.fixture
def page(qtbot: QtBot, theme: Theme) -> MiddlewarePage:
    model = SampleMiddleware()
    made = MiddlewarePage(model, SampleSettings())  # type: ignore[arg-type]
    made.model = model  # type: ignore[attr-defined]
    qtbot.addWidget(made)
    made.resize(900, 800)
    made.show()
    made.activateWindow()
    spin()
    return made


def words(page: MiddlewarePage) -> str:
    return "\n".join(label.text() for label in page.findChildren(QLabel))


def test_each_chain_stands_in_its_order_and_what_is_needed_has_no_switch_to_turn(page: MiddlewarePage) -> None:
    assert [line.row.title for line in page.cards["chat"].lines()] == [
        "Budget, pause and log",
        "content-filter",
        "customer-names",
        "response-cache",
        "Known secrets",
    ]
    needed = [line for card in page.cards.values() for line in card.lines() if not line.row.switchable]
    assert needed
    assert all(line.switch.isChecked() and not line.switch.isEnabled() for line in needed)
    assert words(page).count("it cannot be switched off") == len(needed)


def test_a_switch_keeps_the_focus_and_shows_what_can_be_told(page: MiddlewarePage) -> None:
    def keys() -> set[str]:
        return {row.spec.key for row in page.findChildren(SettingRow)}

    assert "middleware.content_filter.patterns" in keys()
    assert "middleware.response_cache.minutes" not in keys()
    line = next(line for line in page.cards["chat"].lines() if line.row.title == "response-cache")
    line.switch.setFocus()
    QTest.keyClick(line.switch, Qt.Key.Key_Space)
    spin()
    assert page.model.calls == [("response-cache", True)]  # type: ignore[attr-defined]
    assert "middleware.response_cache.minutes" in keys()
    after = next(line for line in page.cards["chat"].lines() if line.row.title == "response-cache")
    assert (after.switch.isChecked(), after.switch.hasFocus()) == (True, True)


async def test_a_switch_is_kept_in_the_settings_and_holds_for_the_runtime(tmp_path: Path, qtbot: QtBot) -> None:
    settings = SettingsService(tmp_path)
    await settings.load()
    root = Path(__file__).resolve().parents[3] / "skills"
    fabric = SkillFabric.open((SearchRoot(str(root), "library"),))
    world = SkillWorld(fabric, Table(), middleware=lambda: settings.current.middleware)
    levels: Levels = world.levels
    await asyncio.to_thread(levels.refresh)
    bridge = Bridge(loop=asyncio.get_running_loop())
    model = MiddlewareViewModel(levels, settings, bridge, fabric.on_change)
    changed: list[None] = []

    def chosen() -> MiddlewareSettings:
        return settings.current.middleware

    model.changed.connect(lambda: changed.append(None))
    model.switch("content-filter", True)
    model.switch("retry", False)
    wanted = (("content-filter",), ("retry",))
    await until(lambda: (chosen().switched_on, chosen().switched_off) == wanted, "both in force")
    states = {row.title: row.on for level in ("chat", "call") for row in model.rows(level)}  # type: ignore[arg-type]
    assert (states["content-filter"], states["retry"], states["timeout"]) == (True, False, True)
    assert changed
    assert "content-filter" in (tmp_path / "config.yaml").read_text()

"""From an entry of the activity log to the rule that decided, on the whole Approvals page."""

import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from shots.approvals_activity import entries

from desktop.ui.theme import Theme
from tests.gui.approvals.rules_kit import Room
from tests.harness.timeouts import until
from tests.harness.windows import activated


@pytest.fixture
async def room(qtbot: QtBot, theme: Theme, tmp_path: Path) -> AsyncIterator[Room]:
    made = await Room(tmp_path).open()
    qtbot.addWidget(made.page)
    made.page.resize(1216, 800)
    await activated(made.page)
    yield made
    await made.end()


@pytest.mark.spec("R-PRM-11", "R-PRM-12")
async def test_the_rule_of_an_entry_is_shown_in_the_list_of_rules_and_a_revoked_one_is_told(room: Room) -> None:
    (rule,) = await room.keep("bash(command=git status*)")
    by_id, by_pattern, gone = (
        {"rule_id": rule.rule_id},
        {"pattern": rule.pattern},
        {"pattern": "bash(command=no such rule)"},
    )
    for number, named in enumerate((gone, by_pattern, by_id)):
        at = time.time() + number
        await room.store.audit.add(entry=replace(entries()[7], at=at, extra={"rule": named}))
    for row in (0, 1):
        room.page.show_tab("activity")
        await until(lambda: room.page.activity.model.rowCount() == 4, "the entries")
        await room.rest()
        listed = room.page.activity.list
        listed.setCurrentIndex(room.page.activity.model.index(row))
        QTest.keyClick(listed, Qt.Key.Key_Return)
        room.page.activity.detail.rule.click()
        assert room.page.tabs.value == "rules"
        assert room.tab.current == rule
    room.page.show_tab("activity")
    await room.rest()
    room.page.activity.show_row(room.page.activity.model.index(2).data(Qt.ItemDataRole.UserRole))
    room.page.activity.detail.rule.click()
    assert room.page.tabs.value == "activity"
    assert room.page.activity.toast.text == "That rule is no longer in force."

"""The Rules tab as a person uses it: keys, filters, menu and undo, on the real service over a real store."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.domain.approval.permission import RuleRecord
from desktop.domain.approval.rules import RuleDraft, RuleView
from desktop.presenter.approvals.rules_list import DRAFT
from desktop.presenter.approvals.rules_words import from_words, last_used
from desktop.ui.approvals.rules.table import about
from desktop.ui.approvals.rules.text import pattern_line, tip
from desktop.ui.theme import Theme
from tests.gui.approvals.rules_kit import Room, press, words
from tests.harness.timeouts import until
from tests.harness.windows import activated

Key, CONTROL = Qt.Key, Qt.KeyboardModifier.ControlModifier
BUILT_IN = ["bash", "list-directory", "read-file", "write-file"]


@pytest.fixture
async def room(qtbot: QtBot, theme: Theme, tmp_path: Path) -> AsyncIterator[Room]:
    made = await Room(tmp_path).open()
    qtbot.addWidget(made.page)
    made.page.resize(1216, 800)
    await activated(made.page)
    yield made
    await made.end()


# -- the list ---------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-PRM-11", "R-PRM-12")
async def test_the_list_names_decision_pattern_origin_and_uses_and_the_tab_counts_them(room: Room) -> None:
    await room.keep("bash(command=git status*)")
    room.called("git status", times=2)
    room.rules.refresh()
    room.page.show_rules()
    said = [room.rules.model.index(row).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(5)]
    assert said[0] == "Allow bash(command=git status*), You, never used"
    assert sorted(room.shown[1:]) == BUILT_IN
    assert any(line.startswith("Ask bash, Built in") and "used 2 times, last Today" in line for line in said)
    assert room.page.tabs._tabs["rules"].accessibleName() == "Rules, 5"


async def test_searching_and_filters_narrow_the_list_and_nothing_found_offers_all_again(room: Room) -> None:
    await room.keep("bash(command=git status*)", "write-file(path=docs/**)")
    await room.keep("bash(command=git push*)", decision="deny")
    room.page.show_rules()
    room.page.begin_find()
    QTest.keyClicks(room.page.window().focusWidget(), "GIT bash")
    await until(lambda: room.shown == ["bash(command=git status*)", "bash(command=git push*)"], "both words")
    room.tab.list.decision.setCurrentIndex(room.tab.list.decision.findData("deny"))
    assert room.shown == ["bash(command=git push*)"]
    room.tab.list.origin.setCurrentIndex(room.tab.list.origin.findData("request"))
    assert room.shown == []
    assert "Nothing found" in words(room.tab.list)
    room.tab.list._clear()
    assert len(room.shown) == 7
    assert (room.tab.list.field.text(), room.tab.list.decision.currentIndex()) == ("", 0)


async def test_escape_empties_the_search_and_down_goes_to_the_rows(room: Room) -> None:
    room.page.show_rules()
    room.page.begin_find()
    QTest.keyClicks(room.tab.list.field, "write")
    await until(lambda: room.shown == ["write-file"], "one")
    press(room.tab.list.field, Key.Key_Down)
    assert room.page.window().focusWidget() is room.tab.list.rows
    assert room.tab.current.pattern == "write-file"
    room.page.begin_find()
    press(room.tab.list.field, Key.Key_Escape)
    await until(lambda: len(room.shown) == 4, "all")


async def test_arrow_keys_move_return_edits_and_escape_comes_back_to_the_row(room: Room) -> None:
    await room.keep("bash(command=ls*)", "bash(command=pwd)")
    room.page.show_rules()
    rows = room.tab.list.rows
    room.current("bash(command=ls*)")
    press(rows, Key.Key_Down)
    press(rows, Key.Key_Return)
    assert room.editor.draft.pattern == "bash(command=pwd)"
    assert room.page.window().focusWidget() is room.field
    press(room.field, Key.Key_Escape)
    assert room.editor.draft is None
    assert not room.tab.panel.isVisible()
    assert room.page.window().focusWidget() is rows
    assert room.tab.current.pattern == "bash(command=pwd)"


@pytest.mark.spec("R-PRM-11")
async def test_delete_revokes_at_once_with_a_way_back(room: Room) -> None:
    await room.keep("bash(command=ls*)", "bash(command=pwd)")
    room.page.show_rules()
    room.current("bash(command=ls*)")
    press(room.tab.list.rows, Key.Key_Delete)
    await until(lambda: room.mine == {"bash(command=pwd)": "allow"}, "revoked")
    await until(lambda: room.tab.toast.text == "Revoked: bash(command=ls*)", "the way back")
    assert room.tab.current.pattern == "bash(command=pwd)", "the keys stay where they were"
    room.tab.toast._undo.click()
    await until(lambda: len(room.mine) == 2, "back")
    assert not room.tab.toast.isVisible()


async def test_what_is_built_in_is_neither_edited_nor_revoked_and_says_why(room: Room) -> None:
    room.page.show_rules()
    room.current("bash")
    for key in (Key.Key_Return, Key.Key_Delete):
        press(room.tab.list.rows, key)
        assert "Built in: it cannot be changed here" in room.tab.toast.text
        assert room.editor.draft is None
    enabled = {action.text().split("\t")[0]: action.isEnabled() for action in room.tab.make_menu().actions()}
    assert enabled == {
        "Edit": False,
        "Duplicate": True,
        "Allow instead…": False,
        "Deny instead": False,
        "Copy the pattern": True,
        "Revoke": False,
    }


@pytest.mark.spec("R-PRM-12")
async def test_a_rule_turns_into_asking_or_denying_at_once_and_back(room: Room) -> None:
    await room.keep("bash(command=git push*)")
    room.page.show_rules()
    room.current("bash(command=git push*)")
    room.tab.act("deny")
    await until(lambda: room.mine == {"bash(command=git push*)": "deny"}, "it denies")
    await until(lambda: room.tab.toast.text == "Denies now: bash(command=git push*)", "the way back")
    room.tab.toast._undo.click()
    await until(lambda: room.mine == {"bash(command=git push*)": "allow"}, "it allows again")


async def test_turning_into_allow_opens_the_editor_because_that_may_let_something_through(room: Room) -> None:
    await room.keep("bash(command=git push*)", decision="deny")
    room.page.show_rules()
    room.current("bash(command=git push*)")
    room.tab.act("allow")
    assert (room.editor.draft.decision, room.editor.dirty) == ("allow", True)
    assert room.mine == {"bash(command=git push*)": "deny"}


async def test_copy_puts_the_pattern_on_the_clipboard_and_the_shortcuts_work(room: Room) -> None:
    await room.keep("bash(command=ls*)")
    room.page.show_rules()
    room.current("bash(command=ls*)")
    press(room.tab.list.rows, Key.Key_C, CONTROL)
    assert QGuiApplication.clipboard().text() == "bash(command=ls*)"
    press(room.tab.list.rows, Key.Key_D, CONTROL)
    assert (room.editor.draft.pattern, room.editor.draft.replaces) == ("bash(command=ls*)", "")
    assert room.shown[0] == "bash(command=ls*)"
    assert room.rules.model.rule(0).rule_id == DRAFT
    room.editor.close()
    press(room.tab.list.rows, Key.Key_N, CONTROL, Qt.KeyboardModifier.ShiftModifier)
    assert room.editor.draft == RuleDraft("")


async def test_a_click_on_the_dots_opens_the_menu_of_that_row(room: Room) -> None:
    await room.keep("bash(command=ls*)")
    room.page.show_rules()
    spots: list[QPoint] = []
    rows = room.tab.list.rows
    rows.menu_wanted.disconnect()
    rows.menu_wanted.connect(spots.append)
    box = rows.visualRect(room.rules.model.index(0))
    QTest.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(box.center().x(), box.center().y()))
    assert spots == []
    QTest.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(box.right() - 30, box.center().y()))
    assert len(spots) == 1
    assert room.tab.current.pattern == "bash(command=ls*)"


async def test_uses_that_are_counted_later_come_into_the_list_without_moving_it(room: Room) -> None:
    await room.keep(*(f"bash(command=tool-{n:02d}*)" for n in range(40)))
    room.page.show_rules()
    rows = room.tab.list.rows
    room.current("bash(command=tool-00*)")
    rows.verticalScrollBar().setValue(rows.verticalScrollBar().maximum())
    at = rows.verticalScrollBar().value()
    assert at > 0
    room.called("make")
    room.rules.refresh()
    place = room.shown.index("bash")
    assert room.rules.model.rule(place).uses == 1
    assert rows.verticalScrollBar().value() == at


async def test_a_rule_that_the_log_names_is_shown_whatever_the_filter(room: Room) -> None:
    (rule, _) = await room.keep("bash(command=ls*)", "bash(command=pwd)")
    room.page.show_tab("waiting")
    room.rules.choose(text="write")
    found = room.rules.find({"pattern": "bash(command=ls*)"})
    assert found.rule_id == rule.rule_id
    room.rules.show(found.rule_id)
    assert room.page.tabs.value == "rules"
    assert room.tab.current.rule_id == rule.rule_id
    assert room.rules.find({"pattern": "bash(command=rm*)"}) is None


async def test_a_narrow_page_drops_columns_and_lays_the_panel_over_the_list(room: Room) -> None:
    room.page.resize(700, 600)
    room.page.show_rules(new=True)
    assert room.tab.panel.geometry().width() == room.tab.width()
    room.page.resize(1216, 800)
    await until(lambda: room.tab.panel.width() == 384, "beside it")
    assert room.tab.list.width() == 1216 - 384


async def test_the_hint_of_the_search_is_whole_at_960(room: Room) -> None:
    room.page.resize(896, 600)
    room.page.show_rules()
    field = room.tab.list.field
    await until(lambda: field.width() > 96, "its width")
    assert field.fontMetrics().horizontalAdvance(field.placeholderText()) <= field.width() - 40


# -- what is not trusted ----------------------------------------------------------------------------------------------


@pytest.mark.spec("R-PRM-15")
async def test_a_pattern_that_hides_characters_is_written_out_in_list_tip_and_toast(room: Room) -> None:
    evil = "bash(command=git log\u202e<b>bold</b>*)"
    await room.store.rules.add(
        rule=RuleRecord("x", "bash", {}, "allow", "you", time.time(), pattern=evil, thread_id="")
    )
    await room.book.load()
    room.page.show_rules()
    rule = room.rules.rule("x")
    assert pattern_line(rule.pattern) == "bash(command=git log\\u{202e}<b>bold</b>*)"
    shown = tip(*about(rule))
    assert "&lt;b&gt;bold" in shown
    assert "\u202e" not in shown
    room.current(evil)
    press(room.tab.list.rows, Key.Key_Delete)
    await until(lambda: "Revoked" in room.tab.toast.text, "revoked")
    assert "\u202e" not in room.tab.toast.text


async def test_a_very_long_pattern_is_cut_in_the_list(room: Room) -> None:
    assert len(pattern_line("x" * 100_000)) < 500


# -- words ------------------------------------------------------------------------------------------------------------


def test_when_a_rule_was_used_last_is_said_as_people_say_it() -> None:
    now = time.mktime((2026, 11, 21, 14, 0, 0, 0, 0, -1))
    hour = 3600.0
    assert last_used(None, now) == "never"
    assert last_used(now - 4 * hour - 19 * 60, now) == "Today, 09:41"
    assert last_used(now - 15 * hour, now) == "Yesterday"
    assert last_used(now - 4 * 24 * hour, now) == time.strftime("%a", time.localtime(now - 4 * 24 * hour))
    assert last_used(now - 18 * 24 * hour, now) == f"3 {time.strftime('%b', time.localtime(now))}"
    assert last_used(now - 400 * 24 * hour, now).endswith(" 2025")


def test_where_a_rule_comes_from_names_its_project_and_its_thread() -> None:
    rule = RuleView("r", "bash", "allow", "project", "harbour")
    assert from_words(rule) == "Project: harbour"
    assert from_words(replace(rule, origin="request", thread_id="t1")) == "You, from a request, one chat"

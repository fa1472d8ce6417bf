"""The Approvals page: all runs' requests, the request in full, the activity log."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from shots.approvals_activity import SampleLog
from shots.approvals_rules import sample_rules

from desktop.domain.approval.permission import PermissionRequest
from desktop.presenter.approvals.inbox import ApprovalsViewModel
from desktop.presenter.events.bridge import Bridge
from desktop.ui.approvals.page import ApprovalsPage
from desktop.ui.approvals.request.lines_view import LinesView
from desktop.ui.theme import Theme
from desktop.ui.widgets.controls.buttons import Button
from tests.gui.approvals.conftest import settled
from tests.harness.timeouts import WAIT_S
from tests.harness.windows import activated


class Inbox:
    def __init__(self) -> None:
        self.bridge = Bridge()
        self.approvals = ApprovalsViewModel(self.bridge, SampleLog(()))
        self.rules = sample_rules(self.approvals)
        self.page = ApprovalsPage(self.approvals, self.rules, lambda thread_id: f"Title of {thread_id}")
        self.questions: list[asyncio.Task] = []

    async def ask(self, *requests: PermissionRequest) -> list[asyncio.Task]:
        self.questions += [asyncio.create_task(self.bridge.ask(request)) for request in requests]
        await settled()
        return self.questions


@pytest.fixture
async def inbox(qtbot: QtBot, theme: Theme) -> AsyncIterator[Inbox]:
    made = Inbox()
    qtbot.addWidget(made.page)
    made.page.resize(1216, 800)
    await activated(made.page)
    await settled()
    yield made
    made.bridge.deny_all()
    await asyncio.gather(*made.questions, return_exceptions=True)
    await made.bridge.shutdown(1.0)
    await settled()


@pytest.mark.spec("R-PRM-2")
async def test_what_a_called_agent_asks_names_the_thread_that_a_person_knows(
    inbox: Inbox, shell: PermissionRequest
) -> None:
    await inbox.ask(replace(shell, thread_id="hidden", above=("known", "between")))
    model = inbox.page.inbox.model
    assert "Title of known" in model.data(model.index(0), Qt.ItemDataRole.AccessibleTextRole)
    words = [label.text() for label in inbox.page.view.findChildren(QLabel)]
    assert "Title of known" in words
    assert "Title of hidden" not in words


@pytest.mark.spec("R-UI-4", "R-PRM-8")
async def test_requests_of_all_runs_are_listed_oldest_first(
    inbox: Inbox, write: PermissionRequest, shell: PermissionRequest
) -> None:
    await inbox.ask(shell, write)
    model = inbox.page.inbox.model
    said = [model.data(model.index(row), Qt.ItemDataRole.AccessibleTextRole) for row in range(model.rowCount())]
    assert ["bash" in said[0], "write-file" in said[1]] == [True, True]
    assert inbox.page.view.request == shell


async def test_moving_in_the_list_shows_another_request_and_keeps_the_keys_in_the_list(
    inbox: Inbox, write: PermissionRequest, shell: PermissionRequest
) -> None:
    await inbox.ask(shell, write)
    inbox.page.inbox.list.setFocus()
    QTest.keyClick(inbox.page.inbox.list, Qt.Key.Key_Down)
    assert inbox.page.view.request == write
    assert inbox.page.window().focusWidget() is inbox.page.inbox.list


async def test_a_new_request_does_not_replace_the_one_being_read(
    inbox: Inbox, write: PermissionRequest, shell: PermissionRequest
) -> None:
    await inbox.ask(shell)
    await inbox.ask(write)
    assert inbox.page.view.request == shell


@pytest.mark.spec("R-PRM-3")
async def test_the_page_puts_the_keys_on_deny(inbox: Inbox, write: PermissionRequest) -> None:
    questions = await inbox.ask(write)
    inbox.page.first_focus().setFocus(Qt.FocusReason.OtherFocusReason)
    QTest.keyClick(inbox.page.window().focusWidget(), Qt.Key.Key_Space)
    assert (await asyncio.wait_for(questions[0], WAIT_S)).choice == "deny"


async def test_when_nothing_waits_it_says_so(inbox: Inbox, write: PermissionRequest) -> None:
    questions = await inbox.ask(write)
    inbox.page.view._answer("deny")
    await asyncio.wait_for(questions[0], WAIT_S)
    await settled()
    assert inbox.page.view.request is None
    assert inbox.page._right.currentWidget().accessibleName().startswith("Nothing waits for you")


async def test_in_a_narrow_window_the_list_folds_and_the_path_stands_in_one_line(
    inbox: Inbox, write: PermissionRequest
) -> None:
    inbox.page.resize(836, 600)
    await inbox.ask(write)
    await settled()
    assert inbox.page.folding.is_folded
    assert not inbox.page.inbox.isVisible()
    assert inbox.page.folding.button.isVisible()
    path = next(label for label in inbox.page.findChildren(QLabel) if label.text() == write.paths[0])
    assert path.height() < 2 * path.fontMetrics().height()
    diff = next(view for view in inbox.page.view.findChildren(LinesView) if view.accessibleName() == "Changes")
    assert diff.visibleRegion().boundingRect().height() >= 60
    inbox.page.resize(1216, 800)
    await settled()
    assert not inbox.page.folding.is_folded


@pytest.mark.spec("R-PRM-2", "R-PRM-11")
async def test_a_request_that_a_rule_asks_for_names_it_and_leads_to_it(
    inbox: Inbox, write: PermissionRequest, shell: PermissionRequest
) -> None:
    rule = next(found for found in inbox.rules.rules.rules if found.editable)
    await inbox.ask(replace(write, rule=rule.pattern), shell)
    shown = [label.text() for label in inbox.page.view.findChildren(QLabel)]
    assert rule.pattern in shown
    wanted: list[str] = []
    inbox.rules.rules.wanted.connect(wanted.append)
    next(b for b in inbox.page.view.findChildren(Button) if b.label == "Show the rule").click()
    assert wanted == [rule.rule_id]
    assert inbox.page.tabs.value == "rules"
    inbox.page.open_request(shell.request_id)
    assert not any(b.label == "Show the rule" for b in inbox.page.view.findChildren(Button))

"""Requests on a real bridge, answered through the real view-model by pressing keys and buttons."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot
from shots.samples import new_file_request, shell_request, write_request

from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.presenter.approvals.inbox import ApprovalsViewModel
from desktop.presenter.events.bridge import Bridge
from desktop.ui.approvals.request.dialog import RequestDialog
from desktop.ui.approvals.request.lines_view import LinesView
from desktop.ui.theme import Theme
from tests.harness.timeouts import until
from tests.harness.windows import activated

DEAF_OVER = 0.5  # seconds: safely more than the 400 ms of R-PRM-14


class DialogBench:
    """A window with a field one types in, the dialog over it, and runs that ask."""

    def __init__(self, window: QWidget, field: QLineEdit, bridge: Bridge) -> None:
        self.window, self.field, self.bridge = window, field, bridge
        self.approvals = ApprovalsViewModel(bridge, _no_activity)
        self.dialog = RequestDialog(window, self.approvals, lambda thread_id: f"Title of {thread_id}")
        self._questions: list[asyncio.Task[Decision]] = []

    async def ask(self, request: PermissionRequest) -> "asyncio.Task[Decision]":
        """A run asks; its thread is the open one."""
        question = asyncio.create_task(self.bridge.ask(request))
        self._questions.append(question)
        self.dialog.show_for(request.thread_id)
        await settled()
        await until(lambda: not self._compares(), "what would change is shown")
        return question

    def _compares(self) -> bool:
        return any("comparing…" in view.text() for view in self.dialog.findChildren(LinesView) if view.isVisible())

    async def awake(self) -> None:
        """Until every answer of the shown request listens and looks like it, however long this machine takes."""

        def listens() -> bool:
            given = self.dialog.view.answers
            shown = () if given is None else [one for one in (given.allow, given.allow_run) if one.isVisible()]
            return bool(shown) and not any(one.deaf or one.kind == "deaf" for one in shown)

        await until(listens, "the answers listen")

    async def end(self) -> None:
        self.bridge.deny_all()
        await asyncio.gather(*self._questions, return_exceptions=True)
        await self.bridge.shutdown(1.0)


async def _no_activity(_filter: str, _limit: int) -> tuple:
    return ()


async def settled(seconds: float = 0.03) -> None:
    """Layout, paint and signals have happened."""
    await asyncio.sleep(seconds)


@pytest.fixture
async def bench(qtbot: QtBot, theme: Theme) -> AsyncIterator[DialogBench]:
    window = QWidget()
    window.resize(1100, 780)
    field = QLineEdit()
    QVBoxLayout(window).addWidget(field)
    qtbot.addWidget(window)
    made = DialogBench(window, field, Bridge())
    await activated(window)
    await settled()
    field.setFocus()
    yield made
    await made.end()
    await settled()


def same_thread(*requests: PermissionRequest) -> list[PermissionRequest]:
    """The requests as if one thread had asked them all."""
    return [replace(request, thread_id="t") for request in requests]


@pytest.fixture
def write() -> PermissionRequest:
    """Its first change only: short enough to be seen whole at once, so that only the deaf time holds an answer."""
    request = write_request()
    short = {side: str(request.preview[side]).partition("## When")[0] for side in ("before", "after")}
    return replace(request, preview={**request.preview, **short})


@pytest.fixture
def new_file() -> PermissionRequest:
    """Short enough to be seen whole at once, so that only the deaf time holds an answer."""
    request, text = new_file_request(), "time,level_m,flag\n2026-03-01T00:00Z,1.10,ok\n"
    return replace(
        request, arguments={**request.arguments, "content": text}, preview={**request.preview, "after": text}
    )


@pytest.fixture
def shell() -> PermissionRequest:
    return shell_request()

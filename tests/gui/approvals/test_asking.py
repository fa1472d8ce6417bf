"""A server's question over the window: its fields, what is wrong in them, who gets the keys, and how it ends."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from PySide6.QtCore import Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from desktop.app.wiring.lazy_request import LazyAsking
from desktop.domain.approval.permission import AuditEntry
from desktop.domain.servers.questions import PersonAnswer
from desktop.presenter.mcp.questions import ServerQuestionsViewModel
from desktop.tools.mcp.asking.questions import CallUnderWay, PersonQuestions
from desktop.tools.mcp.definitions import McpDefinition
from desktop.ui.approvals.asking.dialog import AskingDialog
from desktop.ui.widgets.controls.fields import Combo, Field
from desktop.ui.widgets.scaling import Column
from tests.harness.timeouts import until

pytestmark = [pytest.mark.spec("R-MCP-4"), pytest.mark.asyncio(loop_scope="function")]
TICKETS = McpDefinition("tickets", url="https://tickets.harbour.example/mcp")
FORM = {
    "type": "object",
    "properties": {
        "quay": {"type": "string", "title": "Quay", "enum": ["q1", "q3"], "enumNames": ["Quay 1", "Quay 3"]},
        "mail": {"type": "string", "title": "Call back at", "format": "email"},
        "count": {"type": "integer", "title": "Boats", "minimum": 1, "default": 2},
        "stop": {"type": "boolean", "title": "Stop the gauge", "default": True},
    },
    "required": ["quay", "count"],
}


class Desk:
    """A window with a field that a person writes in, and a server that asks."""

    def __init__(self) -> None:
        self.window = QWidget()
        self.window.resize(960, 640)
        self.writing = Field("Message")
        Column(self.window).addWidget(self.writing)
        self.audit: list[AuditEntry] = []
        self.questions = PersonQuestions(self._write)
        self.shower = LazyAsking(self.window, ServerQuestionsViewModel(self.questions))
        self.notes: list[str] = []
        self.stopped = 0
        self.paused = 0
        self.call = CallUnderWay(
            ("Workbench",), "tickets-create", "run", "thread", "c1", self._pause, self.notes.append, self._stop
        )
        self.window.show()

    async def _write(self, entry: AuditEntry) -> int:
        self.audit.append(entry)
        return len(self.audit)

    def _pause(self) -> Any:
        self.paused += 1

        def resume() -> None:
            self.paused -= 1

        return resume

    def _stop(self) -> None:
        self.stopped += 1

    def ask(self, schema: Mapping[str, Any] | None = None, **more: Any) -> "asyncio.Task[dict[str, Any]]":
        payload = {"message": "Where is it?", "requestedSchema": schema or FORM, **more}
        return asyncio.ensure_future(self.questions.ask(TICKETS, payload, [self.call], self.notes.append))

    async def dialog(self) -> AskingDialog:
        await self.until(lambda: self.shower.dialog is not None and self.shower.dialog.isVisible())
        assert self.shower.dialog is not None
        return self.shower.dialog

    async def escape(self, dialog: AskingDialog) -> None:
        """Press it when it is heard: not at once, for it may have been meant for something else."""
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        assert dialog.isVisible()
        await self.until(lambda: not dialog.send.deaf)
        QTest.keyClick(dialog, Qt.Key.Key_Escape)

    async def until(self, true: Any) -> None:
        await until(true)


@pytest.fixture
def desk(theme: object) -> Iterator[Desk]:
    made = Desk()
    yield made
    made.window.close()
    made.window.deleteLater()


def of(dialog: AskingDialog, name: str) -> Any:
    return next(w for w in dialog.findChildren(QWidget) if w.accessibleName().startswith(name))


async def test_what_a_person_fills_in_is_sent_and_nothing_before_all_of_it_fits(desk: Desk) -> None:
    asking = desk.ask()
    dialog = await desk.dialog()
    assert desk.paused == 1
    assert not dialog.send.isEnabled()
    quay, mail = of(dialog, "Quay"), of(dialog, "Call back at")
    assert isinstance(quay, Combo)
    assert isinstance(mail, Field)
    quay.setCurrentIndex(2)
    assert dialog.send.isEnabled()
    mail.setFocus()
    QTest.keyClicks(mail, "quay office")
    assert not dialog.send.isEnabled()
    assert not mail.wrong
    of(dialog, "Boats").setFocus()
    assert mail.wrong
    assert "e-mail" in mail.accessibleDescription()
    mail.setText("quay@harbour.example")
    assert not mail.wrong
    dialog.send.click()
    content = {"quay": "q3", "mail": "quay@harbour.example", "count": 2, "stop": True}
    assert await asking == {"action": "accept", "content": content}
    assert desk.paused == 0
    assert desk.shower.dialog is None
    assert [(one.decision, one.by) for one in desk.audit] == [("answered", "user")]
    assert "quay@harbour" not in repr(desk.audit)
    assert "q3" not in repr(desk.audit)


async def test_escape_refuses_and_the_call_goes_on(desk: Desk) -> None:
    asking = desk.ask()
    dialog = await desk.dialog()
    await desk.escape(dialog)
    assert await asking == {"action": "decline"}
    assert desk.stopped == 0
    assert [one.decision for one in desk.audit] == ["declined"]


async def test_a_person_can_stop_the_call_instead(desk: Desk) -> None:
    asking = desk.ask()
    (await desk.dialog()).buttons["stop"].click()
    assert await asking == {"action": "cancel"}
    assert desk.stopped == 1


async def test_return_sends_nothing_from_a_field(desk: Desk) -> None:
    asking = desk.ask()
    dialog = await desk.dialog()
    of(dialog, "Quay").setCurrentIndex(1)
    boats = of(dialog, "Boats")
    boats.setFocus()
    QTest.keyClick(boats, Qt.Key.Key_Return)
    assert not asking.done()
    asking.cancel()


async def test_who_is_writing_keeps_the_keys_until_they_want_to_answer(desk: Desk) -> None:
    desk.window.activateWindow()
    desk.writing.setFocus()
    asking = desk.ask()
    dialog = await desk.dialog()
    QTest.keyClicks(desk.window.focusWidget(), "half a sen")
    assert desk.writing.text() == "half a sen"
    dialog.take_keys()
    assert dialog.isAncestorOf(desk.window.focusWidget())
    await desk.escape(dialog)
    assert await asking == {"action": "decline"}
    assert desk.window.focusWidget() is desk.writing


async def test_a_question_whose_call_ended_goes_away(desk: Desk) -> None:
    asking = desk.ask()
    await desk.dialog()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert desk.shower.dialog is None
    assert not [one for one in desk.window.findChildren(AskingDialog) if one.isVisible()]
    assert [one.decision for one in desk.audit] == ["unanswered"]
    assert desk.paused == 0


async def test_two_questions_are_asked_one_after_the_other(desk: Desk) -> None:
    desk.window.activateWindow()
    desk.writing.setFocus()
    first, second = desk.ask(), desk.ask(message="And when?")
    dialog = await desk.dialog()
    assert desk.window.focusWidget() is desk.writing
    await desk.until(lambda: "1 more question waits" in dialog._whose.text())
    dialog.answer("decline")
    assert [one.message for one in desk.questions.waiting] == ["And when?"]
    await first
    await desk.until(lambda: desk.shower.dialog is not dialog)
    latter = await desk.dialog()
    assert latter.question.message == "And when?"
    await desk.until(lambda: latter.isAncestorOf(desk.window.focusWidget() or desk.writing))
    latter.answer("decline")
    assert await second == {"action": "decline"}


async def test_a_page_is_opened_by_a_click_only_and_its_address_is_shown(desk: Desk) -> None:
    opened: list[QUrl] = []
    receiver = _Receiver(opened)
    QDesktopServices.setUrlHandler("https", receiver, "take")
    try:
        url = "https://visits.harbour.example/confirm?x=1"
        asking = desk.ask(mode="url", url=url)
        dialog = await desk.dialog()
        assert any(url in getattr(one, "text", str)() for one in dialog.findChildren(QWidget) if hasattr(one, "text"))
        assert not opened
        dialog.send.click()
        assert await asking == {"action": "accept"}
        assert opened == [QUrl(url)]
    finally:
        QDesktopServices.unsetUrlHandler("https")


async def test_a_host_in_letters_that_look_like_others_is_shown_as_it_is_written(desk: Desk) -> None:
    asking = desk.ask(mode="url", url="https://xn--pple-43d.com/login")
    dialog = await desk.dialog()
    shown = [getattr(one, "text", str)() for one in dialog.findChildren(QWidget) if hasattr(one, "text")]
    assert any("xn--pple-43d.com" in one and "It asks you to open" in one for one in shown)
    assert not any("\u0430pple" in one for one in shown)
    desk.questions.answer(desk.questions.waiting[0].question_id, PersonAnswer("decline"))
    assert await asking == {"action": "decline"}


async def test_what_the_server_says_is_shown_as_it_is_and_hides_nothing(desk: Desk) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "title": "<b>Bold</b> & \u202eesrever"}}}
    asking = desk.ask(schema, message="<img src=x> \x1b[2J Yes?")
    dialog = await desk.dialog()
    texts = [one.text() for one in dialog.findChildren(QWidget) if hasattr(one, "text")]
    assert "<img src=x> [2J Yes?" in texts
    assert any(one.startswith("<b>Bold</b> & esrever") for one in texts)
    asking.cancel()


async def test_nobody_is_asked_without_a_window(desk: Desk) -> None:
    desk.shower._questions.close()
    assert await desk.ask() == {"action": "decline"}
    assert "Nobody is here to be asked" in desk.notes[0]
    assert [(one.decision, one.by) for one in desk.audit] == [("refused", "form")]


async def test_a_form_that_asks_for_a_password_never_reaches_the_person(desk: Desk) -> None:
    schema = {"type": "object", "properties": {"password": {"type": "string"}}}
    assert await desk.ask(schema) == {"action": "decline"}
    assert desk.shower.dialog is None
    assert "asks for what looks like a password" in desk.notes[0]
    assert "password" in desk.audit[0].extra["reason"]


async def test_an_answer_to_a_question_that_is_gone_is_sent_to_nobody(desk: Desk) -> None:
    asking = desk.ask()
    dialog = await desk.dialog()
    question_id = dialog.question.question_id
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert not desk.shower._questions.send(question_id, {"quay": "q1", "count": 1})


class _Receiver(QWidget):
    def __init__(self, opened: list[QUrl]) -> None:
        super().__init__()
        self._opened = opened

    @Slot(QUrl)
    def take(self, url: QUrl) -> None:
        self._opened.append(url)

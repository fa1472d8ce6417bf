"""Text at 200 % in the smallest usual window: everything can be reached by mouse and by keys, and nothing is cut."""

import asyncio
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from desktop.ui.approvals.request.answers import Answers
from desktop.ui.approvals.request.reading import UnreadNotice
from desktop.ui.settings.models.page import ModelsPage
from desktop.ui.theme import Theme
from tests.gui.app.kit import call
from tests.harness.timeouts import WAIT_S
from tests.harness.windows import activated

LEFT = Qt.MouseButton.LeftButton


def whole(widget: QWidget) -> bool:
    """In sight from edge to edge."""
    where = widget.visibleRegion().boundingRect()
    inside = widget.window().rect().contains(widget.mapTo(widget.window(), QPoint(0, 0)))
    return inside and where.size() == widget.size() and widget.width() >= widget.sizeHint().width()


def offered(answers: Answers) -> list[QWidget]:
    found = (answers.deny, answers.reason, answers.edit, answers.always, answers.allow_run, answers.allow)
    return [button for button in found if not button.isHidden()]


async def large(start: Any, theme: Theme, *rounds: Any) -> Any:
    app = await start(*rounds)
    theme.set_scale(2.0)
    app.window.resize(960, 600)
    return app


@pytest.mark.spec("R-PRM-2", "R-PRM-3")
async def test_a_request_is_read_to_its_end_and_answered_by_mouse(start: Any, theme: Theme) -> None:
    command = "\n".join(f"echo {n} > made-{n}" for n in range(7))
    app = await large(start, theme, call("bash", command=command), call("bash", command="rm x"), [{"text": "Done."}])
    app.models.chat.send("go")
    await app.until_true(lambda: [one for one in app.window.findChildren(Answers) if one.isVisible()], "the request")

    def answers() -> Answers:
        return next(one for one in app.window.findChildren(Answers) if one.isVisible())

    def notices() -> list[UnreadNotice]:
        return [one for one in app.window.findChildren(UnreadNotice) if one.isVisible()]

    await app.until_true(notices, "the words about what was not seen")
    notice = notices()[0]
    await app.until_true(lambda: all(whole(button) for button in offered(answers())), "what does not allow in sight")
    assert answers().allow not in offered(answers()), "its room is the request's until that was read"
    assert answers().deny in offered(answers())
    view = notice._view
    async with asyncio.timeout(WAIT_S):
        while not view.is_read:
            if whole(notice.button):
                QTest.mouseClick(notice.button, LEFT)
            await asyncio.sleep(0.02)
    await app.until_true(lambda: answers().allow in offered(answers()), "what allows")
    await app.until_true(lambda: all(whole(button) for button in offered(answers())), "all answers in sight")
    assert answers().reason.accessibleName() == "Drop with a reason…"
    app.startup._shell.go("approvals")
    inbox = app.window.page("approvals")
    await app.until_true(lambda: [one for one in inbox.findChildren(Answers) if one.isVisible()], "the inbox")
    await app.until_true(lambda: all(whole(button) for button in offered(answers())), "all answers in the inbox")
    app.startup._shell.go("chats")
    chats = app.window.page("chats")
    await app.until_true(lambda: [one for one in chats.findChildren(Answers) if one.isVisible()], "the chat")
    async with asyncio.timeout(WAIT_S):
        while app.models.approvals.pending_count:
            if not answers().allow.deaf:  # it is deaf anew whenever it has moved
                QTest.mouseClick(answers().allow, LEFT)
            await asyncio.sleep(0.02)
    await app.answered("Done.")
    assert (app.home.path / "workspace" / "made-6").exists()


async def test_the_settings_of_models_are_as_wide_as_their_page(start: Any, theme: Theme) -> None:
    app = await large(start, theme)
    app.startup._shell.go("settings")
    page = app.window.page("settings")
    page.show_settings("Models")
    default = page.findChild(ModelsPage).default
    await app.until_true(default.isVisible, "the choice")
    await app.until_true(
        lambda: default.visibleRegion().boundingRect().width() == default.width() > 400, "the whole of the choice"
    )


@pytest.mark.parametrize(("keys", "scale"), [("+", 1.1), ("=", 1.1), ("-", 0.9)])
async def test_control_with_plus_and_minus_changes_the_size_of_all_text_and_nought_takes_it_back(
    start: Any, theme: Theme, keys: str, scale: float
) -> None:
    app = await start([{"text": "unused"}])
    await activated(app.window)
    QTest.keyClick(app.window, keys, Qt.KeyboardModifier.ControlModifier)
    await app.until_true(lambda: theme.scale == pytest.approx(scale), "another size")
    QTest.keyClick(app.window, "0", Qt.KeyboardModifier.ControlModifier)
    await app.until_true(lambda: theme.scale == 1.0, "the usual size")

"""Where a request stands: beside the conversation that explains it, where the window has room for both."""

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QWidget

from desktop.ui.widgets.focus import FocusRing
from tests.gui.app.kit import HELLO, Running, call
from tests.harness.timeouts import WAIT_MS

WRITE = call("write_file", path="a.txt", content="x\n" * 30)


def place(app: Running, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(app.window, QPoint(0, 0)), widget.size())


def box(app: Running) -> QRect:
    """The request without its shadow."""
    dialog = app.startup._pages._dialog.dialog
    assert dialog.isVisible()
    return dialog.box().translated(dialog.mapTo(app.window, QPoint(0, 0)))


async def asked(app: Running) -> None:
    app.say("Write it")
    await app.asked()
    await app.until(lambda: app.startup._pages._dialog.dialog is not None, "the request")


@pytest.mark.parametrize("panel", ["", "agents"])
async def test_in_a_wide_window_it_covers_nothing_of_the_conversation(start: Callable[..., Any], panel: str) -> None:
    app = await start(*[WRITE, HELLO] * 3)
    app.page.show_side(panel)
    words = app.page.pane.transcript
    for width in (1280, 1440, 2200):
        app.window.resize(width, 800)
        await asked(app)
        await app.until(lambda: not box(app).intersects(place(app, words)), f"both beside each other, {width}")
        assert words.width() >= 340
        assert box(app).width() >= 340
        assert box(app).bottom() <= place(app, app.composer).top()
        assert box(app).right() < app.window.width()
        before = words.width()
        (request,) = app.models.approvals.requests
        app.models.approvals.answer(request.request_id, "deny", digest=request.digest)
        await app.until(lambda before=before: words.width() > before, f"the room again, {width}")
        await app.until(lambda: not app.running, "its end")
        app.page.new_chat()
        await app.until(lambda: not app.items, "a new chat")


async def test_in_a_narrow_window_it_lies_over_the_conversation_and_makes_way_when_there_is_room(
    start: Callable[..., Any],
) -> None:
    app = await start(WRITE, HELLO)
    app.window.resize(1279, 800)
    await asked(app)
    words = app.page.pane.transcript
    await app.until(lambda: box(app).intersects(place(app, words)), "one over the other")
    app.window.resize(1280, 800)
    await app.until(lambda: not box(app).intersects(place(app, words)), "both beside each other")
    app.window.resize(1000, 800)
    await app.until(lambda: box(app).intersects(place(app, words)), "one over the other")
    assert words.width() == app.page.pane.width()


async def test_another_thread_has_all_its_room(start: Callable[..., Any]) -> None:
    app = await start(WRITE, HELLO)
    app.window.resize(1440, 800)
    await asked(app)
    pane = app.page.pane
    await app.until(lambda: pane.conversation.kept > 0, "room beside it")
    app.page.new_chat()
    await app.until(lambda: pane.conversation.kept == 0, "no room")


async def test_after_stop_with_a_message_waiting_the_conversation_has_its_room_at_once(
    start: Callable[..., Any],
) -> None:
    """Nothing can follow that it would have to stay narrow for."""
    app = await start(WRITE, HELLO)
    app.window.resize(1440, 800)
    await asked(app)
    pane, dialog = app.page.pane, app.startup._pages._dialog.dialog
    await app.until(lambda: pane.conversation.kept > 0, "room beside it")
    dialog._linger.setInterval(WAIT_MS * 2)
    app.say("And this")
    app.models.chat.stop()
    await app.until(lambda: not app.running, "its end")
    await app.until(lambda: pane.conversation.kept == 0, "all the room")


async def test_what_another_chat_asks_does_not_keep_this_one_narrow(start: Callable[..., Any]) -> None:
    app = await start(WRITE, [{"text": "On. "}, {"wait": 600}])
    app.window.resize(1440, 800)
    await asked(app)
    dialog = app.startup._pages._dialog.dialog
    (request,) = app.models.approvals.requests
    app.models.approvals.answer(request.request_id, "deny", digest=request.digest)
    await app.until(dialog.isHidden, "it goes")
    assert dialog._linger.isActive()
    dialog._linger.stop()
    app.models.approvals.changed.emit()
    assert not dialog._linger.isActive()


@pytest.mark.parametrize("scale", [1.0, 2.0])
async def test_wherever_it_stands_it_names_its_key_and_nothing_of_its_head_is_cut(
    start: Callable[..., Any], scale: float
) -> None:
    """Also with another request waiting."""
    app = await start(WRITE, repeat=True)
    await app.startup._services.settings.update("appearance.text_scale", scale)
    app.window.resize(960, 800)
    await asked(app)
    app.page.new_chat()
    app.say("Write it again")
    await app.until(lambda: len(app.models.approvals.requests) == 2, "two requests")
    dialog = app.startup._pages._dialog.dialog
    for width in (960, 1280, 1440, 1280, 960):
        app.window.resize(width, 800)
        await app.until(lambda: dialog._head.width() > 0 and cut(dialog) == [], f"a whole head, {width}; {cut(dialog)}")
        labels = [dialog._pending.accessibleName(), dialog._deny_all.accessibleName()]
        assert labels == ["1 more waiting", "Deny all from this run"]


def cut(dialog: Any) -> list[str]:
    """What of its head is cut off."""
    head = dialog._head
    parts = [one for one in head.findChildren(QWidget) if one.isVisible() and not isinstance(one, FocusRing)]
    small = [one.accessibleName() or type(one).__name__ for one in parts if one.width() < one.sizeHint().width()]
    outside = [one.accessibleName() for one in parts if not head.rect().contains(one.geometry())]
    return [*small, *outside, *([] if dialog._keys.isVisible() else ["its key"])]

"""Every control of every page lies inside its card and its page, in windows of every usual width and size of text."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QWidget,
)

from desktop.ui.settings.page import PAGES
from desktop.ui.theme import Theme

CONTROLS = (QAbstractButton, QComboBox, QLineEdit, QAbstractSpinBox, QPlainTextEdit, QAbstractSlider)
WIDTHS = (960, 1280, 1600, 2560)
ROOMS = ("chats", "debates", "skills", "approvals", "schedules")


def controls(page: QWidget) -> Iterator[QWidget]:
    for found in page.findChildren(QWidget):
        inner = isinstance(found.parentWidget(), QComboBox | QAbstractSpinBox | QScrollBar)
        if isinstance(found, CONTROLS) and not isinstance(found, QScrollBar) and found.isVisible() and not inner:
            yield found


def misplaced(control: QWidget, page: QWidget) -> str:
    """What is wrong with where it lies, or nothing. What is scrolled may lie below or above what is seen."""
    name = f"{type(control).__name__} {control.accessibleName() or getattr(control, 'text', str)()!r}"
    if control.width() < 8 or control.height() < 8:
        return f"{name} is {control.width()} × {control.height()}"
    parent, scrolled = control.parentWidget(), False
    while parent is not None and parent is not page.parentWidget():
        box = QRect(control.mapTo(parent, QPoint(0, 0)), control.size())
        room = parent.rect()
        area = parent.parentWidget()
        if isinstance(area, QAbstractScrollArea) and parent is area.viewport():
            scrolled = True
            if area.horizontalScrollBar().maximum() > 0:
                return ""
        if scrolled:
            box.setTop(room.top())
            box.setBottom(room.bottom())
        if not room.contains(box):
            return f"{name} at {box.getRect()} lies outside {type(parent).__name__} {room.getRect()}"
        parent = area
    return ""


async def settled(page: QWidget) -> list[QWidget]:
    """The controls, once their places no longer change."""
    before: list[Any] = []
    same = 0
    while same < 3:
        await asyncio.sleep(0.01)
        found = list(controls(page))
        now = [(id(one), one.mapTo(page, QPoint(0, 0)).toTuple(), one.size().toTuple()) for one in found]
        same, before = same + 1 if now == before else 0, now
    return found


@pytest.mark.parametrize("scale", [1.0, 2.0])
async def test_every_control_lies_inside_its_card(start: Any, theme: Theme, scale: float) -> None:
    app = await start()
    theme.set_scale(scale)
    settings = [f"settings/{title}" for title, _, _ in PAGES]
    wrong: list[str] = []
    seen = 0
    for width in WIDTHS:
        app.window.resize(width, 800)
        for place in (*ROOMS, *settings):
            room, _, title = place.partition("/")
            app.startup._shell.go(room)
            await app.until_true(lambda room=room: app.window.page(room).isVisible(), place)
            page = app.window.page(room)
            if title:
                page.show_settings(title)
            found = await settled(page)
            seen += len(found)
            wrong += [f"{place}, {width} px: {why}" for one in found if (why := misplaced(one, page))]
    assert seen > 100 * len(WIDTHS)
    assert not wrong, "\n".join(dict.fromkeys(wrong))

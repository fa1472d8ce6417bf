"""The transcript for assistive technology: a list of messages, each with its name, its text and its buttons.

Interfaces are made when they are asked for, so that 10,000 messages cost nothing until a screen reader walks them.
A finished reply is announced once.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, QPoint, QRect
from PySide6.QtGui import (
    QAccessible,
    QAccessibleActionInterface,
    QAccessibleAnnouncementEvent,
    QAccessibleEvent,
    QAccessibleInterface,
    QWindow,
)
from PySide6.QtWidgets import QAccessibleWidget, QWidget
from shiboken6 import Shiboken

from desktop.presenter.transcript.items import TranscriptItem
from desktop.ui.transcript.accessible_text import spoken_text
from desktop.ui.transcript.message import Message
from desktop.ui.transcript.pieces.base import Spot
from desktop.ui.transcript.surface import Surface

ANNOUNCED = 600
KEPT = 400
"""Message interfaces kept at a time."""
Role = QAccessible.Role
Text = QAccessible.Text
_NONE: Any = Shiboken.VoidPtr(0)
"""A null pointer: shiboken would turn Python's None into one that is not null."""


class TranscriptAccessibility:
    """Owns the view's interfaces and says what has to be said."""

    def __init__(self, view: Surface) -> None:
        self._view = view
        self._list: ListInterface | None = None
        QAccessible.installFactory(_factory)

    def interface(self) -> ListInterface:
        """The accessible list, made at first use."""
        if self._list is None:
            self._list = ListInterface(self._view)
        return self._list

    def reset(self) -> None:
        """Messages came or went: interfaces are made anew when asked for."""
        if self._list is not None:
            self._list.forget()

    def announce(self, message: Message) -> None:
        """A reply is finished: said once."""
        text = f"{message.item.author} answered: {spoken_text(message.item, 2 * ANNOUNCED)}"[:ANNOUNCED]
        self._view.announced.emit(text)
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._view, text))

    def focus(self, index: int) -> None:
        """Keys are at a message."""
        if QAccessible.isActive() and self._list is not None:
            _tell_focus(self._list.message(index))

    def focus_spot(self, index: int, spot: Spot) -> None:
        """Keys are at a spot."""
        if QAccessible.isActive() and self._list is not None:
            _tell_focus(self._list.message(index).spot(spot.key))


def _tell_focus(interface: QAccessibleInterface | None) -> None:
    if interface is not None:
        QAccessible.updateAccessibility(QAccessibleEvent(interface, QAccessible.Event.Focus))


def _factory(key: str, thing: QObject) -> QAccessibleInterface | None:
    """Qt asks for the interface of each widget once; only transcripts are ours."""
    del key
    accessibility = getattr(thing, "accessibility", None)
    return accessibility.interface() if isinstance(accessibility, TranscriptAccessibility) else None


class ListInterface(QAccessibleWidget):
    """The accessible object of the view itself: a list of messages."""

    def __init__(self, view: Surface) -> None:
        super().__init__(view, Role.List, "Conversation")
        self.view = view
        self._messages: dict[Message, MessageInterface] = {}

    def message(self, index: int) -> MessageInterface:
        """The interface of a message."""
        message = self.view.page.messages[index]
        found = self._messages.get(message)
        if found is None:
            if len(self._messages) >= KEPT:
                self.forget()
            found = self._messages[message] = MessageInterface(self, message)
            found.register()
        return found

    def forget(self) -> None:
        """Gives up the interfaces of all messages."""
        messages, self._messages = self._messages, {}
        for interface in messages.values():
            interface.unregister()

    def childCount(self) -> int:
        return len(self.view.page)

    def child(self, index: int) -> Any:
        return self.message(index) if 0 <= index < len(self.view.page) else None

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        if isinstance(child, MessageInterface):
            return child.index()
        return -1

    def childAt(self, x: int, y: int) -> Any:
        point = self.view.viewport().mapFromGlobal(QPoint(x, y))
        if not self.view.viewport().rect().contains(point):
            return None
        found = self.view.pointer.message_at(point.y())
        return self.message(found[0]) if found else None

    def focusChild(self) -> Any:
        current = self.view.keys.current
        return self.child(current) if current is not None and self.view.hasFocus() else None


class _Virtual(QAccessibleInterface):
    """Something on the page that is no widget."""

    def __init__(self, view: Surface) -> None:
        super().__init__()
        self.view = view
        self._id: int | None = None

    def register(self) -> None:
        """Makes it known to Qt."""
        self._id = QAccessible.registerAccessibleInterface(self)

    def unregister(self) -> None:
        """Takes it from Qt, which then deletes its half."""
        if self._id is not None and Shiboken.isValid(self):
            QAccessible.deleteAccessibleInterface(self._id)

    def isValid(self) -> bool:
        return Shiboken.isValid(self.view)

    def object(self) -> Any:
        return None

    def window(self) -> QWindow:
        return self.view.window().windowHandle()

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """Nothing here can be edited."""

    def childAt(self, x: int, y: int) -> Any:
        for index in range(self.childCount()):
            child = self.child(index)
            if child is not None and child.rect().contains(x, y):
                return child
        return None

    def childCount(self) -> int:
        return 0

    def child(self, index: int) -> Any:
        del index
        return None

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        del child
        return -1

    def interface_cast(self, kind: QAccessible.InterfaceType) -> Any:
        del kind
        return _NONE

    def on_screen(self, rect: QRect) -> QRect:
        """A rect of the viewport in global coordinates."""
        return rect.translated(self.view.viewport().mapToGlobal(QPoint(0, 0)))


class MessageInterface(_Virtual):
    """The accessible object of a message. Its first child is its text, then come its buttons, painted and real."""

    def __init__(self, owner: ListInterface, message: Message) -> None:
        super().__init__(owner.view)
        self._owner = owner
        self.message = message
        self._text = TextInterface(self)
        self._spots: dict[str, SpotInterface] = {}
        self._said: tuple[TranscriptItem, str] | None = None

    def register(self) -> None:
        super().register()
        self._text.register()

    def unregister(self) -> None:
        for child in (*self._spots.values(), self._text):
            child.unregister()
        super().unregister()

    def index(self) -> int:
        """The message's number now; -1 when it is gone."""
        place = self.view.page.place(self.message.item.message_id)
        return -1 if place is None else place

    def spot(self, key: str) -> SpotInterface:
        """The interface of a spot."""
        found = self._spots.get(key)
        if found is None:
            found = self._spots[key] = SpotInterface(self, key)
            found.register()
        return found

    def _children(self) -> list[Any]:
        if self.message.flows is None:
            return [self._text]
        found: list[Any] = [self._text]
        for spot, _ in self.message.spots():
            found.append(self.spot(spot.key))
            bar = self.view.overlays.answers.get(spot.payload) if spot.kind == "toggle" else None
            widgets: list[QWidget] = bar.buttons() if bar is not None else []
            found += [QAccessible.queryAccessibleInterface(widget) for widget in widgets]
        return found

    def parent(self) -> QAccessibleInterface:
        return self._owner

    def childCount(self) -> int:
        return len(self._children())

    def child(self, index: int) -> Any:
        children = self._children()
        return children[index] if 0 <= index < len(children) else None

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        return next((index for index, own in enumerate(self._children()) if own is child), -1)

    def area(self) -> QRect:
        """The area of the part, in the viewport's pixels."""
        index = self.index()
        if index < 0:
            return QRect()
        x, width = self.view.span(index)
        return QRect(x, self.view.page.top(index) - self.view.offset(), width, self.view.page.height_of(index))

    def rect(self) -> QRect:
        return self.on_screen(self.area())

    def role(self) -> QAccessible.Role:
        return Role.ListItem

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.focusable = True
        state.readOnly = True
        state.offscreen = not self.view.viewport().rect().intersects(self.area())
        state.focused = self.view.hasFocus() and self.view.keys.current == self.index()
        return state

    def text(self, kind: QAccessible.Text) -> str:
        if kind == Text.Name:
            return self.message.name()
        return self.said() if kind in (Text.Description, Text.Value) else ""

    def said(self) -> str:
        """The message in words; kept, because a screen reader asks for it again and again."""
        item = self.message.item
        if self._said is None or self._said[0] is not item:
            self._said = (item, spoken_text(item))
        return self._said[1]


class TextInterface(_Virtual):
    """The text of a message, for screen readers."""

    def __init__(self, owner: MessageInterface) -> None:
        super().__init__(owner.view)
        self._owner = owner

    def parent(self) -> QAccessibleInterface:
        return self._owner

    def rect(self) -> QRect:
        return self._owner.rect()

    def role(self) -> QAccessible.Role:
        return Role.Paragraph

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.readOnly = True
        return state

    def text(self, kind: QAccessible.Text) -> str:
        return self._owner.said() if kind in (Text.Name, Text.Value) else ""


class _Press(QAccessibleActionInterface):
    def __init__(self, spot: SpotInterface) -> None:
        super().__init__()
        self._spot = spot

    def actionNames(self) -> list[str]:
        return [QAccessibleActionInterface.pressAction()]

    def doAction(self, name: str) -> None:
        del name
        self._spot.press()

    def keyBindingsForAction(self, name: str) -> list[str]:
        del name
        return []


class SpotInterface(_Virtual):
    """A painted button or link."""

    def __init__(self, owner: MessageInterface, key: str) -> None:
        super().__init__(owner.view)
        self._owner, self._key = owner, key
        self._press = _Press(self)

    def _found(self) -> tuple[Spot, QRect] | None:
        for spot, rect in self._owner.message.spots():
            if spot.key == self._key:
                area = self._owner.area()
                return spot, rect.translated(area.x(), area.y()).toRect()
        return None

    def press(self) -> None:
        """Do what a click on it does."""
        found, index = self._found(), self._owner.index()
        if found is None or index < 0:
            return
        if found[0].kind == "link":
            self.view.link_activated.emit(found[0].payload)
        else:
            self.view.activate(index, found[0])

    def parent(self) -> QAccessibleInterface:
        return self._owner

    def rect(self) -> QRect:
        found = self._found()
        return self.on_screen(found[1]) if found else QRect()

    def role(self) -> QAccessible.Role:
        found = self._found()
        return Role.Link if found and found[0].kind == "link" else Role.Button

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.focusable = True
        state.focused = self.view.keys.focus == self._key
        state.invalid = self._found() is None
        return state

    def text(self, kind: QAccessible.Text) -> str:
        found = self._found() if kind == Text.Name else None
        return found[0].label if found else ""

    def interface_cast(self, kind: QAccessible.InterfaceType) -> Any:
        return self._press if kind == QAccessible.InterfaceType.ActionInterface else _NONE

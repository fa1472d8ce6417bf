"""The list of models as it opens over what was pressed, with what is known of the marked one beside it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QWidget

from desktop.presenter.common.model_rows import ModelRows
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.ui.model_picker.chooser import ModelChooser
from desktop.ui.theme import theme
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Row

WIDTH, WIDE = 380, 720
"""Pixels at 100 %: of the list alone, and with something beside it."""
BESIDE = 560
"""Below this width there is no room for something beside the list."""


class ModelPopup(QFrame):
    """``chosen(ref)`` and then closed; Escape closes and changes nothing. It follows a look that is still under way.
    ``connects``: it leads to where models are connected. ``first`` is a choice that is no model, ``used`` says how many
    tokens of a model the chat has."""

    chosen = Signal(str)
    connect_wanted = Signal()

    def __init__(
        self,
        parent: QWidget,
        setup: ModelSetupViewModel,
        current: str,
        *,
        keys: str = "",
        connects: bool = False,
        first: tuple[str, str] | None = None,
        used: Callable[[str], int] = lambda _ref: 0,
        popup: bool = True,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Popup if popup else Qt.WindowType.Widget)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setProperty("pane", "card-attention")
        self.setAccessibleName("Choose a model")
        self._setup, self._current, self._first = setup, current, first
        self._used = used
        self._beside: QWidget | None = None
        self._wanted: Callable[[int], int] = lambda _width: 0
        self._tallest = 0
        self._turned = False
        """Whether what is known of the model stands in the place of the list: there is no room beside it."""
        self._anchor: QWidget | None = None
        self._part: QRect | None = None
        self.chooser = ModelChooser(keys)
        self.chooser.more.setVisible(connects)
        self._line = pane("line-v")
        self._line.hide()
        self._row = Row(self, margins=1, spacing=0)
        self._row.addWidget(self.chooser, 1)
        self._row.addWidget(self._line)
        self.chooser.chosen.connect(self.take)
        self.chooser.left.connect(self.leave)
        self.chooser.connect_wanted.connect(self._connect)
        self.chooser.about.clicked.connect(self.turn)
        setup.changed.connect(self.refresh)
        self.refresh()
        self.hide()

    def refresh(self) -> None:
        """Show the models that there are now."""
        models = [model for model in self._setup.models if self.fits(str(model.ref))]
        current = self._current if self.fits(self._current) else ""
        rows = ModelRows(models, self._setup.place, current=current, used=self._used, first=self._first)
        self.chooser.show_models(rows, current)
        if self.isVisible():
            self._fit()

    def put_beside(self, widget: QWidget, wanted: Callable[[int], int]) -> None:
        """Show something about the marked model, where there is room. ``wanted``: how high it is for a width."""
        self._beside, self._wanted = widget, wanted
        self._row.addWidget(widget, 1)

    def fits(self, ref: str) -> bool:
        """Whether a model is offered."""
        return True

    def take(self, ref: str) -> None:
        """A model was chosen."""
        self.chosen.emit(ref)
        self.close()

    def leave(self) -> None:
        """Escape."""
        if self._turned:
            self.turn()
        else:
            self.close()

    def turn(self) -> None:
        """Show what is known of the model in the place of the list, or the list again."""
        self._turned = not self._turned
        self._fit()
        if self._turned and self._beside is not None:
            self._beside.setFocus(Qt.FocusReason.OtherFocusReason)
            self._beside.focusNextChild()
        else:
            self.chooser.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _connect(self) -> None:
        self.close()
        self.connect_wanted.emit()

    def open_at(self, anchor: QWidget, over: QWidget | None = None, part: QRect | None = None) -> None:
        """Above what was pressed, or below where there is more room, always inside the window. ``over``: as wide as
        that, and above all of it. ``part``: what of the widget was pressed."""
        self._anchor, self._part = over or anchor, part
        self.chooser.field.clear()
        self._fit()
        anchor.window().installEventFilter(self)
        self.show()
        self.chooser.field.setFocus(Qt.FocusReason.PopupFocusReason)
        QTimer.singleShot(0, self._setup, self._setup.look)  # once it is there to be seen

    def _fit(self) -> None:
        anchor = self._anchor
        if anchor is None:
            return
        px, window = theme().px, anchor.window()
        part = self._part or anchor.rect()
        pressed = QRect(anchor.mapToGlobal(part.topLeft()), part.size())
        edge, gap = px(4), px(6)
        room = QRect(window.mapToGlobal(QPoint(0, 0)), window.size()).adjusted(edge, edge, -edge, -edge)
        room = room & anchor.screen().availableGeometry() if self.isWindow() else room
        wanted = px(WIDE if self._beside is not None else WIDTH)
        as_wide = self._beside is not None and pressed.width() >= px(BESIDE)
        width = min(pressed.width() if as_wide else wanted, room.width(), px(WIDE))
        beside = self._beside is not None and width >= px(BESIDE)
        if self._beside is not None:
            self._turned = self._turned and not beside
            self._beside.setVisible(beside or self._turned)
            self._line.setVisible(beside)
            self.chooser.setVisible(not self._turned)
            self.chooser.about.setVisible(not beside)
            half = (width - self._line.sizeHint().width()) // 2 - px(6) if beside else width - 2
            self._beside.setFixedWidth(half)
            self._tallest = max(self._tallest, self._wanted(half) if beside or self._turned else 0)
        above, below = pressed.top() - gap - room.top(), room.bottom() - pressed.bottom() - gap
        chooser = self.chooser
        around = chooser.sizeHint().height() - chooser.rows.sizeHint().height() if not chooser.rows.isHidden() else 0
        height = chooser.rows_height + max(around, px(100))
        height = min(max(height, self._tallest), max(above, below))
        top = pressed.top() - gap - height if height <= above else pressed.bottom() + 1 + gap
        left = max(room.left(), min(pressed.left(), room.right() + 1 - width))
        self.setFixedSize(width, height)
        spot = QPoint(left, top)
        above_all = self.parentWidget()
        self.move(spot if self.isWindow() or above_all is None else above_all.mapFromGlobal(spot))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The window has another size."""
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._fit()
        return super().eventFilter(watched, event)

    def fit(self) -> None:
        """Take its place anew: what stands beside the list has another height."""
        if self.isVisible():
            self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes wherever the keys are."""
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        else:
            super().keyPressEvent(event)

"""Fields to write and choose in, with their label above and their error below."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from desktop.ui.theme import theme
from desktop.ui.theme.paint import glyph
from desktop.ui.widgets.properties import set_property
from desktop.ui.widgets.scaling import Column
from desktop.ui.widgets.text import Paragraph, Text


class Field(QLineEdit):
    """One line to write in. ``name`` is read aloud; ``icon`` stands at its left; ``mono`` for paths, keys, commands."""

    trailing = 0
    """Pixels at 100 % at the right end that something else has."""

    def __init__(self, name: str, *, hint: str = "", icon: str = "", mono: bool = False, secret: bool = False) -> None:
        super().__init__()
        self._icon_name = icon
        self._mono = mono
        self.setAccessibleName(name)
        self.setPlaceholderText(hint)
        self._dress()
        theme().changed.connect(self._dress)
        if secret:
            self.setEchoMode(QLineEdit.EchoMode.Password)

    def set_error(self, wrong: bool) -> None:
        """Outline and glyph of a wrong entry; the words belong below (``Labelled``)."""
        set_property(self, "error", "true" if wrong else "false")
        self._dress()

    @property
    def wrong(self) -> bool:
        """Whether it is marked as wrong."""
        return bool(self.property("error") == "true")

    def _dress(self) -> None:
        px = theme().px
        self.setFont(theme().font("code" if self._mono else "body"))
        self.setTextMargins(px(26) if self._icon_name else 0, 0, px((22 if self.wrong else 0) + self.trailing), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The icons over the box."""
        super().paintEvent(event)
        if not self._icon_name and not self.wrong:
            return
        px = theme().px
        painter = QPainter(self)
        if self._icon_name:
            glyph(painter, QRect(px(8), 0, px(16), self.height()), self._icon_name, "text-2", px(16))
        if self.wrong:
            left = self.width() - px(25 + self.trailing)
            glyph(painter, QRect(left, 0, px(16), self.height()), "failed", "failed", px(16))


class TextArea(QPlainTextEdit):
    """Several lines to write in. Tab leaves it."""

    def __init__(self, name: str, *, hint: str = "", mono: bool = False) -> None:
        super().__init__()
        self.setProperty("kind", "field")
        self.setAccessibleName(name)
        self.setPlaceholderText(hint)
        self.setTabChangesFocus(True)
        self._mono = mono
        self._dress()
        theme().changed.connect(self._dress)

    def _dress(self) -> None:
        self.setFont(theme().font("code" if self._mono else "body"))


class Combo(QComboBox):
    """A choice from a list, which ``fill`` puts there. ``quiet`` is the small chip-like look."""

    adjusts = QComboBox.SizeAdjustPolicy.AdjustToContents

    def __init__(self, name: str, *, quiet: bool = False) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setProperty("quiet", "true" if quiet else "false")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMaxVisibleItems(12)
        self._has_list = False

    def fill(self, choices: list[tuple[str, object]], current: object = None) -> None:
        """Replace the choices, (text, data); ``current`` is the data to select. Emits nothing."""
        self.blockSignals(True)
        self._make_list()
        self.clear()
        for text, data in choices:
            self.addItem(text, data)
        index = self.findData(current)
        self.setCurrentIndex(index if index >= 0 else 0)
        self.blockSignals(False)

    def _make_list(self) -> None:
        """With the first choices Qt makes the list, ten widgets; one without choices does without them."""
        if not self._has_list:
            self._has_list = True
            self.setSizeAdjustPolicy(self.adjusts)
            self.setItemDelegate(QStyledItemDelegate(self))  # the style's own paints a menu, in the accent colour

    def changeEvent(self, event: QEvent) -> None:
        """Qt makes the list in order to give it the new font or style."""
        if self._has_list or event.type() not in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            super().changeEvent(event)
        else:
            self.updateGeometry()
            self.update()

    def minimumSizeHint(self) -> QSize:
        """Narrower than its longest choice, where there is no room for that."""
        hint = super().minimumSizeHint()
        return QSize(min(hint.width(), theme().px(160)), hint.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """What is chosen, with an ellipsis where it has no room, and the chevron at the right."""
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        field = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, field, self).width() - 2
        option.currentText = self.fontMetrics().elidedText(option.currentText, Qt.TextElideMode.ElideRight, room)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        px = theme().px
        token = "text-2" if self.isEnabled() else "text-disabled"
        glyph(painter, QRect(self.width() - px(23), 0, px(16), self.height()), "down", token, px(16))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scrolling over a page must not change a setting."""
        event.ignore()


class Labelled(QWidget):
    """Caption above ("": none), the control, and below it a line of help or, when set, of what is wrong."""

    changed = Signal()

    def __init__(self, caption: str, control: QWidget, help_text: str = "") -> None:
        super().__init__()
        column = Column(self, spacing=4)
        self._below = Paragraph(help_text, "small", "3")
        self._help = help_text
        self.control = control
        if not control.accessibleName():
            control.setAccessibleName(caption)
        if caption:
            above = Text(caption, "caption", "2")
            above.setBuddy(control)
            column.addWidget(above)
        column.addWidget(control)
        column.addWidget(self._below)
        self._below.setVisible(bool(help_text))

    def set_note(self, sentence: str) -> None:
        """Say something below the control that is no error."""
        self.set_error("")
        self._below.set_pieces(sentence or self._help)
        self._below.setVisible(bool(sentence or self._help))
        self.control.setAccessibleDescription(sentence or self._help)

    def set_warning(self, sentence: str) -> None:
        """Say what is probably not meant below the control; it may stay."""
        self.set_note(sentence)
        self._below.set_tone("ask" if sentence else "3")

    def set_error(self, sentence: str) -> None:
        """Say what is wrong below the control; "" takes it back."""
        self._below.set_pieces(sentence or self._help)
        self._below.set_tone("failed" if sentence else "3")
        self._below.setVisible(bool(sentence or self._help))
        self.control.setAccessibleDescription(sentence or self._help)
        if isinstance(self.control, Field):
            self.control.set_error(bool(sentence))


class MonoView(QPlainTextEdit):
    """Quoted machine text, read-only, selectable, never wrapped, never markup. Text is capped by the caller."""

    def __init__(self, name: str, text: str = "", *, rows: int = 0, wrap: bool = False) -> None:
        super().__init__()
        self._rows = rows
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        mode = QPlainTextEdit.LineWrapMode.WidgetWidth if wrap else QPlainTextEdit.LineWrapMode.NoWrap
        self.setLineWrapMode(mode)
        if wrap:
            self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(0)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._dress()
        theme().changed.connect(self._dress)
        self.setPlainText(text)

    def _dress(self) -> None:
        t = theme()
        self.setFont(t.font("code"))
        self.setViewportMargins(t.px(12), t.px(8), t.px(12), t.px(8))
        if self._rows:
            line = self.fontMetrics().lineSpacing()
            self.setFixedHeight(line * self._rows + t.px(28))

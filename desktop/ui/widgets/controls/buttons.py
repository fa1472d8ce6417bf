"""Buttons: primary, normal, quiet, admin, danger; with an icon, a key cap or a chevron. ``AllowButton`` has its own
file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QIcon, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QToolButton,
    QWidget,
)

from desktop.ui.theme import theme
from desktop.ui.theme.paint import glyph, keycap, keycap_width
from desktop.ui.widgets.focus import Ringed
from desktop.ui.widgets.properties import set_property
from desktop.ui.widgets.scaling import sized
from desktop.ui.widgets.tips import plain_tip

if TYPE_CHECKING:
    _Button = QAbstractButton
else:
    _Button = object  # a second Qt class among the bases would make a second widget

Kind = Literal["primary", "normal", "quiet", "admin", "danger", "deaf"]
_INK = {"primary": "on-accent", "quiet": "text-2", "admin": "admin", "danger": "deny", "deaf": "text-2"}
GAP = 6


class PressedByReturn(_Button):
    """Return presses it as Space does, on every platform; a key that is held presses once (it comes first among the
    bases, before the Qt class)."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return without Control and the like: those have meanings of their own around it."""
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and plain and not event.isAutoRepeat():
            self.click()
        else:
            super().keyPressEvent(event)


class Button(PressedByReturn, Ringed, QPushButton):
    """A push button. ``key`` is a key cap drawn inside ("Esc"); ``tip`` the tooltip, which should name the shortcut.

    ``shrinks``: where there is no room its key goes, then its label is cut with an ellipsis, at last to nothing but the
    icon.
    """

    def __init__(
        self,
        text: str,
        kind: Kind = "normal",
        *,
        icon: str = "",
        key: str = "",
        small: bool = False,
        chevron: bool = False,
        shrinks: bool = False,
        tip: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._icon_name = icon
        self._key = key
        self._chevron = chevron
        self._shrinks = shrinks
        self._bare = False
        self._label = ""
        self.setProperty("kind", kind)
        self.setProperty("small", "true" if small else "false")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        across = QSizePolicy.Policy.Maximum if shrinks else QSizePolicy.Policy.Fixed
        self.setSizePolicy(across, QSizePolicy.Policy.Fixed)
        self.setAutoDefault(False)
        self.set_label(text)
        if tip:
            self.setToolTip(plain_tip(tip))

    @property
    def label(self) -> str:
        """The text on the button."""
        return self._label

    @property
    def kind(self) -> str:
        """The look: primary, normal, quiet, danger."""
        return str(self.property("kind"))

    def set_label(self, text: str) -> None:
        """Show another text; an ampersand is an ampersand."""
        self._label = text
        self.setText(text.replace("&", "&&"))
        self.setAccessibleName(text)
        self.updateGeometry()
        self.update()

    def set_bare(self, bare: bool) -> None:
        """Where it is very narrow: nothing but its icon; its name is then in the tooltip."""
        if bare != self._bare:
            self._bare = bare
            self.updateGeometry()
            self.update()

    def set_kind(self, kind: Kind) -> None:
        """Show the button in another look."""
        set_property(self, "kind", kind)

    def set_icon(self, name: str) -> None:
        """Show another icon, "" for none."""
        self._icon_name = name
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """The contents with the padding that the style sheet also uses."""
        small = self.property("small") == "true"
        px = theme().px
        return QSize(self._content_width() + px(self._padding), px(24 if small else 32))

    @property
    def _padding(self) -> int:
        return 18 if self.property("small") == "true" else 26

    def full_width(self) -> int:
        """How wide it is with its words, also while it is bare."""
        return self._whole_content() + theme().px(self._padding)

    def width_with(self, text: str) -> int:
        """How wide it would be with another label."""
        wide = QFontMetrics(theme().font("body", 500)).horizontalAdvance
        return self.sizeHint().width() - wide(self._label) + wide(text)

    def minimumSizeHint(self) -> QSize:
        """A button is never cut, only its label where it may be."""
        whole = self.sizeHint()
        words = QFontMetrics(theme().font("body", 500)).horizontalAdvance(self._label) if self._shrinks else 0
        return QSize(whole.width() - words - (self._key_width() if self._shrinks else 0), whole.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """The box from the style sheet, the contents with our own gaps."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text, option.icon = "", QIcon()
        painter = QStylePainter(self)
        painter.drawControl(QStyle.ControlElement.CE_PushButtonBevel, option)
        self._draw_contents(painter)

    def ink(self) -> str:
        """The colour token of its contents."""
        return "text-disabled" if not self.isEnabled() else _INK.get(self.kind, "text")

    def _icon_side(self) -> int:
        return theme().metric("icon-small") if self._icon_name else 0

    def _content_width(self) -> int:
        return self._icon_side() if self._bare else self._whole_content()

    def _whole_content(self) -> int:
        t = theme()
        width = QFontMetrics(t.font("body", 500)).horizontalAdvance(self._label)
        if self._icon_name:
            width += self._icon_side() + (t.px(GAP) if self._label else 0)
        if self._chevron:
            width += t.px(18)
        return width + self._key_width()

    def _key_width(self) -> int:
        return keycap_width(self._key) + theme().px(8) if self._key else 0

    def _draw_contents(self, painter: QPainter) -> None:
        t = theme()
        ink = self.ink()
        missing = self.sizeHint().width() - self.width() if self._shrinks else 0
        without_key = missing > 0 and bool(self._key)
        drawn = self._content_width() - (self._key_width() if without_key else 0)
        x = (self.width() - min(drawn, self.width() - theme().px(self._padding))) // 2
        height = self.height()
        if self._icon_name:
            side = self._icon_side()
            glyph(painter, QRect(x, 0, side, height), self._icon_name, ink, side)
            x += side + t.px(GAP)
        if self._bare:
            return
        font = t.font("body", 500)
        metrics = QFontMetrics(font)
        label = self._label
        missing -= self._key_width() if without_key else 0
        if missing > 0:
            label = metrics.elidedText(label, Qt.TextElideMode.ElideRight, metrics.horizontalAdvance(label) - missing)
        width = metrics.horizontalAdvance(label)
        painter.setFont(font)
        painter.setPen(t.color(ink))
        painter.drawText(QRect(x, 0, width + 2, height), _LEFT, label)
        x += width
        if self._chevron:
            glyph(painter, QRect(x + t.px(5), 0, t.px(14), height), "down", ink, t.px(14))
            x += t.px(18)
        if self._key and not without_key:
            line = ink if self.kind in ("primary", "admin") else "border-strong"
            keycap(painter, QRect(x + t.px(8), 0, 99, height), self._key, ink if line == ink else "text-2", line)


class OneClickButton(Button):
    """A button whose second click of a double click counts for nothing: by then another one may stand in its place."""

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Ignore the second press of a double click."""
        event.accept()


class IconButton(PressedByReturn, Ringed, QToolButton):
    """A quiet square button with an icon; ``name`` is what it does, read aloud and shown with the shortcut."""

    def __init__(
        self, icon: str, name: str, *, shortcut: str = "", side: int = 32, glyph_side: int = 16, token: str = "text-2"
    ) -> None:
        super().__init__()
        self._icon_name = icon
        self._glyph_side = glyph_side
        self._token = token
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.set_name(name, shortcut)
        sized(self, width=side, height=side)

    def set_name(self, name: str, shortcut: str = "") -> None:
        """Change what the button is called, as what it does changes."""
        self.setAccessibleName(name)
        self.setToolTip(plain_tip(f"{name} ({shortcut})" if shortcut else name))

    @property
    def takes_away(self) -> bool:
        """Whether a press removes or closes something."""
        return self._icon_name in ("close", "delete")

    def set_icon(self, icon: str, token: str = "") -> None:
        """Show another icon, in another colour if given."""
        self._icon_name = icon
        self._token = token or self._token
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The box from the style sheet and the icon in the middle."""
        super().paintEvent(event)
        painter = QPainter(self)
        token = self._token if self.isEnabled() else "text-disabled"
        glyph(painter, self.rect(), self._icon_name, token, theme().px(self._glyph_side))


_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)

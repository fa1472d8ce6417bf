"""Labels. Always plain text: what a model, a tool or a file says can never become markup here (R-PRM-15)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import QEvent, QPointF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided
from desktop.ui.widgets.tips import plain_tip

Elide = Literal["none", "right", "middle"]
Piece = tuple[str, str]
"""(text, style): style is "" | "strong" | "mono" | "link" | "quiet" | "marked"."""
_TONES = {"": "text", "1": "text", "2": "text-2", "3": "text-3", "disabled": "text-disabled"}
_ROLES = {"strong": ("body", 600), "medium": ("body", 500), "small-medium": ("small", 500)}


def role_font(role: str) -> tuple[str, int | None]:
    """(type role, weight or None) of a label role."""
    return _ROLES.get(role, (role, None))


class Text(QLabel):
    """A text of one line.

    ``role`` is a type role, or strong, medium, small-medium; ``tone`` "" "2" "3" or a colour token. With ``elide`` it
    may become narrower than its text, which then stands in the tooltip.
    """

    def __init__(
        self,
        text: str = "",
        role: str = "body",
        tone: str = "",
        *,
        elide: Elide = "none",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._role, self._weight = role_font(role)
        self._tone = tone
        self._elide = elide
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)
        if elide != "none":
            self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def set_tone(self, tone: str) -> None:
        """Set the tone or colour token."""
        self._tone = tone
        self.update()

    def sizeHint(self) -> QSize:
        """The text in its role's font and line height."""
        t = theme()
        metrics = QFontMetrics(t.font(self._role, self._weight))
        width = metrics.horizontalAdvance(self.text()) + 1
        return QSize(width, max(t.line_height(self._role), metrics.height()))

    def minimumSizeHint(self) -> QSize:
        """An eliding label may shrink to a few letters."""
        hint = self.sizeHint()
        return hint if self._elide == "none" else QSize(min(hint.width(), theme().px(40)), hint.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the line, cut if it must be."""
        t = theme()
        font = t.font(self._role, self._weight)
        token = _TONES.get(self._tone, self._tone) if self.isEnabled() else "text-disabled"
        text = self.text()
        if self._elide != "none":
            middle = self._elide == "middle"
            text = elided(text, self._role, self.width(), weight=self._weight, middle=middle)
        painter = QPainter(self)
        painter.setFont(font)
        painter.setPen(t.color(token))
        painter.drawText(self.rect(), int(self.alignment()) | int(Qt.TextFlag.TextSingleLine), text)

    def setText(self, text: str) -> None:
        """Set the text; a text that does not fit stands in the tooltip."""
        super().setText(text)
        self._tell_whole()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Name the whole text in the tooltip while it is cut."""
        self._tell_whole()
        super().resizeEvent(event)

    def _tell_whole(self) -> None:
        if self._elide != "none":
            cut = self.sizeHint().width() > self.width() + 1
            whole = self.text() if cut else ""
            if plain_tip(whole) != self.toolTip():
                self.setToolTip(plain_tip(whole))


_WIDTHS = 8
"""Heights that a paragraph remembers, each of another width."""


class Selectable(QLabel):
    """A line of machine text that can be selected and copied: an address, a path."""

    def __init__(self, text: str = "", role: str = "body", tone: str = "2") -> None:
        super().__init__(text)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setWordWrap(True)
        self.setProperty("tone", tone)
        self._role = role
        self._dress()
        theme().changed.connect(self._dress)

    def _dress(self) -> None:
        self.setFont(theme().font(*role_font(self._role)))


class Paragraph(QLabel):
    """Wrapped text at its role's line height, made of plain, strong, mono and link pieces."""

    def __init__(
        self, pieces: str | Sequence[Piece] = "", role: str = "body", tone: str = "", *, center: bool = False
    ) -> None:
        super().__init__()
        self._role, self._weight = role_font(role)
        self._tone = tone
        self._center = center
        self._pieces: tuple[Piece, ...] = ()
        self._laid: tuple[int, float, str, QTextLayout, int] | None = None
        self._heights: dict[tuple[int, float], int] = {}
        """By width and scale; a layout asks for the same few again and again."""
        self._natural: tuple[float, int] | None = None
        self.setTextFormat(Qt.TextFormat.PlainText)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.set_pieces(pieces)

    def set_pieces(self, pieces: str | Sequence[Piece]) -> None:
        """Replace the text."""
        wanted = ((pieces, ""),) if isinstance(pieces, str) else tuple(pieces)
        if wanted == self._pieces:
            return
        self._pieces = wanted
        self._forget()
        self.setText("".join(text for text, _ in self._pieces))
        if self.minimumHeight():  # of other words, at the same width
            self.setMinimumHeight(self.heightForWidth(self.width()))
        self.updateGeometry()

    def set_tone(self, tone: str) -> None:
        """Set the tone or colour token."""
        self._tone = tone
        self._laid = None
        self.update()

    def heightForWidth(self, width: int) -> int:
        """Height at ``width`` pixels."""
        key = (width, theme().scale)
        height = self._heights.get(key)
        if height is None:
            if len(self._heights) >= _WIDTHS:
                self._heights.clear()
            height = self._heights[key] = self._layout_at(width)[1]
        return height

    def hasHeightForWidth(self) -> bool:
        """The height depends on the width."""
        return True

    def natural_width(self) -> int:
        """Pixels that it takes on one line."""
        scale = theme().scale
        if self._natural is None or self._natural[0] != scale:
            self._natural = (scale, int(self._layout_at(100_000)[0].maximumWidth()) + 2)
        return self._natural[1]

    def sizeHint(self) -> QSize:
        """Natural width up to 400 pixels."""
        width = min(self.natural_width(), theme().px(400))
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """One line at 40 pixels, so that a narrow pane wraps it."""
        return QSize(theme().px(40), theme().line_height(self._role))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the minimum height in step: box layouts forget height-for-width of nested rows."""
        super().resizeEvent(event)
        if event.oldSize().width() != self.width():
            self.setMinimumHeight(self.heightForWidth(self.width()))

    def changeEvent(self, event: QEvent) -> None:
        """A new style sheet means new fonts and colours."""
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.PaletteChange):
            self._forget()
        super().changeEvent(event)

    def _forget(self) -> None:
        self._laid, self._natural = None, None
        self._heights.clear()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the lines."""
        painter = QPainter(self)
        painter.setPen(theme().color(self._token()))
        self._layout_at(self.width())[0].draw(painter, QPointF(0, 0))

    def _token(self) -> str:
        return _TONES.get(self._tone, self._tone) if self.isEnabled() else "text-disabled"

    def _layout_at(self, width: int) -> tuple[QTextLayout, int]:
        t = theme()
        if self._laid is not None and self._laid[:3] == (width, t.scale, t.mode):
            return self._laid[3], self._laid[4]
        layout = QTextLayout(self.text().replace("\n", "\u2028"), t.font(self._role, self._weight))
        layout.setFormats(self._formats())
        option = QTextOption(Qt.AlignmentFlag.AlignHCenter if self._center else Qt.AlignmentFlag.AlignLeft)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        height = break_lines(layout, width, t.line_height(self._role))
        self._laid = (width, t.scale, t.mode, layout, height)
        return layout, height

    def _formats(self) -> list[QTextLayout.FormatRange]:
        ranges, at = [], 0
        for text, style in self._pieces:
            if style:
                piece = QTextLayout.FormatRange()
                piece.start, piece.length, piece.format = at, len(text), self._format(style)
                ranges.append(piece)
            at += len(text)
        return ranges

    def _format(self, style: str) -> QTextCharFormat:
        t = theme()
        made = QTextCharFormat()
        if style == "mono":
            font = t.font("code")
            if self._role == "caption":
                font = t.font("mono-small")
            made.setFont(font)
        elif style == "strong":
            made.setFont(t.font(self._role, 600))
            made.setForeground(t.color("text"))
        elif style == "quiet":
            made.setForeground(t.color("text-2"))
        elif style == "marked":
            made.setBackground(t.color("write-soft"))
        elif style == "link":
            made.setFontUnderline(True)
        return made


class Heading(Paragraph):
    """A paragraph that stands over a part of a page: those who do not see it go from one to the next."""

    spoken_role = "heading"


def break_lines(layout: QTextLayout, width: int, line_height: int) -> int:
    """Lay out text at a fixed line height, each line's ink centred in it; returns the whole height."""
    layout.beginLayout()
    y = 0
    while True:
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(max(1, width))
        line.setPosition(QPointF(0, y + (line_height - line.height()) / 2))
        y += line_height
    layout.endLayout()
    return max(y, line_height)

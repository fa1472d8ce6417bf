"""Markdown as the transcript draws it, in a widget as high as its text: a skill's page, a piece of its source."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, QPointF, QRectF, QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QDesktopServices,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop.presenter.transcript.items import TextPart
from desktop.ui.theme import theme
from desktop.ui.theme.paint import focus_ring
from desktop.ui.transcript.colours.finished import CodeColours
from desktop.ui.transcript.drawings.shown import FenceDrawings
from desktop.ui.transcript.flow import PieceTools, TextFlow
from desktop.ui.transcript.markdown.inline import InlineParser
from desktop.ui.transcript.pieces.base import Canvas, Piece, Spot
from desktop.ui.transcript.pieces.code import CodePiece, whole_code
from desktop.ui.transcript.pieces.formulas import Formulas
from desktop.ui.transcript.pieces.look import PageLook
from desktop.ui.transcript.pieces.media_strip import Pictures
from desktop.ui.transcript.pieces.pooled import Pool
from desktop.ui.widgets.tips import plain_tip

MAXIMUM = 24_000
"""Characters that are laid out (some 12 ms); of a longer text the beginning is shown, and the rest under Text."""


def piece_tools(owner: QObject, parser: InlineParser | None = None) -> PieceTools:
    """What lays out and draws; it ends with its owner. ``parser`` says which links may be pressed."""
    run = Pool(owner).run
    formulas, pictures, colours = Formulas(run, owner), Pictures(run, owner), CodeColours(owner)
    return PieceTools(parser or InlineParser(), formulas, pictures, colours, FenceDrawings(run, owner))


class MarkdownView(QWidget):
    """``set_markdown`` shows a text; ``cut`` is whether some of it is left out. Ctrl+C copies all of it.
    ``link_wanted``: a link was pressed that leads to no place of the web. ``tools``: those of a page of several."""

    copied = Signal(str)
    link_wanted = Signal(str)

    def __init__(self, name: str, tools: PieceTools | None = None) -> None:
        super().__init__()
        self._name = name
        self._source = ""
        self._flow: TextFlow | None = None
        self._look = PageLook(theme())
        self._tools = tools or piece_tools(self)
        self._hover = ""
        self._ring = False
        self.cut = False
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)
        theme().changed.connect(self._dress)
        self._tools.formulas.ready.connect(self._again)
        self._tools.colours.shown.connect(self.update)

    def set_markdown(self, text: str) -> None:
        """Show another text."""
        if text == self._source and self._flow is not None:
            return
        self._source = text
        self.cut = len(text) > MAXIMUM
        shown = text[:MAXIMUM].rsplit("\n", 1)[0] if self.cut else text
        self._flow = TextFlow(TextPart("skill", shown), self._tools, keep_breaks=False)
        self.setAccessibleDescription(shown[:4000])
        self._lay_out()

    @property
    def source(self) -> str:
        """What is shown, as it was written."""
        return self._source

    def sizeHint(self) -> QSize:
        """The height of the text at the present width."""
        return QSize(self._look.px(320), self.height())

    def minimumSizeHint(self) -> QSize:
        """The least size: narrow."""
        return QSize(self._look.px(80), 0)

    def _lay_out(self) -> None:
        if self._flow is None or self.width() < 20:
            return
        self._flow.build(self._look, float(self.width()))
        height = max(1, self._flow.height + 2)
        if height != self.height() or height != self.minimumHeight():
            self.setFixedHeight(height)
        self.update()

    def _again(self) -> None:
        """Lay out again, because formulas were drawn."""
        if self._flow is not None:
            self._flow = TextFlow(self._flow.part_now(), self._tools, keep_breaks=False)
            self._lay_out()

    def _dress(self) -> None:
        self._look = PageLook(theme())
        self._lay_out()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out for the new width."""
        super().resizeEvent(event)
        if event.oldSize().width() != self.width():
            self._lay_out()

    # -- painting -----------------------------------------------------------------------------------------------------

    def _pieces(self) -> list[Piece]:
        return self._flow.pieces if self._flow is not None else []

    def paintEvent(self, event: QPaintEvent) -> None:
        """The pieces that the dirty rectangle touches."""
        painter = QPainter(self)
        clip = QRectF(event.rect())
        canvas = Canvas(painter, self._look, clip, self.devicePixelRatio(), hover=self._hover, ledger=False)
        for piece in self._pieces():
            if piece.y > clip.bottom():
                break
            if piece.y + piece.height + 1 >= clip.top():
                piece.draw(canvas, QPointF(0, piece.y))
        if self._ring:
            focus_ring(painter, QRectF(self.rect()), self._look.px(6))

    # -- acting -------------------------------------------------------------------------------------------------------

    def _piece_at(self, spot: QPoint) -> Piece | None:
        return next((p for p in self._pieces() if p.y <= spot.y() < p.y + p.height), None)

    def _spot_at(self, where: QPoint) -> Spot | None:
        piece = self._piece_at(where)
        if piece is None:
            return None
        inside = QPointF(where.x(), where.y() - piece.y)
        return next((spot for spot in piece.spots() if spot.kind == "copy" and spot.rect.contains(inside)), None)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show what can be pressed."""
        where = event.position().toPoint()
        spot, piece = self._spot_at(where), self._piece_at(where)
        link = piece.link_at(where.x(), where.y() - piece.y) if piece is not None else ""
        self.setCursor(Qt.CursorShape.PointingHandCursor if spot or link else Qt.CursorShape.ArrowCursor)
        self.setToolTip(plain_tip(link if QUrl(link).scheme() else ""))
        if (key := spot.key if spot else "") != self._hover:
            self._hover = key
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Copy code, or open a link in the browser; files and everything else stay shut (R-UI-9)."""
        where = event.position().toPoint()
        spot, piece = self._spot_at(where), self._piece_at(where)
        if spot is not None:
            code = whole_code(self._pieces(), spot.payload)
            QGuiApplication.clipboard().setText(code)
            self.copied.emit(code)
        elif piece is not None and (link := piece.link_at(where.x(), where.y() - piece.y)):
            url = QUrl(link)
            if url.isValid() and url.scheme().lower() in ("http", "https", "mailto"):
                QDesktopServices.openUrl(url)
            else:
                self.link_wanted.emit(link)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Long code goes sideways; everything else scrolls the page."""
        piece = self._piece_at(event.position().toPoint())
        sideways = event.angleDelta().x() or (
            event.angleDelta().y() if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 0
        )
        if sideways and isinstance(piece, CodePiece) and piece.scroll.by(-sideways / 2):
            self.update()
            event.accept()
        else:
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Ctrl+C copies the text as it was written."""
        if event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self._source)
            self.copied.emit(self._source)
        else:
            event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Draw a ring when keys brought the focus."""
        self._ring = event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Draw no ring."""
        self._ring = False
        self.update()

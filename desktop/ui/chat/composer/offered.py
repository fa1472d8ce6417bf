"""What can be put into a message, over the composer: files, skills, and what servers give, each under its heading."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QFrame, QStyleOptionViewItem, QWidget

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.servers.mcp import McpResource
from desktop.presenter.chat.state import Offer
from desktop.presenter.common.fuzzy import match
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, glyph, marked_text
from desktop.ui.widgets.marks import KeyCaps
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.rows import Index, RowDelegate, RowList
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text

ROWS = 11
ROW, HEADING = 32, 26
WIDTH, NARROW = 400, 560
"""Pixels at 100 %: without what servers give; and from which on an address has a column."""
LONGEST = 200
LOOK = "look inside"
PINNED = "Read when you send"


@dataclass(frozen=True, slots=True)
class OfferRow:
    """A row of the list: an offer, or the heading over some."""

    offer: Offer | None
    heading: str = ""


class OfferRows(QAbstractListModel):
    """Offers with their headings; only those that can be chosen are stepped to."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[OfferRow] = []
        self.word = ""

    def fill(self, offers: Sequence[Offer], word: str, plain: str) -> None:
        """Show other offers; ``plain`` is what those without a group stand under, where others have one."""
        grouped = any(offer.group for offer in offers)
        rows: list[OfferRow] = []
        last: str | None = None
        for offer in offers:
            if grouped and offer.group != last:
                rows.append(OfferRow(None, shown_line(offer.group or plain)))
                last = offer.group
            rows.append(OfferRow(offer))
        self.beginResetModel()
        self.rows, self.word = rows, word
        self.endResetModel()

    def can(self, row: int) -> bool:
        """Whether a row can be chosen."""
        offer = self.rows[row].offer if 0 <= row < len(self.rows) else None
        return offer is not None and not offer.barred

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        """Offers and headings."""
        return len(self.rows)

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """Headings, and what is refused, are there to be read."""
        both = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return both if self.can(index.row()) else Qt.ItemFlag.ItemIsEnabled

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """All that a row says, for a screen reader."""
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        row = self.rows[index.row()]
        if row.offer is None:
            return row.heading
        return ", ".join(filter(None, (row.offer.label, row.offer.detail, row.offer.hint)))[:LONGEST]


class OfferDelegate(RowDelegate):
    """Icon, label with its matches, address, hint; headings in small letters."""

    inset = 4

    def __init__(self, model: OfferRows) -> None:
        super().__init__()
        self._model = model

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """A heading is lower."""
        return QSize(theme().px(100), theme().px(ROW if self._model.rows[index.row()].offer else HEADING))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """A heading has no fill of its own."""
        row = self._model.rows[index.row()]
        if row.offer is not None:
            super().paint(painter, option, index)
            return
        t, rect = theme(), QRect(option.rect)
        painter.setFont(t.font("small"))
        painter.setPen(t.color("text-2"))
        room = rect.adjusted(t.px(12), t.px(4), -t.px(8), 0)
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), elided(row.heading, "small", room.width()))

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """Draw one offer."""
        offer = self._model.rows[index.row()].offer
        assert offer is not None
        t = theme()
        tone = "text-3" if offer.barred else "text"
        x = box.x() + t.px(8)
        if offer.icon:
            side = t.metric("icon-small")
            glyph(
                painter, QRect(x, box.y(), side, box.height()), offer.icon, "text-3" if offer.barred else "text-2", side
            )
            x += side + t.px(8)
        painter.setFont(t.font("small"))
        painter.setPen(t.color("text-3"))
        role = "code" if offer.insert or (":" in offer.label and not offer.detail) else "body"
        named = QFontMetrics(t.font(role, 600)).horizontalAdvance(shown_line(offer.label[:LONGEST]))
        least = box.width() // (3 if offer.detail else 5)
        hint = elided(shown_line(offer.hint[:LONGEST]), "small", max(least, box.right() - x - named - t.px(20)))
        width = painter.fontMetrics().horizontalAdvance(hint)
        end = box.right() - width - t.px(8)
        painter.drawText(QRect(end, box.y(), width + 1, box.height()), int(Qt.AlignmentFlag.AlignVCenter), hint)
        if offer.detail and box.width() >= t.px(NARROW):
            middle = box.x() + round(box.width() * 0.4)
            self._words(painter, box, middle, end - t.px(12) - middle, offer.detail, "code", "text-3")
            end = middle
        self._words(painter, box, x, end - t.px(8) - x, offer.label, role, tone)

    def _words(self, painter: QPainter, box: QRect, x: int, room: int, text: str, role: str, tone: str) -> None:
        whole = shown_line(text[:LONGEST])
        shown = elided(whole, role, room, middle=True)
        fit = match(self._model.word.rsplit("/", 1)[-1], whole) if shown == whole else None
        painter.setFont(theme().font(role))
        metrics = painter.fontMetrics()
        baseline = box.y() + (box.height() + metrics.ascent() - metrics.descent()) // 2
        marked_text(painter, x, baseline, shown, fit.ranges if fit else (), role, tone)


class OfferList(QFrame):
    """The list of offers. It takes no keys: they stay in the composer, which steps through it. ``chosen`` carries the
    offer."""

    chosen = Signal(object)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("pane", "card-attention")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName("Offers")
        self.is_wide = False
        """Whether it is as wide as there is room."""
        self.model = OfferRows()
        self.rows = RowList("Offers", OfferDelegate(self.model))
        self.rows.setUniformItemSizes(False)
        self.rows.setModel(self.model)
        self.rows.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.rows.clicked.connect(lambda _: self.choose())
        self._content = Row(self, margins=1, spacing=0)
        self.side = QWidget()
        column = Column(self.side, margins=5, spacing=6)
        column.addWidget(self.rows)
        self.foot = self._make_foot()
        column.addWidget(self.foot)
        self._content.addWidget(self.side, 1)
        self.hide()

    def _make_foot(self) -> QWidget:
        foot = pane("footer")
        row = Row(foot, margins=(8, 6, 8, 2), spacing=6)
        for keys, words in (("↑↓", "choose"), ("Enter", "put in"), ("Space", LOOK), ("Esc", "close")):
            held = QWidget()
            pair = Row(held, spacing=6)
            pair.addWidget(KeyCaps(keys))
            pair.addWidget(Text(words, "small", "2"))
            pair.addSpacing(theme().px(6))
            row.addWidget(held)
            if words == LOOK:
                self._look_key = held
        row.addStretch(1)
        self._note = Text("", "small", "2", elide="right")
        row.addWidget(self._note, 4)
        return foot

    @property
    def count(self) -> int:
        """How many can be chosen."""
        return sum(self.model.can(row) for row in range(len(self.model.rows)))

    def fill(
        self, offers: Sequence[Offer], word: str, *, prefix: str, room: int, most: int, stays: Offer | None = None
    ) -> None:
        """Show other offers, as wide as ``room`` pixels and as high as ``most`` allow; ``stays`` is marked."""
        self.model.fill(offers, word, "Files" if prefix == "@" else "Skills")
        of_servers = any(offer.group for offer in offers)
        self.foot.setVisible(of_servers)
        self._note.setText(PINNED if prefix == "@" else "")
        self._look_key.setVisible(any(isinstance(offer.item, McpResource) for offer in offers))
        px = theme().px
        heights = sum(px(ROW if row.offer else HEADING) for row in self.model.rows)
        around = px(14) + (self.foot.sizeHint().height() + px(6) if of_servers else 0)
        self.rows.setFixedHeight(max(px(ROW), min(heights, px(ROW * ROWS), most - around)) + 2)
        self.is_wide = of_servers
        self.setFixedWidth(room if of_servers else min(room, px(WIDTH)))
        can = [row for row in range(len(self.model.rows)) if self.model.can(row)]
        first = next((row for row in can if self.model.rows[row].offer == stays), can[0] if can else -1)
        self.rows.setCurrentIndex(self.model.index(first) if first >= 0 else QModelIndex())
        if first == 1:
            self.rows.scrollToTop()
        self.fit()

    def fit(self) -> None:
        """Take the height of what stands in it now: by itself a layout hears of it one event later."""
        self.side.updateGeometry()
        self.adjustSize()

    def step(self, delta: int) -> None:
        """Move the mark up or down, round the ends, over what cannot be chosen."""
        rows = len(self.model.rows)
        row = self.rows.currentIndex().row()
        for _ in range(rows):
            row = (row + delta) % rows
            if self.model.can(row):
                self.rows.setCurrentIndex(self.model.index(row))
                if row == 1:
                    self.rows.scrollToTop()  # with the heading over it
                return

    @property
    def marked(self) -> Offer | None:
        """The offer of the marked row."""
        row = self.rows.currentIndex().row()
        return self.model.rows[row].offer if self.model.can(row) else None

    def choose(self) -> None:
        """Choose the marked row."""
        offer = self.marked
        if offer is not None:
            self.chosen.emit(offer)

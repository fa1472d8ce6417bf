"""The left pane of the Skills page: what to show. A count says what its choice would show, the others as they are."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QRect, QSize, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, Qt
from PySide6.QtWidgets import QAbstractButton, QFrame, QSizePolicy, QVBoxLayout, QWidget

from desktop.presenter.skills.page import SkillsViewModel
from desktop.presenter.skills.repositories import Repositories
from desktop.presenter.skills.repository_words import tail_words
from desktop.presenter.skills.words import EVERYTHING, EVERYTHING_WORD, KINDS, SOURCES, TIPS, YOURS, YOURS_WORD
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, glyph, row_background
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.help_button import HelpIcon
from desktop.ui.widgets.controls.toggles import Chip, Segmented
from desktop.ui.widgets.focus import Ringed
from desktop.ui.widgets.layout.containers import PaneHeader, Scroller, clear
from desktop.ui.widgets.layout.flowing import FlowRow
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text
from desktop.ui.widgets.tips import plain_tip

WIDTH = 216
FEW_TAGS, MANY_TAGS = 14, 120
"""Tags shown at first, and after "More tags"; chosen ones are always shown."""
RARE = frozenset({"mcp", "program", "tool"})
"""Choices that only stand there when there is something to show."""
_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight | Qt.TextFlag.TextSingleLine)


class FacetRow(Ringed, QAbstractButton):
    """Glyph, word, and how many it would show. Arrow keys go through the rows of the pane."""

    spoken_role = "list item"

    def __init__(self, word: str, icon: str, token: str = "text-2") -> None:
        super().__init__()
        self._word, self._icon, self._token = word, icon, token
        self._count = -1
        self._tail, self._tail_token = "", "text-2"
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.set_count(0)

    @property
    def count(self) -> int:
        """The figure at its right."""
        return self._count

    def set_count(self, count: int) -> None:
        """How many skills it would show."""
        if count != self._count:
            self._count = count
            self.setAccessibleName(f"{self._word}, {count:,}")
            self.update()

    def set_tail(self, words: str, token: str = "text-2") -> None:
        """Other words in the place of the figure."""
        if (words, token) != (self._tail, self._tail_token):
            self._tail, self._tail_token = words, token
            self.setAccessibleName(f"{self._word}, {words}" if words else self._word)
            self.update()

    def sizeHint(self) -> QSize:
        """A row 28 pixels high."""
        return QSize(theme().px(120), theme().px(28))

    def minimumSizeHint(self) -> QSize:
        """The least size; the word is cut where it is narrower."""
        return QSize(theme().px(60), theme().px(28))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the row."""
        t = theme()
        painter = QPainter(self)
        row_background(painter, self.rect(), selected=self.isChecked(), hovered=self.underMouse(), focused=False)
        quiet = not self._count and not self.isChecked() and not self._tail
        side = t.px(16)
        glyph(painter, QRect(t.px(8), 0, side, self.height()), self._icon, "text-3" if quiet else self._token, side)
        painter.setFont(t.font("small"))
        painter.setPen(t.color(self._tail_token))
        figure = self._tail or (f"{self._count:,}" if self._count >= 0 else "")
        width = painter.fontMetrics().horizontalAdvance(figure)
        painter.drawText(self.rect().adjusted(0, 0, -t.px(8), 0), _RIGHT, figure)
        weight = 500 if self.isChecked() else None
        painter.setFont(t.font("body", weight))
        painter.setPen(t.color("text-3" if quiet else "text"))
        room = QRect(t.px(32), 0, self.width() - t.px(46) - width, self.height())
        painter.drawText(room, _LEFT, elided(self._word, "body", room.width(), weight=weight))


class Facets(QFrame):
    """The filters beside the list. ``new_wanted`` and ``project_wanted``: the person pressed New, or Open project
    folder; ``pressed``: one of the filters."""

    new_wanted = Signal()
    project_wanted = Signal()
    pressed = Signal()

    def __init__(self, skills: SkillsViewModel, repositories: Repositories | None = None) -> None:
        super().__init__()
        self._skills = skills
        self.repositories = RepositoryGroup(repositories) if repositories is not None else None
        self._chips: dict[str, Chip] = {}
        self._many = False
        self.setProperty("pane", "list")
        self.setAccessibleName("Which skills to show")
        self._rows: dict[tuple[str, str], FacetRow] = {}
        column = Column(self, spacing=0)
        head = PaneHeader("Skills", left=16, right=8)
        head.setProperty("pane", "plain")
        self.new = IconButton("new", "New skill", shortcut="Ctrl+Shift+N")
        self.new.clicked.connect(self.new_wanted)
        head.add(HelpIcon())
        head.add(self.new)
        column.addWidget(head)
        scroller = Scroller(margins=(8, 0, 8, 12), spacing=0)
        self._lay_out(scroller.column)
        column.addWidget(scroller, 1)
        foot = Row(margins=(8, 4, 8, 8))
        self.project = Button("Open project folder…", "quiet", icon="folder", small=True)
        self.project.setToolTip("List the skills of a folder you work in")
        self.project.clicked.connect(self.project_wanted)
        foot.addWidget(self.project)
        foot.addStretch(1)
        column.addLayout(foot)
        skills.counted.connect(self.refresh)
        skills.listed.connect(self._mark)
        if repositories is not None:
            repositories.opened.connect(self._mark)

    def _lay_out(self, column: QVBoxLayout) -> None:
        self.visibility = Segmented("Visibility", (("shown", "Shown"), ("hidden", "Hidden"), ("all", "All")))
        self.visibility.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.visibility.chosen.connect(lambda value: self._skills.choose(visibility=value))
        self.visibility.set_tips(TIPS)
        column.addWidget(self.visibility)
        self._tags_head = caption("Tags")
        column.addWidget(self._tags_head)
        self.tags = FlowRow()
        inset = Row(margins=(8, 0, 0, 0))
        inset.addWidget(self.tags, 1)
        column.addLayout(inset)
        self._more = Button("More tags", "quiet", small=True)
        self._more.clicked.connect(self._toggle_many)
        column.addWidget(self._more)
        everything = (EVERYTHING, EVERYTHING_WORD, "search")
        self._group(column, "Source", "source", (("", YOURS_WORD, "skills"), *SOURCES, everything))
        if self.repositories is not None:
            column.addWidget(self.repositories)
        self._group(column, "Kind", "kind", tuple((name, word, icon) for name, word, icon, _ in KINDS))
        looks = (("problems", "Problems", "failed"), ("off", "Switched off", "lock"))
        self._group(column, "Needs your attention", "look", looks)
        column.addStretch(1)

    def _group(self, column: QVBoxLayout, title: str, facet: str, choices: tuple[tuple[str, str, str], ...]) -> None:
        column.addWidget(caption(title))
        for value, word, icon in choices:
            token = {"problems": "failed", "off": "ask"}.get(value, "text-2")
            row = FacetRow(word, icon, token)
            row.setToolTip(plain_tip(TIPS.get(value, "")))
            row.setAccessibleDescription(TIPS.get(value, ""))
            row.clicked.connect(lambda _=False, facet=facet, value=value: self._press(facet, value))
            self._rows[facet, value] = row
            column.addWidget(row)

    def _press(self, facet: str, value: str) -> None:
        """A second press takes a choice back."""
        self.pressed.emit()
        now = getattr(self._skills.chosen, facet)
        self._skills.choose(**{facet: "" if value == now else value})
        self._mark()

    # -- following the view-model -------------------------------------------------------------------------------------

    @property
    def _away(self) -> bool:
        """Whether a repository shows, and not the list that these filter."""
        return self.repositories is not None and self.repositories.shows

    def _mark(self) -> None:
        """Mark the choices that are made."""
        chosen = self._skills.chosen
        self.visibility.set_value(chosen.visibility)
        for (facet, value), row in self._rows.items():
            row.setChecked(getattr(chosen, facet) == value and not self._away)
        for tag, chip in self._chips.items():
            chip.setChecked(tag in chosen.tags)

    def refresh(self) -> None:
        """How many each choice would show."""
        counts = self._skills.counts
        for (facet, value), row in self._rows.items():
            row.set_count(self._figure(facet, value))
            if value in RARE:
                row.setVisible(row.count > 0 or row.isChecked())
        self._show_tags(counts.tags)

    def _figure(self, facet: str, value: str) -> int:
        counts = self._skills.counts
        if facet == "source":
            wanted = {"": YOURS, EVERYTHING: counts.sources.keys()}.get(value, {value})
            return sum(counts.sources.get(source, 0) for source in wanted)
        if facet == "kind":
            kinds = next(kinds for name, _, _, kinds in KINDS if name == value)
            return sum(counts.kinds.get(kind, 0) for kind in kinds)
        return counts.problems if value == "problems" else self._skills.off_count

    def _show_tags(self, tags: Mapping[str, int]) -> None:
        chosen = self._skills.chosen.tags
        maximum = MANY_TAGS if self._many else FEW_TAGS
        own_first = sorted(tags, key=lambda tag: tag.startswith("meta-"))  # the library's own marks come last
        shown = [tag for tag in own_first if tag not in chosen][:maximum]
        for tag in (*chosen, *shown):
            on = tag in chosen
            chip = self._chips.get(tag)
            if chip is None:
                chip = self._chips[tag] = _TagChip(tag)
                chip.clicked.connect(lambda _=False, tag=tag: self._skills.toggle_tag(tag))
            label = tag if on else f"{tag} {tags[tag]:,}"
            if chip.text() != label:
                chip.set_label(label)
            chip.setChecked(on)
        self.tags.set_items([self._chips[tag] for tag in (*chosen, *shown)])
        self._tags_head.setVisible(bool(chosen or shown))
        self._more.setVisible(len(tags) > FEW_TAGS + len(chosen))
        self._more.set_label("Fewer tags" if self._many else "More tags")
        if len(self._chips) > 4 * MANY_TAGS:
            self._forget((*chosen, *shown))

    def _forget(self, kept: tuple[str, ...]) -> None:
        for tag in [tag for tag in self._chips if tag not in kept]:
            self._chips.pop(tag).deleteLater()

    def _toggle_many(self) -> None:
        self._many = not self._many
        self._show_tags(self._skills.counts.tags)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and down go through what can be reached."""
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.focusNextPrevChild(event.key() == Qt.Key.Key_Down)
        else:
            super().keyPressEvent(event)


class RepositoryGroup(QWidget):
    """The repositories that skills are taken from, and the way to another. ``add_wanted``: the person pressed Add;
    ``wanted`` carries the name of the one that was pressed."""

    add_wanted = Signal()
    wanted = Signal(str)

    def __init__(self, repositories: Repositories) -> None:
        super().__init__()
        self._repositories = repositories
        self.rows: dict[str, FacetRow] = {}
        column = Column(self, spacing=0)
        column.addWidget(caption("Repositories"))
        self._list = Column(spacing=0)
        column.addLayout(self._list)
        self.add = FacetRow("Add a repository…", "new")
        self.add.setCheckable(False)
        self.add.set_tail(" ")
        self.add.setAccessibleName("Add a repository…")
        self.add.clicked.connect(self.add_wanted)
        column.addWidget(self.add)
        self.note = Paragraph("What is taken is written to skills.lock, which a team can share.", "small", "3")
        holder = Row(margins=(8, 4, 8, 0))
        holder.addWidget(self.note)
        column.addLayout(holder)
        self.note.setToolTip(plain_tip(repositories.lock_file))
        self.note.hide()
        repositories.listed.connect(self.refresh)
        repositories.opened.connect(self._mark)

    @property
    def shows(self) -> bool:
        """Whether a repository is open."""
        return bool(self._repositories.name)

    def refresh(self) -> None:
        """Show the repositories that there are now."""
        views = self._repositories.views
        if [view.source.name for view in views] != list(self.rows):
            clear(self._list)
            self.rows = {}
            for view in views:
                name = view.source.name
                row = self.rows[name] = FacetRow(name, "branch")
                row.setToolTip(plain_tip(shown_line(view.source.address)))
                row.clicked.connect(lambda _=False, name=name: self._press(name))
                self._list.addWidget(row)
        self.note.setVisible(any(view.taken for view in views))
        for view in views:
            words, changed = tail_words(view)
            self.rows[view.source.name].set_tail(words, "info" if changed else "text-2")
        self._mark()

    def _press(self, name: str) -> None:
        self._mark()  # a second press does not uncheck it
        self.wanted.emit(name)

    def _mark(self) -> None:
        for name, row in self.rows.items():
            row.setChecked(name == self._repositories.name)


class _TagChip(Chip):
    """A chip that never grows wider than the pane: a long tag is named in full in its tooltip."""

    def __init__(self, tag: str) -> None:
        super().__init__(tag)
        self._tag = tag
        self.setToolTip(plain_tip(f"#{tag}"))

    def set_label(self, text: str) -> None:
        """Cut in the middle of the tag, never in the figure."""
        figure = text[len(self._tag) :]
        short = self._tag if len(self._tag) <= 22 else f"{self._tag[:20]}…"
        super().set_label(short + figure)
        self.setText(text)


def caption(text: str) -> QWidget:
    """The title of a group of choices."""
    holder = sized(QWidget(), height=36)
    row = Row(holder, margins=(8, 12, 8, 4))
    row.addWidget(Text(text, "caption", "2"))
    row.addStretch(1)
    return holder

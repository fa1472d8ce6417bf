"""The right pane of the Skills page: one skill, under tabs."""

from __future__ import annotations

from functools import cached_property
from typing import TypeVar

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QFont, QFontMetrics, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QLabel, QMenu, QSizePolicy, QStackedWidget, QWidget

from desktop.domain.skills import SkillProblem
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.presenter.skills.editing import SkillEditor
from desktop.presenter.skills.page import Difference, SkillsViewModel
from desktop.presenter.skills.trying import SkillTrials
from desktop.ui.skills.callers import Callers
from desktop.ui.skills.difference import DifferenceView
from desktop.ui.skills.editing import EditPane
from desktop.ui.skills.overview import Overview
from desktop.ui.skills.trying import TryPane
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.layout.containers import EmptyState
from desktop.ui.widgets.layout.tabs import Tabs
from desktop.ui.widgets.marks import Badge
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.tips import plain_tip

V = TypeVar("V", bound=QWidget)
TABS = (("page", "Page"), ("form", "Form"), ("text", "Text"), ("callers", "Callers"), ("try", "Try it"))


class _Name(QLabel):
    """The skill's name in the mono face at the size of a title, cut in its middle where it must be."""

    def __init__(self) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def _face(self) -> QFont:
        font = QFont(theme().font("code", 500))
        font.setPixelSize(theme().px(16))
        return font

    def sizeHint(self) -> QSize:
        """The size of the whole name in one line."""
        width = QFontMetrics(self._face()).horizontalAdvance(self.text()) + 2
        return QSize(width, theme().line_height("title"))

    def minimumSizeHint(self) -> QSize:
        """The width of a few letters."""
        return QSize(min(self.sizeHint().width(), theme().px(60)), theme().line_height("title"))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the name; the whole name is the tooltip."""
        face = self._face()
        painter = QPainter(self)
        painter.setFont(face)
        painter.setPen(theme().color("text"))
        text = QFontMetrics(face).elidedText(self.text(), Qt.TextElideMode.ElideMiddle, self.width())
        painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), text)


class SkillPane(QFrame):
    """``acted`` carries what is for the page: duplicate | rename | delete | trust; ``other`` a path of the same name;
    ``back`` closes the pane where it lies over the list."""

    acted = Signal(str)
    other = Signal(str)
    back = Signal()
    model_wanted = Signal()
    approvals_wanted = Signal()

    def __init__(
        self,
        skills: SkillsViewModel,
        editor: SkillEditor,
        trials: SkillTrials,
        known: ModelSetupViewModel | None = None,
    ) -> None:
        super().__init__()
        self._skills, self._editor, self._trials, self._known = skills, editor, trials, known
        self._shown_key: object = None
        self._stale: set[str] = set()
        self.setProperty("pane", "surface")
        self.overview = Overview(skills)
        column = Column(self, spacing=0)
        column.addWidget(self._make_head())
        column.addWidget(self._make_tabs())
        self._stack = QStackedWidget()
        gone = "It was deleted or renamed by another program."
        self._none = EmptyState("skills", "No skill chosen", "Choose one on the left to read, change or try it.")
        self._gone = EmptyState("failed", "This skill no longer exists", gone)
        self._wait = pane("surface")
        for widget in (self._wait, self._none, self._gone, self.overview):
            self._stack.addWidget(widget)
        column.addWidget(self._stack, 1)
        self._connect()
        self.refresh()

    def _make_head(self) -> QWidget:
        self._head = sized(pane("header"), height=48)
        row = Row(self._head, margins=(16, 1, 16, 0), spacing=8)
        self.leave = IconButton("left", "Back to the list", shortcut="Esc")
        self.leave.hide()
        self.leave.clicked.connect(self.back)
        row.addWidget(self.leave)
        row.addSpacing(8)
        self._name = _Name()
        self._badge = Badge("read")
        row.addWidget(self._name)
        row.addWidget(self._badge)
        row.addStretch(1)
        self.edit_button = Button("Edit", icon="write", key="E", tip="Edit this skill (E in the list)")
        self.try_button = Button("Try it", "primary", icon="play", tip="Call this skill now (Ctrl+T)")
        self.more = IconButton("more", "More for this skill")
        for button in (self.edit_button, self.try_button, self.more):
            row.addWidget(button)
        return self._head

    def _make_tabs(self) -> QWidget:
        self._tab_bar = sized(pane("header"), height=40)
        row = Row(self._tab_bar, margins=(24, 0, 16, 0))
        self.tabs = Tabs("Views of this skill", TABS)
        row.addWidget(self.tabs)
        row.addStretch(1)
        return self._tab_bar

    def _connect(self) -> None:
        self._skills.shown.connect(self.refresh)
        self._skills.difference_found.connect(self._show_difference)
        self.tabs.chosen.connect(self.show_tab)
        self.edit_button.clicked.connect(self.begin_edit)
        self.try_button.clicked.connect(lambda: self.show_tab("try"))
        self.more.clicked.connect(self._menu_below)
        self.overview.wanted.connect(self._wanted)
        self.overview.other.connect(self.other)
        self.overview.jump.connect(self.jump)

    # -- views, each made when it is first looked at ------------------------------------------------------------------

    @cached_property
    def edit(self) -> EditPane:
        """The form and the text of the skill."""
        made = self._add(EditPane(self._editor, self._known))
        made.jump_wanted.connect(self.jump)
        if self._skills.detail is not None:
            made.show_detail(self._skills.detail)
        return made

    @cached_property
    def callers(self) -> Callers:
        """The list of who may call the skill."""
        return self._add(Callers())

    @cached_property
    def trying(self) -> TryPane:
        """The page on which the skill is tried."""
        made = self._add(TryPane(self._skills, self._trials))
        made.model_wanted.connect(self.model_wanted)
        made.approvals_wanted.connect(self.approvals_wanted)
        return made

    @cached_property
    def difference(self) -> DifferenceView:
        """What changed since it was seen."""
        made = self._add(DifferenceView(self._skills))
        made.closed.connect(lambda: self.show_tab("page"))
        return made

    def _add(self, view: V) -> V:
        self._stack.addWidget(view)
        return view

    def flush(self) -> None:
        """Take what was typed just now into the skill's text."""
        if "edit" in self.__dict__:
            self.edit.flush()

    def _show_difference(self, found: Difference) -> None:
        self.difference.show_difference(found)
        self._stack.setCurrentWidget(self.difference)

    # -- what shows ---------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show the skill that is selected now, in its present state."""
        skills, detail = self._skills, self._skills.detail
        has = detail is not None
        self._head.setVisible(has or self.leave.isVisibleTo(self))
        self._tab_bar.setVisible(has)
        for widget in (self._badge, self.edit_button, self.try_button, self.more):
            widget.setVisible(has)
        if detail is None:
            self._say_name(skills.key[1] if skills.key else "")
            self._shown_key = None
            self._stack.setCurrentWidget(self._gone if skills.key else self._none)
            return
        self._say_name(detail.key[1])
        self._badge.setVisible(detail.category is not None)
        if detail.category is not None:
            self._badge.set_badge(detail.category.value)
        self.edit_button.setEnabled(detail.writable)
        tip = "Edit this skill (E in the list)" if detail.writable else "Duplicate it to change it"
        self.edit_button.setToolTip(plain_tip(tip))
        self._stale = {"callers", "try"}
        self.overview.show_detail(detail)
        if "edit" in self.__dict__:
            self.edit.show_detail(detail)
        if detail.key == self._shown_key:
            self._fill(self.tabs.value)
        if detail.key != self._shown_key:
            self._shown_key = detail.key
            self.overview.show_top()
            self.show_tab("page")
        elif self._stack.currentWidget() in (self._wait, self._none, self._gone):
            self.show_tab("page")

    def _say_name(self, name: str) -> None:
        self._name.setText(shown_line(name))
        self._name.setToolTip(plain_tip(shown_line(name)))
        self._name.updateGeometry()

    def show_tab(self, name: str) -> None:
        """page | form | text | callers | try; nothing where no skill is shown."""
        if self._skills.detail is None:
            return
        self.tabs.set_value(name)
        self._fill(name)
        if name in ("form", "text"):
            self.edit.show_view(name)
            self._stack.setCurrentWidget(self.edit)
        elif name == "callers":
            self._stack.setCurrentWidget(self.callers)
        else:
            self._stack.setCurrentWidget(self.trying if name == "try" else self.overview)

    def _fill(self, name: str) -> None:
        """A view is built when it is looked at."""
        detail = self._skills.detail
        if detail is None or name not in self._stale:
            return
        self._stale.discard(name)
        if name == "callers":
            self.callers.show_detail(detail)
        else:
            self.trying.show_detail(detail)

    def begin_edit(self) -> None:
        """The form where there is one, else the text, with the keys in it."""
        if self._skills.detail is not None and self._skills.detail.writable:
            self.show_tab("form" if self.edit.has_form else "text")
            self.edit.take_keys()

    def jump(self, problem: SkillProblem) -> None:
        """Into the text, to a problem's place."""
        self.show_tab("text")
        self.edit.go_to(problem.line, problem.column)

    def set_overlaid(self, overlaid: bool) -> None:
        """Whether the pane lies over the list, and so needs a way back."""
        self.leave.setVisible(overlaid)

    # -- acting -------------------------------------------------------------------------------------------------------

    def _wanted(self, what: str) -> None:
        if what == "compare":
            self._skills.compare()
        else:
            self.acted.emit(what)

    def _menu_below(self) -> None:
        corner = self.more.mapToGlobal(self.more.rect().bottomRight())
        menu = self.make_menu()
        menu.popup(corner - QPoint(menu.sizeHint().width(), 0))

    def make_menu(self) -> QMenu:
        """What can be done with this skill."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        detail = self._skills.detail
        file, writable = bool(detail and detail.key[0]), bool(detail and detail.writable)
        for text, keys, act, enabled in (
            ("Edit", "E", self.begin_edit, writable),
            ("Try it", "Ctrl+T", lambda: self.show_tab("try"), detail is not None),
            ("Duplicate…", "Ctrl+D", lambda: self.acted.emit("duplicate"), file),
            ("Rename…", "F2", lambda: self.acted.emit("rename"), writable),
            ("Delete", "Del", lambda: self.acted.emit("delete"), writable),
        ):
            action = QAction(f"{text}\t{keys}", menu)
            action.setEnabled(enabled)
            action.triggered.connect(lambda _=False, act=act: act())
            menu.addAction(action)
        return menu

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape goes back to the list."""
        if event.key() == Qt.Key.Key_Escape:
            self.back.emit()
        else:
            super().keyPressEvent(event)

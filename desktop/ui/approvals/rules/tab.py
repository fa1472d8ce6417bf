"""The Rules tab: the readable list, its filters, and beside it the rule that is being written."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QRect, Qt, QTimer
from PySide6.QtGui import QAction, QGuiApplication, QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QMenu, QStackedLayout, QWidget

from desktop.domain.approval.rules import RuleView
from desktop.presenter.approvals.rules_editing import RulesModels
from desktop.presenter.approvals.rules_list import DRAFT, RuleRole
from desktop.presenter.approvals.rules_words import DECISIONS, ORIGINS, from_words
from desktop.ui.approvals.chooser import Chooser
from desktop.ui.approvals.rules.panel import WIDTH, RulePanel
from desktop.ui.approvals.rules.table import INSET, RuleRows, heads
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.dialogs.page_shortcut import PageShortcut
from desktop.ui.widgets.dialogs.toast import Toast
from desktop.ui.widgets.layout.column_heads import ColumnHeads
from desktop.ui.widgets.layout.containers import EmptyState
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.rows import search_took
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph

USES_AFTER, SHOWN_AFTER = 1000, 50
"""Milliseconds after a call, and after the list came into sight, before uses are counted anew."""
BESIDE = 440
"""Pixels at 100 % that the list keeps beside the panel; where there are fewer, the panel lies over it."""
TOAST_SHOWN = 90
FOOT = (
    "A deny wins over every allow. Otherwise the most exact rule decides. "
    "Admin calls ask every time, whatever a rule says."
)


class RulesTab(QWidget):
    """List and panel, side by side or, where it is narrow, one over the other."""

    def __init__(self, models: RulesModels, thread_title: Callable[[str], str]) -> None:
        super().__init__()
        self._rules = models.rules
        self._here = models.here
        self.editor = models.editor()
        self.editor.setParent(self)
        self.list = RuleList(models)
        self.panel = RulePanel(self.editor, models.here, thread_title)
        self.list.setParent(self)
        self.panel.setParent(self)
        self.panel.hide()
        self.toast = Toast(self.list, self.list.foot)
        self._uses = QTimer(self, singleShot=True)
        self._uses.timeout.connect(models.rules.refresh)
        self._connect()

    def _connect(self) -> None:
        rules, editor, rows = self._rules, self.editor, self.list.rows
        self.list.new.clicked.connect(self.new)
        rows.wanted.connect(self.act)
        rows.menu_wanted.connect(lambda spot: self.make_menu().popup(spot))
        self.panel.closed.connect(self._closed)
        editor.opened.connect(self._opened)
        editor.changed.connect(lambda: rules.write(editor.draft))
        editor.saved.connect(self._saved)
        editor.failed.connect(self.say)
        rules.said.connect(self.say)
        rules.failed.connect(self.say)
        rules.wanted.connect(self._show_rule)
        rules.used.connect(self._count_later)
        self.toast.undone.connect(rules.undo)
        for keys, act in (("Ctrl+Shift+N", self.new), ("Ctrl+D", lambda: self.act("duplicate"))):
            PageShortcut(keys, self, act)

    # -- from outside -------------------------------------------------------------------------------------------------

    def first_focus(self) -> QWidget:
        """Keys go to what is being written, or to the list."""
        return self.panel.form.field if self.panel.isVisible() else self.list.rows

    def begin_find(self) -> None:
        """Move the keys to the search field (Ctrl+F)."""
        self.list.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.list.field.selectAll()

    def new(self) -> None:
        """Begin a rule; asks about one that is being written first."""
        self.panel.leaving(lambda: self._begin(self.editor.new))

    def say(self, sentence: str, undo: str = "") -> None:
        """A toast over the list; what it quotes is made visible and short."""
        text = shown_line(sentence)
        self.toast.say(text if len(text) <= TOAST_SHOWN or not undo else f"{text[:TOAST_SHOWN]}…", undo)

    # -- acting -------------------------------------------------------------------------------------------------------

    @property
    def current(self) -> RuleView | None:
        """The rule of the current row."""
        index = self.list.rows.currentIndex()
        return index.data(RuleRole.RULE) if index.isValid() else None

    def act(self, what: str) -> None:
        """edit | duplicate | allow | ask | deny | revoke | copy, for the current row."""
        rule = self.current
        if rule is None:
            return
        if what == "copy":
            QGuiApplication.clipboard().setText(rule.pattern)
            self.say("The pattern is copied")
        elif rule.rule_id == DRAFT or (what == "edit" and self._is_open(rule)):
            self.panel.focus_field()
        elif what == "duplicate":
            self.panel.leaving(lambda: self._begin(lambda: self.editor.duplicate(rule)))
        elif not rule.editable:
            self.say(f"{from_words(rule)}: it cannot be changed here. Duplicate it to write a rule of your own.")
        elif what == "edit":
            self.panel.leaving(lambda: self._begin(lambda: self.editor.edit(rule)))
        elif what == "allow":
            self.panel.leaving(lambda: self._begin(lambda: self.editor.edit(rule, "allow")))
        elif what in ("ask", "deny"):
            self._rules.turn(rule.rule_id, what)  # type: ignore[arg-type]  # both are decisions
        elif what == "revoke":
            self._revoke(rule)

    def make_menu(self) -> QMenu:
        """What can be done with the current rule."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        rule = self.current
        saved = rule is not None and rule.rule_id != DRAFT
        mine = saved and rule is not None and rule.editable
        turns = [
            (f"{word} instead…" if value == "allow" else f"{word} instead", "", value, mine)
            for value, word in DECISIONS
            if rule is not None and value != rule.decision
        ]
        for text, keys, what, enabled in (
            ("Edit", "Return", "edit", mine),
            ("Duplicate", "Ctrl+D", "duplicate", saved),
            *turns,
            ("Copy the pattern", "Ctrl+C", "copy", rule is not None),
            ("Revoke", "Del", "revoke", mine),
        ):
            action = QAction(f"{text}\t{keys}" if keys else text, menu)
            action.setEnabled(enabled)
            action.triggered.connect(lambda _=False, what=what: self.act(what))
            menu.addAction(action)
        return menu

    def _is_open(self, rule: RuleView) -> bool:
        return self.editor.draft is not None and self.editor.draft.replaces == rule.rule_id

    def _revoke(self, rule: RuleView) -> None:
        """What is being changed here stays as a draft of a new rule only if it was typed into: so ask first."""

        def go_on() -> None:
            if self._is_open(rule):
                self.editor.close()
            self._rules.revoke(rule.rule_id)

        if self._is_open(rule):
            self.panel.leaving(go_on)
        else:
            go_on()

    def _begin(self, open_it: Callable[[], None]) -> None:
        open_it()
        self.panel.focus_field()

    # -- following the editor -----------------------------------------------------------------------------------------

    def _opened(self) -> None:
        draft = self.editor.draft
        self._rules.write(draft)
        if draft is None:
            return
        if self.panel.isHidden():
            self.panel.show()
            self.place()
        QTimer.singleShot(0, self, self._mark_open)

    def _mark_open(self) -> None:
        """Mark the row of the open rule, once the list has been laid out beside the panel."""
        draft = self.editor.draft
        if draft is not None:
            self.list.mark(draft.replaces or DRAFT)

    def _closed(self) -> None:
        self._rules.write(None)
        self.panel.hide()
        self.place()
        if self.isVisible():
            self.list.rows.setFocus(Qt.FocusReason.OtherFocusReason)

    def _saved(self, rule: object) -> None:
        if isinstance(rule, RuleView):
            self.list.mark(rule.rule_id)
            self.say(f"Saved: {rule.pattern}")

    def _show_rule(self, rule_id: str) -> None:
        self.list.mark(rule_id)
        self.list.rows.setFocus(Qt.FocusReason.OtherFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the panel anew at the new size."""
        super().resizeEvent(event)
        self.place()

    def place(self) -> None:
        """Put the panel beside the list, or over it where there is no room."""
        px = theme().px
        width, height = self.width(), self.height()
        open_here = not self.panel.isHidden()
        beside = open_here and width - px(WIDTH) >= px(BESIDE)
        self.list.setGeometry(QRect(0, 0, width - px(WIDTH) if beside else width, height))
        if open_here:
            left = width - px(WIDTH) if beside else 0
            self.panel.setGeometry(QRect(left, 0, width - left, height))
            self.panel.raise_()

    def _count_later(self) -> None:
        """While the list is seen, uses are counted now and then."""
        if self.isVisible() and not self._uses.isActive():
            self._uses.start(USES_AFTER)

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop reading the uses while the tab is hidden."""
        super().hideEvent(event)
        self._uses.stop()

    def showEvent(self, event: QShowEvent) -> None:
        """Uses were counted meanwhile."""
        super().showEvent(event)
        self.place()
        self._uses.start(SHOWN_AFTER)


class RuleList(QFrame):
    """Search, filters, rows, and the sentence that says which rule wins."""

    def __init__(self, models: RulesModels) -> None:
        super().__init__()
        self._rules = models.rules
        self.setProperty("pane", "surface")
        self.field = Field("Find a rule", hint="Find a rule", icon="search")
        self.field.setToolTip("Search the patterns: a tool, path or command (Ctrl+F)")
        self.decision = Chooser("Decision")
        self.decision.fill([("Any decision", ""), *((word, value) for value, word in DECISIONS)])
        self.origin = Chooser("Where from")
        self.origin.fill([("Any origin", ""), *((word, value) for value, word in ORIGINS)])
        tip = "Write a rule and see what it would change (Ctrl+Shift+N)"
        self.new = Button("New rule", icon="new", shrinks=True, tip=tip)
        self.rows = RuleRows()
        self.rows.setModel(models.rules.model)
        models.rules.model.redrawn.connect(self.rows.viewport().update)
        self._held, self._place = "", 0
        self._lay_out()
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(lambda: self._rules.choose(text=self.field.text()))
        self.field.textChanged.connect(lambda _: self._later.start())
        self.decision.currentIndexChanged.connect(lambda _: self._rules.choose(decision=self.decision.currentData()))
        self.origin.currentIndexChanged.connect(lambda _: self._rules.choose(origin=self.origin.currentData()))
        self.rows.search_wanted.connect(self.field.setFocus)
        self.rows.selectionModel().currentChanged.connect(self._moved)
        self._rules.changed.connect(self.refresh)
        self.refresh()

    def _lay_out(self) -> None:
        column = Column(self, spacing=0)
        bar = sized(pane("plain"), height=56)
        row = Row(bar, margins=(24, 0, 24, 0), spacing=8)
        row.addWidget(sized(self.field, min_width=96, max_width=233), 3)
        row.addWidget(self.decision)
        row.addWidget(self.origin)
        row.addStretch(1)
        row.addWidget(self.new)
        column.addWidget(bar)
        column.addWidget(ColumnHeads(self.rows, heads, INSET))
        holder = QWidget()
        self._stack = QStackedLayout(holder)
        everything = Button("Show all rules")
        everything.clicked.connect(self._clear)
        nothing = EmptyState("search", "Nothing found", "No rule matches all of this.", (everything,))
        make = Button("New rule", icon="new")
        make.clicked.connect(self.new.click)
        words = "Every write and every command asks. A rule lets those pass that you always allow, or stops others."
        none = EmptyState("rules", "No rules yet", words, (make,))
        self._pages = {"rows": self.rows, "nothing": nothing, "none": none}
        for page in self._pages.values():
            self._stack.addWidget(page)
        column.addWidget(holder, 1)
        self.foot = pane("footer")
        row = Row(self.foot, margins=(24, 12, 24, 12), spacing=8)
        row.addWidget(Icon("rules", "text-2", 14, line="small"), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(Paragraph(FOOT, "small", "2"), 1)
        column.addWidget(self.foot)

    def refresh(self) -> None:
        """Show other rows; the current rule stays current if it is among them."""
        rules = self._rules
        empty = not rules.model.rowCount()
        page = "rows" if not empty else "nothing" if rules.chosen.narrowed else "none"
        self._stack.setCurrentWidget(self._pages[page])
        if self.field.text() != rules.chosen.text and not self._later.isActive():
            self.field.setText(rules.chosen.text)
        for combo, value in ((self.decision, rules.chosen.decision), (self.origin, rules.chosen.origin)):
            combo.setCurrentIndex(max(0, combo.findData(value)))
        if self._held and not empty and not self.rows.currentIndex().isValid():
            self._mark_again()

    def _mark_again(self) -> None:
        """After other rows came: the rule that was current, or what stands where it was."""
        model = self._rules.model
        place = model.place(self._held)
        self.rows.setCurrentIndex(model.index(place if place >= 0 else min(self._place, model.rowCount() - 1)))

    def mark(self, rule_id: str) -> None:
        """Make a rule's row the current one and bring it into sight."""
        place = self._rules.model.place(rule_id)
        self._held = rule_id
        if place >= 0:
            self.rows.setCurrentIndex(self._rules.model.index(place))
            self.rows.scrollTo(self._rules.model.index(place))

    def _moved(self, now: QModelIndex, _before: QModelIndex) -> None:
        rule = now.data(RuleRole.RULE) if now.isValid() else None
        if rule is not None:
            self._held, self._place = rule.rule_id, now.row()

    def _clear(self) -> None:
        self.field.clear()
        self._rules.show_all()
        self.rows.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Down goes from the search to the rows, Escape empties it."""
        if not search_took(event, self.field, self.rows):
            super().keyPressEvent(event)

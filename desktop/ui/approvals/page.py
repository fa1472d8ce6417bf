"""The Approvals page: what waits with the request in full beside it, the rules, and the activity log."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from desktop.domain.approval.permission import PermissionRequest
from desktop.presenter.approvals.inbox import ApprovalsViewModel
from desktop.presenter.approvals.rules_editing import RulesModels
from desktop.ui.approvals.activity.tab import Activity
from desktop.ui.approvals.inbox import Inbox
from desktop.ui.approvals.request.view import RequestView
from desktop.ui.approvals.rules.tab import RulesTab
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.help_button import HelpButton
from desktop.ui.widgets.layout.containers import EmptyState
from desktop.ui.widgets.layout.folding import FoldingPane
from desktop.ui.widgets.layout.tabs import Tabs
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.text import Text


class ApprovalsPage(QFrame):
    """``thread_title`` gives a thread's title for its id, or ""."""

    topic_changed = Signal()

    def __init__(
        self, approvals: ApprovalsViewModel, rules: RulesModels, thread_title: Callable[[str], str] = str
    ) -> None:
        super().__init__()
        self._approvals = approvals
        self._rules = rules.rules
        self.setProperty("pane", "surface")
        column = Column(self, spacing=0)
        self._header = sized(pane("header"), height=48)
        row = Row(self._header, margins=(16, 1, 16, 0), spacing=0)
        self.tabs = Tabs("Approvals", (("waiting", "Waiting"), ("rules", "Rules"), ("activity", "Activity")))
        self.tabs.chosen.connect(self.show_tab)
        self.inbox = Inbox(thread_title, approvals.titles)
        self.view = RequestView(approvals, thread_title, rules=rules)
        self._right = QStackedWidget()
        self._right.addWidget(self._nothing())
        self._right.addWidget(self.view)
        self.folding = FoldingPane(self.inbox, self._right, width=320, name="Show what waits", minimum=600)
        row.addWidget(self.folding.button)
        row.addWidget(sized(Text("Approvals", "title"), min_width=160))
        row.addWidget(self.tabs)
        row.addStretch(1)
        row.addWidget(HelpButton())
        column.addWidget(self._header)
        self.rules = RulesTab(rules, thread_title)
        self.activity = Activity(approvals.activity, thread_title)
        self.activity.rule_wanted.connect(self._show_rule)
        self._stack = QStackedWidget()
        self._tabs = {"waiting": self.folding, "rules": self.rules, "activity": self.activity}
        for tab in self._tabs.values():
            self._stack.addWidget(tab)
        column.addWidget(self._stack, 1)
        self.folding.folded.connect(lambda _: self._fold_button())
        self.inbox.picked.connect(self._picked)
        self.view.rule_wanted.connect(self._show_rule)
        self.view.left.connect(lambda: self.first_focus().setFocus(Qt.FocusReason.OtherFocusReason))
        approvals.changed.connect(self.refresh)
        self._rules.changed.connect(self._count_rules)
        self._rules.wanted.connect(lambda _: self.show_tab("rules"))
        self._count_rules()
        self.refresh()

    def first_focus(self) -> QWidget:
        """Keys go to Deny of the request that shows; the person has come to this page."""
        if self.tabs.value == "rules":
            return self.rules.first_focus()
        if self.view.answers is not None and self.tabs.value == "waiting":
            return self.view.answers.deny
        return self.tabs

    def help_topic(self) -> str:
        """The page of help for the tab that shows."""
        return {"rules": "rules", "activity": "activity-log"}.get(self.tabs.value, "approvals")

    def show_tab(self, name: str) -> None:
        """``waiting``, ``rules`` or ``activity``."""
        self.tabs.set_value(name)
        self._stack.setCurrentWidget(self._tabs[name])
        self._fold_button()
        self.topic_changed.emit()

    def _fold_button(self) -> None:
        """What waits can be brought over its request only where both are."""
        self.folding.button.setVisible(self.tabs.value == "waiting" and self.folding.is_folded)

    def show_rules(self, *, new: bool = False) -> None:
        """The rules, and with ``new`` the panel to write one."""
        self.show_tab("rules")
        if new:
            self.rules.new()
        else:
            self.rules.first_focus().setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def unsaved(self) -> bool:
        """Whether a rule is being written that is not saved."""
        return self.rules.editor.draft is not None and self.rules.editor.dirty

    def leaving(self, go_on: Callable[[], None]) -> None:
        """Do something that would drop the rule that is being written, after asking."""
        self.show_tab("rules")
        self.rules.panel.leaving(go_on)

    def begin_find(self) -> None:
        """Move the keys to the search field of the tab that is shown (Ctrl+F)."""
        if self.tabs.value == "activity":
            self.activity.filter.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            self.show_tab("rules")
            self.rules.begin_find()

    def open_request(self, request_id: str) -> None:
        """Show one request, as from a card or a notification."""
        self.show_tab("waiting")
        for request in self._approvals.requests:
            if request.request_id == request_id:
                self._picked(request)
                self.refresh()
                return

    def refresh(self) -> None:
        """Show what the view-model has now; the request on screen stays unless it is over."""
        requests = self._approvals.requests
        self.tabs.set_count("waiting", len(requests))
        shown = self.view.request
        current = next((r for r in requests if shown is not None and r.request_id == shown.request_id), None)
        had_focus = self.view.isAncestorOf(self.window().focusWidget() or self)
        if current is None and requests:
            current = requests[0]
        self._right.setCurrentIndex(1 if current is not None else 0)
        if current is None:
            self.view.clear()
        else:
            self.view.show_request(current)
            if had_focus and shown is not None and current.request_id != shown.request_id:
                self.view.focus_safe()
        self.inbox.set_requests(requests, current.request_id if current else "")

    def _show_rule(self, named: str) -> None:
        """The rule that an entry of the activity log names by its id or its pattern."""
        found = self._rules.find({"rule_id": named, "pattern": named})
        if found is None:
            (self.activity.say if self.tabs.value == "activity" else self.rules.say)("That rule is no longer in force.")
        else:
            self._rules.show(found.rule_id)

    def _count_rules(self) -> None:
        self.tabs.set_count("rules", len(self._rules.rules))

    def _picked(self, request: PermissionRequest) -> None:
        self.view.show_request(request)
        self._right.setCurrentIndex(1)
        self.folding.put_away()

    def _nothing(self) -> QWidget:
        see = Button("See activity", "quiet")
        see.clicked.connect(lambda: self.show_tab("activity"))
        sentence = "When an agent wants to write or run something, it shows here first."
        return EmptyState("approvals", "Nothing waits for you", sentence, (see,))

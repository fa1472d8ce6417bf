"""*Always allow…*: the rule that would have answered a request, to be changed and tried before it is kept.

Saving answers exactly the request that was shown; Cancel leaves it unanswered. A request that is gone meanwhile leaves
its rule here as the draft of a new one.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from desktop.domain.approval.permission import PermissionRequest
from desktop.presenter.approvals.rules_editing import LOST, RuleEditor, RulesModels
from desktop.ui.approvals.rules.panel import RuleFoot, RuleForm
from desktop.ui.theme import theme
from desktop.ui.widgets.dialogs.base import Dialog
from desktop.ui.widgets.layout.containers import Notice
from desktop.ui.widgets.scaling import sized
from desktop.ui.widgets.shadow import REACH
from desktop.ui.widgets.shown import shown_line

WIDTH, HEIGHT, MINIMUM = 560, 420, 130
WORDS = "Calls that fit this rule run without asking from now on. You can change and revoke it under Rules."


class AlwaysDialog(Dialog):
    """The editor of one request, in the middle of the window."""

    help_page = "rules"

    def __init__(
        self, window: QWidget, request: PermissionRequest, models: RulesModels, thread_title: Callable[[str], str]
    ) -> None:
        self._made = False
        super().__init__(window, f"Always allow {shown_line(request.tool)[:60]}?", WORDS, (), width=WIDTH)
        self.editor: RuleEditor = models.editor()
        self.editor.setParent(self)
        self.lost = Notice("info", LOST, icon="retry")
        self.lost.hide()
        self.form = RuleForm(self.editor, models.here, thread_title, fixed=True, side=0)
        self.foot = RuleFoot(self.editor, answering=True, side=0)
        self.body.addWidget(self.lost)
        self.body.addWidget(sized(self.form, height=MINIMUM))
        self.body.addWidget(self.foot)
        self.failure = Notice("failed")
        self.failure.hide()
        self.body.addWidget(self.failure)
        self.foot.discard.connect(lambda: self.answer("cancel"))
        self.editor.lost.connect(self._lost)
        self.editor.failed.connect(self._failed)
        self.editor.saved.connect(lambda _: self.answer("saved"))
        self.editor.tried.connect(self.resized)
        self.answered.connect(lambda _: self.editor.close())
        self._made = True
        self.editor.always(request)

    def resized(self) -> None:
        """The form takes the height that the rest leaves."""
        layout = self._box.layout() if self._made else None
        if layout is not None:
            scale = theme().scale
            width = min(theme().px(WIDTH), self.width() - theme().px(32)) + 2 * theme().px(REACH)
            others = layout.heightForWidth(width) - self.form.height() - 2 * theme().px(REACH)
            room = (self.height() - theme().px(48) - others) / scale
            sized(self.form, height=round(max(MINIMUM, min(HEIGHT, room))))
        super().resized()

    def answer(self, value: str) -> None:
        """While it is being saved there is nothing to cancel any more."""
        if value == "saved" or not self.editor.saving:
            super().answer(value)

    def _lost(self) -> None:
        self.lost.show()
        self.resized()

    def _failed(self, sentence: str) -> None:
        self.failure.say(shown_line(sentence))
        self.failure.show()
        self.resized()


def always_allow(
    window: QWidget, request: PermissionRequest, models: RulesModels, thread_title: Callable[[str], str]
) -> AlwaysDialog:
    """Open the rule that would have answered this request; the caller has looked that it may (``may_always``)."""
    dialog = AlwaysDialog(window, request, models, thread_title)
    dialog.open(focus=dialog.form.field)
    return dialog

"""Settings, Updates: the switch, the new version with what it may newly do, and the way back (R-UPD-3)."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QFrame, QWidget

from desktop.presenter.updates.page import UpdatesViewModel
from desktop.ui.settings.updates.offer import InstalledCard, OfferCard
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.toggles import Switch
from desktop.ui.widgets.layout.containers import Notice, Scroller
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

TITLE, HELP = "Look for new versions", "Once a day. Sends nothing but the question."


class UpdatesPage(Scroller):
    """``said`` shows a short sentence in the toast of Settings."""

    def __init__(self, model: UpdatesViewModel, said: Callable[[str], None]) -> None:
        super().__init__(margins=(24, 16, 24, 24), spacing=12)
        self._model, self._said = model, said
        self.column.addWidget(self._switch_card())
        self.refusal = Notice("failed", "", icon="failed")
        self.problem = Notice("failed", "", icon="failed")
        self.fell_back = Notice("failed", "", icon="failed")
        self.ready = Notice("allow", "")
        self.restart = Button("Restart now", small=True)
        self.restart.clicked.connect(model.restart)
        self.ready.add(self.restart)
        self.offer = OfferCard()
        self.offer.wanted.connect(self._wanted)
        self.installed = InstalledCard()
        self.installed.copied.connect(self._copy)
        for widget in (self.refusal, self.problem, self.fell_back, self.ready, self.offer, self.installed):
            self.column.addWidget(widget)
        self.refusal.hide()
        self.column.addWidget(self._back_line())
        self.status = Text("", "small", "2", elide="right")
        self.column.addWidget(self.status)
        self.column.addStretch(1)
        model.changed.connect(self.refresh)
        model.refused.connect(self._refused)
        self.refresh()

    def _switch_card(self) -> QFrame:
        self._card = QFrame()
        self._card.setProperty("pane", "card")
        row = Row(self._card, margins=(16, 12, 16, 12), spacing=16)
        words = Column(spacing=2)
        words.addWidget(Paragraph(TITLE, "medium"))
        words.addWidget(Paragraph(HELP, "small", "2"))
        row.addLayout(words, 1)
        self.look = Button("Look now", "quiet", small=True)
        self.look.clicked.connect(self._model.look)
        row.addWidget(self.look)
        self.switch = Switch(TITLE)
        self.switch.setAccessibleDescription(HELP)
        self.switch.clicked.connect(lambda: self._model.switch(self.switch.isChecked()))
        row.addWidget(self.switch)
        return self._card

    def _back_line(self) -> QWidget:
        self._back = QWidget()
        row = Row(self._back, spacing=8)
        row.addWidget(Icon("undo", "text-2", 16, line="small"), 0, Qt.AlignmentFlag.AlignTop)
        self.back_words = Paragraph("", "small", "2")
        row.addWidget(self.back_words)
        self.back = Button("Go back to it", "quiet", small=True)
        self.back.clicked.connect(self._model.go_back)
        row.addWidget(self.back, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addStretch(1)
        return self._back

    def showEvent(self, event: QShowEvent) -> None:
        """Runs have begun and ended since."""
        super().showEvent(event)
        self._model.refresh()

    def refresh(self) -> None:
        """Show what the view-model has now."""
        view = self._model.view
        self._card.setVisible(view.can_look)
        self.switch.setChecked(view.is_on)
        self.look.setVisible(view.is_on and "stop" not in view.actions)  # it would wait, too
        for notice, words in ((self.problem, view.problem), (self.fell_back, view.fell_back), (self.ready, view.ready)):
            notice.setVisible(bool(words))
            if words and notice.words != shown_line(words):
                notice.say(shown_line(words))
        self.restart.setVisible("restart" in view.actions)
        self.offer.setVisible(bool(view.title))
        if view.title:
            self.offer.show_view(view)
        self.installed.setVisible(bool(view.installed))
        self.installed.say(shown_line(view.installed), shown_line(view.command))
        self._back.setVisible(bool(view.back))
        self.back_words.set_pieces(shown_line(view.back))
        self.back.setVisible(bool(view.back_label))
        if view.back_label:
            self.back.set_label(view.back_label)
        self.status.setText(shown_line(view.status))
        self.status.setVisible(bool(view.status))

    def _wanted(self, what: str) -> None:
        model = self._model
        acts = {
            "skip": model.skip,
            "later": model.later,
            "update": model.update,
            "stop": model.stop,
            "take_up": model.take_up,
        }
        acts[what]()

    def _copy(self, command: str) -> None:
        QGuiApplication.clipboard().setText(command)
        self._said("The command is copied")

    def _refused(self, sentence: str) -> None:
        self.refusal.say(shown_line(sentence))
        self.refusal.show()
        self.switch.setChecked(self._model.view.is_on)

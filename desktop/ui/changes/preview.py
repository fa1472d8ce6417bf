"""An undo before it is done: each file with its difference, and what stays. Safe answer first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

from desktop.domain.files.undo import UndoneFile, UndoPreview
from desktop.domain.text.words import count_words
from desktop.presenter.changes.panel import ChangesViewModel
from desktop.presenter.changes.words import conflict_words, what_words
from desktop.ui.approvals.request.background import Background
from desktop.ui.approvals.request.diffing import Diff, diff
from desktop.ui.approvals.request.file_card import card_of
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.dialogs.base import DialogAnswer
from desktop.ui.widgets.dialogs.scrolled_dialog import ScrolledDialog
from desktop.ui.widgets.layout.containers import Notice, clear
from desktop.ui.widgets.scaling import Column
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text

MAX_FILES, MAX_CONFLICTS = 40, 12
"""Files whose difference is shown, and conflicts that are named one by one."""
WIDTH = 720
UNDO, KEEP = "undo", "keep"


class UndoDialog(ScrolledDialog):
    """``answered`` with ``undo`` or ``keep``; the later changes that stand on it can be taken in, too."""

    help_page = "changes"

    def __init__(self, window: QWidget, changes: ChangesViewModel, preview: UndoPreview) -> None:
        changed = preview.changed
        answers = [DialogAnswer(KEEP, "Keep everything as it is" if changed else "Close", key="Esc")]
        if changed:
            answers.append(DialogAnswer(UNDO, f"Undo in {count_words(len(changed), 'file')}", "primary"))
        super().__init__(window, changes.title_of(preview), changes.words_of(preview), answers, width=WIDTH)
        self._changes, self._preview = changes, preview
        self.more = Button("", "quiet", small=True, icon="undo")
        self._cards = Column(spacing=8)
        self._settled = QTimer(self, singleShot=True, interval=0)
        self._settled.timeout.connect(self.resized)
        self._fill(changed)
        self.answered.connect(lambda answer: changes.confirm() if answer == UNDO else None)
        self._comparing = Background(self, self._compared)
        self._comparing.start(_difference(changed, changes.name_of))

    def _fill(self, changed: Sequence[UndoneFile]) -> None:
        column = self.scroller.column
        for sentence in self._conflicts():
            notice = Notice("info", sentence)
            column.addWidget(notice)
        others = len(self._preview.standing_on)
        column.addWidget(self.more)
        self.more.setVisible(bool(others))
        if others:
            self.more.set_label(f"Undo {'that change' if others == 1 else f'these {others} changes'}, too…")
            self.more.clicked.connect(self._with_more)
        column.addLayout(self._cards)
        if changed:
            self._cards.addWidget(Text("Comparing…", "small", "2"))

    def _conflicts(self) -> list[str]:
        """Each place that stays, with its file."""
        found = [
            f"{self._changes.name_of(file.path)}: {conflict_words(one, self._changes.titles)}."
            for file in self._preview.files
            for one in file.conflicts
        ]
        if len(found) == 1:  # the sentence at the top says it
            return []
        more = len(found) - MAX_CONFLICTS
        told = [shown_line(one) for one in found[:MAX_CONFLICTS]]
        return [*told, f"And {more} more places that stay as they are."] if more > 0 else told

    def _with_more(self) -> None:
        self.answer(KEEP)
        self._changes.undo_with(self._preview.standing_on)

    def _compared(self, found: object) -> None:
        clear(self._cards)
        assert isinstance(found, list)
        for name, words, rows in found:
            card = card_of(name, words, rows)
            card.installEventFilter(self)
            self._cards.addWidget(card)
        self._settled.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A card knows how many rows it has once it knows how wide it is; then the dialog follows."""
        if event.type() == QEvent.Type.Resize and watched is not self.parentWidget():
            self._settled.start()
        return super().eventFilter(watched, event)


def _difference(files: Sequence[UndoneFile], name_of: Callable[[str], str]) -> Callable[[], object]:
    """The differences of the files, for a thread."""
    named = [(name_of(file.path), file) for file in files[:MAX_FILES]]

    def work() -> object:
        found = list[tuple[str, str, Diff | None]]()
        for name, file in named:
            if file.now_text is None or file.then_text is None or file.now_text == file.then_text:
                found.append((name, what_words(file), None))
            else:
                made = diff(file.now_text, file.then_text)
                found.append((name, f"{what_words(file)}, +{made.added} −{made.removed}", made))
        if len(files) > MAX_FILES:
            found.append((f"and {count_words(len(files) - MAX_FILES, 'more file')}", "", None))
        return found

    return work

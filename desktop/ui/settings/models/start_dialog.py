"""Starting a model server of this computer: what is chosen for it, and the exact command that would run."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from desktop.domain.servers.starting import CONTEXTS, ModelFile, StartKind
from desktop.domain.text import words
from desktop.presenter.settings.local_starts import LocalStartsViewModel
from desktop.ui.settings.models.context_words import context_words
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Combo, Labelled, MonoView
from desktop.ui.widgets.controls.toggles import CheckBox
from desktop.ui.widgets.dialogs.base import DialogAnswer
from desktop.ui.widgets.dialogs.files import FileDialog
from desktop.ui.widgets.dialogs.scrolled_dialog import CLOSE, ScrolledDialog
from desktop.ui.widgets.layout.containers import Notice
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text

WORDS = "It answers on this computer only and downloads nothing. It gets no key and no secret."
COMMAND = "This will run"
NO_FILE = "Choose the file of a model first."
READ_EACH_MS = 1000
ANSWERS = (DialogAnswer("cancel", "Cancel", key="Esc"), DialogAnswer("start", "Start it", "primary"))


class StartDialog(ScrolledDialog):
    """What the form says is planned anew with each change; only what is shown can be started."""

    help_page = "models-and-providers"

    def __init__(self, window: QWidget, title: str, kind: StartKind, starts: LocalStartsViewModel) -> None:
        super().__init__(window, f"Start {title}", WORDS, ANSWERS, width=560)
        self._starts, self._kind = starts, kind
        column = self.scroller.column
        self.file = Text("", "code", elide="middle")
        self.choose = Button("Choose…", small=True, icon="file", tip="Choose a model's file, which ends in .gguf")
        self._about = Paragraph("", "small", "3")
        if kind == "llamacpp":
            column.addWidget(Text("Model file", "caption", "2"))
            row = Row(spacing=8)
            row.addWidget(self.file, 1)
            row.addWidget(self.choose)
            column.addLayout(row)
            column.addWidget(self._about)
        self.choose.clicked.connect(self._choose)
        self.context = Combo("Context")
        self.context.activated.connect(lambda: starts.choose(context=int(self.context.currentData())))
        help_text = "How much of a chat it holds. More needs more memory."
        column.addWidget(Labelled("Context", self.context, help_text))
        self.leave = CheckBox("Leave it running when Assent ends")
        self.leave.toggled.connect(lambda on: starts.choose(leave_running=on))
        self.with_app = CheckBox("Start it whenever Assent starts")
        self.with_app.toggled.connect(lambda on: starts.choose(with_app=on))
        column.addWidget(self.leave)
        column.addWidget(self.with_app)
        column.addStretch(1)
        self.command = MonoView(COMMAND, rows=4, wrap=True)
        frame = pane("card")
        Column(frame, margins=1, spacing=0).addWidget(self.command)
        self.note = Notice("info")
        for below in (
            Text(COMMAND, "caption", "2"),
            frame,
            self.note,
        ):  # what is agreed to is never scrolled out of sight
            self.body.addWidget(below)
        self.buttons["start"].setEnabled(False)
        starts.planned.connect(self.refresh)
        starts.open(kind)

    def refresh(self) -> None:
        """Show the form and what would be run by it."""
        starts = self._starts
        form, plan, file = starts.form, starts.plan, starts.file
        if form is None or form.kind != self._kind:
            return
        self.file.setText(shown_line(form.file) if form.file else "No file yet")
        self._about.set_pieces(_about(file))
        self._about.setVisible(file is not None)
        self.context.fill(_contexts(form.context, file), str(form.context))
        for box, on in ((self.leave, form.leave_running), (self.with_app, form.with_app)):
            box.blockSignals(True)
            box.setChecked(on)
            box.blockSignals(False)
        wanted = shown(plan.command) if plan is not None else ""
        if self.command.toPlainText() != wanted:
            self.command.setPlainText(wanted)
        problem = NO_FILE if self._kind == "llamacpp" and not form.file else starts.problem
        said = problem or (plan.note if plan is not None else "")
        self.note.setVisible(bool(said))
        self.note.say(shown_line(said), "ask" if problem else "info")
        self.buttons["start"].setEnabled(plan is not None)
        self.resized()

    def answer(self, value: str) -> None:
        """Start what is shown, or close."""
        if self._done or (value == "start" and not self._starts.start()):
            return
        self._starts.planned.disconnect(self.refresh)
        super().answer(value)

    def first(self) -> QWidget:
        """What the keys go to when it opens."""
        return self.choose if self._kind == "llamacpp" else self.context

    def _choose(self) -> None:
        dialog = FileDialog(self, "Choose a model's file")
        dialog.setFileMode(FileDialog.FileMode.ExistingFile)
        dialog.setNameFilter("Models of llama.cpp (*.gguf)")
        dialog.fileSelected.connect(lambda path: self._starts.choose(file=path) if path else None)
        dialog.open()


class LogDialog(ScrolledDialog):
    """What a server wrote, read again while it is looked at."""

    help_page = "models-and-providers"

    def __init__(self, window: QWidget, title: str, kind: StartKind, starts: LocalStartsViewModel) -> None:
        super().__init__(window, f"What {title} wrote", "", CLOSE, width=760)
        self._starts = starts
        self.text = MonoView(f"What {title} wrote", rows=18)
        self.scroller.column.addWidget(self.text)
        self._again = QTimer(self)
        self._again.timeout.connect(lambda: starts.read_log(kind))
        self._again.start(READ_EACH_MS)
        starts.said.connect(self._show)
        starts.read_log(kind)

    def _show(self, said: str) -> None:
        wanted = shown(said) or "Nothing yet."
        if self.text.toPlainText() == wanted:
            return
        bar = self.text.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 2
        self.text.setPlainText(wanted)
        if at_end:
            bar.setValue(bar.maximum())

    def answer(self, value: str) -> None:
        """Close, and read no more."""
        self._again.stop()
        super().answer(value)


def _about(file: ModelFile | None) -> str:
    if file is None:
        return ""
    facts = [shown_line(file.title), words.size_words(file.size)]
    if file.trained is not None:
        facts.append(f"trained for {context_words(file.trained)} context")
    if file.sees_with:
        facts.append("sees images")
    return "  ·  ".join(facts)


def _contexts(chosen: int, file: ModelFile | None) -> list[tuple[str, object]]:
    """The sizes that fit the model, and the chosen one."""
    most = file.trained if file is not None and file.trained is not None else CONTEXTS[-1]
    sizes: list[int] = sorted({*(size for size in CONTEXTS if size <= most), *((most,) if file else ()), chosen} - {0})
    return [*((f"{size:,} tokens", str(size)) for size in sizes), ("As much as it takes by itself", "0")]
